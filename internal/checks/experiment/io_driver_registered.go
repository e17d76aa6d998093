package experiment

import (
	"gdsproof/internal/check"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "io-driver-registered",
	Title:  "Buffers in GPU memory were registered with the driver",
	Why:    "Each buffer of a GDS program is mapped through nvidia-fs (Mmap, Bar1-map). That is needed and not enough: a program can register its buffers and still do its I/O through the CPU.",
	Source: source,
	Step:   4,
	Needs:  []facts.Need{facts.DriverWindows.Must()},
	Fix: []check.Fix{{
		Text:     "run once with compat mode off: the library then says why it does not use the driver",
		Commands: []string{"gdsproof explain cufile.log"},
		Changes:  "nothing that stays",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		for _, w := range check.Get(v, facts.DriverWindows) {
			if w.Broken != "" || w.Phase == "control" {
				continue
			}
			mmap, bar := facts.Rise(w, facts.RowMmap, "ok"), facts.Rise(w, facts.RowBar1, "ok")
			if !mmap.OK {
				continue
			}
			a, b := w.Before.Counter(facts.RowMmap, "ok"), w.After.Counter(facts.RowMmap, "ok")
			switch {
			case mmap.V > 0 && w.Phase == "idle":
				return []check.Finding{check.NotKnown("the lines that the run printed", "Mmap %d to %d, Bar1-map +%d; whose buffers these were, and what became of the I/O, is not told", a.V, b.V, bar.V)}
			case mmap.V > 0:
				return []check.Finding{check.Pass("Mmap %d to %d, Bar1-map +%d", a.V, b.V, bar.V)}
			case w.Phase == "gds" || w.Phase == "mixed":
				return []check.Finding{check.NotKnown("a run with compat mode off and its log", "Mmap stayed at %d although GDS was asked for: no buffer was registered", a.V)}
			}
		}
		return []check.Finding{check.NotKnown(facts.NVFSProc+"/stats before and after a run that asks for GDS", "no look before and after a run shows Mmap")}
	},
})
