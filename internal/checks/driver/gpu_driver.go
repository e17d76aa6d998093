package driver

import (
	"fmt"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var openDriver = check.Fix{
	Text:     "install NVIDIA's driver with the open kernel modules and reboot",
	Commands: []string{"sudo apt-get install -y nvidia-open || sudo dnf install -y nvidia-open", "sudo reboot"},
	Changes:  "replaces the NVIDIA kernel driver and restarts the node",
	Undo:     "install the former driver package",
}

// modules is the subject of what is wrong with the driver's kernel modules: nvidia-fs cannot be loaded then, while a
// GPU that is missing does not keep it from anything.
const modules = "modules"

var _ = check.Register(check.Check{
	ID:     "gpu-driver",
	Title:  "NVIDIA's driver is loaded with its open kernel modules and holds every GPU",
	Why:    "nvidia-fs from 2.17.5 on links symbols that only the open kernel modules may export, and a GPU without a driver cannot be a target of GDS.",
	Source: "nvidia-fs ChangeLog 2.17.5; NVIDIA driver README, /proc/driver/nvidia",
	Step:   1,
	Examples: map[string]string{
		"p5en":                        "pass",
		"p5en,gpu-driver-proprietary": "fail",
		"laptop":                      "skip",
	},
	Needs:   applies.GPUNeeds(facts.PCIBus.Want(), facts.NVIDIADriver.Must(), facts.Platform.Want(), facts.InstanceType.Want(), facts.Rules.Must(), facts.DriverVersion.Want(), facts.Container.Want()),
	Applies: applies.OnGPUNode,
	Fix: []check.Fix{{
		Text:     "look at the GPUs with nvidia-smi and the kernel log; a GPU that fell off the bus needs a reboot, and one that stays away goes to the vendor",
		Commands: []string{"nvidia-smi -L", "sudo dmesg | grep -i -E 'nvrm|xid'"},
		Changes:  "nothing",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		d := check.Get(v, facts.NVIDIADriver)
		ev := check.Bearing(v, facts.NVIDIADriver)
		if len(ev) > 2 {
			ev = ev[:2]
		}
		if !d.Loaded {
			if pci := check.Maybe(v, facts.PCIBus); pci.OK && pci.V.Complete && len(pci.V.GPUs()) == 0 {
				if f, bad := gpuCount(v, d); bad {
					return []check.Finding{f} // there is nothing that a driver could hold
				}
			}
			f := check.With(check.Fail("the NVIDIA driver is not loaded"), ev...)
			f.Subject = modules
			f.Fix = []check.Fix{{Text: "load the driver", Commands: []string{"sudo modprobe nvidia", "nvidia-smi"}, Changes: "loads the NVIDIA driver", Undo: "sudo rmmod nvidia"}, openDriver}
			return []check.Finding{f}
		}
		var out []check.Finding
		if f, bad := flavour(v, d); bad {
			f.Subject = modules
			out = append(out, f)
		}
		if f, bad := gpuCount(v, d); bad {
			f.Subject = "gpus"
			out = append(out, f)
		}
		if len(out) > 0 {
			return out
		}
		if g := check.Maybe(v, facts.Platform); d.Flavour == facts.FlavourUnsaid && g.OK && strings.Contains(strings.ToLower(g.V.DriverStatus), "open driver") {
			d.Flavour = facts.FlavourOpen
			ev = append(ev, check.Quote(g.V.Source, "Nvidia Driver Info Status: "+g.V.DriverStatus))
		}
		if d.Flavour == facts.FlavourUnsaid {
			return []check.Finding{check.With(check.NotKnown("cat /proc/driver/nvidia/version", "the NVIDIA driver is there%s; nothing tells whether its kernel modules are the open ones", orNothing(", version ", d.Version)), ev...)}
		}
		text := "NVIDIA driver " + d.Version + ", open kernel modules"
		if d.GPUs.OK {
			text += fmt.Sprintf(", %d GPU(s)", len(d.GPUs.V))
		}
		return []check.Finding{check.With(check.Pass("%s", strings.Replace(text, "driver ,", "driver,", 1)), ev...)}
	},
})

// flavour judges open against proprietary modules, by the driver's word and gdscheck's.
func flavour(v check.View, d facts.GPUDriver) (check.Finding, bool) {
	if g := check.Maybe(v, facts.Platform); g.OK && g.V.DriverStatus != "" {
		// "Supported(Nvidia Open Driver Installed)"; of the proprietary flavour "Supported only on (nvidia-fs
		// version <= 2.17.4)"; else "Not Supported".
		s := strings.ToLower(g.V.DriverStatus)
		line := check.Quote(g.V.Source, "Nvidia Driver Info Status: "+g.V.DriverStatus)
		if strings.HasPrefix(s, "not ") || strings.HasPrefix(s, "unsupported") {
			f := check.With(check.Fail("libcufile finds the NVIDIA driver not supported"), line)
			f.Fix = []check.Fix{openDriver}
			return f, true
		}
		if strings.HasPrefix(s, "supported only on") && d.Flavour == facts.FlavourUnsaid {
			d.Flavour, d.Line = facts.FlavourProprietary, g.V.Source+": Nvidia Driver Info Status: "+g.V.DriverStatus
		}
	}
	if d.Flavour != facts.FlavourProprietary {
		return check.Finding{}, false
	}
	m, _ := check.Get(v, facts.Rules).Minimum("nvidia-fs", "open-kernel-modules")
	line := check.Quote("NVIDIA driver", d.Line)
	if ver := check.Maybe(v, facts.DriverVersion); ver.OK {
		if newer, known := atLeast(ver.V, string(m.Version)); known && !newer {
			return check.With(check.Warn("the proprietary kernel modules are loaded; nvidia-fs %s still works with them, %s and later do not", ver.V.Text, m.Version), line), true
		}
	}
	f := check.With(check.Fail("the proprietary NVIDIA kernel modules are loaded; nvidia-fs %s and later need the open ones", m.Version), line)
	f.Fix = []check.Fix{openDriver}
	return f, true
}

// gpuCount compares the GPUs of the bus, of the driver and of the instance type. Inside a container fewer are
// handed on than the bus shows.
func gpuCount(v check.View, d facts.GPUDriver) (check.Finding, bool) {
	pci := check.Maybe(v, facts.PCIBus)
	inside := check.Maybe(v, facts.Container)
	if inside.OK && inside.V != "" {
		return check.Finding{}, false
	}
	if pci.OK && pci.V.Complete {
		bus := pci.V.GPUs()
		var lost, other []string
		held := map[string]bool{}
		for _, a := range d.GPUs.V {
			held[a] = true
		}
		for _, g := range bus {
			switch {
			case d.GPUs.OK && held[g.Address], g.Driver == "nvidia":
			case g.Driver != "" && g.Driver != "nvidia":
				other = append(other, g.Address+" ("+g.Driver+")")
			case d.GPUs.OK || g.Driver == "":
				lost = append(lost, g.Address)
			}
		}
		source := check.Quote(facts.PCISource, fmt.Sprintf("%d GPUs on the bus", len(bus)))
		if len(lost) > 0 {
			return check.With(check.Fail("%d of %d GPUs on the PCI bus are not held by the NVIDIA driver: %s", len(lost), len(bus), check.List(lost, 4)), source), true
		}
		if len(other) > 0 {
			return check.With(check.Warn("%d of %d GPUs are bound to another driver: %s", len(other), len(bus), check.List(other, 4)), source), true
		}
		if t := check.Maybe(v, facts.InstanceType); t.OK {
			if i, ok := check.Get(v, facts.Rules).Instance(t.V); ok && i.GPUs > len(bus) {
				return check.With(check.Fail("%d of the %d GPUs of a %s are on the PCI bus", len(bus), i.GPUs, t.V), source), true
			}
		}
	}
	return check.Finding{}, false
}

func orNothing(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}
