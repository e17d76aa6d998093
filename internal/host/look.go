package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"gdsproof/internal/evidence"
)

// maxRead caps what is kept of one file or list. The largest file read whole on a big node is a peer_distance
// table of some hundred kilobytes.
const maxRead = 4 << 20

// failItem turns an error of the system into the state that it means.
func failItem(err error) evidence.Item {
	it := evidence.Item{Form: evidence.Whole, Place: evidence.Host, State: evidence.Failed, Err: []byte(err.Error())}
	var no syscall.Errno
	if errors.As(err, &no) {
		it.Errno = errnoName(no)
	}
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		it.State = evidence.Absent
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		it.State = evidence.Denied
	}
	return it
}

// errnoName is the symbolic name, which is what people search for.
func errnoName(e syscall.Errno) string {
	if n := unix.ErrnoName(e); n != "" {
		return n
	}
	return fmt.Sprintf("errno %d", int(e))
}

func okItem(out []byte) evidence.Item {
	return evidence.Item{Form: evidence.Whole, Place: evidence.Host, State: evidence.Present, Out: out}
}

// lookRead reads a regular file with plain reads to the end: /proc and /sys lie about sizes.
//
// What is there is found out before it is opened: to open a FIFO may wait for ever, and to open a device does
// something (a watchdog starts to count). wait: the reads may wait; else what would wait gives EAGAIN.
func lookRead(path string, limit int64, wait bool) evidence.Item {
	fd, err := openFile(path, wait)
	if err != nil {
		return failItem(err)
	}
	f := plainFile{fd: fd, path: path}
	defer unix.Close(fd)
	out, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case errors.Is(err, unix.EAGAIN) && len(out) > 0:
		// A stream that has no end but nothing more to say now: what it said is good, and not all.
		it := okItem(out)
		it.Truncated = true
		return it
	case err != nil:
		it := failItem(err)
		it.Out = out
		return it
	}
	it := okItem(out)
	if int64(len(out)) > limit {
		it.Out, it.Truncated = out[:limit], true
	}
	return it
}

func openFile(path string, wait bool) (int, error) {
	there, err := open(path, unix.O_PATH)
	if err != nil {
		return -1, err
	}
	defer unix.Close(there)
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(there, &st) }); err != nil {
		return -1, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		e := fmt.Errorf("read %s: a %s, not a file", path, typeWord(st.Mode))
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			e = fmt.Errorf("read %s: a directory, not a file: %w", path, unix.EISDIR)
		}
		return -1, e
	}
	flags := unix.O_RDONLY | unix.O_NOCTTY
	if !wait {
		flags |= unix.O_NONBLOCK
	}
	// This opens the very thing that was examined, whatever the name means by now.
	fd, err := open(fmt.Sprintf("/proc/self/fd/%d", there), flags)
	if errors.Is(err, unix.ENOENT) { // no /proc here; its absence is not the file's
		fd, err = open(path, flags|unix.O_NONBLOCK)
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		pe.Path = path
	}
	return fd, err
}

func open(path string, flags int) (int, error) {
	fd := -1
	err := again(func() (err error) {
		fd, err = unix.Open(path, flags|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// again repeats a call that a signal interrupted: Go's runtime sends itself some, and a file system may not
// restart calls.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// plainFile reads without Go's poller, which would wait for ever where a file says EAGAIN.
type plainFile struct {
	fd   int
	path string
}

func (f plainFile) Read(b []byte) (int, error) {
	n := 0
	err := again(func() (err error) {
		n, err = unix.Read(f.fd, b)
		return err
	})
	switch {
	case err != nil:
		return 0, &os.PathError{Op: "read", Path: f.path, Err: err}
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func lookStat(path string) evidence.Item {
	var st unix.Stat_t
	if err := again(func() error { return unix.Lstat(path, &st) }); err != nil {
		return failItem(&os.PathError{Op: "stat", Path: path, Err: err})
	}
	out := fmt.Sprintf("type=%s mode=%04o uid=%d gid=%d size=%d mtime=%d", typeWord(st.Mode), st.Mode&0o7777, st.Uid, st.Gid, st.Size, st.Mtim.Sec)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFCHR, unix.S_IFBLK:
		out += fmt.Sprintf(" rdev=%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev))
	case unix.S_IFLNK:
		if t, err := os.Readlink(path); err == nil {
			out += fmt.Sprintf(" target=%q", t)
		}
	}
	return okItem([]byte(out))
}

// lookOpen opens as libcufile does: for reading and writing.
func lookOpen(path string) (evidence.Item, int) {
	fd, err := open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return failItem(err), -1
	}
	return okItem([]byte("ok")), fd
}

func lookHold(paths []string, read string) []evidence.Item {
	items := make([]evidence.Item, 0, len(paths)+1)
	var fds []int
	for _, p := range paths {
		it, fd := lookOpen(p)
		if fd >= 0 {
			fds = append(fds, fd)
		}
		items = append(items, it)
	}
	held := evidence.Item{Form: evidence.Whole, Place: evidence.Host, State: evidence.NotCollected,
		Err: []byte("no device node could be opened, so the list would mean nothing")}
	if len(fds) > 0 {
		held = lookRead(read, maxRead, true)
	}
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
	return append(items, held)
}

func lookStatfs(path string) evidence.Item {
	var st unix.Statfs_t
	if err := again(func() error { return unix.Statfs(path, &st) }); err != nil {
		return failItem(&os.PathError{Op: "statfs", Path: path, Err: err})
	}
	return okItem(fmt.Appendf(nil, "type=0x%x bsize=%d blocks=%d bfree=%d bavail=%d", uint64(st.Type)&0xffffffff, st.Bsize, st.Blocks, st.Bfree, st.Bavail))
}

// lookList lists a directory up to limit bytes of names: a directory of a parallel file system may have
// millions. O_DIRECTORY keeps anything else from being opened.
func lookList(dir string, limit int) evidence.Item {
	fd, err := open(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return failItem(err)
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	var names []string
	size, full := 0, false
	for err == nil && !full {
		var des []os.DirEntry
		des, err = f.ReadDir(1024)
		for _, de := range des {
			n := de.Name()
			switch {
			case de.IsDir():
				n += "/"
			case de.Type()&os.ModeSymlink != 0:
				n += "@"
			}
			if size += len(n) + 1; size > limit {
				full = true
				break
			}
			names = append(names, n)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err != nil && len(names) == 0 {
		return failItem(err)
	}
	sort.Strings(names)
	out := strings.Join(names, "\n")
	if out != "" {
		out += "\n"
	}
	it := okItem([]byte(out))
	if err != nil { // some names were read before the error
		it.Err = []byte(err.Error())
	}
	it.Truncated = full || err != nil
	return it
}

func typeWord(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return "file"
	case unix.S_IFDIR:
		return "directory"
	case unix.S_IFCHR:
		return "char"
	case unix.S_IFBLK:
		return "block"
	case unix.S_IFLNK:
		return "link"
	case unix.S_IFIFO:
		return "fifo"
	case unix.S_IFSOCK:
		return "socket"
	}
	return "unknown"
}
