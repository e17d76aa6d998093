package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gdsproof/internal/check"
	"gdsproof/internal/checks"
	"gdsproof/internal/collect"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
	"gdsproof/internal/profile"
	"gdsproof/internal/render"
	"gdsproof/internal/report"
	"gdsproof/internal/sim"
)

type checkFlags struct {
	fs         string
	steps      []int
	only, skip []string
}

func (a *app) checkCommand() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check",
		Short: "Look at the node, change nothing: ready, not-ready or unknown",
		Long: "check looks at the node and changes nothing. It answers ready, not-ready, unknown or not-applicable.\n" +
			"Opening /dev/nvidia-fs* makes the driver take references on storage modules for that moment; a child process\n" +
			"with a deadline does it.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.check(c.Context(), f) },
	}
	c.Flags().StringVar(&f.fs, "fs", "", "the file system in question, by its mount point or a folder on it")
	c.Flags().IntSliceVar(&f.steps, "step", nil, "only these steps (1 driver, 2 EFA, 3 platform)")
	c.Flags().StringSliceVar(&f.only, "only", nil, "only these checks")
	c.Flags().StringSliceVar(&f.skip, "skip", nil, "without these checks")
	_ = c.RegisterFlagCompletionFunc("only", completeChecks)
	_ = c.RegisterFlagCompletionFunc("skip", completeChecks)
	return c
}

func completeChecks(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	for _, c := range checks.All() {
		out = append(out, cobra.CompletionWithDesc(c.ID, c.Title))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) check(ctx context.Context, f checkFlags) error {
	sinks, err := a.g.sinks()
	if err != nil {
		return err
	}
	selected, err := f.choose(checks.Passive())
	if err != nil {
		return err
	}
	r, err := a.examine(ctx, f, selected)
	if err != nil {
		return err
	}
	if err := a.write(ctx, r, sinks); err != nil {
		return err
	}
	a.code = exitCode(endingOf(r), a.g.exitStyle, a.g.failOnWarn)
	return nil
}

// examine looks at the node and judges what was seen.
func (a *app) examine(ctx context.Context, f checkFlags, selected []*check.Check) (*report.Report, error) {
	if err := a.g.check(); err != nil {
		return nil, err
	}
	rules, err := a.rules(ctx)
	if err != nil {
		return nil, err
	}
	if f.fs != "" {
		if f.fs, err = absolute(f.fs); err != nil {
			return nil, usageError{err}
		}
	}
	began := time.Now()
	set, name, err := a.look(ctx, f, selected)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := a.keepEvidence(ctx, set); err != nil {
		return nil, err
	}
	r := judge(set, rules, selected)
	r.Node.Name = name
	r.Started = began.UTC().Truncate(time.Second)
	r.DurationSeconds = float64(time.Since(began).Milliseconds()) / 1000
	a.warnHangs(set)
	return r, nil
}

func (a *app) keepEvidence(ctx context.Context, set *evidence.Set) error {
	if a.g.saveEvidence == "" {
		return nil
	}
	b, err := set.Bytes()
	if err != nil {
		return err
	}
	return host.WriteFile(ctx, a.g.saveEvidence, b)
}

// throughLinks follows a link in the place of a file system's folder ("/data" to "/fsx"), by looks that do not touch
// what lies behind it.
func throughLinks(ctx context.Context, h host.Host, dir string) string {
	for range 8 {
		if dir == "" {
			break
		}
		st := h.Stat(ctx, dir)
		target, err := strconv.Unquote(facts.ParseStat(st.Out)["target"])
		if !st.OK() || err != nil || target == "" {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(dir), target)
		}
		dir = filepath.Clean(target)
	}
	return dir
}

// absolute makes a path absolute.
func absolute(p string) (string, error) {
	if filepath.IsAbs(p) {
		return filepath.Clean(p), nil
	}
	return filepath.Abs(p)
}

// choose picks the checks that the flags ask for.
func (f checkFlags) choose(all []*check.Check) ([]*check.Check, error) {
	for _, id := range slices.Concat(f.only, f.skip) {
		if check.ByID(id) == nil {
			return nil, usagef("no check %q: see gdsproof check --help", id)
		}
	}
	steps := map[int]bool{}
	for _, c := range all {
		steps[c.Step] = true
	}
	for _, s := range f.steps {
		if !steps[s] {
			return nil, usagef("--step %d: no check has this step", s)
		}
	}
	var out []*check.Check
	for _, c := range all {
		if (len(f.steps) == 0 || slices.Contains(f.steps, c.Step)) && (len(f.only) == 0 || slices.Contains(f.only, c.ID)) && !slices.Contains(f.skip, c.ID) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, usagef("no check is left by --step, --only and --skip")
	}
	return out, nil
}

// machine opens the node: the live one, or a simulated one with its name.
func (a *app) machine() (m host.Actor, name string, done func(), err error) {
	if spec, ok := strings.CutPrefix(a.g.node, "sim:"); ok {
		s, err := sim.New(spec)
		if err != nil {
			return nil, "", nil, usageError{err}
		}
		return s, a.g.node, func() {}, nil
	}
	l, err := host.NewLive("/")
	if err != nil {
		return nil, "", nil, err
	}
	return l, "", l.Close, nil
}

// look fills the evidence set from the node.
func (a *app) look(ctx context.Context, f checkFlags, selected []*check.Check) (*evidence.Set, string, error) {
	m, name, done, err := a.machine()
	if err != nil {
		return nil, "", err
	}
	defer done()
	return a.lookAt(ctx, m, name, f, selected), name, nil
}

func (a *app) lookAt(ctx context.Context, h host.Host, name string, f checkFlags, selected []*check.Check) *evidence.Set {
	set := &evidence.Set{Kind: evidence.Live}
	opts := facts.Options{FS: f.fs, InstanceType: a.g.instanceType, EFACount: a.g.efaCount, MinNVFS: a.g.minNVFS}
	if name != "" {
		set.Kind, set.Simulated = evidence.Sim, true
	} else {
		uid := os.Geteuid()
		opts.UID = &uid
		now := time.Now().UTC()
		set.Now = &now
	}
	// Judging and printing want a part of the time too.
	ctx, cancel := context.WithTimeout(ctx, a.g.timeout*9/10)
	defer cancel()
	f.fs = throughLinks(ctx, h, f.fs)
	opts.FS = f.fs
	set.Items = append([]evidence.Item{opts.Item()}, collect.Collect(ctx, h, f.fs, sources(selected))...)
	if i := set.Find(evidence.Host, facts.BootIDSource); i >= 0 && set.Items[i].OK() {
		set.Boot = strings.TrimSpace(string(set.Items[i].Out))
	}
	return set
}

// sources are the probes that the checks and their causes need, and those of the report's head.
func sources(selected []*check.Check) []string {
	out := []string{"identity", "pci", "nvidia-driver", "modules"}
	for _, c := range check.WithCauses(selected) {
		for _, n := range c.Needs {
			out = append(out, n.Sources...)
		}
	}
	return out
}

// judge makes the report of an evidence set.
func judge(set *evidence.Set, rules *profile.Profile, selected []*check.Check) *report.Report {
	t := facts.NewTable(set, rules)
	r := &report.Report{Tool: report.Tool{Name: "gdsproof", Version: Version()}}
	r.Node.Source, r.Node.Simulated = string(set.Kind), set.Simulated
	r.Node.Hostname = facts.Get(t, evidence.Host, facts.Hostname).V
	r.Node.Kernel = facts.Get(t, evidence.Host, facts.Kernel).V
	r.Node.InstanceType = facts.Get(t, evidence.Host, facts.InstanceType).V
	r.Findings = check.Only(selected, check.Run(check.WithCauses(selected), t, evidence.Host))
	r.Verdict = check.Verdict(selected, r.Findings, checks.NotApplicable(t))
	r.Normalise()
	return r
}

// warnHangs names every look that did not come back, also one that no check needed after all.
func (a *app) warnHangs(set *evidence.Set) {
	said := map[string]bool{}
	for _, it := range set.Items {
		why := strings.Join(strings.Fields(render.Clean(string(it.Err))), " ")
		if it.State != evidence.TimedOut || said[why] {
			continue // one hang can take many looks with it
		}
		said[why] = true
		fmt.Fprintf(a.stderr, "gdsproof: warning: %s: %s\n", render.Clean(it.Source), why)
	}
}
