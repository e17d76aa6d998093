package host

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"syscall"

	"gdsproof/internal/evidence"
	"gdsproof/internal/ledger"
)

// ChildVerb is the hidden first argument that makes this binary a looking child.
const ChildVerb = "__look"

// File descriptors of a looking child: answers go to 3, questions come on 4, 5 keeps the lock.
const (
	fdAnswers   = 3
	fdQuestions = 4
	fdLock      = 5
)

// question is one look that may block.
type question struct {
	Op    string   `json:"op"` // read, open, hold, statfs, list, stat
	Path  string   `json:"path,omitempty"`
	Paths []string `json:"paths,omitempty"`
}

func (q question) what() string {
	switch q.Op {
	case "hold":
		return fmt.Sprintf("open of %d device nodes and read of %s", len(q.Paths), q.Path)
	default:
		return q.Op + " of " + q.Path
	}
}

// answer does the look in this very process.
func (q question) answer() []evidence.Item {
	switch q.Op {
	case "read":
		return []evidence.Item{lookRead(q.Path, maxRead)}
	case "open":
		it, fd := lookOpen(q.Path)
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
		return []evidence.Item{it}
	case "hold":
		return lookHold(q.Paths, q.Path)
	case "statfs":
		return []evidence.Item{lookStatfs(q.Path)}
	case "list":
		return []evidence.Item{lookList(q.Path)}
	case "stat":
		return []evidence.Item{lookStat(q.Path)}
	}
	return nil
}

// sources are the names under which the items of the answer are found.
func (q question) sources() []string {
	switch q.Op {
	case "read":
		return []string{q.Path}
	case "open":
		return []string{evidence.OpenSource(q.Path)}
	case "hold":
		var out []string
		for _, p := range q.Paths {
			out = append(out, evidence.OpenSource(p))
		}
		return append(out, evidence.HeldSource(q.Path))
	case "statfs":
		return []string{evidence.StatfsSource(q.Path)}
	case "list":
		return []string{evidence.ListSource(q.Path)}
	}
	return []string{evidence.StatSource(q.Path)}
}

// ChildMain is the body of a looking child: one question a line, one answer a line, until the questions end.
func ChildMain() int {
	in, out := os.NewFile(fdQuestions, "questions"), os.NewFile(fdAnswers, "answers")
	if in == nil || out == nil {
		return 2
	}
	// Before each look the lock file gets a note, since after a look that never returns nobody can write it.
	lock := os.NewFile(fdLock, "lock")
	if _, err := lock.Stat(); err != nil {
		lock = nil
	}
	syscall.CloseOnExec(fdLock)
	dec, enc := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	for {
		var q question
		if err := dec.Decode(&q); err != nil {
			return 0
		}
		if lock != nil {
			_ = ledger.NoteFile(lock, os.Getpid(), q.what())
		}
		if err := enc.Encode(q.answer()); err != nil {
			return 0
		}
	}
}
