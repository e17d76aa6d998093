package efa

import (
	"fmt"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

var _ = check.Register(check.Check{
	ID:     "kernel-log",
	Title:  "The kernel log holds no known line of trouble",
	Why:    "LNet, kefalnd, Lustre, the efa driver and nvidia-fs say in the kernel log what their states do not show.",
	Source: "rows signatures of the profile, from the drivers' sources",
	Step:   2,
	Examples: map[string]string{
		"p5en":                   "pass",
		"p5en,kernel-log-errors": "warn",
		"laptop":                 "skip",
	},
	Needs:   applies.LustreNeeds(facts.KLog.Must(), facts.Rules.Must()),
	Applies: applies.WithLustre,
	Fix: []check.Fix{{
		Text:     "read the lines around it in the kernel log",
		Commands: []string{"sudo journalctl -k -b | grep -i -E 'lnet|kefalnd|lustre|efa|nvidia-fs|nvfs|nvrm'"},
		Changes:  "nothing",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		log := check.Get(v, facts.KLog)
		var rules []facts.Signature
		for _, s := range check.Get(v, facts.Rules).Signatures {
			if s.Check == "" || s.Check == "kernel-log" {
				rules = append(rules, s)
			}
		}
		var out []check.Finding
		normal := 0
		for _, h := range log.Hits(rules) {
			if h.Signature.Level == "info" {
				normal += h.Count
				continue
			}
			st := report.Warn
			if h.Signature.Level == "fail" {
				st = report.Fail
			}
			f := check.Result(st, "%s (%s)", h.Signature.Meaning, times(h.Count))
			f.Subject = h.Signature.ID
			f.Evidence = check.QuoteHits(log.Source, []facts.Hit{h})
			f.Fix = []check.Fix{{Text: h.Signature.Remedy, Changes: "as it says", Undo: "none"}}
			out = append(out, f)
		}
		switch {
		case len(out) > 0:
			return out
		case !log.FromBoot:
			return []check.Finding{check.NotKnown("the kernel log since boot (journalctl -k -b)", "no known line of trouble, in a log that does not reach back to the boot")}
		}
		return []check.Finding{check.With(check.Pass("no known line of trouble since boot; %d known lines are normal", normal), check.Quote(log.Source, "none of the known lines"))}
	},
})

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
