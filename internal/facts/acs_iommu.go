package facts

import (
	"strings"

	"gdsproof/internal/evidence"
)

// Sources of the IOMMU's state.
const (
	IOMMUClass      = "/sys/class/iommu"
	IOMMUGroups     = "/sys/kernel/iommu_groups"
	IOMMUGroupTypes = "/sys/kernel/iommu_groups/*/type" // folded: "12: DMA-FQ"
	CmdlineSource   = "/proc/cmdline"
	ACSBridgeSource = NVFSProc + "/bridges"
)

// IOMMUState is what the kernel says of its IOMMU: this knows pass-through from translation, gdscheck does not.
type IOMMUState struct {
	Units   Opt[[]string] // of the class: dmar0, ivhd0, smmu3.0x…; an empty one is known
	Groups  Opt[int]
	Types   map[string]int // groups by type: DMA, DMA-FQ, identity
	Cmdline Opt[[]string]  // the words of the kernel's command line that speak of an IOMMU
}

// On tells whether an IOMMU handles devices of this machine, translating or passing through.
func (s IOMMUState) On() Answer {
	switch {
	case s.Groups.OK && s.Groups.V > 0, s.Units.OK && len(s.Units.V) > 0:
		return Yes
	case s.Groups.OK:
		return No // without groups no device is behind one
	}
	return CannotTell
}

// Translating tells whether any device's addresses are translated, which is what costs GDS its way: identity groups
// pass through. Without the types the command line decides, where it speaks.
func (s IOMMUState) Translating() Answer {
	if on := s.On(); on != Yes {
		return on
	}
	if len(s.Types) > 0 {
		for t := range s.Types {
			if t != "identity" {
				return Yes
			}
		}
		return No
	}
	for _, w := range s.Cmdline.V {
		if w == "iommu=pt" || w == "iommu.passthrough=1" {
			return No
		}
	}
	return CannotTell
}

// ParseIOMMUCmdline picks the words of a kernel command line that set an IOMMU.
func ParseIOMMUCmdline(b []byte) []string {
	var out []string
	for line, whole := range rawLines(b) {
		words := strings.Fields(line)
		if !whole && len(words) > 0 && !strings.HasSuffix(line, " ") {
			words = words[:len(words)-1] // iommu=p of iommu=pt
		}
		for _, w := range words {
			key, _, _ := strings.Cut(w, "=")
			switch {
			case key == "iommu", key == "intel_iommu", key == "amd_iommu", key == "amd_iommu_intr", strings.HasPrefix(key, "iommu."),
				strings.HasPrefix(key, "arm-smmu"), key == "pci" && strings.Contains(w, "acs"), key == "pcie_acs_override":
				out = append(out, w)
			}
		}
	}
	return out
}

// IOMMU is the IOMMU's state.
var IOMMU = Define("iommu", []string{"iommu"}, func(in *In) Known[IOMMUState] {
	var s IOMMUState
	names := func(it *evidence.Item) Opt[[]string] {
		if it != nil && it.State == evidence.Absent {
			return Some[[]string](nil)
		}
		if !it.Complete() {
			return Opt[[]string]{}
		}
		return Some(ListedNames(it.Out))
	}
	s.Units = names(in.Item(evidence.ListSource(IOMMUClass)))
	if g := names(in.Item(evidence.ListSource(IOMMUGroups))); g.OK {
		s.Groups = Some(len(g.V))
	}
	if it := in.Item(IOMMUGroupTypes); it.Complete() {
		s.Types = map[string]int{}
		for _, t := range parseFolded(it) {
			s.Types[t]++
		}
	}
	if it := in.Item(CmdlineSource); it.OK() && !it.Truncated {
		s.Cmdline = Some(ParseIOMMUCmdline(append(append([]byte(nil), it.Out...), '\n')))
	}
	if s.On() == CannotTell && !s.Cmdline.OK {
		return Unknown[IOMMUState](in)
	}
	return Have(s)
})

// BridgesACS are the PCI bridges on which nvidia-fs found ACS enabled, in the order of its file.
type BridgesACS struct {
	Bridges []string
	Strange []string // lines that are no PCI address
	Cut     bool
}

// ParseACSBridges reads nvidia-fs's list: an address a line, and nothing at all where no bridge has it on. The
// driver looks once, when it is loaded.
func ParseACSBridges(b []byte) BridgesACS {
	var out BridgesACS
	for raw, whole := range rawLines(b) {
		line := strings.TrimSpace(raw)
		address, ok := pciAddress(line)
		switch {
		case line == "":
		case !whole && !ok:
			out.Cut = true
		case !ok:
			out.Strange = append(out.Strange, line)
		default:
			out.Bridges = append(out.Bridges, address)
		}
	}
	return out
}

// ACSBridges are the bridges of nvidia-fs's list; an empty list is known to be empty.
var ACSBridges = Define("acs-bridges", []string{"nvidia-fs-proc"}, func(in *In) Known[[]string] {
	it := in.Item(ACSBridgeSource)
	if !it.Complete() {
		return Unknown[[]string](in)
	}
	b := ParseACSBridges(it.Out)
	if b.Cut || len(b.Strange) > 0 {
		return Because[[]string](ACSBridgeSource+": not only PCI addresses in it", "the whole of "+ACSBridgeSource)
	}
	return Have(b.Bridges)
})
