package checks_test

import (
	"slices"
	"testing"

	"gdsproof/internal/check"
	"gdsproof/internal/checks"
	"gdsproof/internal/evidence"
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
	v := check.Verdict(checks.All(), fs, "")
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
