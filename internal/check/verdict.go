package check

import (
	"fmt"
	"strings"

	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

// Verdict joins the findings of checks into the answer of a passive look. notApplicable is why GDS could not be
// asked for at all on this machine, or "".
func Verdict(checks []*Check, findings []Finding, notApplicable string) report.Verdict {
	v := report.Verdict{}
	if notApplicable != "" {
		v.Outcome = report.NotApplicable
		v.Summary = notApplicable
		return v
	}
	gates := map[string]bool{}
	for _, c := range checks {
		gates[c.ID] = c.Gate
	}
	var failed, warned, unknownGates, blocked []string
	var first, waiting *Finding
	for i := range findings {
		f := &findings[i]
		switch f.Status {
		case report.Fail:
			failed = add(failed, f.Check)
			if first == nil || first.Status != report.Fail {
				first = f
			}
		case report.Warn:
			warned = add(warned, f.Check)
			if first == nil || first.Status == report.Unknown {
				first = f
			}
		case report.Unknown:
			switch {
			case f.BlockedBy != "":
				blocked = add(blocked, f.Check)
				if waiting == nil {
					waiting = f
				}
			case gates[f.Check]:
				unknownGates = add(unknownGates, f.Check)
				if first == nil {
					first = f
				}
			}
		}
	}
	switch {
	case len(failed) > 0:
		v.Outcome = report.NotReady
		v.Summary = "failed: " + strings.Join(failed, ", ")
		if len(blocked) > 0 {
			v.Summary += fmt.Sprintf("; %s for it", plural(len(blocked), "check waits", "checks wait"))
		}
	case len(blocked) > 0:
		// The cause was left out of what was asked for: nothing that waits for it is known.
		v.Outcome = report.UnknownResult
		v.Summary = fmt.Sprintf("%s for %s, which was not asked for and failed", plural(len(blocked), "check waits", "checks wait"), waiting.BlockedBy)
		v.FirstAction = &report.Action{Check: string(waiting.BlockedBy), Text: "see what to do about it", Commands: []string{"gdsproof fix " + string(waiting.BlockedBy)}}
		return v
	case len(unknownGates) > 0:
		v.Outcome = report.UnknownResult
		v.Summary = "not known: " + strings.Join(unknownGates, ", ")
	default:
		v.Outcome = report.Ready
		v.Summary = "nothing that was looked at forbids GDS; whether I/O takes it, only an experiment shows"
		if len(warned) > 0 {
			v.Summary = "warnings: " + strings.Join(warned, ", ")
		}
	}
	v.FirstAction = action(first)
	return v
}

func action(f *Finding) *report.Action {
	if f == nil {
		return nil
	}
	a := &report.Action{Check: f.Check}
	if f.Status == report.Unknown {
		a.Text = string(f.Needed)
		if a.Text == facts.NeedRoot {
			a.Text = "run as root: " + f.Summary
		}
		return a
	}
	if len(f.Fix) > 0 {
		a.Text, a.Commands = f.Fix[0].Text, f.Fix[0].Commands
	}
	return a
}

func add(list []string, s string) []string {
	for _, l := range list {
		if l == s {
			return list
		}
	}
	return append(list, s)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
