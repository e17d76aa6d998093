package experiment

import (
	"fmt"
	"sort"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/facts"
)

// errorKeys count failures of I/O; a failing synchronous I/O counts as ok and shows in io_state_err alone.
var errorKeys = map[string][]string{
	facts.RowReads: {"err", "io_state_err"}, facts.RowWrites: {"err", "io_state_err", "pg-cache-fail", "pg-cache-eio"}, facts.RowMmap: {"err"}, facts.RowBar1: {"err"},
	facts.RowBatches: {"err"}, facts.RowError: {"cpu-gpu-pages", "sg-ext", "dma-map"},
}

var _ = check.Register(check.Check{
	ID:     "io-driver-errors",
	Title:  "No error was counted during the I/O",
	Why:    "An I/O that fails inside nvidia-fs can still return: the driver's error counters are where it shows.",
	Source: source,
	Step:   4,
	Needs:  []facts.Need{facts.DriverWindows.Must()},
	Fix: []check.Fix{{
		Text:     "look the counters up, and read the kernel log of that time",
		Commands: []string{"gdsproof explain io_state_err", "sudo dmesg | grep -i nvidia-fs"},
		Changes:  "nothing",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		var bad []string
		seen, run := false, false
		for _, w := range check.Get(v, facts.DriverWindows) {
			if w.Broken != "" {
				continue
			}
			run = run || w.Phase != "idle"
			for row, keys := range errorKeys {
				for _, k := range keys {
					r := facts.Rise(w, row, k)
					seen = seen || r.OK
					if r.OK && r.V > 0 {
						bad = append(bad, fmt.Sprintf("%s %s +%d", row, k, r.V))
					}
				}
			}
		}
		sort.Strings(bad)
		switch {
		case len(bad) > 0:
			return []check.Finding{check.With(check.Fail("errors were counted during the I/O: %s", strings.Join(bad, ", ")), check.Bearing(v, facts.DriverWindows)...)}
		case !seen:
			return []check.Finding{check.NotKnown("the whole of "+facts.NVFSProc+"/stats before and after", "no error counter was seen twice")}
		case !run:
			return []check.Finding{check.NotKnown("the lines that the run printed", "no error counter rose; no run is known to lie between the two looks")}
		}
		return []check.Finding{check.Pass("no error counter rose")}
	},
})
