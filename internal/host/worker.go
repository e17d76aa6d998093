package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/ledger"
)

// worker is the one looking child of a kind. Looks of a kind are made one after another; when one does not
// return, the child is abandoned and the rest of its kind is not tried.
type worker struct {
	kind string
	exe  string

	mu     sync.Mutex
	cmd    *exec.Cmd
	ask    *json.Encoder
	stdin  *os.File
	out    chan []evidence.Item
	broken string // why no more looks of this kind are made
	pid    int
}

// ask has one question answered, or says in the items' state why not.
func (w *worker) do(ctx context.Context, q question) []evidence.Item {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != "" {
		return unanswered(q, evidence.NotCollected, "not tried: "+w.broken, 0)
	}
	if ctx.Err() != nil {
		return unanswered(q, evidence.NotCollected, "not tried: no time was left", 0)
	}
	if w.cmd == nil {
		if its := w.start(ctx, q); its != nil {
			return its
		}
	}
	if err := w.ask.Encode(q); err != nil {
		w.end()
		return unanswered(q, evidence.Failed, fmt.Sprintf("%s: child %d ended: %v", q.what(), w.pid, err), 0)
	}
	began := time.Now()
	select {
	case its, ok := <-w.out:
		if !ok {
			pid := w.pid
			w.end()
			return unanswered(q, evidence.Failed, fmt.Sprintf("%s: child %d ended without an answer", q.what(), pid), 0)
		}
		return its
	case <-ctx.Done():
		pid := w.pid
		state := w.abandon()
		msg := fmt.Sprintf("%s: no answer within %s", q.what(), time.Since(began).Round(100*time.Millisecond))
		stuck := 0
		if state != "" {
			stuck = pid
			msg += fmt.Sprintf("; process %d cannot be ended (state %s) and was left behind", pid, state)
		}
		w.broken = msg
		return unanswered(q, evidence.TimedOut, msg, stuck)
	}
}

// start starts the child, which inherits the lock of its kind. Items are returned if it cannot be had.
func (w *worker) start(ctx context.Context, q question) []evidence.Item {
	lock, err := takeLock(ctx, w.kind)
	var held *ledger.HeldError
	if errors.As(err, &held) {
		w.broken = fmt.Sprintf("an earlier %s has not returned since %s (process %d): not tried again while it hangs",
			held.Holder.What, held.Holder.Since.UTC().Format(time.RFC3339), held.Holder.PID)
		return unanswered(q, evidence.TimedOut, w.broken, held.Holder.PID)
	}
	// Any other error means that there is no place for locks (a read-only system); looking goes on without.
	qr, qw, err := os.Pipe()
	if err != nil {
		return unanswered(q, evidence.Failed, err.Error(), 0)
	}
	ar, aw, err := os.Pipe()
	if err != nil {
		qr.Close()
		qw.Close()
		return unanswered(q, evidence.Failed, err.Error(), 0)
	}
	cmd := exec.Command(w.exe, ChildVerb)
	cmd.Env = []string{"GOMAXPROCS=2"}
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{aw, qr}
	if lock != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, lock.File)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	qr.Close()
	aw.Close()
	if lock != nil {
		if err == nil {
			_ = lock.Note(cmd.Process.Pid, q.what())
		}
		lock.Release()
	}
	if err != nil {
		qw.Close()
		ar.Close()
		return unanswered(q, evidence.Failed, fmt.Sprintf("start a looking child: %v", err), 0)
	}
	w.cmd, w.stdin, w.pid, w.ask = cmd, qw, cmd.Process.Pid, json.NewEncoder(qw)
	w.out = make(chan []evidence.Item, 1)
	go func(out chan<- []evidence.Item) {
		defer ar.Close()
		defer close(out)
		dec := json.NewDecoder(bufio.NewReader(ar))
		for {
			var its []evidence.Item
			if dec.Decode(&its) != nil {
				return
			}
			out <- its
		}
	}(w.out)
	return nil
}

// end closes the questions and lets the child go; Wait may never return, so nobody waits for it.
func (w *worker) end() {
	if w.cmd == nil {
		return
	}
	w.stdin.Close()
	go func(c *exec.Cmd) { _ = c.Wait() }(w.cmd)
	w.cmd = nil
}

// abandon kills the child and tells the state in which it stays if it does not end.
func (w *worker) abandon() string {
	pid, cmd := w.pid, w.cmd
	w.stdin.Close()
	w.cmd = nil
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	select {
	case <-done:
		return ""
	case <-time.After(killGrace):
		return processState(pid)
	}
}

// close ends an idle child.
func (w *worker) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end()
}

// killGrace is how long a killed process may take to be gone before it is called stuck.
const killGrace = 200 * time.Millisecond

// takeLock takes a kind's lock. A holder that is merely another run of ours at work is waited for a little;
// one that has been at the same look for longer than that is stuck.
func takeLock(ctx context.Context, kind string) (*ledger.Lock, error) {
	const patience = 2 * time.Second
	until := time.Now().Add(patience)
	for {
		l, err := ledger.TryLock(kind)
		var held *ledger.HeldError
		if !errors.As(err, &held) {
			return l, err
		}
		if time.Now().After(until) || processState(held.Holder.PID) == "D" || time.Since(held.Holder.Since) > 15*time.Second {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// processState is the state letter of a process, "" if there is none. /proc/PID/stat never blocks (maps does).
func processState(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	s := string(b)
	i := strings.LastIndexByte(s, ')')
	if i < 0 || i+2 >= len(s) {
		return "?"
	}
	return s[i+2 : i+3]
}

func unanswered(q question, st evidence.State, why string, stuck int) []evidence.Item {
	var out []evidence.Item
	for _, s := range q.sources() {
		out = append(out, evidence.Item{Source: s, Form: evidence.Whole, Place: evidence.Host, State: st, Err: []byte(why), Stuck: stuck})
	}
	return out
}
