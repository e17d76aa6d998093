package driver

import (
	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
	"gdsproof/internal/profile"
)

var _ = check.Register(check.Check{
	ID:     "nvidia-fs-known-bad",
	Title:  "nvidia-fs is not a version with a known fault",
	Why:    "Some releases fail every I/O or mix up devices although all else is right.",
	Source: "nvidia-fs ChangeLog; rows known_bad of the profile",
	Step:   1,
	Examples: map[string]string{
		"p5en":                     "pass",
		"p5en,nvidia-fs-known-bad": "warn",
		"p5en,nvidia-fs-missing":   "unknown",
		"laptop":                   "skip",
	},
	After:   []string{"nvidia-fs-version"},
	Needs:   applies.NVFSNeeds(facts.PCIBus.Want(), facts.DriverVersion.Must(), facts.Rules.Must()),
	Applies: applies.NVFS,
	Fix:     []check.Fix{build},
	Judge: func(v check.View) []check.Finding {
		ver, pci := check.Get(v, facts.DriverVersion), check.Maybe(v, facts.PCIBus)
		line := check.Quote(ver.Source, ver.Line)
		var out []check.Finding
		note := ""
		for _, k := range check.Get(v, facts.Rules).KnownBad {
			if k.What != "nvidia-fs" {
				continue
			}
			in, known := inRange(ver, k)
			if known && !in {
				continue
			}
			if k.When == "multi-domain" && pci.OK && pci.V.Complete {
				if len(domains(pci.V)) < 2 {
					note = "; a fault of this version touches only hosts with several PCI domains, and this one has one"
					continue
				}
			} else if k.When == "multi-domain" {
				known = false
			}
			f := check.Warn("nvidia-fs %s: %s", ver.Text, k.Text)
			if !known {
				f = check.NotKnown("the NVFS Driver line of "+facts.NVFSProc+"/stats and the PCI bus", "nvidia-fs %s may be a version with a known fault: %s", ver.Text, k.Text)
			}
			f.Subject = k.ID
			out = append(out, check.With(f, line, check.Quote("known since "+k.Date, k.Origin.Source)))
		}
		if len(out) == 0 {
			out = append(out, check.With(check.Pass("nvidia-fs %s has no known fault that touches this node%s", ver.Text, note), line))
		}
		return out
	},
})

func inRange(v facts.NVFSVersion, k profile.KnownBad) (in, known bool) {
	if k.From != "" {
		yes, ok := atLeast(v, string(k.From))
		if !ok || !yes {
			return false, ok
		}
	}
	above, ok := atLeast(v, string(k.Below))
	return ok && !above, ok
}

func domains(p facts.PCI) map[string]bool {
	m := map[string]bool{}
	for _, d := range append(p.GPUs(), p.Peers()...) {
		m[d.Domain()] = true
	}
	return m
}
