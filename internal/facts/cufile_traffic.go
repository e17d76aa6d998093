package facts

import (
	"io"
	"strings"
	"time"
)

// CufileTraffic is what processes did, as a cufile.log tells it: how the driver opened, which files were taken, which
// way each I/O went. I/Os are in logs of level DEBUG and TRACE only; none in a log of another level says nothing.
type CufileTraffic struct {
	Processes []CufileProcess // in the order in which they began
	NotKept   int             // entries of processes beyond the first 4096
	Cut       bool            // the log ends within a line; that line was not used
}

// CufileProcess is one process. A number that came back is told apart only where the log has INFO lines.
type CufileProcess struct {
	PID         int
	First, Last time.Time // local to the machine, see CufileLogEntry
	Level       string    // the least severe level seen: what stands below it was not logged, or did not happen

	Read, Write, Unsplit CufilePaths // Unsplit: the lines do not tell the direction
	Open                 uint64      // I/Os under way where the log ends: their path is not settled

	// What libcufile printed of its settings at INFO. UseCompat is cufile.json's allow_compat_mode.
	UseCompat, ForceCompat, UseP2PDMA, RDMAWrite, PosixUnaligned Opt[bool]
	PosixMinKB                                                   map[string]uint64 // by file system: "lustre"

	Compat  *CufileLine // the process said that it runs in compatible mode
	Opens   []CufileResult
	Handles []CufileHandle
	Reasons []CufileReason // NOTICE, ERROR and WARN lines, one of each text

	OpensNotKept, HandlesNotKept, ReasonsNotKept int
}

// CufilePaths counts I/Os as libcufile does: a call larger than its limit is several.
type CufilePaths struct {
	Posix, NVFS, P2P uint64
	Direct           uint64 // past the CPU, and the lines do not tell whether through nvidia-fs
	Unsure           uint64 // of Posix: the direct path was begun in the same call, a retry or another part of it
}

// Total is the number of I/Os.
func (p CufilePaths) Total() uint64 { return p.Posix + p.NVFS + p.P2P + p.Direct }

// Paths is the sum of both directions and of those without one.
func (p CufileProcess) Paths() CufilePaths {
	s := p.Read
	for _, o := range []CufilePaths{p.Write, p.Unsplit} {
		s.Posix, s.NVFS, s.P2P, s.Direct, s.Unsure = s.Posix+o.Posix, s.NVFS+o.NVFS, s.P2P+o.P2P, s.Direct+o.Direct, s.Unsure+o.Unsure
	}
	return s
}

// CufileLine is a line of the log.
type CufileLine struct {
	Time           time.Time
	Level, Message string
}

// CufileResult is how an attempt ended.
type CufileResult struct {
	OK   bool
	Code Opt[int64] // of a failure, where the log gives or implies it
	CufileLine
}

// CufileHandle is the registration of a file.
type CufileHandle struct {
	OK     Opt[bool]  // success is logged at DEBUG only
	Code   Opt[int64] // of a failure
	FD     Opt[int]   // the log names no files
	Device string     // "dev_no: 254:0", of a file whose volume could not be looked at
	Compat bool       // GDS was refused for it or is off, and POSIX was tried

	// CompatRead and CompatWrite are the handle's own flags, at DEBUG.
	CompatRead, CompatWrite Opt[bool]
	Line                    CufileLine
}

// CufileReason is a message, with how often it came. Digits may differ between the times.
type CufileReason struct {
	CufileLine
	Count int
}

// What is kept of one log: a log of any size is read in bounded memory.
const (
	mostCufileProcesses = 4096
	mostCufileThreads   = 1 << 15
	mostCufileOpens     = 16
	mostCufileHandles   = 64
	mostCufileReasons   = 32
	longestCufileReason = 512
)

// ParseCufileTraffic reads a log from its beginning to its end.
func ParseCufileTraffic(r io.Reader) (CufileTraffic, error) {
	c := cufileCounter{processes: map[int]*cufileProcess{}, threads: map[cufileThreadID]*cufileThread{}}
	for e, err := range ScanCufileLog(r) {
		if err != nil {
			return CufileTraffic{}, err
		}
		if e.Cut {
			c.out.Cut = c.out.Cut || len(e.Message) < maxCufileLine/2 // the others are only long
			continue
		}
		if e.Level != "" {
			c.entry(e)
		}
	}
	return c.finish(), nil
}

type cufileThreadID struct{ pid, tid int }

type cufileCounter struct {
	out       CufileTraffic
	order     []*cufileProcess
	processes map[int]*cufileProcess
	threads   map[cufileThreadID]*cufileThread

	lastID     cufileThreadID // most lines are of the thread that the line before was of
	lastThread *cufileThread
}

type cufileProcess struct {
	CufileProcess
	severity int
	reasons  map[string]int // index in Reasons, by text without its digits
	opened   bool           // the last of Opens is of the attempt that goes on
}

// cufileLoading is among the first lines of a process at INFO, printed once when the library is loaded.
const cufileLoading = "Lib being used for"

func (c *cufileCounter) entry(e CufileLogEntry) {
	p := c.processes[e.PID]
	if p != nil && e.Level == "INFO" && strings.HasPrefix(e.Message, cufileLoading) {
		// Another process with the number of one that is gone.
		c.forget(e.PID)
		p = nil
	}
	if p == nil {
		if len(c.order) >= mostCufileProcesses {
			c.out.NotKept++
			return
		}
		p = &cufileProcess{CufileProcess: CufileProcess{PID: e.PID, First: e.Time}}
		c.processes[e.PID] = p
		c.order = append(c.order, p)
	}
	p.Last = e.Time
	if n, ok := e.Severity(); ok && (n > p.severity || p.Level == "") {
		p.severity, p.Level = n, cufileLevels[n]
	}
	t := c.thread(cufileThreadID{e.PID, e.TID}, p)
	switch e.Level {
	case "TRACE", "DEBUG":
		t.work(e.Message)
	case "INFO":
		p.setting(e.Message)
	default:
		p.reason(e)
	}
	p.open(e)
	t.register(e)
}

func (c *cufileCounter) thread(id cufileThreadID, p *cufileProcess) *cufileThread {
	if c.lastThread != nil && c.lastID == id {
		return c.lastThread
	}
	t := c.threads[id]
	if t == nil {
		if len(c.threads) >= mostCufileThreads {
			for _, t := range c.threads {
				t.end()
			}
			clear(c.threads)
		}
		t = &cufileThread{p: p}
		c.threads[id] = t
	}
	c.lastID, c.lastThread = id, t
	return t
}

// forget ends a process's threads.
func (c *cufileCounter) forget(pid int) {
	for id, t := range c.threads {
		if id.pid == pid {
			t.end()
			delete(c.threads, id)
		}
	}
	c.lastThread = nil
}

func (c *cufileCounter) finish() CufileTraffic {
	for _, t := range c.threads {
		t.end()
	}
	for _, p := range c.order {
		c.out.Processes = append(c.out.Processes, p.CufileProcess)
	}
	return c.out
}

// Opened tells whether the driver was open at any time: by an attempt that ended, or by what only an open driver does.
func (p CufileProcess) Opened() Opt[bool] {
	failed := false
	for _, o := range p.Opens {
		if o.OK {
			return Some(true)
		}
		failed = true
	}
	if p.Paths().Total() > 0 {
		return Some(true)
	}
	for _, h := range p.Handles {
		if h.OK == Some(true) {
			return Some(true)
		}
	}
	if failed && p.OpensNotKept == 0 {
		return Some(false)
	}
	return Opt[bool]{}
}
