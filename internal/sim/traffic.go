package sim

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"gdsproof/internal/host"
)

// moving is what I/O moves on a node: counters that rise. The host's lock guards it.
type moving struct {
	sparse, reads, readMiB, writes, writeMiB uint64
	sends, recvs                             map[string]int    // of each EFA interface, by device
	tcp                                      [2]int            // of the tcp interface: sent, received
	fetched, served                          map[string]uint64 // bytes of each EFA device: rdma_read_bytes, rdma_read_resp_bytes
}

// job is a piece of I/O as the node sees it.
type job struct {
	op       string // read, write
	cpu      bool
	strict   bool
	gpu      int
	threads  uint64
	size, io uint64
	env      []string
}

func (j job) blocks() uint64 { return (j.size + j.io - 1) / j.io }

// way is the way that a job's I/O takes.
type way struct {
	direct     bool
	registered bool   // the buffers were registered with nvidia-fs
	err        string // no byte is moved
	code       int
	lane       string // why it is not direct
}

// wayOf decides as libcufile does: what it goes by, what the driver gives, what the file allows.
func (n *node) wayOf(j job) way {
	if j.cpu {
		return way{}
	}
	if n.cufile.broken {
		return way{err: "cuFile driver open error", code: -22}
	}
	force := n.effective("properties.force_compat_mode", "false", j.env) == "true"
	refuse := func(code int, words string, w way) way {
		if j.strict || n.effective("properties.allow_compat_mode", "true", j.env) != "true" {
			return way{err: words, code: code}
		}
		return w
	}
	switch {
	case force:
		return way{lane: "forced"}
	case !n.nvfs.loaded || n.nvfs.stuck || n.devNodes() == 0:
		return refuse(5001, "nvidia-fs driver is not loaded", way{lane: "no driver"})
	case n.denied:
		return refuse(5007, "GPUDirect Storage not supported on current platform", way{lane: "platform"})
	case n.gpus[j.gpu].unsupported:
		return refuse(5009, "GPUDirect Storage not supported on current device", way{lane: "device"})
	case n.noHooks || n.silentCompat:
		return refuse(5008, notOnFile, way{lane: "file"})
	case n.registeredCompat, j.op == "write" && n.effective("properties.gds_rdma_write_support", "true", j.env) == "false":
		return refuse(5008, notOnFile, way{registered: true, lane: "file"})
	}
	return way{direct: true, registered: true}
}

const notOnFile = "GPUDirect Storage not supported on current file"

// carry moves the counters as a job's I/O does.
func (n *node) carry(j job, w way) {
	if w.registered {
		n.nvfs.mmap += j.threads
	}
	m, blocks := &n.moved, j.blocks()
	if w.direct && j.op == "read" {
		if !n.dense {
			m.sparse += blocks
		}
		if n.nvfs.rwStats {
			m.reads, m.readMiB = m.reads+blocks, m.readMiB+j.size>>20
		}
	}
	if w.direct && j.op == "write" && n.nvfs.rwStats {
		m.writes, m.writeMiB = m.writes+blocks, m.writeMiB+j.size>>20
	}
	if n.fs != nil {
		n.send(j)
	}
}

// send moves LNet's messages: a written MiB is one sent and two received, a read one two of each. One GPU uses the
// interfaces near it.
func (n *node) send(j job) {
	rpcs := int(j.size / min(j.io, 1<<20)) // direct I/O: each is a message of its own up to 1 MiB
	sent, recv := 2*rpcs, 2*rpcs
	if j.op == "write" {
		sent = rpcs
	}
	m := &n.moved
	if n.wireFlat {
		return
	}
	all := n.interfaces(0)
	near := n.near(j.gpu, all)
	if !n.fs.efa || n.fs.early || n.efaBlocked { // the servers are known by their tcp addresses alone, or cannot be reached by others
		near = nil
	}
	if len(near) == 0 {
		m.tcp[0], m.tcp[1] = m.tcp[0]+sent, m.tcp[1]+recv
		return
	}
	if m.sends == nil {
		m.sends, m.recvs, m.fetched, m.served = map[string]int{}, map[string]int{}, map[string]uint64{}, map[string]uint64{}
	}
	for i, dev := range near {
		k := len(near)
		m.sends[dev] += sent*(i+1)/k - sent*i/k
		m.recvs[dev] += recv*(i+1)/k - recv*i/k
		bytes := j.size*uint64(i+1)/uint64(k) - j.size*uint64(i)/uint64(k)
		if j.op == "read" {
			m.fetched[dev] += bytes
		} else {
			m.served[dev] += bytes
		}
	}
	if j.op != "read" || j.cpu {
		return
	}
	// The first one gets a little more, and each one a few keep-alives meanwhile: as the guide's counts have it.
	if len(near) > 1 {
		m.sends[near[0]], m.sends[near[1]] = m.sends[near[0]]+rpcs/600, m.sends[near[1]]-rpcs/600
		m.recvs[near[0]], m.recvs[near[1]] = m.recvs[near[0]]+rpcs/568, m.recvs[near[1]]-rpcs/568
	}
	for i, ni := range all {
		alive := []int{3, 3, 2, 3, 2, 2, 6, 5}[i%8]
		m.sends[ni.dev] += alive
		m.recvs[ni.dev] += alive
	}
}

// near are the devices of the interfaces that a GPU uses: its share of them in the order of the bus, two at least.
func (n *node) near(gpu int, all []ni) []string {
	if len(all) == 0 {
		return nil
	}
	bus := map[string]int{}
	names := n.rdmas()
	for i, f := range n.efaFunctions() {
		b, slot, _ := f.place()
		bus[names[i].name] = b<<8 | slot
	}
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b ni) int { return bus[a.dev] - bus[b.dev] })
	k := min(max(2, len(all)/len(n.gpus)), len(all))
	first := min(gpu*len(all)/len(n.gpus)/k*k, len(all)-k)
	var out []string
	for _, i := range sorted[first : first+k] {
		if !i.down && i.dev != n.idleDevice {
			out = append(out, i.dev)
		}
	}
	return out
}

// others is what another job does between two looks.
func (n *node) others() {
	if n.busy {
		n.nvfs.mmap += 16
		n.moved.sparse += 5120
		n.send(job{op: "read", size: 5 << 30, io: 1 << 20, gpu: len(n.gpus) - 1, threads: 8})
	}
}

const nvfsStatsPath, rwStatsPath = "/proc/driver/nvidia-fs/stats", "/sys/module/nvidia_fs/parameters/rw_stats_enabled"

// moves answers for files whose text changes with the I/O.
func (h *Host) moves(p string) (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case p == nvfsStatsPath && h.n.nvfs.loaded:
		h.n.others()
		return h.n.nvfsStats(), true
	case p == rwStatsPath && h.n.nvfs.loaded:
		return onOff(h.n.nvfs.rwStats, "1\n", "0\n"), true
	case strings.HasPrefix(p, rdmaDir):
		dev, name, ok := strings.Cut(strings.TrimPrefix(p, rdmaDir), "/ports/1/hw_counters/")
		if v, is := h.n.hwCounters(dev)[name]; ok && is {
			return fmt.Sprintf("%d\n", v), true
		}
	}
	return "", false
}

// hwCounters are an EFA device's, by the names of the driver.
func (n *node) hwCounters(dev string) map[string]uint64 {
	i := slices.IndexFunc(n.rdmas(), func(r rdma) bool { return r.name == dev && r.driver == "efa" })
	if i < 0 {
		return nil
	}
	out := map[string]uint64{"lifespan": 12}
	for _, name := range []string{"tx_bytes", "tx_pkts", "rx_bytes", "rx_pkts", "rx_drops", "send_bytes", "send_wrs", "recv_bytes", "recv_wrs", "rdma_read_wrs", "rdma_read_bytes",
		"rdma_read_wr_err", "rdma_read_resp_bytes", "rdma_write_wrs", "rdma_write_bytes", "rdma_write_wr_err", "rdma_write_recv_bytes",
		"retrans_bytes", "retrans_pkts", "retrans_timeout_events", "impaired_remote_conn_events", "unresponsive_remote_events"} {
		out[name] = 0
	}
	out["rdma_read_bytes"] = 1<<21*uint64(i+1) + n.moved.fetched[dev]
	out["rdma_read_resp_bytes"] = 1<<20*uint64(i+1) + n.moved.served[dev]
	return out
}

// counters lists the files of a device's counters.
func (h *Host) counters(dir string) ([]string, bool) {
	dev, ok := strings.CutSuffix(strings.TrimPrefix(dir, rdmaDir), "/ports/1/hw_counters")
	if !ok || !strings.HasPrefix(dir, rdmaDir) {
		return nil, false
	}
	m := h.n.hwCounters(dev)
	return sortedKeys(m), m != nil
}

// gdsioArgs reads gdsio's options.
func gdsioArgs(args []string) (map[string]string, bool) {
	m := map[string]string{}
	for i := 0; i+1 < len(args); i += 2 {
		m[args[i]] = args[i+1]
	}
	return m, len(args)%2 == 0 && m["-f"] != ""
}

func sizeOf(s string) uint64 {
	var n uint64
	unit := ""
	_, _ = fmt.Sscanf(s, "%d%s", &n, &unit)
	return n << map[string]uint{"K": 10, "M": 20, "G": 30}[unit]
}

// gdsio answers as NVIDIA's tool does; its threads stop when the first ends, so that a few blocks are missing from its
// count.
func (h *Host) gdsio(c host.Command, env []string) answer {
	m, ok := gdsioArgs(c.Argv[1:])
	if !ok {
		return answer{out: "gdsio version :1.12\nUsage [using config file]: gdsio rw-sample.gdsio\n", exit: 255}
	}
	j := job{op: onOff(m["-I"] == "1", "write", "read"), cpu: m["-x"] == "1", threads: sizeOf(m["-w"]), size: sizeOf(m["-s"]), io: max(1, sizeOf(m["-i"])), gpu: int(sizeOf(m["-d"])), env: env}
	if j.gpu >= len(h.n.gpus) {
		return answer{out: "invalid GPU device id :" + m["-d"] + "\n", exit: 1}
	}
	n, done := h.configured(env)
	defer done()
	if n.kit.noLibrary {
		return answer{err: c.Argv[0] + ": error while loading shared libraries: libcufile.so.0: cannot open shared object file: No such file or directory\n", exit: 127}
	}
	if !h.made[path.Dir(m["-f"])] && path.Dir(m["-f"]) != h.mount() {
		return answer{out: "unable to open file " + m["-f"] + "\n", exit: 1}
	}
	j.strict = n.strict
	w := n.wayOf(j)
	h.log(env, n, j, w)
	if h.n.gdsioErrorGPU > 0 && j.gpu == h.n.gdsioErrorGPU && !j.cpu {
		return answer{out: "Error: IO failed stopping traffic, fd :27 ret:-5 errno :5\nio failed of type 0 size :1048576 ret :-5\n", exit: 1}
	}
	switch {
	case w.code == 5001 || w.code == -22 || w.code == 5007:
		return answer{out: fmt.Sprintf("cuFile driver open error: %d\n", w.code)} // and ends with 0
	case w.err != "":
		return answer{out: "file register error: " + w.err + " filename :" + m["-f"] + "\n", exit: 1}
	}
	h.n.carry(j, w)
	share := uint64(10140)
	kind := "GPUD"
	if j.op == "write" {
		share = 10044
	}
	if j.cpu {
		share, kind = 10190, "CPUONLY"
	}
	ops := max(1, j.blocks()*share/10240)
	done1 := ops * j.io
	rate := 3.2
	seconds := float64(done1) / (1 << 30) / rate
	return answer{out: fmt.Sprintf("IoType: %s XferType: %s Threads: %d DataSetSize: %d/%d(KiB) IOSize: %d(KiB) Throughput: %.6f GiB/sec, Avg_Latency: %.6f usecs ops: %d total_time %.6f secs\n",
		strings.ToUpper(j.op), kind, j.threads, done1>>10, j.size>>10, j.io>>10, rate, seconds*1e6*float64(j.threads)/float64(ops), ops, seconds)}
}

// mount is where the file system is, "" if it is not.
func (h *Host) mount() string {
	if !h.n.mounted() {
		return ""
	}
	return h.n.fs.dir
}
