package facts

import (
	"fmt"
	"strings"
)

// lnetPrinter prints interfaces as a version of lnetctl does, so that a test knows what must be read.
type lnetPrinter struct {
	netlink bool // the layout of 2.16 and later
	verbose int  // 0, 1, 2, 4
}

func (p lnetPrinter) print(nis []LNetNI) string {
	var b strings.Builder
	// The pads of: a net's dash, what follows it, a NI's dash, a NI's keys, the keys of a NI's sections.
	netDash, netKey, niDash, niKey, inner := "    - ", "      ", "        - ", "          ", "              "
	if p.netlink {
		netDash, netKey, niDash, niKey, inner = "-     ", "      ", "      -     ", "            ", "                  "
	}
	line := func(pad, format string, a ...any) { fmt.Fprintf(&b, pad+format+"\n", a...) }
	b.WriteString("net:\n")
	net := ""
	for _, ni := range nis {
		if ni.Net != net {
			net = ni.Net
			line(netDash, "net type: %s", net)
			line(netKey, "local NI(s):")
		}
		line(niDash, "nid: %s", ni.NID)
		line(niKey, "status: %s", ni.Status.V)
		if ni.Interfaces != nil {
			line(niKey, "interfaces:")
			for i, name := range ni.Interfaces {
				line(inner, "%d: %s", i, name)
			}
		}
		if p.verbose < 1 {
			continue
		}
		line(niKey, "statistics:")
		line(inner, "send_count: %d", ni.Stats.Send.V)
		line(inner, "recv_count: %d", ni.Stats.Recv.V)
		line(inner, "drop_count: %d", ni.Stats.Drop.V)
		if p.verbose >= 4 {
			line(niKey, "udsp info:")
			line(inner, "net priority: %d", ni.NetPriority.V)
			line(inner, "nid priority: %d", ni.NIDPriority.V)
		}
		if p.verbose >= 2 {
			for i, m := range []LNetMessages{ni.Sent, ni.Received, ni.Dropped} {
				line(niKey, "%s:", []string{"sent_stats", "received_stats", "dropped_stats"}[i])
				line(inner, "put: %d", m.Put.V)
				line(inner, "get: %d", m.Get.V)
				line(inner, "reply: %d", m.Reply.V)
				line(inner, "ack: %d", m.Ack.V)
				line(inner, "hello: %d", m.Hello.V)
			}
			h := ni.HealthStats
			line(niKey, "health stats:")
			line(inner, "fatal_error: %d", h.FatalError.V)
			line(inner, "health value: %d", ni.Health.V)
			line(inner, "interrupts: %d", h.Interrupts.V)
			line(inner, "dropped: %d", h.Dropped.V)
			line(inner, "aborted: %d", h.Aborted.V)
			line(inner, "no route: %d", h.NoRoute.V)
			line(inner, "timeouts: %d", h.Timeouts.V)
			line(inner, "error: %d", h.Error.V)
			line(inner, "ping_count: %d", h.PingCount.V)
			line(inner, "next_ping: %d", h.NextPing.V)
		}
		t := ni.Tunables
		line(niKey, "tunables:")
		line(inner, "peer_timeout: %d", t.PeerTimeout.V)
		line(inner, "peer_credits: %d", t.PeerCredits.V)
		line(inner, "peer_buffer_credits: %d", t.PeerBufferCredits.V)
		line(inner, "credits: %d", t.Credits.V)
		line(niKey, "lnd tunables:")
		if t.ConnsPerPeer.OK {
			line(inner, "conns_per_peer: %d", t.ConnsPerPeer.V)
		}
		if t.NQPs.OK {
			line(inner, "nqps: %d", t.NQPs.V)
		}
		line(niKey, "dev cpt: %d", ni.DevCPT.V)
		line(niKey, "CPT: \"%s\"", strings.ReplaceAll(fmt.Sprint(ni.CPT.V), " ", ","))
	}
	return b.String()
}

// read is what must be read of a listing printed so.
func (p lnetPrinter) read(nis []LNetNI) []LNetNI {
	out := make([]LNetNI, len(nis))
	for i, ni := range nis {
		if p.verbose < 1 {
			ni.Stats, ni.Tunables, ni.DevCPT, ni.CPT = LNetCounts{}, LNetTunables{}, Opt[int]{}, Opt[[]int]{}
		}
		if p.verbose < 2 {
			ni.Sent, ni.Received, ni.Dropped = LNetMessages{}, LNetMessages{}, LNetMessages{}
			ni.Health, ni.HealthStats = Opt[int]{}, LNetHealthStats{}
		}
		if p.verbose < 4 {
			ni.NetPriority, ni.NIDPriority = Opt[int64]{}, Opt[int64]{}
		}
		out[i] = ni
	}
	return out
}

// lnetNode makes lo, tcp and n interfaces of EFA. No two values are alike, so that a value that was read at the
// wrong place is seen.
func lnetNode(n int) []LNetNI {
	next := uint64(100)
	u := func() Opt[uint64] { next += 7; return Some(next) }
	i := func() Opt[int64] { next += 7; return Some(int64(next)) }
	m := func() LNetMessages { return LNetMessages{u(), u(), u(), u(), u()} }
	ni := func(address, net string, names ...string) LNetNI {
		return LNetNI{
			NID: address + "@" + net, Address: address, Net: net, Status: Some("up"), Interfaces: names,
			Stats: LNetCounts{u(), u(), u()}, Sent: m(), Received: m(), Dropped: m(),
			Health:      Some(int(u().V)),
			HealthStats: LNetHealthStats{u(), u(), u(), u(), u(), u(), u(), u(), i()},
			Tunables:    LNetTunables{PeerTimeout: i(), PeerCredits: i(), PeerBufferCredits: i(), Credits: i()},
			NetPriority: Some[int64](-1), NIDPriority: Some[int64](-1),
			DevCPT: Some(-1), CPT: Some([]int{0, 1}),
		}
	}
	out := []LNetNI{ni("0", "lo"), ni("10.3.7.9", "tcp", "ens32:1")}
	out[1].Tunables.ConnsPerPeer = i()
	for k := range n {
		bus := 80 + k
		e := ni(fmt.Sprintf("7.9.%d.0", bus), "efa", fmt.Sprintf("rdmap%ds0", bus))
		e.Tunables.NQPs, e.NetPriority, e.NIDPriority = i(), Some[int64](0), Some[int64](3)
		e.DevCPT, e.CPT = Some(k%2), Some([]int{k})
		if k == 1 {
			e.Status = Some("down")
		}
		out = append(out, e)
	}
	return out
}

// Listings in the shape of old versions, which the printer does not know.
const (
	// 2.10: several interfaces of one NI, tcp bonding before dev cpt, no messages by kind.
	lnet210 = `net:
    - net type: o2ib1
      local NI(s):
        - nid: 192.168.40.7@o2ib1
          status: down
          interfaces:
              0: ib2
              1: ib5
          statistics:
              send_count: 31
              recv_count: 32
              drop_count: 33
          tunables:
              peer_timeout: 181
              peer_credits: 9
              peer_buffer_credits: 2
              credits: 257
          lnd tunables:
              peercredits_hiw: 4
              map_on_demand: 1
              conns_per_peer: 5
          tcp bonding: 0
          dev cpt: 1
          CPT: "[0,1,2]"
`
	// 2.12: the settings of o2ib inside tunables, tcp bonding behind dev cpt, no fatal_error.
	lnet212 = `net:
    - net type: o2ib
      local NI(s):
        - nid: 192.168.41.8@o2ib
          status: up
          interfaces:
              0: ib0
          statistics:
              send_count: 71001
              recv_count: 71002
              drop_count: 71003
          dropped_stats:
              put: 21
              get: 22
              reply: 23
              ack: 24
              hello: 25
          health stats:
              health value: 77
              interrupts: 41
              dropped: 42
              aborted: 43
              no route: 44
              timeouts: 45
              error: 46
          tunables:
              peer_timeout: 182
              peer_credits: 33
              peer_buffer_credits: 1
              credits: 258
              peercredits_hiw: 17
              ntx: 513
              conns_per_peer: 6
          lnd tunables:
          dev cpt: 2
          tcp bonding: 0
          CPT: "[3]"
`
)
