package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"gdsproof/internal/evidence"
)

// lookTimeout is the deadline of one look that may block. nvidia-fs's modules file and the close of its nodes
// were seen to take 1.7 s and more on a healthy node, while a storage module unregisters.
const lookTimeout = 10 * time.Second

// Live is this machine, or files of another one below a root.
type Live struct {
	root string
	exe  string
	cwd  string // folder in which commands run; some tools drop a log where they stand

	mu      sync.Mutex
	workers map[string]*worker
}

// NewLive opens this machine. root is where its files are found; with any root but "/" no command is run,
// since it would speak of another machine. Close must be called.
func NewLive(root string) (*Live, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cwd, err := os.MkdirTemp("", "gdsproof-")
	if err != nil {
		cwd = "/" // a read-only system: nothing can be dropped there either
	}
	return &Live{root: filepath.Clean(root), exe: exe, cwd: cwd, workers: map[string]*worker{}}, nil
}

// Close ends idle children and removes the private folder. Stuck children stay.
func (l *Live) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.workers {
		// A worker at work is not waited for.
		if w.mu.TryLock() {
			w.end()
			w.mu.Unlock()
		}
	}
	if l.cwd != "/" {
		_ = os.RemoveAll(l.cwd)
	}
}

func (l *Live) at(path string) string {
	if l.root == "/" {
		return path
	}
	return filepath.Join(l.root, path)
}

// home gives items found below a root their canonical source and keeps the true path as origin.
func (l *Live) home(its []evidence.Item, began time.Time) []evidence.Item {
	for i := range its {
		its[i] = stamp(its[i], began)
		if l.root == "/" {
			continue
		}
		if word, path, ok := strings.Cut(its[i].Source, " "); ok {
			its[i].Origin, its[i].Source = path, word+" "+strings.TrimPrefix(path, l.root)
		} else {
			its[i].Origin, its[i].Source = its[i].Source, strings.TrimPrefix(its[i].Source, l.root)
		}
	}
	return its
}

// kind groups looks that hang together: when one of a kind hangs, the others would too.
func kind(q question) string {
	switch p := q.Path; {
	case q.Op == "open", q.Op == "hold":
		return "open-" + filepath.Base(filepath.Dir(p))
	case q.Op == "statfs":
		return "statfs " + p
	case strings.HasPrefix(p, "/proc/") || strings.HasPrefix(p, "/sys/"):
		parts := strings.SplitN(strings.TrimPrefix(p, "/"), "/", 4)
		if len(parts) > 3 {
			parts = parts[:3]
		}
		return strings.Join(parts, "-")
	default:
		return q.Op + " " + p
	}
}

// inChild has a question answered by the child of its kind.
func (l *Live) inChild(ctx context.Context, q question) []evidence.Item {
	k := kind(q)
	q.Path = l.at(q.Path)
	for i, p := range q.Paths {
		q.Paths[i] = l.at(p)
	}
	l.mu.Lock()
	w := l.workers[k]
	if w == nil {
		w = &worker{kind: k, exe: l.exe}
		l.workers[k] = w
	}
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	began := time.Now()
	return l.home(w.do(ctx, q), began)
}

func (l *Live) here(q question) evidence.Item {
	began := time.Now()
	q.Path = l.at(q.Path)
	return l.home(q.answer(), began)[0]
}

func (l *Live) Read(ctx context.Context, path string, mayBlock bool) evidence.Item {
	q := question{Op: "read", Path: path}
	if mayBlock {
		return l.inChild(ctx, q)[0]
	}
	return l.here(q)
}

func (l *Live) Stat(_ context.Context, path string) evidence.Item {
	return l.here(question{Op: "stat", Path: path})
}

func (l *Live) Open(ctx context.Context, path string) evidence.Item {
	return l.inChild(ctx, question{Op: "open", Path: path})[0]
}

func (l *Live) Hold(ctx context.Context, paths []string, read string) []evidence.Item {
	return l.inChild(ctx, question{Op: "hold", Path: read, Paths: append([]string(nil), paths...)})
}

func (l *Live) Statfs(ctx context.Context, path string) evidence.Item {
	return l.inChild(ctx, question{Op: "statfs", Path: path})[0]
}

func (l *Live) List(ctx context.Context, dir string, mayBlock bool) evidence.Item {
	q := question{Op: "list", Path: dir}
	if mayBlock {
		return l.inChild(ctx, q)[0]
	}
	return l.here(q)
}
