package facts

func (c *LNetCounts) set(s *lnetScan) {
	switch s.label {
	case lnetSendCount:
		lnetSetUint(s, &c.Send)
	case lnetRecvCount:
		lnetSetUint(s, &c.Recv)
	case lnetDropCount:
		lnetSetUint(s, &c.Drop)
	}
}

func (m *LNetMessages) set(s *lnetScan) {
	switch s.label {
	case lnetPut:
		lnetSetUint(s, &m.Put)
	case lnetGet:
		lnetSetUint(s, &m.Get)
	case lnetReply:
		lnetSetUint(s, &m.Reply)
	case lnetAck:
		lnetSetUint(s, &m.Ack)
	case lnetHello:
		lnetSetUint(s, &m.Hello)
	}
}

// lnetSetMessages fills the kind of messages whose section the line stands in: interfaces and peers have the same three.
func lnetSetMessages(s *lnetScan, section lnetLabel, sent, received, dropped *LNetMessages) {
	switch section {
	case lnetSent:
		sent.set(s)
	case lnetReceived:
		received.set(s)
	case lnetDropped:
		dropped.set(s)
	}
}

func (h *LNetHealthStats) set(s *lnetScan) {
	switch s.label {
	case lnetFatal:
		lnetSetUint(s, &h.FatalError)
	case lnetInterrupts:
		lnetSetUint(s, &h.Interrupts)
	case lnetHealthDropped:
		lnetSetUint(s, &h.Dropped)
	case lnetAborted:
		lnetSetUint(s, &h.Aborted)
	case lnetNoRoute:
		lnetSetUint(s, &h.NoRoute)
	case lnetTimeouts:
		lnetSetUint(s, &h.Timeouts)
	case lnetHealthError:
		lnetSetUint(s, &h.Error)
	case lnetPingCount:
		lnetSetUint(s, &h.PingCount)
	case lnetNextPing:
		lnetSetInt(s, &h.NextPing)
	}
}

// Up to 2.14 the settings of o2ib stand inside tunables, from 2.15 on inside lnd tunables.
func (t *LNetTunables) set(s *lnetScan) {
	switch s.label {
	case lnetPeerTimeout:
		lnetSetInt(s, &t.PeerTimeout)
	case lnetPeerCredits:
		lnetSetInt(s, &t.PeerCredits)
	case lnetPeerBuffers:
		lnetSetInt(s, &t.PeerBufferCredits)
	case lnetCredits:
		lnetSetInt(s, &t.Credits)
	case lnetConnsPerPeer:
		lnetSetInt(s, &t.ConnsPerPeer)
	case lnetNQPs:
		lnetSetInt(s, &t.NQPs)
	}
}

// LNetCounterLine is what lines chosen by a grep tell of one interface: "send_count: 53" and "recv_count: 53"
// without a name. Net and NID are those named above it, if the grep left them in.
type LNetCounterLine struct {
	Net, NID string
	LNetCounts
}

// LNetCounterLines are the counters of lines chosen by a grep.
type LNetCounterLines struct {
	// Columns has one element; two after "paste before after", which sets two listings side by side. As many
	// counters as a column has, so many interfaces were printed.
	Columns [][]LNetCounterLine
	Cut     bool // the last value may be cut, and was dropped
}

// ParseLNetCounterLines reads the counters of lnetctl net show -v behind a grep. Interfaces keep the order
// printed. lnetctl prints send before recv before drop, so a label that is not behind the one before it begins
// the next interface.
func ParseLNetCounterLines(text []byte) LNetCounterLines {
	s := newLNetScan(string(text))
	var out LNetCounterLines
	var net, nid string
	var rank []lnetLabel // per column: the last label taken
	last, line, col := lnetOther, -1, 0
	for s.next() {
		switch s.label {
		case lnetNetType, lnetNID:
			if s.label == lnetNetType {
				net, nid = s.value, ""
			} else if _, of, ok := lnetSplitNID(&s); ok {
				net, nid = of, s.value
			}
			if !s.whole {
				net, nid = "", ""
			}
			clear(rank)
		case lnetSendCount, lnetRecvCount, lnetDropCount:
			if s.line == line && s.label == last {
				col++
			} else {
				col = 0
			}
			last, line = s.label, s.line
			for len(out.Columns) <= col {
				out.Columns, rank = append(out.Columns, nil), append(rank, lnetOther)
			}
			c := &out.Columns[col]
			if rank[col] == lnetOther || s.label <= rank[col] {
				*c = append(*c, LNetCounterLine{Net: net, NID: nid})
			}
			rank[col] = s.label
			(*c)[len(*c)-1].set(&s)
		}
	}
	out.Cut = lnetOpenEnd(s.text)
	return out
}
