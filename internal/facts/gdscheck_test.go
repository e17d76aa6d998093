package facts

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var gdsIgnoreState = cmpopts.IgnoreUnexported(GDSReport{})

func TestGDSCheckWhole(t *testing.T) {
	r := ParseGDSCheck([]byte(gdsGood.String()))
	if r.GDSVersion != "1.17.2.9" || r.NVFSVersion != "2.31" || r.NVFSMinimum != "2.11" || r.UnloadedSpoken || r.Machine != "aarch64" || !r.LooksLikeGDS || r.Beta {
		t.Errorf("head: %+v", r)
	}
	if r.DriverStatus != "Supported(Nvidia Open Driver Installed)" || r.CudaDriver != "13020" || r.Product != "Box (Q9, 2031)" || r.Arch != "aarch64" || r.Kernel != "6.14.2-77" {
		t.Errorf("platform: %+v", r)
	}
	if major, minor, ok := r.CUDA(); major != 13 || minor != 2 || !ok {
		t.Errorf("CUDA %d.%d, %v", major, minor, ok)
	}
	if r.IOMMU != Some(false) || r.VerifiedOK != Some(true) || r.Reason != "" || r.Strange != nil || r.Warnings != nil || r.ACS != nil || r.NoGPU || r.Cut || r.Next != 0 {
		t.Errorf("end: %+v", r)
	}
	for _, s := range []GDSSection{GDSEnv, GDSDriver, GDSConfig, GDSGPUInfo, GDSPlatform} {
		if s != GDSEnv && !r.Begun(s) || !r.Whole(s) {
			t.Errorf("section %s: begun %v, whole %v", s, r.Begun(s), r.Whole(s))
		}
	}
	if len(r.Rows) != 17 || len(r.Config) != 9 || len(r.GPUs) != 2 {
		t.Errorf("%d rows, %d settings, %d GPUs", len(r.Rows), len(r.Config), len(r.GPUs))
	}
	ddn, ok := r.Row("DDN EXAScaler")
	if !ok || !ddn.Direct() || !ddn.Has("nvfs") || !ddn.Has("compat") || ddn.Has("p2pdma") || ddn.Value != "nvfs, compat" {
		t.Errorf("DDN EXAScaler: %+v, %v", ddn, ok)
	}
	if nfs, ok := r.Row("NFS"); !ok || nfs.Direct() || nfs.Path() != No {
		t.Errorf("NFS: %+v, %v", nfs, ok)
	}
	if up, ok := r.Row("rdma_device_status"); !ok || up.Value != "Up: 3 Down: 1" || up.Tokens != nil || up.Path() != CannotTell {
		t.Errorf("rdma_device_status: %+v, %v", up, ok)
	}
	if v, ok := r.Setting("miscellaneous.static_routing_filepath"); v != "" || !ok {
		t.Errorf("a setting without a value: %q, %v", v, ok)
	}
	if v, _ := r.Setting("properties.posix_pool_slab_size_kb"); v != "8 2048 8192" {
		t.Errorf("slabs: %q", v)
	}
	if r.Bool("properties.use_compat_mode") != Some(true) || r.Bool("properties.force_compat_mode") != Some(false) || r.Bool("fs.lustre.posix_gds_min_kb").OK || r.Bool("no.such").OK {
		t.Error("switches")
	}
	if yes, known := r.BuiltIn(); yes || !known {
		t.Errorf("built-in: %v, %v", yes, known)
	}
}

func TestGDSCheckRefuted(t *testing.T) {
	r := ParseGDSCheck([]byte(gdsBad.String()))
	if !r.UnloadedSpoken || r.NVFSVersion != "" || r.NVFSMinimum != "2.11" || !r.NoGPU || r.IOMMU != Some(true) || len(r.Warnings) != 1 {
		t.Errorf("%+v", r)
	}
	if r.VerifiedOK != Some(false) || !strings.HasPrefix(r.Reason, "nvidia-fs driver is not loaded") || !reflect.DeepEqual(r.ACS, []string{"0000:91:0b.0", "92:10.0"}) {
		t.Errorf("%+v", r)
	}
	if !reflect.DeepEqual(r.Env, []GDSSetting{{"CUFILE_ENV_PATH_JSON", "/opt/a:b/cufile.json"}}) || len(r.GPUs) != 2 || r.Strange != nil {
		t.Errorf("%+v", r)
	}
	if g := r.GPUs[0]; g.Name != "Quadro P5000" || g.Supports != No || g.Why != "Model Not Supported" || g.BAR.OK || g.IOMMU.OK {
		t.Errorf("%+v", g)
	}
	if g := r.GPUs[1]; g.Index != 1 || g.Name != "Quadro K620" || g.Supports != No || g.Why != "does not have supported architecture, has 5 requires >= 7" {
		t.Errorf("%+v", g)
	}
	if yes, known := r.BuiltIn(); !yes || !known {
		t.Errorf("built-in: %v, %v", yes, known)
	}
}

func TestGDSCheckBeta(t *testing.T) {
	r := ParseGDSCheck([]byte(gdsBeta))
	if !r.Beta || r.GDSVersion != "0.93.2.4" || r.NVFSVersion != "2.5" || r.NVFSMinimum != "2.2" || r.IOMMU != Some(false) || r.VerifiedOK != Some(true) {
		t.Errorf("%+v", r)
	}
	if len(r.Rows) != 9 || len(r.Config) != 3 || len(r.GPUs) != 1 || r.Strange != nil || r.Bool("properties.use_compat_mode") != Some(true) || r.Bool("fs.weka.rdma_write_support") != Some(false) {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"DDN EXAScaler", "LUSTRE", "ibm spectrum scale", "Userspace RDMA", "--Mellanox PeerDirect"} {
		if _, ok := r.Row(name); !ok {
			t.Errorf("no row %s in %+v", name, r.Rows)
		}
	}
	if l, _ := r.Row("DDN EXAScaler"); l.Name != "LUSTRE" || !l.Direct() {
		t.Errorf("%+v", l)
	}
	for _, s := range []GDSSection{GDSDriver, GDSConfig, GDSGPUInfo, GDSPlatform} {
		if !r.Whole(s) {
			t.Errorf("section %s is not whole", s)
		}
	}
	half := ParseGDSCheck([]byte(gdsBeta[:strings.Index(gdsBeta, " GPFS")]))
	if half.Whole(GDSDriver) || !half.Begun(GDSDriver) || half.Begun(GDSGPUInfo) || half.Whole(GDSConfig) {
		t.Errorf("the beginning of a beta's report: %+v", half)
	}
}

func TestGDSCheckPaths(t *testing.T) {
	for value, want := range map[string]Answer{
		"Supported": Yes, "Unsupported": No, "compat": No, "nvfs": Yes, "c2c, nvfs, compat": Yes, "dmabuf, compat": Yes, "gdrcopy, compat": Yes,
		"Unsup…": CannotTell, "Partly working": CannotTell, "disabled": No,
	} {
		r := ParseGDSCheck([]byte("DRIVER CONFIGURATION:\nNFS : " + value + "\n"))
		row, ok := r.Row("NFS")
		if !ok || row.Path() != want || row.Direct() != (want == Yes) {
			t.Errorf("%q: %+v %v, path %v, want %v", value, row, ok, row.Path(), want)
		}
	}
}

// Sections that are not in the text are not taken for empty ones.
func TestGDSCheckExcerpts(t *testing.T) {
	whole := gdsGood.String()
	upTo := func(s string) GDSReport { return ParseGDSCheck([]byte(whole[:strings.Index(whole, s)])) }
	if r := upTo(" Platform: aarch64"); r.UnloadedSpoken || r.Begun(GDSDriver) || r.Begun(GDSGPUInfo) || r.Ended() || r.Whole(GDSVersions) || !r.LooksLikeGDS {
		t.Errorf("two lines: %+v", r)
	}
	if r := upTo(" nvidia_fs version"); r.UnloadedSpoken || r.GDSVersion == "" {
		t.Errorf("the first line: %+v", r)
	}
	if r := upTo(" DDN"); r.Whole(GDSDriver) || !r.Begun(GDSDriver) || r.Whole(GDSGPUInfo) || !r.Whole(GDSEnv) {
		t.Errorf("half of the rows: %+v", r)
	}
	if r := upTo(" properties.max_direct"); !r.Whole(GDSDriver) || r.Whole(GDSConfig) || r.Begun(GDSGPUInfo) {
		t.Errorf("half of the configuration: %+v", r)
	}
	if yes, known := upTo(" properties.max_direct").BuiltIn(); yes || known {
		t.Error("built-in values are told of a report without them")
	}
	grepped := ParseGDSCheck([]byte(" DDN EXAScaler      : nvfs, compat\n NFS : compat\n"))
	if len(grepped.Rows) != 2 || grepped.Whole(GDSDriver) || !grepped.LooksLikeGDS {
		t.Errorf("rows alone: %+v", grepped)
	}
	elided := ParseGDSCheck([]byte(strings.Replace(whole, " NVMeOF", " ...\n NVMeOF", 1)))
	if elided.Whole(GDSDriver) || !elided.Whole(GDSConfig) {
		t.Errorf("rows left out: %+v", elided)
	}
	if r := ParseGDSCheck([]byte("NFS : mounted on /data\nGPU 0: NVIDIA B200 (UUID: GPU-1)\nGPU 0 Read: bw=0 n=4\n")); r.LooksLikeGDS || len(r.Rows)+len(r.GPUs) > 0 {
		t.Errorf("another text: %+v", r)
	}
}

func TestGDSCheckOddities(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		ok   func(GDSReport) bool
	}{
		"blank before the colon": {"GDS release version : 1.0.3.7\nIOMMU : disabled\n", func(r GDSReport) bool { return r.GDSVersion == "1.0.3.7" && r.IOMMU == Some(false) }},
		"first line":             {"warn: error opening log file: Permission denied, logging will be disabled\n" + gdsGood.String(), func(r GDSReport) bool { return len(r.Warnings) == 1 && len(r.Rows) == 17 }},
		"a new row":              {"DRIVER CONFIGURATION:\nFooFS : nvfs, compat\n", func(r GDSReport) bool { f, ok := r.Row("foofs"); return ok && f.Direct() }},
		"a prompt":               {"DRIVER CONFIGURATION:\nme@host:~$ ls\n", func(r GDSReport) bool { return len(r.Rows) == 0 && len(r.Strange) == 1 }},
		"without BAR1": {"GPU index 2 NVIDIA GB300 bar:disabled bar size (MiB):N/A supports GDS, IOMMU State: Pass-through or Enabled\n", func(r GDSReport) bool {
			g := r.GPUs[0]
			return g.BAR == Some(false) && !g.BARMiB.OK && g.Supports == Yes && g.IOMMU == Some(true) && g.Name == "NVIDIA GB300"
		}},
		"oldest GPU line": {"GPU Index: 3 bar:1 bar size (MB):16384\n", func(r GDSReport) bool {
			g := r.GPUs[0]
			return g.Index == 3 && g.BARMiB == Some(uint64(16384)) && g.Supports == CannotTell && g.Name == ""
		}},
		"new GPU line":       {"GPU index 3 NVIDIA Z9 has been asleep\n", func(r GDSReport) bool { return r.GPUs[0].Supports == CannotTell }},
		"wrong architecture": {"GPU 0 Tesla M10 does not have supported architecture, has 5 requires >= 7\n", func(r GDSReport) bool { return r.GPUs[0].Supports == No && r.GPUs[0].Name == "Tesla M10" }},
		"failed": {"Platform verification failed\nplatform is not supported by cufile\n", func(r GDSReport) bool {
			return r.VerifiedOK == Some(false) && r.Reason == "platform is not supported by cufile"
		}},
		"reason beside":         {"Platform verification error: Invalid argument\n", func(r GDSReport) bool { return r.VerifiedOK == Some(false) && r.Reason == "Invalid argument" }},
		"reason not there":      {"Platform verification error :\n", func(r GDSReport) bool { return r.VerifiedOK == Some(false) && r.Reason == "" }},
		"not initialised":       {"cufile initialization failed\n", func(r GDSReport) bool { return r.VerifiedOK == Some(false) }},
		"a number of GPUs":      {"Total GPUS supported on this platform 12\n", func(r GDSReport) bool { return r.GPUTotal == Some(12) }},
		"no name of a product":  {"Arch: x86_64(Linux 6.9.1)\n", func(r GDSReport) bool { return r.Product == "" && r.Arch == "x86_64" && r.Kernel == "6.9.1" }},
		"no newline":            {"Platform verification succeeded", func(r GDSReport) bool { return r.VerifiedOK == Some(true) && !r.Cut }},
		"versions wrapped":      {"nvidia_fs version:  2.29\nlibcufile version: 2.12\n", func(r GDSReport) bool { return r.NVFSVersion == "2.29" && !r.UnloadedSpoken }},
		"versions and a report": {"GDS release version: 1.9.0.1\nlibcufile version: 2.12\nrc 0\n$ gdscheck -p\nGDS release version: 1.9.0.1\nDRIVER CONFIGURATION:\nNFS : Supported\n", func(r GDSReport) bool { return r.Next == 0 && len(r.Rows) == 1 && r.UnloadedSpoken }},
		"after the end":         {"IOMMU: disabled\nPlatform verification succeeded\nIOMMU: Pass-through or enabled\nrc 0\n", func(r GDSReport) bool { return r.IOMMU == Some(false) && r.Strange == nil }},
		"before the beginning":  {"hello\nIOMMU: disabled\nPlatform verification failed\nrc 1\n", func(r GDSReport) bool { return r.Strange == nil && r.Reason == "" }},
		"a title twice":         {"DRIVER CONFIGURATION:\nNFS : compat\nDRIVER CONFIGURATION:\nNFS : nvfs, compat\n", func(r GDSReport) bool { return r.Next > 0 && !r.Rows[0].Direct() }},
		"not UTF-8":             {"\xff\xfe İİİ GPU index 0 \xc3 supports GDS\nGPU index 1 İ\xff bar:1 bar size (MiB):64 supports GDS\n", func(r GDSReport) bool { return len(r.GPUs) == 1 && r.GPUs[0].Name == "İ\xff" }},
	} {
		if r := ParseGDSCheck([]byte(c.text)); !c.ok(r) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// A text may hold several reports, one behind the other.
func TestGDSCheckTwo(t *testing.T) {
	for name, glue := range map[string]string{"": "", "prompt": "$ gdscheck -p\n"} {
		first, second := gdsGood.String(), gdsBad.String()
		r := ParseGDSCheck([]byte(first + glue + second))
		if r.Next != len(first+glue) {
			t.Fatalf("%s: the second report begins at %d, want %d", name, r.Next, len(first+glue))
		}
		if d := cmp.Diff(ParseGDSCheck([]byte(first)), r, gdsIgnoreState, cmpopts.IgnoreFields(GDSReport{}, "Next")); d != "" {
			t.Error(d)
		}
		if next := ParseGDSCheck([]byte(first + glue + second)[r.Next:]); next.VerifiedOK != Some(false) || next.Next != 0 {
			t.Errorf("%s: %+v", name, next)
		}
	}
}

func TestGDSCheckDisfigured(t *testing.T) {
	for name, text := range map[string]string{"good": gdsGood.String(), "bad": gdsBad.String(), "beta": gdsBeta} {
		want := ParseGDSCheck([]byte(text))
		for how, b := range disfigured(text) {
			got := ParseGDSCheck(b)
			if d := cmp.Diff(want, got, gdsIgnoreState); d != "" {
				t.Errorf("%s, %s: %s", name, how, d)
			}
			if got.Whole(GDSDriver) != want.Whole(GDSDriver) || got.Whole(GDSGPUInfo) != want.Whole(GDSGPUInfo) {
				t.Errorf("%s, %s: sections", name, how)
			}
		}
	}
}

// gdsCut compares the report of a text's beginning with that of the whole: nothing in it may say otherwise.
func gdsCut(t *testing.T, name string, text []byte) {
	t.Helper()
	whole := ParseGDSCheck(text)
	for i := range text {
		part := ParseGDSCheck(text[:i])
		if err := gdsAgrees(part, whole); err != "" {
			t.Fatalf("%s cut at %d, behind %q: %s", name, i, text[max(0, i-40):i], err)
		}
	}
}

func gdsAgrees(part, whole GDSReport) string {
	for _, p := range [][2]string{{part.GDSVersion, whole.GDSVersion}, {part.NVFSVersion, whole.NVFSVersion}, {part.NVFSMinimum, whole.NVFSMinimum},
		{part.Machine, whole.Machine}, {part.DriverStatus, whole.DriverStatus}, {part.CudaDriver, whole.CudaDriver}, {part.Product, whole.Product},
		{part.Arch, whole.Arch}, {part.Kernel, whole.Kernel}, {part.IOMMUText, whole.IOMMUText}, {part.VerifiedLine, whole.VerifiedLine}, {part.Reason, whole.Reason}} {
		if p[0] != "" && p[0] != p[1] {
			return p[0] + ", whole " + p[1]
		}
	}
	switch {
	case part.UnloadedSpoken && !whole.UnloadedSpoken, part.NoGPU && !whole.NoGPU, part.VerifiedOK.OK && part.VerifiedOK != whole.VerifiedOK,
		part.IOMMU.OK && part.IOMMU != whole.IOMMU, part.GPUTotal.OK && part.GPUTotal != whole.GPUTotal, part.Next != 0 && part.Next != whole.Next:
		return "an answer differs"
	}
	if err := gdsListsAgree(part, whole); err != "" {
		return err
	}
	for _, s := range []GDSSection{GDSEnv, GDSDriver, GDSConfig, GDSGPUInfo, GDSPlatform} {
		if part.Whole(s) && (len(part.Rows) != len(whole.Rows) && s == GDSDriver || len(part.GPUs) != len(whole.GPUs) && s == GDSGPUInfo || len(part.Config) != len(whole.Config) && s == GDSConfig) {
			return "section " + string(s) + " counts as whole and is not"
		}
	}
	return ""
}

// gdsListsAgree: lists only grow.
func gdsListsAgree(part, whole GDSReport) string {
	for name, ok := range map[string]bool{
		"rows": beginning(part.Rows, whole.Rows), "settings": beginning(part.Config, whole.Config), "GPUs": beginning(part.GPUs, whole.GPUs),
		"variables": beginning(part.Env, whole.Env), "bridges": beginning(part.ACS, whole.ACS),
	} {
		if !ok {
			return name + " differ"
		}
	}
	return ""
}

func beginning[T any](part, whole []T) bool {
	return len(part) <= len(whole) && (len(part) == 0 || reflect.DeepEqual(part, whole[:len(part)]))
}

func TestGDSCheckCut(t *testing.T) {
	for name, text := range map[string]string{"good": gdsGood.String(), "bad": gdsBad.String(), "beta": gdsBeta} {
		gdsCut(t, name, []byte(text))
	}
}

func FuzzGDSCheck(f *testing.F) {
	for _, text := range []string{gdsGood.String(), gdsBad.String(), gdsBeta, gdsGood.String() + gdsBad.String()} {
		f.Add([]byte(text))
	}
	for _, b := range capturedFiles(f, "gdscheck") {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := ParseGDSCheck(b)
		if r.Next < 0 || r.Next > len(b) || r.Next > 0 && b[r.Next-1] != '\n' {
			t.Fatalf("another report at %d of %d", r.Next, len(b))
		}
		for _, row := range r.Rows {
			if again, ok := r.Row(row.Name); !ok || again.Name == "" || row.Direct() && len(row.Tokens) == 0 && !strings.EqualFold(row.Value, "supported") {
				t.Fatalf("%+v", row)
			}
		}
		if i := bytes.LastIndexByte(b, '\n'); i > 0 {
			if err := gdsListsAgree(ParseGDSCheck(b[:i/2]), r); err != "" {
				t.Fatalf("half: %s", err)
			}
		}
	})
}

func BenchmarkGDSCheck(b *testing.B) {
	text := []byte(gdsGood.String())
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if r := ParseGDSCheck(text); !r.Ended() {
			b.Fatal("no end")
		}
	}
}
