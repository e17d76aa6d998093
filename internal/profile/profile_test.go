package profile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBuiltin(t *testing.T) {
	p, err := Load(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := p.Minimum("nvidia-fs", "fsx-lustre"); !ok || m.Version != "2.24.2" {
		t.Errorf("%+v", m)
	}
	i, ok := p.Instance("p5en.48xlarge")
	if !ok || i.GPUs != 8 || i.EFA != 16 || !i.GDS || i.NIGDS != 16 || i.NIDefault != 8 {
		t.Errorf("%+v", i)
	}
	entries, err := p.Entries()
	if err != nil || len(entries) < 600 {
		t.Fatalf("%d rows of knowledge: %v", len(entries), err)
	}
	seen := map[string]bool{}
	for _, s := range p.Signatures {
		if seen[s.ID] {
			t.Errorf("signature %s is there twice", s.ID)
		}
		seen[s.ID] = true
	}
}

func TestOverlay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`instances:
  - {type: p5en.48xlarge, gpus: 4, gpu: H200, efa: 2, ni_default: 2, gds: false, gbps: 1, source: ours, date: 2026-02-03}
  - {type: x1.huge, gpus: 1, gpu: X, efa: 1, ni_default: 1, gds: false, gbps: 1, source: ours, date: 2026-02-03}
`)
	p, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if i, _ := p.Instance("p5en.48xlarge"); i.GPUs != 4 {
		t.Errorf("a row does not replace the built-in one: %+v", i)
	}
	if _, ok := p.Instance("x1.huge"); !ok {
		t.Error("a new row is not added")
	}
	if _, ok := p.Instance("p5.48xlarge"); !ok {
		t.Error("the other rows are gone")
	}
	for name, bad := range map[string]string{
		"unknown key":   "instance_types: []\n",
		"unknown field": "minimums:\n  - {what: a, for: b, version: \"1\", sauce: x, source: x, date: 2026-02-03}\n",
		"no source":     "minimums:\n  - {what: a, for: b, version: \"1\", date: 2026-02-03}\n",
		"bad date":      "minimums:\n  - {what: a, for: b, version: \"1\", source: x, date: yesterday}\n",
		"bad version":   "minimums:\n  - {what: a, for: b, version: \"v1..2\", source: x, date: 2026-02-03}\n",
		"a number":      "minimums:\n  - {what: a, for: b, version: 2.30, source: x, date: 2026-02-03}\n",
		"a number too":  "known_bad:\n  - {id: a, what: b, below: 3, text: t, source: x, date: 2026-02-03}\n",
		"empty match":   "signatures:\n  - {id: a, match: [\" \"], level: warn, meaning: m, remedy: r, source: x, date: 2026-02-03}\n",
		"bad level":     "signatures:\n  - {id: a, match: [b], level: red, meaning: m, remedy: r, source: x, date: 2026-02-03}\n",
		"gds without":   "instances:\n  - {type: a, gpus: 1, efa: 1, gds: true, source: x, date: 2026-02-03}\n",
		"no yaml":       "{{{\n",
		"row's source":  "knowledge:\n  - {id: a, kind: key, names: [b], meaning: m, date: 2026-02-03}\n",
		"row's date":    "knowledge:\n  - {id: a, kind: key, names: [b], meaning: m, source: x}\n",
		"row's kind":    "knowledge:\n  - {id: a, kind: thing, names: [b], meaning: m, source: x, date: 2026-02-03}\n",
		"row's way":     "knowledge:\n  - {id: a, kind: key, meaning: m, source: x, date: 2026-02-03}\n",
		"row's weight":  "knowledge:\n  - {id: a, kind: cufile-log, match: [some words], meaning: m, source: x, date: 2026-02-03}\n",
		"short phrase":  "knowledge:\n  - {id: a, kind: cufile-log, match: [ab], weight: 5, meaning: m, source: x, date: 2026-02-03}\n",
		"row's field":   "knowledge:\n  - {id: a, kind: key, names: [b], meening: m, source: x, date: 2026-02-03}\n",
		"bad weight":    "signatures:\n  - {id: a, match: [b], level: warn, weight: 101, meaning: m, remedy: r, source: x, date: 2026-02-03}\n",
	} {
		write(bad)
		if _, err := Load(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
	}
	write("# only a comment\n")
	if _, err := Load(file); err != nil {
		t.Errorf("a comment alone: %v", err)
	}
}
