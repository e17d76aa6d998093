package experiment

import (
	"gdsproof/internal/check"
	"gdsproof/internal/facts"
	"gdsproof/internal/witness"
)

var _ = check.Register(check.Check{
	ID:     "io-driver-reads",
	Title:  "Reads that the driver counted",
	Why:    "Reads with IO stats on, and Sparse Reads without, rise only for reads that entered the driver.",
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
		return counted(v, reads)
	},
})
