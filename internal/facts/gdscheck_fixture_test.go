package facts

import (
	"fmt"
	"strings"
)

// gdsPrinter prints reports in the shape of the releases, with numbers of its own.
type gdsPrinter struct {
	release  string
	nvfs     string // "" if the module is not loaded
	rows     map[string]string
	tokens   bool // 1.16 and later
	compat   string
	gpus     []string
	iommu    string
	platform []string // lines between the IOMMU and the end
	end      string
	builtin  bool
	env      []string
}

var gdsRowNames = []string{"NVMe P2PDMA", "NVMe", "NVMeOF", "SCSI", "ScaleFlux CSD", "NVMesh", "DDN EXAScaler", "IBM Spectrum Scale", "NFS",
	"BeeGFS", "ScaTeFS", "VIRTIOFS", "WekaFS", "Userspace RDMA"}

func (p gdsPrinter) String() string {
	var b strings.Builder
	say := func(format string, a ...any) { fmt.Fprintf(&b, " "+format+"\n", a...) }
	title := func(s string) {
		say("%s", strings.Repeat("=", len(s)+1))
		say("%s:", s)
		say("%s", strings.Repeat("=", len(s)+1))
	}
	say("GDS release version: %s", p.release)
	minimum := "libcufile version: 2.11"
	if p.tokens {
		minimum = "nvidia_fs minimum version: 2.11"
	}
	if p.nvfs != "" {
		minimum = "nvidia_fs version:  " + p.nvfs + " " + minimum
	}
	say("%s", minimum)
	say("Platform: aarch64")
	title("ENVIRONMENT")
	for _, e := range p.env {
		say("%s", e)
	}
	title("DRIVER CONFIGURATION")
	for _, n := range gdsRowNames {
		if n == "NVMe P2PDMA" && p.tokens || n == "VIRTIOFS" && !p.tokens {
			continue
		}
		v, ok := p.rows[n]
		switch {
		case ok:
		case p.tokens && n != "Userspace RDMA":
			v = "compat"
		default:
			v = "Unsupported"
		}
		say("%-18s : %s", n, v)
	}
	for _, l := range []string{"--Mellanox PeerDirect : Disabled", "--rdma library        : Not Loaded (libcufile_rdma.so)",
		"--rdma devices        : Not configured", "--rdma_device_status  : Up: 3 Down: 1"} {
		say("%s", l)
	}
	title("CUFILE CONFIGURATION")
	say("properties.use_pci_p2pdma : false")
	say("properties.use_compat_mode : %s", p.compat)
	say("properties.force_compat_mode : false")
	direct, pinned, threads := "8192", "16777216", "6"
	if p.builtin {
		direct, pinned, threads = "1024", "18014398509481980", "0"
	}
	say("properties.max_direct_io_size_kb : %s", direct)
	say("properties.max_device_pinned_mem_size_kb : %s", pinned)
	say("properties.posix_pool_slab_size_kb : 8 2048 8192 ")
	say("fs.lustre.posix_gds_min_kb: 8")
	say("execution.max_io_threads : %s", threads)
	say("miscellaneous.static_routing_filepath : ")
	title("GPU INFO")
	for _, g := range p.gpus {
		say("%s", g)
	}
	title("PLATFORM INFO")
	if p.iommu != "" {
		say("IOMMU: %s", p.iommu)
	}
	for _, l := range p.platform {
		say("%s", l)
	}
	say("%s", p.end)
	return b.String()
}

var gdsGood = gdsPrinter{release: "1.17.2.9", nvfs: "2.31", tokens: true, compat: "true",
	rows: map[string]string{"DDN EXAScaler": "nvfs, compat", "NVMe": "p2pdma, nvfs, compat"},
	gpus: []string{"GPU index 0 NVIDIA B200 bar:1 bar size (MiB):524288 supports GDS, IOMMU State: Disabled",
		"GPU index 1 NVIDIA B200 bar:1 bar size (MiB):524288 supports GDS, IOMMU State: Disabled"},
	iommu: "disabled", platform: []string{"Nvidia Driver Info Status: Supported(Nvidia Open Driver Installed)", "Cuda Driver Version Installed:  13020",
		"Platform: Box (Q9, 2031), Arch: aarch64(Linux 6.14.2-77)"}, end: "Platform verification succeeded"}

var gdsBad = gdsPrinter{release: "1.14.1.3", compat: "false", builtin: true, env: []string{"CUFILE_ENV_PATH_JSON : /opt/a:b/cufile.json"},
	gpus: []string{"GPU index 0 Quadro P5000: Model Not Supported", "GPU 1 Quadro K620 does not have supported architecture, has 5 requires >= 7",
		"Platform does not have any supported GPU!"},
	iommu: "Pass-through or enabled", platform: []string{"WARN: GDS is not guaranteed to work functionally or in a performant way with iommu=on/pt",
		"Found ACS enabled for switch 0000:91:0b.0", "Found ACS enabled for switch 92:10.0", "Nvidia Driver Info Status: Supported only on (nvidia-fs version <= 2.17.4)"},
	end: "Platform verification error :\n nvidia-fs driver is not loaded. Set allow_compat_mode to true in cufile.json to enable compatible mode"}

// gdsBeta is the form of 2021: one title for drivers and configuration, none for the platform.
const gdsBeta = ` GDS release version (beta): 0.93.2.4
 nvidia_fs version:  2.5 libcufile version: 2.2
 cuFile CONFIGURATION:
 NVMe           : Supported
 NVMeOF         : Unsupported
 SCALEFLUX CSD  : Unsupported
 LUSTRE         : Supported
 GPFS           : Unsupported
 WEKAFS         : Unsupported
 USERSPACE RDMA : Unsupported
 --MOFED peer direct  : enabled
 --rdma_device_status : Up: 2 Down: 0
 properties.use_compat_mode : 1
 properties.posix_pool_slab_size_kb : 8192 2097152 
 fs.weka.rdma_write_support: 0
 GPU INFO:
 GPU index 0 NVIDIA A30 bar:1 bar size (MiB):32768 supports GDS
 IOMMU : disabled
 Platform verification succeeded
`
