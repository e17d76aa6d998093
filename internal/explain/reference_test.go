package explain_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"gdsproof/internal/profile"
)

// TestReferenceLines: every message that the programs are known to print is explained by its own row, in a log and
// asked about by itself.
func TestReferenceLines(t *testing.T) {
	text, err := os.ReadFile("testdata/reference_lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	b := base(t)
	kinds := map[string]string{}
	for _, e := range b.Entries() {
		kinds[e.ID] = e.Kind
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		id, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		n++
		stamp := " 07-10-2026 10:00:00:5 [pid=77 tid=78] ERROR  "
		if kinds[id] == profile.KindKernelLog {
			stamp = "[ 1234.567890] "
		}
		if got := firstRow(fold(t, b, stamp+text+"\n")); got != id {
			t.Errorf("%q: row %q, want %s", stamp+text, got, id)
		}
		a := b.Lookup(text)
		if !slices.ContainsFunc(a.Entries, func(e profile.Entry) bool { return e.ID == id || e.Kind == profile.KindGdscheck }) {
			t.Errorf("%q asked by itself: %+v", text, a.Entries)
		}
	}
	if n < 200 {
		t.Errorf("only %d lines", n)
	}
}

// TestHonestSources: where a cause is inferred, or somebody else's statement, NVIDIA is not named for it alone.
func TestHonestSources(t *testing.T) {
	b := base(t)
	for _, id := range []string{"cufile-5003", "cufile-5030", "cufile-5031", "cufile-5034", "cufile-5040", "cufile-5022", "cufile-5012", "cufile-5043", "return-5",
		"log-version-mismatch", "log-stats-nvfs", "gdscheck-line-gpu-no", "gdscheck-dcconnection", "gdscheck-value-p2pdma", "efa-create_ah_err", "nvfs-peerdirect",
		"var-cufile-cq-depth", "kefalnd-qp", "kefalnd-frwr"} {
		a := b.Lookup(id)
		if len(a.Entries) != 1 {
			t.Errorf("%s: %d rows", id, len(a.Entries))
			continue
		}
		marked := false
		for _, word := range []string{"inferred", "third party", "not seen", "not confirmed"} {
			marked = marked || strings.Contains(a.Entries[0].Source, word)
		}
		if !marked {
			t.Errorf("%s: source %q", id, a.Entries[0].Source)
		}
	}
}

// TestNumbersWithoutError: a number that is none of cuFile's gets the range and no neighbour.
func TestNumbersWithoutError(t *testing.T) {
	b := base(t)
	for _, w := range []string{"5000", "5051", "-5100", "errno 5051", "errno 2", "-7", "99999"} {
		a := b.Lookup(w)
		if a.Known() || len(a.Suggestions) > 0 || !strings.Contains(a.Note, "5001 to 5050") {
			t.Errorf("%s: known %v, suggestions %q, note %q", w, a.Known(), a.Suggestions, a.Note)
		}
	}
	if a := b.Lookup(`"cufile_env_path_json": "/a"`); a.Known() {
		t.Errorf("a field of JSON is taken for a variable: %+v", a.Entries)
	}
}

// TestProse: what people write around a paste is not explained, one by one or on stdin.
func TestProse(t *testing.T) {
	b := base(t)
	var all strings.Builder
	for _, s := range []string{
		"We have slow reads since Monday; why is compat mode active on the node?", "The file was not found, please check your permissions.",
		"Error: the read failed.", "Throughput was good until the second run, then it dropped to 2 GiB/s.", "Is the driver loaded and supported?",
		"My server listens on port 5001 and 5027 connections were open.", "Reads: we do many of them.", "NFS: we use version 4.1 with nconnect=16.",
		"NVMe: Samsung, 8 of them.", "job 5036 done in 12 s", "Active: active (exited) since Mon", "SCSI: supported by all kernels", "Loaded: loaded (/usr/lib/x.service; enabled)",
	} {
		if a := b.Lookup(s); a.Known() {
			t.Errorf("%q is explained: %+v", s, a.Entries)
		}
		all.WriteString(s + "\n")
	}
	if l := fold(t, b, all.String()+"active\nenabled\nsize: 4096\nlevel: high\noffset: 5001\nfree: 12\nStatus: active\n"); l.Explained() {
		t.Errorf("explained: %+v, %+v", l.Sections, l.Unknown)
	}
}

// TestTypingErrors: a close word, phrase or option leads to the right one.
func TestTypingErrors(t *testing.T) {
	b := base(t)
	for word, want := range map[string]string{"runing in compatible mode": "running in compatible mode", "nvidia-fs.ko drivr not loaded": "nvidia-fs.ko driver not loaded",
		"CUFILE_LOG_LEVEL": "CUFILE_LOGGING_LEVEL", "retrans_timeout_event": "retrans_timeout_events", "fs.lustre.posix_gds_min": "fs.lustre.posix_gds_min_kb"} {
		a := b.Lookup(word)
		if a.Known() || len(a.Suggestions) == 0 || a.Suggestions[0] != want {
			t.Errorf("%s: known %v, suggestions %q, want %s", word, a.Known(), a.Suggestions, want)
		}
	}
	answered(t, b, profile.KindGdsioOption, "-x 2", "gdsio -D /fsx -d 0 -w 4 -x 0")
	for _, w := range []string{"rm -f x", "tar -x -z -f a"} {
		if a := b.Lookup(w); a.Known() {
			t.Errorf("%s is explained: %+v", w, a.Entries)
		}
	}
}
