package sim

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gdsproof/internal/evidence"
	"gdsproof/internal/host"
)

// TestFormOfReport: gdscheck's report has the lines of real ones, in their order: 1.15 without nvidia-fs, and 1.16,
// whose sample in the documents has two rows more and no blanks in front.
func TestFormOfReport(t *testing.T) {
	root := os.Getenv("GDSPROOF_CAPTURES")
	if root == "" {
		t.Skip("GDSPROOF_CAPTURES is not set: no real report to compare with")
	}
	model := regexp.MustCompile(`NVIDIA [A-Z0-9]+`)
	form := func(text string) []string {
		var out []string
		for _, l := range labels(text) {
			l = model.ReplaceAllString(strings.Join(strings.Fields(strings.TrimRight(l, ": ")), " "), "NVIDIA X")
			if l != "FSx Lustre" && !strings.HasPrefix(l, "--DmaBuf") {
				out = append(out, l)
			}
		}
		return slices.Compact(out) // a line for each GPU
	}
	for spec, file := range map[string]string{"p5en,nvidia-fs-missing": "qemu-2025-l40s-p2pdma-no-nvidia-fs.txt", "g6e": "nvidiadoc-2025-v1.16-l4-sample.txt"} {
		real, err := os.ReadFile(filepath.Join(root, "gdscheck", file))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := form(run(t, spec, "/usr/local/cuda/gds/tools/gdscheck", "-p")), form(string(real)); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", spec, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestReportFollowsTheModel: what a fault or the caller's environment changes is in the report.
func TestReportFollowsTheModel(t *testing.T) {
	for _, tc := range []struct{ spec, env, has, hasNot string }{
		{"p5en", "", " DDN EXAScaler      : Supported\n", "CUFILE_"},
		{"p5en,nvidia-fs-devices-missing", "", " DDN EXAScaler      : Unsupported\n", ""},
		{"p6-b200,nvidia-fs-missing", "", " nvidia_fs minimum version: 2.12\n", "nvfs, compat"},
		{"p6-b200", "CUFILE_ALLOW_COMPAT_MODE=false", " DDN EXAScaler      : nvfs\n", "compat\n"},
		{"p6-b200", "CUFILE_FORCE_COMPAT_MODE=TRUE", " properties.force_compat_mode : true\n", "nvfs"},
		{"p6-b200", "CUFILE_FORCE_COMPAT_MODE=yes", " CUFILE_FORCE_COMPAT_MODE : yes\n", "properties.force_compat_mode : true"},
		{"p5,nvidia-fs-missing", "CUFILE_ALLOW_COMPAT_MODE=false", " Platform verification error :\n nvidia-fs driver is not loaded. ", "DRIVER CONFIGURATION"},
		{"g6e,cufile-json-broken", "", " Platform verification error :\n Invalid argument\n", "GDS release"},
		{"p5,rdma-write-off", "", " properties.gds_rdma_write_support : false\n", ""},
		{"p5,iommu-on", "", " IOMMU: Pass-through or enabled\n WARN: GDS is not guaranteed", "State: Disabled"},
		{"p5,acs-on", "", " Found ACS enabled for switch 0000:53:01.0\n", ""},
	} {
		n, err := parse(tc.spec)
		if err != nil {
			t.Fatal(err)
		}
		var env []string
		if tc.env != "" {
			env = []string{tc.env}
		}
		out := n.gdscheck("gdscheck", env).out
		if !strings.Contains(out, tc.has) || tc.hasNot != "" && strings.Contains(out, tc.hasNot) {
			t.Errorf("%s %s: %q, without %q, in\n%s", tc.spec, tc.env, tc.has, tc.hasNot, out)
		}
	}
}

// TestCUDAFolders: the link leads to the folder of the version, and the library is found through its links.
func TestCUDAFolders(t *testing.T) {
	h, err := New("p5en")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if list := string(h.List(ctx, "/usr/local", false).Out); list != "cuda-13.0/\ncuda@\n" {
		t.Errorf("%q", list)
	}
	for _, p := range []string{"/usr/local/cuda/lib64/libcufile.so.0", "/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcufile.so.0"} {
		if st := string(h.Stat(ctx, p).Out); !strings.HasSuffix(st, `target="libcufile.so.1.15.1"`) {
			t.Errorf("%s: %s", p, st)
		}
	}
	for spec, gone := range map[string]string{"p5en,cuda-link-missing": "/usr/local/cuda/gds/tools/gdscheck", "p5en,tools-missing": "/usr/local/cuda-13.0/gds/tools/gdsio",
		"p5en,cufile-library-missing": "/usr/local/cuda/lib64/libcufile.so.0"} {
		f, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		if st := h.Stat(ctx, gone); !st.OK() || f.Stat(ctx, gone).State != evidence.Absent {
			t.Errorf("%s: %s", spec, gone)
		}
	}
	if list := h.List(ctx, "/sys/class/iommu", false); !list.OK() || len(list.Out) > 0 {
		t.Errorf("%+v", list)
	}
}

// TestCufileJSON: without its comments the file is JSON, unless an edit broke it.
func TestCufileJSON(t *testing.T) {
	comment := regexp.MustCompile(`(?m)^\s*//.*$`)
	for spec, want := range map[string]bool{"p5en": true, "p6-b200": true, "p5en,compat-forced,rdma-write-off": true, "p5en,cufile-json-broken": false} {
		h, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		text := comment.ReplaceAll(h.Read(context.Background(), "/etc/cufile.json", false).Out, nil)
		if json.Valid(text) != want {
			t.Errorf("%s: valid %v\n%s", spec, !want, text)
		}
	}
}

// TestOpenWithoutTools: the child's answer, of a library that opens and of one that its configuration keeps from it.
func TestOpenWithoutTools(t *testing.T) {
	for spec, want := range map[string]int{"p5en": 0, "p5en,cufile-json-broken": -22, "p5en,platform-failed": 5007} {
		h, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		it := h.Run(context.Background(), host.Command{Argv: []string{"/proc/self/exe", "__cufile-report", "/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcufile.so.0"}})
		var r struct {
			Loaded bool
			Open   *int
			Log    string
		}
		if err := json.Unmarshal(it.Out, &r); err != nil || !r.Loaded || r.Open == nil || *r.Open != want || (r.Log == "") != (want == -22) {
			t.Errorf("%s: %v %s", spec, err, it.Out)
		}
	}
}
