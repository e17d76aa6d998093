package facts

import "strings"

// One I/O has many lines. In a log of level TRACE that a real library wrote, a write through POSIX was, on one thread:
//
//	DEBUG  cuFileWrite invoked
//	TRACE  workitem run(): …
//	TRACE  write inode: … offset: … length: …          one of these for each part of a large call
//	DEBUG  posix path taken with ODIRECT fd: 37 …       or: gds path taken with ODIRECT fd: 52
//	TRACE  cuFile IO mode: POSIX                        or, DEBUG: nvfs_io_submit …
//	DEBUG  cufile_posix_write fd: 37 …                  three lines of it
//	TRACE  write : Updating stats devPtr: … p2p mode: 0 compat: 1 size: 1048576
//	DEBUG  cuFileWrite done
//
// Eight writes gave eight "path taken" and eight "Updating stats", each pair in this order on its thread, and the
// library's statistics count the same eight. So a thread's lines from one "path taken" to "Updating stats" are one
// I/O, whose path the latter tells (compat 1 is POSIX, p2p 1 is P2PDMA, neither is a direct path of another kind). At
// DEBUG there is no "Updating stats": an I/O ends where the call does or the next begins. An I/O whose end the log
// does not have is not counted, since a direct path that fails goes on through POSIX.

// cufileThread follows the one I/O and the one registration that a thread can be at.
type cufileThread struct {
	p     *cufileProcess
	call  byte // 'r' or 'w' inside cuFileRead or cuFileWrite
	part  byte // the same, of the part of a call
	cur   cufileIO
	reg   *CufileHandle
	begun bool // a registration has begun
}

type cufileIO struct {
	open       bool
	op         byte
	fd         Opt[int]
	gds, posix bool // "path taken"
	nvfs       bool // nvidia-fs was called
}

func (t *cufileThread) work(m string) {
	if m == "" {
		return
	}
	// By first letter: a log of a gigabyte has ten million of these.
	switch m[0] {
	case 'g':
		if strings.HasPrefix(m, "gds path taken") {
			t.path(true, numberBehind(m, "fd: "))
		}
	case 'p':
		if strings.HasPrefix(m, "posix path taken") {
			t.path(false, numberBehind(m, "fd: "))
		}
	case 'n', 'd':
		if t.cur.open && (strings.HasPrefix(m, "nvfs_io_submit") || strings.HasPrefix(m, "do nvfs_io_submit")) {
			t.cur.nvfs = true
		}
	case 'r', 'w':
		switch {
		case strings.HasPrefix(m, "read inode:"), strings.HasPrefix(m, "write inode:"), strings.HasPrefix(m, "workitem run()"):
			t.endIO()
			t.part = 0
			if m[1] != 'o' {
				t.part = m[0]
			}
		case strings.Contains(m, "Updating stats"):
			t.stats(m)
		}
	case 'c':
		t.called(m)
	default:
		if strings.Contains(m, "Updating stats") {
			t.stats(m)
		}
	}
}

func (t *cufileThread) called(m string) {
	switch {
	case strings.HasPrefix(m, "cufile_posix_read"):
		t.throughPosix('r')
	case strings.HasPrefix(m, "cufile_posix_write"):
		t.throughPosix('w')
	case strings.HasPrefix(m, "cuFile IO mode: POSIX"):
		t.throughPosix(0)
	case strings.HasPrefix(m, "cuFileRead invoked"), strings.HasPrefix(m, "cuFileWrite invoked"):
		t.endIO()
		t.call, t.part = 'r', 0
		if m[6] == 'W' {
			t.call = 'w'
		}
	case strings.HasPrefix(m, "cuFileRead done"), strings.HasPrefix(m, "cuFileWrite done"):
		t.endIO()
		t.call, t.part = 0, 0
	}
}

// path is a "path taken" line.
func (t *cufileThread) path(gds bool, fd Opt[int]) {
	if t.cur.open && (t.cur.gds == gds || t.cur.posix || t.cur.fd.OK && fd.OK && t.cur.fd != fd) {
		t.endIO() // the next part of a call, or another thread pool's work
	}
	op := t.part
	if op == 0 {
		op = t.call
	}
	if !t.cur.open {
		t.cur = cufileIO{open: true, fd: fd, op: op}
	}
	t.cur.gds = t.cur.gds || gds
	t.cur.posix = t.cur.posix || !gds
}

// throughPosix: an I/O that was to go past the CPU may go through it in the end.
func (t *cufileThread) throughPosix(op byte) {
	if !t.cur.open {
		return
	}
	t.cur.posix = true
	if t.cur.op == 0 {
		t.cur.op = op
	}
}

// endIO counts the I/O under way by what is known of it.
func (t *cufileThread) endIO() {
	io := t.cur
	t.cur = cufileIO{}
	if !io.open {
		return
	}
	to := t.p.paths(io.op)
	switch {
	case io.posix:
		to.Posix++
		if io.gds {
			to.Unsure++
		}
	case io.nvfs || t.p.UseP2PDMA == Some(false):
		to.NVFS++
	default:
		to.Direct++
	}
}

// stats is the line that settles an I/O.
func (t *cufileThread) stats(m string) {
	p2p, compat := cufileFlag(m, "p2p mode: "), cufileFlag(m, "compat: ")
	io := t.cur
	if !p2p.OK || !compat.OK || p2p.V && compat.V {
		return // of another form: the path stands
	}
	t.cur = cufileIO{}
	switch {
	case strings.HasPrefix(m, "read"):
		io.op = 'r'
	case strings.HasPrefix(m, "write"):
		io.op = 'w'
	case io.op == 0 && t.part != 0:
		io.op = t.part
	case io.op == 0:
		io.op = t.call
	}
	to := t.p.paths(io.op)
	switch {
	case compat.V:
		to.Posix++
	case p2p.V:
		to.P2P++
	case io.gds || io.nvfs:
		to.NVFS++
	default:
		to.Direct++ // user-space RDMA prints no path of nvidia-fs
	}
}

func (p *cufileProcess) paths(op byte) *CufilePaths {
	switch op {
	case 'r':
		return &p.Read
	case 'w':
		return &p.Write
	}
	return &p.Unsplit
}

// end is the end of the log, or of the process.
func (t *cufileThread) end() {
	if t.cur.open {
		t.p.Open++
		t.cur = cufileIO{}
	}
	t.endHandle()
}
