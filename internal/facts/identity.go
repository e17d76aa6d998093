package facts

import (
	"encoding/json"
	"strings"

	"gdsproof/internal/evidence"
)

// OptionsSource is the item that keeps what the user asked for: a bundle is judged again by the same options.
const OptionsSource = "gdsproof options"

// Options are the user's words that judgements depend on.
type Options struct {
	FS           string `json:"fs,omitempty"`
	InstanceType string `json:"instance_type,omitempty"`
	EFACount     int    `json:"efa_count,omitempty"`
	MinNVFS      string `json:"min_nvidia_fs,omitempty"`
	UID          *int   `json:"uid,omitempty"`
}

// Item makes the options an item of the set.
func (o Options) Item() evidence.Item {
	b, _ := json.Marshal(o) // strings and numbers: cannot fail
	return evidence.Item{Source: OptionsSource, Form: evidence.Whole, Place: evidence.Host, State: evidence.Present, Out: b}
}

// Asked are the options; without any they are empty, and known.
var Asked = Define("options", nil, func(in *In) Known[Options] {
	var o Options
	if it := in.Item(OptionsSource); it.OK() {
		if err := json.Unmarshal(it.Out, &o); err != nil {
			return Because[Options]("options: "+err.Error(), "readable options")
		}
	}
	return Have(o)
})

// Sources of a node's identity.
const (
	HostnameSource = "/proc/sys/kernel/hostname"
	KernelSource   = "/proc/sys/kernel/osrelease"
	BootIDSource   = "/proc/sys/kernel/random/boot_id"
	ProductSource  = "/sys/class/dmi/id/product_name"
	VendorSource   = "/sys/class/dmi/id/sys_vendor"
	InitSource     = "/proc/1/comm"
)

func line(name, source string) Key[string] {
	return Define(name, []string{"identity"}, func(in *In) Known[string] {
		it := in.Item(source)
		if !it.OK() || strings.TrimSpace(string(it.Out)) == "" {
			return Unknown[string](in)
		}
		return Have(strings.TrimSpace(string(it.Out)))
	})
}

var (
	Hostname = line("hostname", HostnameSource)
	Kernel   = line("kernel", KernelSource)
)

// InstanceType is the cloud's name of the machine: given by the user, else what the firmware says on EC2's Nitro
// machines. A product name of another maker is no instance type.
var InstanceType = Define("instance-type", []string{"identity"}, func(in *In) Known[string] {
	if o := Use(in, Asked); o.OK && o.V.InstanceType != "" {
		return Have(o.V.InstanceType)
	}
	name, vendor := in.Item(ProductSource), in.Item(VendorSource)
	if !name.OK() {
		if typ := instanceNamed(in); typ != "" {
			return Have(typ)
		}
		return Unknown[string](in)
	}
	typ := strings.TrimSpace(string(name.Out))
	if vendor.OK() && !strings.Contains(string(vendor.Out), "Amazon") {
		return Because[string]("the firmware names "+strings.TrimSpace(string(vendor.Out))+" "+typ+", which is no EC2 instance", "--instance-type")
	}
	if strings.Count(typ, ".") != 1 || strings.ContainsAny(typ, " \t") {
		return Because[string]("the firmware's product name "+typ+" is no instance type", "--instance-type")
	}
	return Have(typ)
})

// instanceNamed is the type that another output names: the set-up script prints it, and gdscheck the firmware's name.
func instanceNamed(in *In) string {
	if s := Use(in, SetupLog); s.OK {
		for _, r := range s.V.Runs {
			if r.Instance != "" {
				return r.Instance
			}
		}
	}
	if p := Use(in, Platform); p.OK {
		if _, ok := in.Profile().Instance(p.V.Product); ok {
			return p.V.Product
		}
	}
	return ""
}

// Container is the sign by which a container is known, "" on a host.
var Container = Define("container", []string{"identity", "mounts"}, func(in *In) Known[string] {
	looked := false
	for _, p := range []string{"/.dockerenv", "/run/.containerenv", "/run/systemd/container"} {
		it := in.Item(evidence.StatSource(p))
		if it.OK() {
			return Have(p)
		}
		looked = looked || it != nil && it.State == evidence.Absent
	}
	init := in.Item(InitSource)
	if m := Use(in, Mounts); m.OK {
		for _, mt := range m.V.List {
			// NVIDIA's container runtime puts a folder with the job's GPUs alone over the driver's.
			if strings.HasPrefix(mt.Dir, "/proc/driver/nvidia") && !strings.HasPrefix(mt.Dir, "/proc/driver/nvidia-") {
				return Have("something is mounted on " + mt.Dir)
			}
			// A host can have an overlay for its root too; its first process is an init.
			if name := strings.TrimSpace(string(itemOut(init))); mt.Dir == "/" && mt.Type == "overlay" && name != "" && name != "systemd" && name != "init" {
				return Have("/ is an overlay and the first process is " + name)
			}
		}
	}
	if !looked {
		return Unknown[string](in)
	}
	return Have("")
})

func itemOut(it *evidence.Item) []byte {
	if !it.OK() {
		return nil
	}
	return it.Out
}
