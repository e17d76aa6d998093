package facts

import (
	"sort"
	"strconv"
	"strings"

	"gdsproof/internal/evidence"
)

// PCISource folds /sys/bus/pci/devices/*/uevent: one line a device, its address first, then KEY=value words.
const PCISource = "/sys/bus/pci/devices/*/uevent"

// PCIDevice is a device on the bus.
type PCIDevice struct {
	Address        string // 0000:53:00.0
	Vendor, Device uint16
	Class          uint32 // 24 bits
	Driver         string // "" if none is bound
	Bound          bool   // the driver is known to be named if there is one
	NUMA           Opt[int]
}

// PCI is the bus.
type PCI struct {
	Devices  []PCIDevice
	Complete bool
}

// PCI vendors and classes.
const (
	VendorNVIDIA = 0x10de
	VendorAmazon = 0x1d0f
	VendorMell   = 0x15b3
)

// IsGPU: nvidia-fs counts classes 0300 and 0302; an NVSwitch is 0680 and a GPU's audio 0403.
func (d PCIDevice) IsGPU() bool {
	return d.Vendor == VendorNVIDIA && (d.Class>>8 == 0x0300 || d.Class>>8 == 0x0302)
}

// IsEFA tells Elastic Fabric Adapters by their device ids.
func (d PCIDevice) IsEFA() bool {
	return d.Vendor == VendorAmazon && d.Device >= 0xefa0 && d.Device <= 0xefaf
}

// IsPeer: the classes that nvidia-fs puts into its table of peers.
func (d PCIDevice) IsPeer() bool {
	return d.Class>>8 == 0x0200 || d.Class>>8 == 0x0207 || d.Class == 0x010802
}

// Domain is the PCI domain.
func (d PCIDevice) Domain() string {
	dom, _, _ := strings.Cut(d.Address, ":")
	return dom
}

// GPUs returns NVIDIA's GPUs.
func (p PCI) GPUs() []PCIDevice { return p.pick(PCIDevice.IsGPU) }

// EFAs returns Elastic Fabric Adapters.
func (p PCI) EFAs() []PCIDevice { return p.pick(PCIDevice.IsEFA) }

// Peers returns what nvidia-fs takes for peers.
func (p PCI) Peers() []PCIDevice { return p.pick(PCIDevice.IsPeer) }

func (p PCI) pick(want func(PCIDevice) bool) []PCIDevice {
	var out []PCIDevice
	for _, d := range p.Devices {
		if want(d) {
			out = append(out, d)
		}
	}
	return out
}

// ParsePCIEvents reads the folded uevent files.
func ParsePCIEvents(b []byte) []PCIDevice {
	var out []PCIDevice
	for line := range strings.Lines(string(b)) {
		if !strings.HasSuffix(line, "\n") {
			break // a cut line has lost a part of its device
		}
		f := strings.Fields(line)
		if len(f) < 2 || strings.Count(f[0], ":") != 2 {
			continue
		}
		d := PCIDevice{Address: f[0], Bound: true}
		class, id := false, false
		for _, w := range f[1:] {
			k, v, _ := strings.Cut(w, "=")
			switch k {
			case "DRIVER":
				d.Driver = v
			case "PCI_CLASS":
				n, err := strconv.ParseUint(v, 16, 32)
				d.Class, class = uint32(n), err == nil
			case "PCI_ID":
				ven, dev, _ := strings.Cut(v, ":")
				vn, err1 := strconv.ParseUint(ven, 16, 16)
				dn, err2 := strconv.ParseUint(dev, 16, 16)
				d.Vendor, d.Device, id = uint16(vn), uint16(dn), err1 == nil && err2 == nil
			case "NUMA_NODE":
				if n, err := strconv.Atoi(v); err == nil {
					d.NUMA = Some(n)
				}
			}
		}
		if class && id {
			out = append(out, d)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Address < out[j].Address })
	return out
}

// PCIBus is the PCI bus.
var PCIBus = Define("pci", []string{"pci"}, func(in *In) Known[PCI] {
	it := in.Item(PCISource)
	if it.OK() {
		return Have(PCI{Devices: ParsePCIEvents(it.Out), Complete: it.Complete()})
	}
	if it != nil && it.State == evidence.Absent {
		// A machine without a PCI bus, or a container that hides it: no device is seen, none is excluded.
		return Because[PCI](PCISource+": there is no PCI bus to be seen", "a view of /sys/bus/pci")
	}
	return Unknown[PCI](in)
})
