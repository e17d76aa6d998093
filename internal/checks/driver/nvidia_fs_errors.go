package driver

import (
	"fmt"
	"math"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

// errorCounters are the driver's counters that stay 0 on a healthy node. A failing synchronous I/O shows only in
// io_state_err, and counts as ok elsewhere.
var errorCounters = []struct{ row, key, meaning, remedy string }{
	{facts.RowReads, "err", "reads that the driver refused", "dmesg says which rule was broken (alignment, O_DIRECT, a replaced file)"},
	{facts.RowReads, "io_state_err", "reads that failed in the file system or in DMA", "look for the file system's errors in dmesg"},
	{facts.RowWrites, "err", "writes that the driver refused", "dmesg says which rule was broken (alignment, O_DIRECT, a replaced file)"},
	{facts.RowWrites, "io_state_err", "writes that failed in the file system or in DMA", "look for the file system's errors in dmesg"},
	{facts.RowWrites, "pg-cache-eio", "writes given up because pages of the file stayed dirty in the page cache", "do not mix buffered and direct writers of a file"},
	{facts.RowBatches, "err", "batches that were refused or not completed", "dmesg says why"},
	{facts.RowMmap, "err", "shadow buffers that could not be mapped", "memory of the host; buffers over 16 MiB in one piece"},
	{facts.RowBar1, "err", "GPU buffers that could not be pinned", "BAR1 of the GPU is exhausted, or the memory is not pinnable: smaller or fewer buffers"},
	{facts.RowError, "cpu-gpu-pages", "requests that mixed CPU and GPU pages", "report it with a bundle"},
	{facts.RowError, "sg-ext", "scatter lists without room", "a newer kernel"},
	{facts.RowError, "dma-map", "GPU memory mapped in more pieces than it has: an IOMMU is in the way", "IOMMU off or in pass-through mode"},
	{facts.RowError, "dma-ref", "GPU pages unmapped more often than mapped", "upgrade nvidia-fs and the storage client"},
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
	Needs:   applies.NVFSNeeds(facts.Stats.Must()),
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
			meaning := c.meaning
			if c.key == "dma-ref" && n.V > math.MaxUint32/2 {
				meaning += fmt.Sprintf(" (%d times: it counts down from 0)", 1<<32-n.V)
			}
			f.Evidence = append(f.Evidence, check.Quote(facts.NVFSProc+"/stats", fmt.Sprintf("%s: %s=%d: %s; %s", c.row, c.key, n.V, meaning, c.remedy)))
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
