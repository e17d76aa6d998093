package efa

import (
	"fmt"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "lnet-efa-priority",
	Title:  "LNet prefers efa, and discovers its peers' interfaces",
	Why:    "Without the rule, tcp and efa are used side by side; without discovery the client never learns that its servers have EFA.",
	Source: "AWS EFA client set-up script (lnetctl udsp add --src efa --priority 0, lnetctl set discovery 1)",
	Step:   2,
	Examples: map[string]string{
		"p5en":                  "pass",
		"p5en,lnet-no-priority": "warn",
		"p5en,lnet-tcp-only":    "unknown",
		"laptop":                "skip",
	},
	After:   []string{"lnet-efa-net"},
	Needs:   applies.EFANeeds(facts.Net.Want(), facts.LNetRules.Want(), facts.LNetSettings.Want()),
	Applies: applies.OverEFA,
	Fix: []check.Fix{{
		Text:     "set both by hand until the next boot, when the configuration service sets them",
		Commands: []string{"sudo lnetctl udsp add --src efa --priority 0", "sudo lnetctl set discovery 1", "sudo lnetctl udsp show"},
		Changes:  "which network LNet prefers for new messages",
		Undo:     "sudo lnetctl udsp del --idx N, with the number that udsp show prints",
	}},
	Judge: func(v check.View) []check.Finding {
		rule, ruleKnown, ruleEv := priority(v)
		g := check.Maybe(v, facts.LNetSettings)
		ev := []check.Evidence{}
		if ruleKnown {
			ev = append(ev, ruleEv)
		}
		if g.OK && g.V.Discovery.OK {
			ev = append(ev, check.Quote(facts.LNetGlobalSource, fmt.Sprintf("discovery: %d", g.V.Discovery.V)))
		}
		if n := check.Maybe(v, facts.Net); n.OK && !n.V.Has("efa") && !n.V.Cut {
			return []check.Finding{check.With(check.NotKnown("an efa net in "+facts.LNetSource, "LNet has no efa net that could be preferred"), ev...)}
		}
		one := func(f check.Finding) []check.Finding { return []check.Finding{check.With(f, ev...)} }
		switch {
		case ruleKnown && !rule:
			return one(check.Warn("no rule prefers efa: tcp and efa are used side by side"))
		case g.OK && g.V.Discovery.OK && g.V.Discovery.V != 1:
			return one(check.Warn("LNet's discovery is off: the client does not learn that its servers have EFA"))
		case !ruleKnown:
			r := check.Maybe(v, facts.LNetRules)
			return one(check.NotKnown(r.Need, "whether LNet prefers efa is not known: %s", r.Why))
		case !g.OK || !g.V.Discovery.OK:
			need := g.Need
			if need == "" {
				need = "the output of " + facts.LNetGlobalSource
			}
			return one(check.NotKnown(need, "efa is preferred; whether discovery is on is not known"))
		}
		return one(check.Pass("efa is preferred, discovery is on"))
	},
})

// priority tells whether efa has priority 0, from the rules or from what the interfaces say of themselves.
func priority(v check.View) (yes, known bool, ev check.Evidence) {
	if r := check.Maybe(v, facts.LNetRules); r.OK {
		p := r.V.Priority("efa")
		if !p.OK && r.V.Cut {
			return false, false, check.Evidence{}
		}
		text := "no rule for src efa"
		if p.OK {
			text = fmt.Sprintf("src: efa, priority: %d", p.V)
		}
		// A rule that prefers tcp as much takes the preference back.
		if t := r.V.Priority("tcp"); p.OK && t.OK && t.V <= p.V {
			return false, true, check.Quote(facts.LNetUDSPSource, fmt.Sprintf("%s; src: tcp, priority: %d", text, t.V))
		}
		return p.OK, true, check.Quote(facts.LNetUDSPSource, text)
	}
	n := check.Maybe(v, facts.Net)
	if !n.OK {
		return false, false, check.Evidence{}
	}
	for _, ni := range n.V.Of("efa") {
		if ni.NetPriority.OK {
			return ni.NetPriority.V == 0, true, check.Quote(facts.LNetSource, fmt.Sprintf("%s net priority: %d", ni.NID, ni.NetPriority.V))
		}
	}
	return false, false, check.Evidence{}
}
