package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/ledger"
)

// soleChild is the pid of the one looking child that a worker has.
func soleChild(t *testing.T, l *Live, kind string) int {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.workers[kind]
	if w == nil || w.child == nil {
		t.Fatalf("no child for %s", kind)
	}
	return w.child.pid
}

func TestChildIsKept(t *testing.T) {
	soon(t)
	l := live(t)
	ctx := context.Background()
	want(t, l.Read(ctx, "/proc/version", true), evidence.Present)
	pid := soleChild(t, l, "proc-version")
	want(t, l.Read(ctx, "/proc/version", true), evidence.Present)
	if p := soleChild(t, l, "proc-version"); p != pid {
		t.Errorf("child %d, then %d", pid, p)
	}
	if p, ok := ledger.ProcessOf(pid); !ok || p.Name != childName || p.Group != pid {
		t.Errorf("child is %+v", p)
	}
	// A look at a file of its own kind keeps no child and no lock file.
	before := children()
	want(t, l.Read(ctx, "/etc/passwd", true), evidence.Present)
	if n := children(); n != before {
		t.Errorf("%d children, then %d", before, n)
	}
	if m, _ := filepath.Glob(string(l.locks) + "/*passwd*"); len(m) != 0 {
		t.Errorf("left %v", m)
	}
	l.Close()
	if !gone(pid) {
		t.Error("the child outlives Close")
	}
	want(t, l.Read(ctx, "/proc/version", true), evidence.NotCollected, "closed")
	l.Close() // twice is no harm
}

func TestChildThatDies(t *testing.T) {
	soon(t)
	l := live(t)
	read := func() evidence.Item { return l.Read(context.Background(), "/proc/version", true) }
	want(t, read(), evidence.Present)

	// While idle: the next look starts another one.
	pid := soleChild(t, l, "proc-version")
	_ = syscall.Kill(pid, syscall.SIGKILL)
	within(t, "end of the child", func() bool { return gone(pid) })
	if it := read(); it.State != evidence.Present { // its end may be seen too late to avoid one failure
		want(t, it, evidence.Failed, fmt.Sprintf("child %d", pid))
	}
	want(t, read(), evidence.Present)

	// While looking: the look says so, and the next one is answered.
	pid = soleChild(t, l, "proc-version")
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	got := make(chan evidence.Item)
	go func() { got <- read() }()
	time.Sleep(200 * time.Millisecond)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	want(t, <-got, evidence.Failed, fmt.Sprintf("read of /proc/version: child %d ended without an answer (signal: killed)", pid))
	want(t, read(), evidence.Present)
}

// A child that does not answer but can be ended leaves nothing behind, and the caller's deadline holds.
func TestChildThatStops(t *testing.T) {
	soon(t)
	l := live(t)
	want(t, l.Read(context.Background(), "/proc/version", true), evidence.Present)
	pid := soleChild(t, l, "proc-version")
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	began := time.Now()
	it := l.Read(ctxFor(t, 500*time.Millisecond), "/proc/version", true)
	want(t, it, evidence.TimedOut, "no answer within")
	if d := time.Since(began); it.Stuck != 0 || d > 5*time.Second {
		t.Errorf("stuck %d, took %s", it.Stuck, d)
	}
	if !gone(pid) {
		t.Errorf("child %d is left", pid)
	}
	want(t, l.Read(context.Background(), "/proc/version", true), evidence.Present)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	want(t, l.Read(ctx, "/proc/version", true), evidence.NotCollected, "no time")
}

// Those who wait for their turn keep to their own deadlines, and other kinds are not held up.
func TestTurns(t *testing.T) {
	soon(t)
	l := live(t)
	want(t, l.Read(context.Background(), "/proc/version", true), evidence.Present)
	_ = syscall.Kill(soleChild(t, l, "proc-version"), syscall.SIGSTOP)
	var wg sync.WaitGroup
	wg.Go(func() { want(t, l.Read(ctxFor(t, 3*time.Second), "/proc/version", true), evidence.TimedOut) })
	time.Sleep(200 * time.Millisecond)
	for range 4 {
		wg.Go(func() {
			want(t, l.Read(ctxFor(t, 300*time.Millisecond), "/proc/version", true), evidence.NotCollected, "another look of its kind")
		})
	}
	wg.Go(func() { want(t, l.Read(context.Background(), "/proc/uptime", true), evidence.Present) })
	wg.Wait()
}

// Two runs that look at the same things at the same time do not take each other for stuck, nor does an idle
// child hold anything.
func TestTwoRuns(t *testing.T) {
	soon(t)
	locks := ledger.Dir(t.TempDir())
	var wg sync.WaitGroup
	for range 2 {
		l := liveAt(t, locks)
		for range 2 {
			wg.Go(func() {
				for range 20 {
					want(t, l.Read(context.Background(), "/proc/version", true), evidence.Present)
					want(t, l.Read(context.Background(), "/etc/passwd", true), evidence.Present)
				}
			})
		}
	}
	wg.Wait()
}

// Without a place for locks looking goes on.
func TestNoPlaceForLocks(t *testing.T) {
	soon(t)
	file := filepath.Join(t.TempDir(), "file")
	_ = os.WriteFile(file, nil, 0o600)
	for _, d := range []ledger.Dir{"", "/no/such/dir", ledger.Dir(file)} {
		l := liveAt(t, d)
		for range 2 {
			want(t, l.Read(context.Background(), "/proc/version", true), evidence.Present)
			want(t, l.Read(context.Background(), "/etc/passwd", true), evidence.Present)
			want(t, l.Run(context.Background(), sh("echo hi")), evidence.Present, "hi")
		}
	}
}

// A cleaner of temporary files removes the lock of an idle child.
func TestLockFileRemoved(t *testing.T) {
	soon(t)
	l := live(t)
	want(t, l.Read(context.Background(), "/proc/version", true), evidence.Present)
	pid := soleChild(t, l, "proc-version")
	if err := os.RemoveAll(string(l.locks)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(string(l.locks), 0o700); err != nil {
		t.Fatal(err)
	}
	want(t, l.Read(context.Background(), "/proc/version", true), evidence.Present)
	if p := soleChild(t, l, "proc-version"); p == pid {
		t.Error("the child kept a lock that nobody sees")
	}
}

// Close during looks and commands ends them, and leaves no child and no goroutine.
func TestClose(t *testing.T) {
	soon(t)
	goroutines := runtime.NumGoroutine()
	l := live(t)
	want(t, l.Read(context.Background(), "/proc/version", true), evidence.Present)
	_ = syscall.Kill(soleChild(t, l, "proc-version"), syscall.SIGSTOP)
	c := sh("exec sleep 1000")
	c.Timeout = time.Hour
	var wg sync.WaitGroup
	wg.Go(func() { want(t, l.Read(context.Background(), "/proc/version", true), evidence.TimedOut) })
	wg.Go(func() { want(t, l.Run(context.Background(), c), evidence.TimedOut) })
	time.Sleep(300 * time.Millisecond)
	l.Close()
	wg.Wait()
	for _, p := range ledger.Processes() {
		if p.Parent == os.Getpid() {
			t.Errorf("left: %+v", p)
		}
	}
	within(t, "end of goroutines", func() bool { return runtime.NumGoroutine() <= goroutines })
	if _, err := os.Stat(l.cwd); !os.IsNotExist(err) || !strings.Contains(l.cwd, "gdsproof-") {
		t.Errorf("private folder %s: %v", l.cwd, err)
	}
}

// A run that is killed takes its looking child with it, also in the middle of a look.
func TestChildOfKilledRun(t *testing.T) {
	soon(t)
	locks := t.TempDir()
	slow := filepath.Join(t.TempDir(), "slow")
	_ = os.WriteFile(slow, []byte("text"), 0o600)
	defer lease(t, slow)()
	run := inRole("looker", locks, slow)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	child := 0
	within(t, "start of the child", func() bool {
		for _, p := range ledger.Processes() {
			if p.Parent == run.Process.Pid && p.Name == childName {
				child = p.PID
			}
		}
		return child != 0
	})
	time.Sleep(300 * time.Millisecond)
	_ = run.Process.Kill()
	_ = run.Wait()
	within(t, "end of the child", func() bool { return gone(child) })
}
