package host

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/ledger"
)

func TestActs(t *testing.T) {
	l := live(t)
	do := func(a Act) evidence.Item { t.Helper(); return l.Do(context.Background(), a) }
	base := t.TempDir()
	dir := filepath.Join(base, "d")
	want := func(a Act, st evidence.State, words string) {
		t.Helper()
		if it := do(a); it.State != st || !strings.Contains(string(it.Err), words) {
			t.Errorf("%s %s: %s %q, want %s with %q", a.Op, a.Path, it.State, it.Err, st, words)
		}
	}
	want(Act{Op: ActMkdir, Path: dir}, evidence.Present, "")
	want(Act{Op: ActMkdir, Path: dir}, evidence.Failed, "exists")
	want(Act{Op: ActMkdir, Path: filepath.Join(base, "no", "d")}, evidence.Absent, "no such file")
	want(Act{Op: ActCreate, Path: dir, Names: []string{"a", "b"}, Size: 1 << 20}, evidence.Present, "")
	for _, n := range []string{"a", "b"} {
		if fi, err := os.Stat(filepath.Join(dir, n)); err != nil || fi.Size() != 1<<20 || fi.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", n, fi, err)
		}
	}
	// What is there is never touched.
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("keep me"), 0o600); err != nil {
		t.Fatal(err)
	}
	want(Act{Op: ActCreate, Path: dir, Names: []string{"mine"}, Size: 1}, evidence.Failed, "exists")
	if err := os.Symlink(filepath.Join(base, "elsewhere"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	want(Act{Op: ActCreate, Path: dir, Names: []string{"link"}, Size: 1}, evidence.Failed, "exists")
	want(Act{Op: ActCreate, Path: dir, Names: []string{"../out"}, Size: 1}, evidence.Failed, "escapes")
	want(Act{Op: ActRemove, Path: dir, Names: []string{"../d2/x"}}, evidence.Failed, "escapes")
	// No room: nothing half made stays.
	want(Act{Op: ActCreate, Path: dir, Names: []string{"huge"}, Size: 1 << 55}, evidence.Failed, "make room for")
	if _, err := os.Lstat(filepath.Join(dir, "huge")); err == nil {
		t.Error("a file without its room stays")
	}
	want(Act{Op: ActDiscard, Path: dir, Names: []string{"a", "nobody"}}, evidence.Present, "")
	want(Act{Op: ActRemove, Path: dir, Names: []string{"a", "b"}}, evidence.Failed, "not empty")
	if b, err := os.ReadFile(filepath.Join(dir, "mine")); err != nil || string(b) != "keep me" {
		t.Errorf("%q %v", b, err)
	}
	want(Act{Op: ActRemove, Path: dir, Names: []string{"mine", "link"}}, evidence.Present, "")
	want(Act{Op: ActRemove, Path: dir, Names: []string{"mine"}}, evidence.Present, "") // gone already

	// A link in the folder's place leads nowhere.
	other := filepath.Join(base, "other")
	if err := os.MkdirAll(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, dir); err != nil {
		t.Fatal(err)
	}
	want(Act{Op: ActRemove, Path: dir, Names: []string{"a"}}, evidence.Absent, "not a directory")
	if _, err := os.Stat(filepath.Join(other, "a")); err != nil {
		t.Errorf("removed through a link: %v", err)
	}

	file := filepath.Join(base, "file")
	want(Act{Op: ActWrite, Path: file, Text: "1"}, evidence.Absent, "no such file")
	want(Act{Op: ActPut, Path: file, Text: "1"}, evidence.Present, "")
	want(Act{Op: ActPut, Path: file, Text: "2"}, evidence.Failed, "exists")
	want(Act{Op: ActWrite, Path: file, Text: "2"}, evidence.Present, "")
	if b, err := os.ReadFile(file); err != nil || string(b) != "2" {
		t.Errorf("%q %v", b, err)
	}
	want(Act{Op: "burn", Path: base}, evidence.Failed, "no act")
}

// A program with events has them on 3 and a pipe on 4, which ends with us; the lock stays held under another number.
func TestEvents(t *testing.T) {
	l := live(t)
	var got []string
	it := l.Run(context.Background(), Command{Argv: []string{"sh", "-c", `echo one >&3; echo two >&3; ls -l /proc/$$/fd; echo "$MARK$GONE" >&3; echo noise; echo more >&2; exit 3`},
		Set: []string{"MARK=x", "GONE"}, Events: func(b []byte) { got = append(got, string(b)) }})
	if it.State != evidence.Present || *it.Exit != 3 || strings.Join(got, " ") != "one two x" || !strings.Contains(string(it.Out), "noise") || string(it.Err) != "more\n" {
		t.Errorf("%+v: %v", it, got)
	}
	if s := string(it.Out); !strings.Contains(s, " 3 -> pipe:") || !strings.Contains(s, " 4 -> pipe:") || !strings.Contains(s, ".lock") || strings.Contains(s, " 5 -> pipe:") {
		t.Errorf("descriptors:\n%s", it.Out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	got = nil
	began := time.Now()
	it = l.Run(ctx, Command{Argv: []string{"sh", "-c", "echo begun >&3; sleep 60"}, Timeout: time.Minute, Events: func(b []byte) { got = append(got, string(b)); cancel() }})
	if it.State != evidence.TimedOut || len(got) != 1 || time.Since(began) > 30*time.Second {
		t.Errorf("%+v %v", it, got)
	}
	it = l.Run(context.Background(), Command{Argv: []string{"/no/such/program"}, Events: func([]byte) {}})
	if it.State != evidence.Absent {
		t.Errorf("%+v", it)
	}
}

func TestEnvOf(t *testing.T) {
	caller := []string{"CUFILE_A=1", "CUFILE_AB=2", "HOME=/root", "CUDA_VISIBLE_DEVICES=3"}
	got := strings.Join(EnvOf(Command{Env: EnvCaller, Set: []string{"CUFILE_A=9", "CUDA_VISIBLE_DEVICES", "NEW="}}, caller), " ")
	if !strings.HasSuffix(got, "CUFILE_AB=2 CUFILE_A=9 NEW=") || strings.Contains(got, "VISIBLE") || strings.Contains(got, "/root") {
		t.Error(got)
	}
}

// A guarded program ends as it would alone, and with the one that asked for it.
func TestGuard(t *testing.T) {
	l := live(t)
	run := func(argv ...string) evidence.Item {
		return l.Run(context.Background(), Command{Argv: argv, Guard: true, Timeout: 20 * time.Second})
	}
	if it := run("sh", "-c", "echo out; echo err >&2; exit 7"); it.State != evidence.Present || *it.Exit != 7 || string(it.Out) != "out\n" || string(it.Err) != "err\n" {
		t.Errorf("%+v", it)
	}
	if it := run("sh", "-c", "kill -9 $$"); it.State != evidence.Failed || !strings.Contains(string(it.Err), "signal 9") {
		t.Errorf("%s %s", it.State, it.Err)
	}
	if it := run("sh", "-c", "kill -11 $$"); it.State != evidence.Failed || !strings.Contains(string(it.Err), "signal 11") {
		t.Errorf("%s %s", it.State, it.Err)
	}
	if it := run("/no/such/program"); it.State != evidence.Absent {
		t.Errorf("%+v", it)
	}
	if it := l.Run(context.Background(), Command{Argv: []string{"sleep", "60"}, Guard: true, Timeout: 200 * time.Millisecond}); it.State != evidence.TimedOut || it.Stuck != 0 {
		t.Errorf("%+v", it)
	}
	// The one that asked is killed: a run of its own, with the guard below it.
	dir := t.TempDir()
	c := exec.Command(self, "guarded", dir)
	c.Env = append(os.Environ(), role+"=guarded")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "pid")
	pid := 0
	for range 600 {
		if b, err := os.ReadFile(file); err == nil && strings.HasSuffix(string(b), "\n") {
			pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if pid == 0 {
		t.Fatal("the guarded program did not begin")
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	for range 600 {
		if ledger.State(pid) == "" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("the guarded program goes on")
}
