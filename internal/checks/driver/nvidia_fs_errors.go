package driver

import (
	"fmt"
	"math"
	"slices"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
	"gdsproof/internal/profile"
)

// errorCounters are the driver's counters that stay 0 on a healthy node; what each means is in the knowledge base. A
// failing synchronous I/O shows only in io_state_err, and counts as ok elsewhere.
var errorCounters = []struct{ row, key string }{
	{facts.RowReads, "err"}, {facts.RowReads, "io_state_err"},
	{facts.RowWrites, "err"}, {facts.RowWrites, "io_state_err"}, {facts.RowWrites, "pg-cache-eio"},
	{facts.RowBatches, "err"}, {facts.RowMmap, "err"}, {facts.RowBar1, "err"},
	{facts.RowError, "cpu-gpu-pages"}, {facts.RowError, "sg-ext"}, {facts.RowError, "dma-map"}, {facts.RowError, "dma-ref"},
}

// meaningOf finds what is known of a counter: the row's own first, then the name that it shares with others.
func meaningOf(known []profile.Entry, row, key string) string {
	for _, name := range []string{row + " " + key, key} {
		for _, e := range known {
			if slices.Contains(e.Names, name) {
				return e.Text()
			}
		}
	}
	return ""
}

var _ = check.Register(check.Check{
	ID:     "nvidia-fs-errors",
	Title:  "The driver's error counters are 0",
	Why:    "An I/O that failed in the driver was retried through the CPU or given to the program as an error.",
	Source: "nvidia-fs source, nvfs-stat.c and nvfs-core.c",
	Step:   1,
	Examples: map[string]string{
		"p5en":                   "pass",
		"p5en,nvfs-errors":       "warn",
		"p5en,nvidia-fs-missing": "unknown",
		"laptop":                 "skip",
	},
	After:   []string{"nvidia-fs-loaded"},
	Needs:   applies.NVFSNeeds(facts.Stats.Must(), facts.Rules.Must()),
	Applies: applies.NVFS,
	Fix: []check.Fix{{
		Text:     "find the cause in the kernel log, then set the counters to 0 to see whether they rise again",
		Commands: []string{"sudo dmesg | grep -i -E 'nvidia-fs|nvfs|lustre|lnet'", "echo 0 | sudo tee /proc/driver/nvidia-fs/stats"},
		Changes:  "writing to the stats file sets the driver's counters to 0",
		Undo:     "none: the old counts are gone",
	}},
	Judge: func(v check.View) []check.Finding {
		s := check.Get(v, facts.Stats)
		var f check.Finding
		var known []profile.Entry
		bad, seen := 0, 0
		for _, c := range errorCounters {
			n := s.Counter(c.row, c.key)
			if !n.OK {
				continue
			}
			seen++
			if n.V == 0 {
				continue
			}
			bad++
			if known == nil {
				known, _ = check.Get(v, facts.Rules).Counters() // on a healthy node nobody needs them
			}
			meaning := meaningOf(known, c.row, c.key)
			if c.key == "dma-ref" && n.V > math.MaxUint32/2 {
				meaning += fmt.Sprintf(" (%d times: it counts down from 0)", 1<<32-n.V)
			}
			f.Evidence = append(f.Evidence, check.Quote(facts.NVFSProc+"/stats", fmt.Sprintf("%s: %s=%d: %s", c.row, c.key, n.V, meaning)))
		}
		switch {
		case bad > 0:
			w := check.Warn("%d of the driver's error counters are not 0 (since the module was loaded)", bad)
			w.Evidence = f.Evidence
			return []check.Finding{w}
		case !s.Counter(facts.RowReads, "io_state_err").OK || !s.Counter(facts.RowWrites, "io_state_err").OK || !s.Counter(facts.RowError, "dma-map").OK:
			return []check.Finding{check.NotKnown("the whole of "+facts.NVFSProc+"/stats", "the Reads, Writes and Error lines are not all there")}
		}
		text := ""
		if s.IOStats.OK && !s.IOStats.V {
			text = "; IO stats are disabled, which is the default: successful I/O is not counted"
		}
		return []check.Finding{check.With(check.Pass("all %d error counters are 0%s", seen, text), check.Quote(facts.NVFSProc+"/stats", "Error: all 0"))}
	},
})
