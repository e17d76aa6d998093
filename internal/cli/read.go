package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"gdsproof/internal/check"
	"gdsproof/internal/checks"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/paste"
	"gdsproof/internal/profile"
	"gdsproof/internal/render"
	"gdsproof/internal/report"
	"gdsproof/internal/witness"
)

func (a *app) readCommand() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "read FILE|DIR|-...",
		Short: "Judge pasted outputs: what do they prove, and what is wrong?",
		Long: "read judges what somebody pasted, mailed or attached: any mixture of outputs of the commands of the guide, in files,\n" +
			"folders or on stdin, with prompts, quotes and colours around them, cut or filtered. It says what each part was taken\n" +
			"for, judges what can be judged, and answers unknown for the rest.\n" +
			"Several outputs of one kind are looks at the same counters at different times: first those whose name or heading says\n" +
			"before, then those without such a word, then those that say after; else in the order given. Files of a folder have no\n" +
			"other order. Lines of gdsio between two looks name the run.",
		Example: "  gdsproof read ticket.txt\n  gdsproof read stats_before.txt gdsio.log stats_after.txt\n  pbpaste | gdsproof read -",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("read: name a file, a folder or - (stdin)")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return a.read(c.Context(), f, args) },
	}
	c.Flags().StringVar(&f.fs, "fs", "", "the file system in question, by its mount point or a folder on it")
	c.Flags().IntSliceVar(&f.steps, "step", nil, "only these steps (1 driver, 2 EFA, 3 platform, 4 experiment)")
	c.Flags().StringSliceVar(&f.only, "only", nil, "only these checks")
	c.Flags().StringSliceVar(&f.skip, "skip", nil, "without these checks")
	_ = c.RegisterFlagCompletionFunc("only", completeChecks)
	_ = c.RegisterFlagCompletionFunc("skip", completeChecks)
	return c
}

func (a *app) read(ctx context.Context, f checkFlags, names []string) error {
	if err := a.g.check(); err != nil {
		return err
	}
	if a.g.node != "live" {
		return usagef("read: --node does not go with it; the outputs are the node")
	}
	sinks, err := a.g.sinks()
	if err != nil {
		return err
	}
	selected, err := f.choose(checks.All())
	if err != nil {
		return err
	}
	rules, err := a.rules(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	texts, err := a.texts(ctx, names)
	if err != nil {
		return err
	}
	set, pieces := paste.Read(texts)
	opts := facts.Options{FS: f.fs, InstanceType: a.g.instanceType, EFACount: a.g.efaCount, MinNVFS: a.g.minNVFS}
	set.Items = append([]evidence.Item{opts.Item()}, set.Items...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r := judgeRead(set, rules, selected)
	r.Inputs = inputs(texts, pieces)
	r.Started = began.UTC().Truncate(time.Second)
	r.DurationSeconds = float64(time.Since(began).Milliseconds()) / 1000
	r.Normalise()
	if err := a.write(ctx, r, sinks); err != nil {
		return err
	}
	a.code = exitCode(endingOf(r), a.g.exitStyle, a.g.failOnWarn)
	return nil
}

// judgeRead is judge with the witnesses heard first: they decide, and only where none can speak do the checks.
func judgeRead(set *evidence.Set, rules *profile.Profile, selected []*check.Check) *report.Report {
	r := judge(set, rules, selected)
	t := facts.NewTable(set, rules)
	c := facts.Get(t, evidence.Host, witness.CaseNow).V
	c.NotApplicable = checks.NotApplicable(t)
	looked := r.Verdict
	v := witness.Decide(facts.Get(t, evidence.Host, witness.Heard).V, c)
	if v.Outcome == report.Unproven && v.Reads == "" && v.Writes == "" && !v.Spoken && !facts.Get(t, evidence.Host, facts.Experiment).OK {
		byChecks(&v, looked, r.Findings, selected, facts.Get(t, evidence.Host, facts.Runs).OK)
	}
	otherMachines(&v, t)
	if v.Outcome != report.Proven && v.Outcome != report.NotApplicable {
		v.FirstAction = firstOf(looked.FirstAction, v.Outcome, r.Findings)
	}
	r.Verdict = v
	return r
}

// otherMachines takes proven back where the same texts show another machine on which it was not: the reader would take
// the word for all of them.
func otherMachines(v *report.Verdict, t *facts.Table) {
	if v.Outcome != report.Proven {
		return
	}
	seen := map[evidence.Place]bool{}
	for i := range t.Set.Items {
		p := t.Set.Items[i].Place
		name, other := p.Machine()
		if !other || seen[p] {
			continue
		}
		seen[p] = true
		o := witness.Decide(facts.Get(t, p, witness.Heard).V, facts.Get(t, p, witness.CaseNow).V)
		switch o.Outcome {
		case report.Refuted, report.Mixed, report.Contradicted, report.NotReady:
			v.Outcome = report.Unproven
			v.Summary += "; but on another machine (" + name + ") " + o.Summary
			return
		}
	}
}

// firstOf is what to do first. Where the path was not taken and no finding says why, a strict run finds the cause.
func firstOf(a *report.Action, o report.Outcome, findings []report.Finding) *report.Action {
	switch o {
	case report.Refuted, report.Mixed, report.Contradicted:
	default:
		return a
	}
	if a == nil || strings.HasPrefix(a.Check, "io-") {
		if c := likelyCause(findings); c != nil {
			a = c
		}
	}
	for i := range findings {
		if f := &findings[i]; a != nil && f.Check == a.Check && (f.Status == report.Fail || f.Status == report.Warn) {
			return a
		}
	}
	return &report.Action{Check: "io-strict", Text: "run once with compat mode off and the log at level TRACE: it fails where it would fall back, and the log says why",
		Commands: []string{
			"sed 's/\"allow_compat_mode\": true/\"allow_compat_mode\": false/; s/\"level\": \"ERROR\"/\"level\": \"TRACE\"/' /etc/cufile.json > /tmp/cufile.json",
			"cd /tmp && CUFILE_ENV_PATH_JSON=/tmp/cufile.json /usr/local/cuda/gds/tools/gdsio -f /fsx/gds_test -d 0 -w 4 -s 1G -i 1M -x 0 -I 0",
			"gdsproof read /tmp/cufile*.log",
		}}
}

// likelyCause is a setting that sends a part of the I/O through the CPU: only a warning by itself, and the cause where
// that was seen to happen.
func likelyCause(findings []report.Finding) *report.Action {
	for i := range findings {
		if f := &findings[i]; f.Check == "cufile-config" && f.Status == report.Warn && len(f.Fix) > 0 {
			return &report.Action{Check: f.Check, Text: f.Fix[0].Text, Commands: f.Fix[0].Commands}
		}
	}
	return nil
}

// byChecks is the answer where no witness speaks: a failed gate forbids GDS; all gates known and passed, and no I/O
// tried, is ready; all else is unproven, the commonest honest answer.
func byChecks(v *report.Verdict, looked report.Verdict, findings []report.Finding, selected []*check.Check, tried bool) {
	gate := map[string]bool{}
	for _, c := range selected {
		gate[c.ID] = c.Gate
	}
	var failed string
	known := true
	for i := range findings {
		f := &findings[i]
		if !gate[f.Check] {
			continue
		}
		switch f.Status {
		case report.Fail:
			if failed != "" {
				failed += ", "
			}
			failed += f.Check
		case report.Unknown:
			known = false
			if by := string(f.BlockedBy); by != "" && !strings.Contains(failed, by) { // it waits for a fault that was seen
				if failed != "" {
					failed += ", "
				}
				failed += by
			}
		}
	}
	switch {
	case failed != "":
		v.Outcome, v.Summary = report.NotReady, "failed: "+failed
	case known && !tried && looked.Outcome == report.Ready:
		v.Outcome, v.Summary = report.Ready, looked.Summary
	default:
		v.Summary = "nothing in these outputs shows which way the data went"
	}
}

// mostText is how much of a file is read; paste says so where it cuts.
const mostText = 33 << 20

// texts reads the named files, the files of named folders, and stdin.
func (a *app) texts(ctx context.Context, names []string) ([]paste.Text, error) {
	type end struct {
		texts []paste.Text
		err   error
	}
	done := make(chan end, 1)
	var now atomic.Value // the name of what is being read
	now.Store("")
	go func() { // a file may lie on a file system that hangs, or be a pipe that nobody writes
		var e end
		stdin := false
		for _, n := range names {
			now.Store(n)
			var list []paste.Text
			switch {
			case n == "-" && stdin:
				e.err = usagef("read: stdin is named twice")
			case n == "-":
				stdin = true
				list, e.err = readText("stdin", a.stdin)
			default:
				list, e.err = readPath(n)
			}
			if e.err != nil {
				break
			}
			e.texts = append(e.texts, list...)
		}
		done <- e
	}()
	late := time.NewTimer(a.g.timeout)
	defer late.Stop()
	select {
	case e := <-done:
		return e.texts, e.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late.C:
		name := now.Load().(string)
		if name == "-" {
			name = "stdin"
		}
		return nil, usagef("read %s: no end of it after %s (--timeout)", name, a.g.timeout)
	}
}

func readText(name string, r io.Reader) ([]paste.Text, error) {
	b, err := io.ReadAll(io.LimitReader(r, mostText))
	if err != nil {
		return nil, usageError{fmt.Errorf("read %s: %w", name, plain(err))}
	}
	return []paste.Text{{Name: name, Data: b, Given: true}}, nil
}

func readPath(name string) ([]paste.Text, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return nil, usageError{fmt.Errorf("read %s: %w", name, plain(err))}
	}
	if !fi.IsDir() {
		f, err := os.Open(name)
		if err != nil {
			return nil, usageError{fmt.Errorf("read %s: %w", name, plain(err))}
		}
		defer func() { _ = f.Close() }()
		return readText(name, f)
	}
	var files []string
	err = filepath.WalkDir(name, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() {
			files = append(files, p)
		}
		return nil
	})
	if err != nil {
		return nil, usageError{fmt.Errorf("read %s: %w", name, plain(err))}
	}
	if len(files) > mostFiles {
		return nil, usagef("read %s: %d files; name the ones that matter (at most %d)", name, len(files), mostFiles)
	}
	sort.Strings(files)
	var out []paste.Text
	for _, p := range files {
		list, err := readPath(p)
		if err != nil {
			return nil, err
		}
		list[0].Given = false
		out = append(out, list[0])
	}
	return out, nil
}

// mostFiles is how many files a folder may have: a wrong folder should not be read for minutes.
const mostFiles = 2000

// inputs lists what was read and what it was taken for.
func inputs(texts []paste.Text, pieces []paste.Piece) []report.Input {
	var out []report.Input
	seen := map[string]bool{}
	for _, p := range pieces {
		seen[p.Text] = true
		if p.Recognised && p.Source == "" {
			continue
		}
		if p.From == 0 && !p.Recognised { // a note on the whole text
			out = append(out, report.Input{Name: render.Clean(p.Text), What: p.What})
			continue
		}
		out = append(out, report.Input{Name: render.Clean(p.Text), FirstLine: p.From, LastLine: p.To, Recognised: p.Recognised, What: p.What, Words: render.Clean(p.Words)})
	}
	for _, t := range texts {
		if !seen[t.Name] {
			out = append(out, report.Input{Name: render.Clean(t.Name), What: "empty"})
		}
	}
	return out
}
