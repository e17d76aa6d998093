package sim

import (
	"fmt"
	"strings"
)

// gdscheck prints the report of gdscheck: with Supported and Unsupported up to 1.15, with the ways that a storage
// can be reached from 1.16 on.
func (n *node) gdscheck() string {
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, " "+format+"\n", a...) }
	title := func(s string) {
		line := strings.Repeat("=", len(s))
		p("%s", line)
		p("%s", s)
		p("%s", line)
	}
	tokens := versionAbove(n.gdsTool, 1, 16)
	p("GDS release version: %s", n.gdsTool)
	second := onOff(tokens, "nvidia_fs minimum version: 2.12", "libcufile version: 2.12")
	if n.nvfs.loaded {
		parts := strings.SplitN(n.nvfs.version, ".", 3)
		second = fmt.Sprintf("nvidia_fs version:  %s.%s %s", parts[0], parts[1], second)
	}
	p("%s", second)
	p("Platform: x86_64")
	no := onOff(tokens, "compat", "Unsupported")
	exa := no
	if n.nvfs.loaded && !n.nvfs.stuck && n.devNodes() > 0 && n.lnetLoaded() {
		exa = onOff(tokens, "nvfs, compat", "Supported")
	}
	title("DRIVER CONFIGURATION:")
	rows := []string{"NVMe P2PDMA", "NVMe", "DDN EXAScaler", "NFS", "WekaFS"}
	if tokens {
		rows = []string{"NVMe", "NVMeOF", "SCSI", "ScaleFlux CSD", "NVMesh", "DDN EXAScaler", "IBM Spectrum Scale", "NFS", "BeeGFS", "ScaTeFS", "VIRTIOFS", "WekaFS"}
	}
	for _, r := range rows {
		p("%-18s : %s", r, onOff(r == "DDN EXAScaler", exa, no))
	}
	p("Userspace RDMA     : Unsupported")
	p("--Mellanox PeerDirect : Disabled")
	if tokens {
		p("--DmaBuf support      : Disabled")
	}
	p("--rdma library        : Not Loaded (libcufile_rdma.so)")
	p("--rdma devices        : Not configured")
	p("--rdma_device_status  : Up: 0 Down: 0")
	title("CUFILE CONFIGURATION:")
	p("properties.use_pci_p2pdma : false")
	p("properties.use_compat_mode : true")
	p("properties.force_compat_mode : false")
	p("properties.gds_rdma_write_support : true")
	if tokens {
		p("fs.lustre.use_pci_p2pdma : false")
	}
	title("GPU INFO:")
	for i, g := range n.gpus {
		p("GPU index %d %s bar:1 bar size (MiB):%d supports GDS, IOMMU State: Disabled", i, g.model, n.barMiB)
	}
	title("PLATFORM INFO:")
	p("IOMMU: disabled")
	p("Nvidia Driver Info Status: Supported(Nvidia Open Driver Installed)")
	p("Cuda Driver Version Installed:  %s", n.cudaNumber())
	p("Platform: %s, Arch: x86_64(Linux %s)", n.product, n.kernel)
	p("Platform verification succeeded")
	return b.String()
}

// cudaNumber is CUDA's version as its driver tells it: 13.2 is 13020.
func (n *node) cudaNumber() string {
	var major, minor int
	_, _ = fmt.Sscanf(n.cuda, "%d.%d", &major, &minor)
	return fmt.Sprint(major*1000 + minor*10)
}
