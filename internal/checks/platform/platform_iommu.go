package platform

import (
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "platform-iommu",
	Title:  "The IOMMU is off",
	Why:    "On x86 an IOMMU sends traffic between devices through the root complex or splits its mappings; GDS then is slow or fails. The report cannot tell pass-through from on.",
	Source: "NVIDIA GDS Installation and Troubleshooting Guide",
	Step:   3,
	Examples: map[string]string{
		"p5en":          "pass",
		"p5en,iommu-on": "warn",
		"laptop":        "skip",
	},
	After:   []string{"cufile-library", "cufile-config/" + refusedFile, "platform-verification"},
	Needs:   applies.GPUNeeds(facts.Platform.Must(), facts.IOMMU.Want()),
	Applies: applies.OnGPUNode,
	Fix: []check.Fix{{
		Text: "switch the IOMMU off on the kernel's command line and reboot; where it must stay (virtual machines), iommu=pt is the better evil",
		Commands: []string{
			"sudo cp -p /etc/default/grub /etc/default/grub.before",
			// The last word on the kernel's command line counts, so the former ones go first.
			`sudo sed -i -E '/^GRUB_CMDLINE_LINUX(_DEFAULT)?=/s/ *\b(intel_iommu|amd_iommu|iommu)=[A-Za-z0-9_,]*//g' /etc/default/grub`,
			`echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX amd_iommu=off intel_iommu=off"' | sudo tee -a /etc/default/grub`,
			"grep -rn iommu /etc/default/grub /etc/default/grub.d   # these two words alone should be left",
			"sudo update-grub   # or grub2-mkconfig -o /boot/grub2/grub.cfg",
			"sudo reboot",
		},
		Changes: "the kernel's command line; restarts the node",
		Undo:    "sudo cp -p /etc/default/grub.before /etc/default/grub && sudo update-grub && sudo reboot",
	}},
	Judge: func(v check.View) []check.Finding {
		p := check.Get(v, facts.Platform)
		on, off := []string{}, []string{}
		note := func(o facts.Opt[bool], text string) {
			switch {
			case o.OK && o.V:
				on = append(on, text)
			case o.OK:
				off = append(off, text)
			}
		}
		note(p.IOMMU, "IOMMU: "+p.IOMMUText)
		for _, g := range p.GPUs {
			note(g.IOMMU, "IOMMU State: "+g.IOMMUText)
		}
		arm := strings.HasPrefix(p.Arch, "aarch64") || strings.HasPrefix(p.Machine, "aarch64")
		switch {
		case len(on) > 0 && arm:
			return []check.Finding{check.With(check.Pass("the IOMMU is on, which is normal on this architecture"), quote(p, on[0]))}
		case len(on) > 0:
			return []check.Finding{check.With(check.Warn("%s", which(check.Maybe(v, facts.IOMMU))), quote(p, on[0]))}
		case len(off) == 0:
			return []check.Finding{check.NotKnown(wantWhole, "the report says nothing of the IOMMU in the part that was seen")}
		}
		return []check.Finding{check.With(check.Pass("the IOMMU is disabled"), quote(p, off[0]))}
	},
})

// which says what the kernel adds to the report's word for both states.
func which(k facts.Known[facts.IOMMUState]) string {
	switch {
	case k.OK && k.V.Translating() == facts.Yes:
		return "the IOMMU is on and translates addresses"
	case k.OK && k.V.On() == facts.Yes && k.V.Translating() == facts.No:
		return "the IOMMU is on in pass-through mode: better than translating, and still not guaranteed to work"
	}
	return "the IOMMU is on or in pass-through mode, which the report does not tell apart"
}
