package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"syscall"
	"time"

	"gdsproof/internal/evidence"
)

// maxRead caps what is kept of one file. The largest file read whole on a big node is a peer_distance table
// of some hundred kilobytes.
const maxRead = 4 << 20

// failItem turns an error of the system into the state that it means.
func failItem(source string, err error) evidence.Item {
	it := evidence.Item{Source: source, Form: evidence.Whole, Place: evidence.Host, State: evidence.Failed, Err: []byte(err.Error())}
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

func okItem(source string, out []byte) evidence.Item {
	return evidence.Item{Source: source, Form: evidence.Whole, Place: evidence.Host, State: evidence.Present, Out: out}
}

// lookRead reads a file with plain reads and no stat: /proc and /sys lie about sizes. O_NONBLOCK keeps a FIFO
// in a file's place from blocking the open; it changes nothing for files.
func lookRead(path string, limit int64) evidence.Item {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC|syscall.O_NOCTTY, 0)
	if err != nil {
		return failItem(path, err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		it := failItem(path, fmt.Errorf("read %s: %s, not a file", path, modeWord(fi.Mode())))
		return it
	}
	out, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		it := failItem(path, err)
		it.Out = out
		return it
	}
	it := okItem(path, out)
	if int64(len(out)) > limit {
		it.Out, it.Truncated = out[:limit], true
	}
	return it
}

func lookStat(path string) evidence.Item {
	src := evidence.StatSource(path)
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return failItem(src, &os.PathError{Op: "stat", Path: path, Err: err})
	}
	out := fmt.Sprintf("type=%s mode=%04o uid=%d gid=%d size=%d mtime=%d", typeWord(st.Mode), st.Mode&0o7777, st.Uid, st.Gid, st.Size, st.Mtim.Sec)
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFCHR, syscall.S_IFBLK:
		out += fmt.Sprintf(" rdev=%d:%d", major(st.Rdev), minor(st.Rdev))
	case syscall.S_IFLNK:
		if t, err := os.Readlink(path); err == nil {
			out += fmt.Sprintf(" target=%q", t)
		}
	}
	return okItem(src, []byte(out))
}

// lookOpen opens as libcufile does: for reading and writing.
func lookOpen(path string) (evidence.Item, int) {
	src := evidence.OpenSource(path)
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_NONBLOCK|syscall.O_CLOEXEC|syscall.O_NOCTTY, 0)
	if err != nil {
		return failItem(src, &os.PathError{Op: "open", Path: path, Err: err}), -1
	}
	return okItem(src, []byte("ok")), fd
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
	held := lookRead(read, maxRead)
	held.Source = evidence.HeldSource(read)
	if len(fds) == 0 {
		held = evidence.Item{Source: held.Source, Form: evidence.Whole, Place: evidence.Host, State: evidence.NotCollected,
			Err: []byte("no device node could be opened, so the list would mean nothing")}
	}
	items = append(items, held)
	for _, fd := range fds {
		_ = syscall.Close(fd)
	}
	return items
}

func lookStatfs(path string) evidence.Item {
	src := evidence.StatfsSource(path)
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return failItem(src, &os.PathError{Op: "statfs", Path: path, Err: err})
	}
	return okItem(src, fmt.Appendf(nil, "type=0x%x bsize=%d blocks=%d bfree=%d bavail=%d", uint64(st.Type)&0xffffffff, st.Bsize, st.Blocks, st.Bfree, st.Bavail))
}

func lookList(dir string) evidence.Item {
	src := evidence.ListSource(dir)
	des, err := os.ReadDir(dir)
	if err != nil && len(des) == 0 {
		return failItem(src, err)
	}
	names := make([]string, 0, len(des))
	for _, de := range des {
		n := de.Name()
		switch {
		case de.IsDir():
			n += "/"
		case de.Type()&os.ModeSymlink != 0:
			n += "@"
		}
		names = append(names, n)
	}
	sort.Strings(names)
	out := strings.Join(names, "\n")
	if out != "" {
		out += "\n"
	}
	it := okItem(src, []byte(out))
	it.Truncated = err != nil // some names were read before the error
	return it
}

func modeWord(m os.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&os.ModeNamedPipe != 0:
		return "fifo"
	case m&os.ModeSocket != 0:
		return "socket"
	case m&os.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

func typeWord(mode uint32) string {
	switch mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		return "file"
	case syscall.S_IFDIR:
		return "directory"
	case syscall.S_IFCHR:
		return "char"
	case syscall.S_IFBLK:
		return "block"
	case syscall.S_IFLNK:
		return "link"
	case syscall.S_IFIFO:
		return "fifo"
	case syscall.S_IFSOCK:
		return "socket"
	}
	return "unknown"
}

// Linux packs device numbers as glibc's makedev does.
func major(dev uint64) uint64 { return (dev>>8)&0xfff | (dev>>32)&^0xfff }
func minor(dev uint64) uint64 { return dev&0xff | (dev>>12)&^0xff }

// stamp sets the time of the look.
func stamp(it evidence.Item, at time.Time) evidence.Item {
	at = at.UTC()
	it.At = &at
	return it
}
