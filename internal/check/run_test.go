package check

import (
	"os"
	"slices"
	"testing"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/profile"
	"gdsproof/internal/report"
)

var (
	known   = facts.Define("test-known", nil, func(*facts.In) facts.Known[int] { return facts.Have(7) })
	unknown = facts.Define("test-unknown", nil, func(*facts.In) facts.Known[int] { return facts.Because[int]("nobody looked", "a look") })
)

func emptyTable(t *testing.T) *facts.Table {
	t.Helper()
	p, err := profile.Load(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	return facts.NewTable(&evidence.Set{}, p)
}

func says(f Finding) func(View) []Finding { return func(View) []Finding { return []Finding{f} } }

func byID(fs []Finding, id string) Finding {
	return fs[slices.IndexFunc(fs, func(f Finding) bool { return f.Check == id })]
}

func TestMissingFactIsUnknown(t *testing.T) {
	asked := false
	c := &Check{ID: "c", Needs: []facts.Need{known.Must(), unknown.Must()}, Judge: func(View) []Finding { asked = true; return nil }}
	f := Run([]*Check{c}, emptyTable(t), evidence.Host)[0]
	if asked || f.Status != report.Unknown || f.Summary != "nobody looked" || f.Needed != "a look" {
		t.Errorf("asked %v, %+v", asked, f)
	}
	c.Needs[1].Optional = true
	c.Judge = func(v View) []Finding {
		if m := Maybe(v, unknown); m.OK || m.Why != "nobody looked" {
			t.Errorf("%+v", m)
		}
		return []Finding{Pass("%d", Get(v, known))}
	}
	if f := Run([]*Check{c}, emptyTable(t), evidence.Host)[0]; f.Status != report.Pass || f.Summary != "7" {
		t.Errorf("%+v", f)
	}
}

func TestUndeclaredFactPanics(t *testing.T) {
	for name, c := range map[string]*Check{
		"not declared":        {ID: "c", Judge: func(v View) []Finding { Get(v, known); return nil }},
		"only wanted":         {ID: "c", Needs: []facts.Need{known.Want()}, Judge: func(v View) []Finding { Get(v, known); return nil }},
		"not declared, maybe": {ID: "c", Judge: func(v View) []Finding { Maybe(v, known); return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			Run([]*Check{c}, emptyTable(t), evidence.Host)
		})
	}
}

func TestBlocked(t *testing.T) {
	fix := []Fix{{Text: "do it"}}
	cause := &Check{ID: "cause", Judge: says(Fail("broken")), Fix: fix}
	next := &Check{ID: "next", After: []string{"cause"}, Judge: says(Fail("seen")), Fix: fix}
	last := &Check{ID: "last", After: []string{"next"}, Judge: says(Warn("seen too")), Fix: fix}
	fine := &Check{ID: "fine", After: []string{"cause"}, Judge: says(Pass("well"))}
	other := &Check{ID: "other", Judge: says(Warn("odd")), Fix: fix}
	all := []*Check{cause, next, last, fine, other}
	fs := Run(all, emptyTable(t), evidence.Host)
	for id, want := range map[string]struct {
		status report.Status
		by     string
		fixes  int
	}{
		"cause": {report.Fail, "", 1}, "next": {report.Unknown, "cause", 0}, "last": {report.Unknown, "cause", 0},
		"fine": {report.Pass, "", 0}, "other": {report.Warn, "", 1},
	} {
		f := byID(fs, id)
		if f.Status != want.status || string(f.BlockedBy) != want.by || len(f.Fix) != want.fixes {
			t.Errorf("%s: %+v", id, f)
		}
	}
	v := Verdict(all, fs, "")
	if v.Outcome != report.NotReady || v.FirstAction.Check != "cause" || v.FirstAction.Text != "do it" {
		t.Errorf("%+v", v)
	}
	// A cause that only warns, or is not known, blocks nothing.
	for _, f := range []Finding{Warn("so so"), NotKnown("x", "y")} {
		cause.Judge = says(f)
		if got := byID(Run(all, emptyTable(t), evidence.Host), "next"); got.Status != report.Fail {
			t.Errorf("cause %s: %+v", f.Status, got)
		}
	}
}

func TestVerdict(t *testing.T) {
	gate, plain := &Check{ID: "gate", Gate: true}, &Check{ID: "plain"}
	both := []*Check{gate, plain}
	for name, tc := range map[string]struct {
		gate, plain Finding
		na          string
		want        report.Outcome
		first       string
	}{
		"all pass":             {Pass("a"), Pass("b"), "", report.Ready, ""},
		"a gate unknown":       {NotKnown("n", "a"), Pass("b"), "", report.UnknownResult, "gate"},
		"another unknown":      {Pass("a"), NotKnown("n", "b"), "", report.Ready, ""},
		"warn":                 {Pass("a"), Warn("b"), "", report.Ready, "plain"},
		"warn before unknown":  {NotKnown("n", "a"), Warn("b"), "", report.UnknownResult, "plain"},
		"fail wins":            {NotKnown("n", "a"), Fail("b"), "", report.NotReady, "plain"},
		"skipped":              {Result(report.Skip, "s"), Result(report.Skip, "s"), "", report.Ready, ""},
		"not applicable first": {Fail("a"), Fail("b"), "no GPU", report.NotApplicable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tc.gate.Check, tc.plain.Check = "gate", "plain"
			v := Verdict(both, []Finding{tc.gate, tc.plain}, tc.na)
			first := ""
			if v.FirstAction != nil {
				first = v.FirstAction.Check
			}
			if v.Outcome != tc.want || first != tc.first {
				t.Errorf("%+v, first %q", v, first)
			}
		})
	}
}
