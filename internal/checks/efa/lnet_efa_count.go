package efa

import (
	"fmt"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

// baseline is the number of EFA interfaces of the guide's own node, a p6-b200; it measures nodes of which neither
// the type nor the devices are known.
const baseline = 8

var _ = check.Register(check.Check{
	ID:     "lnet-efa-count",
	Title:  "LNet has as many EFA interfaces as the instance should give it",
	Why:    "A GPU whose near interface is missing sends its I/O the long way, and the node's throughput is capped.",
	Source: "AWS EFA client set-up script; rows instances of the profile",
	Step:   2,
	Gate:   true,
	Examples: map[string]string{
		"p5en":                   "pass",
		"p5":                     "pass",
		"p6-b200":                "pass",
		"p5en,lnet-some-missing": "fail",
		"p5en,lnet-tcp-only":     "unknown",
		"laptop":                 "skip",
	},
	After:   []string{"lnet-efa-net"},
	Needs:   applies.EFANeeds(facts.Net.Must(), facts.Asked.Must(), facts.Rules.Must(), facts.Attached.Want(), facts.LNetCounted.Want(), facts.EFADevices.Want(), facts.InstanceType.Want(), facts.ConfigureUnit.Want()),
	Applies: applies.OverEFA,
	Fix:     []check.Fix{configure, reboot},
	Judge: func(v check.View) []check.Finding {
		net := check.Get(v, facts.Net)
		n := len(net.Of("efa"))
		ev := check.Quote(facts.LNetSource, fmt.Sprintf("%d interfaces @efa", n))
		most, least, whose := expected(v, n)
		switch {
		case n >= most && most > 0:
			return []check.Finding{check.With(check.Pass("%d EFA interfaces, %s", n, whose), ev)}
		case atWork(v):
			return []check.Finding{check.With(stillAtWork(fmt.Sprintf("%d EFA interfaces so far", n)), ev)}
		case net.Cut:
			return []check.Finding{check.With(check.NotKnown("the whole output of "+facts.LNetSource, "%d EFA interfaces in the part that was seen", n), ev)}
		case most == 0 && n >= baseline:
			return []check.Finding{check.With(check.Pass("%d EFA interfaces; how many the node should have is not known, and %d is the guide's baseline", n, baseline), ev)}
		case most == 0:
			return []check.Finding{check.With(check.NotKnown("--instance-type or --efa-count", "%d EFA interfaces; how many the node should have is not known", n), ev)}
		case n >= least:
			return []check.Finding{check.With(check.NotKnown("systemctl show -p ExecStart "+facts.ConfigureUnitName, "%d EFA interfaces: right without %s (%d), too few with it (%d); which of them the node is set up for is not known", n, facts.GDSFlag, least, most), ev)}
		}
		if c := check.Maybe(v, facts.LNetCounted); c.OK && c.V != n {
			return []check.Finding{check.With(check.NotKnown("the whole output of "+facts.LNetSource, "the listing shows %d EFA interfaces and the count beside it is %d: a line was lost, or one of them is older", n, c.V), ev)}
		}
		f := check.Fail("%d EFA interfaces instead of %d, %s", n, least, whose)
		if lost := missing(v, net); lost != "" {
			f.Summary += "; missing: " + lost
		}
		if u := check.Maybe(v, facts.ConfigureUnit); u.OK && u.V.ActiveState == "active" {
			f.Fix = []check.Fix{reboot, configure} // it is set up; what it asks for comes with the next boot
		}
		return []check.Finding{check.With(f, ev)}
	},
})

// expected is how many interfaces there should be: most with GDS mode, least without; the same where it is known
// which one is on. 0 is not known. The set-up counts attached devices, so these cap it.
func expected(v check.View, count int) (most, least int, whose string) {
	if n := check.Get(v, facts.Asked).EFACount; n > 0 {
		return n, n, "as asked for with --efa-count"
	}
	attached := check.Maybe(v, facts.Attached)
	limit := func(n int) int {
		if attached.OK && attached.V > 0 {
			return min(n, attached.V)
		}
		return n
	}
	t := check.Maybe(v, facts.InstanceType)
	if !t.OK {
		return 0, 0, ""
	}
	row, ok := check.Get(v, facts.Rules).Instance(t.V)
	if !ok {
		return 0, 0, ""
	}
	def, all := limit(row.NIDefault), limit(row.NIGDS)
	if !row.GDS {
		return def, def, "the default of a " + t.V
	}
	if u := check.Maybe(v, facts.ConfigureUnit); u.OK {
		switch has, known := u.V.Has(facts.GDSFlag); {
		case has:
			return all, all, "one for each attached EFA device, as " + facts.GDSFlag + " asks"
		case known && count <= def:
			return def, def, "the default of a " + t.V + " without " + facts.GDSFlag
		}
	}
	return all, def, "all of a " + t.V
}

// missing names the devices that no interface is made of: by the PCI bus in the address, since interfaces and devices
// can go by different names, else by the name.
func missing(v check.View, net facts.LNetNow) string {
	d := check.Maybe(v, facts.EFADevices)
	if !d.OK {
		return ""
	}
	names, buses := map[string]bool{}, map[byte]bool{}
	for _, ni := range net.Of("efa") {
		for _, i := range ni.Interfaces {
			names[i] = true
		}
		if o, ok := ni.Octets(); ok {
			buses[o[2]] = true
		}
	}
	var lost []string
	for _, e := range d.V.EFA {
		b, known := e.Bus()
		if !names[e.Name] && !(known && buses[b]) {
			lost = append(lost, e.Name)
		}
	}
	if len(lost) == len(d.V.EFA) {
		return "" // nothing could be matched
	}
	return check.List(lost, 8)
}
