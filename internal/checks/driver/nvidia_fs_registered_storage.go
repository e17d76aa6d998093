package driver

import (
	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "nvidia-fs-registered-storage",
	Title:  "The file system's module took the driver's callbacks",
	Why:    "nvidia-fs can only serve a file system whose module registered with it; Lustre appears as lnet, whatever network is below.",
	Source: "nvidia-fs source, nvfs-mod.c; Lustre source, lnet_rdma.c",
	Step:   1,
	Examples: map[string]string{
		"p5en":                   "pass",
		"p5en,nvidia-fs-missing": "unknown",
		"laptop":                 "skip",
	},
	After: []string{"nvidia-fs-loaded", "nvidia-fs-devices"},
	Needs: applies.NVFSNeeds(facts.Driving.Must(), facts.Question.Must(), facts.Storage.Must(), facts.KernelModules.Want(), facts.KLog.Want(), facts.Rules.Must()),
	Applies: func(v check.View) (check.Answer, string) {
		if a, why := applies.NVFS(v); a != check.Yes {
			return a, why
		}
		if q := check.Maybe(v, facts.Question); q.OK && q.V.Is == facts.No {
			return check.No, "Lustre is not in question: " + q.V.Why
		}
		return check.Yes, ""
	},
	Fix: []check.Fix{{
		Text:     "install the Lustre client that offers GPUDirect hooks (AWS's 2.15 client does) for the running kernel, and look for the refusal in the kernel log",
		Commands: []string{"sudo dmesg | grep -i -E 'nvfs registration|symbol_get|deregister funtion'", "modinfo lnet"},
		Changes:  "nothing",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		s := check.Get(v, facts.Storage)
		source := facts.NVFSProc + "/modules"
		line := check.Quote(source, s.Text)
		switch {
		case s.Has("lnet"):
			return []check.Finding{check.With(check.Pass("lnet is registered (this is Lustre; the network below it is not told here)"), line)}
		case !s.Held:
			return []check.Finding{check.With(check.NotKnown("a look while a GDS program runs, or this tool on the node",
				"read while nobody had the driver open: then the list is empty but for a placeholder"), line)}
		}
		mods := check.Maybe(v, facts.KernelModules)
		if mods.OK && mods.V.Complete {
			if _, ok := mods.V.Get("lnet"); !ok {
				return []check.Finding{check.With(check.NotKnown("a mounted Lustre file system", "the lnet module is not loaded, so it cannot have registered"), line)}
			}
		}
		if q := check.Get(v, facts.Question); q.Is == facts.CannotTell {
			return []check.Finding{check.With(check.NotKnown(q.Why, "lnet is not registered; it cannot be told whether Lustre is used"), line)}
		}
		f := check.With(check.Fail("lnet is not registered with nvidia-fs although the driver was open: Lustre I/O cannot take the GDS path"), line)
		if log := check.Maybe(v, facts.KLog); log.OK {
			mine := check.LogLines(log.V, check.Get(v, facts.Rules).Signatures, "nvidia-fs-registered-storage")
			f.Evidence = append(f.Evidence, check.QuoteHits(log.V.Source, mine)...)
		}
		return []check.Finding{f}
	},
})
