package facts

import (
	"net/netip"
	"strconv"
	"strings"
)

// LNet is what "lnetctl net show" prints, whatever its verbosity. What a verbosity leaves out is absent, never 0.
type LNet struct {
	Nets []string // net types in the order printed: lo, tcp, efa
	NIs  []LNetNI // in the order printed, which changes from boot to boot
	// Cut: something is missing at the end, or lnetctl ended with an error after it had begun to print.
	Cut bool
	// Next is where a second listing begins that the text holds too (before and after, two hosts); 0: none. It
	// was not read: ParseLNet(text[Next:]) does.
	Next int
	// Orphans counts values whose interface is not named: they were dropped.
	Orphans int
}

// LNetNI is one interface of the network. Without -v there are no statistics and tunables, below -v 2 no health
// and no messages by kind (none at all before 2.12), below -v 4 and before 2.15 no priorities.
type LNetNI struct {
	NID     string // 10.0.7.9@tcp, 7.9.113.0@efa
	Address string // before its last @
	Net     string // behind it: numbered nets as tcp1
	Status  Opt[string]

	Interfaces []string // lo has none, tcp may have none, up to 2.14 there may be several

	Stats    LNetCounts
	Sent     LNetMessages
	Received LNetMessages
	Dropped  LNetMessages

	Health      Opt[int] // 0..1000; of lo it means nothing: real hosts print 0
	HealthStats LNetHealthStats

	Tunables LNetTunables

	NetPriority Opt[int64] // -1: no rule; 0 is the best
	NIDPriority Opt[int64]

	DevCPT Opt[int] // -1: the device has no NUMA node
	CPT    Opt[[]int]

	Cut bool // the text ended inside this interface's block
}

// LNetCounts count messages, not bytes.
type LNetCounts struct{ Send, Recv, Drop Opt[uint64] }

// LNetMessages count messages by kind.
type LNetMessages struct{ Put, Get, Reply, Ack, Hello Opt[uint64] }

// LNetHealthStats count local failures by kind. FatalError came with 2.14/2.15; kefalnd never sets it.
type LNetHealthStats struct {
	FatalError, Interrupts, Dropped, Aborted, NoRoute, Timeouts, Error Opt[uint64]
	PingCount                                                          Opt[uint64]
	NextPing                                                           Opt[int64]
}

// LNetTunables are the settings of an interface. NQPs is of efa, ConnsPerPeer of tcp and o2ib.
type LNetTunables struct {
	PeerTimeout, PeerCredits, PeerBufferCredits, Credits Opt[int64]
	ConnsPerPeer, NQPs                                   Opt[int64]
}

// Of returns the interfaces of a LND, as "efa", those of its numbered nets too.
func (l LNet) Of(lnd string) []LNetNI {
	var out []LNetNI
	for _, ni := range l.NIs {
		if LNetLND(ni.Net) == lnd {
			out = append(out, ni)
		}
	}
	return out
}

// Has tells whether a net of a LND was printed, with or without its interfaces.
func (l LNet) Has(lnd string) bool {
	for _, n := range l.Nets {
		if LNetLND(n) == lnd {
			return true
		}
	}
	return len(l.Of(lnd)) > 0
}

// LNetLND names the LND that serves a net: tcp1 is served by tcp. Upstream's 2.15 and 2.16 tools do not know
// EFA and print its number, 18, as <18:0>.
func LNetLND(net string) string {
	if strings.HasPrefix(net, "<18:") {
		return "efa"
	}
	return strings.TrimRight(net, "0123456789")
}

// LND names the LND that serves the interface.
func (n LNetNI) LND() string { return LNetLND(n.Net) }

// Octets are the four numbers of a short address. kefalnd makes an EFA one of octets 3 and 4 of the tcp
// interface's address, the device's PCI bus and its devfn; the long forms of 2.17 have none.
func (n LNetNI) Octets() ([4]byte, bool) {
	a, err := netip.ParseAddr(n.Address)
	if err != nil || !a.Is4() {
		return [4]byte{}, false
	}
	return a.As4(), true
}

// ParseLNet reads what "lnetctl net show" printed. exit is nil where it is not known. The LNet is to be used
// only if the problem is OK.
func ParseLNet(out, stderr []byte, exit *int) (LNet, LNetProblem) {
	text := string(out)
	r := lnetReader{scan: newLNetScan(text), typeAt: -1}
	r.NIs = make([]LNetNI, 0, min(strings.Count(text, "@"), 64))
	for r.Next == 0 && r.scan.next() {
		r.take()
	}
	r.finish(exit)
	if len(r.Nets)+len(r.NIs) > 0 {
		return r.LNet, LNetProblem{State: LNetAnswered}
	}
	p := lnetDiagnose(text, string(stderr), exit)
	if p.State == LNetUnreadable && r.Orphans > 0 {
		p.State = LNetNameless
	}
	return r.LNet, p
}

// lnetReader gives each label to the interface that was named last.
type lnetReader struct {
	LNet
	scan    lnetScan
	open    bool // the last of NIs takes values
	fresh   bool // it has none yet
	section lnetLabel
	foreign bool // inside a listing of another kind
	typeAt  int  // where a "net type" stands that has no interface yet; -1: none
	seen    map[string]bool
}

func (r *lnetReader) take() {
	s := &r.scan
	switch s.label {
	case lnetOther:
		return
	case lnetBreak, lnetMsgsAlloc: // a gap, or "stats show" behind "net show"
		r.open, r.section = false, lnetOther
		return
	case lnetDocNet:
		if s.value == "" && s.whole && len(r.NIs) > 0 && !r.foreign {
			r.Next = s.line
		}
		if s.value == "" {
			r.foreign = false
		}
		return
	case lnetDocPeer, lnetPrimaryNID, lnetPeerNIs, lnetDocElse:
		// A peer's NIDs are listed with the same label as ours.
		r.open, r.foreign = false, true
		return
	case lnetNetType, lnetLocalNIs:
		r.open, r.foreign = false, false
		if s.label == lnetNetType && s.whole && s.value != "" {
			r.addNet(s.value)
			r.typeAt = s.line
		}
		return
	case lnetNID:
		if !r.foreign {
			r.begin()
		}
		return
	case lnetInterfaces, lnetStatistics, lnetSent, lnetReceived, lnetDropped, lnetHealthStats, lnetTunables, lnetUDSPInfo:
		r.section = s.label
		return
	}
	if r.foreign || s.value == "" {
		return
	}
	if !r.open {
		r.Orphans++
		return
	}
	r.fresh = false
	r.NIs[len(r.NIs)-1].set(s, r.section)
}

func (r *lnetReader) addNet(name string) {
	for _, n := range r.Nets {
		if n == name {
			return
		}
	}
	r.Nets = append(r.Nets, name)
}

// begin starts an interface, unless its name was cut. A NID that was there before starts a second listing.
func (r *lnetReader) begin() {
	s := &r.scan
	r.section = lnetOther
	address, net, ok := lnetSplitNID(s)
	if !ok {
		r.open = false
		return
	}
	if r.seen[s.value] {
		if r.fresh && r.NIs[len(r.NIs)-1].NID == s.value {
			return // the line came twice
		}
		r.open, r.Next = false, s.line
		if r.typeAt >= 0 {
			r.Next = r.typeAt
		}
		return
	}
	if r.seen == nil {
		r.seen = make(map[string]bool, cap(r.NIs))
	}
	r.seen[s.value] = true
	r.addNet(net)
	r.NIs = append(r.NIs, LNetNI{NID: s.value, Address: address, Net: net})
	r.open, r.fresh, r.typeAt = true, true, -1
}

// finish tells whether something is missing at the end.
func (r *lnetReader) finish(exit *int) {
	open := r.Next == 0 && lnetOpenEnd(r.scan.text)
	r.Cut = open || r.typeAt >= 0 && r.Next == 0 || exit != nil && *exit != 0
	if len(r.NIs) == 0 {
		return
	}
	// All interfaces of a listing are printed with the same labels, CPT the last from -v on.
	last := &r.NIs[len(r.NIs)-1]
	for i := range r.NIs {
		if r.NIs[i].CPT.OK && !last.CPT.OK || r.NIs[i].Status.OK && !last.Status.OK {
			last.Cut = true
		}
	}
	last.Cut = last.Cut || open
	r.Cut = r.Cut || last.Cut
}

func (n *LNetNI) set(s *lnetScan, section lnetLabel) {
	switch s.label {
	case lnetStatus:
		lnetSetWord(s, &n.Status, "up", "down")
	case lnetIndex:
		if section == lnetInterfaces && s.whole {
			n.Interfaces = append(n.Interfaces, s.value)
		}
	case lnetPut, lnetGet, lnetReply, lnetAck, lnetHello:
		lnetSetMessages(s, section, &n.Sent, &n.Received, &n.Dropped)
	case lnetHealth:
		lnetSetInt(s, &n.Health)
	case lnetNetPriority:
		lnetSetInt(s, &n.NetPriority)
	case lnetNIDPriority:
		lnetSetInt(s, &n.NIDPriority)
	case lnetDevCPT:
		lnetSetInt(s, &n.DevCPT)
	case lnetCPT:
		if c, ok := lnetCPTs(s.value); ok && s.whole && !n.CPT.OK {
			n.CPT = Some(c)
		}
	case lnetSendCount, lnetRecvCount, lnetDropCount:
		n.Stats.set(s)
	default:
		n.HealthStats.set(s)
		n.Tunables.set(s)
	}
}

// lnetCPTs reads "[0,1]", which is a string to lnetctl and no list.
func lnetCPTs(s string) ([]int, bool) {
	in, ok := strings.CutPrefix(s, "[")
	if !ok || !strings.HasSuffix(in, "]") {
		return nil, false
	}
	out := make([]int, 0, strings.Count(in, ",")+1)
	for f := range strings.SplitSeq(in[:len(in)-1], ",") {
		v, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}
