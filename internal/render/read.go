package render

import (
	"fmt"
	"sort"
	"strings"

	"gdsproof/internal/report"
)

// witnesses prints one line a witness: what it says, or, with -v, why it is silent.
func (t *text) witnesses(r *report.Report) {
	for i := range r.Verdict.Witnesses {
		w := &r.Verdict.Witnesses[i]
		if w.Says == "silent" && !t.o.Verbose && spoke(r) {
			continue
		}
		dir := ""
		if w.Direction != "both" {
			dir = w.Direction + ": "
		}
		t.linef("  %-8s  %s%s", w.Name, dir, line(w.Summary))
		if w.WouldSpeakIf != "" && (t.o.Verbose || w.Says == "silent" || w.Says == "moved") {
			t.linef("  %-8s  %s", "", t.p.dim("would tell more: "+line(w.WouldSpeakIf)))
		}
	}
}

// spoke tells whether any witness said something of the path.
func spoke(r *report.Report) bool {
	for _, w := range r.Verdict.Witnesses {
		if w.Says != "silent" {
			return true
		}
	}
	return false
}

// unknowns sums up what pasted outputs leave open: for each check one line would bury what they tell.
func (t *text) unknowns(r *report.Report) {
	by := map[string][]string{}
	var order []string
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Status != report.Unknown || f.BlockedBy != "" || !quietUnknown(r, f) {
			continue
		}
		need := string(f.Needed)
		if by[need] == nil {
			order = append(order, need)
		}
		by[need] = append(by[need], name(f))
	}
	if len(order) == 0 {
		return
	}
	sort.SliceStable(order, func(i, j int) bool { return len(by[order[i]]) > len(by[order[j]]) })
	t.linef("\n%s", t.p.bold("Not known, and what would tell"))
	for _, need := range order {
		ids := by[need]
		if len(ids) > 4 {
			ids = append(append([]string{}, ids[:4]...), fmt.Sprintf("and %d more", len(ids)-4))
		}
		t.linef("  %s: %s", strings.Join(ids, ", "), line(need))
	}
}

// quietUnknown: in what was pasted, a check of which nothing was seen.
func quietUnknown(r *report.Report, f *report.Finding) bool {
	return len(r.Inputs) > 0 && (len(f.Evidence) == 0 || strings.Contains(f.Summary, "not looked at"))
}

// inputs lists what was read.
func (t *text) inputs(r *report.Report) {
	if len(r.Inputs) == 0 {
		return
	}
	t.linef("\n%s", t.p.bold("Read"))
	kinds := map[string][]string{}
	var files []string
	for _, in := range r.Inputs {
		if !in.Recognised {
			continue
		}
		if kinds[in.Name] == nil {
			files = append(files, in.Name)
		}
		kinds[in.Name] = append(kinds[in.Name], in.What)
	}
	for _, f := range files {
		t.linef("  %s: %s", line(f), line(strings.Join(unique(kinds[f]), ", ")))
	}
	for _, in := range r.Inputs {
		switch {
		case in.Recognised:
		case in.FirstLine == 0:
			t.linef("  %s: %s", line(in.Name), line(in.What))
		case in.FirstLine == in.LastLine:
			t.linef("  %s, line %d: not recognised: %s", line(in.Name), in.FirstLine, short(line(in.Words)))
		default:
			t.linef("  %s, lines %d to %d: not recognised: %s", line(in.Name), in.FirstLine, in.LastLine, short(line(in.Words)))
		}
	}
}

func unique(list []string) []string {
	var out []string
	count := map[string]int{}
	for _, s := range list {
		if count[s]++; count[s] == 1 {
			out = append(out, s)
		}
	}
	for i, s := range out {
		if n := count[s]; n > 1 {
			out[i] = fmt.Sprintf("%s (%d times)", s, n)
		}
	}
	return out
}

func short(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
