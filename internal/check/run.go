package check

import (
	"strings"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

// Run judges checks at one place. The checks must be in the order of All.
func Run(checks []*Check, t *facts.Table, place evidence.Place) []Finding {
	var out []Finding
	// A check, or one of its findings as "check/subject", and the failed check that it is or waits for.
	root := map[string]string{}
	for _, c := range checks {
		fs := judge(c, t, place)
		blocker := ""
		for _, a := range c.After {
			if root[a] != "" {
				blocker = root[a]
				break
			}
		}
		for i := range fs {
			f := &fs[i]
			f.Check, f.Step, f.Why = c.ID, c.Step, c.Why
			f.Place = string(place)
			switch f.Status {
			case report.Fail, report.Warn, report.Unknown:
				if blocker != "" {
					block(f, blocker)
				}
			}
			if f.Status == report.Fail {
				root[c.ID], root[c.ID+"/"+f.Subject] = c.ID, c.ID
			}
			if len(f.Fix) == 0 && (f.Status == report.Fail || f.Status == report.Warn) {
				f.Fix = c.Fix
			}
			if f.Status != report.Fail && f.Status != report.Warn {
				f.Fix = nil
			}
		}
		// What waits for a blocked check waits for its cause.
		if root[c.ID] == "" && blocker != "" {
			for _, f := range fs {
				if f.BlockedBy != "" {
					root[c.ID], root[c.ID+"/"+f.Subject] = blocker, blocker
				}
			}
		}
		out = append(out, fs...)
	}
	return out
}

func block(f *Finding, by string) {
	if f.Status != report.Unknown {
		f.Summary = "was seen, but may follow from " + by + ": " + f.Summary
	}
	f.Status = report.Unknown
	f.BlockedBy = report.Nullable(by)
	f.Needed = report.Nullable("mend " + by + " first")
}

func judge(c *Check, t *facts.Table, place evidence.Place) []Finding {
	v := View{place: place, table: t, check: c}
	if c.Applies != nil {
		switch a, why := c.Applies(v); a {
		case No:
			return []Finding{Result(report.Skip, "%s", why)}
		case CannotTell:
			return []Finding{NotKnown(why, "cannot tell whether it applies here")}
		}
	}
	for _, n := range c.Needs {
		if n.Optional {
			continue
		}
		if ok, why, need, from := n.Resolve(t, place); !ok {
			return []Finding{With(NotKnown(need, "%s", why), cite(t.Set, from)...)}
		}
	}
	fs := c.Judge(v)
	if len(fs) == 0 {
		return []Finding{NotKnown("a report of this fault", "the check gave no judgement")}
	}
	return fs
}

// cite quotes items: what they said, or how the look ended.
func cite(set *evidence.Set, from []int) []Evidence {
	var out []Evidence
	for _, i := range from {
		it := &set.Items[i]
		text := strings.TrimSpace(string(it.Out))
		said := strings.TrimSpace(string(it.Err))
		switch {
		case it.State != evidence.Present && said != "":
			text = string(it.State) + ": " + said
		case it.State != evidence.Present:
			text = string(it.State)
		case text == "" && said != "":
			text = said
		case text == "":
			text = "(empty)"
		}
		out = append(out, Evidence{Source: it.Source, Text: firstLines(text, 3)})
	}
	return out
}

func firstLines(s string, n int) string {
	lines := strings.SplitN(s, "\n", n+1)
	if len(lines) > n {
		lines[n] = "…"
	}
	for i, l := range lines {
		if r := []rune(l); len(r) > 200 {
			lines[i] = string(r[:200]) + "…"
		}
	}
	return strings.Join(lines, "\n")
}
