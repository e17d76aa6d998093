package facts

import (
	"bytes"
	"fmt"
	"strings"

	"gdsproof/internal/evidence"
)

// Runs is the I/O that is known to have been done, in no order but that of its steps.
var Runs = Define("runs", nil, func(in *In) Known[[]Run] {
	var out []Run
	plan, quoted := Use(in, Experiment), map[string]int{}
	for _, i := range in.looks(GdsioSource, DDSource) {
		it := in.item(i)
		list := gdsioRuns(it)
		if it.Source == DDSource {
			list = ddRuns(it)
		}
		if plan.OK {
			list = oneRun(list, it)
		}
		for _, r := range list {
			r.Item = i
			if plan.OK {
				r.Phase = plan.V.Phases[it.Step]
				r.Strict = r.Phase == PhaseStrict
				r.CompatOff = compatOffAt(in, it.Step)
			}
			if k, again := quoted[r.Line]; again && r.Once && in.Pasted() && (out[k].Item == i || !typedRun(it)) {
				// To the last digit of rate, latency and time, no two runs are alike: it is shown again. A place among
				// the looks is worth more than none.
				if strings.HasPrefix(in.item(out[k].Item).Series, evidence.Alone) && !strings.HasPrefix(it.Series, evidence.Alone) {
					out[k] = r
				}
				continue
			}
			quoted[r.Line] = len(out)
			out = append(out, r)
		}
	}
	for _, r := range Use(in, LoadResults).V {
		out = append(out, r.run())
	}
	if len(out) == 0 {
		return Because[[]Run]("no run of a load is in what was seen", "the lines that gdsio printed")
	}
	return Have(out)
})

// oneRun: in an experiment an item is one process, so that an error in it is of the run whose line stands beside it,
// and a line before a bad end is no end.
func oneRun(list []Run, it *evidence.Item) []Run {
	failed, code := "", Opt[int64]{}
	lines := 0
	for _, r := range list {
		if r.Failed != "" {
			failed, code = r.Failed, r.Code
		} else {
			lines++
		}
	}
	if failed == "" && it.Exit != nil && *it.Exit != 0 {
		failed = fmt.Sprintf("gdsio ended with status %d", *it.Exit)
	}
	if failed == "" || lines == 0 {
		return list
	}
	var out []Run
	for _, r := range list {
		if r.Failed == "" {
			r.Failed, r.Code = failed, code
			out = append(out, r)
		}
	}
	return out
}

// compatOffAt is what the log of the run of a step says that the library went by.
func compatOffAt(in *In, step int) Opt[bool] {
	for _, i := range in.looks(PastedCufileLog) {
		it := in.item(i)
		if it.Step != step {
			continue
		}
		t, err := ParseCufileTraffic(bytes.NewReader(it.Out))
		if err != nil || len(t.Processes) == 0 {
			continue
		}
		if p := t.Processes[len(t.Processes)-1]; p.UseCompat.OK {
			return Some(!p.UseCompat.V && !p.ForceCompat.V)
		}
	}
	return Opt[bool]{}
}

// typedAbove is the "$ command" that stands above an output.
func typedAbove(it *evidence.Item) string {
	first, _, _ := strings.Cut(string(it.Out), "\n")
	c, ok := strings.CutPrefix(first, "$ ")
	if !ok {
		return ""
	}
	return c
}

// typedRun tells that an output stands under the very command that made it: it is no quotation.
func typedRun(it *evidence.Item) bool {
	_, ok := ParseGdsioCommand(typedAbove(it))
	return ok
}

func gdsioRuns(it *evidence.Item) []Run {
	g := ParseGdsio(it.Out)
	c, known := ParseGdsioCommand(typedAbove(it))
	var out []Run
	for _, r := range g.Runs {
		if r.Cut && !r.DoneBytes.OK {
			continue
		}
		run := Run{Engine: "gdsio", Op: r.Op, GDS: r.GDS, CPU: r.CPU, Bytes: r.DoneBytes, Asked: r.AskedBytes, Ops: r.Ops, IOSize: r.IOSizeBytes, Threads: r.Threads, GiBs: r.GiBs, Line: r.Line,
			Once: r.GiBs.OK && r.LatencyUsec.OK && r.Seconds.OK && r.Ops.OK && r.DoneBytes.OK}
		if known {
			if run.Op == "" {
				run.Op = c.Op
			}
			if !run.GDS && !run.CPU && r.XferType == "" {
				run.GDS, run.CPU = c.GDS, c.CPU
			}
			run.Strict, run.File, run.GPU = strictAsked(c), c.File, gpuOf(c)
		}
		if len(r.Odd) > 0 {
			// A line that does not agree with itself was mangled on its way: its numbers are no testimony.
			run.Bytes, run.Ops, run.Failed = Opt[uint64]{}, Opt[uint64]{}, ""
		}
		out = append(out, run)
	}
	for _, e := range g.Errors {
		run := Run{Engine: "gdsio", Op: e.Op, GDS: true, Failed: e.Line, Code: e.Code, Line: e.Line}
		if known {
			if run.Op == "" {
				run.Op = c.Op
			}
			run.GDS, run.CPU, run.Strict, run.File, run.GPU = c.GDS, c.CPU, strictAsked(c), c.File, gpuOf(c)
		}
		out = append(out, run)
	}
	return out
}

func gpuOf(c GdsioCommand) string {
	if !c.GPU.OK {
		return ""
	}
	return fmt.Sprint(c.GPU.V)
}

// strictAsked tells that a command asked for compat mode off: by the switch, or by a configuration of its own.
func strictAsked(c GdsioCommand) bool {
	return strings.EqualFold(c.Env["CUFILE_ALLOW_COMPAT_MODE"], "false") || c.Env[CufilePathEnv] != ""
}

func ddRuns(it *evidence.Item) []Run {
	var out []Run
	for _, d := range ParseDD(it.Out) {
		r := Run{Engine: "dd", CPU: true, Bytes: Some(d.Bytes), Line: d.Line}
		if d.Command != nil {
			r.Op = d.Command.Op
			if r.File = d.Command.To; r.Op == "read" {
				r.File = d.Command.From
			}
		}
		if len(d.Odd) > 0 {
			r.Bytes = Opt[uint64]{}
		}
		out = append(out, r)
	}
	return out
}

// Verification is what a run said of the data it read.
type Verification struct {
	OK   bool
	Line string
	Item int
}

// Verifications are all that were said.
var Verifications = Define("verifications", nil, func(in *In) Known[[]Verification] {
	var out []Verification
	for _, i := range in.looks(GdsioSource) {
		g := ParseGdsio(in.item(i).Out)
		if g.Verified.OK {
			out = append(out, Verification{g.Verified.V, "gdsio's own comparison", i})
		}
	}
	for _, r := range Use(in, LoadResults).V {
		v := r.Verified
		if v == nil || v.Bytes == 0 {
			continue
		}
		said := Verification{OK: v.Wrong == 0, Item: r.Item, Line: fmt.Sprintf("%d MiB compared %s (phase %s)", v.Bytes>>20, v.How, r.Job.Phase)}
		if v.Wrong > 0 {
			said.Line = fmt.Sprintf("%d of %d bytes are not what was written (compared %s, phase %s)", v.Wrong, v.Bytes, v.How, r.Job.Phase)
			if v.First != nil {
				said.Line += fmt.Sprintf("; the first at offset %d", *v.First)
			}
		}
		out = append(out, said)
	}
	return Have(out)
})
