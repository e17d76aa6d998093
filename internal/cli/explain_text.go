package cli

import (
	"fmt"
	"strings"

	"gdsproof/internal/explain"
	"gdsproof/internal/render"
)

// maxSections are printed without -v: the most telling processes of a log.
const maxSections = 8

// explainText prints answers for people. quiet: the meaning, or the first line of a log, alone.
func explainText(o explained, verbose, quiet bool) string {
	t := &explainer{verbose: verbose, quiet: quiet}
	if len(o.Topics) > 0 {
		t.topics(o.Topics)
	}
	for _, w := range o.Words {
		t.word(w)
	}
	for _, l := range o.Logs {
		t.log(l)
	}
	return t.b.String()
}

type explainer struct {
	b              strings.Builder
	verbose, quiet bool
}

func (t *explainer) linef(format string, a ...any) { fmt.Fprintf(&t.b, format+"\n", a...) }

// field prints "  name: text" unless the text is empty.
func (t *explainer) field(indent, name, text string) {
	if text = strings.Join(strings.Fields(render.Clean(text)), " "); text != "" {
		t.linef("%s%-10s%s", indent, name+":", text)
	}
}

func (t *explainer) topics(topics []explain.Topic) {
	t.linef("gdsproof explain WORD explains:")
	for _, p := range topics {
		t.linef("  %4d  %-36s  %s", p.Count, p.Title, render.Clean(strings.Join(p.Try, " | ")))
	}
	t.linef("gdsproof explain FILE, or a log on stdin, is searched line by line.")
}

func (t *explainer) word(w explainedWord) {
	if !w.Known {
		t.linef("%s: unknown", w.Query)
		if w.Note != "" {
			t.linef("  %s", render.Clean(w.Note))
		} else if len(w.Suggestions) > 0 {
			t.linef("  did you mean: %s", render.Clean(strings.Join(w.Suggestions, " | ")))
		} else if !t.quiet {
			t.linef("  nothing like it is known; gdsproof explain lists the topics")
		}
		return
	}
	for _, c := range w.Checks {
		t.check(c)
	}
	for i, r := range w.Rows {
		if t.quiet {
			t.linef("%s", render.Clean(r.Meaning))
			continue
		}
		if i > 0 || len(w.Checks) > 0 {
			t.linef("")
		}
		head := w.Query
		if len(r.Names) > 0 {
			head = strings.Join(r.Names, ", ")
		}
		t.linef("%s  (%s)", render.Clean(head), kindTitle(r.Kind))
		t.row("  ", r)
	}
}

// kindTitle is the title that a kind has in the list of topics.
func kindTitle(kind string) string {
	for _, k := range explain.KindTitles {
		if k.Kind == kind {
			return k.Title
		}
	}
	return kind
}

func (t *explainer) row(indent string, r explain.Row) {
	t.field(indent, "means", r.Meaning)
	t.field(indent, "cause", r.Cause)
	t.field(indent, "remedy", r.Remedy)
	t.field(indent, "type", r.Type)
	t.field(indent, "values", keyValues(r))
	t.field(indent, "variable", r.Env)
	t.field(indent, "since", r.Since)
	t.field(indent, "until", r.Until)
	if r.Check != "" {
		t.field(indent, "check", "gdsproof check --only "+r.Check)
	}
	t.field(indent, "source", r.Source+", "+r.Date)
}

func keyValues(r explain.Row) string {
	switch {
	case r.BuiltIn == "" && r.Stock == "":
		return ""
	case r.BuiltIn == r.Stock:
		return r.Stock + " with and without the packaged cufile.json"
	case r.Stock == "":
		return r.BuiltIn + " without a file; the packaged cufile.json does not set it"
	case r.BuiltIn == "":
		return r.Stock + " in the packaged cufile.json"
	}
	return r.BuiltIn + " without a file, " + r.Stock + " in the packaged cufile.json"
}

func (t *explainer) check(c explain.CheckWords) {
	if t.quiet {
		t.linef("%s", c.Title)
		return
	}
	t.linef("%s  (check of step %d: %s)", c.Check, c.Step, render.Steps[c.Step])
	t.field("  ", "looks at", c.Title)
	t.field("  ", "why", c.Why)
	for _, s := range c.Says() {
		t.field("  ", "says", s)
	}
	if len(c.After) > 0 {
		t.field("  ", "after", strings.Join(c.After, ", "))
	}
	for i, f := range c.Fix {
		name := "fix"
		if i > 0 {
			name = "or"
		}
		t.field("  ", name, f.Text)
		for _, cmd := range f.Commands {
			t.linef("              %s", render.Clean(cmd))
		}
		t.field("  ", "changes", f.Changes)
		t.field("  ", "undo", f.Undo)
	}
	t.field("  ", "source", c.Source)
	t.field("  ", "run", "gdsproof check --only "+c.Check)
}
