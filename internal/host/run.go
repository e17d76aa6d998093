package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gdsproof/internal/evidence"
	"gdsproof/internal/ledger"
)

const (
	defaultTimeout = 10 * time.Second
	defaultMaxOut  = 1 << 20
)

// drainGrace is how long output is awaited after a command has ended: a process that it started may keep the
// pipe open for ever.
const drainGrace = 400 * time.Millisecond

// Run runs a command in a process group of its own, in our private folder, with /dev/null as input. It never
// waits for a process that cannot be ended.
func (l *Live) Run(ctx context.Context, c Command) evidence.Item {
	began := time.Now().UTC()
	it := evidence.Item{Source: c.Source(), Form: evidence.Whole, Place: evidence.Host}
	if len(c.Keep) > 0 {
		it.Form, it.Filter = evidence.Filtered, c.Keep
	}
	words := strings.Join(c.Argv, " ")
	if words != it.Source {
		it.Origin = words
	}
	if l.root != "/" {
		return ended(it, evidence.NotCollected, "commands are not run for files below a root: they would speak of this machine")
	}
	it.At = &began
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return ended(it, evidence.Failed, "no command")
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.MaxOut == 0 {
		c.MaxOut = defaultMaxOut
	}
	ctx, done, ok := l.enter(ctx)
	defer done()
	if !ok || ctx.Err() != nil {
		return ended(it, evidence.NotCollected, "not tried: no time was left")
	}
	// What stopped one use of a program will stop the next one, so only one is left behind.
	program := filepath.Base(c.Argv[0])
	if r := l.hanging(program); r != nil {
		st, why, stuck := r.item(words)
		it.Stuck = stuck
		return ended(it, st, "%s", why)
	}
	wait, cancel := context.WithTimeout(ctx, c.Timeout)
	lock, r := claim(wait, func() (*ledger.Lock, error) { return l.locks.TryLock("run " + words) })
	cancel()
	if r != nil {
		st, why, stuck := r.item(words)
		if r.stuck {
			l.hangs(program, r)
		}
		it.Stuck = stuck
		return ended(it, st, "%s", why)
	}
	_ = lock.Note(os.Getpid(), words, time.Now().Add(c.Timeout+spare)) // the command's own note follows
	ctx, cancel = context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	it = l.run(ctx, c, it, lock)
	if it.Stuck == 0 {
		lock.Release()
		return it
	}
	lock.Leave() // to the process that hangs
	p, _ := ledger.ProcessOf(it.Stuck)
	l.hangs(program, &refusal{hang{pid: it.Stuck, start: p.Start, what: words, since: began}, true})
	return it
}

func (l *Live) hanging(program string) *refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.hung[program]
	if r != nil && r.over() {
		delete(l.hung, program)
		return nil
	}
	return r
}

func (l *Live) hangs(program string, r *refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hung[program] = r
}

// ended ends an item, with our own words after the command's.
func ended(it evidence.Item, st evidence.State, format string, a ...any) evidence.Item {
	it.State = st
	if n := len(it.Err); n > 0 && it.Err[n-1] != '\n' {
		it.Err = append(it.Err, '\n')
	}
	it.Err = fmt.Appendf(it.Err, format, a...)
	return it
}

func (l *Live) run(ctx context.Context, c Command, it evidence.Item, lock *ledger.Lock) evidence.Item {
	began := time.Now()
	p, err := l.start(c, lock)
	if err != nil {
		return ended(it, evidence.Failed, "start %s: %v", c.Argv[0], err)
	}
	until, _ := ctx.Deadline()
	_ = lock.Note(p.pid, strings.Join(c.Argv, " "), until.Add(spare))

	full, timedOut := false, false
	select {
	case <-p.exited:
	case <-p.out.full:
		full = true
	case <-p.err.full:
		full = true
	case <-ctx.Done():
		timedOut = true
	}
	if !full && !timedOut {
		select {
		case <-p.drained:
		case <-ctx.Done():
		case <-time.After(drainGrace):
		}
	}
	stuck, state := p.kill()
	it.Out, it.Truncated = p.out.take()
	it.Err, _ = p.err.take()
	if stuck != 0 {
		it.Stuck = stuck
		it = ended(it, evidence.Failed, "process %d was killed, is still there (state %s) and was left behind", stuck, state)
	}
	switch {
	case timedOut:
		return ended(it, evidence.TimedOut, "no end within %s: killed", time.Since(began).Round(100*time.Millisecond))
	case full:
		it.Truncated = true
		return ended(it, evidence.Present, "printed more than %d bytes: cut and killed", c.MaxOut)
	}
	if r, ok := p.notStarted(); ok && r.Signal != 0 {
		return ended(it, evidence.Failed, "ended by signal %d (%s)", r.Signal, syscall.Signal(r.Signal))
	} else if ok {
		f := failItem(syscall.Errno(r.Errno))
		it.Errno = f.Errno
		if !strings.Contains(c.Argv[0], "/") && f.State == evidence.Absent {
			return ended(it, f.State, "%s: command not found", c.Argv[0])
		}
		return ended(it, f.State, "start %s: %s", c.Argv[0], r.Msg)
	}
	ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return ended(it, evidence.Failed, "ended by signal %d (%s)", ws.Signal(), ws.Signal())
	}
	code := p.cmd.ProcessState.ExitCode()
	it.Exit = &code
	it.State = evidence.Present
	if code != 0 && len(it.Out) == 0 && saysDenied(it.Err) {
		it.State = evidence.Denied
	}
	return it
}

// running is a command at work.
type running struct {
	pid      int
	cmd      *exec.Cmd
	out, err *tap
	pipes    []*os.File
	report   []byte        // of the launcher; ours to read once drained is closed
	exited   chan struct{} // the command has ended and was not waited for: its pid is still its own
	drained  chan struct{} // nobody has its pipes any more
}

func (l *Live) start(c Command, lock *ledger.Lock) (*running, error) {
	p := &running{exited: make(chan struct{}), drained: make(chan struct{})}
	var writers []*os.File
	defer func() {
		for _, w := range writers {
			w.Close()
		}
	}()
	pipes, word := 3, launchWord
	switch {
	case c.Events != nil:
		pipes, word = 4, engineWord
	case c.Guard:
		word = guardWord
	}
	for range pipes {
		r, w, err := os.Pipe()
		if err != nil {
			p.closePipes()
			return nil, err
		}
		p.pipes, writers = append(p.pipes, r), append(writers, w)
	}
	cmd := exec.Command(self, append([]string{ChildVerb, word}, c.Argv...)...)
	cmd.Args[0] = "gdsproof"
	cmd.Env = EnvOf(c, os.Environ())
	cmd.Dir = l.folder()
	cmd.Stdout, cmd.Stderr = writers[0], writers[1]
	cmd.ExtraFiles = []*os.File{writers[2]}
	if lock != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, lock.File)
	}
	if c.Events != nil || c.Guard {
		if lock == nil {
			cmd.ExtraFiles = append(cmd.ExtraFiles, writers[2]) // holds the place
		}
		control, ours, err := os.Pipe()
		if err != nil {
			p.closePipes()
			return nil, err
		}
		p.pipes, writers = append(p.pipes, ours), append(writers, control)
		cmd.ExtraFiles = append(cmd.ExtraFiles, writers[3:]...) // events where there are any, then control
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		p.closePipes()
		return nil, err
	}
	p.cmd, p.pid = cmd, cmd.Process.Pid
	p.out, p.err = newTap(p.pipes[0], c.MaxOut, c.Keep), newTap(p.pipes[1], c.MaxOut, nil)
	report := newTap(p.pipes[2], 64<<10, nil)
	var readers sync.WaitGroup
	readers.Go(p.out.read)
	readers.Go(p.err.read)
	readers.Go(report.read)
	if c.Events != nil {
		readers.Go(func() { eachLine(p.pipes[3], c.Events) })
	}
	if control := p.pipes[len(p.pipes)-1]; c.Events != nil && c.Go != nil {
		go func() {
			select {
			case <-c.Go:
				_, _ = control.WriteString("go\n")
			case <-p.exited:
			}
		}()
	}
	go func() {
		readers.Wait()
		p.report, _ = report.take()
		close(p.drained)
	}()
	go func() {
		_ = again(func() error { return unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) })
		close(p.exited)
	}()
	return p, nil
}

func (p *running) closePipes() {
	for _, r := range p.pipes {
		r.Close()
	}
}

// kill ends the whole process group and what we have of it. It returns a process that stays, and its state.
func (p *running) kill() (stuck int, state string) {
	// The command has not been waited for yet, so the group's number cannot be another's by now. Nobody escapes
	// by a fork at that moment: the kernel makes none for a process that is about to die.
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	if state = whenGone(p.pid, p.exited); state != "" {
		stuck = p.pid
		go func() { <-p.exited; _ = p.cmd.Wait() }()
	} else {
		_ = p.cmd.Wait()
		stuck, state = p.others()
	}
	// What was printed before is still in the pipes.
	select {
	case <-p.drained:
	case <-time.After(killGrace):
	}
	p.closePipes()
	<-p.drained
	return stuck, state
}

// others waits for the killed processes of the group that the command had started and left.
func (p *running) others() (stuck int, state string) {
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if syscall.Kill(-p.pid, 0) != nil { // nobody is left: the usual case, told without a search
			return 0, ""
		}
		stuck = 0
		for _, o := range ledger.Processes() {
			if o.Group != p.pid {
				continue
			}
			if s := ledger.State(o.PID); s != "" {
				stuck, state = o.PID, s
			}
		}
		waited := time.Since(began)
		switch {
		case stuck == 0: // zombies, for their parent to see to
			return 0, ""
		case waited > killLong, state == "D" && waited > killGrace:
			return stuck, state
		}
	}
}

// notStarted is the launcher's report, if it wrote one.
func (p *running) notStarted() (r notStarted, ok bool) {
	return r, json.Unmarshal(p.report, &r) == nil
}

// saysDenied recognises the two ways in which C programs name a missing right.
func saysDenied(stderr []byte) bool {
	s := string(stderr)
	return strings.Contains(s, "Permission denied") || strings.Contains(s, "Operation not permitted")
}
