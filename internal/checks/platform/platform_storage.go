package platform

import (
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "platform-storage",
	Title:  "The platform report promises a direct path for the file system",
	Why:    "With compat alone, or Unsupported, every I/O to that file system goes through the CPU. Lustre has no line of its own name: it is DDN EXAScaler, or FSx Lustre.",
	Source: "NVIDIA GDS Installation and Troubleshooting Guide; gdscheck of releases 0.9 to 1.17",
	Step:   3,
	Gate:   true,
	Examples: map[string]string{
		"p5en":                      "pass",
		"p6-b200":                   "pass",
		"p5en,gdscheck-compat-only": "fail",
		"p5en,nvidia-fs-missing":    "unknown",
		"laptop":                    "skip",
	},
	After:   []string{"nvidia-fs-loaded", "nvidia-fs-devices", "nvidia-fs-registered-storage", "lustre-mounted", "efa-service-gds", "cufile-library", "cufile-config", "platform-verification"},
	Needs:   applies.GPUNeeds(storageNeeds(facts.Platform.Must(), facts.RowsInQuestion.Must())...),
	Applies: applies.OnGPUNode,
	Fix: []check.Fix{{
		Text:     "see whether nvidia-fs is loaded, and whether the storage has registered with it; then look again",
		Commands: []string{loadedFirst, listed, "gdsproof check --only platform-storage"},
		Changes:  "nothing",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		f := storage(v)
		f.Fix = storageFix(v)
		return []check.Finding{f}
	},
})

func storage(v check.View) check.Finding {
	p, want := check.Get(v, facts.Platform), check.Get(v, facts.RowsInQuestion)
	if want.What != "" && len(want.Rows) == 0 {
		return check.NotKnown("another file system (--fs)", "%s", want.What)
	}
	var found, other []string
	names := want.Rows
	if want.What == "" {
		for _, r := range p.Rows {
			if !strings.HasPrefix(r.Name, "-") && !strings.EqualFold(r.Name, "Userspace RDMA") {
				names = append(names, r.Name)
			}
		}
	}
	unclear := false
	for _, n := range names {
		r, ok := p.Row(n)
		if !ok {
			continue
		}
		text := r.Name + " : " + r.Value
		switch r.Path() {
		case facts.Yes:
			found = append(found, text)
		case facts.CannotTell:
			unclear = true
			other = append(other, text)
		default:
			other = append(other, text)
		}
	}
	what := want.What
	if what == "" {
		what = "the storage of this node"
	}
	whole := p.Whole(facts.GDSDriver) && !p.Partial
	switch {
	case len(found) > 0:
		return check.With(check.Pass("a direct path for %s: %s", what, check.List(found, 3)), quote(p, check.List(found, 3)))
	case unclear:
		return check.With(check.NotKnown("the row's whole value", "whether %s has a direct path is not told by the row", what), quote(p, check.List(other, 3)))
	case want.What != "" && len(other) > 0, want.What == "" && whole && len(other) > 0:
		return check.With(check.Fail("no direct path for %s: only %s", what, check.List(other, 3)), quote(p, check.List(other, 4)))
	case whole && want.What != "":
		return check.NotKnown("a report of a release that has a row for it", "the report has no row for %s", what)
	}
	return check.NotKnown(wantWhole, "the rows of the storage drivers were not seen to their end")
}
