package sim

import (
	"fmt"
	"strings"
)

// What lnetctl 2.12 to 2.15 says of a node without the lnet module. net and udsp end with 0 all the same.
const lnetNotLoaded = "opening /dev/lnet failed: No such file or directory\nhint: the kernel modules may not be loaded\n"

// lnetctl prints Lustre 2.15's YAML (lnetconfig's own writer). look counts the looks at the interfaces.
func (n *node) lnetctl(args []string, look int) answer {
	what := strings.Join(args, " ")
	if !n.lnetLoaded() {
		none := map[string]answer{
			"net show":    {err: lnetNotLoaded},
			"udsp show":   {err: lnetNotLoaded},
			"peer show":   {err: lnetNotLoaded + "show:\n    - peer:\n          errno: -2\n          descr: \"cannot get peer list: No such file or directory\"\n", exit: 254},
			"global show": {err: lnetNotLoaded + "show:\n    - global:\n          errno: -2\n          descr: \"cannot get numa_range: Unknown error -2\"\n", exit: 254},
		}
		return none[strings.TrimSuffix(what, " -v 4")]
	}
	switch what {
	case "net show -v 4":
		return answer{out: n.netShow(look)}
	case "peer show":
		return answer{out: n.peerShow()}
	case "udsp show":
		if n.lnet.noRule || !n.configured() {
			return answer{} // without a rule it prints nothing
		}
		return answer{out: "udsp:\n    - idx: 0\n      src: efa\n      dst: NA\n      rte: NA\n      action:\n          priority: 0\n"}
	case "global show":
		return answer{out: globalShow}
	}
	return answer{err: "lnetctl: " + what + ": the simulated lnetctl does not know this\n", exit: 255}
}

// Discovery is on by default, and the set-up says so once more.
const globalShow = `global:
    numa_range: 0
    max_interfaces: 200
    discovery: 1
    drop_asym_route: 0
    retry_count: 2
    transaction_timeout: 50
    health_sensitivity: 100
    recovery_interval: 1
    router_sensitivity: 100
    lnd_timeout: 16
    response_tracking: 3
    recovery_limit: 0
`

// localNI is an interface as "net show -v 4" prints it.
type localNI struct {
	nid, dev                string // no device: lo
	down                    bool
	sent, recv, drop        int
	priority                int // of the net; -1: no rule
	health, fatal           int
	timeout, peers, credits int
	lnd                     string // its own tunables, a line
	devCPT                  int
	cpt                     string
}

func (n *node) netShow(look int) string {
	var b strings.Builder
	all := cpts(n.partitions())
	b.WriteString("net:\n    - net type: lo\n      local NI(s):\n")
	localNI{nid: "0@lo", priority: -1, cpt: all}.print(&b)
	b.WriteString("    - net type: tcp\n      local NI(s):\n")
	credits := 256 // the module's own number; the set-up raises it on large machines
	if n.configured() {
		credits = 2560
	}
	localNI{nid: n.lnet.addr + "@tcp", dev: n.lnet.dev, sent: 1794 + n.moved.tcp[0], recv: 1801 + n.moved.tcp[1], priority: -1, health: 1000,
		timeout: 180, peers: 8, credits: credits, lnd: "conns_per_peer: 1", cpt: all}.print(&b)
	nis := n.interfaces(look)
	if len(nis) == 0 {
		return b.String()
	}
	b.WriteString("    - net type: efa\n      local NI(s):\n")
	for _, i := range nis {
		l := localNI{nid: i.nid, dev: i.dev, down: i.down, sent: i.sent, recv: i.recv, drop: i.drop, health: i.health,
			timeout: 200, peers: 32, credits: 256, lnd: "nqps: 8", devCPT: i.cpt, cpt: fmt.Sprintf(`"[%d]"`, i.cpt)}
		if len(nis) > 4 {
			l.peers = 128
		}
		if i.down {
			l.fatal = 1
		}
		if n.lnet.noRule {
			l.priority = -1
		}
		l.print(&b)
	}
	return b.String()
}

func (l localNI) print(b *strings.Builder) {
	line := func(indent int, format string, a ...any) {
		b.WriteString(strings.Repeat(" ", indent))
		fmt.Fprintf(b, format+"\n", a...)
	}
	// Most of what is sent are requests; of what comes back about a third are replies.
	kinds := func(name string, put, get, reply int) {
		line(10, "%s:", name)
		for i, k := range []string{"put", "get", "reply", "ack", "hello"} {
			line(14, "%s: %d", k, []int{put, get, reply, 0, 0}[i])
		}
	}
	line(8, "- nid: %s", l.nid)
	line(10, "status: %s", onOff(l.down, "down", "up"))
	if l.dev != "" {
		line(10, "interfaces:")
		line(14, "0: %s", l.dev)
	}
	line(10, "statistics:")
	line(14, "send_count: %d", l.sent)
	line(14, "recv_count: %d", l.recv)
	line(14, "drop_count: %d", l.drop)
	line(10, "udsp info:")
	line(14, "net priority: %d", l.priority)
	line(14, "nid priority: -1")
	get, reply := min(2, l.sent), l.recv/3
	kinds("sent_stats", l.sent-get, get, 0)
	kinds("received_stats", l.recv-reply, 0, reply)
	kinds("dropped_stats", l.drop, 0, 0)
	line(10, "health stats:")
	line(14, "fatal_error: %d", l.fatal)
	line(14, "health value: %d", l.health)
	for _, k := range []string{"interrupts", "dropped", "aborted", "no route", "timeouts", "error", "ping_count", "next_ping"} {
		line(14, "%s: 0", k)
	}
	line(10, "tunables:")
	line(14, "peer_timeout: %d", l.timeout)
	line(14, "peer_credits: %d", l.peers)
	line(14, "peer_buffer_credits: 0")
	line(14, "credits: %d", l.credits)
	line(10, "lnd tunables:")
	if l.lnd != "" {
		line(14, "%s", l.lnd)
	}
	line(10, "dev cpt: %d", l.devCPT)
	line(10, "CPT: %s", l.cpt)
}

// peerShow lists the servers: those of object and metadata storage with both addresses, as discovery found them,
// also where the node itself has no efa net; the MGS with its tcp one alone; and addresses of the service's own
// network, which no client reaches. A client prints NA for the state.
func (n *node) peerShow() string {
	if !n.mounted() {
		return ""
	}
	var b strings.Builder
	peer := func(multi bool, nids ...string) {
		fmt.Fprintf(&b, "    - primary nid: %s\n      Multi-Rail: %s\n      peer ni:\n", nids[0], onOff(multi, "True", "False"))
		for _, nid := range nids {
			fmt.Fprintf(&b, "        - nid: %s\n          state: NA\n", nid)
		}
	}
	for _, s := range n.fs.servers() {
		nids := []string{s.addr + "@tcp"}
		if n.fs.efa {
			nids = append(nids, s.efaNID())
		}
		peer(true, nids...)
		peer(true, s.inner()+"@tcp1")
	}
	peer(false, n.fs.mgs+"@tcp")
	return "peer:\n" + b.String()
}
