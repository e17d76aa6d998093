package experiment

import (
	"fmt"
	"slices"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:      "io-wire-rails",
	Title:   "All interfaces that should carry data did",
	Why:     "One GPU uses the EFA interfaces near it, so a test with one GPU leaves the others still; with all GPUs at work an interface that carries next to nothing costs its share of the bandwidth.",
	Source:  source,
	Step:    4,
	Needs:   applies.LustreNeeds(facts.LNetWindows.Must()),
	Applies: applies.WithLustre,
	Fix: []check.Fix{{
		Text:     "see which interface it is, and its state and device",
		Commands: []string{"sudo lnetctl net show --net efa -v", "gdsproof check --only lnet-efa-up,lnet-efa-nid,efa-devices"},
		Changes:  "nothing",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		windows := slices.Clone(check.Get(v, facts.LNetWindows))
		// That with the most GPUs at work tells the most.
		slices.SortStableFunc(windows, func(a, b facts.Window[facts.LNetTraffic]) int { return gpusIn(b) - gpusIn(a) })
		for _, w := range windows {
			if w.Broken != "" {
				continue
			}
			gpus := gpusIn(w)
			var rises []facts.LNetRise
			sum := uint64(0)
			for _, r := range w.Before.Against(w.After) {
				if n := facts.LNetLND(r.Net); n == "efa" || n == "" {
					rises = append(rises, r)
					sum += r.Send + r.Recv
				}
			}
			if len(rises) < 2 || sum < 1000*uint64(len(rises)) {
				continue
			}
			even := sum / uint64(len(rises))
			var idle []string
			for i, r := range rises {
				if (r.Send+r.Recv)*10 < even {
					name := r.NID
					if name == "" {
						name = fmt.Sprintf("number %d", i+1)
					}
					idle = append(idle, fmt.Sprintf("%s (+%d)", name, r.Send+r.Recv))
				}
			}
			switch {
			case len(idle) == 0:
				return []check.Finding{check.Pass("all %d EFA interfaces carried data", len(rises))}
			case gpus >= 2*len(rises) || gpus >= 8:
				// As many GPUs at once as there are interfaces to share (each GPU is written and read).
				return []check.Finding{check.With(check.Warn("%d of %d EFA interfaces carried less than a tenth of an even share: %s", len(idle), len(rises), strings.Join(idle, ", ")), check.Bearing(v, facts.LNetWindows)...)}
			}
			return []check.Finding{check.Pass("%d of %d EFA interfaces carried the data, which is normal for one GPU: it uses those near it", len(rises)-len(idle), len(rises))}
		}
		return []check.Finding{check.NotKnown("lnetctl net show -v before and after a run that moves data", "no window shows enough traffic to compare the interfaces")}
	},
})

func gpusIn(w facts.Window[facts.LNetTraffic]) int {
	n := 0
	for _, r := range w.Runs {
		if r.GDS && r.Moved() {
			n++
		}
	}
	return n
}
