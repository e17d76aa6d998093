package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gdsproof/internal/checks"
	"gdsproof/internal/evidence"
	"gdsproof/internal/explain"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
	"gdsproof/internal/ledger"
	"gdsproof/internal/proof"
	"gdsproof/internal/report"
	"gdsproof/internal/witness"
)

// proveFlags are the words of prove.
type proveFlags struct {
	fs        string
	gpus      []int
	allGPUs   bool
	size      string
	ioSize    string
	threads   int
	engine    string
	quick     bool
	full      bool
	ioStats   bool
	noControl bool
	noStrict  bool
}

func (a *app) proveCommand() *cobra.Command {
	var f proveFlags
	c := &cobra.Command{
		Use:   "prove --fs DIR",
		Short: "Move bytes and prove, or refute, that they took the GDS path",
		Long: "prove looks at the node as check does, then writes and reads a test file through GDS and hears independent witnesses\n" +
			"of that I/O: libcufile's own statistics, nvidia-fs's counters, LNet's messages and the EFA devices' counters, a run with\n" +
			"compat mode off, and a control run through the CPU, in which library and driver must not testify to GDS.\n" +
			"It writes test files into a folder of its own below DIR and removes them, also after Ctrl-C; nothing that exists is\n" +
			"touched. What it changes is written into its ledger first (/var/lib/gdsproof, or the user's state folder), and the next\n" +
			"start undoes what a killed run left. cufile.json is never changed: the run with compat mode off has a copy of its own.",
		Example: "  gdsproof prove --fs /fsx\n  gdsproof prove --fs /fsx --full\n  gdsproof prove --node sim:p5en,silent-compat --fs /fsx",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.prove(c.Context(), f) },
	}
	c.Flags().StringVar(&f.fs, "fs", "", "folder on the file system in question; test files are made there and removed")
	c.Flags().IntSliceVar(&f.gpus, "gpu", nil, "GPUs to use, by their number in the order of the PCI bus (default 0)")
	c.Flags().BoolVar(&f.allGPUs, "all-gpus", false, "also write and read on every GPU at once")
	c.Flags().StringVar(&f.size, "size", "", "bytes written and read per phase and GPU (default 2G; 256M with --quick, 10G with --full)")
	c.Flags().StringVar(&f.ioSize, "io-size", "1M", "bytes of one I/O, a multiple of 4K")
	c.Flags().IntVar(&f.threads, "threads", 4, "threads per GPU")
	c.Flags().StringVar(&f.engine, "engine", "auto", "what moves the bytes: auto, cufile (libcufile called directly) or gdsio")
	c.Flags().BoolVar(&f.quick, "quick", false, "256 MiB a phase, without the phases of all GPUs and of why not")
	c.Flags().BoolVar(&f.full, "full", false, "10 GiB a phase, and all GPUs")
	c.Flags().BoolVar(&f.ioStats, "io-stats", false, "count successful I/O in nvidia-fs meanwhile (needs root; put back behind it)")
	c.Flags().BoolVar(&f.noControl, "no-control", false, "without the control run through the CPU")
	c.Flags().BoolVar(&f.noStrict, "no-strict", false, "without the run with compat mode off")
	_ = c.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions([]string{"auto", "cufile", "gdsio"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) prove(ctx context.Context, f proveFlags) error {
	if err := a.g.check(); err != nil {
		return err
	}
	sinks, err := a.g.sinks()
	if err != nil {
		return err
	}
	switch {
	case f.fs == "":
		return usagef("prove: --fs DIR is missing: the folder on the file system in question")
	case f.quick && f.full:
		return usagef("prove: --quick and --full exclude each other")
	}
	sizes, err := f.sizes()
	if err != nil {
		return err
	}
	rules, err := a.rules(ctx)
	if err != nil {
		return err
	}
	if f.fs, err = absolute(f.fs); err != nil {
		return usageError{err}
	}
	began := time.Now()
	m, name, done, err := a.machine()
	if err != nil {
		return err
	}
	defer done()
	a.say("look: steps 1 to 3, as gdsproof check")
	look := checkFlags{fs: f.fs}
	set := a.lookAt(ctx, m, name, look, checks.Passive())
	a.warnHangs(set)
	all := checks.All()
	r := &proof.Runner{M: m, Say: a.say, Tell: a.progress(), Plan: proof.Plan{FS: f.fs, Dir: f.fs}}
	t := facts.NewTable(set, rules)
	if why := checks.NotApplicable(t); why == "" {
		first := judge(set, rules, checks.Passive())
		if err := a.plan(ctx, m, f, sizes, set, t, first, r); err != nil {
			return err
		}
		if r.Plan.CannotStart == "" {
			free, why := a.ledger(r, name)
			if free == nil { // nothing is known of the path then, and no fault of it
				first.Verdict = report.Verdict{Outcome: report.UnknownResult, Summary: why}
				first.Node.Name = name
				first.Normalise()
				a.say("%s", why)
				a.code = exitCode(unknown, a.g.exitStyle, false)
				return a.write(ctx, first, sinks)
			}
			defer free()
		}
		a.announce(r)
		r.Refuted = func(more []evidence.Item) bool {
			so := *set
			so.Items = append(append([]evidence.Item(nil), set.Items...), more...)
			t := facts.NewTable(&so, rules)
			switch v := witness.Decide(facts.Get(t, evidence.Host, witness.Heard).V, facts.Get(t, evidence.Host, witness.CaseNow).V); v.Outcome {
			case report.Refuted, report.Mixed, report.Contradicted:
				return true
			}
			return false
		}
		set.Items = append(set.Items, r.Run(ctx)...)
		a.endProgress()
	}
	if err := a.keepEvidence(ctx, set); err != nil {
		return err
	}
	rep := judgeRead(set, rules, all)
	if ctx.Err() != nil {
		rep.Verdict.Summary = "interrupted; so far: " + rep.Verdict.Summary
	}
	base, err := explain.New(rules)
	if err != nil {
		return err
	}
	couldNotMove(base, facts.NewTable(set, rules), r.Plan.FS, rep)
	whyNot(base, set, rep)
	settle(rep, &r.Plan)
	rep.Node.Name, rep.Experiment = name, true
	rep.Started = began.UTC().Truncate(time.Second)
	rep.DurationSeconds = float64(time.Since(began).Milliseconds()) / 1000
	rep.Normalise()
	a.keepLast(ctx, r, set, rep)
	// What was found until an interruption is a result too.
	if err := a.write(context.WithoutCancel(ctx), rep, sinks); err != nil {
		return err
	}
	a.code = exitCode(endingOf(rep), a.g.exitStyle, a.g.failOnWarn)
	return nil
}

// ledger opens this node's ledger and takes the lock; free is nil where that cannot be had, and why. A simulated node has none:
// nothing there outlives the program.
func (a *app) ledger(r *proof.Runner, simulated string) (free func(), why string) {
	if simulated != "" {
		return func() {}, ""
	}
	dir, err := ledger.StateDir(host.Remote)
	if err != nil {
		return nil, "no folder for the ledger, without which nothing is changed: " + err.Error()
	}
	if r.Book, err = ledger.OpenBook(dir); err != nil {
		return nil, err.Error()
	}
	lock, err := r.Book.LockProof(r.Plan.FS, "gdsproof prove --fs "+r.Plan.Dir, time.Now().Add(time.Hour))
	var held *ledger.HeldError
	if errors.As(err, &held) {
		return nil, fmt.Sprintf("another proof of %s is at work: process %d since %s (%s)", r.Plan.FS, held.Holder.PID, held.Holder.Since.Format(time.RFC3339), held.Holder.What)
	}
	if err != nil {
		return nil, "the lock of a proof cannot be had: " + err.Error()
	}
	return lock.Release, ""
}

func (a *app) say(format string, args ...any) {
	if !a.g.quiet {
		a.endProgress()
		fmt.Fprintf(a.stderr, "gdsproof: "+format+"\n", args...)
	}
}

// announce says what will be done before it is.
func (a *app) announce(r *proof.Runner) {
	p := &r.Plan
	if p.CannotStart != "" {
		a.say("no I/O is tried: %s", p.CannotStart)
		return
	}
	a.say("experiment: %s on %s, engine %s, %d threads, %s each; test files in %s, removed behind it", witness.Size(p.Size), strings.Join(gpuNames(p.GPUs), ", "), p.Engine.Name(), p.Threads, witness.Size(p.IOSize), p.Dir)
	if len(p.All) > 0 {
		a.say("then all %d GPUs at once, %s each", len(p.All), witness.Size(p.Size))
	}
}

func gpuNames(list []facts.LoadGPU) []string {
	var out []string
	for _, g := range list {
		out = append(out, fmt.Sprintf("GPU %d", g.Index))
	}
	return out
}
