package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gdsproof/internal/checks"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/paste"
	"gdsproof/internal/profile"
	"gdsproof/internal/report"
)

func readTexts(t testing.TB, rules *profile.Profile, texts ...paste.Text) *report.Report {
	t.Helper()
	set, _ := paste.Read(texts)
	set.Items = append([]evidence.Item{facts.Options{}.Item()}, set.Items...)
	return judgeRead(set, rules, checks.All())
}

func builtIn(t testing.TB) *profile.Profile {
	t.Helper()
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func guideText(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("../paste/testdata/guide.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func given(s string) paste.Text { return paste.Text{Name: "ticket.txt", Data: []byte(s), Given: true} }

// TestGuide: the guide's own sequence of outputs is proven, all normal; without the report the writes stay open; with
// Sparse Reads flat nothing is proven; with nothing registered the CPU carried it.
func TestGuide(t *testing.T) {
	rules, text := builtIn(t), guideText(t)
	report0 := text[strings.Index(text, "ubuntu@gpu-7:~$ /usr/local/cuda/gds/tools/gdscheck"):]
	report0 = report0[:strings.Index(report0, "Platform verification succeeded\n")+len("Platform verification succeeded\n")]
	for name, tc := range map[string]struct {
		text         string
		want, rd, wr report.Outcome
		alarms       string
	}{
		"whole":             {text, report.Proven, report.Proven, report.Unproven, ""},
		"without report":    {strings.Replace(text, report0, "", 1), report.Unproven, report.Proven, report.Unproven, ""},
		"without prompts":   {strings.ReplaceAll(text, "ubuntu@gpu-7:~$ ", ""), report.Proven, report.Proven, report.Unproven, ""},
		"Sparse Reads flat": {strings.ReplaceAll(text, "n=10240 io", "n=0 io"), report.Unproven, report.Unproven, report.Unproven, ""},
		"not registered":    {strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(text, "n=10240 io", "n=0 io"), "n=12 ok=12", "n=4 ok=4"), "=12", "=4"), report.Refuted, report.Refuted, report.Refuted, ""},
		"EFA flat": {strings.NewReplacer("17442", "2070", "24611", "4120", "17407", "2069", "24574", "4119").Replace(text), report.Contradicted, report.Contradicted, report.Contradicted,
			"io-wire-efa"},
		"writes off":    {strings.Replace(text, "gds_rdma_write_support : true", "gds_rdma_write_support : false", 1), report.Unproven, report.Proven, report.Unproven, "cufile-config"},
		"control moved": {text[:strings.LastIndex(text, "Mmap")] + strings.ReplaceAll(text[strings.LastIndex(text, "Mmap"):], "=12", "=16"), report.Unproven, "", "", "io-control"},
		"one GPU without": {strings.Replace(text, "GPU index 3 NVIDIA B200 bar:1 bar size (MiB):262144 supports GDS", "GPU index 3 NVIDIA B200 bar:1 bar size (MiB):262144 Model Not Supported", 1), report.Proven, report.Proven,
			report.Unproven, "platform-gpus"},
	} {
		t.Run(name, func(t *testing.T) {
			r := readTexts(t, rules, given(tc.text))
			if v := r.Verdict; v.Outcome != tc.want || v.Reads != tc.rd || v.Writes != tc.wr {
				t.Errorf("%s, reads %s, writes %s: %s", v.Outcome, v.Reads, v.Writes, v.Summary)
			}
			if got := alarms(r); got != tc.alarms {
				t.Errorf("red or yellow: %q, want %q", got, tc.alarms)
			}
		})
	}
}

func alarms(r *report.Report) string {
	var out []string
	for _, f := range r.Findings {
		if f.Status == report.Fail || f.Status == report.Warn {
			out = append(out, f.Check)
		}
	}
	return strings.Join(out, " ")
}

// nodeWords: the questions of the captured nodes' table by our checks; those that are not listed are not scored.
var nodeWords = map[string][]string{
	"nvfs-module": {"nvidia-fs-loaded"}, "nvfs-device": {"nvidia-fs-devices"}, "platform": {"platform-verification"}, "fs-row": {"platform-storage"}, "iommu": {"platform-iommu"}, "acs": {"platform-acs"},
	"bar1": {"platform-bar"}, "mount": {"lustre-mounted"}, "lnet-efa": {"lnet-efa-net", "lnet-efa-count", "lnet-efa-up", "lnet-efa-nid", "lnet-efa-priority"}, "lustre-targets": {"lustre-answers"},
	"efa-errors": {"io-wire-errors", "kernel-log"}, "lnet-traffic": {"io-wire-efa"}, "data-path": {"io-library", "io-driver-reads", "io-driver-writes", "io-driver-registered", "io-strict"}, "driver": {"gpu-driver"},
	"cufile-json": {"cufile-config"}, "instance": {"instance-gds"}, "lustre-modules": {"lustre-client"}, "efa-devices": {"efa-devices"}, "efa-service": {"efa-service"},
}

var nodeOutcomes = map[string][]report.Outcome{
	"WORKS": {report.Proven}, "DOES NOT WORK": {report.Refuted, report.Mixed, report.NotReady}, "NOT PROVEN": {report.Unproven, report.Ready, report.UnknownResult},
	"NOT APPLICABLE": {report.NotApplicable, report.Unproven},
}

// TestNodes: six whole nodes as people gave them, against what was really the matter with each.
func TestNodes(t *testing.T) {
	dir := os.Getenv("GDSPROOF_CAPTURES")
	if dir == "" {
		t.Skip("GDSPROOF_CAPTURES is not set: the captured nodes are not there")
	}
	rules := builtIn(t)
	b, err := os.ReadFile(filepath.Join(dir, "nodes", "verdicts.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]*report.Report{}
	scored := 0
	for i, row := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		f := strings.Split(row, "\t")
		if i == 0 || len(f) < 3 {
			continue
		}
		r := nodes[f[0]]
		if r == nil {
			r = readTexts(t, rules, nodeTexts(t, filepath.Join(dir, "nodes", f[0]))...)
			nodes[f[0]] = r
		}
		if f[1] == "OVERALL-GDS" {
			ok := false
			for _, o := range nodeOutcomes[f[2]] {
				ok = ok || r.Verdict.Outcome == o
			}
			if !ok {
				t.Errorf("%s: %s (%s), should be %s", f[0], r.Verdict.Outcome, r.Verdict.Summary, f[2])
			}
			continue
		}
		for _, id := range nodeWords[f[1]] {
			for _, g := range r.Findings {
				if g.Check != id {
					continue
				}
				scored++
				if contradicts(f[2], g.Status) && !(f[1] == "efa-errors" && g.Status == report.Pass && id == "kernel-log") {
					t.Errorf("%s: %s is %s (%s); %s is %s", f[0], id, g.Status, g.Summary, f[1], f[2])
				}
			}
		}
	}
	if len(nodes) != 6 || scored < 60 {
		t.Errorf("%d nodes, %d findings compared", len(nodes), scored)
	}
}

// contradicts: fail and warn count alike, unknown contradicts nothing, not-applicable is skip.
func contradicts(want string, got report.Status) bool {
	switch got {
	case report.Unknown:
		return false
	case report.Fail, report.Warn:
		return want != "fail" && want != "warn"
	case report.Pass:
		return want != "pass" && want != "unknown"
	}
	return want != "not-applicable" && want != "unknown"
}

func nodeTexts(t testing.TB, dir string) []paste.Text {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []paste.Text
	for _, d := range list {
		if d.Name() == "case.md" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, d.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, paste.Text{Name: filepath.Join(dir, d.Name()), Data: b})
	}
	return out
}

// TestDamagedTexts: a text that is cut, shuffled, doubled or has other line ends is never proven if it was not before,
// and has no red finding that only the cut made.
func TestDamagedTexts(t *testing.T) {
	dir := os.Getenv("GDSPROOF_CAPTURES")
	if dir == "" {
		t.Skip("GDSPROOF_CAPTURES is not set: the captured outputs are not there")
	}
	rules := builtIn(t)
	texts := map[string]string{"guide": guideText(t)}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(p, ".md") || strings.HasSuffix(p, ".tsv") {
			return err
		}
		b, err := os.ReadFile(p)
		texts[strings.TrimPrefix(p, dir+"/")] = string(b)
		return err
	})
	if err != nil || len(texts) < 50 {
		t.Fatalf("%d texts: %v", len(texts), err)
	}
	// Every byte takes long: by default a prime stride, another offset for each text, and every end of a line.
	every := os.Getenv("GDSPROOF_EVERY_BYTE") != ""
	rnd := rand.New(rand.NewPCG(7, 11))
	for name, s := range texts {
		whole := readTexts(t, rules, given(s))
		red := reds(whole)
		compare := func(how, text string, cut bool) {
			t.Helper()
			r := readTexts(t, rules, given(text))
			if r.Verdict.Outcome == report.Proven && whole.Verdict.Outcome != report.Proven {
				t.Errorf("%s, %s: proven: %s", name, how, r.Verdict.Summary)
			}
			for id := range reds(r) {
				if cut && !red[id] && !waits(r, id) {
					t.Errorf("%s, %s: %s is red", name, how, id)
				}
			}
		}
		stride := max(1, len(s)/12)
		if every {
			stride = 1
		}
		for i := rnd.IntN(stride); i < len(s); i += stride {
			compare(fmt.Sprintf("cut at %d", i), s[:i], true)
		}
		ends := strings.Count(s, "\n")
		for k, i := 0, 0; i < len(s); k++ {
			n := strings.IndexByte(s[i:], '\n')
			if n < 0 {
				break
			}
			i += n + 1
			if every || ends < 40 || k%(ends/25) == 0 {
				compare(fmt.Sprintf("cut behind line %d", k+1), s[:i], true)
				compare(fmt.Sprintf("from line %d on", k+2), s[i:], false)
			}
		}
		compare("CRLF", strings.ReplaceAll(s, "\n", "\r\n"), true)
		var doubled strings.Builder
		lines := strings.SplitAfter(s, "\n")
		for _, l := range lines {
			doubled.WriteString(l)
			doubled.WriteString(l)
		}
		compare("doubled", doubled.String(), false)
		for range 3 {
			rnd.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			compare("shuffled", strings.Join(lines, ""), false)
		}
	}
}

func reds(r *report.Report) map[string]bool {
	out := map[string]bool{}
	for _, f := range r.Findings {
		// What was seen to be wrong and waits for another fault is red too, once that one is out of sight.
		if f.Status == report.Fail || f.Status == report.Unknown && f.BlockedBy != "" {
			out[f.Check] = true
		}
	}
	switch r.Verdict.Outcome {
	case report.NotReady, report.Refuted, report.Mixed:
		out["the verdict"] = true
	}
	return out
}

// waits tells that a finding only waits for another.
func waits(r *report.Report, id string) bool {
	for _, f := range r.Findings {
		if f.Check == id && f.BlockedBy == "" && f.Status == report.Fail {
			return false
		}
	}
	return id != "the verdict"
}

// TestReadLogs: what a cufile.log alone tells of the path.
func TestReadLogs(t *testing.T) {
	dir := os.Getenv("GDSPROOF_CAPTURES")
	if dir == "" {
		t.Skip("GDSPROOF_CAPTURES is not set: the captured logs are not there")
	}
	rules := builtIn(t)
	for file, want := range map[string]struct {
		outcome report.Outcome
		words   string
	}{
		"cufile-compat-trace.log":  {report.Refuted, "writes went through the CPU"},
		"cufile-udev-default.log":  {report.Refuted, "CPU"},
		"cufile-nocompat-ext4.log": {report.Refuted, "compat mode off"},
		"cufile-no-udev.log":       {report.NotReady, "5027"},
		"cufile-compat-tmpfs.log":  {report.NotReady, "5027"},
	} {
		b, err := os.ReadFile(filepath.Join(dir, "cufile-log", file))
		if err != nil {
			t.Fatal(err)
		}
		r := readTexts(t, rules, given(string(b)))
		if r.Verdict.Outcome != want.outcome || !strings.Contains(r.Verdict.Summary, want.words) {
			t.Errorf("%s: %s: %s", file, r.Verdict.Outcome, r.Verdict.Summary)
		}
	}
}

// TestReadStories: small tickets in which the first thought is wrong.
func TestReadStories(t *testing.T) {
	rules := builtIn(t)
	stats := func(reads, mmap string) string {
		return "NVFS statistics(ver: 4.0)\nNVFS Driver(version: 2.30.2)\nIO stats: Enabled, peer IO stats: Disabled\nReads\t: n=" + reads + " ok=" + reads + " err=0 readMiB=" + reads +
			" io_state_err=0\nWrites\t: n=0 ok=0 err=0 writeMiB=0 io_state_err=0 pg-cache=0 pg-cache-fail=0 pg-cache-eio=0\nMmap\t: n=" + mmap + " ok=" + mmap + " err=0 munmap=" + mmap + "\nOps\t: Read=0 Write=0 BatchIO=0\n"
	}
	const run = "IoType: READ XferType: GPUD Threads: 4 DataSetSize: 1048576/1048576(KiB) IOSize: 1024(KiB) Throughput: 2.000000 GiB/sec, Avg_Latency: 1953.125000 usecs ops: 1024 total_time 0.500000 secs\n"
	cpu := strings.Replace(run, "GPUD", "CPUONLY", 1)
	const refused = "file register error: GPUDirect Storage not supported on current file filename:/d/a\n"
	for name, tc := range map[string]struct {
		text string
		want report.Outcome
	}{
		"counted":                               {stats("0", "0") + run + stats("1024", "4"), report.Proven},
		"not counted":                           {stats("0", "0") + run + stats("0", "0"), report.Refuted},
		"registered and not counted":            {stats("0", "0") + run + stats("0", "4"), report.Refuted},
		"half of it":                            {stats("0", "0") + run + stats("500", "4"), report.Mixed},
		"P2PDMA is configured":                  {"properties.use_pci_p2pdma : true\n" + stats("0", "0") + run + stats("0", "0"), report.Unproven},
		"refused and then mended":               {refused + "I loaded the module, then:\n" + stats("0", "0") + run + stats("1024", "4"), report.Proven},
		"refused in the end":                    {stats("0", "0") + run + stats("0", "0") + refused, report.Refuted},
		"only the CPU was asked":                {stats("0", "0") + cpu + stats("0", "0"), report.Unproven},
		"somebody else moves the counters":      {stats("0", "0") + run + stats("1024", "4") + cpu + stats("3000", "9"), report.Unproven},
		"counters since the load of the module": {stats("50000", "400"), report.Unproven},
		"the looks in the wrong order":          {stats("1024", "4") + run + stats("0", "0"), report.Unproven},
		"two machines":                          {"me@a:~$ cat /proc/driver/nvidia-fs/stats\n" + stats("0", "0") + "me@a:~$ gdsio -x 0 -I 0\n" + run + "me@b:~$ cat /proc/driver/nvidia-fs/stats\n" + stats("2000", "4") + "me@b:~$ \n", report.Unproven},
		"no space":                              {stats("0", "0") + "io failed :ret :-28 errno :28, file offset :0, block size  :1048576\n" + stats("0", "0"), report.NotReady},
		"Lustre, and nothing of the wire":       {"10.3.7.1@tcp:/q8wkzbev /fsx lustre rw,flock 0 0\n" + stats("0", "0") + run + stats("1024", "4"), report.Unproven},
	} {
		t.Run(name, func(t *testing.T) {
			if r := readTexts(t, rules, given(tc.text)); r.Verdict.Outcome != tc.want {
				t.Errorf("%s: %s", r.Verdict.Outcome, r.Verdict.Summary)
			}
		})
	}
}
