package efa

import (
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "lnet-efa-net",
	Title:  "LNet has a network of type efa",
	Why:    "With only tcp, Lustre traffic goes over TCP and GDS over EFA cannot work; the mount's @tcp says nothing of it.",
	Source: "AWS FSx for Lustre User Guide, Configuring EFA clients; lnetctl source",
	Step:   2,
	Gate:   true,
	Examples: map[string]string{
		"p5en":                     "pass",
		"p5en,lnet-tcp-only":       "fail",
		"p5en,efa-service-missing": "unknown",
		"laptop":                   "skip",
	},
	After:   []string{"lustre-client", "efa-devices", "efa-service"},
	Needs:   applies.EFANeeds(facts.Net.Must(), facts.ConfigureUnit.Want()),
	Applies: applies.OverEFA,
	Fix:     []check.Fix{configure, restart, remount},
	Judge: func(v check.View) []check.Finding {
		net := check.Get(v, facts.Net)
		switch {
		case !net.Has("efa") && atWork(v):
			return []check.Finding{stillAtWork("LNet has no network of type efa yet")}
		case net.Down != "":
			return []check.Finding{check.With(check.Fail("LNet has no network at all: %s", net.Down), check.Quote(facts.LNetSource, orNone(net.Words)))}
		case net.Has("efa"):
			return []check.Finding{check.With(check.Pass("LNet has a network of type efa"), check.Quote(facts.LNetSource, "net type: "+strings.Join(net.Nets, ", ")))}
		case net.Cut:
			return []check.Finding{check.With(check.NotKnown("the whole output of "+facts.LNetSource, "no efa net in the part that was seen"), check.Quote(facts.LNetSource, "net type: "+orNone(strings.Join(net.Nets, ", "))))}
		}
		return []check.Finding{check.With(check.Fail("LNet has no network of type efa: Lustre traffic goes over TCP"), check.Quote(facts.LNetSource, "net type: "+orNone(strings.Join(net.Nets, ", "))))}
	},
})
