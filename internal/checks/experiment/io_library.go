package experiment

import (
	"gdsproof/internal/check"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
	"gdsproof/internal/witness"
)

var _ = check.Register(check.Check{
	ID:     "io-library",
	Title:  "The way that libcufile counts for its own I/O",
	Why:    "libcufile knows of every I/O whether it took nvidia-fs, PCI P2PDMA or the CPU, and says so in its statistics and in its log.",
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
		return tell(v, witness.Library, anyWay, row{witness.GDS: report.Pass, witness.P2PDMA: report.Pass, witness.Compat: report.Fail, witness.Mixed: report.Fail})
	},
})
