package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"gdsproof/internal/report"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":       "plain\ttext\n",
		"\x1b[31mred\x1b[0m":  `\x1b[31mred\x1b[0m`,
		"\x1b]0;title\x07":    `\x1b]0;title\x07`,
		"a\rb":                `a\x0db`,
		"abc\u202egpj.exe":    `abc\u202egpj.exe`,
		"zero\u200bwidth":     "zero\u200bwidth",
		"c1 \u009b31m":        `c1 \x9b31m`,
		"bad \xff\xfe utf8":   "bad \ufffd utf8",
		"日本語 ümläut":          "日本語 ümläut",
		"NUL\x00":             `NUL\x00`,
		"\u2066isolate\u2069": `\u2066isolate\u2069`,
		"line\u2028separator": `line\u2028separator`,
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestHostileEvidence: what a machine printed reaches the terminal as text alone.
func TestHostileEvidence(t *testing.T) {
	r := &report.Report{Node: report.Node{Hostname: "h\x1b[2J", Kernel: "k\n\nFAKE VERDICT"},
		Verdict: report.Verdict{Outcome: report.NotReady, Summary: "bad\x1b[1A", FirstAction: &report.Action{Check: "c", Text: "t\r", Commands: []string{"x\x1b[8m"}}},
		Findings: []report.Finding{{Check: "c", Subject: "s\x07", Step: 1, Status: report.Fail, Summary: "sum\x1b[31m",
			Evidence: []report.Evidence{{Source: "src\x1b", Text: "one\x1b[0m\ntwo\r"}}, Fix: []report.Fix{{Text: "f\x1b", Commands: []string{"c\x1b"}}}}}}
	for _, o := range []TextOptions{{}, {Verbose: true}, {Quiet: true}} {
		var b bytes.Buffer
		if err := Text(&b, r, o); err != nil {
			t.Fatal(err)
		}
		if s := b.String(); strings.ContainsAny(s, "\x1b\r\x07") || strings.Contains(s, "\nFAKE") {
			t.Errorf("%+v: %q", o, s)
		}
	}
}

func TestSimulatedIsTheFirstWord(t *testing.T) {
	r := &report.Report{Node: report.Node{Simulated: true, Source: "bundle"}, Verdict: report.Verdict{Outcome: report.Ready}}
	for _, o := range []TextOptions{{}, {Verbose: true}, {Quiet: true}} {
		var b bytes.Buffer
		if err := Text(&b, r, o); err != nil || !strings.HasPrefix(b.String(), "SIMULATED") {
			t.Errorf("%v %q", err, b.String())
		}
	}
}

func TestRootIsSummedUp(t *testing.T) {
	f := report.Finding{Check: "a", Step: 1, Status: report.Unknown, Needed: "run as root"}
	g := f
	g.Check = "b"
	var b bytes.Buffer
	if err := Text(&b, &report.Report{Findings: []report.Finding{f, g}}, TextOptions{}); err != nil || strings.Count(b.String(), "Run as root: 2 unknown become known.") != 1 {
		t.Errorf("%v %q", err, b.String())
	}
}

// TestJSONHasNoNull: lists are never null; blocked_by and needed are null when there is nothing.
func TestJSONHasNoNull(t *testing.T) {
	r := &report.Report{Verdict: report.Verdict{Witnesses: []report.Witness{{}}, FirstAction: &report.Action{}}, Findings: []report.Finding{{Fix: []report.Fix{{}}}, {BlockedBy: "x", Needed: "y"}}}
	var b bytes.Buffer
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var back report.Report
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "null"); n != 2 {
		t.Errorf("%d nulls, want those of blocked_by and needed of the first finding:\n%s", n, b.String())
	}
	if back.Findings[0].Needed != "" || back.Findings[1].BlockedBy != "x" {
		t.Errorf("%+v", back.Findings)
	}
}
