package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/ledger"
)

const (
	cleanPath      = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	defaultTimeout = 10 * time.Second
	defaultMaxOut  = 1 << 20
)

// callerKeeps are the prefixes of the caller's variables that decide what libcufile does.
var callerKeeps = []string{"CUFILE_", "CUDA_", "NVIDIA_", "LD_LIBRARY_PATH="}

// Environ is the environment of a command.
func Environ(e Env, caller []string) []string {
	env := []string{"PATH=" + cleanPath, "LC_ALL=C", "HOME=/nonexistent"}
	if e != EnvCaller {
		return env
	}
	for _, kv := range caller {
		for _, p := range callerKeeps {
			if strings.HasPrefix(kv, p) {
				env = append(env, kv)
				break
			}
		}
	}
	return env
}

// lookPath finds a program as the clean PATH would; the caller's PATH may lack the sbin folders.
func lookPath(name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, d := range filepath.SplitList(cleanPath) {
		p := filepath.Join(d, name)
		if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o111 != 0 {
			return p, nil
		}
	}
	return "", syscall.ENOENT
}

// Run runs a command in a process group of its own, in our private folder, with /dev/null as input. It never
// waits for a process that cannot be ended.
func (l *Live) Run(ctx context.Context, c Command) evidence.Item {
	began := time.Now()
	it := evidence.Item{Source: c.Source(), Form: evidence.Whole, Place: evidence.Host}
	if len(c.Keep) > 0 {
		it.Form, it.Filter = evidence.Filtered, c.Keep
	}
	if words := strings.Join(c.Argv, " "); words != it.Source {
		it.Origin = words
	}
	if l.root != "/" {
		it.State, it.Err = evidence.NotCollected, []byte("commands are not run for files below a root: they would speak of this machine")
		return it
	}
	return stamp(l.run(ctx, c, it), began)
}

func (l *Live) run(ctx context.Context, c Command, it evidence.Item) evidence.Item {
	fail := func(st evidence.State, format string, a ...any) evidence.Item {
		it.State, it.Err = st, fmt.Appendf(it.Err, format, a...)
		return it
	}
	path, err := lookPath(c.Argv[0])
	if err != nil {
		it.Errno = "ENOENT"
		return fail(evidence.Absent, "%s: command not found", c.Argv[0])
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.MaxOut == 0 {
		c.MaxOut = defaultMaxOut
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	if ctx.Err() != nil {
		return fail(evidence.NotCollected, "not tried: no time was left")
	}
	lock, err := takeLock(ctx, "run "+strings.Join(c.Argv, " "))
	var held *ledger.HeldError
	if errors.As(err, &held) {
		it.Stuck = held.Holder.PID
		return fail(evidence.TimedOut, "not tried: an earlier %s has not ended since %s (process %d)", held.Holder.What, held.Holder.Since.UTC().Format(time.RFC3339), held.Holder.PID)
	}
	defer lock.Release()

	outR, outW, err := os.Pipe()
	if err != nil {
		return fail(evidence.Failed, "%v", err)
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		outR.Close()
		outW.Close()
		return fail(evidence.Failed, "%v", err)
	}
	cmd := exec.Command(path, c.Argv[1:]...)
	cmd.Args[0] = c.Argv[0]
	cmd.Env = Environ(c.Env, os.Environ())
	cmd.Dir = l.cwd
	cmd.Stdout, cmd.Stderr = outW, errW
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if lock != nil {
		cmd.ExtraFiles = []*os.File{lock.File}
	}
	err = cmd.Start()
	outW.Close()
	errW.Close()
	if err != nil {
		outR.Close()
		errR.Close()
		f := failItem(it.Source, err)
		it.Errno = f.Errno
		return fail(f.State, "%s: %v", c.Argv[0], err)
	}
	pid := cmd.Process.Pid
	_ = lock.Note(pid, strings.Join(c.Argv, " "))

	out, errs := newTap(outR, c.MaxOut, c.Keep), newTap(errR, c.MaxOut, nil)
	var readers sync.WaitGroup
	readers.Go(out.read)
	readers.Go(errs.read)
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()

	kill := func() string {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		select {
		case <-exited:
			return ""
		case <-time.After(killGrace):
			return processState(pid)
		}
	}
	var waited error
	timedOut, full := false, false
	select {
	case waited = <-exited:
	case <-out.full:
		full = true
	case <-errs.full:
		full = true
	case <-ctx.Done():
		timedOut = true
	}
	state := ""
	if timedOut || full {
		state = kill()
	} else {
		// A grandchild may keep the pipe open after the command ended; it gets no more than the grace.
		drained := make(chan struct{})
		go func() { readers.Wait(); close(drained) }()
		select {
		case <-drained:
		case <-ctx.Done():
		case <-time.After(2 * killGrace):
		}
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	outR.Close()
	errR.Close()
	it.Out, it.Truncated = out.take()
	it.Err, _ = errs.take()
	switch {
	case timedOut:
		msg := fmt.Sprintf("\nno end within %s: killed", c.Timeout)
		if state != "" {
			it.Stuck = pid
			msg = fmt.Sprintf("\nno end within %s; process %d cannot be ended (state %s) and was left behind", c.Timeout, pid, state)
		}
		return fail(evidence.TimedOut, "%s", msg)
	case full:
		it.Truncated = true
		return fail(evidence.Present, "\nprinted more than %d bytes: cut and killed", c.MaxOut)
	}
	var ee *exec.ExitError
	code := 0
	if errors.As(waited, &ee) {
		code = ee.ExitCode()
		if ws, ok := ee.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			return fail(evidence.Failed, "\nended by signal %d (%s)", ws.Signal(), ws.Signal())
		}
	} else if waited != nil {
		return fail(evidence.Failed, "\n%v", waited)
	}
	it.Exit = &code
	it.State = evidence.Present
	if code != 0 && len(it.Out) == 0 && saysDenied(it.Err) {
		it.State = evidence.Denied
	}
	return it
}

// saysDenied recognises the two ways in which C programs name a missing right.
func saysDenied(stderr []byte) bool {
	s := string(stderr)
	return strings.Contains(s, "Permission denied") || strings.Contains(s, "Operation not permitted")
}

// tap reads a stream up to a limit of kept bytes.
type tap struct {
	r     io.Reader
	limit int64
	keep  []string
	full  chan struct{}

	mu   sync.Mutex
	buf  []byte
	last []byte // last line not kept
	cut  bool
}

func newTap(r io.Reader, limit int64, keep []string) *tap {
	return &tap{r: r, limit: limit, keep: keep, full: make(chan struct{})}
}

func (t *tap) take() ([]byte, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := append([]byte(nil), t.buf...)
	if len(t.last) > 0 {
		out = append(out, t.last...)
	}
	return out, t.cut
}
