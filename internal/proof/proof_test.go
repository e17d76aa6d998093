package proof

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/ledger"
)

// A whole experiment on a real folder, with an engine that needs no GPU: what was written is what is read, and
// nothing but the user's own file is left.
func TestRun(t *testing.T) {
	dir, state := workplace(t)
	r := runner(t, dir, state)
	items := r.Run(context.Background())
	var ops []string
	for _, it := range find(items, facts.LoadSource) {
		res, err := facts.ParseLoadResult(it.Out)
		if err != nil {
			t.Fatal(err)
		}
		if res.End != facts.EndDone || res.Bytes != 8<<20 || res.Ops != 8 || res.Latency == nil || res.CPUSeconds == nil {
			t.Errorf("%s", it.Out)
		}
		if res.Job.Op == "read" && (res.Verified == nil || res.Verified.Wrong != 0 || res.Verified.Bytes != 8<<20) {
			t.Errorf("%s %s: %+v", res.Job.Phase, res.Job.Op, res.Verified)
		}
		ops = append(ops, res.Job.Phase+" "+res.Job.Op)
	}
	if got, want := strings.Join(ops, ", "), "write write, read read, control read, strict write, strict read"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if l := left(t, dir); len(l) > 0 {
		t.Errorf("left: %v", l)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "mine")); err != nil || string(b) != "keep me" {
		t.Errorf("%q, %v", b, err)
	}
	if o := r.Book.Orphans(); len(o) > 0 {
		t.Errorf("the ledger has %+v", o)
	}
	var c facts.CleanupReport
	tbl := facts.NewTable(&evidence.Set{Items: items}, nil)
	c = facts.Get(tbl, evidence.Host, facts.Cleanup).V
	if len(c.Removed) != 1 || len(c.Left) > 0 {
		t.Errorf("%+v", c)
	}
	// Each step that did something lies between two looks.
	plan := facts.Get(tbl, evidence.Host, facts.Experiment).V
	for step := range plan.Phases {
		before, after := false, false
		for _, it := range find(items, facts.NVFSProc+"/stats") {
			before, after = before || it.Step < step, after || it.Step >= step
		}
		if !before || !after {
			t.Errorf("step %d (%s) is not between two looks", step, plan.Phases[step])
		}
	}
}

func TestInterrupted(t *testing.T) {
	dir, state := workplace(t)
	r := runner(t, dir, state)
	ctx, cancel := context.WithCancel(context.Background())
	r.Plan.Size = 4 << 30 // more than the time allows
	r.Say = func(format string, _ ...any) {
		if strings.HasPrefix(format, "%s: GDS") {
			time.AfterFunc(300*time.Millisecond, cancel)
		}
	}
	began := time.Now()
	items := r.Run(ctx)
	if d := time.Since(began); d > patience {
		t.Errorf("took %s to stop", d)
	}
	tbl := facts.NewTable(&evidence.Set{Items: items}, nil)
	if p := facts.Get(tbl, evidence.Host, facts.Experiment).V; p.Stopped == "" {
		t.Errorf("%+v", p)
	}
	if l := left(t, dir); len(l) > 0 {
		t.Errorf("left: %v", l)
	}
	if o := r.Book.Orphans(); len(o) > 0 {
		t.Errorf("the ledger has %+v", o)
	}
}

// A run that is killed leaves its folder, and the next one removes it; the folder of somebody else it only names.
func TestKilled(t *testing.T) {
	dir, state := workplace(t)
	foreign := filepath.Join(dir, FolderPrefix+"of-another-node")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), "GDSPROOF_TEST_PROOF="+dir, "GDSPROOF_TEST_STATE="+state)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "at work\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if l := left(t, dir); len(l) != 2 {
		t.Fatalf("the killed run left %v", l)
	}
	// Its engine's process ends by itself: it must not go on writing.
	until := time.Now().Add(patience)
	for engines(t, dir) > 0 {
		if time.Now().After(until) {
			t.Fatal("the engine's process goes on")
		}
		time.Sleep(20 * time.Millisecond)
	}
	r := runner(t, dir, state)
	items := r.Run(context.Background())
	clean := facts.Get(facts.NewTable(&evidence.Set{Items: items}, nil), evidence.Host, facts.Cleanup).V
	if len(clean.Earlier) != 1 || len(clean.Foreign) != 1 || clean.Foreign[0] != filepath.Base(foreign) {
		t.Errorf("%+v", clean)
	}
	if l := left(t, dir); len(l) != 1 {
		t.Errorf("left: %v", l)
	}
}

// engines counts processes of ours that are at work in a folder.
func engines(t *testing.T, dir string) int {
	t.Helper()
	n := 0
	for _, p := range ledger.Processes() {
		b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID), "cmdline"))
		if err == nil && strings.Contains(string(b), dir) && p.PID != os.Getpid() {
			n++
		}
	}
	return n
}

// What stands in the way is named, and nothing is left.
func TestCannotStart(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, r *Runner, dir string)
		want   string
	}{
		"no such folder": {func(_ *testing.T, r *Runner, dir string) { r.Plan.Dir = filepath.Join(dir, "nowhere") }, "no such file"},
		"a file":         {func(_ *testing.T, r *Runner, dir string) { r.Plan.Dir = filepath.Join(dir, "mine") }, "not a directory"},
		"no room":        {func(_ *testing.T, r *Runner, _ string) { r.Plan.Size = 1 << 55 }, "make room for"},
	} {
		dir, state := workplace(t)
		r := runner(t, dir, state)
		c.change(t, r, dir)
		items := r.Run(context.Background())
		p := facts.Get(facts.NewTable(&evidence.Set{Items: items}, nil), evidence.Host, facts.Experiment).V
		if !strings.Contains(p.CannotStart, c.want) {
			t.Errorf("%s: %q", name, p.CannotStart)
		}
		if l := left(t, dir); len(l) > 0 {
			t.Errorf("%s: left %v", name, l)
		}
		if o := r.Book.Orphans(); len(o) > 0 {
			t.Errorf("%s: the ledger has %+v", name, o)
		}
	}
}
