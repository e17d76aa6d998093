package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/ledger"
)

// lookTimeout is the deadline of one look that may block. nvidia-fs's modules file and the close of its nodes
// were seen to take 1.7 s and more on a healthy node, while a storage module unregisters.
const lookTimeout = 10 * time.Second

// self is this very program, also when its file was replaced or removed by an upgrade while it runs.
const self = "/proc/self/exe"

// Live is this machine, or files of another one below a root.
type Live struct {
	root   string
	locks  ledger.Dir // empty: no place for locks
	mounts mounts

	life context.Context // ends with Close
	end  context.CancelFunc
	busy sync.WaitGroup // looks and commands at work

	mu      sync.Mutex
	closed  bool
	cwd     string // folder in which commands run, made for the first one; some tools drop a log where they stand
	workers map[string]*worker
	hung    map[string]*refusal // by program
}

// nowhere is a folder in which nothing can be created.
const nowhere = "/proc"

// NewLive opens this machine. root is where its files are found; with any root but "/" no command is run,
// since it would speak of another machine. Close must be called.
func NewLive(root string) (*Live, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	l := &Live{root: root, workers: map[string]*worker{}, hung: map[string]*refusal{}}
	l.locks, _ = ledger.RunDir()
	l.life, l.end = context.WithCancel(context.Background())
	if root != "/" {
		// Without this a mistyped root would be a node on which everything is absent.
		if it := l.List(context.Background(), "/", true); it.State != evidence.Present {
			l.Close()
			return nil, fmt.Errorf("open root %s: %s: %s", root, it.State, it.Err)
		}
	}
	return l, nil
}

// folder is the private folder for commands. It is made in the first place that has room and cannot hang.
func (l *Live) folder() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cwd != "" {
		return l.cwd
	}
	l.cwd = nowhere
	for _, p := range []string{os.TempDir(), "/tmp", "/dev/shm", string(l.locks)} {
		if !filepath.IsAbs(p) || l.mounts.remote("/", p, true) != "" {
			continue
		}
		if d, err := os.MkdirTemp(p, "gdsproof-"); err == nil {
			l.cwd = d
			break
		}
	}
	return l.cwd
}

// Close ends all children and removes the private folder. Stuck children stay.
func (l *Live) Close() {
	l.mu.Lock()
	l.closed = true
	workers := l.workers
	l.workers = nil
	l.mu.Unlock()
	l.end()
	idle := make(chan struct{})
	go func() { l.busy.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-time.After(3 * time.Second): // each look gives its child up within a second
	}
	for _, w := range workers {
		w.close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cwd != "" && l.cwd != nowhere {
		_ = os.RemoveAll(l.cwd)
	}
}

// enter counts a look in. Its context ends with Close too.
func (l *Live) enter(ctx context.Context) (context.Context, func(), bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ctx, func() {}, false
	}
	l.busy.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(l.life, cancel)
	return ctx, func() { stop(); cancel(); l.busy.Done() }, true
}

// ask has a question answered: by a child if it may wait, or if the path leads to a file system that may.
func (l *Live) ask(ctx context.Context, q question) []evidence.Item {
	began := time.Now()
	q.Root = l.root
	for _, p := range append(append([]string(nil), q.Paths...), q.Path) {
		if !filepath.IsAbs(p) { // a child stands elsewhere
			return q.unanswered(evidence.Failed, fmt.Sprintf("%s %s: not an absolute path", q.Op, p), 0)
		}
	}
	ctx, done, ok := l.enter(ctx)
	defer done()
	if !ok {
		return q.unanswered(evidence.NotCollected, "not tried: the look at this machine was closed", 0)
	}
	remote := ""
	for _, p := range append(append([]string(nil), q.Paths...), q.Path) {
		if remote = l.mounts.remote(l.root, p, q.Op != "stat"); remote != "" {
			break
		}
	}
	var its []evidence.Item
	if q.Wait || remote != "" {
		q.Wait = true
		its = l.worker(kind(q, remote)).do(ctx, q)
	} else {
		its = q.answer()
	}
	at := began.UTC()
	for i := range its {
		its[i].At = &at
	}
	return its
}

func (l *Live) worker(kind string, shared bool) *worker {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.workers[kind]
	if w == nil {
		w = &worker{kind: kind, shared: shared, locks: l.locks, turn: make(chan struct{}, 1)}
		if l.workers != nil { // closed meanwhile: the context has ended, no child will be started
			l.workers[kind] = w
		}
	}
	return w
}

func (l *Live) Read(ctx context.Context, path string, mayBlock bool) evidence.Item {
	return l.ask(ctx, question{Op: "read", Path: path, Wait: mayBlock})[0]
}

func (l *Live) Stat(ctx context.Context, path string) evidence.Item {
	return l.ask(ctx, question{Op: "stat", Path: path})[0]
}

func (l *Live) Open(ctx context.Context, path string) evidence.Item {
	return l.ask(ctx, question{Op: "open", Path: path, Wait: true})[0]
}

func (l *Live) Hold(ctx context.Context, paths []string, read string) []evidence.Item {
	return l.ask(ctx, question{Op: "hold", Path: read, Paths: paths, Wait: true})
}

func (l *Live) Statfs(ctx context.Context, path string) evidence.Item {
	return l.ask(ctx, question{Op: "statfs", Path: path, Wait: true})[0]
}

func (l *Live) List(ctx context.Context, dir string, mayBlock bool) evidence.Item {
	return l.ask(ctx, question{Op: "list", Path: dir, Wait: mayBlock})[0]
}
