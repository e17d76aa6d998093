package efa

import (
	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "efa-driver-version",
	Title:  "The efa driver is new enough for Lustre",
	Why:    "LNet's EFA module needs the driver's kernel verbs and a fix for receivers that are not ready.",
	Source: "AWS FSx for Lustre User Guide, Configuring EFA clients; kefalnd source (LU-18977)",
	Step:   2,
	Examples: map[string]string{
		"p5en":                "pass",
		"p5en,efa-driver-old": "fail",
		"laptop":              "skip",
	},
	After:   []string{"efa-devices"},
	Needs:   applies.EFANeeds(facts.EFADriver.Must(), facts.Rules.Must()),
	Applies: applies.OverEFA,
	Fix: []check.Fix{{
		Text:     "install the current EFA driver with AWS's installer and reboot",
		Commands: []string{"curl -O https://efa-installer.amazonaws.com/aws-efa-installer-latest.tar.gz", "tar xf aws-efa-installer-latest.tar.gz", "cd aws-efa-installer", "sudo ./efa_installer.sh -y --minimal", "sudo reboot"},
		Changes:  "replaces the efa driver and restarts the node",
		Undo:     "install the former version with its installer",
	}},
	Judge: func(v check.View) []check.Finding {
		d := check.Get(v, facts.EFADriver)
		least, _ := check.Get(v, facts.Rules).Minimum("efa", "fsx-lustre")
		return []check.Finding{atLeast("the efa driver", d, string(least.Version))}
	},
})

// atLeast judges a module's version by a minimum. What modinfo finds is what the next load will take, and not
// surely what runs now.
func atLeast(what string, d facts.ModuleVersion, least string) check.Finding {
	ev := check.Quote(d.Source, d.Text)
	m, ok := facts.ParseVersion(least)
	if !ok {
		return check.With(check.NotKnown("a minimum version in the profile", "%s is %s; no minimum to measure it by", what, d.Text), ev)
	}
	switch yes, known := d.Version.AtLeast(m); {
	case !known:
		return check.With(check.NotKnown("the whole version", "%s is %s: too few parts to tell whether it is at least %s", what, d.Text, least), ev)
	case !yes:
		return check.With(check.Fail("%s %s is too old: at least %s is needed", what, d.Text, least), ev)
	}
	return check.With(check.Pass("%s %s, at least %s", what, d.Text, least), ev)
}
