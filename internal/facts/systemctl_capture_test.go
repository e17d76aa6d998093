package facts

import (
	"strings"
	"testing"
)

// The transcript has one command after another; each answer is compared with what the command printed.
func TestSystemctlCaptures(t *testing.T) {
	files := capturedFiles(t, "systemctl")
	states := ParseSystemctl(files["systemctl-252-states.txt"])
	type answer struct{ verb, unit, load, active, sub, file, result string }
	var got []answer
	for _, a := range states.Answers {
		got = append(got, answer{a.Verb, a.Unit, a.LoadState, a.ActiveState, a.SubState, a.UnitFileState, a.Result})
	}
	efa := efaUnit
	want := []answer{
		{"status", efa, "loaded", "inactive", "dead", "disabled", ""},
		{"status", efa, "loaded", "active", "exited", "disabled", ""},
		{"is-active", efa, "", "active", "", "", ""},
		{"is-enabled", efa, "", "", "", "disabled", ""},
		{"is-failed", efa, "", "active", "", "", ""},
		{"show", efa, "loaded", "active", "exited", "disabled", "success"},
		{"status", "efa-failed.service", "loaded", "failed", "", "disabled", "exit-code"},
		{"is-active", "efa-failed.service", "", "failed", "", "", ""},
		{"is-failed", "efa-failed.service", "", "failed", "", "", ""},
		{"show", "efa-failed.service", "loaded", "failed", "failed", "disabled", "exit-code"},
		{"status", "efa-activating.service", "loaded", "activating", "start", "disabled", ""},
		{"is-active", "efa-activating.service", "", "activating", "", "", ""},
		{"show", "efa-activating.service", "loaded", "activating", "start", "disabled", "success"},
		{"is-active", "efa-inactive.service", "", "inactive", "", "", ""},
		{"status", "efa-inactive.service", "loaded", "inactive", "dead", "disabled", ""},
		{"show", "efa-inactive.service", "loaded", "inactive", "dead", "disabled", "success"},
		{"status", "efa-badexec.service", "loaded", "failed", "", "disabled", "exit-code"},
		{"show", "efa-badexec.service", "loaded", "failed", "failed", "disabled", "exit-code"},
		{"", "nosuch.service", "not-found", "", "", "", ""},
		{"is-active", "nosuch.service", "", "inactive", "", "", ""},
		{"", "nosuch.service", "not-found", "", "", "", ""},
		{"is-failed", "nosuch.service", "", "inactive", "", "", ""},
		{"show", "nosuch.service", "not-found", "inactive", "dead", "", "success"},
		{"", "nosuch.service", "not-found", "", "", "", ""},
		{"status", "efa-masked.service", "masked", "inactive", "dead", "", ""},
		{"is-active", "efa-masked.service", "", "inactive", "", "", ""},
		{"is-enabled", "efa-masked.service", "", "", "", "masked", ""},
		{"show", "efa-masked.service", "masked", "inactive", "dead", "masked", ""},
		{"is-enabled", efa, "", "", "", "enabled", ""},
		{"show", efa, "", "", "", "enabled", ""},
		{"is-active", efa, "", "inactive", "", "", ""},
		{"show", efa, "loaded", "inactive", "dead", "enabled", "success"},
		{"list", efa, "", "", "", "enabled", ""},
		{"is-active", efa, "", "inactive", "", "", ""},
		{"is-active", "efa-failed.service", "", "failed", "", "", ""},
		{"is-active", "nosuch.service", "", "inactive", "", "", ""},
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("answer %d of %d, want %d:\ngot  %v\nwant %v", i, len(got), len(want), got[min(i, len(got)):], want[min(i, len(want)):])
		}
	}
	if bad, _ := states.Of("efa-badexec"); bad.ExecMainStatus != Some(203) || bad.ExecMainCode != "exited" || len(bad.ExecStart) != 1 {
		t.Errorf("efa-badexec: %+v", bad)
	}
	mounts := ParseSystemctl(files["systemctl-252-mount-dependency.txt"])
	if a, _ := mounts.Of("fsxdep.mount"); a.ActiveState != "inactive" || a.Result != "success" || a.Where != "/fsxdep" || a.What == "" || a.UnitFileState != "static" {
		t.Errorf("fsxdep: %+v", a)
	}
	if a, _ := mounts.Of("fsxplain.mount"); a.ActiveState != "failed" || a.SubState != "failed" || a.Result != "exit-code" || a.LoadState != "loaded" {
		t.Errorf("fsxplain: %+v", a)
	}
	for name, b := range files {
		whole := ParseSystemctl(b)
		for i := range b {
			unitsFromCut(t, ParseSystemctl(b[:i]), whole)
		}
		if !strings.HasPrefix(name, "generated-") {
			continue
		}
		a := whole.Answers[0]
		if len(whole.Answers) != 1 || a.SourcePath != "/etc/fstab" || !strings.HasPrefix(a.Where, "/fsx") ||
			strings.HasSuffix(name, ".mount.txt") && (a.Type != "lustre" || !a.Requires.OK || len(a.After.V) == 0 || !strings.Contains(a.Options, "flock")) {
			t.Errorf("%s: %+v", name, whole)
		}
	}
}

func FuzzSystemctl(f *testing.F) {
	for _, text := range []string{unitShow, unitStatus, unitFailed, unitFile, unitCommands} {
		f.Add([]byte(text))
	}
	for _, b := range capturedFiles(f, "systemctl") {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		whole := ParseSystemctl(b)
		for _, a := range whole.Answers {
			if _, ok := whole.Of(a.Unit); !ok && a.Unit != "" {
				t.Fatalf("no unit %q in %+v", a.Unit, whole)
			}
			for _, c := range a.ExecStart {
				if len(c.Args) == 0 && !c.Cut {
					t.Fatalf("a command without words: %+v", a)
				}
			}
		}
		ParseSystemctl(b[:len(b)/2])
	})
}
