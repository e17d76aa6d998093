package efa

import (
	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "efa-security",
	Title:  "Nothing shows that EFA traffic is blocked between the node and the file system",
	Why:    "A security group that admits TCP can block EFA: connections are tried over and over, and data goes over TCP or nowhere.",
	Source: "AWS FSx for Lustre User Guide, EFA-enabled security groups; kefalnd source; public reports",
	Step:   2,
	Examples: map[string]string{
		"p5en":                "pass",
		"p5en,security-group": "warn",
		"laptop":              "skip",
	},
	After:   []string{"lnet-efa-net"},
	Needs:   applies.EFANeeds(facts.KLog.Must(), facts.Rules.Must()),
	Applies: applies.OverEFA,
	Fix:     []check.Fix{securityGroup},
	Judge: func(v check.View) []check.Finding {
		log := check.Get(v, facts.KLog)
		hits := check.LogLines(log, check.Get(v, facts.Rules).Signatures, "efa-security")
		if len(hits) > 0 {
			n := 0
			for _, h := range hits {
				n += h.Count
			}
			return []check.Finding{check.With(check.Warn("%d lines of the kernel log look like EFA traffic that is blocked", n), check.QuoteHits(log.Source, hits)...)}
		}
		if !log.FromBoot {
			return []check.Finding{check.NotKnown("the kernel log since boot (journalctl -k -b)", "no sign of blocked EFA traffic, in a log that does not reach back to the boot")}
		}
		return []check.Finding{check.With(check.Pass("no sign of blocked EFA traffic since boot"), check.Quote(log.Source, "none of the known lines"))}
	},
})
