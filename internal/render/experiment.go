package render

import (
	"fmt"
	"strings"

	"gdsproof/internal/report"
)

// toldByWitness are findings that say what a witness has said already.
var toldByWitness = map[string]bool{"io-library": true, "io-driver-registered": true, "io-driver-reads": true, "io-driver-writes": true, "io-control": true,
	"io-wire-efa": true, "io-strict": true, "io-verified": true}

// experiment is the short text of a proof: a line a witness, what is wrong, and how many checks there were.
func (t *text) experiment(r *report.Report) {
	var names []string
	said := map[string][]string{}
	more := map[string]string{}
	for i := range r.Verdict.Witnesses {
		w := &r.Verdict.Witnesses[i]
		if said[w.Name] == nil {
			names = append(names, w.Name)
		}
		words := line(w.Summary)
		if w.Says == "silent" {
			words = "silent: " + words
		}
		if w.Direction != "both" && !strings.Contains(words, w.Direction+" ") {
			words = w.Direction + ": " + words
		}
		if seen := said[w.Name]; len(seen) == 0 || seen[len(seen)-1] != words {
			said[w.Name] = append(seen, words)
		}
		if w.WouldSpeakIf != "" && more[w.Name] == "" && (w.Says == "silent" || w.Says == "moved") {
			more[w.Name] = line(w.WouldSpeakIf)
		}
	}
	for _, n := range names {
		t.linef("  %-8s  %s", n, strings.Join(said[n], "; "))
		if more[n] != "" && r.Verdict.Outcome != report.Proven {
			t.linef("  %-8s  %s", "", t.p.dim("would tell more: "+more[n]))
		}
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Check == "io-throughput" && f.Status == report.Pass {
			t.linef("  %-8s  %s", "speed", line(f.Summary))
		}
	}
	first := true
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Status != report.Fail && f.Status != report.Warn || toldByWitness[f.Check] {
			continue
		}
		if first {
			t.linef("")
			first = false
		}
		word := fmt.Sprintf("%-4s", strings.ToUpper(string(f.Status)))
		t.linef("%s  %s  %s", t.p.status(f.Status, word), name(f), line(f.Summary))
	}
	t.linef("\n%s", t.p.dim(fmt.Sprintf("%d checks passed, %d warn, %d failed, %d are unknown, %d do not apply; -v shows them all",
		r.Count(report.Pass), r.Count(report.Warn), r.Count(report.Fail), r.Count(report.Unknown), r.Count(report.Skip))))
}
