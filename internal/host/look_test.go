package host

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gdsproof/internal/evidence"
)

// Each kind of thing is read in this process and in a child; both must say the same.
func TestRead(t *testing.T) {
	d := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(d, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	fifo := filepath.Join(d, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	sock := filepath.Join(d, "socket")
	ln, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	link, loop := filepath.Join(d, "link"), filepath.Join(d, "loop")
	for from, to := range map[string]string{link: "a file", loop: "loop"} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	file := write("a file", "text\n")
	l := live(t)
	for name, c := range map[string]struct {
		path  string
		state evidence.State
		words string
		errno string
	}{
		"file":            {file, evidence.Present, "text\n", ""},
		"link":            {link, evidence.Present, "text\n", ""},
		"empty":           {write("empty", ""), evidence.Present, "", ""},
		"missing":         {d + "/no", evidence.Absent, "open " + d + "/no: no such file", "ENOENT"},
		"below a file":    {file + "/no", evidence.Absent, "not a directory", "ENOTDIR"},
		"loop":            {loop, evidence.Failed, "too many levels", "ELOOP"},
		"fifo":            {fifo, evidence.Failed, "a fifo, not a file", ""},
		"socket":          {sock, evidence.Failed, "a socket, not a file", ""},
		"folder":          {d, evidence.Failed, "a directory, not a file", "EISDIR"},
		"device":          {"/dev/zero", evidence.Failed, "a char, not a file", ""},
		"proc of size 0":  {"/proc/version", evidence.Present, "Linux version", ""},
		"proc of process": {"/proc/self/mountinfo", evidence.Present, " - ", ""},
		"sysfs":           {"/sys/kernel/mm/transparent_hugepage/enabled", evidence.Present, "never", ""},
		"sysfs link":      {"/sys/class/net/lo/type", evidence.Present, "772", ""},
		"driver's error":  {"/proc/self/mem", evidence.Failed, "input/output error", "EIO"},
		"relative":        {"etc/passwd", evidence.Failed, "not an absolute path", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, mayBlock := range []bool{false, true} {
				soon(t)
				it := l.Read(context.Background(), c.path, mayBlock)
				if name == "sysfs" && it.State == evidence.Absent {
					t.Skip("not tested: this kernel has no such file")
				}
				want(t, it, c.state, c.words)
				if it.Errno != c.errno || it.Source != c.path || it.Origin != "" || it.At == nil && name != "relative" || it.Truncated {
					t.Errorf("mayBlock %t: got %+v", mayBlock, it)
				}
			}
		})
	}
}

func TestReadHuge(t *testing.T) {
	soon(t)
	l := live(t)
	for name, size := range map[string]int{"at the cap": maxRead, "above": maxRead + 1} {
		p := filepath.Join(t.TempDir(), "huge")
		if err := os.WriteFile(p, bytes.Repeat([]byte("x"), size), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, mayBlock := range []bool{false, true} { // true: an answer far larger than a pipe's buffer
			it := l.Read(context.Background(), p, mayBlock)
			want(t, it, evidence.Present)
			if len(it.Out) != maxRead || it.Truncated != (size > maxRead) {
				t.Errorf("%s: %d bytes, truncated %t", name, len(it.Out), it.Truncated)
			}
		}
	}
}

// A file that somebody has a lease on makes its next reader wait, or say EAGAIN where that must not be.
func TestReadWouldWait(t *testing.T) {
	soon(t)
	p := filepath.Join(t.TempDir(), "leased")
	if err := os.WriteFile(p, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	release := lease(t, p)
	l := live(t)
	it := l.Read(context.Background(), p, false)
	want(t, it, evidence.Failed, p)
	if it.Errno != "EAGAIN" {
		t.Errorf("errno %s", it.Errno)
	}
	time.AfterFunc(500*time.Millisecond, release)
	want(t, l.Read(context.Background(), p, true), evidence.Present, "text")
}

// lease makes the next one who opens a file wait, for as long as /proc/sys/fs/lease-break-time says or until
// release. It is the one way to make a plain file slow without a file system of our own.
func lease(t *testing.T, path string) (release func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	fd := f.Fd()
	_, _ = unix.FcntlInt(fd, unix.F_SETSIG, int(syscall.SIGURG)) // which Go's runtime ignores
	if _, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("not tested: no leases here: %v", err)
	}
	return func() { _, _ = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK) }
}

func TestStat(t *testing.T) {
	d := t.TempDir()
	if err := os.Symlink("/no where", d+"/link"); err != nil {
		t.Fatal(err)
	}
	l := live(t)
	ctx := context.Background()
	want(t, l.Stat(ctx, "/dev/null"), evidence.Present, "type=char mode=0666 ", " rdev=1:3")
	want(t, l.Stat(ctx, d), evidence.Present, "type=directory mode=0755 uid=")
	want(t, l.Stat(ctx, d+"/link"), evidence.Present, "type=link ", ` target="/no where"`)
	it := l.Stat(ctx, d+"/no")
	want(t, it, evidence.Absent, "stat "+d+"/no: no such file")
	if it.Source != evidence.StatSource(d+"/no") || it.Errno != "ENOENT" {
		t.Errorf("got %+v", it)
	}
}

func TestOpenAndHold(t *testing.T) {
	soon(t)
	d, l, ctx := t.TempDir(), live(t), context.Background()
	want(t, l.Open(ctx, "/dev/null"), evidence.Present, "ok")
	want(t, l.Open(ctx, "/dev/no-such-node"), evidence.Absent)
	it := l.Open(ctx, d)
	want(t, it, evidence.Failed)
	if it.Errno != "EISDIR" || it.Source != evidence.OpenSource(d) {
		t.Errorf("got %+v", it)
	}
	its := l.Hold(ctx, []string{"/dev/null", "/dev/no-such-node"}, "/proc/version")
	if len(its) != 3 || its[2].Source != evidence.HeldSource("/proc/version") || its[1].Source != evidence.OpenSource("/dev/no-such-node") {
		t.Fatalf("got %+v", its)
	}
	want(t, its[0], evidence.Present)
	want(t, its[1], evidence.Absent)
	want(t, its[2], evidence.Present, "Linux version")
	its = l.Hold(ctx, []string{"/dev/no-such-node"}, "/proc/version")
	want(t, its[1], evidence.NotCollected, "no device node")
	its = l.Hold(ctx, nil, "/proc/version")
	want(t, its[0], evidence.NotCollected)
}

func TestListAndStatfs(t *testing.T) {
	soon(t)
	d, l, ctx := t.TempDir(), live(t), context.Background()
	for i, n := range []string{"b", "a", "sub"} {
		if err := os.Mkdir(filepath.Join(d, n), 0o700); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			_ = os.Symlink("b", d+"/link")
			_ = os.WriteFile(d+"/file", nil, 0o600)
		}
	}
	for _, mayBlock := range []bool{false, true} {
		it := l.List(ctx, d, mayBlock)
		want(t, it, evidence.Present)
		if string(it.Out) != "a/\nb/\nfile\nlink@\nsub/\n" || it.Source != evidence.ListSource(d) {
			t.Errorf("got %q from %s", it.Out, it.Source)
		}
		it = l.List(ctx, d+"/a", mayBlock)
		want(t, it, evidence.Present)
		if len(it.Out) != 0 || !it.Complete() {
			t.Errorf("empty folder: got %+v", it)
		}
		want(t, l.List(ctx, d+"/no", mayBlock), evidence.Absent)
		want(t, l.List(ctx, d+"/file", mayBlock), evidence.Absent)
	}
	if it := lookList(d, 8); it.State != evidence.Present || !it.Truncated || len(it.Out) > 8 {
		t.Errorf("capped list: %s %q, truncated %t", it.State, it.Out, it.Truncated)
	}
	it := l.Statfs(ctx, "/proc")
	want(t, it, evidence.Present, "type=0x9fa0 bsize=")
	want(t, l.Statfs(ctx, d+"/no"), evidence.Absent)
}

// What the user may not see is denied, not absent and not failed.
func TestDenied(t *testing.T) {
	needsRoot(t)
	setpriv, err := exec.LookPath("setpriv")
	needs(t, err == nil, "needs setpriv")
	d, err := os.MkdirTemp("/tmp", "gdsproof-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(d)
	_ = os.Chmod(d, 0o755)
	_ = os.WriteFile(d+"/secret", []byte("x"), 0)
	_ = os.Mkdir(d+"/closed", 0o700)
	// The binary of a test lies in a folder of root, so the other user needs a copy.
	b, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(d+"/test", b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	locks := d + "/locks"
	_ = os.Mkdir(locks, 0o700)
	_ = os.Chown(locks, 65534, 65534)
	defer os.Remove("/tmp/gdsproof-65534") // that user's run folder, unless it is in use
	for _, p := range []string{"/secret", "/closed/no"} {
		c := exec.Command(setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", d+"/test", locks, d+p)
		c.Dir, c.Env = "/", []string{role + "=looker"}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var it evidence.Item
		if err := json.Unmarshal(out, &it); err != nil {
			t.Fatal(err)
		}
		want(t, it, evidence.Denied, "open "+d+p+": permission denied")
		if it.Errno != "EACCES" {
			t.Errorf("got %+v", it)
		}
	}
}
