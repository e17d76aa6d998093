package sim

const unloaded = "the module is not loaded at all"

func init() {
	fault(Fault{Name: "nvidia-fs-missing", Text: "nvidia-fs is neither loaded nor installed", Check: "nvidia-fs-loaded", Needs: "gpu",
		not: map[string]string{"nvidia-fs-too-old": unloaded, "nvidia-fs-insmod-only": unloaded, "nvidia-fs-devices-missing": unloaded,
			"nvfs-errors": unloaded, "peer-table-small": unloaded, "nvidia-fs-stuck-unloading": unloaded},
		apply: func(n *node) { n.nvfs.loaded, n.nvfs.installed, n.bootCfg = false, false, nil }})
	fault(Fault{Name: "nvidia-fs-too-old", Text: "nvidia-fs is older than FSx for Lustre needs", Check: "nvidia-fs-version", Needs: "gpu",
		not:   map[string]string{"peer-table-small": "a version this old has no setting for the table"},
		apply: func(n *node) { n.nvfs.version, n.nvfs.gds, n.nvfs.maxPeers = "2.22.3", "1.11.0.20", 64 }})
	fault(Fault{Name: "nvidia-fs-insmod-only", Text: "nvidia-fs was loaded with insmod; nothing loads it after a reboot", Check: "nvidia-fs-persistent", Needs: "gpu",
		apply: func(n *node) { n.nvfs.installed, n.bootCfg = false, nil }})
	fault(Fault{Name: "nvidia-fs-devices-missing", Text: "the nodes /dev/nvidia-fs* are not there", Check: "nvidia-fs-devices", Needs: "gpu",
		not:   map[string]string{"nvidia-fs-stuck-unloading": "nothing opens in that state anyway"},
		apply: func(n *node) { n.nvfs.noNodes = true }})
	fault(Fault{Name: "nvfs-errors", Text: "the driver counted failed I/O and a fragmented mapping", Check: "nvidia-fs-errors", Needs: "gpu",
		apply: func(n *node) {
			n.nvfs.reads = map[string]uint64{"io_state_err": 7}
			n.nvfs.errors = map[string]uint64{"dma-map": 7}
		}})
	fault(Fault{Name: "peer-table-small", Text: "nvidia-fs was built for 64 peers and the node has more", Check: "nvidia-fs-peer-table", Needs: "gpu",
		apply: func(n *node) {
			n.nvfs.maxPeers = 64
			peers := len(n.hasClass(0x020000)) + len(n.hasClass(0x020700)) + len(n.hasClass(0x010802))
			for i := range max(48, 72-peers) { // network functions beside the EFA devices
				n.pci = append(n.pci, function{addr: hexAddr(0x10, i), vendor: 0x1d0f, device: 0xec20, class: 0x020000, driver: "ena"})
			}
		}})
	fault(Fault{Name: "nvidia-fs-stuck-unloading", Text: "nvidia-fs hit a kernel BUG and hangs half unloaded", Check: "nvidia-fs-loaded", Needs: "gpu",
		apply: func(n *node) { n.nvfs.stuck = true }})
}
