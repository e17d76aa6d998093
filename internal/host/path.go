package host

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gdsproof/internal/ledger"
)

// maxLinks is the kernel's own limit of links in one path (path_resolution(7)).
const maxLinks = 40

// walk follows a path below root as the kernel would if root were "/": an absolute link stays below root, and
// ".." stops there. os.Root refuses absolute links, and openat2 with RESOLVE_IN_ROOT is missing in kernels
// before 5.6 (RHEL 8) and in many containers' seccomp filters. The tree is not expected to change meanwhile.
//
// far, if given, is asked before each step and stops the walk there by answering true: the rest is not
// touched. last says whether a link at the very end is followed. False: too many links.
func walk(root, path string, last bool, far func(string) bool) (string, bool) {
	at, todo, links := root, strings.Split(path, "/"), 0
	for len(todo) > 0 {
		c := todo[0]
		todo = todo[1:]
		switch c {
		case "", ".":
			continue
		case "..":
			if at != root {
				at = filepath.Dir(at)
			}
			continue
		}
		next := filepath.Join(at, c)
		rest := filepath.Join(append([]string{next}, todo...)...)
		if far != nil && far(next) {
			return next, true
		}
		if !last && len(todo) == 0 {
			return next, true
		}
		fi, err := os.Lstat(next)
		if err != nil {
			return rest, true // the look itself will say what is wrong
		}
		if fi.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		to, err := os.Readlink(next)
		if err != nil {
			return rest, true
		}
		if links++; links > maxLinks {
			return rest, false
		}
		if filepath.IsAbs(to) {
			at = root
		}
		todo = append(strings.Split(to, "/"), todo...)
	}
	return at, true
}

// follow is walk for those who have asked about loops already.
func follow(root, path string, last bool) string {
	p, _ := walk(root, path, last, nil)
	return p
}

// near are the file systems that answer out of this machine's kernel. Any other may wait for a server or for
// a process, and is looked at by a child only, whatever the caller expected.
var near = strings.Fields(`rootfs ramfs tmpfs devtmpfs devpts proc sysfs debugfs tracefs securityfs configfs pstore
	efivarfs bpf cgroup cgroup2 cpuset mqueue hugetlbfs binfmt_misc nsfs fusectl selinuxfs rpc_pipefs resctrl
	ext2 ext3 ext4 xfs btrfs f2fs zfs vfat exfat ntfs3 iso9660 udf squashfs erofs overlay aufs`)

// mounts is the table of mounts, read anew when it is older than a second: looks come in hundreds.
type mounts struct {
	mu    sync.Mutex
	read  time.Time
	table map[string]string // mount point to type
}

func (m *mounts) typeAt(path string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.read) > time.Second {
		b, err := os.ReadFile("/proc/self/mountinfo") // never asks a file system
		if err != nil {
			b = nil
		}
		m.table, m.read = parseMounts(b), time.Now()
	}
	t, ok := m.table[path]
	return t, ok
}

// parseMounts reads mountinfo (proc_pid_mountinfo(5)): the fifth field is the mount point, the first after a
// lone "-" the type. A later mount hides an earlier one at the same place.
func parseMounts(b []byte) map[string]string {
	out := map[string]string{}
	for line := range bytes.Lines(b) {
		f := strings.Fields(string(line))
		dash := slices.Index(f, "-")
		if dash < 6 || dash+1 >= len(f) {
			continue
		}
		out[mountName.Replace(f[4])] = f[dash+1]
	}
	return out
}

// mountName undoes the kernel's escapes.
var mountName = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// remote is the first mount point on the way to path whose file system may hang, "" if there is none. Nothing
// on that mount is touched.
func (m *mounts) remote(root, path string, last bool) string {
	found := ""
	far := func(p string) bool {
		t, ok := m.typeAt(p)
		if ok && !slices.Contains(near, t) || jumps(p) {
			found = p
		}
		return found != ""
	}
	// The root's own way comes first: it may lie on such a mount, or be one.
	if top, ok := walk("/", root, true, far); !ok || found != "" {
		return found
	} else if root != "/" {
		root = top
	}
	walk(root, path, last, far)
	return found
}

// jumps tells whether a path is one of /proc's own links into another process's view, where other mounts hold.
func jumps(p string) bool {
	rest, ok := strings.CutPrefix(p, "/proc/")
	if !ok {
		return false
	}
	parts := strings.Split(rest, "/")
	if len(parts) > 3 && parts[1] == "task" {
		parts = append(parts[:1], parts[3:]...)
	}
	if len(parts) < 2 || parts[0] == "" || strings.Trim(parts[0], "0123456789") != "" {
		return false
	}
	switch parts[1] {
	case "root", "cwd", "exe", "map_files":
		return true
	case "fd":
		return len(parts) > 2
	}
	return false
}

// kind groups looks that hang together: when one of a kind hangs, the others would too. shared: more looks of
// that kind are to be expected, so its child is kept.
func kind(q question, remote string) (name string, shared bool) {
	p := q.Path
	if q.Op == "hold" && len(q.Paths) > 0 {
		p = q.Paths[0]
	}
	defer func() {
		if q.Root != "/" && remote == "" {
			name = "in " + q.Root + " " + name // these files are no device's or driver's
		}
	}()
	switch {
	case remote != "" && !jumps(remote):
		return "on " + remote, true
	case remote != "":
		return "in " + remote, false
	case strings.HasPrefix(p, "/dev/"):
		// One driver has numbered nodes: the number is dropped.
		return "open " + strings.TrimRight(p, "0123456789"), true
	case strings.HasPrefix(p, "/proc/"), strings.HasPrefix(p, "/sys/"):
		parts := strings.SplitN(strings.TrimPrefix(p, "/"), "/", 4)
		if strings.Trim(parts[1], "0123456789") == "" {
			return q.Op + " " + p, false // each process hangs for itself
		}
		return strings.Join(parts[:min(3, len(parts))], "-"), true
	}
	return q.Op + " " + p, false
}

// hang is a process that was left behind.
type hang struct {
	pid   int
	start uint64
	what  string
	since time.Time
}

// over tells whether it has ended after all: a mount was forced off, a server came back.
func (h *hang) over() bool {
	p, ok := ledger.ProcessOf(h.pid)
	return !ok || p.Start != h.start || ledger.State(h.pid) == ""
}

// Remote tells whether a path lies on a file system that may hang.
func Remote(path string) bool { return new(mounts).remote("/", path, true) != "" }
