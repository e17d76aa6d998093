package efa

import (
	"fmt"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "lnet-efa-up",
	Title:  "Each EFA interface of LNet is up, in full health, and drops no messages",
	Why:    "In a real outage all EFA interfaces stayed up with health 1000; only rising drops, the kernel log and the device's counters told.",
	Source: "Lustre source, LNet health; a public report of an EFA outage under sustained writes",
	Step:   2,
	Examples: map[string]string{
		"p5en":               "pass",
		"p5en,lnet-ni-down":  "fail",
		"p5en,lnet-tcp-only": "unknown",
		"laptop":             "skip",
	},
	After:   []string{"lnet-efa-net"},
	Needs:   applies.EFANeeds(facts.Net.Must(), facts.NetWindow.Want()),
	Applies: applies.OverEFA,
	Fix: []check.Fix{{
		Text:     "read the kernel log for the interface, and see whether its traffic is let through (security groups by id, one availability zone)",
		Commands: []string{"sudo dmesg | grep -i -E 'lnet|efa|kefalnd'", "sudo lnetctl net show -v 4"},
		Changes:  "nothing",
		Undo:     "none needed",
	}, securityGroup},
	Judge: func(v check.View) []check.Finding {
		nis := check.Get(v, facts.Net).Of("efa")
		var down, sick, silent []string
		var ev []check.Evidence
		healthSaid := 0
		for _, ni := range nis {
			switch {
			case !ni.Status.OK:
				silent = append(silent, ni.NID)
			case ni.Status.V != "up":
				down = append(down, ni.NID)
				ev = append(ev, check.Quote(facts.LNetSource, ni.NID+" status: "+ni.Status.V))
			}
			if ni.Health.OK {
				healthSaid++
				if ni.Health.V < 1000 {
					sick = append(sick, ni.NID)
					ev = append(ev, check.Quote(facts.LNetSource, fmt.Sprintf("%s health value: %d", ni.NID, ni.Health.V)))
				}
			}
		}
		rising, rises := drops(v)
		ev = append(ev, rises...)
		with := func(f check.Finding) []check.Finding { return []check.Finding{check.With(f, ev...)} }
		switch {
		case len(nis) == 0:
			return with(check.NotKnown("EFA interfaces in "+facts.LNetSource, "LNet lists no EFA interface"))
		case len(down) > 0:
			return with(check.Fail("%d of %d EFA interfaces are down: %s", len(down), len(nis), check.List(down, 4)))
		case len(rising) > 0:
			return with(check.Warn("%d of %d EFA interfaces drop messages, though they say up: %s", len(rising), len(nis), check.List(rising, 4)))
		case len(sick) > 0:
			return with(check.Warn("%d of %d EFA interfaces are below full health (1000): %s", len(sick), len(nis), check.List(sick, 4)))
		case len(silent) > 0:
			return with(check.NotKnown("the whole output of "+facts.LNetSource, "%d of %d EFA interfaces have no status in what was seen", len(silent), len(nis)))
		case healthSaid < len(nis):
			return with(check.Pass("all %d EFA interfaces are up; their health is shown from -v 2 on only", len(nis)))
		}
		return with(check.Pass("all %d EFA interfaces are up with health 1000", len(nis)))
	},
})

// drops are the interfaces whose count of dropped messages rose between two looks. A total says nothing: it is
// kept since LNet was started.
func drops(v check.View) (nids []string, ev []check.Evidence) {
	w := check.Maybe(v, facts.NetWindow)
	if !w.OK {
		return nil, nil
	}
	before := map[string]facts.LNetNI{}
	for _, ni := range w.V.Before.Of("efa") {
		before[ni.NID] = ni
	}
	for _, ni := range w.V.After.Of("efa") {
		b, ok := before[ni.NID]
		if ok && b.Stats.Drop.OK && ni.Stats.Drop.OK && ni.Stats.Drop.V > b.Stats.Drop.V {
			nids = append(nids, ni.NID)
			ev = append(ev, check.Quote(facts.LNetSource, fmt.Sprintf("%s drop_count: %d, then %d", ni.NID, b.Stats.Drop.V, ni.Stats.Drop.V)))
		}
	}
	return nids, ev
}
