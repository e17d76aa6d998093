package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Switch is a setting of the machine that several runs may want at once: the first one sets it, the last one puts it
// back. Read and Set do it.
type Switch struct {
	Name, Want string
	Read       func() (string, error)
	Set        func(string) error
}

// switchState is what the ledger knows of a switch.
type switchState struct {
	Boot   string `json:"boot"`
	Before string `json:"before"`
	Users  []user `json:"users"`
}

type user struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// Hold sets a switch and returns what gives it up. before is the value that it had before anybody held it.
func (b *Book) Hold(s Switch) (before string, release func() error, err error) {
	err = b.underLock(s, func(h *switchState) error {
		if len(h.Users) == 0 {
			v, err := s.Read()
			if err != nil {
				return err
			}
			h.Before = v
		}
		p, _ := ProcessOf(os.Getpid())
		h.Users = append(h.Users, user{os.Getpid(), p.Start})
		before = h.Before
		if err := b.keep(s, *h); err != nil { // on the disk before it happens
			return err
		}
		if now, err := s.Read(); err == nil && now == s.Want {
			return nil
		}
		return s.Set(s.Want)
	})
	if err != nil {
		return "", nil, fmt.Errorf("set %s: %w", s.Name, err)
	}
	return before, func() error { return b.release(s) }, nil
}

func (b *Book) release(s Switch) error {
	err := b.underLock(s, func(h *switchState) error {
		i := slices.IndexFunc(h.Users, func(u user) bool { return u.PID == os.Getpid() })
		if i >= 0 {
			h.Users = slices.Delete(h.Users, i, i+1)
		}
		return b.putBack(s, h)
	})
	if err != nil {
		return fmt.Errorf("put %s back: %w", s.Name, err)
	}
	return nil
}

// Settle puts a switch back that only dead runs hold. It tells whether it did.
func (b *Book) Settle(s Switch) (done bool, err error) {
	if _, err := os.Stat(b.switchFile(s)); err != nil {
		return false, nil
	}
	err = b.underLock(s, func(h *switchState) error {
		done = len(h.Users) == 0
		return b.putBack(s, h)
	})
	return done, err
}

// putBack gives a switch its former value where nobody holds it any more, unless somebody else has changed it since.
func (b *Book) putBack(s Switch, h *switchState) error {
	if len(h.Users) > 0 {
		return b.keep(s, *h)
	}
	if h.Before != s.Want && h.Before != "" {
		now, err := s.Read()
		if err == nil && now == s.Want {
			err = s.Set(h.Before)
		}
		if err != nil {
			_ = b.keep(s, *h) // for the next run to try
			return err
		}
	}
	if err := os.Remove(b.switchFile(s)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// underLock works on what is known of a switch while nobody else does. Runs that have ended, or that a reboot ended,
// hold nothing.
func (b *Book) underLock(s Switch, do func(*switchState) error) error {
	var l *Lock
	var err error
	for range 50 {
		if l, err = b.locks.TryLock("switch " + s.Name); err == nil {
			break
		}
		var he *HeldError
		if !errors.As(err, &he) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		return err
	}
	defer l.Release()
	var h switchState
	if text, err := os.ReadFile(b.switchFile(s)); err == nil {
		_ = json.Unmarshal(text, &h)
	}
	if h.Boot != b.boot {
		h = switchState{Boot: b.boot} // a reboot clears the switch
	}
	h.Users = slices.DeleteFunc(h.Users, func(u user) bool { return !b.running(u.PID, u.Start, h.Boot) })
	return do(&h)
}

func (b *Book) keep(s Switch, h switchState) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return writeSynced(b.switchFile(s), text)
}

func (b *Book) switchFile(s Switch) string { return filepath.Join(b.dir, "switch-"+s.Name+".json") }
