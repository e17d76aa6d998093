package facts

import (
	"strings"

	"gdsproof/internal/evidence"
)

// Flavour is which of NVIDIA's two kernel modules is loaded.
type Flavour string

const (
	FlavourOpen        Flavour = "open"
	FlavourProprietary Flavour = "proprietary"
	FlavourUnsaid      Flavour = ""
)

// GPUDriver is NVIDIA's kernel driver.
type GPUDriver struct {
	Loaded  bool
	Version string
	Flavour Flavour
	Line    string        // where the flavour or the version was read
	GPUs    Opt[[]string] // PCI addresses of the GPUs that the driver holds
}

// ParseNVRM reads /proc/driver/nvidia/version. The open module names itself; the proprietary one does not.
//
//	NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (…)
//	NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Sat Feb 17 …
func ParseNVRM(b []byte) (version string, f Flavour, line string) {
	for raw := range strings.Lines(string(b)) {
		l := strings.TrimSpace(raw)
		_, rest, ok := strings.Cut(l, "NVRM version:")
		if !ok {
			continue
		}
		switch {
		case strings.Contains(rest, "Open Kernel Module"):
			f = FlavourOpen
		case strings.Contains(rest, "Kernel Module"):
			f = FlavourProprietary
		}
		for _, w := range strings.Fields(rest) {
			if v, ok := ParseVersion(w); ok && strings.Count(w, ".") >= 1 && len(v.Parts) >= 2 {
				version = w
				break
			}
		}
		return version, f, l
	}
	return "", "", ""
}

// NVIDIADriver is NVIDIA's kernel driver as its own files, the module list and modinfo tell it.
var NVIDIADriver = Define("nvidia-driver", []string{"nvidia-driver", "modules", "pci"}, func(in *In) Known[GPUDriver] {
	var d GPUDriver
	said := false
	ver := in.Item("/proc/driver/nvidia/version")
	if ver.OK() {
		d.Version, d.Flavour, d.Line = ParseNVRM(ver.Out)
		d.Loaded, said = true, true
	}
	mods := Use(in, KernelModules)
	if mods.OK {
		m, listed := mods.V.Get("nvidia")
		switch {
		case listed:
			d.Loaded, said = true, true
			// Taint P is a proprietary licence, and the kernel's own word for it.
			if d.Flavour == FlavourUnsaid && m.Taint != "" {
				d.Flavour = FlavourOpen
				if strings.Contains(m.Taint, "P") {
					d.Flavour = FlavourProprietary
				}
				d.Line = m.Line
			}
		case mods.V.Complete && !said:
			said = true // looked, not there
		case mods.V.NoModules && ver != nil && ver.State == evidence.Absent:
			said = true // a kernel without modules, and nothing of the driver
		}
	}
	// A GPU that the driver is bound to is its own witness, also where /proc is hidden.
	if pci := Use(in, PCIBus); pci.OK {
		for _, g := range pci.V.GPUs() {
			if g.Driver == "nvidia" {
				d.Loaded, said = true, true
			}
		}
	}
	if it := in.Item("/sys/module/nvidia/version"); it.OK() && d.Version == "" {
		d.Version = strings.TrimSpace(string(it.Out))
		d.Loaded, said = true, true
	}
	if d.Flavour == FlavourUnsaid {
		if it := in.Item("modinfo nvidia"); it.OK() {
			mi, _ := ParseModinfo(it.Out).Of("nvidia")
			switch lic := mi.License; {
			case strings.Contains(lic, "GPL"):
				d.Flavour, d.Line = FlavourOpen, "license: "+lic
			case lic == "NVIDIA":
				d.Flavour, d.Line = FlavourProprietary, "license: "+lic
			}
		}
	}
	if it := in.Item(evidence.ListSource("/proc/driver/nvidia/gpus")); it.Complete() {
		var l []string
		for _, n := range ListedNames(it.Out) {
			if strings.Count(n, ":") == 2 {
				l = append(l, strings.ToLower(n))
			}
		}
		d.GPUs = Some(l)
	}
	if !said {
		// libcufile says so of a driver that is loaded alone.
		if p := Use(in, Platform); p.OK && p.V.DriverStatus != "" {
			d.Loaded, said = true, true
		}
	}
	if !said {
		return Unknown[GPUDriver](in)
	}
	return Have(d)
})

// GPUNode tells whether this is a machine where GDS could be asked for: one with an NVIDIA GPU.
var GPUNode = Define("gpu-node", []string{"pci", "nvidia-driver", "modules", "identity"}, func(in *In) Known[Scope] {
	if d := Use(in, NVIDIADriver); d.OK && (d.V.Loaded || len(d.V.GPUs.V) > 0) {
		return Have(Scope{Yes, "the NVIDIA driver is loaded"})
	}
	pci := Use(in, PCIBus)
	if pci.OK && len(pci.V.GPUs()) > 0 {
		return Have(Scope{Yes, "an NVIDIA GPU is on the PCI bus"})
	}
	if d := Use(in, Driving); d.OK {
		return Have(Scope{Yes, "nvidia-fs is loaded"})
	}
	if g := Use(in, GDSCheck); g.OK {
		return Have(Scope{Yes, "somebody ran gdscheck"})
	}
	if t := Use(in, InstanceType); t.OK {
		if i, ok := in.Profile().Instance(t.V); ok && i.GPUs > 0 {
			return Have(Scope{Yes, "a " + t.V + " has GPUs"}) // that none is seen is a fault, and no other machine
		}
	}
	if pci.OK && pci.V.Complete {
		return Have(Scope{No, "no NVIDIA GPU on the PCI bus"})
	}
	if in.Pasted() {
		return Have(Scope{Yes, "outputs were given to be judged for GDS"})
	}
	return Have(Scope{CannotTell, "whether the machine has an NVIDIA GPU: lspci, nvidia-smi or /sys/bus/pci"})
})
