package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// lnet is Lustre's network. What a healthy set-up makes of it follows from the EFA devices and the set-up; the
// fields here are what departs from that.
type lnet struct {
	dev, addr string   // the tcp interface, on an IPv4 address
	counts    [][2]int // messages sent and received by each EFA interface so far, in the order of the listing

	efaGone    bool   // somebody deleted the efa net after the set-up
	again      int    // the modules were loaded again by hand, with so few partitions and interfaces; 0: they were not
	down       bool   // the first interface is down
	oddAddress string // the address that kefalnd took for its NIDs, where it is another one
	noRule     bool   // nothing prefers efa
	dropped    int    // messages dropped so far by the first interface
	dropping   bool   // and the number rises
}

// efaDriver is the driver of the EFA devices. Without rdma-core, devices keep the names that the driver gives.
type efaDriver struct {
	version string
	plain   bool // efa_0 instead of rdmap85s0
}

// rdma is an entry of /sys/class/infiniband.
type rdma struct{ name, pci, driver string }

func (n *node) efaFunctions() []function {
	var out []function
	for _, f := range n.pci {
		if f.driver == "efa" {
			out = append(out, f)
		}
	}
	return out
}

// rdmas are all RDMA devices: EFA ones, and ConnectX functions, which keep the kernel's names here.
func (n *node) rdmas() []rdma {
	var out []rdma
	mlx := 0
	for i, f := range n.efaFunctions() {
		name := fmt.Sprintf("efa_%d", i)
		if !n.efa.plain {
			bus, slot, _ := f.place()
			name = fmt.Sprintf("rdmap%ds%d", bus, slot)
		}
		out = append(out, rdma{name, f.addr, "efa"})
	}
	for _, f := range n.pci {
		if f.driver == "mlx5_core" {
			out = append(out, rdma{fmt.Sprintf("mlx5_%d", mlx), f.addr, f.driver})
			mlx++
		}
	}
	return out
}

// place takes a PCI address apart.
func (f function) place() (bus, slot, fn int) {
	hex := func(s string) int {
		v, _ := strconv.ParseInt(s, 16, 32)
		return int(v)
	}
	return hex(f.addr[5:7]), hex(f.addr[8:10]), hex(f.addr[11:12]) // 0000:55:00.0
}

// ni is an EFA interface of LNet.
type ni struct {
	nid, dev     string
	cpt, numa    int
	sent, recv   int
	drop, health int
	down         bool
}

// added are the interfaces that the set-up added, in the order in which its additions ended. It adds up to eight
// at a time, so that within a batch the order is not that of the devices, and changes from boot to boot.
func (n *node) added() []ni {
	if !n.configured() {
		return nil
	}
	var chosen []ni
	address := n.lnet.addr
	if n.lnet.oddAddress != "" {
		address = n.lnet.oddAddress
	}
	_, tail, _ := strings.Cut(address, ".")
	_, tail, _ = strings.Cut(tail, ".")
	names := n.rdmas()
	for i, f := range n.efaFunctions() {
		if !n.setup.gds && i%n.setup.every != 0 {
			continue
		}
		bus, slot, fn := f.place()
		// kefalnd: the last two octets of the tcp address, the bus, the device and function.
		chosen = append(chosen, ni{nid: fmt.Sprintf("%s.%d.%d@efa", tail, bus, slot<<3|fn), dev: names[i].name, numa: f.numa, health: 1000})
	}
	for i := range chosen {
		chosen[i].cpt = i
	}
	return inBatches(chosen)
}

// inBatches gives interfaces the order in which their additions end.
func inBatches(chosen []ni) []ni {
	const batch = 8
	out := make([]ni, 0, len(chosen))
	for first := 0; first < len(chosen); first += batch {
		part := chosen[first:min(first+batch, len(chosen))]
		half := len(part) / 2
		out = append(append(out, part[half:]...), part[:half]...)
	}
	return out
}

// interfaces are the EFA interfaces as they are now; look counts the looks at them.
func (n *node) interfaces(look int) []ni {
	if n.lnet.efaGone {
		return nil
	}
	out := n.added()
	if n.lnet.again > 0 {
		out = slices.DeleteFunc(out, func(i ni) bool { return i.cpt >= n.lnet.again })
	}
	for i := range out {
		c := [2]int{38 + i*5%11, 38 + i*5%11} // keep-alives, where nothing else is said
		if i < len(n.lnet.counts) {
			c = n.lnet.counts[i]
		}
		out[i].sent, out[i].recv = c[0]+n.moved.sends[out[i].dev], c[1]+n.moved.recvs[out[i].dev]
	}
	if len(out) == 0 {
		return nil
	}
	first := &out[0]
	first.drop = n.lnet.dropped
	if n.lnet.dropping {
		first.drop += 17 * look
	}
	if n.lnet.down {
		first.down, first.health = true, 0
	}
	return out
}

// partitions are libcfs's CPU partitions: one for each interface that the set-up adds, else one for each NUMA node.
func (n *node) partitions() int {
	if n.lnet.again > 0 {
		return n.lnet.again
	}
	return n.bootPartitions()
}

func (n *node) bootPartitions() int {
	if k := len(n.added()); k > 1 {
		return k
	}
	numa := 0
	for _, g := range n.gpus {
		numa = max(numa, g.numa)
	}
	return numa + 1
}

// cpts prints a list of partitions as lnetctl does: in quotes.
func cpts(n int) string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprint(i)
	}
	return `"[` + strings.Join(s, ",") + `]"`
}
