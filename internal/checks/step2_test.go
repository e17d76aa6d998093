package checks_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gdsproof/internal/check"
	"gdsproof/internal/checks"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

// TestHealthyNodesAreWhollyKnown: whoever may look at everything is left with no question.
func TestHealthyNodesAreWhollyKnown(t *testing.T) {
	for _, shape := range shapesWithGPU() {
		fs := judge(t, look(t, shape))
		for _, f := range fs {
			if f.Status == report.Unknown {
				t.Errorf("%s: %s is unknown: %s (needed: %s)", shape, f.Check, f.Summary, f.Needed)
			}
		}
		if v := check.Verdict(checks.Passive(), fs, ""); v.Outcome != report.Ready {
			t.Errorf("%s is %s: %s", shape, v.Outcome, v.Summary)
		}
	}
}

// TestConnectXIsNoEFA: a p6-b200 has two ConnectX functions that manage its switches. They are named and not counted.
func TestConnectXIsNoEFA(t *testing.T) {
	fs := judge(t, look(t, "p6-b200"))
	if worst(fs, "efa-devices") != report.Pass || !holds(fs, "efa-devices", "8 EFA devices") || !holds(fs, "efa-devices", "not EFA, ignored: mlx5_0, mlx5_1") {
		t.Errorf("efa-devices: %+v", fs)
	}
}

// TestTCPInTheAddress: the mount's address says @tcp on every node, and the finding says what that means.
func TestTCPInTheAddress(t *testing.T) {
	fs := judge(t, look(t, "p5en"))
	if !holds(fs, "lustre-mounted", "@tcp is how the file system is named, not the way that data takes") {
		t.Errorf("lustre-mounted says nothing of @tcp: %+v", fs)
	}
}

// TestEmptyLNetAnswers: lnetctl prints nothing and exits with 0 where the module is missing. That is never an
// answer to be content with: with lnet among the modules it is unknown, without it LNet has no net.
func TestEmptyLNetAnswers(t *testing.T) {
	ids := []string{"lnet-efa-net", "lnet-efa-count", "lnet-efa-up", "lnet-efa-nid", "lnet-efa-priority", "fs-efa-enabled"}
	for name, tc := range map[string]struct {
		loaded bool
		net    report.Status
		ready  report.Outcome
	}{
		"lnet is loaded":     {true, report.Unknown, report.UnknownResult},
		"lnet is not loaded": {false, report.Fail, report.NotReady},
	} {
		t.Run(name, func(t *testing.T) {
			set := look(t, "p5en")
			ok := 0
			for i := range set.Items {
				it := &set.Items[i]
				switch {
				case strings.HasPrefix(it.Source, "lnetctl "):
					it.Out, it.Err, it.Exit = nil, nil, &ok
				case it.Source == "/proc/modules" && !tc.loaded:
					lines := slices.DeleteFunc(strings.SplitAfter(string(it.Out), "\n"), func(l string) bool { return strings.HasPrefix(l, "lnet ") })
					it.Out = []byte(strings.Join(lines, ""))
				}
			}
			fs := judge(t, set)
			for _, id := range ids {
				if worst(fs, id) == report.Pass {
					t.Errorf("%s passes", id)
				}
			}
			if got := worst(fs, "lnet-efa-net"); got != tc.net {
				t.Errorf("lnet-efa-net: %s, want %s", got, tc.net)
			}
			if v := check.Verdict(checks.Passive(), fs, ""); v.Outcome != tc.ready {
				t.Errorf("the node is %s", v.Outcome)
			}
		})
	}
}

// TestCutMountTable: what a cut mount table does not list may be mounted.
func TestCutMountTable(t *testing.T) {
	set := look(t, "p5en")
	for i := range set.Items {
		if it := &set.Items[i]; it.Source == facts.MountinfoSource {
			first, _, _ := strings.Cut(string(it.Out), "\n")
			it.Out, it.Truncated = []byte(first+"\n"), true // cut at a line's end, so that only the item tells
		}
	}
	if got := worst(judge(t, set), "lustre-mounted"); got != report.Unknown {
		t.Errorf("lustre-mounted: %s", got)
	}
}

// TestFailedSetupIsExplained: the script's own words, and from the kernel log what they mean and what to do.
func TestFailedSetupIsExplained(t *testing.T) {
	set := look(t, "p5en,efa-service-failed")
	for _, words := range []string{"Unable to get EC2 instance type from metadata service", "it is asked once", "restart the service"} {
		if !holds(judge(t, set), "efa-service", words) {
			t.Errorf("efa-service says nothing of %q", words)
		}
	}
}

// TestDropsAtRest: interfaces that dropped messages once are well when the number stands still.
func TestDropsAtRest(t *testing.T) {
	set := look(t, "p5en,security-group")
	looks := 0
	for _, it := range set.Items {
		if it.Source == facts.LNetSource && strings.Contains(string(it.Out), "drop_count: 64") {
			looks++
		}
	}
	if got := worst(judge(t, set), "lnet-efa-up"); looks != 2 || got != report.Pass {
		t.Errorf("%d looks with drops; lnet-efa-up: %s", looks, got)
	}
}

// TestSignatureRows: each names a check that there is, and the look at the kernel log lets its line through.
func TestSignatureRows(t *testing.T) {
	for _, s := range rules(t).Signatures {
		if s.Check != "" && check.ByID(s.Check) == nil {
			t.Errorf("%s: no check %s", s.ID, s.Check)
		}
	}
	words := filterOf(t, look(t, "p5en"), facts.DmesgSource)
	b, err := os.ReadFile(filepath.Join("..", "profile", "testdata", "signature_lines.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		id, text, ok := strings.Cut(strings.ToLower(line), "\t")
		// Words of mount(8) are never in the kernel log; they come in pasted text. That a module is of the staging
		// directory is normal, and no loss.
		if !ok || id == "lustre-is-the-mgs-running" || id == "kefalnd-staging" {
			continue
		}
		text = "[   31.204410] " + text
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
			t.Errorf("%s: the look at the kernel log drops %q", id, text)
		}
	}
}

func filterOf(t *testing.T, set *evidence.Set, source string) []string {
	t.Helper()
	for _, it := range set.Items {
		if it.Source == source && len(it.Filter) > 0 {
			return it.Filter
		}
	}
	t.Fatalf("%s is not filtered", source)
	return nil
}
