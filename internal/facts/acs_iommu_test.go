package facts

import (
	"reflect"
	"strings"
	"testing"

	"gdsproof/internal/evidence"
)

func TestIOMMU(t *testing.T) {
	units, groups := evidence.ListSource(IOMMUClass), evidence.ListSource(IOMMUGroups)
	for name, c := range map[string]struct {
		items           map[string]string
		on, translating Answer
	}{
		"off":                      {map[string]string{units: "", groups: "", CmdlineSource: "root=/dev/sda quiet\n"}, No, No},
		"no folder of groups":      {map[string]string{units: "-", groups: "-"}, No, No},
		"translating":              {map[string]string{units: "dmar0@\ndmar1@\n", groups: "0/\n1/\n", IOMMUGroupTypes: "0: identity\n1: DMA-FQ\n"}, Yes, Yes},
		"passing through":          {map[string]string{units: "ivhd0@\n", groups: "0/\n1/\n", IOMMUGroupTypes: "0: identity\n1: identity\n"}, Yes, No},
		"pass-through by the boot": {map[string]string{groups: "0/\n", CmdlineSource: "iommu=pt intel_iommu=on\n"}, Yes, No},
		"on, how is not known":     {map[string]string{groups: "0/\n", CmdlineSource: "quiet\n"}, Yes, CannotTell},
		"the command line alone":   {map[string]string{CmdlineSource: "intel_iommu=on\n"}, CannotTell, CannotTell},
		"a class without units":    {map[string]string{units: "", CmdlineSource: "quiet\n"}, CannotTell, CannotTell},
	} {
		k := Get(platformTable(t, c.items), evidence.Host, IOMMU)
		if !k.OK || k.V.On() != c.on || k.V.Translating() != c.translating {
			t.Errorf("%s: %+v: on %v, translating %v", name, k, k.V.On(), k.V.Translating())
		}
	}
	if k := Get(platformTable(t, nil), evidence.Host, IOMMU); k.OK || k.Why == "" {
		t.Errorf("%+v", k)
	}
}

func TestIOMMUCmdline(t *testing.T) {
	line := "BOOT_IMAGE=/vmlinuz iommu=pt intel_iommu=on,sm_on noiommu_x iommu.strict=0 pci=noacs,realloc arm-smmu.disable_bypass=0 pcie_acs_override=downstream pci=realloc"
	want := []string{"iommu=pt", "intel_iommu=on,sm_on", "iommu.strict=0", "pci=noacs,realloc", "arm-smmu.disable_bypass=0", "pcie_acs_override=downstream"}
	if got := ParseIOMMUCmdline([]byte(line + "\n")); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	for i := range line {
		if got := ParseIOMMUCmdline([]byte(line[:i])); !beginning(got, want) {
			t.Errorf("cut at %d: %q", i, got)
		}
	}
}

func TestACSBridges(t *testing.T) {
	text := "0000:00:01.0\n0000:C0:03.1\n10000:e1:00.0\n"
	want := []string{"0000:00:01.0", "0000:c0:03.1", "10000:e1:00.0"}
	if got := ParseACSBridges([]byte(text)); !reflect.DeepEqual(got, BridgesACS{Bridges: want}) {
		t.Errorf("%+v", got)
	}
	for name, b := range disfigured(text) {
		if got := ParseACSBridges(b); !reflect.DeepEqual(got.Bridges, want) || got.Cut || got.Strange != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for i := range text {
		got := ParseACSBridges([]byte(text[:i]))
		lines := len(got.Bridges)
		if got.Cut {
			lines++
		}
		if !beginning(got.Bridges, want) || got.Strange != nil || lines != len(strings.Fields(text[:i])) {
			t.Errorf("cut at %d: %+v", i, got)
		}
	}
	for text, known := range map[string]bool{"": true, "0000:00:01.0\n": true, "cat: permission denied\n": false, "0000:00": false} {
		if k := Get(platformTable(t, map[string]string{ACSBridgeSource: text}), evidence.Host, ACSBridges); k.OK != known || known && len(k.V) != strings.Count(text, "\n") {
			t.Errorf("%q: %+v", text, k)
		}
	}
	if k := Get(platformTable(t, map[string]string{ACSBridgeSource: "-"}), evidence.Host, ACSBridges); k.OK {
		t.Errorf("without the file no bridge is known: %+v", k)
	}
	for name, b := range capturedFiles(t, "nvidia-fs-driver") {
		if got := ParseACSBridges(b); strings.Contains(name, "bridges") && (got.Strange != nil || len(got.Bridges) != strings.Count(string(b), "\n")) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func FuzzPlatformFiles(f *testing.F) {
	f.Add([]byte("0000:00:01.0\n"))
	f.Add([]byte("quiet iommu=pt\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, w := range ParseIOMMUCmdline(b) {
			if !strings.Contains(string(b), w) {
				t.Fatalf("%q", w)
			}
		}
		for _, a := range ParseACSBridges(b).Bridges {
			if again, ok := pciAddress(a); !ok || again != a {
				t.Fatalf("%q", a)
			}
		}
	})
}
