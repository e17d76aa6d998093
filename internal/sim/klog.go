package sim

import (
	"fmt"
	"slices"
	"strings"
)

// dmesg prints the kernel log with uptime stamps.
func (n *node) dmesg() string {
	lines := []string{"Linux version " + n.kernel + " (buildd@sim) (x86_64-linux-gnu-gcc-13) #42 SMP", "Command line: " + n.cmdline()}
	if n.nvDrv.loaded {
		kind := "NVIDIA UNIX x86_64 Kernel Module"
		if n.nvDrv.open {
			kind = "NVIDIA UNIX Open Kernel Module for x86_64"
		}
		lines = append(lines, "nvidia: loading out-of-tree module taints kernel.", "NVRM: loading "+kind+"  "+n.nvDrv.version+"  Release Build")
	}
	if n.nvfs.loaded {
		lines = append(lines, n.loadMessages()...)
	}
	if n.nvfs.stuck {
		lines = append(lines, "nvidia-fs:nvfs_pin_gpu_pages:1383 Incompatible page table version 0x00020002", "kernel BUG at nvfs-stat.c:407!")
	}
	var log []record
	for i, l := range lines {
		at := 0.0
		if i > 1 {
			at = 9 + float64(i)*0.734211
		}
		log = append(log, record{at: at, text: l})
	}
	if n.fs != nil {
		log = append(log, n.efaLog()...)
		log = append(log, n.lnetLog()...)
	}
	for i, l := range n.klog {
		log = append(log, record{at: 1210 + float64(i)*11.7, text: l})
	}
	slices.SortStableFunc(log, func(a, b record) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	var b strings.Builder
	for _, r := range log {
		fmt.Fprintf(&b, "[%12.6f] %s\n", r.at, r.text)
	}
	return b.String()
}

// efaLog is what the efa driver says of its devices.
func (n *node) efaLog() []record {
	var out []record
	for i, d := range n.rdmas() {
		if d.driver == "efa" {
			out = append(out, record{at: 4.1 + float64(i)*0.012, text: fmt.Sprintf("efa %s %s: IB device registered", d.pci, d.name)})
		}
	}
	return out
}

// againAt is when somebody loaded the modules again by hand.
const againAt = 5211.4

// lnetLog is what LNet, its modules and Lustre say, some of it under the name of errors although it is normal:
// the set-up deletes the tcp net before it adds it, and servers name addresses of their own network.
func (n *node) lnetLog() []record {
	var out []record
	say := func(at float64, format string, a ...any) {
		out = append(out, record{at: at, text: fmt.Sprintf(format, a...)})
	}
	if c := n.complaint(); c != "" && !n.setup.missing {
		say(n.ended(), "%s", n.spoken(n.ended(), c))
	}
	load := func(at float64, partitions, credits int) {
		say(at, "LNet: HW NUMA nodes: 2, HW CPU cores: 192, npartitions: %d", partitions)
		say(at+0.4, "LNet: Added LNI %s@tcp [8/%d/0/180]", n.lnet.addr, credits)
		say(at+0.4, "LNet: Accept secure, port 988")
	}
	add := func(at float64, nis []ni, partitions int) {
		peers := 32
		if len(nis) > 4 {
			peers = 128
		}
		for i, x := range nis {
			t := at + perInterface*float64(i+1)
			say(t, "LNet: Started NI[%s] EFA device[%s] FW[0x0] Lustre[%s] LND[%s] CPT[%d]", x.nid, x.dev, n.client.version, n.client.kefalnd, x.cpt)
			say(t, "LNet: Added LNI %s [%d/%d/0/200]", x.nid, peers, 256*partitions)
		}
	}
	if n.configured() {
		t := n.setup.at
		if n.client.staging {
			say(t+1.3, "kefalnd: module is from the staging directory, the quality is unknown, you have been warned.")
		}
		say(t+1.9, "LNetError: 1842:0:(api-ni.c:3678:lnet_dyn_del_ni()) net tcp not found")
		load(t+1.6, n.bootPartitions(), 2560)
		add(t+2.1, n.added(), n.bootPartitions())
		say(n.ended(), "%s", n.spoken(n.ended(), n.success()))
	}
	if n.mounted() {
		at := n.mountedAt()
		if !n.configured() || n.fs.early {
			load(at-1.1, 2, 256)
		}
		say(at-0.3, "Lustre: Lustre: Build Version: %s", n.client.version)
		say(at-0.1, "LNetError: 2377:0:(lib-move.c:2259:lnet_handle_find_routed_path()) peer %s@tcp1 has no available nets", n.fs.servers()[0].inner())
		say(at, "Lustre: Mounted %s-client", n.fs.name)
	}
	if k := n.lnet.again; k > 0 && n.configured() {
		load(againAt, k, 256)
		add(againAt+1, n.interfaces(0), k)
		e := againAt + 3 + perInterface*float64(k)
		say(e, "%s", n.spoken(e, "Error: Error adding EFA interfaces"))
	}
	return out
}
