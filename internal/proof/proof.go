// Package proof makes the experiment: looks at the counters, I/O, looks again, a control run, a strict run, clean-up.
// What it brings back is evidence; the witnesses judge it like that of anybody else.
package proof

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
	"gdsproof/internal/ledger"
	"gdsproof/internal/load"
)

// Plan is what is to be done.
type Plan struct {
	FS, Dir string // where the file system is mounted; where the test files go
	GPUs    []facts.LoadGPU
	All     []facts.LoadGPU // of the phase with all of them; none: left out
	Size    uint64
	IOSize  uint64
	Threads int

	Control, Strict, Why bool
	Early                bool // open the libraries of all runs at once, before the first look
	IOStats              bool // count successful I/O in the driver meanwhile
	Lustre               bool

	Engine load.Engine
	// CPU is the engine of the control: gdsio itself, or one of our own.
	CPU load.Engine
	// StrictJSON is the user's configuration with compat mode off.
	StrictJSON string
	Seed       uint64
	Pause      time.Duration // of the idle look
	// Without are phases that the caller leaves out, and why.
	Without map[string]string
	// CannotStart is why no I/O can be tried.
	CannotStart string
}

// Runner makes one experiment.
type Runner struct {
	M    host.Actor
	Book *ledger.Book // nil: nothing of it outlives this run (a simulated node)
	Plan Plan
	Say  func(format string, a ...any) // phases, for people
	Tell func(load.Progress)
	// Refuted tells, of what was seen so far, whether the path was not taken: then the why-not phase has something to do.
	Refuted func([]evidence.Item) bool

	items []evidence.Item
	early map[string]*load.Pending

	strictAt string // the copy of the configuration
	step     int
	record   facts.ExperimentPlan
	folder   folder
	release  func() error
	clean    facts.CleanupReport
}

// firstStep leaves room for the looks of the check.
const firstStep = 100

// Strict files are small: the run shows whether the path can be had, not how fast it is.
const (
	strictSize = 64 << 20
	whySize    = 16 << 20
)

// Run makes the experiment and returns what was seen. When ctx ends it stops where it is; what it changed is undone all
// the same.
func (r *Runner) Run(ctx context.Context) []evidence.Item {
	p := &r.Plan
	r.step = firstStep
	r.record = facts.ExperimentPlan{FS: p.FS, Dir: p.Dir, Size: p.Size, IOSize: p.IOSize, Threads: p.Threads, GPUs: p.GPUs, From: firstStep, Phases: map[int]string{}, LeftOut: map[string]string{}, CannotStart: p.CannotStart}
	if p.Engine != nil {
		r.record.Engine = p.Engine.Name()
	}
	for phase, why := range p.Without {
		r.record.LeftOut[phase] = why
	}
	r.earlier(ctx)
	if r.record.CannotStart == "" {
		if err := r.prepare(ctx); err != nil {
			r.record.CannotStart = err.Error()
		}
	}
	if r.record.CannotStart == "" {
		r.phases(ctx)
	}
	r.cleanup()
	if ctx.Err() != nil {
		r.record.Stopped = "interrupted"
	}
	return append(r.items, r.record.Item(), r.clean.Item(r.step))
}

// leftOut notes a part of the experiment that was not made.
func (r *Runner) leftOut(phase, why string) {
	r.Say("%s: left out: %s", phase, why)
	r.record.LeftOut[phase] = why
}

func (r *Runner) phases(ctx context.Context) {
	p := &r.Plan
	names := fileNames("gds", p.GPUs)
	if p.Early {
		early, stop := context.WithCancel(ctx)
		defer stop() // those that were not needed end
		r.begin(early, names)
	}
	r.look(ctx)
	r.idle(ctx)
	if !r.both(ctx, p.GPUs, names, facts.PhaseWrite, facts.PhaseRead) || ctx.Err() != nil {
		r.why(ctx, names[0])
		return
	}
	if p.Control {
		r.Say("control: the same read through the CPU")
		job := r.job(p.GPUs[0], names[0], facts.PhaseControl, "read", p.Size)
		job.CPU = true
		r.do(ctx, p.CPU, facts.PhaseControl, []facts.LoadJob{job}, load.Settings{})
	}
	if len(p.All) > 0 && ctx.Err() == nil {
		r.all(ctx)
	}
	if p.Strict && ctx.Err() == nil {
		r.strict(ctx)
	}
	if ctx.Err() == nil {
		r.why(ctx, names[0])
	}
}

// both writes and then reads, each on every GPU at once. False: nothing could be written or read.
func (r *Runner) both(ctx context.Context, gpus []facts.LoadGPU, names []string, write, read string) bool {
	for _, d := range []struct{ phase, op string }{{write, "write"}, {read, "read"}} {
		r.Say("%s: GDS %s, %s on %s", d.phase, d.op, bytesOf(r.Plan.Size), gpuWords(gpus))
		var jobs []facts.LoadJob
		for i, g := range gpus {
			jobs = append(jobs, r.job(g, names[i], d.phase, d.op, r.Plan.Size))
		}
		if !r.do(ctx, r.Plan.Engine, d.phase, jobs, load.Settings{}) || ctx.Err() != nil {
			return false
		}
	}
	return true
}

func (r *Runner) job(g facts.LoadGPU, name, phase, op string, size uint64) facts.LoadJob {
	p := &r.Plan
	return facts.LoadJob{Phase: phase, Op: op, Dir: r.folder.path, Name: name, GPU: g, Threads: p.Threads, Size: size, IOSize: p.IOSize, Seed: p.Seed,
		Verify: op == "read" && p.Engine.Name() != "gdsio", Deadline: 30 + float64(size)/(64<<20)}
}

// do does jobs at once, and looks at the counters behind them. False: none moved a byte.
func (r *Runner) do(ctx context.Context, e load.Engine, phase string, jobs []facts.LoadJob, s load.Settings) bool {
	r.step++
	r.record.Phases[r.step] = phase
	answers := make([][]evidence.Item, len(jobs))
	done := make(chan int, len(jobs))
	for i, j := range jobs {
		go func() {
			own := s
			if own.Log == "" {
				own.Log = path.Join(r.M.Scratch(), fmt.Sprintf("cufile-%d-%d.log", r.step, i))
			}
			answers[i] = r.one(ctx, e, j, own)
			done <- i
		}()
	}
	for range jobs {
		<-done
	}
	moved := false
	for _, its := range answers {
		if ctx.Err() != nil && unended(its) {
			continue // it was stopped, which is no failure of its own
		}
		for _, it := range its {
			it.Step, it.Place = r.step, evidence.Host
			r.items = append(r.items, it)
			moved = moved || movedIn(it)
		}
	}
	r.look(ctx)
	return moved
}

// unended tells that a run did not end by itself.
func unended(its []evidence.Item) bool {
	for _, it := range its {
		if it.Source != facts.LoadSource {
			continue
		}
		if res, err := facts.ParseLoadResult(it.Out); err != nil || res.End != facts.EndDone {
			return true
		}
	}
	return false
}

// movedIn tells whether an item shows bytes that were moved.
func movedIn(it evidence.Item) bool {
	if it.Source == facts.LoadSource {
		res, err := facts.ParseLoadResult(it.Out)
		return err == nil && res.Bytes > 0
	}
	return len(facts.ParseGdsio(it.Out).Runs) > 0
}

// all has every GPU write and read at once, each a file of its own, striped over all targets where that is allowed.
func (r *Runner) all(ctx context.Context) {
	p := &r.Plan
	names := fileNames("all", p.All)
	if p.Lustre {
		r.M.Run(ctx, host.Command{Argv: []string{"lfs", "setstripe", "-c", "-1", r.folder.path}}) // where it is not allowed, the file system's own striping stays
	}
	if err := r.create(ctx, names, p.Size); err != nil {
		r.leftOut(facts.PhaseAll, err.Error())
		return
	}
	r.both(ctx, p.All, names, facts.PhaseAll, facts.PhaseAll)
	r.discard(names)
}

// strict does a short write and read with compat mode off, by a copy of the user's configuration. What was written is
// read back and compared where the engine can.
func (r *Runner) strict(ctx context.Context) {
	p := &r.Plan
	if why := r.strictFile(ctx); why != "" {
		r.leftOut(facts.PhaseStrict, why)
		return
	}
	const name = "strict"
	size := r.strictSize()
	if err := r.create(ctx, []string{name}, size); err != nil {
		r.leftOut(facts.PhaseStrict, err.Error())
		return
	}
	r.Say("strict: a write and a read with compat mode off")
	for _, op := range []string{"write", "read"} {
		if ctx.Err() != nil {
			break
		}
		job, s := r.strictJob(op)
		r.do(ctx, p.Engine, facts.PhaseStrict, []facts.LoadJob{job}, s)
		r.log(ctx, s.Log, r.step-1)
	}
	r.discard([]string{name})
}

// why does a short read with the most detailed log, where the path was not taken.
func (r *Runner) why(ctx context.Context, name string) {
	if !r.Plan.Why || r.Refuted == nil || ctx.Err() != nil || !r.Refuted(append(r.items, r.record.Item())) {
		return
	}
	r.Say("why not: a short run with libcufile's log at TRACE")
	for _, op := range []string{"write", "read"} {
		size := max(min(whySize, r.Plan.Size), r.Plan.IOSize)
		job := r.job(r.Plan.GPUs[0], name, facts.PhaseWhy, op, size)
		job.Verify = false
		s := load.Settings{Level: "TRACE", Log: path.Join(r.M.Scratch(), "why-"+op+".log")}
		r.do(ctx, r.Plan.Engine, facts.PhaseWhy, []facts.LoadJob{job}, s)
		r.log(ctx, s.Log, r.step-1)
	}
}

// log keeps what libcufile logged of a run, at the run's step.
func (r *Runner) log(ctx context.Context, file string, step int) {
	it := r.M.Read(ctx, file, false)
	if !it.OK() {
		return
	}
	it.Source, it.Origin, it.Step = facts.PastedCufileLog, file, step
	r.items = append(r.items, it)
}

func fileNames(prefix string, gpus []facts.LoadGPU) []string {
	var out []string
	for _, g := range gpus {
		out = append(out, prefix+"-gpu"+strconv.Itoa(g.Index))
	}
	return out
}

func gpuWords(gpus []facts.LoadGPU) string {
	if len(gpus) == 1 {
		return "GPU " + strconv.Itoa(gpus[0].Index)
	}
	var w []string
	for _, g := range gpus {
		w = append(w, strconv.Itoa(g.Index))
	}
	return "GPUs " + strings.Join(w, ", ") + " at once"
}

func bytesOf(n uint64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
