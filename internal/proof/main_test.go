package proof

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
	"gdsproof/internal/ledger"
	"gdsproof/internal/load"
)

// TestMain makes the test binary the children that it starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case host.ChildVerb:
			os.Exit(host.ChildMain())
		case load.ChildVerb:
			os.Exit(load.ChildMain(os.Args[2:]))
		}
	}
	if dir := os.Getenv("GDSPROOF_TEST_PROOF"); dir != "" {
		r := runner(nil, dir, os.Getenv("GDSPROOF_TEST_STATE"))
		r.Plan.Size = 1 << 30
		r.Say = func(format string, _ ...any) {
			if strings.HasPrefix(format, "%s: GDS") { // the first I/O begins: the files are there
				_, _ = os.Stdout.WriteString("at work\n")
			}
		}
		r.Run(context.Background())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func runner(t *testing.T, dir, state string) *Runner {
	m, err := host.NewLive("/")
	if err != nil {
		panic(err)
	}
	b, err := ledger.OpenBook(state)
	if err != nil {
		panic(err)
	}
	e := load.Own{Kind: "posix", M: m}
	r := &Runner{M: m, Book: b, Say: func(string, ...any) {}, Plan: Plan{FS: dir, Dir: dir, GPUs: []facts.LoadGPU{{Index: 0}}, Size: 8 << 20, IOSize: 1 << 20, Threads: 3,
		Control: true, Strict: true, Engine: e, CPU: e, StrictJSON: "{}", Seed: 7}}
	if t != nil {
		t.Cleanup(m.Close)
		r.Say = func(format string, a ...any) { t.Logf(format, a...) }
	}
	return r
}

// left are the entries of a folder that are not the user's own.
func left(t *testing.T, dir string) []string {
	t.Helper()
	des, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range des {
		if d.Name() != "mine" {
			out = append(out, d.Name())
		}
	}
	return out
}

func find(items []evidence.Item, source string) (out []evidence.Item) {
	for _, it := range items {
		if it.Source == source {
			out = append(out, it)
		}
	}
	return out
}

func workplace(t *testing.T) (dir, state string) {
	dir, state = t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("keep me"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, state
}

const patience = 60 * time.Second
