package profile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gdsproof/internal/facts"
	"gdsproof/internal/profile"
)

func signatures(t *testing.T) []profile.Signature {
	t.Helper()
	p, err := profile.Load(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	return p.Signatures
}

func hits(sigs []profile.Signature, log []byte) map[string]string {
	out := map[string]string{}
	for _, h := range facts.ParseKernelLog(log).Hits(sigs) {
		out[h.Signature.ID] = h.Signature.Level
	}
	return out
}

// TestSignatures: each row knows its line. A line of trouble is never taken for a normal one too, and the other way
// round: two rows that disagree over a line would leave the reader with both.
func TestSignatures(t *testing.T) {
	sigs := signatures(t)
	b, err := os.ReadFile("testdata/signature_lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if id, text, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			if lines[id] != "" {
				t.Errorf("%s: two lines", id)
			}
			lines[id] = text
		}
	}
	for _, s := range sigs {
		line := lines[s.ID]
		if line == "" {
			t.Errorf("%s: no line in testdata/signature_lines.txt", s.ID)
			continue
		}
		delete(lines, s.ID)
		got := hits(sigs, []byte("[   31.204410] "+line+"\n"))
		if got[s.ID] == "" {
			t.Errorf("%s does not know its line: %s", s.ID, line)
		}
		for id, level := range got {
			if (level == "info") != (s.Level == "info") {
				t.Errorf("%s (%s) and %s (%s) both take: %s", s.ID, s.Level, id, level, line)
			}
		}
	}
	for id := range lines {
		t.Errorf("testdata/signature_lines.txt has a line of %s, which is no row", id)
	}
}

// TestSignaturesOnCapturedLogs: what the logs of a real client over EFA hold, before and in an outage.
func TestSignaturesOnCapturedLogs(t *testing.T) {
	root := os.Getenv("GDSPROOF_CAPTURES")
	if root == "" {
		t.Skip("GDSPROOF_CAPTURES is not set: no real logs to read")
	}
	sigs := signatures(t)
	for name, want := range map[string][]string{
		"dmesg-efa-incident-with-restore-2.15.6.txt": {"kefalnd-staging", "kefalnd-cancel", "lustre-lost", "lustre-restored", "lustre-skipped", "lustre-slow-reply", "lustre-sent-delay"},
		"dmesg-efa-start-and-incident-2.15.6.txt": {"kefalnd-started", "lnet-added", "lnet-del-tcp", "lnet-inner-net",
			"kefalnd-cancel", "lustre-lost", "lustre-network-error", "lustre-skipped", "lustre-slow-reply", "lustre-sent-delay"},
	} {
		b, err := os.ReadFile(filepath.Join(root, "lustre", name))
		if err != nil {
			t.Fatal(err)
		}
		got := hits(sigs, b)
		for id := range got {
			if !slices.Contains(want, id) {
				t.Errorf("%s: %s was not expected", name, id)
			}
		}
		for _, id := range want {
			if got[id] == "" {
				t.Errorf("%s: %s is not found", name, id)
			}
		}
		// The node was well until its first request timed out.
		before, _, ok := strings.Cut(string(b), "@@@ Request sent")
		if !ok {
			t.Fatalf("%s: no request timed out", name)
		}
		before = before[:strings.LastIndexByte(before, '\n')+1]
		for id, level := range hits(sigs, []byte(before)) {
			if level != "info" {
				t.Errorf("%s, while all was well: %s (%s)", name, id, level)
			}
		}
	}
}
