package experiment

import (
	"fmt"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "io-throughput",
	Title:  "How much and how fast (no proof of anything)",
	Why:    "Throughput is printed in compat mode too. GDS with one GPU and one file is often no faster than the CPU: the file system's stripes are the limit; its gain is CPU time, and all GPUs at once.",
	Source: source,
	Step:   4,
	Needs:  []facts.Need{facts.Runs.Must()},
	Fix: []check.Fix{{
		Text:     "nothing has to be mended for it; compare it with the limit of the file system, and with all GPUs at once",
		Commands: []string{"lfs getstripe FILE"},
		Changes:  "nothing that stays",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		var said []string
		for _, r := range check.Get(v, facts.Runs) {
			if r.GiBs.OK && r.Moved() {
				how := "CPU"
				if r.GDS {
					how = "GDS asked"
				}
				said = append(said, fmt.Sprintf("%s (%s) %.2f GiB/s", r.Op, how, r.GiBs.V))
			}
		}
		if len(said) == 0 {
			return []check.Finding{check.NotKnown("the result lines of gdsio", "no run says how fast it was")}
		}
		if len(said) > 6 {
			said = append(said[:6], fmt.Sprintf("and %d more", len(said)-6))
		}
		return []check.Finding{check.Pass("%s; reported, never a proof", strings.Join(said, ", "))}
	},
})
