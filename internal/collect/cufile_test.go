package collect

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
	"gdsproof/internal/sim"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == host.ChildVerb {
		os.Exit(host.ChildMain())
	}
	os.Exit(m.Run())
}

// install lays out a CUDA install below root as NVIDIA's packages do.
func install(t *testing.T, root, name, file string) {
	t.Helper()
	home := filepath.Join(root, "usr/local", name)
	lib := filepath.Join(home, "targets/x86_64-linux/lib")
	for _, d := range []string{lib, filepath.Join(home, "gds/tools")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{filepath.Join(lib, file), filepath.Join(home, "gds/tools/gdscheck")} {
		if err := os.WriteFile(f, []byte("\x7fELF"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link(t, file, filepath.Join(lib, "libcufile.so.0"))
	link(t, "targets/x86_64-linux/lib", filepath.Join(home, "lib64"))
}

func env(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// TestSeveralInstalls: each libcufile once, whatever links lead to it, behind the owner's choice the newest first; the
// tools are those of the owner's choice.
func TestSeveralInstalls(t *testing.T) {
	root := t.TempDir()
	install(t, root, "cuda-12.9", "libcufile.so.1.14.1")
	install(t, root, "cuda-12.10", "libcufile.so.1.14.9")
	install(t, root, "cuda-13.0", "libcufile.so.1.15.1")
	look := func() (lines []string, tool string) {
		h, err := host.NewLive(root)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		it := libraries(context.Background(), h, env(map[string]string{"LD_LIBRARY_PATH": "/usr/local/cuda-12.9/lib64:relative"}))
		return strings.Split(strings.TrimSpace(string(it.Out)), "\n"), FindGDSTool(context.Background(), h, "gdscheck")
	}
	newest := []string{
		"/usr/local/cuda-12.9/lib64/libcufile.so.0: file=libcufile.so.1.14.1 by=LD_LIBRARY_PATH",
		"/usr/local/cuda-13.0/lib64/libcufile.so.0: file=libcufile.so.1.15.1 by=folder",
		"/usr/local/cuda-12.10/lib64/libcufile.so.0: file=libcufile.so.1.14.9 by=folder",
	}
	if got, tool := look(); strings.Join(got, "\n") != strings.Join(newest, "\n") || tool != "/usr/local/cuda-13.0/gds/tools/gdscheck" {
		t.Errorf("%s\n%q", tool, got)
	}
	// The alternatives system leads through a second link, which is absolute.
	if err := os.Mkdir(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	link(t, "/etc/cuda", filepath.Join(root, "usr/local/cuda"))
	link(t, "/usr/local/cuda-12.10", filepath.Join(root, "etc/cuda"))
	chosen := []string{newest[0], "/usr/local/cuda/lib64/libcufile.so.0: file=libcufile.so.1.14.9 by=folder", newest[1]}
	if got, tool := look(); strings.Join(got, "\n") != strings.Join(chosen, "\n") || tool != "/usr/local/cuda/gds/tools/gdscheck" {
		t.Errorf("%s\n%q", tool, got)
	}
	// A link in a circle, and one to nothing, are no library.
	for _, l := range []string{"cuda-14.0", "cuda-15.0"} {
		if err := os.MkdirAll(filepath.Join(root, "usr/local", l, "lib64"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link(t, "libcufile.so.0", filepath.Join(root, "usr/local/cuda-14.0/lib64/libcufile.so.0"))
	link(t, "gone", filepath.Join(root, "usr/local/cuda-15.0/lib64/libcufile.so.0"))
	if got, _ := look(); strings.Join(got, "\n") != strings.Join(chosen, "\n") {
		t.Errorf("%q", got)
	}
}

// TestWheels: behind all that other programs find, the libraries of Python environments, of the caller's first.
func TestWheels(t *testing.T) {
	root := t.TempDir()
	install(t, root, "cuda-13.0", "libcufile.so.1.15.1")
	wheel := func(dir string) {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, dir, "libcufile.so.0"), []byte("\x7fELF"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"work/venv/lib/python3.12/site-packages/nvidia/cufile/lib", "opt/conda/lib", "opt/conda/lib/python3.11/site-packages/nvidia/cu13/lib",
		"usr/lib/python3/dist-packages/nvidia/cufile/lib", "home/a/.local/lib/python3.10/site-packages/nvidia/cufile/lib",
		"usr/lib/python2.7/dist-packages/nvidia/cufile/lib", "usr/lib/python3/dist-packages/nvidia/cudnn/lib", "usr/lib/python3/dist-packages/nvidia/cu/lib"} {
		wheel(d)
	}
	h, err := host.NewLive(root)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	it := libraries(context.Background(), h, env(map[string]string{"VIRTUAL_ENV": "/work/venv", "CONDA_PREFIX": "/opt/conda", "HOME": "/home/a"}))
	want := `/usr/local/cuda-13.0/lib64/libcufile.so.0: file=libcufile.so.1.15.1 by=folder
/opt/conda/lib/libcufile.so.0: file=libcufile.so.0 by=python
/work/venv/lib/python3.12/site-packages/nvidia/cufile/lib/libcufile.so.0: file=libcufile.so.0 by=python
/opt/conda/lib/python3.11/site-packages/nvidia/cu13/lib/libcufile.so.0: file=libcufile.so.0 by=python
/usr/lib/python3/dist-packages/nvidia/cufile/lib/libcufile.so.0: file=libcufile.so.0 by=python
/home/a/.local/lib/python3.10/site-packages/nvidia/cufile/lib/libcufile.so.0: file=libcufile.so.0 by=python
`
	if string(it.Out) != want {
		t.Errorf("%s", it.Out)
	}
}

// TestOneLibrary: the simulated node's loader and CUDA's folders lead to one file.
func TestOneLibrary(t *testing.T) {
	h, err := sim.New("p5en")
	if err != nil {
		t.Fatal(err)
	}
	it := libraries(context.Background(), h, env(nil))
	if want := "/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcufile.so.0: file=libcufile.so.1.15.1 by=ldconfig\n"; string(it.Out) != want {
		t.Errorf("%q", it.Out)
	}
}

// TestLoaders: what is not there is known not to be there.
func TestLoaders(t *testing.T) {
	if it := loaders(context.Background(), paper{}); len(it.Out) != 0 || !it.Complete() {
		t.Errorf("%+v", it)
	}
	h, err := sim.New("laptop")
	if err != nil {
		t.Fatal(err)
	}
	if it := loaders(context.Background(), h); string(it.Out) != facts.Loaders[0]+"\n" || !it.Complete() {
		t.Errorf("%+v", it)
	}
}

// TestSplitReport: the child's answer, its end without one, and its own trouble.
func TestSplitReport(t *testing.T) {
	two := 2
	answer := func(out string, exit *int) (open, log evidence.Item) {
		its := splitReport(evidence.Item{Source: facts.CufileOpenSource, Form: evidence.Whole, State: evidence.Present, Out: []byte(out), Exit: exit})
		if len(its) != 2 || its[0].Source != facts.CufileOpenSource || its[1].Source != facts.CufileLogSource {
			t.Fatalf("%+v", its)
		}
		return its[0], its[1]
	}
	if open, log := answer(`{"library":"x","loaded":true,"open":0,"log":"a line"}`, nil); !open.OK() || string(log.Out) != "a line" || strings.Contains(string(open.Out), "a line") {
		t.Errorf("%+v %+v", open, log)
	}
	if open, log := answer("", &two); open.State != evidence.Failed || open.Exit != &two || log.State != evidence.Failed {
		t.Errorf("%+v %+v", open, log)
	}
	if open, log := answer(`{"library":"x","loaded":false,"trouble":"no room","log":""}`, nil); open.State != evidence.Failed || log.State != evidence.Failed || !strings.Contains(string(open.Err), "no room") {
		t.Errorf("%+v %+v", open, log)
	}
}
