package driver

import (
	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "nvidia-fs-version",
	Title:  "nvidia-fs is new enough",
	Why:    "FSx for Lustre over EFA needs a driver whose table of peers can be made large enough; elsewhere libcufile names its own minimum.",
	Source: "AWS FSx for Lustre User Guide, Configuring EFA clients; nvidia-fs ChangeLog 2.24.2",
	Step:   1,
	Gate:   true,
	Examples: map[string]string{
		"p5en":                   "pass",
		"p5en,nvidia-fs-too-old": "fail",
		"p5en,nvidia-fs-missing": "unknown",
		"laptop":                 "skip",
	},
	After:   []string{"nvidia-fs-loaded"},
	Needs:   applies.NVFSNeeds(facts.DriverVersion.Must(), facts.Question.Want(), facts.EFAQuestion.Want(), facts.Asked.Must(), facts.GDSCheck.Want(), facts.Rules.Must()),
	Applies: applies.NVFS,
	Fix:     []check.Fix{build},
	Judge: func(v check.View) []check.Finding {
		ver, asked := check.Get(v, facts.DriverVersion), check.Get(v, facts.Asked)
		// Lustre over another network (EXAScaler over InfiniBand) has no such rule.
		overEFA, why := applies.LustreOverEFA(v)
		line := check.Quote(ver.Source, ver.Line)
		least, whose := "", ""
		fsx, _ := check.Get(v, facts.Rules).Minimum("nvidia-fs", "fsx-lustre")
		switch {
		case asked.MinNVFS != "":
			least, whose = asked.MinNVFS, "asked for"
		case overEFA == facts.Yes:
			least, whose = string(fsx.Version), "needed by FSx for Lustre over EFA"
		default:
			if g := check.Maybe(v, facts.GDSCheck); g.OK && g.V.NVFSMinimum != "" {
				least, whose = g.V.NVFSMinimum, "the minimum that gdscheck prints"
			}
		}
		if overEFA != facts.Yes && asked.MinNVFS == "" {
			// Good enough for the stricter rule is good enough for every other.
			if yes, known := atLeast(ver, string(fsx.Version)); known && yes {
				return []check.Finding{check.With(check.Pass("nvidia-fs %s, at least %s", ver.Text, fsx.Version), line)}
			}
		}
		if overEFA == facts.CannotTell && asked.MinNVFS == "" {
			return []check.Finding{check.With(check.NotKnown(why, "nvidia-fs %s is below %s, which FSx for Lustre over EFA needs; it cannot be told whether that is used", ver.Text, fsx.Version), line)}
		}
		if least == "" {
			return []check.Finding{check.With(check.NotKnown("the output of gdscheck -p, which prints the minimum", "nvidia-fs %s; the minimum for other file systems than Lustre is not known", ver.Text), line)}
		}
		switch yes, known := atLeast(ver, least); {
		case !known:
			return []check.Finding{check.With(check.NotKnown("the NVFS Driver line of "+facts.NVFSProc+"/stats", "nvidia-fs %s, and %s is %s: %s has too few parts to tell", ver.Text, least, whose, ver.Source), line)}
		case !yes:
			return []check.Finding{check.With(check.Fail("nvidia-fs %s is too old: %s is %s", ver.Text, least, whose), line)}
		}
		return []check.Finding{check.With(check.Pass("nvidia-fs %s, at least %s (%s)", ver.Text, least, whose), line)}
	},
})

func atLeast(v facts.NVFSVersion, least string) (yes, known bool) {
	m, ok := facts.ParseVersion(least)
	if !ok {
		return false, false
	}
	return v.Version.AtLeast(m)
}
