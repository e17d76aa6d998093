package sim

import "fmt"

var shapes = map[string]func() *node{"p5en": p5en, "p5": p5, "p6-b200": p6b200, "g6e": g6e, "laptop": laptop}

// p5en is a healthy p5en.48xlarge with FSx for Lustre over EFA: 8 H200, 16 EFA devices, IO stats disabled as by
// default. Bus numbers are those that the interfaces' names tell on real ones (rdmap85s0 is bus 0x55).
func p5en() *node {
	n := ec2("p5en.48xlarge")
	n.text = "healthy p5en.48xlarge: 8 H200, 16 EFA, FSx for Lustre at /fsx, IO stats disabled"
	n.hostname, n.kernel, n.kit = "sim-p5en", "6.8.0-1040-aws", toolkit{release: "1.15.1.6", cuda: "13.0"}
	for i, bus := range []int{0x59, 0x5a, 0x72, 0x73, 0x8b, 0x8c, 0xa4, 0xa5} {
		n.addGPU("NVIDIA H200", 0x2335, bus, i/4)
	}
	for i, first := range []int{0x55, 0x6e, 0x87, 0xa0} {
		for k := range 4 {
			n.addEFA(first+k, i/2)
		}
	}
	n.addNVMe(8)
	for i := range 4 { // NVSwitches: NVIDIA devices that are no GPUs
		n.pci = append(n.pci, function{addr: fmt.Sprintf("0000:%02x:00.0", 0xb1+i), vendor: 0x10de, device: 0x22a3, class: 0x068000, driver: "nvidia-nvswitch", numa: 1})
	}
	n.driver("580.95.05", "2.28.4", "1.17.1.22")
	n.lustre("10.31.115.10", 2)
	return n
}

// p5 is a healthy p5.48xlarge: four EFA devices and one GPU below each of eight PCI roots.
func p5() *node {
	n := ec2("p5.48xlarge")
	n.text = "healthy p5.48xlarge: 8 H100, 32 EFA, FSx for Lustre at /fsx, IO stats disabled"
	n.hostname, n.kernel, n.kit = "sim-p5", "6.8.0-1031-aws", toolkit{release: "1.14.1.1", cuda: "12.9"}
	n.barMiB = 131072
	for i := range 8 {
		first := 0x4f + 0x11*i // rdmap79s0, and the next group 17 buses behind
		n.addGPU("NVIDIA H100 80GB HBM3", 0x2330, first+4, i/4)
		for k := range 4 {
			n.addEFA(first+k, i/4)
		}
	}
	n.addNVMe(8)
	for i := range 4 {
		n.pci = append(n.pci, function{addr: fmt.Sprintf("0000:%02x:00.0", 0xe1+i), vendor: 0x10de, device: 0x22a3, class: 0x068000, driver: "nvidia-nvswitch", numa: 1})
	}
	n.driver("575.57.08", "2.26.6", "1.15.0.42")
	n.lustre("10.47.22.131", 4)
	return n
}

// p6b200 is the node of the guide that this program follows: its versions, statistics and LNet counts before the
// experiment. Two ConnectX functions manage the NVLink switches; they are no EFA devices and carry no storage.
// Listed fifth and sixth are the two interfaces near the first GPU, which have carried more than keep-alives.
func p6b200() *node {
	n := ec2("p6-b200.48xlarge")
	n.text = "healthy p6-b200.48xlarge: 8 B200, 8 EFA, two ConnectX functions, FSx for Lustre at /fsx, IO stats disabled"
	n.hostname, n.kernel, n.kit = "sim-p6-b200", "7.0.0-1013-aws", toolkit{release: "1.17.0.44", cuda: "13.2"}
	for i := range 4 {
		root := 0x54 + 0x20*i
		for k := range 2 {
			n.addEFA(root+4*k, i/2)
			n.addGPU("NVIDIA B200", 0x2901, root+4*k+2, i/2)
		}
	}
	for fn := range 2 {
		n.pci = append(n.pci, function{addr: fmt.Sprintf("0000:c6:00.%d", fn), vendor: 0x15b3, device: 0x1021, class: 0x020700, driver: "mlx5_core", numa: 1})
	}
	n.mods = append(n.mods, "mlx5_ib 536576 0 -", "mlx5_core 3031040 1 mlx5_ib")
	n.addNVMe(8)
	n.driver("595.71.05", "2.30.2", "1.19.1.25")
	n.nvfs.mmap = 4
	n.lustre("10.62.201.18", 1)
	n.lnet.counts = [][2]int{{53, 53}, {53, 53}, {53, 53}, {52, 52}, {2063, 4111}, {2062, 4110}, {14, 14}, {14, 14}}
	return n
}

// g6e is a g6e.24xlarge: EFA, and a type for which AWS does not offer Lustre GDS. Amazon Linux 2023 has Lustre in
// its kernel, and without rdma-core the devices keep their plain names.
func g6e() *node {
	n := ec2("g6e.24xlarge")
	n.text = "g6e.24xlarge: 4 L40S, 2 EFA, FSx for Lustre at /fsx; EFA works, AWS does not offer Lustre GDS on it"
	n.hostname, n.kernel, n.kit = "sim-g6e", "6.1.158-180.294.amzn2023.x86_64", toolkit{release: "1.16.1.26", cuda: "13.1"}
	n.barMiB = 65536
	for i, bus := range []int{0x31, 0x33, 0x9a, 0x9c} {
		n.addGPU("NVIDIA L40S", 0x26b9, bus, i/2)
	}
	n.addEFA(0x36, 0)
	n.addEFA(0xa1, 1)
	n.addNVMe(2)
	n.driver("580.105.08", "2.29.4", "1.18.0.62")
	n.lustre("10.18.74.205", 1)
	n.setup.gds = false
	n.efa = efaDriver{version: "3.0.0a", plain: true}
	n.client.staging = true
	return n
}

// ec2 is an instance without devices.
func ec2(instance string) *node {
	n := &node{instance: instance, vendor: "Amazon EC2", product: instance, barMiB: 262144,
		bootCfg: map[string]string{"/etc/modules-load.d/nvidia-fs.conf": "nvidia-fs\n"}}
	n.pci = append(n.pci, function{addr: "0000:27:00.0", vendor: 0x1d0f, device: 0xec20, class: 0x020000, driver: "ena"})
	n.mods = append(n.mods, "ena 200704 0 -")
	return n
}

func (n *node) addGPU(model string, device uint16, bus, numa int) {
	n.gpus = append(n.gpus, gpu{addr: fmt.Sprintf("0000:%02x:00.0", bus), uuid: uuid(len(n.gpus)), model: model, device: device, numa: numa})
}

func (n *node) addEFA(bus, numa int) {
	n.pci = append(n.pci, function{addr: fmt.Sprintf("0000:%02x:00.0", bus), vendor: 0x1d0f, device: 0xefa2, class: 0x020000, driver: "efa", numa: numa})
}

func (n *node) addNVMe(count int) {
	for i := range count {
		n.pci = append(n.pci, function{addr: fmt.Sprintf("0000:%02x:00.0", 0xd1+i), vendor: 0x1d0f, device: 0xcd01, class: 0x010802, driver: "nvme", numa: i * 2 / count})
	}
}

// driver gives a node the NVIDIA driver and nvidia-fs, with the GDS version that this was built with.
func (n *node) driver(nvidia, nvfsVersion, gds string) {
	n.nvDrv.loaded, n.nvDrv.version, n.nvDrv.open = true, nvidia, true
	n.nvfs = nvfs{loaded: true, installed: true, version: nvfsVersion, gds: gds, maxPeers: 128, nodes: 16}
}

// lustre gives a node the client of FSx for Lustre, set up for GDS, and a file system in the node's own /16. Without
// GDS, the set-up takes one EFA device of so many.
func (n *node) lustre(addr string, every int) {
	n.efa = efaDriver{version: "3.1.0g"}
	n.client = client{version: "2.15.6", kefalnd: "1.2.2"}
	n.setup = setup{gds: true, every: every, at: 21.4}
	n.lnet = lnet{dev: "enp39s0", addr: addr}
	var a, b int
	_, _ = fmt.Sscanf(addr, "%d.%d", &a, &b)
	net := fmt.Sprintf("%d.%d", a, b)
	n.fs = &fileSystem{dir: "/fsx", name: "k3vqpbev", mgs: net + ".9.77", net: net, osts: 6, efa: true}
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
