package sim

import "fmt"

var shapes = map[string]func() *node{"p5en": p5en, "laptop": laptop}

// p5en is a healthy p5en.48xlarge with FSx for Lustre over EFA: 8 H200, 16 EFA devices, IO stats disabled as by
// default. Bus numbers are those that the interfaces' names tell on real ones (rdmap85s0 is bus 0x55).
func p5en() *node {
	n := &node{
		text:     "healthy p5en.48xlarge: 8 H200, 16 EFA, FSx for Lustre at /fsx, IO stats disabled",
		instance: "p5en.48xlarge", vendor: "Amazon EC2", product: "p5en.48xlarge",
		hostname: "sim-p5en", kernel: "6.8.0-1040-aws", cuda: "13.0", gdsTool: "1.15.1.6",
		bootCfg: map[string]string{"/etc/modules-load.d/nvidia-fs.conf": "nvidia-fs\n"},
	}
	for i, bus := range []int{0x59, 0x5a, 0x72, 0x73, 0x8b, 0x8c, 0xa4, 0xa5} {
		n.gpus = append(n.gpus, gpu{addr: fmt.Sprintf("0000:%02x:00.0", bus), uuid: uuid(i), model: "NVIDIA H200", device: 0x2335, numa: i / 4})
	}
	for i, first := range []int{0x55, 0x6e, 0x87, 0xa0} {
		for k := range 4 {
			n.pci = append(n.pci, function{addr: fmt.Sprintf("0000:%02x:00.0", first+k), vendor: 0x1d0f, device: 0xefa2, class: 0x020000, driver: "efa", numa: i / 2})
		}
	}
	n.pci = append(n.pci, function{addr: "0000:27:00.0", vendor: 0x1d0f, device: 0xec20, class: 0x020000, driver: "ena"})
	for i := range 8 {
		n.pci = append(n.pci, function{addr: fmt.Sprintf("0000:%02x:00.0", 0xc1+i), vendor: 0x1d0f, device: 0xcd01, class: 0x010802, driver: "nvme", numa: i / 4})
	}
	for i := range 4 { // NVSwitches: NVIDIA devices that are no GPUs
		n.pci = append(n.pci, function{addr: fmt.Sprintf("0000:%02x:00.0", 0xb1+i), vendor: 0x10de, device: 0x22a3, class: 0x068000, driver: "nvidia-nvswitch", numa: 1})
	}
	driver(n)
	lustre(n)
	return n
}

// driver gives a node the NVIDIA driver and nvidia-fs.
func driver(n *node) {
	n.nvDrv.loaded, n.nvDrv.version, n.nvDrv.open = true, "580.95.05", true
	n.nvfs = nvfs{loaded: true, installed: true, version: "2.28.4", gds: "1.17.1.22", maxPeers: 128, nodes: 16}
}

// lustre gives a node the modules and the mount of FSx for Lustre.
func lustre(n *node) {
	n.mods = append(n.mods,
		"lustre 1142784 85 -", "lmv 233472 1 lustre", "mdc 282624 1 lustre", "lov 356352 2 lustre", "osc 487424 6 lustre",
		"fld 45056 2 lmv", "fid 36864 4 osc,mdc,lmv,lustre", "ptlrpc 1564672 8 fld,osc,fid,lov,mdc,lmv,lustre",
		"kefalnd 167936 17 -", "ksocklnd 192512 1 -", "lnet 765952 12 osc,kefalnd,ksocklnd,ptlrpc,lustre",
		"libcfs 507904 12 fld,lnet,osc,fid,kefalnd,ptlrpc,lov,mdc,ksocklnd,lmv,lustre", "efa 143360 1 kefalnd",
		"ib_uverbs 200704 1 efa", "ib_core 516096 3 kefalnd,efa,ib_uverbs")
	n.mounts = append(n.mounts, "410 29 0:61 / /fsx rw,relatime shared:220 - lustre 10.31.9.77@tcp:/k3vqpbev rw,checksum,flock,nouser_xattr,lruresize,lazystatfs,nouser_fid2path,verbose,encrypt")
	n.nvfs.registers = append(n.nvfs.registers, "lnet")
}

func laptop() *node {
	return &node{
		text:   "a laptop: no NVIDIA GPU, nothing of GDS",
		vendor: "LENOVO", product: "21CBCTO1WW", hostname: "sim-laptop", kernel: "6.12.43-amd64",
		pci: []function{
			{addr: "0000:00:02.0", vendor: 0x8086, device: 0x46a6, class: 0x030000, driver: "i915", numa: -1},
			{addr: "0000:00:14.3", vendor: 0x8086, device: 0x51f0, class: 0x028000, driver: "iwlwifi", numa: -1},
			{addr: "0000:01:00.0", vendor: 0x144d, device: 0xa80a, class: 0x010802, driver: "nvme", numa: -1},
		},
		mods: []string{"i915 4276224 24 -", "iwlwifi 593920 1 iwlmvm", "nvme 61440 3 -", "nvme_core 212992 4 nvme"},
	}
}

func uuid(i int) string {
	return fmt.Sprintf("5a1e%04x-7c2d-4%03x-9b6f-0e8d3c5a%04x", 0x1b30+i*0x111, 0x1d0+i, 0x42a0+i*7)
}
