package ledger

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func book(t *testing.T) *Book {
	t.Helper()
	b, err := OpenBook(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEffects(t *testing.T) {
	b := book(t)
	e, err := b.Write(Effect{Kind: EffectFolder, Path: "/fsx/.x", Names: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	if o := b.Orphans(); len(o) != 0 {
		t.Errorf("of a run that goes on: %+v", o)
	}
	// Of a process that has ended, of another boot, of another node.
	for name, c := range map[string]struct {
		change func(*Effect)
		orphan bool
	}{
		"ended":         {func(e *Effect) { e.PID = 1 << 30 }, true},
		"pid used anew": {func(e *Effect) { e.Start++ }, true},
		"before a boot": {func(e *Effect) { e.Boot = "other" }, true},
		"another node":  {func(e *Effect) { e.PID, e.Node = 1<<30, "other" }, false},
		"at work":       {func(*Effect) {}, false},
	} {
		x := e
		c.change(&x)
		text, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(b.effect(e.ID), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := len(b.Orphans()) == 1; got != c.orphan {
			t.Errorf("%s: orphan %v", name, got)
		}
	}
	if err := os.WriteFile(filepath.Join(b.dir, "ledger", "cut.json"), []byte(`{"id":"cut"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.Done(e); err != nil {
		t.Fatal(err)
	}
	if err := b.Done(e); err != nil {
		t.Errorf("done twice: %v", err)
	}
	if got := b.effects(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// knob is a switch in memory.
func knob(value *string) Switch {
	return Switch{Name: "knob", Want: "1", Read: func() (string, error) {
		if *value == "gone" {
			return "", errors.New("not there")
		}
		return *value, nil
	}, Set: func(v string) error { *value = v; return nil }}
}

func TestSwitch(t *testing.T) {
	b := book(t)
	v := "0"
	before, one, err := b.Hold(knob(&v))
	if err != nil || before != "0" || v != "1" {
		t.Fatalf("%q %q %v", before, v, err)
	}
	before, two, err := b.Hold(knob(&v))
	if err != nil || before != "0" {
		t.Fatalf("the second holder takes %q for the former value (%v)", before, err)
	}
	if err := one(); err != nil || v != "1" {
		t.Errorf("put back while somebody holds it: %q, %v", v, err)
	}
	if err := two(); err != nil || v != "0" {
		t.Errorf("%q, %v", v, err)
	}
	if _, err := os.Stat(b.switchFile(knob(&v))); err == nil {
		t.Error("the switch's file stays")
	}

	v = "1" // the owner's own choice
	if _, release, err := b.Hold(knob(&v)); err != nil || release() != nil || v != "1" {
		t.Errorf("%q, %v", v, err)
	}

	v = "0"
	if _, release, err := b.Hold(knob(&v)); err != nil {
		t.Fatal(err)
	} else {
		v = "0" // somebody turned it off meanwhile
		if err := release(); err != nil || v != "0" {
			t.Errorf("%q, %v", v, err)
		}
	}

	v = "gone"
	if _, _, err := b.Hold(knob(&v)); err == nil {
		t.Error("a switch that is not there can be held")
	}
}

// A run that was killed holds nothing: the next one settles it.
func TestSettle(t *testing.T) {
	for name, c := range map[string]struct {
		boot, value, want string
		users             []user
		done              bool
	}{
		"killed":          {"", "1", "0", []user{{1 << 30, 1}}, true},
		"before a reboot": {"other", "1", "1", []user{{1 << 30, 1}}, true}, // it was cleared then; what is there is somebody else's
		"nothing held":    {"", "1", "0", nil, true},
	} {
		b := book(t)
		v := c.value
		boot := c.boot
		if boot == "" {
			boot = b.boot
		}
		if err := b.keep(knob(&v), switchState{Boot: boot, Before: "0", Users: c.users}); err != nil {
			t.Fatal(err)
		}
		done, err := b.Settle(knob(&v))
		if err != nil || done != c.done || v != c.want {
			t.Errorf("%s: %v %q %v", name, done, v, err)
		}
	}
	b := book(t)
	v := "0"
	if done, err := b.Settle(knob(&v)); done || err != nil {
		t.Errorf("nothing to settle: %v %v", done, err)
	}
	if _, release, err := b.Hold(knob(&v)); err != nil {
		t.Fatal(err)
	} else if done, err := b.Settle(knob(&v)); done || err != nil || v != "1" {
		t.Errorf("settled under a holder: %v %v %q", done, err, v)
	} else if err := release(); err != nil || v != "0" {
		t.Errorf("%q %v", v, err)
	}
}

func TestLastAndLock(t *testing.T) {
	b := book(t)
	if err := b.SaveLast("/fsx", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := b.SaveLast("/fsx/../odd name", []byte("two")); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Last("/fsx"); err != nil || string(got) != "one" {
		t.Errorf("%q, %v", got, err)
	}
	l, err := b.LockProof("/fsx", "a proof", time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	var he *HeldError
	if _, err := b.LockProof("/fsx", "another", time.Now()); !errors.As(err, &he) || he.Holder.PID != os.Getpid() || he.Holder.What != "a proof" {
		t.Errorf("%v", err)
	}
	if other, err := b.LockProof("/scratch", "another", time.Now()); err != nil {
		t.Errorf("another file system: %v", err)
	} else {
		other.Release()
	}
	l.Release()
}

func TestStateDir(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	d, err := StateDir(func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 && d != filepath.Join(home, "gdsproof") {
		t.Errorf("%s", d)
	}
	if d, err := StateDir(func(string) bool { return true }); err != nil || os.Geteuid() != 0 && d == filepath.Join(home, "gdsproof") {
		t.Errorf("a state folder on a shared file system: %s, %v", d, err)
	}
}
