package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// role makes the test binary a process that has an inherited lock, or one that starts such a process.
const role = "GDSPROOF_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "keeper": // keeps what it inherited until its input ends
		fmt.Println(os.Getpid())
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		os.Exit(0)
	case "owner": // takes a lock, hands it to a keeper, notes the keeper or itself, and ends
		l, err := Dir(os.Args[1]).TryLock("inherited")
		if err != nil {
			panic(err)
		}
		c := exec.Command("/proc/self/exe")
		c.Env = []string{role + "=keeper"}
		c.ExtraFiles = []*os.File{l.File}
		c.Stdin, c.Stdout = os.Stdin, os.Stdout
		if err := c.Start(); err != nil {
			panic(err)
		}
		pid := c.Process.Pid
		if os.Args[2] == "self" {
			pid = os.Getpid()
		}
		_ = l.Note(pid, "a look", time.Now().Add(time.Hour))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func held(t *testing.T, d Dir, name string) *HeldError {
	t.Helper()
	l, err := d.TryLock(name)
	l.Release()
	var h *HeldError
	if !errors.As(err, &h) {
		t.Fatalf("lock %s: not held, %v", name, err)
	}
	return h
}

func take(t *testing.T, d Dir, name string) *Lock {
	t.Helper()
	l, err := d.TryLock(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLockTwice(t *testing.T) {
	d := Dir(t.TempDir())
	l := take(t, d, "a look")
	if h := held(t, d, "a look"); h.Holder.PID != 0 || h.Error() != "lock a look: held by another process" {
		t.Errorf("without a note: %v", h)
	}
	for _, what := range []string{strings.Repeat("long ", 1000), "short"} { // the second is over the first
		until := time.Now().Add(time.Minute)
		if err := l.Note(os.Getpid(), what, until); err != nil {
			t.Fatal(err)
		}
		h := held(t, d, "a look").Holder
		if h.PID != os.Getpid() || h.What != what || !h.Running() || !h.Until.Equal(until) || time.Since(h.Since) > time.Minute || h.Since.After(time.Now()) {
			t.Errorf("note %.60v", h)
		}
	}
	take(t, d, "another look").Release()

	l.Free()
	again := take(t, d, "a look")
	var h *HeldError
	if err := l.Again(); !errors.As(err, &h) {
		t.Errorf("taken back from its new holder: %v", err)
	}
	again.Drop()
	if err := l.Again(); err != nil {
		t.Errorf("taken back: %v", err)
	}
	l.Release()
	if des, _ := os.ReadDir(string(d)); len(des) != 0 {
		t.Errorf("left %v", des)
	}
}

func TestLockFileReplaced(t *testing.T) {
	d := Dir(t.TempDir())
	l := take(t, d, "x")
	l.Free()
	take(t, d, "x").Release() // and removed
	if err := l.Again(); !errors.Is(err, ErrStale) {
		t.Errorf("a lock that nobody sees: %v", err)
	}
	take(t, d, "x").Release()
}

// However locks are given up, two never have the same one.
func TestLockRace(t *testing.T) {
	d := Dir(t.TempDir())
	var mu sync.Mutex
	var wg sync.WaitGroup
	got := 0
	for i := range 8 {
		wg.Go(func() {
			for range 200 {
				l, err := d.TryLock("x")
				if err != nil {
					var h *HeldError
					if !errors.As(err, &h) {
						t.Error(err)
					}
					continue
				}
				if !mu.TryLock() {
					t.Error("two have the lock")
				} else {
					got++
					mu.Unlock()
				}
				if i%2 == 0 {
					l.Release()
				} else {
					l.Drop()
				}
			}
		})
	}
	wg.Wait()
	if got == 0 {
		t.Error("nobody ever got the lock")
	}
}

// A child that inherits the lock has it for as long as it lives, and is found whatever the note says.
func TestLockInherited(t *testing.T) {
	for _, noted := range []string{"child", "self"} {
		t.Run(noted, func(t *testing.T) {
			d := Dir(t.TempDir())
			c := exec.Command("/proc/self/exe", string(d), noted)
			c.Env = []string{role + "=owner"}
			stdin, err := c.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			var child int
			if _, err := fmt.Fscan(stdout, &child); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Process.Wait(); err != nil {
				t.Fatal(err)
			}
			h := held(t, d, "inherited")
			if noted == "child" && (h.Holder.PID != child || !h.Holder.Running()) {
				t.Errorf("note %+v, child %d", h.Holder, child)
			}
			if noted == "self" && h.Holder.Running() {
				t.Errorf("note %+v: it has ended", h.Holder)
			}
			if pids := h.Processes(); len(pids) != 1 || pids[0] != child {
				t.Errorf("holders %v, want %d", pids, child)
			}
			stdin.Close()
			for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				if l, err := d.TryLock("inherited"); err == nil {
					l.Release()
					return
				}
				if time.Now().After(end) {
					t.Fatal("the lock is held after the child's end")
				}
			}
		})
	}
}

// A pid that was given to another process since is not taken for the holder.
func TestHolderReused(t *testing.T) {
	p, ok := ProcessOf(os.Getpid())
	if !ok {
		t.Fatal("no /proc")
	}
	if !(Holder{PID: p.PID, Start: p.Start}).Running() || (Holder{PID: p.PID, Start: p.Start - 1}).Running() || (Holder{}).Running() {
		t.Errorf("process %+v", p)
	}
}

func TestFileName(t *testing.T) {
	long := strings.Repeat("long/", 100)
	seen := map[string]string{}
	for _, name := range []string{"a", "A", "a b", "a_b", "a/b", "a_20b", "../up", "..", ".", "/etc/passwd", "über", "a\x00b", "", long, long + "1", long + "2", strings.Repeat("x", 195), strings.Repeat("x", 300)} {
		f := fileName(name)
		if other, ok := seen[f]; ok {
			t.Errorf("%q and %q are both %s", name, other, f)
		}
		seen[f] = name
		if len(f) > 255 || strings.ContainsAny(f, "/\x00") || f == "." || f == ".." {
			t.Errorf("%q gives %q", name, f)
		}
	}
	d := Dir(filepath.Join(t.TempDir(), "d"))
	if err := os.Mkdir(string(d), 0o700); err != nil {
		t.Fatal(err)
	}
	l := take(t, d, "../../up")
	defer l.Release()
	if filepath.Dir(l.path) != string(d) {
		t.Errorf("lock at %s", l.path)
	}
}

// A link in a lock's place is not followed.
func TestLockIsLink(t *testing.T) {
	d := t.TempDir()
	_ = os.WriteFile(d+"/precious", []byte("text"), 0o600)
	if err := os.Symlink("precious", filepath.Join(d, fileName("x"))); err != nil {
		t.Fatal(err)
	}
	if l, err := Dir(d).TryLock("x"); err == nil {
		l.Release()
		t.Error("followed a link")
	}
}

func TestNoPlace(t *testing.T) {
	for _, d := range []Dir{"", "/no/such/dir", "/proc"} {
		l, err := d.TryLock("x")
		var h *HeldError
		if err == nil || l != nil || errors.As(err, &h) {
			t.Errorf("%q: %v, %v", d, l, err)
		}
	}
	var l *Lock // looking goes on without
	if l.Again() != nil || l.Note(1, "x", time.Now()) != nil {
		t.Error("a lock that is not there says no")
	}
	l.Free()
	l.Drop()
	l.Leave()
	l.Release()
}

func TestRunDir(t *testing.T) {
	uid, d := os.Geteuid(), t.TempDir()
	good, file, link, open := d+"/good", d+"/file", d+"/link", d+"/open"
	_ = os.WriteFile(file, nil, 0o600)
	_ = os.Mkdir(d+"/mine", 0o700)
	_ = os.Symlink("mine", link)
	_ = os.Mkdir(open, 0o700)
	_ = os.Chmod(open, 0o777)
	for bad, why := range map[string]string{file: "not a folder", link: "not a folder", open: "others can write there", d + "/no/x": "no such file"} {
		got, err := firstOwn([]string{bad}, uid)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %q, %v", bad, got, err)
		}
		if got, err := firstOwn([]string{bad, good}, uid); err != nil || got != Dir(good) {
			t.Errorf("after %s: %q, %v", bad, got, err)
		}
	}
	if _, err := firstOwn([]string{good}, uid+1); err == nil || !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("a folder of another user: %v", err)
	}
	if fi, err := os.Lstat(good); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", fi.Mode(), err)
	}
	// Neither variable moves it: another run would not find the locks.
	a, err := RunDir()
	if err != nil {
		t.Skipf("not tested: %v", err)
	}
	t.Setenv("TMPDIR", d)
	t.Setenv("XDG_RUNTIME_DIR", d)
	if b, err := RunDir(); err != nil || b != a {
		t.Errorf("%q, then %q: %v", a, b, err)
	}
}

func TestParseStat(t *testing.T) {
	const line = "42 (a (b) c) D 7 41 41 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 1 1 1"
	p, ok := parseStat(42, line)
	if want := (Process{42, "a (b) c", "D", 7, 41, 123456}); !ok || p != want {
		t.Errorf("got %+v", p)
	}
	for _, bad := range []string{"", "42", "42 (x", "42 )x(", "42 (x) D 1"} {
		if _, ok := parseStat(42, bad); ok {
			t.Errorf("%q is no process", bad)
		}
	}
	if !pendingKill([]byte("SigPnd:\t0000000000000000\nShdPnd:\t0000000000000100\n")) || pendingKill([]byte("SigPnd:\t0000000000000200\nSigBlk:\t0000000000000100\n")) {
		t.Error("pending signals")
	}
}
