package host

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// faults are the file systems that the server mounts, each by its own connection: a hang concerns a whole
// mount, since the next look there would hang too.
var faults = []string{"read", "open", "list", "statfs", "hold", "slow", "killed", "command", "group", "program", "link", "close"}

// node is the root, a file or a folder of a file system with one fault.
type node struct {
	fs.Inode
	fault string
}

var (
	_ fs.NodeLookuper   = (*node)(nil)
	_ fs.NodeOpener     = (*node)(nil)
	_ fs.NodeReader     = (*node)(nil)
	_ fs.NodeGetattrer  = (*node)(nil)
	_ fs.NodeReaddirer  = (*node)(nil)
	_ fs.NodeOpendirer  = (*node)(nil)
	_ fs.NodeStatfser   = (*node)(nil)
	_ fs.NodeGetxattrer = (*node)(nil)
)

func never() { select {} }

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	mode := uint32(unix.S_IFREG)
	switch name {
	case "never", "fast":
	case "folder":
		mode = unix.S_IFDIR
	default:
		return nil, syscall.ENOENT
	}
	c := &node{fault: n.fault}
	if name == "fast" {
		c.fault = ""
	}
	out.Mode = mode | 0o755
	return n.NewInode(ctx, c, fs.StableAttr{Mode: mode}), 0
}

func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode = n.Mode() | 0o755
	out.Size = 5
	return 0
}

func (n *node) Getxattr(context.Context, string, []byte) (uint32, syscall.Errno) {
	return 0, fs.ENOATTR
}

func (n *node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if n.fault == "open" || n.fault == "hold" || n.fault == "program" {
		never()
	}
	return nil, fuse.FOPEN_DIRECT_IO, 0
}

func (n *node) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	switch n.fault {
	case "":
	case "slow":
		time.Sleep(300 * time.Millisecond)
	default:
		never()
	}
	if off > 0 {
		return fuse.ReadResultData(nil), 0
	}
	return fuse.ReadResultData([]byte("text\n")), 0
}

func (n *node) Opendir(context.Context) syscall.Errno { return 0 }

func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	if n.fault == "list" {
		never()
	}
	return fs.NewListDirStream([]fuse.DirEntry{{Name: "fast", Mode: unix.S_IFREG}}), 0
}

func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	if n.fault == "statfs" {
		never()
	}
	out.Bsize, out.Blocks = 4096, 1000
	return 0
}

// serveFUSE mounts all faults below dir and serves them until its input ends, and for no longer than two
// minutes: with the server the connections go, and whoever waits is set free.
func serveFUSE(dir string) {
	time.AfterFunc(2*time.Minute, func() { os.Exit(3) })
	go func() {
		for range time.Tick(time.Second) { // else Go might take a server that waits for a deadlock
		}
	}()
	for _, f := range faults {
		at := filepath.Join(dir, f)
		opts := &fs.Options{MountOptions: fuse.MountOptions{DirectMountStrict: true, DirectMount: true, FsName: f, Name: "gdsproof-test"}}
		err := os.Mkdir(at, 0o755)
		if err == nil {
			_, err = fs.Mount(at, &node{fault: f}, opts)
		}
		if err != nil {
			fmt.Printf("mount %s: %v\n", at, err)
			os.Exit(1)
		}
	}
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

// inOwnMounts runs the calling test again where its mounts are its own: a mount that never answers would hang
// every df on the machine. True: this is that run, and dir is for its mounts.
func inOwnMounts(t *testing.T) (dir string, ok bool) {
	const inner = "GDSPROOF_TEST_MOUNTS"
	if d := os.Getenv(inner); d != "" {
		return d, true
	}
	needsRoot(t)
	_, err := os.Stat("/dev/fuse")
	needs(t, err == nil, "needs /dev/fuse")
	made, err := os.MkdirTemp("/tmp", "gdsproof-fuse-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(made); err != nil {
			t.Error(err)
		}
	})
	c := exec.Command(self, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=150s")
	c.Env = append(os.Environ(), inner+"="+made)
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := c.CombinedOutput()
	if err != nil {
		if strings.Contains(string(out), "not tested:") {
			needs(t, false, string(out))
		}
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	return "", false
}

// hangs is the set of hanging file systems of a test.
type hangs struct {
	dir     string
	control string            // fusectl
	conn    map[string]string // fault to connection
}

// startHangs starts the server. Whatever happens, no process may stay in uninterruptible sleep: the
// connections are aborted at the end of the test, after a minute, and when the server or this process ends.
func startHangs(t *testing.T, dir string) *hangs {
	t.Helper()
	h := &hangs{dir: dir, control: "/sys/fs/fuse/connections", conn: map[string]string{}}
	if err := unix.Mount("fusectl", h.control, "fusectl", 0, ""); err != nil && err != unix.EBUSY {
		needs(t, false, "needs fusectl: "+err.Error())
	}
	server := inRole("fuse", dir)
	stdin, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(time.Minute, h.abortAll)
	t.Cleanup(func() {
		watchdog.Stop()
		h.abortAll()
		stdin.Close()
		_ = server.Process.Kill()
		_ = server.Wait()
		for _, f := range faults {
			_ = unix.Unmount(filepath.Join(dir, f), unix.MNT_DETACH)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if line != "ready\n" {
		t.Fatalf("server: %q %v", line, err)
	}
	// The connection's number is the minor number of the mount's device; to ask the mount itself might hang.
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		w := strings.Fields(line)
		if fault, ok := strings.CutPrefix(w[4], dir+"/"); ok {
			_, minor, _ := strings.Cut(w[2], ":")
			h.conn[fault] = minor
		}
	}
	if len(h.conn) != len(faults) {
		t.Fatalf("connections %v", h.conn)
	}
	return h
}

func (h *hangs) path(fault, name string) string { return filepath.Join(h.dir, fault, name) }

func (h *hangs) abort(fault string) {
	_ = os.WriteFile(filepath.Join(h.control, h.conn[fault], "abort"), []byte("1"), 0)
}

func (h *hangs) abortAll() {
	for f := range h.conn {
		h.abort(f)
	}
}
