package efa

import (
	"fmt"
	"slices"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "efa-service",
	Title:  "The service that configures LNet over EFA has run and is enabled for boot",
	Why:    "It adds the EFA interfaces to LNet at each boot; without it, Lustre traffic goes over TCP and nothing says so.",
	Source: "AWS FSx for Lustre User Guide, Configuring EFA clients; AWS EFA client set-up script",
	Step:   2,
	Examples: map[string]string{
		"p5en":                     "pass",
		"p5en,efa-service-missing": "fail",
		"p5en,efa-service-failed":  "fail",
		"laptop":                   "skip",
	},
	After:   []string{"lustre-client", "efa-devices", "efa-driver-version"}, // the set-up script stops on each of them
	Needs:   applies.EFANeeds(facts.ConfigureUnit.Must(), facts.Net.Want(), facts.SetupLog.Want(), facts.KLog.Want(), facts.Rules.Must()),
	Applies: applies.OverEFA,
	Fix:     []check.Fix{configure},
	Judge: func(v check.View) []check.Finding {
		u, net := check.Get(v, facts.ConfigureUnit), check.Maybe(v, facts.Net)
		ev := quoteUnit(fmt.Sprintf("LoadState=%s ActiveState=%s SubState=%s Result=%s UnitFileState=%s", u.LoadState, u.ActiveState, u.SubState, u.Result, u.UnitFileState))
		one := func(f check.Finding) []check.Finding { return []check.Finding{check.With(f, ev)} }
		attached := net.OK && len(net.V.Of("efa")) > 0
		switch {
		case u.LoadState == "not-found" && attached:
			f := check.Warn("there is no %s, and yet LNet has EFA interfaces: something else configured them (EKS leaves no unit)", facts.ConfigureUnitName)
			f.Fix = []check.Fix{{Text: "look for what configures LNet at boot, and see that it asks for GDS: on EKS nodeadm's feature gates FSxLustreEFAClient and FSxLustreEFAClientGDS, on HyperPod the life-cycle scripts",
				Commands: []string{"sudo dmesg | grep configure-efa-fsx", "sudo grep -rs 'configure-efa-fsx\\|FSxLustreEFA' /etc /var/lib/cloud/instance/user-data.txt"}, Changes: "nothing", Undo: "none needed"}}
			return one(f)
		case u.LoadState == "not-found" && !net.OK:
			return one(check.NotKnown("lnetctl net show as root", "there is no %s: never configured, or configured by something else (EKS leaves no unit)", facts.ConfigureUnitName))
		case u.LoadState == "not-found":
			f := check.Fail("there is no %s: LNet over EFA was never configured", facts.ConfigureUnitName)
			first := configure
			first.Text += "; it is of use only with a file system that was created with EFA, so ask that first"
			first.Commands = append([]string{askAPI}, first.Commands...)
			f.Fix = []check.Fix{first}
			return one(f)
		case u.LoadState == "masked" && attached:
			f := check.Warn("the service is masked although LNet has EFA interfaces: after the next boot it has none")
			f.Fix = []check.Fix{{Text: "unmask and enable it", Commands: []string{"sudo systemctl unmask " + facts.ConfigureUnitName, "sudo systemctl enable " + facts.ConfigureUnitName}, Changes: "runs the service at each boot", Undo: "sudo systemctl mask " + facts.ConfigureUnitName}}
			return one(f)
		case u.LoadState == "masked":
			return one(check.Fail("the service is masked: it never runs"))
		case u.ActiveState == "activating":
			f := check.NotKnown("a look when it has ended: with many interfaces it takes minutes", "the service is at work")
			return one(f)
		case u.ActiveState == "failed":
			f := check.With(check.Fail("the service failed: %s", failure(u)), append([]check.Evidence{ev}, complaints(v)...)...)
			f.Fix = []check.Fix{restart, configure}
			return []check.Finding{f}
		case u.ActiveState == "":
			return one(check.NotKnown("systemctl status "+facts.ConfigureUnitName, "the state of the service is not told"))
		case u.ActiveState != "active" && !net.OK:
			return one(check.NotKnown(net.Need, "the service is %s; whether LNet has EFA interfaces all the same is not known", u.ActiveState))
		case u.ActiveState != "active" && attached:
			f := check.Warn("the service is %s although LNet has EFA interfaces", u.ActiveState)
			f.Fix = []check.Fix{restart, configure}
			return one(f)
		case u.ActiveState != "active":
			f := check.Fail("the service is %s: LNet was not configured since boot", u.ActiveState)
			f.Fix = []check.Fix{restart, configure}
			return one(f)
		case u.UnitFileState != "" && u.UnitFileState != "enabled" && u.UnitFileState != "enabled-runtime":
			f := check.Warn("the service has run, but is %s: after the next boot LNet has no EFA interfaces", u.UnitFileState)
			f.Fix = []check.Fix{{Text: "enable it for boot", Commands: []string{"sudo systemctl enable " + facts.ConfigureUnitName}, Changes: "runs the service at each boot", Undo: "sudo systemctl disable " + facts.ConfigureUnitName}}
			return one(f)
		case u.UnitFileState == "":
			return one(check.Pass("the service is active; whether it is enabled for boot is not told"))
		}
		return one(check.Pass("the service is active and %s for boot", u.UnitFileState))
	},
})

func failure(u facts.UnitAnswer) string {
	s := u.Result
	if s == "" {
		s = "no reason given"
	}
	if u.ExecMainStatus.OK && u.ExecMainStatus.V != 0 {
		s += fmt.Sprintf(", status %d", u.ExecMainStatus.V)
	}
	return s
}

// complaints are the script's own words of its last run, from its journal; and from the kernel log, to which it
// speaks too and where each is explained.
func complaints(v check.View) []check.Evidence {
	var out []check.Evidence
	if log := check.Maybe(v, facts.SetupLog); log.OK {
		run, _ := log.V.Last()
		for i, e := range run.Errors {
			if i == 3 {
				break
			}
			out = append(out, check.Quote(facts.ConfigureJournal, e.Text))
		}
	}
	if log := check.Maybe(v, facts.KLog); log.OK {
		hits := slices.DeleteFunc(check.LogLines(log.V, check.Get(v, facts.Rules).Signatures, "efa-service"),
			func(h facts.Hit) bool { return h.Signature.Level == "info" })
		out = append(out, check.QuoteHits(log.V.Source, hits)...)
	}
	return out
}
