package experiment

import (
	"gdsproof/internal/check"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
	"gdsproof/internal/witness"
)

var _ = check.Register(check.Check{
	ID:     "io-strict",
	Title:  "A run with compat mode off",
	Why:    "With compat mode off the library has no way around the direct path: it takes it, or fails.",
	Source: source,
	Step:   4,
	Needs:  []facts.Need{witness.Heard.Must()},
	Fix: []check.Fix{{
		Text:     "see why the library leaves the direct path: a short run with compat mode off and its log at TRACE, then look the log up",
		Commands: []string{"gdsproof explain cufile.log"},
		Changes:  "nothing",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		return tell(v, witness.Strict, anyWay, row{witness.OK: report.Pass, witness.Failed: report.Fail})
	},
})
