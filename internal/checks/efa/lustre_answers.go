package efa

import (
	"fmt"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "lustre-answers",
	Title:  "The mounted file system answers, and all its targets are reachable",
	Why:    "A Lustre mount whose servers are gone blocks every program that touches it, in a state that no signal ends.",
	Source: "Lustre Operations Manual; lfs-df(1); Linux statfs(2)",
	Step:   2,
	Examples: map[string]string{
		"p5en":                    "pass",
		"p5en,lustre-hangs":       "fail",
		"p5en,lustre-not-mounted": "unknown",
		"laptop":                  "skip",
	},
	After:   []string{"lustre-mounted"},
	Needs:   applies.LustreNeeds(facts.Connections.Want(), facts.Answers.Want(), facts.KLog.Want(), facts.Rules.Must(), facts.Mounts.Want(), facts.Asked.Must()),
	Applies: applies.WithLustre,
	Fix: []check.Fix{{
		Text:     "see whether the servers are up, and whether EFA and tcp traffic reaches them; programs that hang come back when the connection does",
		Commands: []string{"sudo lctl get_param osc.*.import | grep -E 'state|target'", "sudo dmesg | grep -i -E 'lustre|lnet|kefalnd'", "aws fsx describe-file-systems"},
		Changes:  "nothing",
		Undo:     "none needed",
	}, securityGroup},
	Judge: func(v check.View) []check.Finding {
		c, a := check.Maybe(v, facts.Connections), check.Maybe(v, facts.Answers)
		var lost, off []string
		mine := facts.FSNames(check.Maybe(v, facts.Mounts).V, check.Get(v, facts.Asked).FS)
		for _, i := range c.V {
			switch {
			case !mine.Has(i.Target):
			case i.Deactivated:
				off = append(off, i.Target)
			case facts.ImportDown(i):
				lost = append(lost, i.Target+" "+i.State)
			}
		}
		if len(off) > 0 && len(lost) == 0 {
			return []check.Finding{check.With(check.Warn("%d targets were switched off on this client (lctl deactivate): %s", len(off), check.List(off, 3)), check.Quote(facts.ImportsSource, check.List(off, 4)))}
		}
		if len(lost) > 0 {
			return []check.Finding{check.With(check.Fail("%d of %d connections to the file system's targets are down: %s; a look at the file system would hang and was not tried", len(lost), len(c.V), check.List(lost, 3)),
				check.Quote(facts.ImportsSource, check.List(lost, 4)))}
		}
		var out []check.Finding
		for _, m := range a.V {
			f := mountAnswer(m)
			if len(a.V) > 1 {
				f.Subject = m.Dir
			}
			out = append(out, f)
		}
		if len(out) > 0 {
			return out
		}
		if f, ok := lostByLog(v); ok {
			return []check.Finding{f}
		}
		if c.OK {
			return []check.Finding{check.With(check.Pass("all %d connections to the file system's targets are up", len(c.V)), check.Quote(facts.ImportsSource, fmt.Sprintf("%d connections, none down", len(c.V))))}
		}
		return []check.Finding{check.NotKnown(a.Need, "%s", a.Why)}
	},
})

func mountAnswer(m facts.MountAnswer) check.Finding {
	src := evidence.StatfsSource(m.Dir)
	switch m.Statfs {
	case evidence.TimedOut:
		f := check.Fail("%s does not answer: %s", m.Dir, m.Words)
		return check.With(f, check.Quote(src, m.Words))
	case evidence.Present:
	case evidence.NotCollected:
		return check.With(check.NotKnown("a look at "+m.Dir, "%s", m.Words), check.Quote(src, m.Words))
	case evidence.Denied:
		return check.With(check.NotKnown(facts.NeedRoot, "%s", m.Words), check.Quote(src, m.Words))
	default:
		return check.With(check.Fail("%s answers with an error: %s", m.Dir, m.Words), check.Quote(src, m.Words))
	}
	if m.DfHung != "" {
		return check.With(check.Fail("lfs df of %s does not end: a target does not answer", m.Dir), check.Quote(facts.LfsDfSource(m.Dir), m.DfHung))
	}
	if !m.Df.OK {
		return check.With(check.Pass("%s answers", m.Dir), check.Quote(src, "answered"))
	}
	return targets(m)
}

// targets judges what lfs df listed. A list that no summary ends, or that holds no target, was not seen whole.
func targets(m facts.MountAnswer) check.Finding {
	var bad, marked []string
	ost, mdt := 0, 0
	for _, t := range m.Df.V.Targets {
		switch {
		case t.Fault != "":
			bad = append(bad, t.UUID+": "+t.Fault)
		case strings.ContainsAny(t.Flags, "RD"):
			marked = append(marked, t.UUID+" "+t.Flags)
		}
		switch t.Kind {
		case "OST":
			ost++
		case "MDT":
			mdt++
		}
	}
	text := fmt.Sprintf("%d OST, %d MDT", ost, mdt)
	src := facts.LfsDfSource(m.Dir)
	switch {
	case len(bad) > 0:
		return check.With(check.Fail("%d of %d targets of %s do not answer: %s", len(bad), ost+mdt, m.Dir, check.List(bad, 3)), check.Quote(src, check.List(bad, 4)))
	case len(marked) > 0:
		return check.With(check.Warn("%d of %d targets of %s are read-only or degraded: %s", len(marked), ost+mdt, m.Dir, check.List(marked, 3)), check.Quote(src, check.List(marked, 4)))
	case ost+mdt == 0:
		why := "no target in its list"
		if len(m.Df.V.Errors) > 0 {
			why = m.Df.V.Errors[0]
		}
		return check.With(check.NotKnown("lfs df "+m.Dir, "%s answers, but lfs df does not: %s", m.Dir, why), check.Quote(src, why))
	case m.Df.V.Cut || len(m.Df.V.Summaries) == 0:
		return check.With(check.NotKnown("the whole output of lfs df "+m.Dir, "%s answers: %s, all active, in the part that was seen", m.Dir, text), check.Quote(src, text))
	}
	return check.With(check.Pass("%s answers: %s, all active", m.Dir, text), check.Quote(src, text))
}

// lostByLog: where nothing better is known, a log whose last word on a connection is that it was lost.
func lostByLog(v check.View) (check.Finding, bool) {
	log := check.Maybe(v, facts.KLog)
	if !log.OK {
		return check.Finding{}, false
	}
	hits := check.LogLines(log.V, check.Get(v, facts.Rules).Signatures, "lustre-answers")
	lost, ok := log.V.LostConnection()
	if !ok || len(hits) == 0 {
		return check.Finding{}, false
	}
	return check.With(check.Warn("by the kernel log a connection to the file system was lost and not restored"), check.Quote(log.V.Source, lost.Text)), true
}
