// Package load has the engines that move bytes: NVIDIA's gdsio, and engines of our own in processes of their own, which
// may crash, hang or be killed without harm to the program that asks.
package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
)

// Event is a line that an engine's process writes to descriptor 3.
type Event struct {
	V    int             `json:"v"`
	Kind string          `json:"kind"` // hello, open, progress, result, error, done
	Body json.RawMessage `json:"body,omitempty"`
}

// Progress is the body of a progress event.
type Progress struct {
	GPU   int    `json:"gpu"`
	Op    string `json:"op"`
	Bytes uint64 `json:"bytes"`
	Of    uint64 `json:"of"`
}

// Engine does one job at a time for each caller; several may call.
type Engine interface {
	Name() string
	// Do does a job and returns what there is to see of it. Strict: settings is the cufile.json to go by, log the file
	// that the library logs to.
	Do(ctx context.Context, job facts.LoadJob, s Settings, tell func(Progress)) []evidence.Item
}

// Settings are the library's, for one run.
type Settings struct {
	JSON  string // CUFILE_ENV_PATH_JSON; "" leaves the caller's
	Log   string // CUFILE_LOGFILE_PATH
	Level string // CUFILE_LOGGING_LEVEL; "" leaves the caller's
}

// strictUnset are variables of the caller that would go over the strict configuration.
var strictUnset = []string{"CUFILE_FORCE_COMPAT_MODE"}

// environment is what a run's process gets over the caller's. Without an order by bus, the CUDA runtime numbers GPUs by
// their speed; the caller's choice of GPUs would number them anew.
func environment(job facts.LoadJob, s Settings, scratch string) []string {
	set := []string{"CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES", "CUDA_CACHE_PATH=" + path.Join(scratch, "cuda-cache")}
	if s.Log != "" {
		set = append(set, "CUFILE_LOGFILE_PATH="+s.Log)
	}
	if s.Level != "" {
		set = append(set, "CUFILE_LOGGING_LEVEL="+s.Level)
	}
	if s.JSON != "" {
		set = append(set, facts.CufilePathEnv+"="+s.JSON)
	}
	if job.Strict {
		set = append(append(set, strictUnset...), "CUFILE_ALLOW_COMPAT_MODE=false")
	}
	return set
}

// ChildVerb is the hidden first argument that makes this binary an engine's process.
const ChildVerb = "__load"

// Own are the engines of our own: "posix", which reads through the CPU, and "cufile".
type Own struct {
	Kind    string
	Library string // of "cufile"
	M       host.Actor
}

// Name is the engine's.
func (o Own) Name() string { return o.Kind }

// Do runs the job in a process.
func (o Own) Do(ctx context.Context, job facts.LoadJob, s Settings, tell func(Progress)) []evidence.Item {
	return o.do(ctx, job, s, tell, nil, func() {})
}

// Pending is a job whose process has begun: CUDA and the library take a second to open, in which others can be at work.
type Pending struct {
	start, open chan struct{}
	items       chan []evidence.Item
	once        sync.Once
}

// Opened is closed when the library is open, or will not be.
func (p *Pending) Opened() <-chan struct{} { return p.open }

// Begin starts a job's process, which waits before it touches a file.
func (o Own) Begin(ctx context.Context, job facts.LoadJob, s Settings, tell func(Progress)) *Pending {
	p := &Pending{start: make(chan struct{}), open: make(chan struct{}), items: make(chan []evidence.Item, 1)}
	job.Wait = true
	opened := sync.OnceFunc(func() { close(p.open) })
	go func() {
		its := o.do(ctx, job, s, tell, p.start, opened)
		opened()
		p.items <- its
	}()
	return p
}

// Go lets the job do its work, and returns what there is to see of it.
func (p *Pending) Go() []evidence.Item {
	p.once.Do(func() { close(p.start) })
	return <-p.items
}

func (o Own) do(ctx context.Context, job facts.LoadJob, s Settings, tell func(Progress), start <-chan struct{}, opened func()) []evidence.Item {
	job.Engine, job.Library = o.Kind, o.Library
	result := facts.LoadResult{Job: job, End: facts.EndError}
	self, err := os.Executable()
	if err != nil {
		result.Error = err.Error()
		return []evidence.Item{result.Item(0)}
	}
	asked, err := json.Marshal(job)
	if err != nil {
		result.Error = err.Error()
		return []evidence.Item{result.Item(0)}
	}
	var got *facts.LoadResult
	done := false
	it := o.M.Run(ctx, host.Command{
		Name: facts.LoadSource, Argv: []string{self, ChildVerb, string(asked)}, Env: host.EnvCaller, Set: environment(job, s, o.M.Scratch()),
		Timeout: seconds(job.Deadline), MaxOut: 64 << 10, Go: start,
		Events: func(line []byte) {
			var e Event
			if json.Unmarshal(line, &e) != nil {
				return
			}
			switch e.Kind {
			case "open":
				opened()
			case "progress":
				var p Progress
				if json.Unmarshal(e.Body, &p) == nil && tell != nil {
					tell(p)
				}
			case "result":
				if r, err := facts.ParseLoadResult(e.Body); err == nil {
					got = &r
				}
			case "done":
				done = true
			}
		},
	})
	if got != nil {
		result = *got
		result.Job = job
	}
	how(&result, it, done)
	for _, b := range [][]byte{it.Out, it.Err} {
		if w := firstWords(b); w != "" {
			result.Notes = append(result.Notes, w)
		}
	}
	return []evidence.Item{result.Item(0)}
}

// how tells how a run ended that did not say so itself: only a "done" is an end.
func how(r *facts.LoadResult, it evidence.Item, done bool) {
	switch {
	case done:
		return
	case it.Stuck != 0:
		r.End, r.Error = facts.EndStuck, fmt.Sprintf("the engine's process %d hangs and cannot be ended", it.Stuck)
	case it.State == evidence.TimedOut:
		r.End, r.Error = facts.EndKilled, "the engine's process did not end in time: "+string(it.Err)
	case it.State == evidence.NotCollected:
		r.End, r.Error = facts.EndError, firstWords(it.Err)
	case it.Exit != nil:
		r.End, r.Error = facts.EndCrashed, fmt.Sprintf("the engine's process ended with status %d before its work was done: %s", *it.Exit, firstWords(it.Err))
	default:
		r.End, r.Error = facts.EndCrashed, "the engine's process: "+firstWords(it.Err)
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// firstWords are the first lines of noise.
func firstWords(b []byte) string {
	s := strings.TrimSpace(string(bytes.ToValidUTF8(b, []byte("?"))))
	if lines := strings.Split(s, "\n"); len(lines) > 8 {
		s = strings.Join(lines[:8], "\n")
	}
	if len(s) > 800 {
		s = s[:800]
	}
	return s
}
