package facts

import (
	"fmt"
	"path"
	"strings"

	"gdsproof/internal/evidence"
)

// Sources of the EFA side.
const (
	EFADevicesSource = "/sys/class/infiniband/*/device" // folded: "rdmap85s0: driver=efa device=0000:55:00.0"
	EFAModuleVersion = "/sys/module/efa/version"
)

// EFADevice is an RDMA device of the EFA driver.
type EFADevice struct {
	Name string // rdmap85s0, efa_0
	PCI  string
}

// Bus is the PCI bus of the device, which kefalnd puts into the NID's third octet.
func (d EFADevice) Bus() (byte, bool) {
	var dom, bus, dev, fn int
	if n, err := fmt.Sscanf(d.PCI, "%x:%x:%x.%x", &dom, &bus, &dev, &fn); n == 4 && err == nil && bus < 256 {
		return byte(bus), true
	}
	// rdma-core names a device by its bus in decimal.
	var slot int
	if n, err := fmt.Sscanf(d.Name, "rdmap%ds%d", &bus, &slot); n == 2 && err == nil && bus < 256 {
		return byte(bus), true
	}
	return 0, false
}

// RDMADevices are the RDMA devices of a node: EFA ones, and the names of those that are something else.
type RDMADevices struct {
	EFA    []EFADevice
	Others []string
}

// EFADevices are the RDMA devices, told by their driver. A kernel without the class has none.
var EFADevices = Define("efa-devices", []string{"efa-devices"}, func(in *In) Known[RDMADevices] {
	it := in.Item(EFADevicesSource)
	if it != nil && it.State == evidence.Absent {
		return Have(RDMADevices{})
	}
	if !it.OK() {
		return Unknown[RDMADevices](in)
	}
	if it.Truncated {
		return Because[RDMADevices](it.Source+": not every device could be read: "+strings.TrimSpace(string(it.Err)), "a readable "+it.Source)
	}
	var d RDMADevices
	for name, v := range parseFolded(it) {
		w := ParseStat([]byte(v))
		if w["driver"] == "efa" {
			d.EFA = append(d.EFA, EFADevice{Name: name, PCI: w["device"]})
		} else {
			d.Others = append(d.Others, name)
		}
	}
	sortBy(d.EFA, func(e EFADevice) string { return e.Name })
	sortBy(d.Others, func(s string) string { return s })
	return Have(d)
})

// Attached is how many EFA devices the instance has: those on the PCI bus, whether or not a driver runs them.
var Attached = Define("efa-attached", []string{"pci", "efa-devices"}, func(in *In) Known[int] {
	if p := Use(in, PCIBus); p.OK && p.V.Complete {
		return Have(len(p.V.EFAs()))
	}
	if d := Use(in, EFADevices); d.OK && len(d.V.EFA) > 0 {
		return Have(len(d.V.EFA))
	}
	return Unknown[int](in)
})

// ModuleVersion is the version of a module: the loaded one's, else that of the file that a boot would load.
type ModuleVersion struct {
	Version Version
	Text    string
	Source  string
	Loaded  bool
}

func moduleVersion(name, sysfs, module string, probe string) Key[ModuleVersion] {
	return Define(name, []string{probe}, func(in *In) Known[ModuleVersion] {
		if it := in.Item(sysfs); it.OK() && !it.Truncated {
			text := strings.TrimSpace(string(it.Out))
			if v, ok := ParseVersion(text); ok {
				return Have(ModuleVersion{v, text, sysfs, true})
			}
		}
		if it := in.Item("modinfo " + module); it.OK() {
			if m, ok := ParseModinfo(it.Out).Of(module); ok && m.Version != "" {
				if v, ok := ParseVersion(m.Version); ok {
					return Have(ModuleVersion{v, m.Version, it.Source, false})
				}
			}
		}
		return Unknown[ModuleVersion](in)
	})
}

// EFADriver and Kefalnd are the versions of the EFA driver and of LNet's EFA module.
var (
	EFADriver = moduleVersion("efa-driver", EFAModuleVersion, "efa", "efa-driver")
	Kefalnd   = moduleVersion("kefalnd", KefalndVersionFile, "kefalnd", "lustre-client")
)

// Sources of the client's set-up.
const (
	ConfigureUnitName = "configure-efa-fsx-lustre-client.service"
	ConfigureJournal  = "journalctl -u " + ConfigureUnitName + " -b"
	GDSFlag           = "--optimized-for-gds"
)

// UnitSource is the source of a unit's properties.
func UnitSource(unit string) string { return "systemctl show " + unit }

// MountUnit is the name of a mount point's unit (systemd-escape --path --suffix=mount).
func MountUnit(dir string) string {
	dir = strings.Trim(path.Clean(dir), "/")
	if dir == "" || dir == "." {
		return "-.mount"
	}
	var b strings.Builder
	for i := range len(dir) {
		c := dir[i]
		switch {
		case c == '/':
			b.WriteByte('-')
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == ':', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	return b.String() + ".mount"
}

// ConfigureUnit is the unit that attaches the EFA interfaces to LNet at boot.
var ConfigureUnit = Define("efa-service", []string{"efa-service"}, func(in *In) Known[UnitAnswer] {
	it := in.All(UnitSource(ConfigureUnitName))
	if it != nil && it.State == evidence.Absent {
		return Because[UnitAnswer]("there is no systemctl: the service cannot be asked for", "how the client is configured at boot here")
	}
	if !it.OK() {
		return Unknown[UnitAnswer](in)
	}
	s := ParseSystemctl(append(append([]byte(nil), it.Out...), it.Err...))
	if s.NoSystemd {
		return Because[UnitAnswer]("systemd does not run here", "a look at the host, if this is a container")
	}
	u, ok := s.Of(ConfigureUnitName)
	if !ok || u.LoadState == "" && u.ActiveState == "" {
		return Unknown[UnitAnswer](in)
	}
	return Have(u)
})

// SetupLog is what the set-up script said in its journal.
var SetupLog = Define("efa-setup", []string{"efa-service"}, func(in *In) Known[EFASetup] {
	it := in.All(ConfigureJournal)
	if !it.OK() || len(it.Out) == 0 {
		return Unknown[EFASetup](in)
	}
	return Have(ParseEFASetup(it.Out))
})
