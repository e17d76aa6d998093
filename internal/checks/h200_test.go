package checks_test

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gdsproof/internal/check"
	"gdsproof/internal/checks"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

// TestH200WithoutNVFS judges what was seen on a real machine with an H200 and no nvidia-fs. Its kernel cannot
// unload modules and prints a dash for their use count.
func TestH200WithoutNVFS(t *testing.T) {
	set, err := evidence.Load("testdata/h200-without-nvidia-fs.json")
	if err != nil {
		t.Fatal(err)
	}
	fs := judge(t, set)
	if got := alarms(fs); !slices.Equal(got, []string{"nvidia-fs-loaded"}) {
		t.Errorf("alarms of %v", got)
	}
	if s := worst(fs, "gpu-driver"); s != report.Pass {
		t.Errorf("gpu-driver: %s", s)
	}
	v := check.Verdict(checks.Passive(), fs, "")
	if v.Outcome != report.NotReady || v.FirstAction.Check != "nvidia-fs-loaded" {
		t.Errorf("%+v", v)
	}
	builds := false
	for _, f := range fs {
		for _, x := range f.Fix {
			builds = builds || f.Check == "nvidia-fs-loaded" && slices.Contains(x.Commands, "sudo -E make")
		}
	}
	if !builds {
		t.Error("the commands that build nvidia-fs are not given")
	}
}

// TestH200PlatformReport: on the machine without the gds tools, the report that was had through libcufile's log is the
// one that the library writes for a program of its own.
func TestH200PlatformReport(t *testing.T) {
	set, err := evidence.Load("testdata/h200-without-nvidia-fs.json")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("testdata/h200-own-cufile.log")
	if err != nil {
		t.Fatal(err)
	}
	own, ok, err := facts.ParseGDSCheckInLog(bytes.NewReader(b))
	if !ok || err != nil {
		t.Fatalf("no report in the program's own log: %v", err)
	}
	p := facts.Get(facts.NewTable(set, rules(t)), evidence.Host, facts.Platform)
	if !p.OK || p.V.Source != facts.CufileLogSource {
		t.Fatalf("no report through the log: %+v", p)
	}
	a, z := p.V.GDSReport, own.GDSReport
	a.Env, z.Env = nil, nil // each names its own log file
	if d := cmp.Diff(z, a, cmpopts.IgnoreUnexported(facts.GDSReport{})); d != "" {
		t.Error(d)
	}
	if len(a.Rows) < 15 || len(a.Config) < 30 || len(a.GPUs) != 1 || !a.VerifiedOK.V {
		t.Errorf("%d rows, %d settings, %d GPUs", len(a.Rows), len(a.Config), len(a.GPUs))
	}
	fs := judge(t, set)
	for _, id := range []string{"cufile-config", "cufile-library", "platform-verification", "platform-gpus", "platform-bar", "platform-iommu", "platform-ignored"} {
		if got := worst(fs, id); got != report.Pass {
			t.Errorf("%s: %s", id, got)
		}
	}
	for _, id := range []string{"platform-storage", "platform-nvidia-fs"} {
		for _, f := range of(fs, id) {
			if f.BlockedBy != "nvidia-fs-loaded" {
				t.Errorf("%s: %+v", id, f)
			}
		}
	}
}
