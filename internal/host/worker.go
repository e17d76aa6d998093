package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/ledger"
)

// killGrace is how long a killed process may take to be gone before it is called stuck; one that is not in
// uninterruptible sleep gets more time, on a node that is short of it.
const (
	killGrace = 200 * time.Millisecond
	killLong  = time.Second
)

// slowPause is how long a kind is left alone after a look took all its time and its child could be ended: a
// node has dozens of files of one driver, and each would take as long.
const slowPause = time.Minute

// worker makes the looks of a kind, one after another, by one child.
type worker struct {
	kind   string
	shared bool // keep the child for more looks
	locks  ledger.Dir

	turn  chan struct{} // holds a token while somebody uses what follows
	child *lookChild
	lock  *ledger.Lock // the child has it too; taken only while a look is at work
	hung  *refusal
	slow  string // why no look is made until pause
	pause time.Time
}

// do has one question answered, or says in the items' state why not.
func (w *worker) do(ctx context.Context, q question) []evidence.Item {
	if ctx.Err() != nil {
		return q.unanswered(evidence.NotCollected, "not tried: no time was left", 0)
	}
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return q.unanswered(evidence.NotCollected, "not tried: another look of its kind ("+w.kind+") was at work until the time was up", 0)
	}
	if w.hung != nil && w.hung.over() {
		w.hung = nil
	}
	if w.hung != nil {
		return q.unanswered(w.hung.item(q.what()))
	}
	if time.Now().Before(w.pause) {
		return q.unanswered(evidence.NotCollected, "not tried: "+w.slow, 0)
	}
	if r := w.claim(ctx); r != nil {
		return q.unanswered(r.item(q.what()))
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	its := w.look(ctx, q)
	switch {
	case w.child == nil:
	case w.shared:
		w.lock.Free()
	default:
		w.discard()
	}
	return its
}

// claim takes the lock, anew or again. Another run's look of this kind may take its full time.
func (w *worker) claim(ctx context.Context) *refusal {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout+spare)
	defer cancel()
	if w.child != nil && w.child.over() {
		w.discard()
	}
	lock, r := claim(ctx, func() (*ledger.Lock, error) {
		if w.child != nil {
			err := w.lock.Again()
			if !errors.Is(err, ledger.ErrStale) {
				return w.lock, err
			}
			w.discard()
		}
		return w.locks.TryLock(w.kind)
	})
	if r == nil {
		w.lock = lock
	}
	return r
}

// look asks the child, which is started if there is none. The lock is ours.
func (w *worker) look(ctx context.Context, q question) []evidence.Item {
	began := time.Now()
	until, _ := ctx.Deadline()
	until = until.Add(spare)
	// From here to the end of the look the lock file tells who is at it: the child cannot write that any more
	// once it hangs. Until it has started, that is us.
	if w.child == nil {
		_ = w.lock.Note(os.Getpid(), q.what(), until)
		c, err := startChild(w.lock)
		if err != nil {
			w.discard()
			return q.unanswered(evidence.Failed, fmt.Sprintf("start a looking child: %v", err), 0)
		}
		w.child = c
	}
	c := w.child
	_ = w.lock.Note(c.pid, q.what(), until)
	if err := c.ask(ctx, q); err != nil {
		w.discard()
		return q.unanswered(evidence.Failed, fmt.Sprintf("%s: ask child %d: %v", q.what(), c.pid, err), 0)
	}
	select {
	case its, ok := <-c.answers:
		if ok && len(its) == len(q.sources()) {
			return its
		}
		w.discard()
		return q.unanswered(evidence.Failed, fmt.Sprintf("%s: child %d ended without an answer%s", q.what(), c.pid, c.how()), 0)
	case <-ctx.Done():
	}
	msg := fmt.Sprintf("%s: no answer within %s", q.what(), time.Since(began).Round(100*time.Millisecond))
	p, _ := ledger.ProcessOf(c.pid)
	state := c.kill()
	w.child = nil
	if state == "" {
		w.release()
		if time.Since(began) >= lookTimeout {
			w.slow, w.pause = msg, time.Now().Add(slowPause)
		}
		return q.unanswered(evidence.TimedOut, msg, 0)
	}
	w.lock.Leave() // to the child
	w.lock = nil
	w.hung = &refusal{hang{pid: c.pid, start: p.Start, what: q.what(), since: began}, true}
	msg += fmt.Sprintf("; process %d was killed, is still there (state %s) and was left behind", c.pid, state)
	return q.unanswered(evidence.TimedOut, msg, c.pid)
}

// discard ends the child and gives the lock up.
func (w *worker) discard() {
	if w.child != nil {
		w.child.kill()
		w.child = nil
	}
	w.release()
}

// release gives the lock up for good. Lock files of kinds that come again stay: there are few.
func (w *worker) release() {
	if w.shared {
		w.lock.Drop()
	} else {
		w.lock.Release()
	}
	w.lock = nil
}

// close ends an idle child.
func (w *worker) close() {
	select {
	case w.turn <- struct{}{}:
		w.discard()
		<-w.turn
	case <-time.After(killLong):
	}
}

// lookChild is a running looking child.
type lookChild struct {
	pid     int
	cmd     *exec.Cmd
	in      *os.File // questions
	out     *os.File
	answers chan []evidence.Item
	gone    chan struct{}
}

func startChild(lock *ledger.Lock) (*lookChild, error) {
	qr, qw, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer qr.Close()
	ar, aw, err := os.Pipe()
	if err != nil {
		qw.Close()
		return nil, err
	}
	defer aw.Close()
	cmd := exec.Command(self, ChildVerb)
	cmd.Args[0] = "gdsproof"
	cmd.Env = []string{"GOMAXPROCS=2"} // an idle child should not cost a thread for each of 192 processors
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{aw, qr}
	if lock != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, lock.File)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for us to hear
	if err := cmd.Start(); err != nil {
		qw.Close()
		ar.Close()
		return nil, err
	}
	c := &lookChild{pid: cmd.Process.Pid, cmd: cmd, in: qw, out: ar, answers: make(chan []evidence.Item, 1), gone: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // may never return
		close(c.gone)
	}()
	go c.listen()
	return c, nil
}

// listen reads answers, so that one of megabytes does not wait in a pipe of 64 KiB.
func (c *lookChild) listen() {
	defer close(c.answers)
	dec := json.NewDecoder(bufio.NewReader(c.out))
	for {
		var its []evidence.Item
		if dec.Decode(&its) != nil {
			return
		}
		c.answers <- its
	}
}

func (c *lookChild) ask(ctx context.Context, q question) error {
	if t, ok := ctx.Deadline(); ok {
		_ = c.in.SetWriteDeadline(t)
	}
	return json.NewEncoder(c.in).Encode(q)
}

func (c *lookChild) over() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// how says how the child ended, if it does so within the grace.
func (c *lookChild) how() string {
	select {
	case <-c.gone:
		return fmt.Sprintf(" (%s)", c.cmd.ProcessState)
	case <-time.After(killGrace):
		return ""
	}
}

// kill ends the child, at work or idle: it has nothing to put in order, and nothing is faster or surer. It
// returns the state in which the child stays, if it does. The child is alone in its process group.
func (c *lookChild) kill() string {
	c.in.Close()
	_ = c.cmd.Process.Kill()
	state := whenGone(c.pid, c.gone)
	c.out.Close()
	return state
}

// whenGone waits for a killed process to be gone, or tells the state in which it stays.
func whenGone(pid int, gone <-chan struct{}) string {
	wait := killGrace
	for {
		select {
		case <-gone:
			return ""
		case <-time.After(wait):
		}
		state := ledger.State(pid)
		if state == "D" || wait == killLong {
			return state
		}
		wait = killLong
	}
}
