package facts

import (
	"fmt"
	"strings"
)

// lnetFlat writes what was read as paths of the document that it was read from.
func lnetFlat(l LNet) map[string]string {
	out := map[string]string{}
	net, k := -1, 0
	for i, ni := range l.NIs {
		if i == 0 || ni.Net != l.NIs[i-1].Net {
			net, k = net+1, 0
			out[fmt.Sprintf("net/%d/net type", net)] = l.Nets[net]
		}
		at := fmt.Sprintf("net/%d/local NI(s)/%d/", net, k)
		k++
		out[at+"nid"] = ni.NID
		for j, name := range ni.Interfaces {
			out[fmt.Sprintf("%sinterfaces/%d", at, j)] = name
		}
		lnetFlatOpt(out, at+"status", ni.Status)
		lnetFlatCounts(out, at, ni.Stats, ni.Sent, ni.Received, ni.Dropped)
		lnetFlatOpt(out, at+"udsp info/net priority", ni.NetPriority)
		lnetFlatOpt(out, at+"udsp info/nid priority", ni.NIDPriority)
		h := at + "health stats/"
		lnetFlatOpt(out, h+"health value", ni.Health)
		lnetFlatOpt(out, h+"fatal_error", ni.HealthStats.FatalError)
		lnetFlatOpt(out, h+"interrupts", ni.HealthStats.Interrupts)
		lnetFlatOpt(out, h+"dropped", ni.HealthStats.Dropped)
		lnetFlatOpt(out, h+"aborted", ni.HealthStats.Aborted)
		lnetFlatOpt(out, h+"no route", ni.HealthStats.NoRoute)
		lnetFlatOpt(out, h+"timeouts", ni.HealthStats.Timeouts)
		lnetFlatOpt(out, h+"error", ni.HealthStats.Error)
		lnetFlatOpt(out, h+"ping_count", ni.HealthStats.PingCount)
		lnetFlatOpt(out, h+"next_ping", ni.HealthStats.NextPing)
		lnetFlatOpt(out, at+"tunables/peer_timeout", ni.Tunables.PeerTimeout)
		lnetFlatOpt(out, at+"tunables/peer_credits", ni.Tunables.PeerCredits)
		lnetFlatOpt(out, at+"tunables/peer_buffer_credits", ni.Tunables.PeerBufferCredits)
		lnetFlatOpt(out, at+"tunables/credits", ni.Tunables.Credits)
		conns := at + "lnd tunables/conns_per_peer"
		if ni.LND() == "o2ib" { // of the captures, those of o2ib are of 2.14 and before
			conns = at + "tunables/conns_per_peer"
		}
		lnetFlatOpt(out, conns, ni.Tunables.ConnsPerPeer)
		lnetFlatOpt(out, at+"lnd tunables/nqps", ni.Tunables.NQPs)
		lnetFlatOpt(out, at+"dev cpt", ni.DevCPT)
		if ni.CPT.OK {
			out[at+"CPT"] = strings.ReplaceAll(fmt.Sprint(ni.CPT.V), " ", ",")
		}
	}
	return out
}

func lnetFlatPeers(p LNetPeers) map[string]string {
	out := map[string]string{}
	for i, peer := range p.Peers {
		at := fmt.Sprintf("peer/%d/", i)
		out[at+"primary nid"] = peer.PrimaryNID
		lnetFlatOpt(out, at+"Multi-Rail", peer.MultiRail)
		for j, ni := range peer.NIs {
			at := fmt.Sprintf("%speer ni/%d/", at, j)
			out[at+"nid"] = ni.NID
			lnetFlatOpt(out, at+"state", ni.State)
			lnetFlatCounts(out, at, ni.Stats, ni.Sent, ni.Received, ni.Dropped)
		}
	}
	return out
}

func lnetFlatCounts(out map[string]string, at string, c LNetCounts, kinds ...LNetMessages) {
	lnetFlatOpt(out, at+"statistics/send_count", c.Send)
	lnetFlatOpt(out, at+"statistics/recv_count", c.Recv)
	lnetFlatOpt(out, at+"statistics/drop_count", c.Drop)
	for i, m := range kinds {
		at := at + []string{"sent_stats/", "received_stats/", "dropped_stats/"}[i]
		lnetFlatOpt(out, at+"put", m.Put)
		lnetFlatOpt(out, at+"get", m.Get)
		lnetFlatOpt(out, at+"reply", m.Reply)
		lnetFlatOpt(out, at+"ack", m.Ack)
		lnetFlatOpt(out, at+"hello", m.Hello)
	}
}

func lnetFlatOpt[T any](out map[string]string, path string, o Opt[T]) {
	if o.OK {
		out[path] = fmt.Sprint(o.V)
	}
}
