package efa

import (
	"fmt"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

var _ = check.Register(check.Check{
	ID:     "lustre-remount",
	Title:  "The file system was mounted after LNet over EFA was configured",
	Why:    "A mount that is older than the EFA interfaces keeps the connections that it made over TCP.",
	Source: "AWS FSx for Lustre User Guide, Configuring EFA clients; systemd.unit(5)",
	Step:   2,
	Examples: map[string]string{
		"p5en":                    "pass",
		"p5en,mounted-before-efa": "warn",
		"p5en,lustre-not-mounted": "unknown",
		"laptop":                  "skip",
	},
	After:   []string{"lustre-mounted", "efa-service"},
	Needs:   applies.EFANeeds(facts.MountUnits.Must(), facts.ConfigureUnit.Must(), facts.Mounts.Want(), facts.FstabNow.Want()),
	Applies: applies.OverEFA,
	Fix:     []check.Fix{remount},
	Judge: func(v check.View) []check.Finding {
		u := check.Get(v, facts.ConfigureUnit)
		if u.ActiveState != "active" && u.ActiveState != "" {
			// A mount after a service that failed, or never ran, is no better than one before it.
			return []check.Finding{check.With(check.NotKnown("a run of "+facts.ConfigureUnitName+" that ends well", "the service has configured nothing that a mount could come after"), quoteUnit("ActiveState="+u.ActiveState))}
		}
		done := u.ExecMainExitMonotonic
		if !done.OK || done.V == 0 {
			done = u.ActiveEnterMonotonic
		}
		var out []check.Finding
		units := check.Get(v, facts.MountUnits)
		for _, m := range units {
			f := compare(m, done)
			if f.Status == report.Warn {
				mt, _ := check.Maybe(v, facts.Mounts).V.At(m.Dir)
				rows := check.Maybe(v, facts.FstabNow)
				f.Fix = []check.Fix{remountOf(m.Dir, rows.OK && len(rows.V.At(m.Dir)) > 0, mt)}
			}
			if len(units) > 1 {
				f.Subject = m.Dir
			}
			out = append(out, f)
		}
		return out
	},
})

// compare uses µs since boot, which no change of the clock touches.
func compare(m facts.MountUnitOf, done facts.Opt[uint64]) check.Finding {
	at := m.Unit.ActiveEnterMonotonic
	switch {
	case !done.OK || done.V == 0:
		return check.NotKnown("systemctl show of "+facts.ConfigureUnitName+" with its times", "when the service ended is not told")
	case !at.OK || at.V == 0:
		return check.NotKnown("systemctl show of the mount's unit with its times", "when %s was mounted is not told", m.Dir)
	}
	ev := []check.Evidence{
		quoteUnit(fmt.Sprintf("ended %.1f s after boot", float64(done.V)/1e6)),
		check.Quote(facts.UnitSource(facts.MountUnit(m.Dir)), fmt.Sprintf("mounted %.1f s after boot", float64(at.V)/1e6)),
	}
	if at.V < done.V {
		return check.With(check.Warn("%s was mounted before LNet over EFA was configured: its connections may go over TCP", m.Dir), ev...)
	}
	return check.With(check.Pass("%s was mounted after the service had ended", m.Dir), ev...)
}
