package facts

import (
	"strconv"
	"strings"
)

// EFACounters are readings of /sys/class/infiniband/<device>/…/hw_counters, by device and the kernel's own name.
//
// They survive a reboot, so only differences mean something. A name that is missing was not read or is not known
// to the driver or the hardware (the retrans_ and unresponsive_ ones need efa 2.17 on Nitro v4): it is not zero.
// "lifespan" is no counter but ib_core's cache age.
type EFACounters struct {
	Port     map[string]map[string]uint64 // ports/1/hw_counters: the traffic
	Device   map[string]map[string]uint64 // hw_counters: commands to the device (create_ah_err, reg_mr_err, …)
	Repeated bool                         // a counter was given twice with different values; the first one is kept
	Cut      bool                         // the text ends within a line; that line was not used
}

// deviceCounters are the driver's per-device ones, to tell them where a text gives no path.
var deviceCounters = map[string]bool{
	"submitted_cmds": true, "completed_cmds": true, "cmds_err": true, "no_completion_cmds": true,
	"keep_alive_rcvd": true, "alloc_pd_err": true, "create_qp_err": true, "create_cq_err": true,
	"reg_mr_err": true, "alloc_ucontext_err": true, "create_ah_err": true, "mmap_err": true,
	"alloc_mr_err": true, "get_dma_mr_err": true,
}

// ParseEFACounters reads what people paste of them: "efa_0 name=value", "efa_0/name=value", "efa_0 name = value",
// grep's "…/hw_counters/name:value", head's "==> …/hw_counters/name <==", a device's name as a heading, and
// `rdma statistic`. Devices that are known to be no EFA (mlx5_0, ibp198s0) are left out.
func ParseEFACounters(b []byte) EFACounters {
	r := counterReader{out: EFACounters{Port: map[string]map[string]uint64{}, Device: map[string]map[string]uint64{}}}
	for line, whole := range rawLines(b) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case !whole:
			r.out.Cut = true
		case !r.counter(line) && !r.link(line) && !r.heading(line):
			r.device, r.path = "", ""
		}
	}
	for _, m := range []map[string]map[string]uint64{r.out.Port, r.out.Device} {
		for dev := range m {
			if !isEFADevice(dev, r.out.Port[dev]) {
				delete(m, dev)
			}
		}
	}
	return r.out
}

// AddFile puts in what was read from one counter's file; false if the path or the value is none.
func (c *EFACounters) AddFile(path string, out []byte) bool {
	dev, name, port, ok := counterPath(path)
	v, num := countOf(strings.TrimSpace(string(out)))
	if !ok || !num {
		return false
	}
	if c.Port == nil {
		c.Port, c.Device = map[string]map[string]uint64{}, map[string]map[string]uint64{}
	}
	c.put(dev, name, port, v)
	return true
}

func (c *EFACounters) put(dev, name string, port bool, v uint64) {
	m := c.Device
	if port {
		m = c.Port
	}
	if m[dev] == nil {
		m[dev] = map[string]uint64{}
	}
	if old, ok := m[dev][name]; ok {
		c.Repeated = c.Repeated || old != v
		return
	}
	m[dev][name] = v
}

type counterReader struct {
	out    EFACounters
	device string // of a heading
	path   string // of "==> path <==", whose value follows
}

// counter reads a line that holds a value.
func (r *counterReader) counter(line string) bool {
	if r.path != "" {
		if v, ok := countOf(line); ok {
			dev, name, port, _ := counterPath(r.path)
			r.out.put(dev, name, port, v)
			r.path = ""
			return true
		}
	}
	at := strings.LastIndexAny(line, "=: \t")
	if at < 0 {
		return false
	}
	v, ok := countOf(line[at+1:])
	if !ok {
		return false
	}
	left := strings.TrimRight(line[:at], "=: \t")
	if dev, name, port, ok := counterPath(left); ok {
		r.out.put(dev, name, port, v)
		return true
	}
	dev, name := r.device, left
	if i := strings.LastIndexAny(left, "/ \t"); i >= 0 {
		dev, name = strings.TrimRight(left[:i], "/: \t"), left[i+1:]
	}
	if dev == "" || !isDeviceName(dev) || !isCounterName(name) {
		return false
	}
	r.out.put(dev, name, !deviceCounters[name], v)
	return true
}

// link reads `rdma statistic`: "link rdmap85s0/1 tx_bytes 12 rx_bytes 34 …", or the pairs below it with -p.
func (r *counterReader) link(line string) bool {
	f := strings.Fields(line)
	if len(f) < 2 || f[0] != "link" {
		return false
	}
	dev, _, _ := strings.Cut(f[1], "/")
	r.device = dev
	for i := 2; i+1 < len(f); i += 2 {
		v, ok := countOf(f[i+1])
		if !ok || !isCounterName(f[i]) {
			break
		}
		r.out.put(dev, f[i], !deviceCounters[f[i]], v)
	}
	return true
}

// heading reads a line that names a device alone, or head's and tail's file names.
func (r *counterReader) heading(line string) bool {
	name := strings.Trim(line, "=-#<>: \t")
	if _, _, _, ok := counterPath(name); ok {
		r.device, r.path = "", name
		return true
	}
	if isDeviceName(name) && namedEFA(name) {
		r.device, r.path = name, ""
		return true
	}
	return false
}

// counterPath takes a path apart: …/<device>/ports/1/hw_counters/<name> or …/<device>/hw_counters/<name>.
func counterPath(p string) (dev, name string, port, ok bool) {
	before, name, ok := strings.Cut(p, "/hw_counters/")
	if !ok || !isCounterName(name) {
		return "", "", false, false
	}
	parts := strings.Split(before, "/")
	if n := len(parts); n >= 3 && parts[n-2] == "ports" {
		port, parts = true, parts[:n-2]
	}
	dev = parts[len(parts)-1]
	return dev, name, port, isDeviceName(dev)
}

func isCounterName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func isDeviceName(s string) bool {
	return s != "" && !strings.ContainsAny(s, "/=:,;()[] \t")
}

func namedEFA(dev string) bool {
	return strings.HasPrefix(dev, "efa_") || strings.HasPrefix(dev, "rdmap")
}

// isEFADevice goes by the names of the driver and of rdma-core. Under any other name (a site's udev rule), it takes
// counters that only this driver has. The driver's link in sysfs is the better witness where there is one.
func isEFADevice(dev string, port map[string]uint64) bool {
	if namedEFA(dev) {
		return true
	}
	_, resp := port["rdma_read_resp_bytes"]
	_, wrs := port["recv_wrs"]
	return (resp || wrs) && !strings.HasPrefix(dev, "mlx5_") && !strings.HasPrefix(dev, "ib")
}

// countOf reads a count. Commas are taken where they part thousands, which some people's printf does.
func countOf(s string) (uint64, bool) {
	groups := strings.Split(s, ",")
	for i, g := range groups {
		if i > 0 && len(g) != 3 || i == 0 && len(groups) > 1 && len(g) > 3 || g == "" || strings.Trim(g, "0123456789") != "" {
			return 0, false
		}
	}
	v, err := strconv.ParseUint(strings.Join(groups, ""), 10, 64)
	return v, err == nil
}
