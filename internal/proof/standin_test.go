package proof

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/load"
	"gdsproof/internal/profile"
	"gdsproof/internal/report"
	"gdsproof/internal/witness"
)

// The whole experiment with a stand-in for NVIDIA's libraries: each way in which a library can behave gives its
// verdict, and the files are gone.
func TestStandInVerdicts(t *testing.T) {
	if !load.HasCufile {
		t.Skip("not tested: built without libcufile")
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("not tested: no gcc to build the stand-in libraries")
		}
		t.Skip("not tested: no gcc to build the stand-in libraries")
	}
	libs := t.TempDir()
	for _, c := range [][2]string{{"cuda.c", "libcuda.so.1"}, {"cufile.c", "libcufile.so.0"}} {
		src := filepath.Join("..", "load", "testdata", "standin", c[0])
		if msg, err := exec.Command("gcc", "-shared", "-fPIC", "-O1", "-w", "-pthread", "-o", filepath.Join(libs, c[1]), src).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, msg)
		}
	}
	rules, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("LD_LIBRARY_PATH", libs)
	for _, c := range []struct {
		mode    string
		outcome report.Outcome
		words   string
	}{
		{"nvfs", report.Proven, "reads and writes took the GDS path"},
		{"p2p", report.Proven, ""},
		{"posix", report.Refuted, "through the CPU"},
		{"no-driver", report.Contradicted, "were refused it with compat mode off"}, // counted as nvfs, and refused: one of them lies
		{"silent-compat", report.Refuted, "through the CPU"},
		{"writes-posix", report.Refuted, "writes went through the CPU"},
		{"half", report.Mixed, "partly through the CPU"},
		{"lost-stats", report.Proven, ""}, // the strict run settles it; the library is silent
		{"old-version", report.Proven, ""},
		{"corrupt", report.Refuted, "DATA WRONG"},
		{"nothing", report.Refuted, "DATA WRONG"},
		{"stale", report.Refuted, "DATA WRONG"},
		{"no-udev", report.NotReady, "5027"},
		{"broken-json", report.NotReady, "-22"},
		{"errno-5027", report.NotReady, "5027"},
		{"negative", report.NotReady, "5010"},
		{"exit", report.NotReady, "status 0 before its work was done"},
		{"crash", report.NotReady, "ended"},
		{"noise", report.Proven, ""},
		{"close0", report.Proven, ""},
	} {
		t.Run(c.mode, func(t *testing.T) {
			dir, state := workplace(t)
			t.Setenv("CUFILE_STANDIN", c.mode)
			r := runner(t, dir, state)
			r.Plan.Early = len(c.mode)%2 == 0 // both ways
			r.Plan.Engine = load.Own{Kind: "cufile", Library: filepath.Join(libs, "libcufile.so.0"), M: r.M}
			items := r.Run(context.Background())
			tbl := facts.NewTable(&evidence.Set{Kind: evidence.Live, Items: items}, rules)
			v := witness.Decide(facts.Get(tbl, evidence.Host, witness.Heard).V, facts.Get(tbl, evidence.Host, witness.CaseNow).V)
			if v.Outcome != c.outcome || !strings.Contains(v.Summary, c.words) {
				t.Errorf("%s: %s", v.Outcome, v.Summary)
				for _, w := range v.Witnesses {
					t.Logf("%s %s %s %s: %s", w.Name, w.Direction, w.Phase, w.Says, w.Summary)
				}
			}
			if l := left(t, dir); len(l) > 0 {
				t.Errorf("left: %v", l)
			}
		})
	}
}
