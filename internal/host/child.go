package host

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"

	"gdsproof/internal/evidence"
)

// ChildVerb is the hidden first argument that makes this binary a looking child.
const ChildVerb = "__look"

// launchWord, after ChildVerb, makes the child a launcher that becomes the command in the rest of the words.
const launchWord = "run"

// engineWord makes it a launcher of a program with events and control.
const engineWord = "engine"

// guardWord makes it the guard of a program.
const guardWord = "guard"

// childName is what ps shows of a looking child; a name of the kernel has 15 bytes.
const childName = "gdsproof-look"

// File descriptors of a looking child: answers go to 3, questions come on 4. 5 is the lock of its kind, which
// it holds by having it open. A launcher has the report of a failed start on 3 and the lock on 4.
const (
	fdAnswers   = 3
	fdQuestions = 4
	fdReport    = 3
)

// A child looks on its first thread: ps and /proc/PID/stat show the state of that one, so that an
// administrator sees D for a look that hangs, and not Z for a first thread that obeyed a SIGKILL.
func init() {
	if len(os.Args) > 1 && os.Args[1] == ChildVerb {
		runtime.LockOSThread()
	}
}

// question is one look that may block.
type question struct {
	Op    string   `json:"op"` // read, open, hold, statfs, list, stat
	Root  string   `json:"root"`
	Path  string   `json:"path,omitempty"`
	Paths []string `json:"paths,omitempty"`
	Act   *Act     `json:"act,omitempty"`
	Wait  bool     `json:"wait,omitempty"` // the look may wait: it is made in a child
}

func (q question) what() string {
	if q.Op == "hold" {
		return fmt.Sprintf("open of %s and read of %s", pathsInShort(q.Paths), filepath.Join(q.Root, q.Path))
	}
	return q.Op + " of " + filepath.Join(q.Root, q.Path)
}

// pathsInShort names the first of many.
func pathsInShort(paths []string) string {
	switch len(paths) {
	case 0:
		return "nothing"
	case 1:
		return paths[0]
	}
	return fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
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
	case "act":
		return []string{ActSource(*q.Act)}
	}
	return []string{evidence.StatSource(q.Path)}
}

// origins are the true paths of the answer's items, where they differ from the canonical ones.
func (q question) origins() []string {
	var out []string
	for _, p := range append(append([]string(nil), q.Paths...), q.Path) {
		if q.Root == "/" {
			out = append(out, "")
			continue
		}
		out = append(out, q.real(p))
	}
	return out
}

// real is the path on this machine. Below "/" the kernel follows links itself.
func (q question) real(path string) string {
	if q.Root == "/" {
		return path
	}
	return follow(q.Root, path, q.Op != "stat")
}

// answer does the look in this very process.
func (q question) answer() []evidence.Item {
	if q.Root != "/" {
		if _, ok := walk(q.Root, q.Path, q.Op != "stat", nil); !ok {
			return q.failed(unix.ELOOP)
		}
	}
	path := q.real(q.Path)
	var its []evidence.Item
	switch q.Op {
	case "read":
		its = []evidence.Item{lookRead(path, maxRead, q.Wait)}
	case "open":
		it, fd := lookOpen(path)
		if fd >= 0 {
			_ = unix.Close(fd)
		}
		its = []evidence.Item{it}
	case "hold":
		var paths []string
		for _, p := range q.Paths {
			paths = append(paths, q.real(p))
		}
		its = lookHold(paths, path)
	case "statfs":
		its = []evidence.Item{lookStatfs(path)}
	case "list":
		its = []evidence.Item{lookList(path, maxRead)}
	case "stat":
		its = []evidence.Item{lookStat(path)}
	case "act":
		its = []evidence.Item{lookAct(*q.Act)}
	}
	return q.named(its)
}

// named gives items their canonical source and, below a root, the true path as origin.
func (q question) named(its []evidence.Item) []evidence.Item {
	sources, origins := q.sources(), q.origins()
	for i := range its {
		its[i].Source, its[i].Origin = sources[i], origins[i]
	}
	return its
}

func (q question) failed(err error) []evidence.Item {
	var its []evidence.Item
	for range q.sources() {
		its = append(its, failItem(&os.PathError{Op: q.Op, Path: q.Path, Err: err}))
	}
	return q.named(its)
}

// unanswered are the items of a question that has no answer. It must not touch the paths.
func (q question) unanswered(st evidence.State, why string, stuck int) []evidence.Item {
	var its []evidence.Item
	paths := append(append([]string(nil), q.Paths...), q.Path)
	for i, s := range q.sources() {
		it := evidence.Item{Source: s, Form: evidence.Whole, Place: evidence.Host, State: st, Err: []byte(why), Stuck: stuck}
		if q.Root != "/" {
			it.Origin = filepath.Join(q.Root, paths[i])
		}
		its = append(its, it)
	}
	return its
}

// ChildMain is the body of a looking child: one question a line, one answer a line, until the questions end.
func ChildMain() int {
	if len(os.Args) == 4 && os.Args[2] == writeWord {
		return writeChild(os.Args[3])
	}
	if len(os.Args) > 3 && os.Args[2] == launchWord {
		return launch(os.Args[3:])
	}
	if len(os.Args) > 3 && os.Args[2] == engineWord {
		return launchEngine(os.Args[3:])
	}
	if len(os.Args) > 3 && os.Args[2] == guardWord {
		return guard(os.Args[3:])
	}
	_ = os.WriteFile("/proc/self/comm", []byte(childName), 0)
	unix.CloseOnExec(fdAnswers)
	unix.CloseOnExec(fdQuestions)
	in, out := os.NewFile(fdQuestions, "questions"), os.NewFile(fdAnswers, "answers")
	if in == nil || out == nil {
		return 2
	}
	// The questions end when the asking process does, also by SIGKILL. A child must not stay then, look or no
	// look: if it can end at all, it ends here.
	questions := make(chan question)
	go func() {
		dec := json.NewDecoder(bufio.NewReader(in))
		for {
			var q question
			if err := dec.Decode(&q); err != nil {
				os.Exit(0)
			}
			questions <- q
		}
	}()
	enc := json.NewEncoder(out)
	for q := range questions {
		if err := enc.Encode(q.answer()); err != nil {
			return 0
		}
	}
	return 0
}
