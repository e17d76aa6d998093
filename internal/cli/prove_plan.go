package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gdsproof/internal/check"
	"gdsproof/internal/collect"
	"gdsproof/internal/evidence"
	"gdsproof/internal/explain"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
	"gdsproof/internal/load"
	"gdsproof/internal/proof"
	"gdsproof/internal/report"
)

// proveSizes are the numbers of the flags.
type proveSizes struct{ size, io uint64 }

func (f proveFlags) sizes() (s proveSizes, err error) {
	size := f.size
	if size == "" {
		size = map[bool]string{f.quick: "256M", f.full: "10G"}[true]
		if !f.quick && !f.full {
			size = "2G"
		}
	}
	if s.size, err = parseSize("--size", size); err != nil {
		return s, err
	}
	if s.io, err = parseSize("--io-size", f.ioSize); err != nil {
		return s, err
	}
	switch {
	case s.io%4096 != 0 || s.io > 1<<30:
		return s, usagef("--io-size %s: a multiple of 4K up to 1G: what is not aligned goes another way", f.ioSize)
	case s.size%s.io != 0:
		return s, usagef("--size %s: a multiple of --io-size (%s)", size, f.ioSize)
	case f.threads < 1 || f.threads > 1024:
		return s, usagef("--threads %d: from 1 to 1024", f.threads)
	case s.size/s.io < uint64(f.threads):
		return s, usagef("--size %s: less than one I/O for each of %d threads", size, f.threads)
	case f.engine != "auto" && f.engine != "cufile" && f.engine != "gdsio":
		return s, usagef("--engine %q: there are auto, cufile, gdsio", f.engine)
	case f.quick && f.allGPUs:
		return s, usagef("--quick leaves the phase of all GPUs out: take --all-gpus without it")
	}
	return s, nil
}

// parseSize reads 2G, 256M, 4K or bytes.
func parseSize(flag, s string) (uint64, error) {
	number, by := s, uint64(1)
	for _, u := range []struct {
		names []string
		by    uint64
	}{{[]string{"KiB", "K", "k"}, 1 << 10}, {[]string{"MiB", "M", "m"}, 1 << 20}, {[]string{"GiB", "G", "g"}, 1 << 30}, {[]string{"TiB", "T", "t"}, 1 << 40}} {
		for _, n := range u.names {
			if rest, ok := strings.CutSuffix(s, n); ok && by == 1 {
				number, by = rest, u.by
			}
		}
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || n == 0 || n > 1<<60/by {
		return 0, usagef("%s %q: a size such as 2G, 256M or 4K", flag, s)
	}
	return n * by, nil
}

// plan fills the runner's plan from what phase 0 saw. A reason not to start is part of the plan and no error.
func (a *app) plan(ctx context.Context, m host.Actor, f proveFlags, s proveSizes, set *evidence.Set, t *facts.Table, first *report.Report, r *proof.Runner) error {
	p := &r.Plan
	p.Size, p.IOSize, p.Threads = s.size, s.io, f.threads
	p.Control, p.Strict, p.Why, p.IOStats = !f.noControl, !f.noStrict, !f.quick, f.ioStats
	p.Pause, p.Without = time.Second, map[string]string{}
	if f.noStrict {
		p.Without[facts.PhaseStrict] = "--no-strict"
	}
	if f.noControl {
		p.Without[facts.PhaseControl] = "--no-control"
	}
	if f.quick {
		p.Pause, p.Early = 250*time.Millisecond, true
	}
	if host.Simulated(m) {
		p.Pause = 0
	}
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails (crypto/rand)
	p.Seed = binary.LittleEndian.Uint64(seed[:])
	f.fs = facts.Get(t, evidence.Host, facts.Asked).V.FS // as the look found it, links followed
	if st := m.Stat(ctx, f.fs); !host.Simulated(m) && st.State == evidence.Absent && !failed(first, "lustre-mounted") {
		return usagef("--fs %s: no such folder", f.fs)
	}
	p.Dir, p.FS = f.fs, f.fs
	if mt, ok := facts.Get(t, evidence.Host, facts.Mounts).V.At(f.fs); ok {
		p.FS, p.Lustre = mt.Dir, mt.Type == "lustre"
	}
	gpus := proof.GPUs(ctx, m)
	chosen := f.gpus
	if len(chosen) == 0 {
		chosen = []int{0}
	}
	slices.Sort(chosen)
	chosen = slices.Compact(chosen)
	for _, i := range chosen {
		if len(gpus) > 0 && (i < 0 || i >= len(gpus)) {
			return usagef("--gpu %d: this node has GPUs 0 to %d", i, len(gpus)-1)
		}
	}
	p.GPUs = pick(gpus, chosen)
	if (f.allGPUs || f.full) && len(gpus) > 1 {
		p.All = gpus
	}
	p.Engine, p.CPU, p.CannotStart = a.engines(ctx, m, f.engine, t)
	p.CannotStart = cannotStart(p, first, set)
	if p.Strict && p.CannotStart == "" {
		text, err := strictJSON(t, set)
		if err != nil {
			p.Strict, p.Without[facts.PhaseStrict] = false, "the configuration cannot be copied: "+err.Error()
			a.say("the run with compat mode off is left out: %s", p.Without[facts.PhaseStrict])
		}
		p.StrictJSON = text
	}
	return nil
}

func failed(r *report.Report, id string) bool {
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Check == id && f.Status == report.Fail {
			return true
		}
	}
	return false
}

func pick(gpus []facts.LoadGPU, chosen []int) []facts.LoadGPU {
	var out []facts.LoadGPU
	for _, i := range chosen {
		if i >= 0 && i < len(gpus) {
			out = append(out, gpus[i])
		}
	}
	return out
}

// engines finds what can move bytes here: libcufile itself first, since it tells what it did.
func (a *app) engines(ctx context.Context, m host.Actor, asked string, t *facts.Table) (e, cpu load.Engine, why string) {
	cpu = load.Own{Kind: "posix", M: m}
	libs := facts.Get(t, evidence.Host, facts.Libraries)
	if asked != "gdsio" {
		switch {
		case len(libs.V) > 0 && (load.HasCufile || host.Simulated(m)):
			return load.Own{Kind: "cufile", Library: libs.V[0].Path, M: m}, cpu, ""
		case asked == "cufile" && len(libs.V) > 0:
			return nil, nil, "this gdsproof cannot call libcufile itself: take --engine gdsio"
		case asked == "cufile":
			return nil, nil, "no libcufile was found"
		}
	}
	if tool := collect.FindGDSTool(ctx, m, "gdsio"); tool != "" {
		g := load.Gdsio{Path: tool, M: m}
		return g, g, ""
	}
	if asked == "gdsio" {
		return nil, nil, "gdsio is not installed (the package gds-tools of CUDA)"
	}
	return nil, nil, "nothing here can move bytes through cuFile: neither libcufile nor gdsio was found"
}

// cannotStart is the first reason for which no I/O can be tried.
func cannotStart(p *proof.Plan, first *report.Report, set *evidence.Set) string {
	if len(p.GPUs) == 0 {
		return "the NVIDIA driver shows no GPU (/proc/driver/nvidia/gpus)"
	}
	for i := range first.Findings {
		f := &first.Findings[i]
		if f.Status == report.Fail && (f.Check == "lustre-mounted" || f.Check == "lustre-answers") {
			return f.Check + ": " + f.Summary
		}
	}
	if p.CannotStart != "" {
		return p.CannotStart
	}
	i := set.Find(evidence.Host, evidence.StatfsSource(p.FS))
	if i < 0 || !set.Items[i].OK() {
		return ""
	}
	st := facts.ParseStat(set.Items[i].Out)
	block, err1 := strconv.ParseUint(st["bsize"], 10, 64)
	free, err2 := strconv.ParseUint(st["bavail"], 10, 64)
	need := p.Size * uint64(len(p.GPUs)+len(p.All))
	if err1 == nil && err2 == nil && block > 0 && free < need/block+1 {
		return fmt.Sprintf("no space: the test files need %d MiB, %s has %d MiB free", need>>20, p.FS, free*block>>20)
	}
	return ""
}

// strictJSON is a copy of what libcufile goes by for this caller, with compat mode off.
func strictJSON(t *facts.Table, set *evidence.Set) (string, error) {
	c := facts.Get(t, evidence.Host, facts.CufileConfig)
	var texts [][]byte
	add := func(f facts.CufileFile) {
		if i := set.Find(evidence.Host, f.Path); f.Read && i >= 0 {
			texts = append(texts, set.Items[i].Out)
		}
	}
	add(c.V.Etc)
	if c.V.Named != nil {
		add(*c.V.Named)
	}
	b, err := facts.StrictCufile(texts...)
	return string(b), err
}

// whyNot puts what libcufile's own log says of the cause beside the verdict: the line that tells most, and what it
// means. It becomes the first thing to do where no finding says more.
func whyNot(base *explain.Base, set *evidence.Set, r *report.Report) {
	var log []byte
	for i := range set.Items {
		if set.Items[i].Source == facts.PastedCufileLog && !strings.Contains(r.Verdict.Summary, "DATA WRONG") {
			log = append(log, set.Items[i].Out...)
		}
	}
	switch r.Verdict.Outcome {
	case report.Refuted, report.Mixed, report.Contradicted:
	default:
		return
	}
	if len(log) == 0 || r.Verdict.FirstAction == nil || !strings.HasPrefix(r.Verdict.FirstAction.Check, "io-") {
		return
	}
	line, meaning, remedy := tellingLine(base, log)
	if line == "" {
		return
	}
	r.Verdict.FirstAction.Text = fmt.Sprintf("libcufile's log says: %s (%s). %s", line, meaning, remedy)
	r.Verdict.FirstAction.Commands = []string{"gdsproof explain " + check.ShellWord(line)}
}

// settle says what would settle an experiment that proved nothing.
func settle(r *report.Report, p *proof.Plan) {
	if r.Verdict.Outcome != report.Unproven || r.Verdict.FirstAction != nil {
		return
	}
	again := "gdsproof prove --fs " + check.ShellWord(p.Dir)
	switch {
	case !p.Strict:
		r.Verdict.FirstAction = &report.Action{Check: "io-strict", Text: "let a run with compat mode off settle it: it takes the direct path or fails", Commands: []string{again}}
	case !p.IOStats:
		r.Verdict.FirstAction = &report.Action{Check: "io-driver-reads", Text: "let nvidia-fs count successful I/O during the experiment (as root; the switch is put back)", Commands: []string{"sudo " + again + " --io-stats"}}
	}
}

// progress shows how far a load is, on a terminal alone.
func (a *app) progress() func(load.Progress) {
	if a.g.quiet || !terminal(a.stderr) {
		return nil
	}
	return func(p load.Progress) {
		if p.Of > 0 {
			a.progressMu.Lock()
			defer a.progressMu.Unlock()
			a.progressShown = true
			fmt.Fprintf(a.stderr, "\r  GPU %d %s %3d %%", p.GPU, p.Op, p.Bytes*100/p.Of)
		}
	}
}

func (a *app) endProgress() {
	a.progressMu.Lock()
	defer a.progressMu.Unlock()
	if a.progressShown {
		fmt.Fprint(a.stderr, "\r\x1b[K")
		a.progressShown = false
	}
}

// keepLast keeps the result and its evidence for those who ask later: a prolog, an exporter, a bundle.
func (a *app) keepLast(ctx context.Context, r *proof.Runner, set *evidence.Set, rep *report.Report) {
	if r.Book == nil || ctx.Err() != nil { // what was stopped is no result for others
		return
	}
	var b bytes.Buffer
	err := writeLast(&b, set, rep)
	if err == nil {
		err = r.Book.SaveLast(r.Plan.FS, b.Bytes())
	}
	if err != nil {
		fmt.Fprintf(a.stderr, "gdsproof: warning: %v\n", err)
	}
}
