package efa

import (
	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

var _ = check.Register(check.Check{
	ID:     "instance-gds",
	Title:  "The instance type is one for which AWS offers Lustre GDS over EFA",
	Why:    "On other types the set-up refuses --optimized-for-gds; EFA without GDS may still work.",
	Source: "AWS FSx for Lustre User Guide, Configuring EFA clients; rows instances of the profile",
	Step:   2,
	Examples: map[string]string{
		"p5en":    "pass",
		"p5":      "pass",
		"p6-b200": "pass",
		"g6e":     "warn",
		"laptop":  "skip",
	},
	Needs:   applies.EFANeeds(facts.InstanceType.Must(), facts.Rules.Must()),
	Applies: applies.OverEFA,
	Fix: []check.Fix{{
		Text:    "for GDS take a type that AWS lists (the .48xlarge sizes of P5, P5e, P5en, P6-B200); a type that this tool does not know yet can be added to the profile",
		Changes: "another instance type",
		Undo:    "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		typ := check.Get(v, facts.InstanceType)
		row, ok := check.Get(v, facts.Rules).Instance(typ)
		ev := check.Quote("instance type", typ)
		switch {
		case !ok:
			return []check.Finding{check.With(check.NotKnown("a row for this type in the profile (--profile)", "%s is not in the profile: it cannot be told whether AWS offers Lustre GDS on it", typ), ev)}
		case !row.GDS:
			return []check.Finding{check.With(check.Warn("AWS does not offer Lustre GDS over EFA on %s; EFA without GDS may still work", typ), ev, check.Quote("profile", row.Source+", "+row.Date))}
		}
		return []check.Finding{check.With(check.Result(report.Pass, "AWS offers Lustre GDS over EFA on "+typ), ev)}
	},
})
