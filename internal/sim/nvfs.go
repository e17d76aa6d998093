package sim

import (
	"fmt"
	"strings"
)

// nvfsFiles prints what nvidia-fs shows below /proc and /sys, from nvfs-proc.c and nvfs-stat.c.
func (n *node) nvfsFiles(f map[string]string) {
	d := n.nvfs
	if !d.loaded {
		return
	}
	const proc, sys = "/proc/driver/nvidia-fs/", "/sys/module/nvidia_fs/"
	parts := strings.SplitN(d.version, ".", 3)
	f[proc+"version"] = fmt.Sprintf("version: %s.%s\n", parts[0], parts[1])
	f[proc+"devcount"] = fmt.Sprintf("%d\n", d.nodes)
	f[proc+"stats"] = n.nvfsStats()
	f[proc+"modules"] = "wekafsio: 1\n"
	f[proc+"bridges"] = ""
	for _, b := range n.acs {
		f[proc+"bridges"] += b + "\n"
	}
	f[proc+"peer_affinity"] = ""
	f[proc+"peer_distance"] = n.peerDistance()
	f[sys+"version"] = d.version + "\n"
	f[sys+"refcnt"] = "0\n"
	f[sys+"initstate"] = "live\n"
	if d.stuck {
		f[sys+"refcnt"], f[sys+"initstate"] = "-1\n", "going\n"
	}
	for k, v := range map[string]string{"dbg_enabled": "0", "info_enabled": "1", "max_devices": "16", "peer_stats_enabled": "0", "rw_stats_enabled": onOff(d.rwStats, "1", "0"), "use_legacy_p2p_allocation": "0"} {
		f[sys+"parameters/"+k] = v + "\n"
	}
}

// nvfsStats prints the statistics with IO stats off: then successful reads and writes are not counted, and only
// the counts of errors are shown.
func (n *node) nvfsStats() string {
	d := n.nvfs
	var b strings.Builder
	fmt.Fprintf(&b, "GDS Version: %s \nNVFS statistics(ver: 4.0)\nNVFS Driver(version: %s)\n", d.gds, d.version)
	fmt.Fprintf(&b, "Mellanox PeerDirect Supported: False\nIO stats: %s, peer IO stats: Disabled\nLogging level: info\n\n", onOff(d.rwStats, "Enabled", "Disabled"))
	fmt.Fprintf(&b, "Active Shadow-Buffer (MiB): 0\nActive Process: 0\n")
	r, w, e, m := d.reads, d.writes, d.errors, n.moved
	if d.rwStats {
		fmt.Fprintf(&b, "Batches\t\t\t\t: n=0 ok=0 err=0 Avg-Submit-Latency(usec)=0\n")
		fmt.Fprintf(&b, "Reads\t\t\t\t: n=%d ok=%d err=%d readMiB=%d io_state_err=%d\n", r["n"]+m.reads, r["ok"]+m.reads, r["err"], r["readMiB"]+m.readMiB, r["io_state_err"])
		fmt.Fprintf(&b, "Reads\t\t\t\t: Bandwidth(MiB/s)=0 Avg-Latency(usec)=0\n")
	} else {
		fmt.Fprintf(&b, "Reads\t\t\t\t: err=%d io_state_err=%d\n", r["err"], r["io_state_err"])
	}
	fmt.Fprintf(&b, "Sparse Reads\t\t        : n=%d io=0 holes=0 pages=0 \n", r["sparse"]+m.sparse)
	if d.rwStats {
		fmt.Fprintf(&b, "Writes\t\t\t\t: n=%d ok=%d err=%d writeMiB=%d io_state_err=%d pg-cache=0 pg-cache-fail=0 pg-cache-eio=0\n", w["n"]+m.writes, w["ok"]+m.writes, w["err"], w["writeMiB"]+m.writeMiB, w["io_state_err"])
		fmt.Fprintf(&b, "Writes\t\t\t\t: Bandwidth(MiB/s)=0 Avg-Latency(usec)=0\n")
	} else {
		fmt.Fprintf(&b, "Writes\t\t\t\t: err=%d io_state_err=%d pg-cache=0 pg-cache-fail=0 pg-cache-eio=0\n", w["err"], w["io_state_err"])
	}
	fmt.Fprintf(&b, "Mmap\t\t\t\t: n=%d ok=%d err=0 munmap=%d\n", d.mmap, d.mmap, d.mmap)
	fmt.Fprintf(&b, "Bar1-map\t\t\t: n=%d ok=%d err=0 free=%d callbacks=0 active=0 delay-frees=0\n", d.mmap, d.mmap, d.mmap)
	fmt.Fprintf(&b, "Error\t\t\t\t: cpu-gpu-pages=%d sg-ext=%d dma-map=%d dma-ref=0\n", e["cpu-gpu-pages"], e["sg-ext"], e["dma-map"])
	fmt.Fprintf(&b, "Ops\t\t\t\t: Read=0 Write=0 BatchIO=0\n")
	return b.String()
}

// peerDistance prints the table: double TABs in the header, single ones and a trailing blank in the rows.
func (n *node) peerDistance() string {
	var b strings.Builder
	b.WriteString("gpu\t\tpeer\t\tpeerrank\tp2pdist\tlink\tgen\tnuma\tnp2p\tclass\n")
	for _, g := range n.gpus {
		for _, p := range n.peers() {
			dist, class := 0xfe, "network"
			if p.numa == g.numa {
				dist = 0x7f
			}
			if p.addr[:6] == g.addr[:6] { // same group of buses: a common switch
				dist = 3
			}
			if p.class == 0x010802 {
				class = "nvme"
			}
			fmt.Fprintf(&b, "%s \t%s \t0x%08x\t0x%04x\t0x10\t0x05\t0x%02x\t0\t%s\n", g.addr, p.addr, dist<<16|0x50, dist, p.numa, class)
		}
	}
	return b.String()
}

// registered prints the list of storage modules as it is while a node is open.
func (n *node) registered() string {
	var b strings.Builder
	if n.lnetLoaded() { // Lustre registers as lnet, and a module's version is never told
		b.WriteString("lnet: (null)\n")
	}
	b.WriteString("wekafsio: 1\n")
	return b.String()
}

func onOff(on bool, yes, no string) string {
	if on {
		return yes
	}
	return no
}
