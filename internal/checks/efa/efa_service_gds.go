package efa

import (
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

// configureAgain is configure where the service is enabled already: setup.sh then changes nothing that runs.
var configureAgain = func() check.Fix {
	f := configure
	f.Changes += "; where the service is enabled already it takes effect with the next boot"
	return f
}()

var _ = check.Register(check.Check{
	ID:     "efa-service-gds",
	Title:  "The service was set up with --optimized-for-gds",
	Why:    "Whether GDS mode is on can be seen nowhere else: without the option only some of the EFA interfaces are attached, and GPUs far from them lose the path.",
	Source: "AWS FSx for Lustre User Guide, Configuring EFA clients",
	Step:   2,
	Examples: map[string]string{
		"p5en":                     "pass",
		"g6e":                      "skip",
		"p5en,efa-service-not-gds": "fail",
		"laptop":                   "skip",
	},
	After: []string{"efa-service"},
	Needs: applies.EFANeeds(facts.ConfigureUnit.Must(), facts.InstanceType.Want(), facts.Rules.Must()),
	Applies: func(v check.View) (check.Answer, string) {
		if a, why := applies.OverEFA(v); a != check.Yes {
			return a, why
		}
		t := check.Maybe(v, facts.InstanceType)
		if t.OK {
			if i, ok := check.Get(v, facts.Rules).Instance(t.V); ok && !i.GDS {
				return check.No, "AWS does not offer Lustre GDS on " + t.V + ": the option would be refused"
			}
		}
		return check.Yes, ""
	},
	Fix: []check.Fix{configureAgain, reboot, remount},
	Judge: func(v check.View) []check.Finding {
		u := check.Get(v, facts.ConfigureUnit)
		if len(u.ExecStart) == 0 {
			return []check.Finding{check.NotKnown("systemctl show -p ExecStart "+facts.ConfigureUnitName, "the service's command is not told")}
		}
		ev := quoteUnit("ExecStart=" + strings.Join(u.ExecStart[0].Args, " "))
		switch has, known := u.Has(facts.GDSFlag); {
		case has:
			return []check.Finding{check.With(check.Pass("the service runs with %s", facts.GDSFlag), ev)}
		case !known:
			return []check.Finding{check.With(check.NotKnown("systemctl show -p ExecStart "+facts.ConfigureUnitName, "the service's command is shortened in what was seen"), ev)}
		}
		t := check.Maybe(v, facts.InstanceType)
		if !t.OK {
			return []check.Finding{check.With(check.NotKnown("--instance-type", "the service runs without %s, and the instance type is not known", facts.GDSFlag), ev)}
		}
		if _, ok := check.Get(v, facts.Rules).Instance(t.V); !ok {
			return []check.Finding{check.With(check.NotKnown("a row for "+t.V+" in the profile (--profile)", "the service runs without %s; whether %s offers it is not known", facts.GDSFlag, t.V), ev)}
		}
		return []check.Finding{check.With(check.Fail("the service runs without %s", facts.GDSFlag), ev)}
	},
})
