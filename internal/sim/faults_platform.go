package sim

import "fmt"

// notLoaded and others say why a fault of the platform cannot be together with another.
const (
	notLoaded   = "nvidia-fs does not load then, which is the same for whatever reason"
	otherVer    = "a driver has one version"
	notRefused  = "a file that is refused says nothing"
	noDriver    = "a libcufile that does not start looks at no hooks"
	startsNever = "tools that are not there look for no library"
)

// withoutDriver are faults of nvidia-fs itself.
func withoutDriver(why string) map[string]string {
	return map[string]string{"nvidia-fs-missing": why, "nvidia-fs-too-old": why, "nvidia-fs-insmod-only": why, "nvidia-fs-devices-missing": why,
		"nvfs-errors": why, "peer-table-small": why, "nvidia-fs-stuck-unloading": why}
}

func init() {
	not := withoutDriver(notLoaded)
	not["stats-on"], not["nvidia-fs-known-bad"] = notLoaded, notLoaded
	not["gdscheck-compat-only"] = noDriver
	fault(Fault{Name: "gpu-driver-proprietary", Text: "NVIDIA's driver has its proprietary kernel modules: nvidia-fs from 2.17.5 on cannot be loaded", Check: "gpu-driver", Needs: "proprietary",
		not: not, apply: func(n *node) {
			n.nvDrv.open, n.nvfs.loaded = false, false
			for _, s := range []string{"dma_unmap_pages", "put_pages_persistent", "get_pages", "put_pages"} {
				n.klog = append(n.klog, "nvidia_fs: module using GPL-only symbols uses symbols nvidia_p2p_"+s+" from proprietary module nvidia.",
					"nvidia_fs: Unknown symbol nvidia_p2p_"+s+" (err -2)")
			}
		}})
	fault(Fault{Name: "nvidia-fs-known-bad", Text: "nvidia-fs 2.25.6 is new enough, and every I/O can fail with it", Check: "nvidia-fs-known-bad", Needs: "gpu",
		not:   map[string]string{"nvidia-fs-missing": unloaded, "nvidia-fs-too-old": otherVer},
		apply: func(n *node) { n.nvfs.version, n.nvfs.gds = "2.25.6", "1.14.1.18" }})
	fault(Fault{Name: "stats-on", Text: "nvidia-fs counts successful I/O too: IO stats are enabled", Needs: "gpu",
		not:   map[string]string{"nvidia-fs-missing": unloaded},
		apply: func(n *node) { n.nvfs.rwStats = true }})

	// libcufile takes the list of storage modules from /proc/driver/nvidia-fs/modules; a sandbox that hides the file
	// leaves it with none.
	fault(Fault{Name: "gdscheck-compat-only", Text: "Lustre registers with nvidia-fs, and libcufile does not see that: its report promises Lustre no direct path", Check: "platform-storage", Needs: "efa",
		not:   map[string]string{"nvidia-fs-missing": noDriver, "platform-failed": noDriver, "cufile-library-missing": noDriver, "cufile-json-broken": notRefused},
		apply: func(n *node) { n.noHooks = true }})
	fault(Fault{Name: "gpu-unsupported", Text: "libcufile supports GDS on all GPUs but one", Check: "platform-gpus", Needs: "gpu",
		apply: func(n *node) { n.gpus[len(n.gpus)/2].unsupported = true }})
	fault(Fault{Name: "iommu-on", Text: "the IOMMU is on and translates addresses", Check: "platform-iommu", Needs: "gpu",
		apply: func(n *node) { n.iommu = true }})
	fault(Fault{Name: "acs-on", Text: "PCI bridges above the GPUs have Access Control Services on", Check: "platform-acs", Needs: "gpu",
		apply: func(n *node) {
			for i := range 2 {
				n.acs = append(n.acs, fmt.Sprintf("0000:%s:0%d.0", n.gpus[i].addr[5:7], 1+i))
			}
		}})
	fault(Fault{Name: "bar-small", Text: "the GPUs have a BAR1 of 256 MiB: the firmware does not resize it", Check: "platform-bar", Needs: "gpu",
		apply: func(n *node) { n.barMiB = 256 }})
	fault(Fault{Name: "platform-failed", Text: "libcufile finds that the platform does not support GDS", Check: "platform-verification", Needs: "gpu",
		apply: func(n *node) { n.denied = true }})

	set := func(key, value string) func(*node) {
		return func(n *node) {
			if n.cufile.set == nil {
				n.cufile.set = map[string]string{}
			}
			n.cufile.set[key] = value
		}
	}
	fault(Fault{Name: "compat-forced", Text: "cufile.json sends all I/O through the CPU (force_compat_mode)", Check: "cufile-config", Needs: "gpu",
		apply: set("properties.force_compat_mode", "true")})
	fault(Fault{Name: "rdma-write-off", Text: "cufile.json sends writes through the CPU (gds_rdma_write_support is false); reads take GDS", Check: "cufile-config", Needs: "gpu",
		apply: set("properties.gds_rdma_write_support", "false")})
	fault(Fault{Name: "cufile-json-broken", Text: "an edit left a comma too many in cufile.json: libcufile refuses it", Check: "cufile-config", Needs: "gpu",
		apply: func(n *node) { n.cufile.broken = true }})
	fault(Fault{Name: "cufile-library-missing", Text: "libcufile is not installed; the tools that need it are", Check: "cufile-library", Needs: "gpu",
		not:   map[string]string{"tools-missing": startsNever},
		apply: func(n *node) { n.kit.noLibrary = true }})
	fault(Fault{Name: "tools-missing", Text: "gdscheck and gdsio are not installed; libcufile is, and its log has the same report", Needs: "gpu",
		apply: func(n *node) { n.kit.noTools = true }})
	fault(Fault{Name: "cuda-link-missing", Text: "/usr/local/cuda is not there; CUDA lies in the folder of its version alone", Needs: "gpu",
		apply: func(n *node) { n.kit.noLink = true }})

	fault(Fault{Name: "silent-compat", Text: "everything looks ready, and each file falls back to the CPU without a word: only an experiment shows it", Check: "io-library", Needs: "gpu",
		apply: func(n *node) { n.silentCompat = true }})
}
