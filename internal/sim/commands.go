package sim

import (
	"fmt"
	"strings"
)

type answer struct {
	out, err string
	exit     int
}

// commands prints what the programs of the node would, by the words they are called with.
func (n *node) commands() map[string]answer {
	m := map[string]answer{
		"dmesg":             {out: n.dmesg()},
		"journalctl -k -b":  {out: n.journal()},
		"modinfo nvidia_fs": n.modinfo("nvidia_fs"),
		"modinfo nvidia":    n.modinfo("nvidia"),
	}
	if n.gdsTool != "" {
		m["gdscheck -p"] = answer{out: n.gdscheck()}
	}
	return m
}

// journal is the same log as journalctl -o short-monotonic prints it.
func (n *node) journal() string {
	var b strings.Builder
	for line := range strings.Lines(n.dmesg()) {
		stamp, text, _ := strings.Cut(line, "] ")
		fmt.Fprintf(&b, "%s] %s kernel: %s", stamp, n.hostname, text)
	}
	return b.String()
}

func (n *node) modinfo(name string) answer {
	row := func(b *strings.Builder, k, v string) { fmt.Fprintf(b, "%-16s%s\n", k+":", v) }
	missing := answer{err: "modinfo: ERROR: Module " + name + " not found.\n", exit: 1}
	var b strings.Builder
	switch {
	case name == "nvidia_fs" && n.nvfs.installed:
		row(&b, "filename", "/lib/modules/"+n.kernel+"/updates/dkms/nvidia-fs.ko")
		row(&b, "description", "NVIDIA GPUDirect Storage")
		row(&b, "license", "GPL v2")
		row(&b, "version", n.nvfs.version)
		row(&b, "depends", "nvidia")
		row(&b, "name", "nvidia_fs")
		row(&b, "vermagic", n.kernel+" SMP mod_unload modversions ")
	case name == "nvidia" && n.nvDrv.loaded:
		license := "NVIDIA"
		if n.nvDrv.open {
			license = "Dual MIT/GPL"
		}
		row(&b, "filename", "/lib/modules/"+n.kernel+"/updates/dkms/nvidia.ko")
		row(&b, "version", n.nvDrv.version)
		row(&b, "license", license)
		row(&b, "name", "nvidia")
		row(&b, "vermagic", n.kernel+" SMP mod_unload modversions ")
	default:
		return missing
	}
	return answer{out: b.String()}
}

// gdscheck prints the report of gdscheck 1.15 on a node with FSx for Lustre.
func (n *node) gdscheck() string {
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, " "+format+"\n", a...) }
	p("GDS release version: %s", n.gdsTool)
	if n.nvfs.loaded {
		parts := strings.SplitN(n.nvfs.version, ".", 3)
		p("nvidia_fs version:  %s.%s libcufile version: 2.12", parts[0], parts[1])
	} else {
		p("libcufile version: 2.12")
	}
	p("Platform: x86_64")
	exa := "Unsupported"
	if n.nvfs.loaded && !n.nvfs.stuck && n.devNodes() > 0 && len(n.nvfs.registers) > 0 {
		exa = "Supported"
	}
	p("=====================")
	p("DRIVER CONFIGURATION:")
	p("=====================")
	p("NVMe P2PDMA        : Unsupported")
	p("NVMe               : Unsupported")
	p("DDN EXAScaler      : %s", exa)
	p("NFS                : Unsupported")
	p("WekaFS             : Unsupported")
	p("Userspace RDMA     : Unsupported")
	p("--Mellanox PeerDirect : Disabled")
	p("--rdma library        : Not Loaded (libcufile_rdma.so)")
	p("--rdma devices        : Not configured")
	p("--rdma_device_status  : Up: 0 Down: 0")
	p("=====================")
	p("CUFILE CONFIGURATION:")
	p("=====================")
	p("properties.use_pci_p2pdma : false")
	p("properties.use_compat_mode : true")
	p("properties.force_compat_mode : false")
	p("properties.gds_rdma_write_support : true")
	p("=========")
	p("GPU INFO:")
	p("=========")
	for i, g := range n.gpus {
		p("GPU index %d %s bar:1 bar size (MiB):262144 supports GDS, IOMMU State: Disabled", i, g.model)
	}
	p("==============")
	p("PLATFORM INFO:")
	p("==============")
	p("IOMMU: disabled")
	p("Nvidia Driver Info Status: Supported(Nvidia Open Driver Installed)")
	p("Cuda Driver Version Installed:  13000")
	p("Platform: %s, Arch: x86_64(Linux %s)", n.product, n.kernel)
	p("Platform verification succeeded")
	return b.String()
}
