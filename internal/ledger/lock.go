package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Holder is who holds a lock, as written in the lock file by its owner.
type Holder struct {
	PID   int       `json:"pid"`
	Start uint64    `json:"start"` // the process's start in clock ticks since boot: tells a reused pid
	Since time.Time `json:"since"`
	Until time.Time `json:"until"` // when the owner means to have given it up, one way or another
	What  string    `json:"what"`
}

// Running tells whether the very process that the note names is still there. If it is not and the lock is
// held all the same, a process that it started has the lock: see HeldError.Processes.
func (h Holder) Running() bool {
	p, ok := ProcessOf(h.PID)
	return ok && p.Start == h.Start && State(h.PID) != ""
}

// HeldError says that a lock is held by a process that has not ended.
type HeldError struct {
	Name   string
	Holder Holder
	path   string
}

func (e *HeldError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("lock %s: held by another process", e.Name)
	}
	return fmt.Sprintf("lock %s: held since %s by process %d (%s)", e.Name, e.Holder.Since.UTC().Format(time.RFC3339), e.Holder.PID, e.Holder.What)
}

// Processes looks up who really has the lock, whatever the note says.
func (e *HeldError) Processes() []int { return holding(e.path) }

// ErrStale says that the lock file is not the one that others see any more: a cleaner of temporary files has
// removed it. The lock must be taken anew.
var ErrStale = errors.New("lock file was replaced")

// Lock is an flock on a file of the run folder. A child that inherits File holds the lock for as long as it
// lives, whatever becomes of us: that is the point, since flock belongs to the open file and not to a process.
// The methods of a nil Lock do nothing, for looks where there is no place for locks.
type Lock struct {
	File *os.File
	name string
	path string
}

// TryLock takes the lock at once or says who holds it.
func (d Dir) TryLock(name string) (*Lock, error) {
	if d == "" {
		return nil, fmt.Errorf("lock %s: no place for locks", name)
	}
	path := filepath.Join(string(d), fileName(name))
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
		if err != nil {
			return nil, err
		}
		l := &Lock{File: f, name: name, path: path}
		err = l.Again()
		if err == nil {
			return l, nil
		}
		f.Close()
		if !errors.Is(err, ErrStale) { // its holder removed it between our open and our flock
			return nil, err
		}
	}
}

// Again takes a lock that was given up with Free.
func (l *Lock) Again() error {
	if l == nil {
		return nil
	}
	if err := flock(l.File, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return &HeldError{Name: l.name, Holder: readHolder(l.File), path: l.path}
		}
		return fmt.Errorf("lock %s: %w", l.path, err)
	}
	mine, err := l.File.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Lstat(l.path); err != nil || !os.SameFile(mine, there) {
		_ = flock(l.File, syscall.LOCK_UN)
		return ErrStale
	}
	return nil
}

// Note writes into the lock file who holds it, what for, and when it will be given up.
func (l *Lock) Note(pid int, what string, until time.Time) error {
	if l == nil {
		return nil
	}
	p, _ := ProcessOf(pid)
	b, err := json.Marshal(Holder{PID: pid, Start: p.Start, Since: time.Now().UTC(), Until: until.UTC(), What: what})
	if err != nil {
		return err
	}
	// The new note goes over the old one before the rest is cut: a reader never sees an empty file.
	if _, err := l.File.WriteAt(b, 0); err != nil {
		return err
	}
	return l.File.Truncate(int64(len(b)))
}

// Free gives the lock up, also for children that inherited it, and keeps the file for Again.
func (l *Lock) Free() {
	if l != nil {
		_ = flock(l.File, syscall.LOCK_UN)
	}
}

// Release gives the lock up, also for children that inherited it, and removes the file: names hold paths and
// command lines, so files would pile up. The file goes while the lock is held, and TryLock looks again.
func (l *Lock) Release() {
	if l == nil {
		return
	}
	_ = os.Remove(l.path)
	l.Free()
	_ = l.File.Close()
}

// Drop closes a freed lock and leaves its file to others.
func (l *Lock) Drop() {
	if l != nil {
		l.Free()
		_ = l.File.Close()
	}
}

// Leave closes our copy of the file only. The lock is free when the last child that has one has ended.
func (l *Lock) Leave() {
	if l != nil {
		_ = l.File.Close()
	}
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func readHolder(f *os.File) Holder {
	var h Holder
	b, _ := io.ReadAll(io.NewSectionReader(f, 0, 64<<10))
	// A Decoder stops after the first value, so the tail of an older note does no harm; an unreadable note
	// leaves the holder unknown.
	if json.NewDecoder(bytes.NewReader(b)).Decode(&h) != nil {
		return Holder{}
	}
	return h
}

// fileName makes a lock's name safe as a file name; the escape keeps different names apart, and so does the
// hash where a name is too long (a file name has 255 bytes at most).
func fileName(name string) string {
	var b strings.Builder
	for _, r := range []byte(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.':
			b.WriteByte(r)
		default:
			fmt.Fprintf(&b, "_%02x", r)
		}
	}
	s := b.String()
	if len(s) > 200 {
		sum := sha256.Sum256([]byte(name))
		s = fmt.Sprintf("%s_%x", s[:160], sum[:16])
	}
	return s + ".lock"
}
