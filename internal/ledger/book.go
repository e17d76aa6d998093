package ledger

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kinds of effects.
const (
	EffectFolder = "folder" // a folder of test files: Path, and the Names in it
)

// Effect is a change to the machine that has to be undone. It is written, and on the disk, before it happens.
type Effect struct {
	ID    string    `json:"id"`
	Kind  string    `json:"kind"`
	Path  string    `json:"path"`
	Names []string  `json:"names,omitempty"`
	PID   int       `json:"pid"`
	Start uint64    `json:"start"`
	Boot  string    `json:"boot"`
	Node  string    `json:"node"`
	Since time.Time `json:"since"`
}

// Book is this node's ledger: what has to be undone, switches with their users, the last proofs.
type Book struct {
	dir        string
	locks      Dir
	node, boot string
}

// StateDir is the folder for what outlives a reboot. remote tells a path on a file system that may hang or that other
// nodes share: a home often is on one.
func StateDir(remote func(string) bool) (string, error) {
	uid := os.Geteuid()
	own := "gdsproof-" + strconv.Itoa(uid)
	tries := []string{filepath.Join("/var/tmp", own), filepath.Join("/tmp", own)}
	if uid == 0 {
		tries = append([]string{"/var/lib/gdsproof"}, tries...)
	} else if d := userState(); d != "" && !remote(d) {
		if err := os.MkdirAll(filepath.Dir(d), 0o700); err == nil {
			tries = append([]string{d}, tries...)
		}
	}
	d, err := firstOwn(tries, uid)
	return string(d), err
}

func userState() string {
	if d := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "gdsproof")
	}
	if h, err := os.UserHomeDir(); err == nil && filepath.IsAbs(h) {
		return filepath.Join(h, ".local", "state", "gdsproof")
	}
	return ""
}

// OpenBook opens the ledger in a folder, which is made.
func OpenBook(dir string) (*Book, error) {
	b := &Book{dir: dir, node: nodeName(), boot: firstLine("/proc/sys/kernel/random/boot_id")}
	b.locks = Dir(dir)
	for _, sub := range []string{"ledger", "last"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("open the ledger: %w", err)
		}
	}
	return b, nil
}

// nodeName tells this machine from others that have the same folder, as a shared home is one.
func nodeName() string {
	host, _ := os.Hostname()
	return strings.TrimSpace(firstLine("/etc/machine-id") + " " + host)
}

func firstLine(path string) string {
	b, _ := os.ReadFile(path)
	s, _, _ := strings.Cut(string(b), "\n")
	return s
}

// NewID is a name that nobody else uses.
func NewID() string {
	b := make([]byte, 6)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}

// Write notes an effect that is about to happen. When it returns, the note is on the disk.
func (b *Book) Write(e Effect) (Effect, error) {
	if e.ID == "" {
		e.ID = NewID()
	}
	p, _ := ProcessOf(os.Getpid())
	e.PID, e.Start, e.Boot, e.Node, e.Since = os.Getpid(), p.Start, b.boot, b.node, time.Now().UTC().Truncate(time.Second)
	text, err := json.Marshal(e)
	if err == nil {
		err = writeSynced(b.effect(e.ID), text)
	}
	if err != nil {
		return e, fmt.Errorf("note %s in the ledger: %w", e.Path, err)
	}
	return e, nil
}

// Done takes a note out: the effect is undone.
func (b *Book) Done(e Effect) error {
	if err := os.Remove(b.effect(e.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("take %s out of the ledger: %w", e.Path, err)
	}
	return nil
}

func (b *Book) effect(id string) string { return filepath.Join(b.dir, "ledger", id+".json") }

// Orphans are effects of this node whose process has ended without undoing them.
func (b *Book) Orphans() []Effect {
	var out []Effect
	for _, e := range b.effects() {
		if e.Node == b.node && !b.running(e.PID, e.Start, e.Boot) {
			out = append(out, e)
		}
	}
	return out
}

func (b *Book) effects() []Effect {
	names, _ := filepath.Glob(filepath.Join(b.dir, "ledger", "*.json"))
	slices.Sort(names)
	var out []Effect
	for _, n := range names {
		var e Effect
		text, err := os.ReadFile(n)
		if err != nil || json.Unmarshal(text, &e) != nil || e.ID+".json" != filepath.Base(n) {
			continue
		}
		out = append(out, e)
	}
	return out
}

func (b *Book) running(pid int, start uint64, boot string) bool {
	return boot == b.boot && Holder{PID: pid, Start: start}.Running()
}

// writeSynced writes a file whole or not at all, and returns when it is on the disk.
func writeSynced(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if serr := f.Sync(); err == nil {
		err = serr
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// SaveLast keeps the last proof of a file system.
func (b *Book) SaveLast(fs string, text []byte) error {
	if err := writeSynced(b.last(fs), text); err != nil {
		return fmt.Errorf("keep the proof: %w", err)
	}
	return nil
}

// Last returns the last proof of a file system.
func (b *Book) Last(fs string) ([]byte, error) { return os.ReadFile(b.last(fs)) }

func (b *Book) last(fs string) string {
	return filepath.Join(b.dir, "last", strings.TrimSuffix(fileName(fs), ".lock")+".json")
}

// LockProof takes the lock of an experiment on a file system, or says who has it.
func (b *Book) LockProof(fs, what string, until time.Time) (*Lock, error) {
	l, err := b.locks.TryLock("proof " + fs)
	if err != nil {
		return nil, err
	}
	return l, l.Note(os.Getpid(), what, until)
}
