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
			if r.GiBs.OK && r.Moved() && r.Phase != facts.PhaseAll && r.Phase != facts.PhaseStrict && r.Phase != facts.PhaseWhy {
				how := "CPU"
				if r.GDS {
					how = "GDS asked"
				}
				one := fmt.Sprintf("%s (%s) %.2f GiB/s", r.Op, how, r.GiBs.V)
				if r.CPUSeconds.OK {
					one += fmt.Sprintf(", %.2f CPU s/GiB", r.CPUSeconds.V/(float64(r.Bytes.V)/(1<<30)))
				}
				said = append(said, one)
			}
		}
		if sum := together(check.Get(v, facts.Runs)); sum != "" {
			said = append([]string{sum}, said...)
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

// together sums what all GPUs did at once, beside what one did.
func together(runs []facts.Run) string {
	var out []string
	for _, op := range []string{"write", "read"} {
		sum, one, n := 0.0, 0.0, 0
		for _, r := range runs {
			switch {
			case r.Op != op || !r.GDS || !r.GiBs.OK:
			case r.Phase == facts.PhaseAll:
				sum, n = sum+r.GiBs.V, n+1
			case r.Phase == facts.PhaseWrite || r.Phase == facts.PhaseRead:
				one = max(one, r.GiBs.V)
			}
		}
		if n > 1 {
			out = append(out, fmt.Sprintf("%s of %d GPUs at once %.2f GiB/s (one alone %.2f)", op, n, sum, one))
		}
	}
	return strings.Join(out, ", ")
}
