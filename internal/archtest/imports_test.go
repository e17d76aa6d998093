// Package archtest tests the shape of the program.
package archtest

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed are the arrows of the one-way house: what a package may import of ours. Anything else is an arrow that
// runs the wrong way, or one that has to be thought about first.
var allowed = map[string][]string{
	"cmd/gdsproof":               {"internal/cli"},
	"internal/evidence":          {},
	"internal/ledger":            {},
	"internal/profile":           {},
	"internal/report":            {},
	"internal/host":              {"internal/evidence", "internal/ledger"},
	"internal/sim":               {"internal/evidence", "internal/host"},
	"internal/facts":             {"internal/evidence", "internal/profile"},
	"internal/collect":           {"internal/cufile", "internal/evidence", "internal/facts", "internal/host"},
	"internal/check":             {"internal/evidence", "internal/facts", "internal/report"},
	"internal/checks":            {"internal/check", "internal/checks/driver", "internal/checks/efa", "internal/checks/experiment", "internal/checks/platform", "internal/evidence", "internal/facts"},
	"internal/checks/applies":    {"internal/check", "internal/facts"},
	"internal/checks/driver":     {"internal/check", "internal/checks/applies", "internal/facts", "internal/profile"},
	"internal/checks/efa":        {"internal/check", "internal/checks/applies", "internal/evidence", "internal/facts", "internal/report"},
	"internal/checks/platform":   {"internal/check", "internal/checks/applies", "internal/facts"},
	"internal/checks/experiment": {"internal/check", "internal/checks/applies", "internal/facts", "internal/report", "internal/witness"},
	"internal/cufile":            {},
	"internal/explain":           {"internal/check", "internal/facts", "internal/profile"},
	"internal/load":              {"internal/cufile", "internal/evidence", "internal/facts", "internal/host"},
	"internal/load/benchgpu":     {"internal/facts", "internal/host", "internal/load"},
	"internal/proof":             {"internal/evidence", "internal/facts", "internal/host", "internal/ledger", "internal/load"},
	"internal/paste":             {"internal/evidence", "internal/facts"},
	"internal/render":            {"internal/report"},
	"internal/witness":           {"internal/facts", "internal/report"},
	"internal/cli": {"internal/check", "internal/checks", "internal/collect", "internal/cufile", "internal/evidence", "internal/explain", "internal/facts", "internal/host",
		"internal/ledger", "internal/load", "internal/paste", "internal/profile", "internal/proof", "internal/render", "internal/report", "internal/sim", "internal/witness"},
}

func TestImportsRunOneWay(t *testing.T) {
	root := filepath.Join("..", "..")
	got := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(p))
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		if got[rel] == nil {
			got[rel] = map[string]bool{}
		}
		for _, im := range f.Imports {
			path, err := strconv.Unquote(im.Path.Value)
			if err != nil {
				return err
			}
			if ours, ok := strings.CutPrefix(path, "gdsproof/"); ok {
				got[rel][ours] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) < 10 {
		t.Fatalf("only %d packages found: the walk is broken", len(got))
	}
	for pkg, imports := range got {
		may, ok := allowed[pkg]
		if !ok {
			t.Errorf("package %s is not in the table of allowed imports", pkg)
			continue
		}
		for im := range imports {
			if !slices.Contains(may, im) {
				t.Errorf("%s imports %s: that arrow is not allowed", pkg, im)
			}
		}
	}
}
