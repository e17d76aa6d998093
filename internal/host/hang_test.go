package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/ledger"
)

// hanging is one way of looking at something that never answers.
type hanging struct {
	fault string
	look  func(*Live, context.Context, *hangs) []evidence.Item
}

var hangingLooks = []hanging{
	{"read", func(l *Live, ctx context.Context, h *hangs) []evidence.Item {
		return []evidence.Item{l.Read(ctx, h.path("read", "never"), true)}
	}},
	{"open", func(l *Live, ctx context.Context, h *hangs) []evidence.Item {
		return []evidence.Item{l.Open(ctx, h.path("open", "never"))}
	}},
	{"hold", func(l *Live, ctx context.Context, h *hangs) []evidence.Item {
		return l.Hold(ctx, []string{h.path("hold", "fast"), h.path("hold", "never")}, "/proc/version")
	}},
	{"list", func(l *Live, ctx context.Context, h *hangs) []evidence.Item {
		return []evidence.Item{l.List(ctx, h.path("list", "folder"), true)}
	}},
	{"statfs", func(l *Live, ctx context.Context, h *hangs) []evidence.Item {
		return []evidence.Item{l.Statfs(ctx, h.path("statfs", ""))}
	}},
	// A file that is thought to be near, but a link leads to a file system that hangs.
	{"link", func(l *Live, ctx context.Context, h *hangs) []evidence.Item {
		return []evidence.Item{l.Read(ctx, h.dir+"/cufile.json", false)}
	}},
	{"command", func(l *Live, ctx context.Context, h *hangs) []evidence.Item {
		return []evidence.Item{l.Run(ctx, Command{Argv: []string{"head", "-c1", h.path("command", "never")}})}
	}},
	// The command obeys, what it started does not.
	{"group", func(l *Live, ctx context.Context, h *hangs) []evidence.Item {
		return []evidence.Item{l.Run(ctx, Command{Argv: []string{"sh", "-c", "head -c1 " + h.path("group", "never") + "; true"}})}
	}},
	{"program", func(l *Live, ctx context.Context, h *hangs) []evidence.Item {
		return []evidence.Item{l.Run(ctx, Command{Argv: []string{h.path("program", "never")}})}
	}},
}

func TestHangs(t *testing.T) {
	dir, ok := inOwnMounts(t)
	if !ok {
		return
	}
	h := startHangs(t, dir)
	if err := os.Symlink(h.path("link", "never"), dir+"/cufile.json"); err != nil {
		t.Fatal(err)
	}
	locks := ledger.Dir(t.TempDir())
	l := liveAt(t, locks)

	// All hang at the same time; meanwhile everything else is answered.
	began := time.Now()
	stuck := make([]int, len(hangingLooks))
	var wg sync.WaitGroup
	for i, c := range hangingLooks {
		wg.Go(func() {
			for _, it := range c.look(l, ctxFor(t, 3*time.Second), h) {
				want(t, it, evidence.TimedOut, "was left behind")
				stuck[i] = it.Stuck
			}
		})
	}
	for range 3 {
		wg.Go(func() {
			ctx := context.Background()
			want(t, l.Read(ctx, h.path("slow", "never"), true), evidence.Present, "text\n")
			want(t, l.Read(ctx, "/proc/version", true), evidence.Present)
			want(t, l.Read(ctx, "/proc/version", false), evidence.Present)
			want(t, l.Run(ctx, Command{Argv: []string{"echo", "hi"}}), evidence.Present, "hi")
		})
	}
	wg.Wait()
	if d := time.Since(began); d > 20*time.Second { // the sum of the deadlines would be more
		t.Errorf("took %s", d)
	}
	if t.Failed() {
		return
	}

	before := inD()
	for i, c := range hangingLooks {
		t.Run(c.fault, func(t *testing.T) { stays(t, c, h, l, locks, stuck[i]) })
	}
	if after := inD(); after != before {
		t.Errorf("%d processes in uninterruptible sleep, then %d", before, after)
	}
	for i, c := range hangingLooks {
		t.Run("after the end of "+c.fault, func(t *testing.T) { ends(t, c, h, l, locks, stuck[i]) })
	}
	t.Run("close", func(t *testing.T) { closes(t, h, locks) })
	t.Run("killed run", func(t *testing.T) { killedRun(t, h, locks) })
}

// inD counts the processes in uninterruptible sleep that came from this test.
func inD() (n int) {
	for _, p := range ledger.Processes() {
		if ledger.State(p.PID) == "D" && (p.Name == childName || p.Name == "head" || p.Name == "exe") {
			n++
		}
	}
	return n
}

// stays checks that a hang is told again and that nothing more is started.
func stays(t *testing.T, c hanging, h *hangs, l *Live, locks ledger.Dir, pid int) {
	_ = syscall.Kill(pid, syscall.SIGKILL)
	time.Sleep(100 * time.Millisecond)
	if s := ledger.State(pid); s != "D" || !ledger.Killed(pid) {
		t.Fatalf("process %d is in state %q, killed %t", pid, s, ledger.Killed(pid))
	}
	for name, who := range map[string]*Live{"same run": l, "another run": liveAt(t, locks)} {
		had := children()
		for range 2 {
			began := time.Now()
			for _, it := range c.look(who, ctxFor(t, 5*time.Second), h) {
				want(t, it, evidence.TimedOut, "not tried: an earlier ", fmt.Sprintf("(process %d)", pid), " has not returned since "+began.UTC().Format("2006-"))
				if it.Stuck != pid {
					t.Errorf("%s: stuck process %d, want %d", name, it.Stuck, pid)
				}
			}
			if d := time.Since(began); d > 4*time.Second {
				t.Errorf("%s: took %s", name, d)
			}
		}
		// Others of the kind are not tried; nobody has looked at them.
		if c.fault == "read" {
			it := who.Read(ctxFor(t, 5*time.Second), h.path("read", "fast"), true)
			want(t, it, evidence.NotCollected, fmt.Sprintf("process %d", pid))
			if it.Stuck != pid {
				t.Errorf("%s: stuck process %d, want %d", name, it.Stuck, pid)
			}
		}
		if c.fault == "command" && who == l {
			want(t, who.Run(ctxFor(t, 5*time.Second), Command{Argv: []string{"head", "/dev/null"}}), evidence.NotCollected, fmt.Sprintf("process %d", pid))
		}
		if n := children(); n != had {
			t.Errorf("%s: %d children, then %d", name, had, n)
		}
	}
}

// ends checks that everything is well again when the file system does not hang any more.
func ends(t *testing.T, c hanging, h *hangs, l *Live, locks ledger.Dir, pid int) {
	h.abort(c.fault)
	within(t, fmt.Sprintf("end of process %d", pid), func() bool { return gone(pid) })
	des, _ := os.ReadDir(string(locks))
	for _, de := range des {
		if strings.Contains(de.Name(), "_2f"+c.fault) {
			l, err := locks.TryLock(unescape(de.Name()))
			if err != nil {
				t.Error(err)
			}
			l.Drop()
		}
	}
	for name, who := range map[string]*Live{"same run": l, "another run": liveAt(t, locks)} {
		for _, it := range c.look(who, ctxFor(t, 5*time.Second), h) {
			if it.State == evidence.TimedOut || it.State == evidence.NotCollected && c.fault != "hold" || it.Stuck != 0 {
				t.Errorf("%s: %s %s %q", name, it.Source, it.State, it.Err)
			}
		}
	}
}

// unescape undoes the escape of lock files' names, to find the lock of a file.
func unescape(name string) string {
	name = strings.TrimSuffix(name, ".lock")
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		var c byte
		if name[i] == '_' {
			if _, err := fmt.Sscanf(name[i+1:i+3], "%02x", &c); err == nil {
				b.WriteByte(c)
				i += 2
				continue
			}
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// closes: a run that leaves a child behind ends all the same.
func closes(t *testing.T, h *hangs, locks ledger.Dir) {
	began := time.Now()
	l := liveAt(t, locks)
	it := l.Statfs(ctxFor(t, 5*time.Second), h.path("close", ""))
	want(t, it, evidence.Present, "blocks=1000") // its child is kept, and hangs in the next look
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(500*time.Millisecond, cancel) // as Ctrl-C does
	it = l.Read(ctx, h.path("close", "never"), true)
	want(t, it, evidence.TimedOut, "was left behind")
	l.Close()
	if d := time.Since(began); d > patience {
		t.Errorf("took %s", d)
	}
	if ledger.State(it.Stuck) != "D" {
		t.Errorf("process %d is in state %q", it.Stuck, ledger.State(it.Stuck))
	}
	h.abort("close")
	within(t, "end of the child", func() bool { return gone(it.Stuck) })
}

// killedRun: a run that is killed in the middle of a look leaves a child that hangs. The next run knows.
func killedRun(t *testing.T, h *hangs, locks ledger.Dir) {
	path := h.path("killed", "never")
	run := inRole("looker", string(locks), path)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	child := 0
	within(t, "a look that hangs", func() bool {
		for _, p := range ledger.Processes() {
			if p.Parent == run.Process.Pid && p.Name == childName {
				child = p.PID
			}
		}
		m, _ := filepath.Glob(string(locks) + "/*killed*")
		return child != 0 && len(m) > 0
	})
	time.Sleep(500 * time.Millisecond)
	_ = run.Process.Kill()
	_ = run.Wait()
	l := liveAt(t, locks)
	it := l.Read(ctxFor(t, 5*time.Second), path, true)
	want(t, it, evidence.TimedOut, "not tried: an earlier read of "+path, fmt.Sprintf("(process %d)", child))
	if it.Stuck != child || ledger.State(child) != "D" {
		t.Errorf("stuck %d, want %d (state %q)", it.Stuck, child, ledger.State(child))
	}
	h.abort("killed")
	within(t, "end of the child", func() bool { return gone(child) })
	if it = l.Read(ctxFor(t, 5*time.Second), path, true); it.State == evidence.TimedOut || it.Stuck != 0 {
		t.Errorf("got %+v", it)
	}
}
