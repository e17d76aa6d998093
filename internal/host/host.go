// Package host alone touches a machine. Every answer is an evidence item, so that a failed look is told apart
// from an absent thing.
//
// What can block for ever (a driver's proc file, a device node, a path on a network file system) is looked at
// by a child process that can be abandoned: a thread in uninterruptible sleep would keep this process from
// ending. A child that stays behind keeps a lock file open, and while it is held no second child of that kind
// is started (see package ledger).
package host

import (
	"context"
	"time"

	"gdsproof/internal/evidence"
)

// Env says which environment a command gets.
type Env string

const (
	EnvClean  Env = "clean"  // fixed PATH, LC_ALL=C, no home; nothing of the caller's
	EnvCaller Env = "caller" // clean, and the caller's CUFILE_*, CUDA_*, NVIDIA_*, LD_LIBRARY_PATH
)

// Command is a program to run. Its source is Name, or the words of Argv.
type Command struct {
	Name    string // canonical source; the words of Argv if empty
	Argv    []string
	Env     Env
	Timeout time.Duration // 10 s if zero
	MaxOut  int64         // bytes kept of each stream; 1 MiB if zero
	Keep    []string      // keep only lines that hold one of these (lower case), and the first and last line
	// Set are variables over those of Env: "KEY=VALUE"; "KEY" alone takes one away.
	Set []string
	// Events gets each line that the program writes to its descriptor 3. Such a program has a pipe on 4 that ends when
	// this process does: it must not outlive it.
	Events func(line []byte)
	// Go, with Events: when it is closed, the program gets a line on its descriptor 4.
	Go <-chan struct{}
	// Guard: the program is ended when this process is, however that ends. For programs that write.
	Guard bool
}

// Source is the name under which the command's item is found.
func (c Command) Source() string {
	if c.Name != "" {
		return c.Name
	}
	s := ""
	for i, a := range c.Argv {
		if i > 0 {
			s += " "
		}
		s += a
	}
	return s
}

// Simulated tells that a host is no machine: nothing is started on it, and its clock need not be waited for.
func Simulated(h Host) bool {
	s, ok := h.(interface{ Simulated() bool })
	return ok && s.Simulated()
}

// Host is a live or simulated machine.
type Host interface {
	// Read reads a file. mayBlock: in a child, with a deadline.
	Read(ctx context.Context, path string, mayBlock bool) evidence.Item
	// Stat tells type, mode, device numbers and link target, as key=value words.
	Stat(ctx context.Context, path string) evidence.Item
	// Open opens a file for reading and writing and closes it at once; always in a child.
	Open(ctx context.Context, path string) evidence.Item
	// Hold opens all paths, reads one file while they are open, and closes them; always in one child. The
	// answer has one open item a path and, last, the file's item under evidence.HeldSource.
	Hold(ctx context.Context, paths []string, read string) []evidence.Item
	// Statfs asks a file system for its numbers; always in a child.
	Statfs(ctx context.Context, path string) evidence.Item
	// List lists a directory, a name a line; a directory's name ends in "/", a link's in "@".
	List(ctx context.Context, dir string, mayBlock bool) evidence.Item
	// Run runs a command.
	Run(ctx context.Context, c Command) evidence.Item
}
