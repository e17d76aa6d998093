package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"gdsproof/internal/report"
	"gdsproof/internal/sim"
)

// prove runs the program on a simulated node.
func prove(t *testing.T, node string, args ...string) (*report.Report, int) {
	t.Helper()
	var out, talk bytes.Buffer
	code := Main(append([]string{"prove", "--node", "sim:" + node, "--fs", "/fsx", "-o", "json"}, args...), strings.NewReader(""), &out, &talk)
	var r report.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%s: status %d, %v\n%s", node, code, err, talk.String())
	}
	return &r, code
}

func find(r *report.Report, id string) *report.Finding {
	for i := range r.Findings {
		if r.Findings[i].Check == id {
			return &r.Findings[i]
		}
	}
	return &report.Finding{}
}

func says(r *report.Report, witness, direction string) (out []string) {
	for _, w := range r.Verdict.Witnesses {
		if w.Name == witness && (direction == "" || w.Direction == direction || w.Direction == "both") {
			out = append(out, w.Says)
		}
	}
	return out
}

// Each row of the verdict's table, on the node that shows it.
func TestProve(t *testing.T) {
	for _, c := range []struct {
		node            string
		args            string
		outcome, rd, wr report.Outcome
		code            int
		words           string // in the verdict's line
		first           string // the first thing to do
	}{
		{"p5en", "", "proven", "proven", "proven", 0, "reads and writes took the GDS path, over EFA", ""},
		{"p5", "--quick", "proven", "proven", "proven", 0, "", ""},
		{"p6-b200", "--full", "proven", "proven", "proven", 0, "", ""},
		{"g6e", "", "proven", "proven", "proven", 0, "", ""},
		{"laptop", "", "not-applicable", "", "", 3, "no NVIDIA GPU", ""},
		{"p5en,stats-on", "", "proven", "proven", "proven", 0, "", ""},
		{"p5en,nvidia-fs-missing", "", "refuted", "refuted", "refuted", 1, "through the CPU", "nvidia-fs-loaded"},
		{"p5en,nvidia-fs-devices-missing", "", "refuted", "refuted", "refuted", 1, "through the CPU", "nvidia-fs-devices"},
		{"p5en,silent-compat", "", "refuted", "refuted", "refuted", 1, "through the CPU", "io-library"},
		{"p5en,registered-but-compat", "", "refuted", "refuted", "refuted", 1, "through the CPU", "io-library"},
		{"p5en,compat-forced", "", "refuted", "refuted", "refuted", 1, "through the CPU", "cufile-config"},
		{"p5en,platform-failed", "", "refuted", "refuted", "refuted", 1, "through the CPU", "platform-verification"},
		{"p5en,lnet-tcp-only", "", "refuted", "refuted", "refuted", 1, "TCP instead of EFA", "lnet-efa-net"},
		{"p5en,security-group", "", "refuted", "refuted", "refuted", 1, "TCP instead of EFA", ""},
		{"p5en,fs-not-efa", "", "refuted", "refuted", "refuted", 1, "TCP instead of EFA", "fs-efa-enabled"},
		{"p5en,mounted-before-efa", "", "refuted", "refuted", "refuted", 1, "TCP instead of EFA", ""},
		{"p5en,stale-data", "", "refuted", "refuted", "proven", 1, "DATA WRONG", "io-verified"},
		{"p5en,rdma-write-off", "", "refuted", "proven", "refuted", 1, "reads proven; writes went through the CPU", "cufile-config"},
		{"p5en,wire-flat", "", "contradicted", "contradicted", "contradicted", 3, "EFA stayed still", ""},
		{"p5en,other-job-active", "", "unproven", "unproven", "unproven", 3, "nothing shows that EFA carried", "io-control"},
		{"p5en,dense-file", "", "proven", "proven", "proven", 0, "", ""},
		{"p5en,dense-file", "--engine gdsio", "proven", "proven", "proven", 0, "", ""},
		{"p5en,dense-file", "--engine gdsio --no-strict", "unproven", "unproven", "unproven", 3, "registered, not counted", "io-strict"},
		{"p5en,dense-file", "--engine gdsio --no-strict --io-stats", "proven", "proven", "proven", 0, "", ""},
		{"p6-b200", "--engine gdsio --no-strict --size 10G", "proven", "proven", "unproven", 0, "reads proven, over EFA; writes registered, not counted", ""},
		{"p5en,rdma-write-off", "--engine gdsio --no-strict", "unproven", "proven", "unproven", 3, "reads proven; writes registered, not counted, and nothing shows that gds_rdma_write_support is on", ""},
		{"p5en,gpu-unsupported", "", "proven", "proven", "proven", 0, "", ""},
		{"p5en,gpu-unsupported", "--all-gpus", "mixed", "mixed", "mixed", 1, "partly through the CPU", "platform-gpus"},
		{"p5en,gpu-unsupported", "--gpu 4", "refuted", "refuted", "refuted", 1, "", "platform-gpus"},
		{"p5en,interface-idle", "--all-gpus", "proven", "proven", "proven", 0, "", ""},
		{"p5en,gdsio-error-one-gpu", "--engine gdsio --all-gpus", "unproven", "proven", "proven", 3, "GPU 7, write: ", "io-moved"},
		{"p5en,gdsio-error-one-gpu", "--all-gpus", "proven", "proven", "proven", 0, "", ""},
		{"p5en,lustre-not-mounted", "", "not-ready", "", "", 1, "lustre-mounted", "lustre-mounted"},
		{"p5en,lustre-hangs", "", "not-ready", "", "", 1, "lustre-answers", "lustre-answers"},
		{"p5en,cufile-json-broken", "", "not-ready", "", "", 1, "-22", "cufile-config"},
		{"p5en,cufile-library-missing", "", "not-ready", "", "", 1, "libcufile.so.0", "cufile-library"},
		{"p5en,tools-missing", "--engine gdsio", "not-ready", "", "", 1, "gdsio is not installed", ""},
	} {
		r, code := prove(t, c.node, strings.Fields(c.args)...)
		v := r.Verdict
		if v.Outcome != c.outcome || v.Reads != c.rd || v.Writes != c.wr || code != c.code || !strings.Contains(v.Summary, c.words) {
			t.Errorf("%s %s: %s (reads %s, writes %s), status %d: %s", c.node, c.args, v.Outcome, v.Reads, v.Writes, code, v.Summary)
		}
		first := ""
		if v.FirstAction != nil {
			first = v.FirstAction.Check
		}
		if c.first != "" && first != c.first {
			t.Errorf("%s %s: first %q, want %q", c.node, c.args, first, c.first)
		}
		if f := find(r, "io-cleanup"); c.outcome != report.NotApplicable && f.Status != report.Pass {
			t.Errorf("%s %s: clean-up: %s %s", c.node, c.args, f.Status, f.Summary)
		}
		if c.outcome == report.Proven && c.node != "p5en,gpu-unsupported" {
			for i := range r.Findings {
				if f := &r.Findings[i]; f.Status == report.Fail {
					t.Errorf("%s %s: proven, and %s fails: %s", c.node, c.args, f.Check, f.Summary)
				}
			}
		}
	}
}

// What only an experiment shows is named by the check that sim list promises, and no fault makes a false proof.
func TestProveEveryFault(t *testing.T) {
	for _, f := range sim.Faults() {
		for _, shape := range []string{"p5en", "p6-b200"} {
			node := shape + "," + f.Name
			if _, err := sim.New(node); err != nil {
				continue
			}
			r, code := prove(t, node, "--all-gpus")
			if strings.HasPrefix(f.Check, "io-") {
				if got := find(r, f.Check).Status; got != report.Fail && got != report.Warn && f.Name != "gdsio-error-one-gpu" {
					t.Errorf("%s: %s is %s", node, f.Check, got)
				}
			}
			switch r.Verdict.Outcome {
			case report.Proven:
				if code != 0 {
					t.Errorf("%s: proven, status %d", node, code)
				}
				for _, w := range []string{"library", "driver", "strict"} {
					for _, s := range says(r, w, "") {
						if s == "compat" || s == "mixed" || s == "failed" {
							t.Errorf("%s: proven, and the %s says %s", node, w, s)
						}
					}
				}
			case report.Unproven, report.Contradicted:
				if code != 3 {
					t.Errorf("%s: %s, status %d", node, r.Verdict.Outcome, code)
				}
			default:
				if code != 1 {
					t.Errorf("%s: %s, status %d", node, r.Verdict.Outcome, code)
				}
				if r.Verdict.FirstAction == nil {
					t.Errorf("%s: %s, and nothing to do: %s", node, r.Verdict.Outcome, r.Verdict.Summary)
				}
			}
			t.Logf("%-40s %-14s %s", node, r.Verdict.Outcome, r.Verdict.Summary)
		}
	}
}

// The guide's numbers: four buffers a run, one Sparse Read a MiB, the eight pairs of LNet's counts.
func TestProveGuideNumbers(t *testing.T) {
	r, _ := prove(t, "p6-b200", "--engine", "gdsio", "--no-strict", "--size", "10G")
	driver, wire := false, false
	for _, w := range r.Verdict.Witnesses {
		switch {
		case w.Name == "driver" && w.Direction == "reads":
			driver = true
			if w.Says != "gds" || w.Numbers["sparse_reads"] != 10240 || w.Numbers["mmap_ok"] != 4 || w.Numbers["bytes_asked_of_cufile"] != 10140<<20 {
				t.Errorf("%+v", w)
			}
		case w.Name == "wire" && w.Direction == "reads" && w.Numbers["efa_sends"] > 0:
			wire = true
			// 2 messages a MiB each way, and 26 keep-alives.
			if w.Says != "efa" || w.Numbers["efa_sends"] != 20480+26 || w.Numbers["efa_receives"] != 20480+26 {
				t.Errorf("%+v", w)
			}
		}
	}
	if !driver || !wire {
		t.Errorf("driver %v, wire %v", driver, wire)
	}
	for id, want := range map[string]report.Status{"io-driver-registered": report.Pass, "io-driver-reads": report.Pass, "io-driver-writes": report.Unknown, "io-control": report.Pass, "io-wire-efa": report.Pass,
		"io-wire-rails": report.Pass, "io-driver-errors": report.Pass, "io-wire-errors": report.Pass, "io-moved": report.Pass, "io-cleanup": report.Pass} {
		if f := find(r, id); f.Status != want {
			t.Errorf("%s: %s %s", id, f.Status, f.Summary)
		}
	}
}
