package host

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/ledger"
)

func sh(script string, args ...string) Command {
	return Command{Argv: append([]string{"sh", "-c", script, "sh"}, args...), Timeout: patience}
}

// hung is a command that will not end.
func hung(c Command) Command {
	c.Timeout = 2 * time.Second
	return c
}

func TestRun(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(t.TempDir(), "odd")
	if err := os.WriteFile(odd, []byte{1, 2, 3}, 0o755); err != nil {
		t.Fatal(err)
	}
	exit := func(n int) *int { return &n }
	for name, c := range map[string]struct {
		cmd   Command
		state evidence.State
		exit  *int
		out   string
		err   string
		errno string
	}{
		"ends":           {sh("echo hi; echo ho >&2"), evidence.Present, exit(0), "hi\n", "ho\n", ""},
		"fails":          {sh("echo hi; exit 3"), evidence.Present, exit(3), "hi\n", "", ""},
		"hangs":          {hung(sh("echo begun; exec sleep 1000")), evidence.TimedOut, nil, "begun\n", "no end within 2", ""},
		"ignores TERM":   {hung(sh("trap '' TERM INT HUP; echo begun; while :; do sleep 1; done")), evidence.TimedOut, nil, "begun\n", "no end within", ""},
		"signalled":      {sh("echo hi; kill -SEGV $$"), evidence.Failed, nil, "hi\n", "ended by signal 11", ""},
		"not there":      {Command{Argv: []string{"no-such-program-here"}}, evidence.Absent, nil, "", "command not found", "ENOENT"},
		"path not there": {Command{Argv: []string{"/no/such/program"}}, evidence.Absent, nil, "", "no such file", "ENOENT"},
		"not executable": {Command{Argv: []string{plain}}, evidence.Denied, nil, "", "permission denied", "EACCES"},
		"no program":     {Command{Argv: []string{odd}}, evidence.Failed, nil, "", "exec format error", "ENOEXEC"},
		"a folder":       {Command{Argv: []string{"/"}}, evidence.Denied, nil, "", "permission denied", "EACCES"},
		"denied":         {sh("echo 'open: Permission denied' >&2; exit 1"), evidence.Denied, exit(1), "", "Permission denied", ""},
		"partly denied":  {sh("echo some; echo 'open: Permission denied' >&2; exit 1"), evidence.Present, exit(1), "some\n", "Permission denied", ""},
		"no words":       {Command{}, evidence.Failed, nil, "", "no command", ""},
		"input is empty": {sh("cat; echo end"), evidence.Present, exit(0), "end\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			soon(t)
			t.Parallel()
			it := live(t).Run(context.Background(), c.cmd)
			want(t, it, c.state, c.err)
			if string(it.Out) != c.out || it.Errno != c.errno || it.Stuck != 0 || it.Truncated || it.At == nil {
				t.Errorf("got %+v", it)
			}
			if (it.Exit == nil) != (c.exit == nil) || it.Exit != nil && *it.Exit != *c.exit {
				t.Errorf("exit %v, want %v", it.Exit, c.exit)
			}
		})
	}
}

func TestRunWithoutEnd(t *testing.T) {
	for name, script := range map[string]string{"out": "echo $$ >$1; exec yes", "err": "echo $$ >$1; exec yes >&2"} {
		t.Run(name, func(t *testing.T) {
			soon(t)
			pidFile := filepath.Join(t.TempDir(), "pid")
			c := sh(script, pidFile)
			c.MaxOut, c.Timeout = 1000, time.Minute
			it := live(t).Run(context.Background(), c)
			want(t, it, evidence.Present, "cut and killed")
			if !it.Truncated || it.Exit != nil || it.Complete() || len(it.Out) > 1000 || len(it.Out)+len(it.Err) < 1000 {
				t.Errorf("got %d + %d bytes, truncated %t, exit %v", len(it.Out), len(it.Err), it.Truncated, it.Exit)
			}
			noneLeft(t, pidFile)
		})
	}
}

// noneLeft checks that the process groups whose numbers are in a file are gone.
func noneLeft(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil || len(bytes.Fields(b)) == 0 {
		t.Fatalf("the command wrote no pid: %v", err)
	}
	for _, f := range strings.Fields(string(b)) {
		pid, _ := strconv.Atoi(f)
		within(t, fmt.Sprintf("end of process %d", pid), func() bool { return gone(pid) })
	}
}

func TestRunLeavesNobody(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		state  evidence.State
	}{
		"a grandchild keeps the pipe": {"echo $$ >$1; sleep 1000 & echo $! >>$1; echo done", evidence.Present},
		"a hang with a grandchild":    {"echo $$ >$1; sleep 1000 & echo $! >>$1; wait", evidence.TimedOut},
		"many":                        {"echo $$ >$1; for i in 1 2 3 4 5; do sleep 1000 & echo $! >>$1; done; sleep 1000 | sleep 1000", evidence.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			soon(t)
			pidFile := filepath.Join(t.TempDir(), "pid")
			l := live(t)
			cmd := sh(c.script, pidFile)
			if c.state == evidence.TimedOut {
				cmd = hung(cmd)
			}
			it := l.Run(context.Background(), cmd)
			want(t, it, c.state)
			noneLeft(t, pidFile)
			// The lock does not stay with anyone.
			if lock, err := l.locks.TryLock("run " + it.Source); err != nil {
				t.Error(err)
			} else {
				lock.Release()
			}
		})
	}
}

// A grandchild that leaves the process group lives on, as a daemon that a tool starts would; it keeps neither
// us nor the lock.
func TestRunDaemon(t *testing.T) {
	soon(t)
	pidFile := filepath.Join(t.TempDir(), "pid")
	l := live(t)
	c := sh("setsid sh -c 'echo $$ >'$1'; exec sleep 1000' & while ! [ -s $1 ]; do sleep 0.1; done; echo done", pidFile)
	it := l.Run(context.Background(), c)
	want(t, it, evidence.Present, "done")
	b, _ := os.ReadFile(pidFile)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	if pid <= 1 || gone(pid) {
		t.Fatalf("daemon %d is gone", pid)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	_ = os.Remove(pidFile)
	it = l.Run(context.Background(), sh("exit 0"))
	want(t, it, evidence.Present)
	lock, err := l.locks.TryLock("run " + strings.Join(c.Argv, " "))
	if err != nil {
		t.Errorf("the daemon holds the lock: %v", err)
	}
	lock.Release()
}

func TestRunBounds(t *testing.T) {
	soon(t)
	l := live(t)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(300*time.Millisecond, cancel)
	c := sh("exec sleep 1000")
	c.Timeout = time.Hour
	want(t, l.Run(ctx, c), evidence.TimedOut, "no end within")
	want(t, l.Run(ctx, c), evidence.NotCollected, "no time was left")
	want(t, l.Run(ctxFor(t, 300*time.Millisecond), c), evidence.TimedOut, "no end within")
	c.Timeout = 300 * time.Millisecond
	want(t, l.Run(context.Background(), c), evidence.TimedOut, "no end within")
}

// A command of another run is waited for; it is not called stuck.
func TestRunWaitsForAnotherRun(t *testing.T) {
	soon(t)
	locks := ledger.Dir(t.TempDir())
	a, b := liveAt(t, locks), liveAt(t, locks)
	c := sh("sleep 1; echo end")
	first := make(chan evidence.Item)
	go func() { first <- a.Run(context.Background(), c) }()
	want(t, b.Run(context.Background(), c), evidence.Present, "end")
	want(t, <-first, evidence.Present, "end")

	long := sh("exec sleep 1000")
	long.Timeout = 3 * time.Second
	go func() { first <- a.Run(context.Background(), long) }()
	within(t, "start of the first", func() bool {
		lock, err := locks.TryLock("run " + strings.Join(long.Argv, " "))
		lock.Release()
		return err != nil
	})
	it := b.Run(ctxFor(t, 500*time.Millisecond), long)
	want(t, it, evidence.NotCollected, "no time left to wait")
	if it.Stuck != 0 {
		t.Errorf("a working process %d is called stuck", it.Stuck)
	}
	want(t, <-first, evidence.TimedOut)
}

func TestRunKeep(t *testing.T) {
	soon(t)
	c := sh("echo First; seq 1 200000; echo has nvidia-FS here; seq 1 10; echo Last")
	c.Keep, c.MaxOut, c.Name = []string{"nvidia-fs"}, 1000, "a log"
	it := live(t).Run(context.Background(), c)
	want(t, it, evidence.Present)
	if got := string(it.Out); got != "First\nhas nvidia-FS here\nLast\n" {
		t.Errorf("kept %q", got)
	}
	if it.Form != evidence.Filtered || it.Source != "a log" || !strings.HasPrefix(it.Origin, "sh -c") || it.Truncated {
		t.Errorf("got %+v", it)
	}
}

func TestRunPlace(t *testing.T) {
	l := live(t)
	it := l.Run(context.Background(), sh("pwd; echo text >dropped.log; ls"))
	want(t, it, evidence.Present, l.cwd+"\ndropped.log\n")
	l.Close()
	if _, err := os.Stat(l.cwd); !os.IsNotExist(err) {
		t.Errorf("private folder %s: %v", l.cwd, err)
	}
	want(t, l.Run(context.Background(), sh("exit 0")), evidence.NotCollected)
}

// Command lines longer than a file name are still told apart, and no lock file is left.
func TestRunLockFiles(t *testing.T) {
	l := live(t)
	long := strings.Repeat("x", 5000)
	held, err := l.locks.TryLock("run true " + long + "1")
	if err != nil {
		t.Fatal(err)
	}
	want(t, l.Run(context.Background(), Command{Argv: []string{"true", long + "2"}}), evidence.Present)
	want(t, l.Run(ctxFor(t, 300*time.Millisecond), Command{Argv: []string{"true", long + "1"}}), evidence.NotCollected)
	held.Release()
	if des, _ := os.ReadDir(string(l.locks)); len(des) != 0 {
		t.Errorf("left: %v", des)
	}
}

func TestEnviron(t *testing.T) {
	caller := []string{"PATH=/evil", "LC_ALL=de_DE", "HOME=/home/me", "LD_PRELOAD=x.so", "CUFILE_ENV_PATH_JSON=/etc/my.json",
		"CUDA_VISIBLE_DEVICES=0", "NVIDIA_VISIBLE_DEVICES=all", "LD_LIBRARY_PATH=/opt/lib", "LD_LIBRARY_PATH_64=no", "AWS_SECRET_ACCESS_KEY=s"}
	clean := []string{"PATH=" + cleanPath, "LC_ALL=C", "HOME=/nonexistent"}
	if got := Environ(EnvClean, caller); strings.Join(got, " ") != strings.Join(clean, " ") {
		t.Errorf("clean: %q", got)
	}
	wanted := append(clean, caller[4:8]...)
	if got := Environ(EnvCaller, caller); strings.Join(got, " ") != strings.Join(wanted, " ") {
		t.Errorf("caller: %q", got)
	}
	t.Setenv("CUFILE_ENV_PATH_JSON", "/etc/my.json")
	t.Setenv("GDSPROOF_SECRET", "s")
	it := live(t).Run(context.Background(), Command{Argv: []string{"env"}, Env: EnvCaller})
	if got := string(it.Out); !strings.Contains(got, "CUFILE_ENV_PATH_JSON=/etc/my.json\n") || strings.Contains(got, "SECRET") || strings.Contains(got, "GOMAXPROCS") {
		t.Errorf("env printed %q", got)
	}
	it = live(t).Run(context.Background(), Command{Argv: []string{"env"}})
	if got := string(it.Out); strings.Count(got, "\n") != 3 {
		t.Errorf("env printed %q", got)
	}
}
