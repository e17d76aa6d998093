package cli

import (
	"fmt"
	"strings"

	"gdsproof/internal/explain"
	"gdsproof/internal/render"
)

// log prints a folded log: the most telling process and line first, noise by name and without remedies.
func (t *explainer) log(l explain.Log) {
	if t.quiet {
		if first := firstKnown(l); first != nil {
			t.linef("%s: %s", first.Text, render.Clean(first.Rows[0].Meaning))
		} else {
			t.linef("%s: no known line", render.Clean(l.Name))
		}
		return
	}
	t.linef("%s: %d lines, %d of them known", render.Clean(l.Name), l.Lines, l.Known)
	if l.LongLines > 0 {
		t.linef("  of %d lines only the front was read: they are too long", l.LongLines)
	}
	shown := map[string]bool{}
	for i, s := range l.Sections {
		if i == maxSections && !t.verbose {
			t.linef("\n%d more processes or days, less telling or like these: -v shows them", len(l.Sections)-i)
			break
		}
		t.section(s, shown)
	}
	t.unknown(l, shown)
}

// firstKnown is the most telling line; of an output that is no log the first name that has a cause, or else the first.
func firstKnown(l explain.Log) (first *explain.Line) {
	if len(l.Sections) > 0 {
		return &l.Sections[0].Lines[0]
	}
	for i := range l.Unknown {
		x := &l.Unknown[i]
		switch {
		case len(x.Rows) == 0:
		case x.Rows[0].Cause != "":
			return x
		case first == nil:
			first = x
		}
	}
	return first
}

func (t *explainer) section(s explain.Section, shown map[string]bool) {
	switch {
	case s.More:
		t.linef("\nall further processes")
	case s.PID > 0:
		t.linef("\nprocess %d, %s", s.PID, render.Clean(s.Day))
	case s.Day != "":
		t.linef("\n%s", render.Clean(s.Day))
	default:
		t.linef("")
	}
	for _, x := range s.Lines {
		r := x.Rows[0]
		t.linef("  %-11s %6dx  %s", x.Class, x.Count, x.Text)
		if span := spanOf(x); span != "" {
			t.linef("                       %s", span)
		}
		if x.Class == "noise" && !t.verbose {
			t.field("                       ", "means", r.Meaning)
			continue
		}
		if shown[r.ID] && !t.verbose {
			continue // said of another process above
		}
		shown[r.ID] = true
		t.field("                       ", "means", r.Meaning)
		t.field("                       ", "cause", r.Cause)
		t.field("                       ", "remedy", r.Remedy)
		if t.verbose {
			t.field("                       ", "source", r.Source+", "+r.Date)
		}
	}
}

// brief prints a row of a pasted output by the name that the line has; what was said of it above is not said again.
func (t *explainer) brief(r explain.Row, line string, shown map[string]bool) {
	name := r.ID
	if len(r.Names) > 0 {
		name = render.Clean(r.Names[0])
	}
	for _, n := range r.Names {
		if strings.Contains(line, n) {
			name = render.Clean(n)
			break
		}
	}
	if shown[r.ID] && !t.verbose {
		t.linef("  %s: as above", name)
		return
	}
	shown[r.ID] = true
	t.linef("  %s: %s", name, render.Clean(r.Meaning))
	t.field("    ", "cause", r.Cause)
	t.field("    ", "remedy", r.Remedy)
	t.field("    ", "values", keyValues(r))
	if t.verbose {
		t.field("    ", "source", r.Source+", "+r.Date)
	}
}

func spanOf(x explain.Line) string {
	switch {
	case x.First == "" || x.Count == 1:
		return "" // the stamp stands in the line
	case x.First == x.Last:
		return "all at " + x.First
	}
	return "first " + x.First + ", last " + x.Last
}

// unknown prints lines that no row knows; without -v those of a level below WARN are only counted.
func (t *explainer) unknown(l explain.Log, shown map[string]bool) {
	const some = 10
	left := 0
	for i, x := range l.Unknown {
		if len(x.Rows) == 0 {
			continue
		}
		t.linef("\n%s", x.Text)
		for _, r := range l.Unknown[i].Rows {
			t.brief(r, x.Text, shown)
		}
	}
	head := false
	n := 0
	for _, x := range l.Unknown {
		if len(x.Rows) > 0 {
			continue
		}
		if n++; n > some && !t.verbose {
			left += x.Count
			continue
		}
		if !head {
			t.linef("\nnot known:")
			head = true
		}
		t.linef("  %-11s %6dx  %s", x.Level, x.Count, x.Text)
	}
	var rest []string
	for _, q := range l.Quiet {
		rest = append(rest, fmt.Sprintf("%d of level %s", q.Count, q.Level))
	}
	if left += l.Others; left > 0 {
		rest = append(rest, fmt.Sprintf("%d others", left))
	}
	if len(rest) > 0 {
		t.linef("\nalso not known: %s", strings.Join(rest, ", "))
	}
}
