package platform

import (
	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "platform-acs",
	Title:  "No PCI bridge has ACS on",
	Why:    "With Access Control Services on, traffic between devices below one switch goes up to the root complex and back: slower, and sometimes not at all.",
	Source: "NVIDIA GDS Installation and Troubleshooting Guide",
	Step:   3,
	Examples: map[string]string{
		"p5en":        "pass",
		"p5en,acs-on": "warn",
		"laptop":      "skip",
	},
	Needs:   applies.GPUNeeds(facts.Platform.Want(), facts.ACSBridges.Want()),
	Applies: applies.OnGPUNode,
	Fix:     []check.Fix{switchOff([]string{"BRIDGE"})},
	Judge: func(v check.View) []check.Finding {
		f := acs(v)
		if bridges := acsBridges(v); len(bridges) > 0 {
			f.Fix = []check.Fix{switchOff(bridges)}
		}
		return []check.Finding{f}
	},
})

// acsBridges are the bridges with ACS on, as the report or the driver names them.
func acsBridges(v check.View) []string {
	if p := check.Maybe(v, facts.Platform); p.OK && len(p.V.ACS) > 0 {
		return p.V.ACS
	}
	return check.Maybe(v, facts.ACSBridges).V
}

// switchOff has a command for each bridge: what is written to it stays until the next boot.
func switchOff(bridges []string) check.Fix {
	fix := check.Fix{
		Text:    "switch ACS off in the firmware, or on each bridge until the next boot; in a virtual machine it is the host's affair",
		Changes: "how the bridges route traffic between devices, until the next boot",
		Undo:    "reboot",
	}
	for _, b := range bridges {
		fix.Commands = append(fix.Commands, "sudo setpci -s "+check.ShellWord(b)+" ECAP_ACS+6.w=0000")
	}
	return fix
}

func acs(v check.View) check.Finding {
	p, b := check.Maybe(v, facts.Platform), check.Maybe(v, facts.ACSBridges)
	switch {
	case p.OK && len(p.V.ACS) > 0:
		return check.With(check.Warn("ACS is on at %d PCI bridges: %s", len(p.V.ACS), check.List(p.V.ACS, 4)), quote(p.V, "Found ACS enabled for switch "+check.List(p.V.ACS, 4)))
	case b.OK && len(b.V) > 0:
		return check.With(check.Warn("ACS is on at %d PCI bridges: %s", len(b.V), check.List(b.V, 4)), check.Quote(facts.ACSBridgeSource, check.List(b.V, 4)))
	case b.OK:
		return check.With(check.Pass("no PCI bridge has ACS on"), check.Quote(facts.ACSBridgeSource, "empty"))
	case p.OK && p.V.Whole(facts.GDSPlatform) && !p.V.Partial:
		return check.With(check.Pass("the report names no bridge with ACS on"), quote(p.V, p.V.VerifiedLine))
	}
	need := wantWhole + ", or " + facts.NVFSProc + "/bridges"
	return check.NotKnown(need, "nothing looked at tells of ACS")
}
