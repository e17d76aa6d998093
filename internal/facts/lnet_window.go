package facts

import (
	"strconv"
	"strings"

	"gdsproof/internal/evidence"
)

// LNetTraffic are the message counters of LNet's interfaces, as far as a look names them.
type LNetTraffic struct {
	NIs []LNetCounterLine // NID and Net "" where the lines do not say
}

// LNetWindows are LNet's counters before and after, whole listings and lines that a grep left of them.
var LNetWindows = Define("lnet-windows", []string{"lnet"}, func(in *In) Known[[]Window[LNetTraffic]] {
	var snaps []snapshot[LNetTraffic]
	for _, i := range in.looks(LNetSource, LNetCountsSource) {
		it := in.item(i)
		var t LNetTraffic
		if n, problem := ParseLNet(it.Out, it.Err, it.Exit); it.Source == LNetSource && problem.OK() {
			for _, ni := range n.NIs {
				if ni.Stats.Send.OK || ni.Stats.Recv.OK {
					t.NIs = append(t.NIs, LNetCounterLine{Net: ni.Net, NID: ni.NID, LNetCounts: ni.Stats})
				}
			}
		} else if c := ParseLNetCounterLines(it.Out); len(c.Columns) == 1 {
			t.NIs = c.Columns[0]
			if c.Cut && len(t.NIs) > 0 && !t.NIs[len(t.NIs)-1].Recv.OK {
				t.NIs = t.NIs[:len(t.NIs)-1]
			}
		}
		if len(t.NIs) > 0 {
			snaps = append(snaps, snapshot[LNetTraffic]{t, i})
		}
	}
	ws := windows(in, snaps, func(a, b LNetTraffic) string {
		for _, r := range a.Against(b) {
			if r.Fell {
				return "a counter fell: LNet was configured anew in between"
			}
		}
		return ""
	})
	seen := len(ws)
	if ws = overLustre(in, ws); len(ws) == 0 && seen > 0 {
		return Because[[]Window[LNetTraffic]]("what was moved is not on Lustre, as far as its paths tell, and sends nothing over LNet", "a run on a file below the Lustre mount")
	}
	if len(ws) == 0 {
		return Because[[]Window[LNetTraffic]]("LNet's counters were not seen before and after", "lnetctl net show -v before and after the I/O")
	}
	return Have(ws)
})

// LNetRise is by how much the counters of one interface rose.
type LNetRise struct {
	Net, NID   string
	Send, Recv uint64
	Drop       Opt[uint64]
	Fell       bool
}

// Against pairs the interfaces of two looks: by name; where lines have no name, by their place, if there are as many.
// An interface that only one of them has is left out.
func (t LNetTraffic) Against(after LNetTraffic) []LNetRise {
	var out []LNetRise
	take := func(a, b LNetCounterLine) {
		r := LNetRise{Net: b.Net, NID: b.NID}
		if r.Net == "" {
			r.Net = a.Net
		}
		diff := func(x, y Opt[uint64]) uint64 {
			if !x.OK || !y.OK {
				return 0
			}
			if y.V < x.V {
				r.Fell = true
				return 0
			}
			return y.V - x.V
		}
		r.Send, r.Recv = diff(a.Send, b.Send), diff(a.Recv, b.Recv)
		if a.Drop.OK && b.Drop.OK {
			r.Drop = Some(diff(a.Drop, b.Drop))
		}
		out = append(out, r)
	}
	if nameless(t.NIs) || nameless(after.NIs) {
		// Names on one side only, or on none: the place within the net decides.
		byNet := func(list []LNetCounterLine) map[string][]LNetCounterLine {
			m := map[string][]LNetCounterLine{}
			for _, l := range list {
				m[l.Net] = append(m[l.Net], l)
			}
			return m
		}
		a, b := byNet(t.NIs), byNet(after.NIs)
		if len(a) == 1 && len(b) == 1 {
			for n := range a {
				for m := range b {
					if (n == "" || m == "") && n != m { // one look named the net, the other did not
						a[m] = a[n]
					}
				}
			}
		}
		for net, list := range b {
			if len(a[net]) == len(list) {
				for i := range list {
					take(a[net][i], list[i])
				}
			}
		}
		return out
	}
	at := map[string]LNetCounterLine{}
	for _, l := range t.NIs {
		at[l.NID] = l
	}
	for _, l := range after.NIs {
		if a, ok := at[l.NID]; ok {
			take(a, l)
		}
	}
	return out
}

func nameless(list []LNetCounterLine) bool {
	for _, l := range list {
		if l.NID == "" {
			return true
		}
	}
	return false
}

// EFAWindows are the EFA devices' counters before and after. They survive a reboot, and so mean nothing alone.
var EFAWindows = Define("efa-windows", nil, func(in *In) Known[[]Window[EFACounters]] {
	var snaps []snapshot[EFACounters]
	for _, i := range in.looks(EFACountersSource) {
		it := in.item(i)
		if c := ParseEFACounters(it.Out); len(c.Port) > 0 {
			snaps = append(snaps, snapshot[EFACounters]{c, i})
		}
	}
	ws := windows(in, snaps, func(a, b EFACounters) string {
		for dev, m := range a.Port {
			for name, v := range m {
				if now, ok := b.Port[dev][name]; ok && now < v && name != "lifespan" {
					return "a counter fell: the device was reset or the driver reloaded"
				}
			}
		}
		return ""
	})
	ws = overLustre(in, ws)
	if len(ws) == 0 {
		return Because[[]Window[EFACounters]]("the EFA counters were not seen before and after", "the files of /sys/class/infiniband/*/ports/1/hw_counters before and after the I/O")
	}
	return Have(ws)
})

// EFARise is by how much a counter rose over all devices that both looks have; absent where none has it.
func EFARise(w Window[EFACounters], name string) Opt[uint64] {
	var sum Opt[uint64]
	for dev, m := range w.After.Port {
		now, ok := m[name]
		then, had := w.Before.Port[dev][name]
		if ok && had && now >= then {
			sum = Some(sum.V + now - then)
		}
	}
	return sum
}

// LNetCounted is the number that `lnetctl net show --net efa | grep -c @efa` printed.
var LNetCounted = Define("lnet-counted", []string{"lnet"}, func(in *In) Known[int] {
	it := in.Last(LNetCountSource)
	if it == nil || it.State != evidence.Present {
		return Unknown[int](in)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(it.Out)))
	if err != nil || n < 0 {
		return Unknown[int](in)
	}
	return Have(n)
})
