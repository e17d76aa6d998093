package proof

import (
	"context"
	"path"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
	"gdsproof/internal/load"
)

func (r *Runner) strictSize() uint64 { return max(min(strictSize, r.Plan.Size), r.Plan.IOSize) }

// strictFile writes the copy of the configuration with compat mode off, once.
func (r *Runner) strictFile(ctx context.Context) (why string) {
	if r.strictAt != "" {
		return ""
	}
	file := path.Join(r.M.Scratch(), "strict.json")
	if it := r.M.Do(ctx, host.Act{Op: host.ActPut, Path: file, Text: r.Plan.StrictJSON}); !it.OK() {
		return string(it.Err)
	}
	r.strictAt = file
	return ""
}

func (r *Runner) strictJob(op string) (facts.LoadJob, load.Settings) {
	job := r.job(r.Plan.GPUs[0], "strict", facts.PhaseStrict, op, r.strictSize())
	job.Strict = true
	return job, load.Settings{JSON: r.strictAt, Level: "INFO", Log: path.Join(r.M.Scratch(), "strict-"+op+".log")}
}

func key(j facts.LoadJob) string { return j.Phase + " " + j.Op + " " + j.Name }

// patienceToOpen is how long the opening of the libraries is waited for before the first look.
const patienceToOpen = 20 * time.Second

// begin starts the processes of all runs on the first GPU, each of which opens CUDA and the library and waits for its
// turn. They are open before the first look at the counters, so that none of it falls between two.
func (r *Runner) begin(ctx context.Context, names []string) {
	own, ok := r.Plan.Engine.(load.Own)
	if !ok || own.Kind != "cufile" || host.Simulated(r.M) {
		return
	}
	r.early = map[string]*load.Pending{}
	add := func(j facts.LoadJob, s load.Settings) {
		if s.Log == "" {
			s.Log = path.Join(r.M.Scratch(), "cufile-early-"+j.Op+".log")
		}
		r.early[key(j)] = own.Begin(ctx, j, s, r.Tell)
	}
	add(r.job(r.Plan.GPUs[0], names[0], facts.PhaseWrite, "write", r.Plan.Size), load.Settings{})
	add(r.job(r.Plan.GPUs[0], names[0], facts.PhaseRead, "read", r.Plan.Size), load.Settings{})
	if r.Plan.Strict && r.strictFile(ctx) == "" {
		for _, op := range []string{"write", "read"} {
			add(r.strictJob(op))
		}
	}
	late := time.After(patienceToOpen)
	for _, p := range r.early {
		select {
		case <-p.Opened():
		case <-late:
			return
		case <-ctx.Done():
			return
		}
	}
}

// one does a job, by the process that waits for it if there is one. Such a process may fail for the others beside it,
// where a GPU takes one process alone: then it is done again, alone.
func (r *Runner) one(ctx context.Context, e load.Engine, j facts.LoadJob, s load.Settings) []evidence.Item {
	p := r.early[key(j)]
	if p == nil {
		return e.Do(ctx, j, s, r.Tell)
	}
	its := p.Go()
	if len(its) == 1 && ctx.Err() == nil {
		if res, err := facts.ParseLoadResult(its[0].Out); err == nil && res.End == facts.EndError && res.Code == nil && res.Bytes == 0 {
			return e.Do(ctx, j, s, r.Tell)
		}
	}
	return its
}
