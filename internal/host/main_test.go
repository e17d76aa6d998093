package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/ledger"
)

// role makes the test binary something else than tests: the looking child, a FUSE server, a run to be killed.
const role = "GDSPROOF_TEST_ROLE"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == ChildVerb {
		os.Exit(ChildMain())
	}
	switch os.Getenv(role) {
	case "fuse":
		serveFUSE(os.Args[1])
		os.Exit(0)
	case "guarded":
		l, err := NewLive("/")
		if err != nil {
			panic(err)
		}
		l.Run(context.Background(), Command{Argv: []string{"sh", "-c", "echo $$ >" + os.Args[2] + "/pid; exec sleep 120"}, Guard: true, Timeout: time.Minute})
		os.Exit(0)
	case "looker":
		l, err := NewLive("/")
		if err != nil {
			panic(err)
		}
		l.locks = ledger.Dir(os.Args[1])
		_ = json.NewEncoder(os.Stdout).Encode(l.Read(context.Background(), os.Args[2], true))
		l.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// needs skips a test that cannot run here, or fails it where everything must run.
func needs(t *testing.T, ok bool, what string) {
	t.Helper()
	switch {
	case ok:
	case os.Getenv("CI") == "true":
		t.Fatalf("not tested: %s", what)
	default:
		t.Skipf("not tested: %s", what)
	}
}

func needsRoot(t *testing.T) {
	t.Helper()
	needs(t, os.Geteuid() == 0, "needs root")
}

// live is a Live with locks of its own, which leaves no child.
func live(t *testing.T) *Live { return liveAt(t, ledger.Dir(t.TempDir())) }

func liveAt(t *testing.T, locks ledger.Dir) *Live {
	t.Helper()
	l, err := NewLive("/")
	if err != nil {
		t.Fatal(err)
	}
	l.locks = locks
	t.Cleanup(l.Close)
	return l
}

// patience is a bound for things that would take for ever: the machine may be busy with something else.
const patience = 30 * time.Second

// soon fails a test whose look took as long as a hang.
func soon(t *testing.T) {
	t.Helper()
	began := time.Now()
	t.Cleanup(func() {
		if d := time.Since(began); d > patience {
			t.Errorf("took %s", d)
		}
	})
}

func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Errorf("not within %s: %s", patience, what)
}

func want(t *testing.T, it evidence.Item, st evidence.State, words ...string) {
	t.Helper()
	if it.State != st {
		t.Errorf("%s: state %s, want %s\nout: %.200q\nerr: %.400q", it.Source, it.State, st, it.Out, it.Err)
	}
	for _, w := range words {
		if !strings.Contains(string(it.Out)+string(it.Err), w) {
			t.Errorf("%s: no %q in\nout: %.200q\nerr: %.400q", it.Source, w, it.Out, it.Err)
		}
	}
}

// children counts the looking children that this process has now.
func children() (n int) {
	for _, p := range ledger.Processes() {
		if p.Parent == os.Getpid() && p.Name == childName {
			n++
		}
	}
	return n
}

func gone(pid int) bool { return ledger.State(pid) == "" }

func ctxFor(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// inRole runs this test binary in another role.
func inRole(r string, args ...string) *exec.Cmd {
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%s", role, r))
	c.Stderr = os.Stderr
	return c
}
