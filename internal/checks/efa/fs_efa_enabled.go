package efa

import (
	"fmt"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

const askAPI = "aws fsx describe-file-systems --query 'FileSystems[].[FileSystemId,LustreConfiguration.EfaEnabled]'"

var _ = check.Register(check.Check{
	ID:     "fs-efa-enabled",
	Title:  "The file system's servers have EFA interfaces",
	Why:    "EFA is chosen when the file system is created and cannot be switched on later; without it all traffic is TCP, whatever the client has.",
	Source: "AWS FSx for Lustre User Guide, EFA file systems; lnetctl peer show",
	Step:   2,
	Examples: map[string]string{
		"p5en":                    "pass",
		"p5en,fs-not-efa":         "fail",
		"p5en,lnet-tcp-only":      "pass", // the servers still tell their addresses
		"p5en,lustre-not-mounted": "unknown",
		"laptop":                  "skip",
	},
	After:   []string{"lnet-efa-net", "lustre-mounted"},
	Needs:   applies.EFANeeds(facts.LNetPeersNow.Must(), facts.Net.Want(), facts.LNetSettings.Want(), facts.Connections.Want(), facts.Mounts.Want()),
	Applies: applies.OverEFA,
	Fix: []check.Fix{{
		Text:     "ask the API; if EfaEnabled is not true, create a new file system with EFA (Persistent 2 with a metadata configuration) and move the data",
		Commands: []string{askAPI},
		Changes:  "nothing; a new file system costs money",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		peers := check.Get(v, facts.LNetPeersNow)
		with, all := len(peers.Of("efa")), len(peers.Peers)
		discovered := false
		for _, p := range peers.Peers {
			discovered = discovered || p.MultiRail.OK && p.MultiRail.V
		}
		sources := map[string]bool{}
		for _, m := range check.Maybe(v, facts.Mounts).V.OfType("lustre") {
			sources[m.Source] = true
		}
		ev := check.Quote(facts.LNetPeerSource, fmt.Sprintf("%d of %d peers have @efa addresses", with, all))
		if with > 0 && len(sources) > 1 {
			return []check.Finding{check.With(check.NotKnown(askAPI, "%d of %d peers have EFA addresses; which of the %d mounted file systems they are of is not told", with, all, len(sources)), ev)}
		}
		if with > 0 {
			return []check.Finding{check.With(check.Pass("%d of %d peers have EFA addresses", with, all), ev)}
		}
		// A peer is known by its first address until it was talked to, and by all of them only with discovery.
		// Only a client with working connections to object servers, EFA of its own and discovery has met them.
		n, g, c := check.Maybe(v, facts.Net), check.Maybe(v, facts.LNetSettings), check.Maybe(v, facts.Connections)
		met := false
		for _, i := range c.V {
			met = met || i.State == "FULL" || i.State == "IDLE"
		}
		switch {
		case peers.Cut || all == 0:
			return []check.Finding{check.With(check.NotKnown(askAPI, "no peer with an EFA address in what was seen"), ev)}
		case !discovered || !c.OK || !met || !n.OK || len(n.V.Of("efa")) == 0 || !g.OK || !g.V.Discovery.OK || g.V.Discovery.V != 1:
			return []check.Finding{check.With(check.NotKnown(askAPI, "no peer has an EFA address; whether the client has met them is not known"), ev)}
		}
		return []check.Finding{check.With(check.Fail("none of the %d peers has an EFA address although the client is connected: the file system was created without EFA", all), ev)}
	},
})
