package witness

import (
	"fmt"

	"gdsproof/internal/facts"
)

// fewMessages is how many messages an idle connection may exchange within a window: pings and keep-alives. Traffic of
// which no size is known has to be more than that to count.
const fewMessages = 1000

// traffic is what LNet's interfaces of one kind sent and received.
type traffic struct {
	send, recv uint64
	n          int
	seen       bool
}

func (t traffic) sum() uint64 { return t.send + t.recv }

// wireHears speaks of LNet's messages and of the EFA devices' bytes, in every window in which bytes are known to have
// moved, or in which something clearly did.
func wireHears(h *hearing) {
	ws, hw := fact(h, facts.LNetWindows), fact(h, facts.EFAWindows)
	said := false
	plan := fact(h, facts.Experiment)
	if foreign := h.foreignTraffic(plan, ws.V, hw.V); foreign != "" {
		h.say(Testimony{Witness: Wire, Direction: Both, Says: Silent, Summary: foreign, WouldSpeakIf: "the same experiment with nothing else at work"})
		return
	}
	skip := func(phase string) bool { return plan.OK && (phase == "idle" || phase == "control" || apart(phase)) }
	for _, w := range hw.V {
		if !skip(w.Phase) {
			said = h.bytes(w) || said
		}
	}
	for _, w := range ws.V {
		if !skip(w.Phase) {
			said = h.messages(w) || said
		}
	}
	if !said {
		why, need := ws.Why, ws.Need
		if ws.OK {
			why, need = "LNet's counters were seen twice, and nothing that moved bytes lies between", "the counters before and after the run"
		}
		h.say(Testimony{Witness: Wire, Direction: Both, Says: Silent, Summary: why, WouldSpeakIf: need})
	}
}

// foreignTraffic: messages in the idle second of an experiment are of somebody else, who may as well have sent those of
// the other windows. A few are keep-alives.
func (h *hearing) foreignTraffic(plan facts.Known[facts.ExperimentPlan], ws []facts.Window[facts.LNetTraffic], hw []facts.Window[facts.EFACounters]) string {
	if !plan.OK {
		return ""
	}
	for _, w := range hw {
		sum := facts.EFARise(w, "rdma_read_bytes").V + facts.EFARise(w, "rdma_read_resp_bytes").V
		if h.idleOf(plan.V, w.Items) && w.Broken == "" && sum >= fewMessages<<12 {
			return fmt.Sprintf("%s passed over EFA while nothing of ours was at work: another program uses it, and its bytes cannot be told from ours", Size(sum))
		}
	}
	for _, w := range ws {
		efa, tcp, _ := sumTraffic(w)
		if sum := efa.sum() + tcp.sum(); h.idleOf(plan.V, w.Items) && w.Broken == "" && sum >= fewMessages {
			return fmt.Sprintf("%d messages passed while nothing of ours was at work: another program uses the file system, and its messages cannot be told from ours", sum)
		}
	}
	return ""
}

// idleOf tells the window in which the experiment did nothing on purpose.
func (h *hearing) idleOf(plan facts.ExperimentPlan, items [2]int) bool {
	return plan.Phases[h.in.StepOf(items[1])] == facts.PhaseIdle && h.in.StepOf(items[0]) >= plan.From
}

// messages judges one window of LNet's counters. With W written and R read messages' worth of data, a client sends
// W + 2R and receives 2W + 2R (lustre-efa.md; measured again in the captures): a write is a request and, after the
// server has fetched the data, a reply; a read is answered by data and a reply, and acknowledged.
func (h *hearing) messages(w facts.Window[facts.LNetTraffic]) bool {
	t := Testimony{Witness: Wire, Phase: w.Phase, Direction: Both, Evidence: h.quote(w.Items[:]...)}
	if w.Broken != "" {
		t.Says, t.Summary, t.WouldSpeakIf = Silent, w.Broken, "two looks with nothing but the run in between"
		h.say(t)
		return true
	}
	efa, tcp, nameless := sumTraffic(w)
	written, _ := w.Moved("write", false)
	read, _ := w.Moved("read", false)
	t.Numbers = map[string]uint64{"efa_sends": efa.send, "efa_receives": efa.recv, "bytes_read": read, "bytes_written": written}
	if tcp.seen {
		t.Numbers["tcp_sends"], t.Numbers["tcp_receives"] = tcp.send, tcp.recv
	}
	note := ""
	if nameless {
		note = " (the lines name no net; they are taken for the EFA interfaces, as the filter that leaves them asks for those)"
	}
	moved := func(n traffic) string { return fmt.Sprintf("sends +%d, receives +%d", n.send, n.recv) }
	untold, _ := w.Moved("", false)
	if written+read == 0 && untold > 0 {
		// A dd whose direction is not known: a written MiB is one message sent, a read one is two.
		rpc, _ := messageSize(w)
		want := max(1, untold/rpc)
		t.Numbers["bytes_moved"] = untold
		switch {
		case efa.seen && efa.send*2 >= want && efa.send >= tcp.send:
			t.Says, t.Summary = EFA, fmt.Sprintf("over EFA: %s for %s moved", moved(efa), Size(untold))
		case tcp.seen && efa.seen && tcp.send*2 >= want:
			t.Says, t.Summary = TCP, fmt.Sprintf("over TCP: %s for %s moved; EFA %s", moved(tcp), Size(untold), moved(efa))
		default:
			return false
		}
		h.say(t)
		return true
	}
	if written+read == 0 {
		// Nobody says how much was moved: only plenty of messages means something.
		switch {
		case efa.sum() >= fewMessages && efa.sum() >= 4*tcp.sum():
			t.Says, t.Summary = EFA, "over EFA: "+moved(efa)+note
		case tcp.sum() >= fewMessages && tcp.sum() >= 4*efa.sum() && efa.seen:
			t.Says, t.Summary = TCP, fmt.Sprintf("over TCP: %s; EFA %s", moved(tcp), moved(efa))
		default:
			return false
		}
		h.say(t)
		return true
	}
	if !efa.seen && !(tcp.seen && wholeListing(w)) {
		t.Says, t.Summary, t.WouldSpeakIf = Silent, "the looks at LNet show no EFA interface's counters", "lnetctl net show -v before and after"
		h.say(t)
		return true
	}
	rpc, largest := messageSize(w)
	wantSend, wantRecv := expected(written, read, rpc)
	fewSend, fewRecv := expected(written, read, largest)
	t.Numbers["expected_sends"], t.Numbers["expected_receives"] = wantSend, wantRecv
	for _, d := range []struct {
		dir   string
		bytes uint64
	}{{Reads, read}, {Writes, written}} {
		if d.bytes == 0 {
			continue
		}
		t := t
		t.Direction = d.dir
		want := max(1, d.bytes/rpc)
		got, tcpGot := carried(d.dir, efa, written, read), carried(d.dir, tcp, written, read)
		switch {
		case fact(h, facts.Experiment).OK && got > 2*(d.bytes/smallest(w))+2*fewMessages:
			t.Says, t.WouldSpeakIf = Silent, "the same run with nothing else at work"
			t.Summary = fmt.Sprintf("%s of %d and %d expected: more than twice what the run can have made, so another program's are among them", moved(efa), wantSend, wantRecv)
		case got*2 >= want && got >= tcpGot:
			t.Says = EFA
			t.Summary = fmt.Sprintf("over EFA: %s of %d and %d expected%s", moved(efa), wantSend, wantRecv, note)
		case tcp.seen && tcpGot*2 >= want && tcpGot > got:
			t.Says = TCP
			t.Summary = fmt.Sprintf("over TCP: %s of %d and %d expected; EFA %s", moved(tcp), wantSend, wantRecv, moved(efa))
			if !efa.seen {
				t.Summary = fmt.Sprintf("over TCP: %s of %d and %d expected; LNet has no EFA interface", moved(tcp), wantSend, wantRecv)
			}
		case !efa.seen:
			t.Says, t.WouldSpeakIf = Silent, "the counters of every net around the run alone"
			t.Summary = fmt.Sprintf("LNet has no EFA interface, and its tcp one moved less than the run: %s of %d and %d expected", moved(tcp), wantSend, wantRecv)
		case got*10 < max(1, d.bytes/largest) && efa.sum()*10 < fewSend+fewRecv:
			t.Says = Still
			t.Summary = fmt.Sprintf("EFA stayed still (%s of %d and %d expected) although %s were moved", moved(efa), wantSend, wantRecv, Size(d.bytes))
			if !tcp.seen {
				t.Summary += "; TCP was not looked at"
			}
		default:
			t.Says, t.WouldSpeakIf = Silent, "counters of every net (lnetctl net show -v) around the run alone"
			t.Summary = fmt.Sprintf("a part went over EFA: %s of %d and %d expected", moved(efa), wantSend, wantRecv)
		}
		h.say(t)
	}
	return true
}

// wholeListing tells a listing of all nets: the loopback one is in no other.
func wholeListing(w facts.Window[facts.LNetTraffic]) bool {
	for _, n := range w.After.NIs {
		if n.Net == "lo" {
			return true
		}
	}
	return false
}

func sumTraffic(w facts.Window[facts.LNetTraffic]) (efa, tcp traffic, nameless bool) {
	rises := w.Before.Against(w.After)
	zero := false
	for _, r := range rises {
		if r.Net == "" {
			nameless = true
		}
	}
	for _, n := range w.After.NIs {
		zero = zero || n.Net == "" && n.Send.OK && n.Send.V == 0
	}
	for _, r := range rises {
		to := &tcp
		switch facts.LNetLND(r.Net) {
		case "efa":
			to = &efa
		case "tcp":
		case "":
			// lo is in every unfiltered listing and counts nothing: without such a line, the lines were of one net.
			if zero || len(rises) < 2 {
				continue
			}
			to = &efa
		default:
			continue
		}
		to.send, to.recv, to.n, to.seen = to.send+r.Send, to.recv+r.Recv, to.n+1, true
	}
	return efa, tcp, nameless && efa.seen
}

// messageSize is how much one message carries: a client's direct I/O of up to 1 MiB goes as it is, and smaller I/Os may
// be joined on their way, so 1 MiB is expected of those too. Above, the client's max_pages_per_brw decides, which is
// seldom in what was seen: 4 MiB is common, and largest is the most that Lustre allows.
func messageSize(w facts.Window[facts.LNetTraffic]) (rpc, largest uint64) {
	const least, common, most = 1 << 20, 4 << 20, 64 << 20
	size := uint64(least)
	for _, r := range w.Runs {
		if r.Moved() && r.IOSize.OK {
			size = max(size, r.IOSize.V)
		}
	}
	return min(size, common), min(size, most)
}

// smallest is the size of the smallest I/O of a window: no message carries less.
func smallest(w facts.Window[facts.LNetTraffic]) uint64 {
	n := uint64(1 << 20)
	for _, r := range w.Runs {
		if r.Moved() && r.IOSize.OK && r.IOSize.V > 0 {
			n = min(n, r.IOSize.V)
		}
	}
	return max(n, 4096)
}

// expected are the messages of W bytes written and R bytes read.
func expected(written, read, rpc uint64) (send, recv uint64) {
	w, r := written/rpc, read/rpc
	return w + 2*r, 2*w + 2*r
}

// carried is how many messages' worth of data of a direction an interface kind must have carried to send and receive
// what it did: with both directions in one window, W = receives - sends and R = (2 sends - receives) / 2.
func carried(dir string, t traffic, written, read uint64) uint64 {
	switch {
	case dir == Writes && read == 0:
		return t.recv / 2
	case dir == Reads && written == 0:
		return t.send / 2
	case dir == Writes:
		if t.recv < t.send {
			return 0
		}
		return t.recv - t.send
	}
	if 2*t.send < t.recv {
		return 0
	}
	return (2*t.send - t.recv) / 2
}

// bytes judges by the EFA devices' own counters: a client's file reads are writes of the server's into its memory that
// the device fetches (rdma_read_bytes), file writes are fetched by the servers (rdma_read_resp_bytes).
func (h *hearing) bytes(w facts.Window[facts.EFACounters]) bool {
	if w.Broken != "" {
		return false
	}
	said := false
	for _, d := range []struct{ dir, op, counter string }{{Reads, "read", "rdma_read_bytes"}, {Writes, "write", "rdma_read_resp_bytes"}} {
		got := facts.EFARise(w, d.counter)
		moved, n := w.Moved(d.op, false)
		if !got.OK || n == 0 {
			continue
		}
		t := Testimony{Witness: Wire, Direction: d.dir, Phase: w.Phase, Numbers: map[string]uint64{d.counter: got.V, "bytes_moved": moved}, Evidence: h.quote(w.Items[:]...)}
		switch {
		case fact(h, facts.Experiment).OK && got.V > 2*moved+64<<20:
			t.Says, t.WouldSpeakIf = Silent, "the same run with nothing else at work"
			t.Summary = fmt.Sprintf("%s rose by %s of %s moved: another program's bytes are among them", d.counter, Size(got.V), Size(moved))
		case got.V*2 >= moved:
			t.Says, t.Summary = EFA, fmt.Sprintf("over EFA: %s rose by %s of %s moved", d.counter, Size(got.V), Size(moved))
		case got.V*10 < moved:
			t.Says, t.Summary = Still, fmt.Sprintf("EFA stayed still: %s rose by %s although %s were moved", d.counter, Size(got.V), Size(moved))
		default:
			t.Says, t.Summary, t.WouldSpeakIf = Silent, fmt.Sprintf("a part went over EFA: %s rose by %s of %s moved", d.counter, Size(got.V), Size(moved)), "the counters around the run alone"
		}
		h.say(t)
		said = true
	}
	return said
}
