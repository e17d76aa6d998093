package efa

import (
	"fmt"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "lnet-efa-nid",
	Title:  "The EFA addresses fit the node's tcp address, its devices, and the servers' network",
	Why:    "kefalnd makes an EFA address of the last two octets of the tcp address, the device's PCI bus and its function; client and servers must share a /16, or two nodes can get the same address.",
	Source: "kefalnd source (LU-18977); AWS FSx for Lustre User Guide, Configuring EFA clients",
	Step:   2,
	Examples: map[string]string{
		"p5en":               "pass",
		"p5en,lnet-nid-odd":  "warn",
		"p5en,lnet-tcp-only": "unknown",
		"laptop":             "skip",
	},
	After:   []string{"lnet-efa-net"},
	Needs:   applies.EFANeeds(facts.Net.Must(), facts.EFADevices.Want(), facts.Mounts.Want(), facts.Asked.Must()),
	Applies: applies.OverEFA,
	Fix: []check.Fix{{
		Text:     "look at the network: node and file system in subnets of one /16; after a change of addresses, or of the interface that ipif_name of kefalnd names, run the configuration again and remount",
		Commands: []string{"sudo lnetctl net show -v 4", "cat /sys/module/kefalnd/parameters/ipif_name", "ip -br address"},
		Changes:  "nothing",
		Undo:     "none needed",
	}, restart, remount},
	Judge: func(v check.View) []check.Finding {
		net := check.Get(v, facts.Net)
		tcp := net.Of("tcp")
		bus := map[string]byte{}
		if d := check.Maybe(v, facts.EFADevices); d.OK {
			for _, e := range d.V.EFA {
				if b, ok := e.Bus(); ok {
					bus[e.Name] = b
				}
			}
		}
		var odd []string
		judged, long, compared := 0, 0, 0
		for _, ni := range net.Of("efa") {
			o, ok := ni.Octets()
			if !ok {
				long++ // the long form of 2.17 holds a GID and no address
				continue
			}
			if len(tcp) > 0 {
				judged++
				if !fits(o, tcp) {
					odd = append(odd, fmt.Sprintf("%s: its first two octets are the last two of no tcp address", ni.NID))
					continue
				}
			}
			for _, i := range ni.Interfaces {
				b, ok := bus[i]
				if ok {
					compared++
				}
				if ok && b != o[2] {
					odd = append(odd, fmt.Sprintf("%s: %s is on PCI bus %d", ni.NID, i, b))
				}
			}
		}
		var addresses []string
		for _, ni := range tcp {
			addresses = append(addresses, ni.NID)
		}
		ev := check.Quote(facts.LNetSource, "tcp: "+orNone(check.List(addresses, 3)))
		server, apart := otherNetwork(v, tcp)
		switch {
		case len(odd) > 0:
			return []check.Finding{check.With(check.Warn("%d EFA addresses do not fit: %s", len(odd), odd[0]), ev, check.Quote(facts.LNetSource, check.List(odd, 3)))}
		case apart:
			return []check.Finding{check.With(check.Warn("the file system's address %s is not in the node's /16", server), ev)}
		case len(tcp) == 0 && !net.Cut:
			return []check.Finding{check.With(check.NotKnown("a tcp interface in "+facts.LNetSource, "LNet lists no tcp interface; kefalnd needs one to find its peers"), ev)}
		case judged == 0 && long > 0:
			return []check.Finding{check.With(check.Pass("the EFA addresses are of the long form, which holds no octets to compare"), ev)}
		case judged == 0:
			return []check.Finding{check.With(check.NotKnown("the whole output of "+facts.LNetSource, "no EFA address beside a tcp one was seen"), ev)}
		}
		if compared == 0 {
			return []check.Finding{check.With(check.Pass("%d EFA addresses fit the tcp address; the devices behind them are not told by name", judged), ev)}
		}
		return []check.Finding{check.With(check.Pass("%d EFA addresses fit the tcp address and the devices", judged), ev)}
	},
})

func fits(efa [4]byte, tcp []facts.LNetNI) bool {
	for _, ni := range tcp {
		if t, ok := ni.Octets(); !ok || t[2] == efa[0] && t[3] == efa[1] {
			return true
		}
	}
	return false
}

// otherNetwork tells whether the file system in question has its server outside of the node's /16; of several mounts,
// whether all have.
func otherNetwork(v check.View, tcp []facts.LNetNI) (server string, apart bool) {
	m := check.Maybe(v, facts.Mounts)
	if !m.OK || len(tcp) == 0 {
		return "", false
	}
	list := m.V.OfType("lustre")
	if fs := check.Get(v, facts.Asked).FS; fs != "" {
		if mt, ok := m.V.At(fs); ok && mt.Type == "lustre" {
			list = []facts.Mount{mt}
		}
	}
	for _, mt := range list {
		nid, _, _ := strings.Cut(mt.Source, ":/")
		addr, net, ok := strings.Cut(nid, "@")
		s, isIP := facts.LNetNI{Address: addr}.Octets()
		if !ok || !isIP || facts.LNetLND(net) != "tcp" {
			return "", false
		}
		for _, ni := range tcp {
			if t, ok := ni.Octets(); !ok || t[0] == s[0] && t[1] == s[1] {
				return "", false
			}
		}
		server = nid
	}
	return server, server != ""
}
