package checks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gdsproof/internal/check"
	"gdsproof/internal/report"
)

func findings(t *testing.T, spec string) map[string]check.Finding {
	t.Helper()
	out := map[string]check.Finding{}
	for _, f := range judge(t, look(t, spec)) {
		if _, ok := out[f.Check]; !ok || f.Status == report.Fail || f.Status == report.Warn {
			out[f.Check] = f
		}
	}
	return out
}

// TestCallersFileOnSimulatedNode: the caller's CUFILE_ENV_PATH_JSON counts on a simulated node as on a live one.
func TestCallersFileOnSimulatedNode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cufile.json")
	if err := os.WriteFile(file, []byte("{ \"properties\": {\n \"force_compat_mode\": true // all through the CPU\n } }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CUFILE_ENV_PATH_JSON", file)
	if f := findings(t, "p5en")["cufile-config"]; f.Status != report.Fail || !strings.Contains(f.Summary, file) {
		t.Errorf("%s: %s", f.Status, f.Summary)
	}
	t.Setenv("CUFILE_ENV_PATH_JSON", file+".not-there")
	if f := findings(t, "p5en")["cufile-config"]; f.Status != report.Warn || !strings.Contains(f.Summary, "is not there") || !strings.Contains(f.Summary, "/etc/cufile.json") {
		t.Errorf("%s: %s", f.Status, f.Summary)
	}
}

// TestBridgesAreNamed: a command can be pasted only if it names the bridge.
func TestBridgesAreNamed(t *testing.T) {
	f := findings(t, "p5en,acs-on")["platform-acs"]
	if f.Status != report.Warn || len(f.Fix) != 1 || len(f.Fix[0].Commands) != 2 {
		t.Fatalf("%+v", f)
	}
	for _, c := range f.Fix[0].Commands {
		bridge := strings.Fields(c)[3]
		if !strings.Contains(f.Summary, bridge) || strings.Contains(c, "BRIDGE") {
			t.Errorf("%s: %s", c, f.Summary)
		}
	}
}
