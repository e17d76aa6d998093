package platform

import (
	"fmt"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

// smallBAR is the size of BAR1 without resizable BAR: it maps a small part of the memory, and a handful of registered
// buffers exhausts it.
const smallBAR = 256

var _ = check.Register(check.Check{
	ID:     "platform-bar",
	Title:  "BAR1 of the GPUs is large",
	Why:    "Devices reach GPU memory through BAR1; registration fails when it is used up, and libcufile falls back without a word.",
	Source: "NVIDIA GDS Installation and Troubleshooting Guide; gdscheck of releases 0.9 to 1.17",
	Step:   3,
	Examples: map[string]string{
		"p5en":           "pass",
		"p5en,bar-small": "warn",
		"laptop":         "skip",
	},
	After:   []string{"cufile-library", "cufile-config/" + refusedFile, "platform-verification"},
	Needs:   applies.GPUNeeds(facts.Platform.Must()),
	Applies: applies.OnGPUNode,
	Fix: []check.Fix{{
		Text:    "switch on above-4G decoding and resizable BAR in the firmware (data centre GPUs have a large BAR1 by themselves); use smaller or fewer buffers until then",
		Changes: "the firmware's set-up",
		Undo:    "the former set-up",
	}},
	Judge: func(v check.View) []check.Finding {
		p := check.Get(v, facts.Platform)
		var small []string
		smallLine := ""
		said, least := 0, uint64(0)
		for _, g := range p.GPUs {
			switch {
			case g.BARMiB.OK:
				said++
				if least == 0 || g.BARMiB.V < least {
					least = g.BARMiB.V
				}
				if g.BARMiB.V <= smallBAR {
					if len(small) == 0 {
						smallLine = g.Line
					}
					small = append(small, fmt.Sprintf("GPU %d: %d MiB", g.Index, g.BARMiB.V))
				}
			case g.BAR.OK && !g.BAR.V:
				said++ // a C2C machine needs no BAR1
			}
		}
		switch {
		case len(small) > 0:
			return []check.Finding{check.With(check.Warn("BAR1 of %d GPUs is %d MiB or less: %s", len(small), smallBAR, check.List(small, 4)), quote(p, smallLine))}
		case said == 0:
			return []check.Finding{check.NotKnown(wantWhole, "no GPU line with a BAR size was seen")}
		case least == 0:
			return []check.Finding{check.With(check.Pass("the GPUs are reached without a BAR1"), quote(p, p.GPUs[0].Line))}
		}
		return []check.Finding{check.With(check.Pass("BAR1 is %d MiB", least), quote(p, p.GPUs[0].Line))}
	},
})
