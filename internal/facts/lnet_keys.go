package facts

import (
	"cmp"
	"slices"

	"gdsproof/internal/evidence"
)

// Sources of LNet. The verbosity is a word of its own.
const (
	LNetSource       = "lnetctl net show -v 4"
	LNetPeerSource   = "lnetctl peer show"
	LNetUDSPSource   = "lnetctl udsp show"
	LNetGlobalSource = "lnetctl global show"
)

// LNetNow is LNet as last seen. Down says that LNet answered that there is nothing: it is not loaded or not
// configured; the interfaces are then none.
type LNetNow struct {
	LNet
	Down  LNetState
	Words string
}

// Net is LNet's interfaces. An empty answer with exit status 0 is nothing: lnetctl prints it where the module is
// missing, and where the net that was asked for is.
var Net = Define("lnet", []string{"lnet", "modules"}, func(in *In) Known[LNetNow] {
	it := in.Last(LNetSource)
	// A second look that failed takes nothing from the first.
	if its := in.Steps(LNetSource); len(its) > 1 && !it.OK() && its[0].OK() {
		it = its[0]
	}
	if it == nil || it.State == evidence.Absent || it.State == evidence.NotCollected || it.State == evidence.TimedOut {
		return Unknown[LNetNow](in)
	}
	n, problem := ParseLNet(it.Out, it.Err, it.Exit)
	switch problem.State {
	case LNetAnswered:
		n.Cut = n.Cut || it.Truncated || it.Form != evidence.Whole
		return Have(LNetNow{LNet: n})
	case LNetNotLoaded, LNetNotConfigured:
		if m := Use(in, KernelModules); problem.State == LNetNotLoaded && m.OK {
			if _, ok := m.V.Get("lnet"); ok {
				return Because[LNetNow](LNetSource+": "+problem.Words+", although the lnet module is loaded: a container has no /dev/lnet", "the output of "+LNetSource+" on the host")
			}
		}
		return Have(LNetNow{Down: problem.State, Words: problem.Words})
	case LNetDenied:
		return Because[LNetNow](LNetSource+": permission denied", NeedRoot)
	case LNetEmpty:
		if m := Use(in, KernelModules); m.OK && m.V.Complete {
			if _, ok := m.V.Get("lnet"); !ok {
				return Have(LNetNow{Down: LNetNotLoaded, Words: "no output, and no lnet in " + m.V.Source})
			}
		}
		return Because[LNetNow](LNetSource+" printed nothing and exited with 0: unknown or not loaded", "lsmod, and lnetctl net show as root")
	}
	return Because[LNetNow](LNetSource+": "+string(problem.State)+" "+problem.Words, "the output of "+LNetSource+" as root")
})

// LNetTwice are two looks at LNet, one after the other.
type LNetTwice struct{ Before, After LNet }

// NetWindow is known where LNet was looked at twice.
var NetWindow = Define("lnet-window", []string{"lnet"}, func(in *In) Known[LNetTwice] {
	its := in.Steps(LNetSource)
	if len(its) < 2 {
		return Because[LNetTwice]("LNet was looked at once", "a second look at "+LNetSource)
	}
	a, pa := ParseLNet(its[0].Out, its[0].Err, its[0].Exit)
	b, pb := ParseLNet(its[len(its)-1].Out, its[len(its)-1].Err, its[len(its)-1].Exit)
	if !pa.OK() || !pb.OK() {
		return Because[LNetTwice]("one of the two looks at LNet gave no answer", "two outputs of "+LNetSource)
	}
	return Have(LNetTwice{a, b})
})

// lnetAnswer reads one of lnetctl's other outputs. cut tells of one that was not kept whole, which its text need not show.
func lnetAnswer[T any](name, source string, parse func(out, err []byte, exit *int) (T, LNetProblem), cut func(*T)) Key[T] {
	return Define(name, []string{"lnet"}, func(in *In) Known[T] {
		it := in.Item(source)
		if it == nil || it.State == evidence.Absent || it.State == evidence.NotCollected || it.State == evidence.TimedOut {
			return Unknown[T](in)
		}
		v, problem := parse(it.Out, it.Err, it.Exit)
		switch problem.State {
		case LNetAnswered:
			if it.Truncated {
				cut(&v)
			}
			return Have(v)
		case LNetDenied:
			return Because[T](source+": permission denied", NeedRoot)
		}
		return Because[T](source+": "+string(problem.State)+" "+problem.Words, "the output of "+source+" as root")
	})
}

// LNetPeersNow, LNetRules and LNetSettings are the peers, the rules of preference and the global settings.
var (
	LNetPeersNow = lnetAnswer("lnet-peers", LNetPeerSource, ParseLNetPeers, func(p *LNetPeers) { p.Cut = true })
	LNetSettings = lnetAnswer("lnet-global", LNetGlobalSource, ParseLNetGlobal, func(*LNetGlobal) {}) // each value stands for itself
	LNetRules    = Define("lnet-udsp", []string{"lnet"}, func(in *In) Known[LNetUDSP] {
		it := in.Item(LNetUDSPSource)
		if it == nil || it.State != evidence.Present {
			return Unknown[LNetUDSP](in)
		}
		u, problem := ParseLNetUDSP(it.Out, it.Err, it.Exit)
		u.Cut = u.Cut || it.Truncated
		switch {
		case problem.OK():
			return Have(u)
		case problem.State == LNetDenied:
			return Because[LNetUDSP](LNetUDSPSource+": permission denied", NeedRoot)
		case problem.State == LNetEmpty && it.Complete() && it.Exit != nil && *it.Exit == 0 && Use(in, Net).V.Down == "" && Use(in, Net).OK:
			return Have(LNetUDSP{}) // LNet answers and there is no rule: that is printed as nothing
		}
		return Because[LNetUDSP](LNetUDSPSource+": "+string(problem.State)+" "+problem.Words, "the output of "+LNetUDSPSource+" as root")
	})
)

// Last is the latest of the items of a source.
func (in *In) Last(source string) *evidence.Item {
	its := in.Steps(source)
	if len(its) == 0 {
		return in.Item(source)
	}
	return its[len(its)-1]
}

// Steps are the items of a source in the order of their steps.
func (in *In) Steps(source string) []*evidence.Item {
	var out []*evidence.Item
	for i := range in.t.Set.Items {
		it := &in.t.Set.Items[i]
		if it.Place == in.place && it.Source == source {
			out = append(out, it)
			in.note(i)
		}
	}
	slices.SortStableFunc(out, func(a, b *evidence.Item) int { return cmp.Compare(a.Step, b.Step) })
	if len(out) > 0 {
		in.Item(source) // for the reason if it gives no answer
	}
	return out
}

func sortBy[T any, K cmp.Ordered](list []T, key func(T) K) {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
}
