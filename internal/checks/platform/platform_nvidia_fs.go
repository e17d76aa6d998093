package platform

import (
	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "platform-nvidia-fs",
	Title:  "The platform report shows an nvidia-fs that is new enough",
	Why:    "libcufile falls back to the CPU with a driver that it finds too old, and FSx for Lustre over EFA needs a newer one than libcufile asks for.",
	Source: "AWS FSx for Lustre User Guide; NVIDIA GDS Installation and Troubleshooting Guide",
	Step:   3,
	Examples: map[string]string{
		"p5en":                   "pass",
		"p5en,nvidia-fs-missing": "unknown",
		"laptop":                 "skip",
	},
	After:   []string{"nvidia-fs-loaded", "nvidia-fs-version", "cufile-library", "cufile-config"},
	Needs:   applies.NVFSNeeds(facts.Platform.Must(), facts.Question.Want(), facts.EFAQuestion.Want(), facts.Asked.Must(), facts.Rules.Must()),
	Applies: applies.NVFS,
	Fix: []check.Fix{{
		Text:     "load or build nvidia-fs: see nvidia-fs-loaded and nvidia-fs-version",
		Commands: []string{"gdsproof fix nvidia-fs-loaded nvidia-fs-version"},
		Changes:  "nothing",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		p, asked := check.Get(v, facts.Platform), check.Get(v, facts.Asked)
		overEFA, _ := applies.LustreOverEFA(v)
		one := func(f check.Finding, text string) []check.Finding {
			return []check.Finding{check.With(f, quote(p, text))}
		}
		if p.NVFSVersion == "" {
			if p.UnloadedSpoken {
				// That it is not loaded is nvidia-fs-loaded's to say. Here it is: it came after the report, or the report's
				// user may not open its nodes.
				return one(check.NotKnown("gdscheck -p as root, now", "the report shows no nvidia_fs version although the module is loaded"), "nvidia_fs minimum version: "+p.NVFSMinimum)
			}
			return []check.Finding{check.NotKnown(wantWhole, "the version lines of the report are not there")}
		}
		line := "nvidia_fs version: " + p.NVFSVersion
		least, whose := p.NVFSMinimum, "the report's own minimum"
		if fsx, ok := check.Get(v, facts.Rules).Minimum("nvidia-fs", "fsx-lustre"); ok && overEFA == facts.Yes {
			least, whose = string(fsx.Version), "needed by FSx for Lustre over EFA"
		}
		if asked.MinNVFS != "" {
			least, whose = asked.MinNVFS, "asked for"
		}
		ver, ok := facts.ParseVersion(p.NVFSVersion)
		m, ok2 := facts.ParseVersion(least)
		if !ok || !ok2 {
			return one(check.NotKnown(wantWhole, "nvidia_fs %s; no minimum to measure it by", p.NVFSVersion), line)
		}
		switch yes, known := ver.AtLeast(m); {
		case !known:
			return one(check.NotKnown("the NVFS Driver line of "+facts.NVFSProc+"/stats", "the report shows two parts, %s, and %s is %s", p.NVFSVersion, least, whose), line)
		case !yes:
			return one(check.Fail("nvidia_fs %s is too old: %s is %s", p.NVFSVersion, least, whose), line)
		}
		return one(check.Pass("nvidia_fs %s, at least %s (%s)", p.NVFSVersion, least, whose), line)
	},
})
