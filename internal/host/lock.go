package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/ledger"
)

// refusal says why a look is not made: another process is at one of the same kind.
type refusal struct {
	hang
	stuck bool // it will not end; otherwise another run of ours is at work
}

func (r *refusal) String() string {
	since := r.since.UTC().Format(time.RFC3339)
	switch {
	case !r.stuck && (r.pid == 0 || r.what == ""):
		return "not tried: another run is at a look of this kind, and there was no time left to wait for it"
	case !r.stuck:
		return fmt.Sprintf("not tried: process %d has been at the %s since %s, and there was no time left to wait for it", r.pid, r.what, since)
	case r.pid == 0:
		return fmt.Sprintf("not tried: an earlier %s has not returned since %s (its process cannot be seen from here)", r.what, since)
	}
	return fmt.Sprintf("not tried: an earlier %s has not returned since %s (process %d)", r.what, since, r.pid)
}

// item says how the look for what ended. The very thing that hangs did not answer; at others of its kind
// nobody looked.
func (r *refusal) item(what string) (st evidence.State, why string, stuck int) {
	if !r.stuck {
		return evidence.NotCollected, r.String(), 0
	}
	if r.what == what {
		return evidence.TimedOut, r.String(), r.pid
	}
	return evidence.NotCollected, r.String(), r.pid
}

// spare is added to a look's deadline in its note: its owner needs a moment to give it up.
const spare = 2 * time.Second

// claim takes a lock. A holder that is merely another run at work is waited for until ctx ends; one that was
// killed and sleeps on, or that nobody has given up at the time its note promised, is stuck. Without a place for
// locks there is no lock and no refusal: looking goes on.
func claim(ctx context.Context, try func() (*ledger.Lock, error)) (*ledger.Lock, *refusal) {
	var seen struct {
		note                    ledger.Holder
		since, killed, searched time.Time
		pid                     int // the note's, or the one that was found to have the lock
	}
	for {
		l, err := try()
		var held *ledger.HeldError
		if !errors.As(err, &held) {
			return l, nil
		}
		h, now := held.Holder, time.Now()
		if seen.since.IsZero() || h.PID != seen.note.PID || !h.Since.Equal(seen.note.Since) {
			// A process that ended without notice leaves its note to the next holder for a moment.
			seen.note, seen.since, seen.killed, seen.searched, seen.pid = h, now, time.Time{}, time.Time{}, h.PID
		}
		if !h.Running() && now.Sub(seen.searched) > time.Second { // a costly search
			seen.pid, seen.searched = 0, now
			if pids := held.Processes(); len(pids) > 0 {
				seen.pid = pids[0]
			}
		}
		r := &refusal{hang: hang{pid: seen.pid, what: h.What, since: h.Since}}
		if p, ok := ledger.ProcessOf(seen.pid); ok {
			r.start = p.Start
		}
		switch {
		case ledger.State(seen.pid) != "D" || !ledger.Killed(seen.pid):
			seen.killed = time.Time{} // one that is only slow to free its memory looks killed too
		case seen.killed.IsZero():
			seen.killed = now
		default:
			r.stuck = now.Sub(seen.killed) >= killGrace // the kernel's other sleeps are short
		}
		if !h.Until.IsZero() && now.After(h.Until) && now.Sub(seen.since) >= killGrace {
			r.stuck = true
		}
		if r.stuck || ctx.Err() != nil {
			return nil, r
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}
