package facts

import "slices"

// LNetPeers is what "lnetctl peer show" prints. Peers come with the first contact: before a mount there are none
// of the file system's.
type LNetPeers struct {
	Peers []LNetPeer
	Cut   bool // something is missing at the end, or lnetctl ended with an error
}

// LNetPeer is one node. Its primary NID is a tcp one even when all its data goes over EFA.
type LNetPeer struct {
	PrimaryNID string // "" where a grep took the line away
	MultiRail  Opt[bool]
	NIs        []LNetPeerNI
}

// LNetPeerNI is one of a peer's interfaces. Without -v only its NID and state are printed; a client prints NA.
type LNetPeerNI struct {
	NID, Address, Net string
	State             Opt[string]
	Stats             LNetCounts
	Sent              LNetMessages
	Received          LNetMessages
	Dropped           LNetMessages
	Health            Opt[int]
	HealthStats       LNetPeerHealthStats
	NetPriority       Opt[int64]
	NIDPriority       Opt[int64]
}

// LNetPeerHealthStats count remote failures by kind.
type LNetPeerHealthStats struct{ Dropped, Timeout, Error, NetworkTimeout Opt[uint64] }

// Has tells whether a peer has a NID of a LND.
func (p LNetPeer) Has(lnd string) bool {
	return slices.ContainsFunc(p.NIs, func(n LNetPeerNI) bool { return LNetLND(n.Net) == lnd })
}

// Of returns the peers that have a NID of a LND.
func (p LNetPeers) Of(lnd string) []LNetPeer {
	var out []LNetPeer
	for _, peer := range p.Peers {
		if peer.Has(lnd) {
			out = append(out, peer)
		}
	}
	return out
}

// ParseLNetPeers reads what "lnetctl peer show" printed, and ping and discover, which print the same.
func ParseLNetPeers(out, stderr []byte, exit *int) (LNetPeers, LNetProblem) {
	text := string(out)
	r := lnetPeerReader{scan: newLNetScan(text)}
	for r.scan.next() {
		r.take()
	}
	r.Cut = lnetOpenEnd(text) || exit != nil && *exit != 0
	if len(r.Peers) == 0 {
		return r.LNetPeers, lnetDiagnose(text, string(stderr), exit)
	}
	// Every peer is printed with Multi-Rail and at least one NID.
	last := &r.Peers[len(r.Peers)-1]
	if len(last.NIs) == 0 || !last.MultiRail.OK && slices.ContainsFunc(r.Peers, func(p LNetPeer) bool { return p.MultiRail.OK }) {
		r.Cut = true
	}
	return r.LNetPeers, LNetProblem{State: LNetAnswered}
}

type lnetPeerReader struct {
	LNetPeers
	scan    lnetScan
	open    bool // the last peer takes interfaces
	openNI  bool // its last interface takes values
	section lnetLabel
	foreign bool // inside a listing of our own interfaces
}

func (r *lnetPeerReader) take() {
	s := &r.scan
	switch s.label {
	case lnetOther:
		return
	case lnetBreak, lnetMsgsAlloc:
		r.open, r.openNI = false, false
		return
	case lnetDocPeer, lnetPeerNIs:
		r.foreign, r.openNI = false, false
		return
	case lnetDocNet, lnetNetType, lnetLocalNIs, lnetDocElse:
		r.foreign, r.open, r.openNI = true, false, false
		return
	case lnetPrimaryNID:
		r.foreign, r.open, r.openNI = false, false, false
		if _, _, ok := lnetSplitNID(s); !ok {
			return
		}
		r.open = true
		if n := len(r.Peers); n > 0 && r.Peers[n-1].PrimaryNID == s.value && len(r.Peers[n-1].NIs) == 0 {
			return // the line came twice
		}
		r.Peers = append(r.Peers, LNetPeer{PrimaryNID: s.value})
		return
	case lnetNID:
		r.begin()
		return
	case lnetStatistics, lnetSent, lnetReceived, lnetDropped, lnetHealthStats, lnetUDSPInfo:
		r.section = s.label
		return
	case lnetMultiRail:
		if r.open && !r.foreign {
			var v Opt[string]
			lnetSetWord(s, &v, "True", "False")
			if p := &r.Peers[len(r.Peers)-1]; v.OK && !p.MultiRail.OK {
				p.MultiRail = Some(v.V == "True")
			}
		}
		return
	}
	if r.openNI && !r.foreign {
		p := &r.Peers[len(r.Peers)-1]
		p.NIs[len(p.NIs)-1].set(s, r.section)
	}
}

// begin starts an interface of a peer. NIDs that a grep left without their peer are kept below one without a
// name.
func (r *lnetPeerReader) begin() {
	s := &r.scan
	r.section, r.openNI = lnetOther, false
	address, net, ok := lnetSplitNID(s)
	if !ok || r.foreign {
		return
	}
	if !r.open {
		if n := len(r.Peers); n == 0 || r.Peers[n-1].PrimaryNID != "" {
			r.Peers = append(r.Peers, LNetPeer{})
		}
		r.open = true
	}
	p := &r.Peers[len(r.Peers)-1]
	r.openNI = true
	if n := len(p.NIs); n > 0 && p.NIs[n-1].NID == s.value {
		return
	}
	p.NIs = append(p.NIs, LNetPeerNI{NID: s.value, Address: address, Net: net})
}

func (n *LNetPeerNI) set(s *lnetScan, section lnetLabel) {
	switch s.label {
	case lnetPeerState:
		if s.whole && !n.State.OK && s.value != "" {
			n.State = Some(s.value)
		}
	case lnetSendCount, lnetRecvCount, lnetDropCount: // up to 2.9 they stand outside of statistics
		n.Stats.set(s)
	case lnetPut, lnetGet, lnetReply, lnetAck, lnetHello:
		lnetSetMessages(s, section, &n.Sent, &n.Received, &n.Dropped)
	case lnetHealth:
		lnetSetInt(s, &n.Health)
	case lnetHealthDropped:
		lnetSetUint(s, &n.HealthStats.Dropped)
	case lnetPeerTimedOut:
		lnetSetUint(s, &n.HealthStats.Timeout)
	case lnetHealthError:
		lnetSetUint(s, &n.HealthStats.Error)
	case lnetPeerNetTimedOut:
		lnetSetUint(s, &n.HealthStats.NetworkTimeout)
	case lnetNetPriority:
		lnetSetInt(s, &n.NetPriority)
	case lnetNIDPriority:
		lnetSetInt(s, &n.NIDPriority)
	}
}
