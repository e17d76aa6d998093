package efa

import (
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

var _ = check.Register(check.Check{
	ID:     "lustre-client",
	Title:  "The Lustre client and its EFA module are installed for the running kernel, and new enough",
	Why:    "After a kernel update the client's modules can be missing for the new kernel; clients before 2.15 have no EFA.",
	Source: "AWS FSx for Lustre User Guide, Configuring EFA clients; AWS EFA client set-up script",
	Step:   2,
	Examples: map[string]string{
		"p5en":                       "pass",
		"p6-b200":                    "pass",
		"p5en,lustre-client-missing": "fail",
		"laptop":                     "skip",
	},
	Needs:   applies.LustreNeeds(facts.Client.Must(), facts.Kefalnd.Want(), facts.Kernel.Want(), facts.InstanceType.Want(), facts.EFAQuestion.Want(), facts.Rules.Must()),
	Applies: applies.WithLustre,
	Fix: []check.Fix{{
		Text:     "install AWS's Lustre client (2.15) for the running kernel",
		Commands: []string{"uname -r", "sudo apt-get install -y lustre-client-modules-$(uname -r) lustre-client-utils   # Ubuntu", "sudo dnf install -y lustre-client   # Amazon Linux 2023"},
		Changes:  "installs kernel modules and tools",
		Undo:     "remove the packages",
	}},
	Judge: func(v check.View) []check.Finding {
		c, rules := check.Get(v, facts.Client), check.Get(v, facts.Rules)
		ev := check.Bearing(v, facts.Client)
		if len(ev) > 3 {
			ev = ev[:3]
		}
		one := func(f check.Finding) []check.Finding { return []check.Finding{check.With(f, ev...)} }
		loaded := c.Loaded.OK && c.Loaded.V
		if inst, asked := c.Installed["lustre"]; !loaded && asked && !inst {
			return one(check.Fail("the lustre module is not installed for the running kernel"))
		}
		if k := check.Maybe(v, facts.Kernel); !loaded && k.OK && c.Kernel["lustre"] != "" && c.Kernel["lustre"] != k.V {
			return one(check.Fail("the lustre module is built for kernel %s, and %s runs", c.Kernel["lustre"], k.V))
		}
		if !c.Version.OK {
			return one(check.NotKnown("lfs --version", "the Lustre client is there; nothing tells its version"))
		}
		if e := check.Maybe(v, facts.EFAQuestion); e.OK && e.V.Is == facts.No {
			return one(check.Pass("Lustre client %s; FSx's minimum is not asked for here: %s", c.Text, e.V.Why))
		}
		least, _ := rules.Minimum("lustre-client", "fsx-lustre")
		if f := atLeast("the Lustre client", facts.ModuleVersion{Version: c.Version.V, Text: c.Text, Source: c.Source}, string(least.Version)); f.Status != report.Pass {
			return []check.Finding{f}
		}
		if e := check.Maybe(v, facts.EFAQuestion); e.V.Is == facts.Yes {
			kef := check.Maybe(v, facts.Kefalnd)
			if inst, asked := c.Installed["kefalnd"]; asked && !inst && !kef.OK {
				return one(check.Fail("the Lustre client %s has no kefalnd, LNet's EFA module: it is not AWS's client, or not for this kernel", c.Text))
			}
			if t := check.Maybe(v, facts.InstanceType); t.OK && strings.HasPrefix(t.V, "p6") {
				if !kef.OK {
					return one(check.NotKnown("modinfo kefalnd", "the version of kefalnd is not known: %s", kef.Why))
				}
				least, _ := rules.Minimum("kefalnd", "p6")
				if f := atLeast("kefalnd", kef.V, string(least.Version)); f.Status != report.Pass {
					return []check.Finding{f}
				}
			}
		}
		return one(check.Pass("Lustre client %s", c.Text))
	},
})
