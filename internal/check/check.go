// Package check is the contract of a check, and the runner.
//
// One check is one file below internal/checks: a value of type Check, registered from the file, with its
// judgement, the reason for it, the fix, the source of what it claims, and examples that run as tests. Nothing
// else has to be edited: text, JSON, documentation, completion and tests follow from the value.
//
// A judgement is pure: it gets facts and returns findings. A fact that it must have and that is not known keeps
// it from being asked at all; the runner then answers unknown, with the reason.
package check

import (
	"fmt"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

// The types of a result, under the names that checks use.
type (
	Finding  = report.Finding
	Evidence = report.Evidence
	Fix      = report.Fix
)

// Answer of whether a check applies.
type Answer = facts.Answer

const (
	CannotTell = facts.CannotTell // the check is unknown
	No         = facts.No         // the check is skipped
	Yes        = facts.Yes        // the check is judged
)

// Check is one check.
type Check struct {
	ID       string            // kebab-case, for ever; the file has its name
	Title    string            // what it looks at
	Why      string            // why it matters
	Source   string            // where what it claims is written
	Step     int               // 1 driver, 2 EFA, 3 platform, 4 experiment, 5 container
	Examples map[string]string // simulated node (with faults) -> status; run as tests
	Gate     bool              // while it is unknown the node is not called ready
	Needs    []facts.Need      // key.Must() or key.Want()
	After    []string          // checks whose failure explains this one's; "id/subject" is the failure of that finding alone
	Fix      []Fix             // what to do when it warns or fails
	Applies  func(View) (Answer, string)
	Judge    func(View) []Finding
}

// View is what a judgement sees: the facts that its check declared, at one place.
type View struct {
	place evidence.Place
	table *facts.Table
	check *Check
}

// Place is host or inside.
func (v View) Place() evidence.Place { return v.place }

func (v View) declared(name string, must bool) {
	wanted := false
	for _, n := range v.check.Needs {
		if n.Name == name {
			if !must || !n.Optional {
				return
			}
			wanted = true
		}
	}
	if wanted {
		panic(fmt.Sprintf("check %s: fact %s is only wanted; ask with Maybe", v.check.ID, name))
	}
	panic(fmt.Sprintf("check %s: fact %s is not declared in Needs", v.check.ID, name))
}

// Get returns a fact that the check must have.
func Get[T any](v View, k facts.Key[T]) T {
	v.declared(k.Name, true)
	return facts.Get(v.table, v.place, k).V
}

// Maybe returns a fact with the reason if it is not known.
func Maybe[T any](v View, k facts.Key[T]) facts.Known[T] {
	v.declared(k.Name, false)
	return facts.Get(v.table, v.place, k)
}

// Evidence quotes the items that bear a fact, one line of each.
func Bearing[T any](v View, k facts.Key[T]) []Evidence {
	v.declared(k.Name, false)
	return cite(v.table.Set, facts.Get(v.table, v.place, k).From)
}

// Result makes one finding of the check itself.
func Result(s report.Status, summary string, a ...any) Finding {
	if len(a) > 0 {
		summary = fmt.Sprintf(summary, a...)
	}
	return Finding{Status: s, Summary: summary}
}

// Pass, Warn and Fail make a judgement of a single finding.
func Pass(format string, a ...any) Finding { return Result(report.Pass, format, a...) }
func Warn(format string, a ...any) Finding { return Result(report.Warn, format, a...) }
func Fail(format string, a ...any) Finding { return Result(report.Fail, format, a...) }

// NotKnown says what would make it known.
func NotKnown(needed, format string, a ...any) Finding {
	f := Result(report.Unknown, format, a...)
	f.Needed = report.Nullable(needed)
	return f
}

// With adds evidence to a finding.
func With(f Finding, ev ...Evidence) Finding {
	f.Evidence = append(f.Evidence, ev...)
	return f
}

// Quote is one piece of evidence.
func Quote(source, text string) Evidence { return Evidence{Source: source, Text: text} }
