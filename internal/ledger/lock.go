package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Holder is who holds a lock, as written in the lock file by its owner.
type Holder struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	What  string    `json:"what"`
}

// HeldError says that a lock is held by a process that has not ended.
type HeldError struct {
	Name   string
	Holder Holder
}

func (e *HeldError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("lock %s: held by another process", e.Name)
	}
	return fmt.Sprintf("lock %s: held since %s by process %d (%s)", e.Name, e.Holder.Since.UTC().Format(time.RFC3339), e.Holder.PID, e.Holder.What)
}

// Lock is an flock on a file of the run folder. A child that inherits File holds the lock for as long as it
// lives, whatever becomes of us: that is the point, since flock belongs to the open file and not to a process.
type Lock struct {
	File *os.File
	name string
}

// TryLock takes the lock at once or says who holds it.
func TryLock(name string) (*Lock, error) {
	dir, err := RunDir()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, fileName(name))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &HeldError{Name: name, Holder: readHolder(f)}
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{File: f, name: name}, nil
}

// Note writes into the lock file who holds it and what for.
func (l *Lock) Note(pid int, what string) error { return NoteFile(l.File, pid, what) }

// NoteFile is Note for a child that has only the inherited file.
func NoteFile(f *os.File, pid int, what string) error {
	b, err := json.Marshal(Holder{PID: pid, Since: time.Now().UTC(), What: what})
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	return err
}

// Release closes our copy of the file. The lock is free when no child has one any more.
func (l *Lock) Release() {
	if l != nil && l.File != nil {
		_ = l.File.Close()
	}
}

func readHolder(f *os.File) Holder {
	var h Holder
	b := make([]byte, 4096)
	n, _ := f.ReadAt(b, 0)
	_ = json.Unmarshal(b[:n], &h) // an unreadable note leaves the holder unknown
	return h
}

// fileName makes a lock's name safe as a file name; the escape keeps different names apart.
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
		s = s[:200]
	}
	return s + ".lock"
}
