package experiment

import (
	"gdsproof/internal/check"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
	"gdsproof/internal/witness"
)

var _ = check.Register(check.Check{
	ID:     "io-control",
	Title:  "The driver's counters during a run through the CPU",
	Why:    "A run that does not ask for GDS must not move the driver's counters; if they move, somebody else uses them, and what they say of the other runs does not count.",
	Source: source,
	Step:   4,
	Needs:  []facts.Need{witness.Heard.Must()},
	Fix: []check.Fix{{
		Text:     "find out who else uses GDS on this host, and repeat the runs when it is idle",
		Commands: []string{"grep -E 'Active Process|Ops' /proc/driver/nvidia-fs/stats", "sudo fuser -v /dev/nvidia-fs*"},
		Changes:  "nothing that stays",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		return tell(v, witness.Control, anyWay, row{witness.Still: report.Pass, witness.Moved: report.Warn})
	},
})
