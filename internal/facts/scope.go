package facts

import (
	"fmt"
	"strconv"
	"strings"
)

// Answer of a question that may have none.
type Answer int

const (
	CannotTell Answer = iota
	No
	Yes
)

// Scope tells whether something is in question here, and by what sign; where it cannot be told, Why is what would
// tell it.
type Scope struct {
	Is  Answer
	Why string
}

// Question is what the run is about. The user's --fs decides; without it any sign of Lustre does. Where neither
// speaks, and something that would have was not looked at, it cannot be told.
var Question = Define("question", []string{"mounts", "modules", "identity", "fstab", "efa-service"}, func(in *In) Known[Scope] {
	o := Use(in, Asked)
	m := Use(in, Mounts)
	if o.OK && o.V.FS != "" && m.OK {
		if mt, ok := m.V.At(o.V.FS); ok && (mt.Dir != "/" || mt.Type == "lustre") {
			switch {
			case mt.Type == "lustre":
				return Have(Scope{Yes, fmt.Sprintf("%s is a lustre mount", mt.Dir)})
			case mt.Type == "autofs":
				// What comes with the first access is not told by the automount point: fstab tells it.
				if f := Use(in, FstabNow); f.OK {
					for _, r := range f.V.At(mt.Dir) {
						if r.Type == "lustre" {
							return Have(Scope{Yes, "fstab mounts lustre on " + mt.Dir + " at the first access"})
						}
					}
				}
				return Have(Scope{CannotTell, "what is mounted on " + mt.Dir + " at its first access: ls " + mt.Dir})
			case m.V.Cut:
				return Have(Scope{CannotTell, "whether " + o.V.FS + " is on lustre: the whole mount table"})
			}
			return Have(Scope{No, fmt.Sprintf("%s is on %s, not on lustre", o.V.FS, mt.Type)})
		}
		// A folder of the root file system may be a mount point that is not mounted: other signs decide.
	}
	if m.OK {
		if l := m.V.OfType("lustre"); len(l) > 0 {
			return Have(Scope{Yes, l[0].Dir + " is a lustre mount"})
		}
	}
	mods := Use(in, KernelModules)
	if mods.OK {
		for _, n := range []string{"lustre", "lnet"} {
			if mod, ok := mods.V.Get(n); ok {
				return Have(Scope{Yes, "the module " + mod.Name + " is loaded"})
			}
		}
	}
	if f := Use(in, FstabNow); f.OK {
		for _, r := range f.V.Rows {
			if r.Type == "lustre" {
				return Have(Scope{Yes, "fstab has a lustre line for " + r.File})
			}
		}
	}
	if u := Use(in, ConfigureUnit); u.OK && u.V.LoadState == "loaded" {
		return Have(Scope{Yes, "the service " + ConfigureUnitName + " is there"})
	}
	t := Use(in, InstanceType)
	if t.OK {
		if i, ok := in.Profile().Instance(t.V); ok && i.GDS {
			return Have(Scope{Yes, "AWS offers Lustre GDS over EFA on " + t.V})
		}
	}
	if m.OK && in.Pasted() {
		for _, typ := range []string{"wekafs", "gpfs", "beegfs", "scatefs"} {
			if l := m.V.OfType(typ); len(l) > 0 {
				return Have(Scope{No, "the outputs show " + typ + " on " + l[0].Dir + " and no sign of Lustre"})
			}
		}
	}
	if m.OK && !m.V.Cut && mods.OK && (mods.V.Complete || mods.V.NoModules) {
		return Have(Scope{No, "no Lustre mount and no Lustre module; name one with --fs if it should be"})
	}
	return Have(Scope{CannotTell, "whether Lustre is used: the mount table and the loaded modules, or --fs"})
})

// EFAQuestion tells whether the Lustre client is to use EFA: on an EFA machine of AWS, and not where Lustre runs over
// another network. A node of AWS without a single EFA device is one too where its type has them.
var EFAQuestion = Define("efa-question", []string{"pci", "modules", "identity", "lnet", "efa-service", "mounts"}, func(in *In) Known[Scope] {
	pci, mods, net, t := Use(in, PCIBus), Use(in, KernelModules), Use(in, Net), Use(in, InstanceType)
	if pci.OK && len(pci.V.EFAs()) > 0 {
		return Have(Scope{Yes, "EFA devices are on the PCI bus"})
	}
	if net.OK && net.V.Has("efa") {
		return Have(Scope{Yes, "LNet has an efa net"})
	}
	if mods.OK {
		for _, n := range []string{"kefalnd", "efa"} {
			if _, ok := mods.V.Get(n); ok {
				return Have(Scope{Yes, "the module " + n + " is loaded"})
			}
		}
	}
	if u := Use(in, ConfigureUnit); u.OK && u.V.LoadState == "loaded" {
		return Have(Scope{Yes, "the service " + ConfigureUnitName + " is there"})
	}
	if t.OK {
		if i, ok := in.Profile().Instance(t.V); ok {
			if i.EFA > 0 {
				return Have(Scope{Yes, t.V + " has EFA"})
			}
			return Have(Scope{No, t.V + " has no EFA"})
		}
	}
	o2ib := false
	if m := Use(in, Mounts); m.OK {
		for _, mt := range m.V.OfType("lustre") {
			o2ib = o2ib || strings.Contains(mt.Source, "@o2ib")
		}
	}
	if o2ib || net.OK && net.V.Has("o2ib") {
		return Have(Scope{No, "Lustre runs over o2ib (InfiniBand or RoCE), not over EFA"})
	}
	if pci.OK && pci.V.Complete && !t.OK && in.NotAmazon() {
		return Have(Scope{No, "the machine is not one of AWS's and has no EFA device"})
	}
	return Have(Scope{CannotTell, "whether the machine has EFA: the PCI bus, or --instance-type"})
})

// NotAmazon: the firmware names another maker.
func (in *In) NotAmazon() bool {
	it := in.Item(VendorSource)
	return it.OK() && !strings.Contains(string(it.Out), "Amazon")
}

func itoa(n int) string { return strconv.Itoa(n) }
