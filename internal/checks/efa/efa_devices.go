package efa

import (
	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "efa-devices",
	Title:  "The EFA devices of the instance are there and run by the efa driver",
	Why:    "LNet's EFA interfaces are made of these devices; ConnectX devices (mlx5_*, ib*) of some types are none of them.",
	Source: "Linux efa driver; EC2 User Guide, Elastic Fabric Adapter",
	Step:   2,
	Examples: map[string]string{
		"p5en":                   "pass",
		"p6-b200":                "pass",
		"p5en,efa-none-attached": "fail",
		"laptop":                 "skip",
	},
	Needs:   applies.EFANeeds(facts.EFADevices.Must(), facts.PCIBus.Want(), facts.InstanceType.Want(), facts.Rules.Must()),
	Applies: applies.OverEFA,
	Fix: []check.Fix{{
		Text:     "EFA devices are attached at launch, or while the instance is stopped: launch it with the network interfaces that the type has; with the devices on the PCI bus, load the driver",
		Commands: []string{"lspci | grep -i efa", "sudo modprobe efa"},
		Changes:  "loads the efa driver",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		d, pci := check.Get(v, facts.EFADevices), check.Maybe(v, facts.PCIBus)
		n, onBus := len(d.EFA), -1
		if pci.OK && pci.V.Complete {
			onBus = len(pci.V.EFAs())
		}
		want, typ := 0, ""
		if t := check.Maybe(v, facts.InstanceType); t.OK {
			if i, ok := check.Get(v, facts.Rules).Instance(t.V); ok {
				want, typ = i.EFA, t.V
			}
		}
		ev := []check.Evidence{check.Quote("/sys/class/infiniband", "efa: "+orNone(check.List(names(d.EFA), 4)))}
		if len(d.Others) > 0 {
			ev = append(ev, check.Quote("/sys/class/infiniband", "not EFA, ignored: "+check.List(d.Others, 4)))
		}
		switch {
		case n == 0 && onBus > 0:
			return []check.Finding{check.With(check.Fail("%d EFA devices are on the PCI bus and the efa driver runs none of them", onBus), ev...)}
		case n == 0 && onBus < 0:
			f := check.With(check.Fail("the efa driver runs no device; whether any is attached was not seen"), ev...)
			return []check.Finding{f}
		case n == 0:
			return []check.Finding{check.With(check.Fail("no EFA device is attached"), ev...)}
		case onBus > n:
			return []check.Finding{check.With(check.Warn("the efa driver runs %d of the %d EFA devices on the PCI bus", n, onBus), ev...)}
		case want > n:
			return []check.Finding{check.With(check.Warn("%d of the %d EFA devices of a %s are attached", n, want, typ), ev...)}
		}
		return []check.Finding{check.With(check.Pass("%d EFA devices", n), ev...)}
	},
})

func names(l []facts.EFADevice) []string {
	var out []string
	for _, d := range l {
		out = append(out, d.Name)
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
