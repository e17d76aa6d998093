package witness

import (
	"fmt"
	"strings"

	"gdsproof/internal/report"
)

// Case is what Decide has to know beside the testimony.
type Case struct {
	// EFA: the file system is Lustre, and its data should go over EFA: a witness of the wire is wanted.
	EFA bool
	// WritesAllowed: the evidence shows that gds_rdma_write_support is on, or that the stock file is used.
	WritesAllowed bool
	// CannotMove is the named fault for which no byte could be moved: with it set, none was.
	CannotMove string
	// Failed are runs of an experiment that ended with an error: what the others showed holds for them alone.
	Failed []string
	// NotApplicable is why GDS cannot be asked for here at all.
	NotApplicable string
}

// lane is all testimony of one direction.
type lane struct {
	library, driver, strict, wire, control, data Says
}

// direct tells that a witness of the path says that data went directly.
func (l lane) direct() bool {
	return l.library == GDS || l.library == P2PDMA || l.driver == GDS || l.strict == OK
}

// laneRow is a row of the table by which one direction is judged. The first that matches wins.
type laneRow struct {
	no      int
	outcome report.Outcome
	words   string
	when    func(l lane, c Case) bool
}

// laneRows: what is wrong beats what is unclear, and what is unclear beats what is right. A strict run is another run:
// its success says that the path can be had, not that the run in question took it.
var laneRows = []laneRow{
	{1, report.Refuted, "are not what was written", func(l lane, _ Case) bool { return l.data == Failed }},
	{2, report.Contradicted, "are POSIX by the library's count, and the driver counted them as its own", func(l lane, _ Case) bool { return l.library == Compat && l.driver == GDS }},
	{3, report.Contradicted, "took nvidia-fs by the library's count, and the driver did not count them", func(l lane, _ Case) bool {
		return l.library == GDS && (l.driver == Compat || l.driver == Mixed)
	}},
	{4, report.Contradicted, "took the direct path by one witness, and were refused it with compat mode off", func(l lane, _ Case) bool {
		return l.strict == Failed && (l.library == GDS || l.library == P2PDMA || l.driver == GDS)
	}},
	{5, report.Mixed, "went partly through the CPU", func(l lane, _ Case) bool { return l.library == Mixed || l.driver == Mixed }},
	{6, report.Refuted, "went through the CPU (compat mode)", func(l lane, _ Case) bool { return l.library == Compat || l.driver == Compat }},
	{7, report.Refuted, "got nowhere with compat mode off: the direct path was refused", func(l lane, _ Case) bool { return l.strict == Failed }},
	{8, report.Contradicted, "were done, and EFA stayed still", func(l lane, c Case) bool { return c.EFA && l.wire == Still }},
	{9, report.Refuted, "took the GDS path, and TCP instead of EFA", func(l lane, c Case) bool { return c.EFA && l.wire == TCP && l.direct() }},
	{10, report.Refuted, "went over TCP instead of EFA", func(l lane, c Case) bool { return c.EFA && l.wire == TCP }},
	{11, report.Unproven, "took the GDS path; nothing shows that EFA carried them", func(l lane, c Case) bool { return c.EFA && l.wire != EFA && l.direct() }},
	{12, report.Proven, "proven", func(l lane, _ Case) bool { return l.direct() }},
	{13, report.Unproven, "registered, not counted", func(l lane, _ Case) bool { return l.driver == Moved }},
	{14, report.Unproven, "not shown either way", func(lane, Case) bool { return true }},
}

// judged is the outcome of a direction and the row it comes from.
type judged struct {
	laneRow
	lane lane
	seen bool // something was said of it at all
}

func judgeLane(l lane, c Case) judged {
	if l.library == P2PDMA && (l.driver == Compat || l.driver == Mixed) {
		l.driver = Silent // what takes PCI P2PDMA does not pass nvidia-fs
	}
	for _, r := range laneRows {
		if r.when(l, c) {
			return judged{laneRow: r, lane: l}
		}
	}
	panic("witness: no row matches") // the last one always does
}

// Decide turns all testimony into one verdict.
func Decide(ts []Testimony, c Case) report.Verdict {
	v := report.Verdict{}
	if c.NotApplicable != "" {
		v.Outcome, v.Summary = report.NotApplicable, c.NotApplicable
		return v
	}
	ts = silenced(ts)
	reads, writes, both := judgeDirection(ts, Reads, c), judgeDirection(ts, Writes, c), judgeDirection(ts, Both, c)
	if reads.seen {
		v.Reads = reads.outcome
	}
	if writes.seen {
		v.Writes = writes.outcome
	}
	v.Spoken = reads.seen || writes.seen || both.seen
	v.Outcome, v.Summary = join(reads, writes, both, c)
	if n := len(c.Failed); n > 0 && v.Outcome == report.Proven {
		v.Outcome = report.Unproven
		v.Summary += fmt.Sprintf("; but %d of the runs failed: %s", n, c.Failed[0])
	}
	v.Witnesses = Told(ts)
	return v
}

// Told is testimony as a result shows it.
func Told(ts []Testimony) []report.Witness {
	out := []report.Witness{}
	for _, t := range ts {
		out = append(out, report.Witness{Name: t.Witness, Direction: t.Direction, Phase: t.Phase, Says: string(t.Says), Summary: t.Summary, Numbers: t.Numbers, WouldSpeakIf: t.WouldSpeakIf})
	}
	return out
}

// silenced takes the word from the driver where the control run shows that somebody else moves its counters: what it
// counted for the run may be theirs. The library and a strict run speak of their own process alone.
func silenced(ts []Testimony) []Testimony {
	foreign, moved := "", false
	for _, t := range ts {
		if t.Witness == Control && t.Says == Moved {
			foreign, moved = t.Summary, true
		}
	}
	if !moved {
		return ts
	}
	out := append([]Testimony(nil), ts...)
	for i := range out {
		if w := &out[i]; (w.Witness == Driver || w.Witness == Wire) && w.Says != Silent {
			w.Summary, w.WouldSpeakIf = "said "+string(w.Says)+" ("+w.Summary+"), which does not count: "+foreign, "the same runs with nothing else at work"
			w.Says = Silent
		}
	}
	return out
}

// judgeDirection gathers what is said of a direction. What was said of both counts for each that has testimony of its
// own, but for the path of one that nobody else spoke of.
func judgeDirection(ts []Testimony, dir string, c Case) judged {
	var l lane
	seen := false
	for _, t := range ts {
		if t.Direction != dir && t.Direction != Both || t.Says == Silent || t.Says == "" {
			continue
		}
		own := t.Direction == dir
		switch t.Witness {
		case Library:
			l.library = worse(l.library, t.Says)
		case Driver:
			l.driver = worse(l.driver, t.Says)
		case Strict:
			l.strict = worse(l.strict, t.Says)
		case Wire:
			if t.Phase == "control" {
				continue // the bytes of the control run travel too, and tell nothing of the others
			}
			l.wire = worse(l.wire, t.Says)
			own = false // the wire knows no GPUs: alone it makes no direction
		case Control:
			l.control = worse(l.control, t.Says)
			own = false
		case Data:
			l.data = worse(l.data, t.Says)
		default:
			own = false
		}
		seen = seen || own
	}
	j := judgeLane(l, c)
	// A wire that stayed still, or TCP, says something of a direction whose bytes are known.
	j.seen = seen || c.EFA && (j.no == 8 || j.no == 10) && hasOwn(ts, Wire, dir)
	return j
}

func hasOwn(ts []Testimony, witness, dir string) bool {
	for _, t := range ts {
		if t.Witness == witness && t.Direction == dir && t.Says != Silent {
			return true
		}
	}
	return false
}

// worse joins two words of one witness on one direction, from different windows: both ways seen is mixed, and of a
// failure and a success the failure counts.
func worse(a, b Says) Says {
	if a == "" || a == Silent || a == b {
		return b
	}
	if b == "" || b == Silent {
		return a
	}
	path := func(s Says) bool { return s == GDS || s == P2PDMA }
	switch {
	case a == Failed || b == Failed:
		return Failed
	case a == Mixed || b == Mixed, path(a) && b == Compat, a == Compat && path(b):
		return Mixed
	case a == Compat || b == Compat:
		return Compat
	case a == TCP || b == TCP:
		return TCP
	case path(a):
		return a
	case path(b):
		return b
	case (a == EFA || b == EFA) && (a == Still || b == Still):
		return Still
	case a == EFA || b == EFA:
		return EFA
	}
	return Moved
}

// join makes one outcome of those of the directions. The first row that matches wins.
func join(reads, writes, both judged, c Case) (report.Outcome, string) {
	var seen []judged
	var names []string
	for i, j := range []judged{reads, writes, both} {
		if j.seen {
			seen = append(seen, j)
			names = append(names, []string{"reads", "writes", "I/O"}[i])
		}
	}
	if len(seen) == 3 { // what was said of both is part of what is said of each
		seen, names = seen[:2], names[:2]
	}
	list := func(o report.Outcome) (out []string) {
		for i, j := range seen {
			if j.outcome == o {
				out = append(out, names[i])
			}
		}
		return out
	}
	words := func() string {
		var w []string
		for i, j := range seen {
			if i > 0 && j.words == seen[0].words {
				return names[0] + " and " + names[1] + " " + j.words
			}
			w = append(w, names[i]+" "+j.words)
		}
		return strings.Join(w, "; ")
	}
	for _, j := range seen {
		if j.no == 1 {
			return report.Refuted, "DATA WRONG: " + words()
		}
	}
	if c.CannotMove != "" {
		return report.NotReady, "no byte could be moved: " + c.CannotMove
	}
	for _, o := range []report.Outcome{report.Refuted, report.Mixed, report.Contradicted} {
		if len(list(o)) > 0 {
			return o, words()
		}
	}
	proven := list(report.Proven)
	switch {
	case len(seen) == 0:
		return report.Unproven, "no witness could speak"
	case len(proven) == len(seen):
		if len(seen) == 2 {
			return report.Proven, "reads and writes took the GDS path" + overEFA(c)
		}
		return report.Proven, proven[0] + " took the GDS path" + overEFA(c)
	case len(proven) == 1 && len(seen) == 2:
		other, name := seen[1], names[1]
		if seen[1].outcome == report.Proven {
			other, name = seen[0], names[0]
		}
		if other.no != 13 {
			return report.Unproven, fmt.Sprintf("%s proven; %s %s", proven[0], name, other.words)
		}
		if c.EFA && other.lane.wire != EFA {
			return report.Unproven, fmt.Sprintf("%s proven; %s registered, not counted, and nothing shows that EFA carried them", proven[0], name)
		}
		if name == "writes" && !c.WritesAllowed {
			return report.Unproven, "reads proven; writes registered, not counted, and nothing shows that gds_rdma_write_support is on"
		}
		return report.Proven, fmt.Sprintf("%s proven%s; %s registered, not counted: IO stats are off", proven[0], overEFA(c), name)
	}
	return report.Unproven, words()
}

func overEFA(c Case) string {
	if c.EFA {
		return ", over EFA"
	}
	return ""
}
