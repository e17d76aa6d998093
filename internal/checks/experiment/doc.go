// Package experiment has the checks of step 4: the witnesses' testimony told as findings. The judgement is the
// witnesses'; a finding is another view of it. They are the same for an experiment of our own and for outputs that
// somebody else's run left.
package experiment

import (
	"slices"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/report"
	"gdsproof/internal/witness"
)

const source = "the witnesses of an experiment, and what each can and cannot tell: nvidia-fs's counters, libcufile's statistics, LNet's messages"

// row is how one word of a witness is told as a finding.
type row map[witness.Says]report.Status

// tell makes a finding of each testimony of a witness; a witness that did not speak gives one that is unknown.
func tell(v check.View, name string, dirs []string, table row) []check.Finding {
	var out []check.Finding
	var silent *witness.Testimony
	heard := check.Get(v, witness.Heard)
	for i := range heard {
		t := &heard[i]
		if t.Witness != name || !slices.Contains(dirs, t.Direction) {
			continue
		}
		status, ok := table[t.Says]
		if !ok {
			silent = t
			continue
		}
		f := check.Result(status, "%s", subjectOf(t, dirs)+t.Summary)
		if status == report.Unknown {
			f.Needed = report.Nullable(t.WouldSpeakIf)
		}
		out = append(out, quoted(f, t))
	}
	if len(out) > 0 {
		return joined(out)
	}
	if silent != nil {
		return []check.Finding{quoted(check.NotKnown(silent.WouldSpeakIf, "%s", silent.Summary), silent)}
	}
	return nil
}

// counted is what the driver says of a direction. Only the library and a strict run can say that a run failed to take
// the path: the counters are of the whole host.
func counted(v check.View, dirs []string) []check.Finding {
	if f := tell(v, witness.Driver, dirs, row{witness.GDS: report.Pass, witness.Compat: report.Unknown, witness.Mixed: report.Unknown, witness.Moved: report.Unknown}); f != nil {
		return f
	}
	return []check.Finding{check.NotKnown("a run of "+dirs[0]+" with the counters before and after it", "nothing was said of %s", dirs[0])}
}

// subjectOf names the direction where a check speaks of several.
func subjectOf(t *witness.Testimony, dirs []string) string {
	if len(dirs) > 2 && t.Direction != witness.Both {
		return t.Direction + ": "
	}
	return ""
}

func quoted(f check.Finding, t *witness.Testimony) check.Finding {
	for _, q := range t.Evidence {
		text := t.Summary
		if q.Text != "" {
			text = q.Text
		}
		f = check.With(f, check.Quote(q.Source, text))
	}
	return f
}

// joined makes one finding of several windows: the worst of them, with what the others said behind it.
func joined(list []check.Finding) []check.Finding {
	order := []report.Status{report.Fail, report.Warn, report.Unknown, report.Pass, report.Skip}
	slices.SortStableFunc(list, func(a, b check.Finding) int { return slices.Index(order, a.Status) - slices.Index(order, b.Status) })
	f := list[0]
	for _, g := range list[1:] {
		if g.Summary != f.Summary {
			f.Summary += "; " + g.Summary
		}
		f.Evidence = append(f.Evidence, g.Evidence...)
	}
	return []check.Finding{f}
}

var (
	anyWay = []string{witness.Reads, witness.Writes, witness.Both}
	reads  = []string{witness.Reads, witness.Both}
	writes = []string{witness.Writes, witness.Both}
)

func size(b uint64) string { return witness.Size(b) }

// sorted orders evidence that was gathered from maps.
func sorted(ev []check.Evidence) []check.Evidence {
	slices.SortFunc(ev, func(a, b check.Evidence) int { return strings.Compare(a.Source+a.Text, b.Source+b.Text) })
	return ev
}
