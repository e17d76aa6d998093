package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"gdsproof/internal/report"
)

// TextOptions say how much is printed.
type TextOptions struct {
	Color   bool
	Verbose bool
	Quiet   bool // the verdict line alone
}

// Steps name the steps of the guide.
var Steps = map[int]string{1: "the GDS driver (nvidia-fs)", 2: "EFA of the FSx client", 3: "the platform", 4: "the experiment", 5: "inside the container"}

// needRoot is the need that findings of an unprivileged look share; it is summed up in one line.
const needRoot = "run as root"

// Text prints a report for people.
func Text(w io.Writer, r *report.Report, o TextOptions) error {
	t := &text{p: palette{o.Color}, o: o}
	if r.Node.Simulated {
		name := r.Node.Name
		if name == "" {
			name = r.Node.Hostname
		}
		t.linef("%s  %s: nothing below was measured on a real machine", t.p.bold("SIMULATED"), line(name))
	}
	t.linef("%s  %s", t.p.outcome(r.Verdict.Outcome, strings.ToUpper(string(r.Verdict.Outcome))), line(r.Verdict.Summary))
	if !o.Quiet {
		t.node(r)
		if r.Experiment && !o.Verbose {
			t.experiment(r)
		} else {
			t.witnesses(r)
			t.findings(r)
		}
		if o.Verbose {
			t.judgement(r)
		}
		t.action(r)
		t.inputs(r)
	}
	_, err := w.Write(t.b.Bytes())
	return err
}

type text struct {
	b bytes.Buffer
	p palette
	o TextOptions
}

func (t *text) linef(format string, a ...any) { fmt.Fprintf(&t.b, format+"\n", a...) }

func (t *text) node(r *report.Report) {
	var w []string
	for _, s := range []string{r.Node.Hostname, r.Node.InstanceType} {
		if s != "" {
			w = append(w, line(s))
		}
	}
	if r.Node.Kernel != "" {
		w = append(w, "kernel "+line(r.Node.Kernel))
	}
	if len(w) > 0 {
		t.linef("  %s", t.p.dim(strings.Join(w, ", ")))
	}
}

func (t *text) findings(r *report.Report) {
	width := 0
	for i := range r.Findings {
		width = max(width, len(name(&r.Findings[i])))
	}
	step := 0
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Status == report.Unknown && f.BlockedBy == "" && !t.o.Verbose && quietUnknown(r, f) {
			continue
		}
		if f.Step != step {
			step = f.Step
			t.linef("\n%s", t.p.bold(fmt.Sprintf("Step %d: %s", step, Steps[step])))
			if t.allSkipped(r, step) {
				continue
			}
		}
		if t.allSkipped(r, step) {
			continue
		}
		word := fmt.Sprintf("%-7s", string(f.Status))
		if f.Status == report.Fail || f.Status == report.Warn {
			word = strings.ToUpper(word)
		}
		summary := line(f.Summary)
		if f.BlockedBy != "" {
			summary = "waits for " + string(f.BlockedBy)
			if t.o.Verbose {
				summary += ": " + line(f.Summary)
			}
		}
		t.linef("  %s  %s  %s", t.p.status(f.Status, word), pad(name(f), width), summary)
		if f.Status == report.Unknown && f.BlockedBy == "" && f.Needed != "" && f.Needed != needRoot {
			t.linef("  %7s  %s  needed: %s", "", pad("", width), line(string(f.Needed)))
		}
		if t.o.Verbose || f.Status == report.Fail || f.Status == report.Warn {
			for _, e := range f.Evidence {
				for _, l := range strings.Split(strings.TrimRight(Clean(e.Text), "\n"), "\n") {
					t.linef("  %7s  %s", "", t.p.dim(line(e.Source)+" | "+strings.TrimRight(l, " \t")))
				}
			}
		}
		if t.o.Verbose {
			t.linef("  %7s  why: %s", "", line(f.Why))
			for _, x := range f.Fix {
				t.fix("           ", "fix", x)
			}
		}
	}
	if !t.o.Verbose {
		t.unknowns(r)
	}
	if n := count(r, func(f *report.Finding) bool { return f.Status == report.Unknown && f.Needed == needRoot }); n > 0 {
		t.linef("\nRun as root: %d unknown become known.", n)
	}
}

// allSkipped prints the one reason that a whole step is skipped for, and tells that it was so.
func (t *text) allSkipped(r *report.Report, step int) bool {
	reason, n := "", 0
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Step != step {
			continue
		}
		if f.Status != report.Skip || n > 0 && f.Summary != reason {
			return false
		}
		reason = f.Summary
		n++
	}
	if n > 1 {
		if !bytes.HasSuffix(t.b.Bytes(), []byte(skipLine(n, reason))) {
			t.b.WriteString(skipLine(n, reason))
		}
		return true
	}
	return false
}

func skipLine(n int, reason string) string {
	return fmt.Sprintf("  skip     %d checks: %s\n", n, line(reason))
}

func (t *text) action(r *report.Report) {
	a := r.Verdict.FirstAction
	if a == nil {
		return
	}
	t.linef("\n%s %s", t.p.bold("Do this first ("+a.Check+"):"), line(a.Text))
	for _, c := range a.Commands {
		t.linef("    %s", line(c))
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Check != a.Check || len(f.Fix) == 0 {
			continue
		}
		if c := f.Fix[0].Changes; c != "" && c != "nothing" {
			t.linef("  %s", t.p.dim("changes: "+line(c)))
		}
		for _, x := range f.Fix[1:] {
			t.fix("  ", "if that does not do", x)
		}
		return
	}
}

func (t *text) fix(indent, word string, x report.Fix) {
	t.linef("%s%s: %s", indent, word, line(x.Text))
	for _, c := range x.Commands {
		t.linef("%s  %s", indent, line(c))
	}
	if t.o.Verbose {
		if x.Changes != "" {
			t.linef("%schanges: %s", indent, line(x.Changes))
		}
		if x.Undo != "" {
			t.linef("%sundo: %s", indent, line(x.Undo))
		}
	}
}

func name(f *report.Finding) string {
	if f.Subject != "" {
		return f.Check + " " + line(f.Subject)
	}
	return f.Check
}

func pad(s string, width int) string { return fmt.Sprintf("%-*s", width, s) }

func count(r *report.Report, want func(*report.Finding) bool) int {
	n := 0
	for i := range r.Findings {
		if want(&r.Findings[i]) {
			n++
		}
	}
	return n
}
