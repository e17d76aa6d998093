package experiment

import (
	"gdsproof/internal/check"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
	"gdsproof/internal/witness"
)

var _ = check.Register(check.Check{
	ID:     "io-verified",
	Title:  "What was read is what was written",
	Why:    "A read that moves nothing, or moves something else, is counted like any other.",
	Source: source,
	Step:   4,
	Needs:  []facts.Need{witness.Heard.Must()},
	Fix: []check.Fix{{
		Text:     "write and read once more with comparison; if it repeats, stop using the direct path for data that matter and report it",
		Commands: []string{"/usr/local/cuda/gds/tools/gdsio -f FILE -d 0 -w 4 -s 1G -i 1M -x 0 -I 0 -V"},
		Changes:  "nothing that stays",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		if f := tell(v, witness.Data, anyWay, row{witness.OK: report.Pass, witness.Failed: report.Fail}); f != nil {
			return f
		}
		return []check.Finding{check.NotKnown("a run that verifies (gdsio -V, gdsio_verify, gdsproof prove)", "no run verified its data")}
	},
})
