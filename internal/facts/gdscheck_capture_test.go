package facts

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// gdsCaptured is what the index of the real outputs says of each: versions, rows with a direct path, counts.
var gdsCaptured = []struct {
	file, gds, nvfs, direct  string
	rows, config, gpus       int
	ended, unloaded, builtIn bool
}{
	{"onizuka-2021-p400-beta0.9.1.txt", "0.9.1.5", "2.4", "NVMe", 12, 16, 1, true, false, false},
	{"pgstrom-2021-2xa100-beta0.95.1.txt", "0.95.1.12", "2.6", "NVMe NVMeOF", 14, 17, 2, true, false, false},
	{"onizuka-2021-p1000-v1.0.0.txt", "1.0.0.82", "2.7", "NVMe", 14, 18, 1, true, false, false},
	{"pgstrom-2021-2xa100-v1.0.0-nvmeof.txt", "1.0.0.82", "2.7", "NVMe NVMeOF", 14, 18, 2, true, false, false},
	{"springdale-2021-dgx2-v1.0.0.71-readme-sample-lines.txt", "1.0.0.71", "", "", 0, 0, 0, false, false, false},
	{"onizuka-2021-p400-v1.1.0-vm.txt", "1.1.0.37", "2.8", "NVMe", 14, 18, 1, true, false, false},
	{"gdsnvidiafs4-2021-allunsupported-v1.1-list-only.txt", "", "", "", 10, 0, 0, false, false, false},
	{"dali4009-2022-p100-no-header-allunsupported.txt", "", "", "", 15, 10, 0, false, false, false},
	{"kvikio152-2023-dgx2-v1.5.0-nvme-ok-head-only.txt", "1.5.0.59", "2.14", "NVMe", 3, 0, 0, false, false, false},
	{"gdsnvidiafs18-2023-v1.6.1-version-lines-only.txt", "1.6.1.9", "2.15", "", 0, 0, 0, false, false, false},
	{"gdsnvidiafs31-2023-rocky86-v1.7.1-compat-off-allunsupported.txt", "1.7.1.12", "2.17", "", 14, 11, 0, false, false, false},
	{"pgstrom-2024-a100-nvmeof-nfs.txt", "1.10.0.4", "2.20", "NVMe NVMeOF NFS", 15, 29, 1, true, false, false},
	{"tinygrad51-2026-rtx4090-v1.13.1-nvme-not-registered.txt", "1.13.1.3", "2.28", "", 6, 0, 0, false, false, false},
	{"blog-2026-8xh100-nfsordma.txt", "1.13.0.11", "2.17", "NVMe NFS", 16, 31, 8, true, false, true},
	{"gdsnvidiafs74-2026-8gpu-nfs-userspace-rdma-up8-v1.13.0.txt", "1.13.0.11", "2.17", "NVMe NFS Userspace RDMA", 16, 3, 0, false, false, false},
	{"delta-2026-a100-v1.13.1-nvidia-fs-not-loaded-compat-off-FAIL.txt", "", "", "", 0, 0, 0, true, false, false},
	{"lab-2025-2xrtx6000ada-threadripper-compat-off.txt", "1.14.0.30", "2.24", "NVMe", 17, 33, 2, true, false, false},
	{"lab-2025-stelline-host-deps-v1.14-head-only.txt", "1.14.0.30", "2.25", "NVMe", 17, 0, 0, false, false, false},
	{"qemu-2025-l40s-p2pdma-no-nvidia-fs.txt", "1.15.0.42", "", "NVMe P2PDMA", 17, 33, 1, true, true, true},
	{"inhouse-2026-h200-v1.15.1-from-cufile-log-no-nvidia-fs.txt", "1.15.1.6", "", "", 17, 33, 1, true, true, false},
	{"nvidiadoc-2025-v1.16-l4-sample.txt", "1.16.0.49", "2.27", "NVMe FSx Lustre IBM Spectrum Scale WekaFS Userspace RDMA", 19, 41, 1, true, false, false},
	{"gdsnvidiafs77-2026-v1.16.1-env-section-compat-off.txt", "1.16.1.26", "2.27", "", 17, 8, 0, false, false, false},
}

// gdsOtherLine are the lines of a report that are neither rows, settings, variables nor GPUs.
var gdsOtherLine = regexp.MustCompile(`(?i)^\s*($|=|#|[a-z ]+(CONFIGURATION|INFO|ENVIRONMENT):$|ENVIRONMENT:$|.* version.*:|IOMMU ?:|Nvidia Driver Info|Cuda Driver|Platform|Arch:|warn: |Total GPUS|cannot open scsi|use_mq not|nvidia-fs driver is not loaded)`)

func TestGDSCheckCaptures(t *testing.T) {
	files := capturedFiles(t, "gdscheck")
	delete(files, "INDEX.md")
	for _, w := range gdsCaptured {
		text, ok := files[w.file]
		if !ok {
			t.Errorf("%s is not there", w.file)
			continue
		}
		delete(files, w.file)
		r := ParseGDSCheck(text)
		var direct []string
		for _, row := range r.Rows {
			if row.Direct() {
				direct = append(direct, row.Name)
			}
		}
		built, _ := r.BuiltIn()
		if r.GDSVersion != w.gds || r.NVFSVersion != w.nvfs || strings.Join(direct, " ") != w.direct || r.Ended() != w.ended || r.UnloadedSpoken != w.unloaded || built != w.builtIn {
			t.Errorf("%s: versions %q %q, direct %q, ended %v, unloaded %v, built-in %v", w.file, r.GDSVersion, r.NVFSVersion, direct, r.Ended(), r.UnloadedSpoken, built)
		}
		if len(r.Rows) != w.rows || len(r.Config) != w.config || len(r.GPUs) != w.gpus || r.Strange != nil || !r.LooksLikeGDS || r.Cut || r.Next != 0 {
			t.Errorf("%s: %d rows, %d settings, %d GPUs, strange %q", w.file, len(r.Rows), len(r.Config), len(r.GPUs), r.Strange)
		}
		lines := 0
		for line := range strings.SplitSeq(string(text), "\n") {
			if !gdsOtherLine.MatchString(line) {
				lines++
			}
		}
		if read := len(r.Rows) + len(r.Config) + len(r.GPUs) + len(r.Env); read != lines {
			t.Errorf("%s: %d of %d lines are in the report", w.file, read, lines)
		}
		for _, g := range r.GPUs {
			if g.Supports != Yes || g.Name == "" || !g.BARMiB.OK {
				t.Errorf("%s: %+v", w.file, g)
			}
		}
		if full := w.gpus > 0; full != r.Whole(GDSGPUInfo) || full != r.Whole(GDSPlatform) || full && (!r.Whole(GDSDriver) || r.IOMMU != Some(false)) {
			t.Errorf("%s: sections", w.file)
		}
		gdsCut(t, w.file, text)
	}
	for name := range files {
		t.Errorf("%s has no row in this test", name)
	}
	fail := ParseGDSCheck(capturedFiles(t, "gdscheck")["delta-2026-a100-v1.13.1-nvidia-fs-not-loaded-compat-off-FAIL.txt"])
	if fail.VerifiedOK != Some(false) || !strings.HasPrefix(fail.Reason, "nvidia-fs driver is not loaded.") || !strings.HasPrefix(fail.DriverStatus, "Supported only on") {
		t.Errorf("%+v", fail)
	}
}

// One session with gdscheck 1.4: it does not start beside another libcufile, and then does not know the GPU.
func TestGDSCheckSession(t *testing.T) {
	root := os.Getenv("GDSPROOF_CAPTURES")
	if root == "" {
		t.Skip("GDSPROOF_CAPTURES is not set: no real outputs to read")
	}
	text, err := os.ReadFile(filepath.Join(root, "gds-tools-1.4-on-h200.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if words, ok := GDSLoadError(text); !ok || !strings.HasSuffix(words, "undefined symbol: gpuAttrsMap") {
		t.Errorf("%q, %v", words, ok)
	}
	r := ParseGDSCheck(text)
	if r.GDSVersion != "1.4.0.31" || !r.UnloadedSpoken || len(r.Rows) != 15 || len(r.GPUs) != 1 || r.GPUs[0].Supports != No || r.GPUs[0].Name != "NVIDIA H200" || r.VerifiedOK != Some(true) {
		t.Errorf("%+v", r)
	}
}
