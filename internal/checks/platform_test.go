package checks_test

import (
	"slices"
	"strings"
	"testing"

	"gdsproof/internal/check"
	"gdsproof/internal/checks"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

// TestNormalLines: the lines of the report that look like trouble and are normal with EFA, each with the reason, on
// nodes without any Mellanox software, that are ready.
func TestNormalLines(t *testing.T) {
	for _, shape := range shapesWithGPU() {
		fs := judge(t, look(t, shape))
		if v := check.Verdict(checks.Passive(), fs, ""); v.Outcome != report.Ready {
			t.Errorf("%s is %s: %s", shape, v.Outcome, v.Summary)
		}
		no := "compat"
		if holds(fs, "platform-ignored", "NVMe : Unsupported") {
			no = "Unsupported"
		}
		for line, why := range map[string]string{
			"Userspace RDMA : Unsupported":                    "Lustre's kernel client drives EFA",
			"--Mellanox PeerDirect : Disabled":                "a feature of Mellanox cards",
			"--rdma library : Not Loaded (libcufile_rdma.so)": "does not mean that EFA is absent",
			"--rdma devices : Not configured":                 "does not mean that EFA is absent",
			"--rdma_device_status : Up: 0 Down: 0":            "does not mean that EFA is absent",
			"properties.use_pci_p2pdma : false":               "here nvidia-fs is used",
			"properties.force_compat_mode : false":            "true would send everything through the CPU",
			"fs.weka.rdma_write_support : false":              "other storage",
			"fs.gpfs.gds_write_support : false":               "other storage",
			"NVMe : " + no:                                    "not asked about", "NFS : " + no: "not asked about", "WekaFS : " + no: "not asked about", "BeeGFS : " + no: "not asked about",
		} {
			if !holds(fs, "platform-ignored", line+" | normal: ") || !listed(fs, line, why) {
				t.Errorf("%s: %q is not listed with %q", shape, line, why)
			}
		}
		if holds(fs, "platform-ignored", "on no list") {
			t.Errorf("%s: lines that no list has: %+v", shape, of(fs, "platform-ignored"))
		}
	}
	for line, why := range map[string]string{"fs.lustre.use_pci_p2pdma : false": "here nvidia-fs is used", "block.nvme.use_pci_p2pdma : false": "other storage"} {
		if !listed(judge(t, look(t, "p6-b200")), line, why) {
			t.Errorf("%q is not listed with %q", line, why)
		}
	}
}

func listed(fs []check.Finding, line, why string) bool {
	for _, f := range of(fs, "platform-ignored") {
		for _, e := range f.Evidence {
			if strings.HasPrefix(e.Text, line+" | ") && strings.Contains(e.Text, why) {
				return true
			}
		}
	}
	return false
}

// TestUserSpaceRDMAOnWekaFS: there cuFile drives the network card itself, and the same lines matter.
func TestUserSpaceRDMAOnWekaFS(t *testing.T) {
	set := look(t, "p5en")
	for i := range set.Items {
		switch it := &set.Items[i]; it.Source {
		case facts.OptionsSource:
			*it = facts.Options{FS: "/mnt/weka"}.Item()
		case facts.MountinfoSource:
			it.Out = append(it.Out, "512 29 0:88 / /mnt/weka rw,relatime shared:301 - wekafs default rw,writecache\n"...)
		}
	}
	fs := judge(t, set)
	for _, line := range []string{"Userspace RDMA : Unsupported", "--rdma devices : Not configured", "--rdma_device_status : Up: 0 Down: 0"} {
		if listed(fs, line, "") {
			t.Errorf("%q is said to be normal on WekaFS", line)
		}
	}
	if !holds(fs, "platform-ignored", "matter here, for wekafs on /mnt/weka") {
		t.Errorf("%+v", of(fs, "platform-ignored"))
	}
	if worst(fs, "platform-storage") != report.Fail || !holds(fs, "platform-storage", "WekaFS : Unsupported") {
		t.Errorf("%+v", of(fs, "platform-storage"))
	}
}

// TestP2PDMAAlone: a node whose storage is reached without nvidia-fs has nothing of it to be judged.
func TestP2PDMAAlone(t *testing.T) {
	said := " GDS release version: 1.15.0.51\n libcufile version: 2.12\n Platform: x86_64\n =====================\n DRIVER CONFIGURATION:\n =====================\n" +
		" NVMe P2PDMA        : Supported\n NVMe               : Unsupported\n NFS                : Unsupported\n =====================\n CUFILE CONFIGURATION:\n =====================\n" +
		" properties.use_pci_p2pdma : true\n properties.use_compat_mode : true\n =========\n GPU INFO:\n =========\n" +
		" GPU index 0 NVIDIA L40S bar:1 bar size (MiB):65536 supports GDS, IOMMU State: Disabled\n ==============\n PLATFORM INFO:\n ==============\n" +
		" IOMMU: disabled\n Platform verification succeeded\n"
	set := &evidence.Set{Items: []evidence.Item{gpuBus, saw("/proc/modules", []byte("nvidia 1 1 - Live 0x0 (OE)\nnvme 1 1 - Live 0x0\n")), saw("gdscheck -p", []byte(said)),
		notThere(facts.NVFSProc + "/version"), notThere(facts.NVFSProc + "/stats")}}
	fs := judge(t, set)
	for _, c := range checks.All() {
		if c.ID == "platform-nvidia-fs" || strings.HasPrefix(c.ID, "nvidia-fs-") {
			if worst(fs, c.ID) != report.Skip || !holds(fs, c.ID, "reached by PCI P2PDMA") {
				t.Errorf("%+v", of(fs, c.ID))
			}
		}
	}
	if worst(fs, "platform-storage") != report.Pass || len(alarms(fs)) > 0 {
		t.Errorf("alarms of %v, %+v", alarms(fs), of(fs, "platform-storage"))
	}
}

// TestReportFromTheLog: without gdscheck the same is judged of libcufile's log.
func TestReportFromTheLog(t *testing.T) {
	for _, shape := range shapesWithGPU() {
		for _, f := range judge(t, look(t, shape+",tools-missing")) {
			if f.Step == 3 && f.Status != report.Pass {
				t.Errorf("%s: %s is %s: %s", shape, f.Check, f.Status, f.Summary)
			}
			if f.Check == "platform-gpus" && f.Evidence[0].Source != facts.CufileLogSource {
				t.Errorf("%s: %+v", shape, f.Evidence)
			}
		}
	}
}

// TestCallersEnvironment: a variable of the caller beats the file, and is named.
func TestCallersEnvironment(t *testing.T) {
	t.Setenv("CUFILE_FORCE_COMPAT_MODE", "true")
	fs := judge(t, look(t, "p5en"))
	if !slices.Equal(alarms(fs), []string{"cufile-config"}) || !holds(fs, "cufile-config", "CUFILE_FORCE_COMPAT_MODE") {
		t.Errorf("alarms of %v, %+v", alarms(fs), of(fs, "cufile-config"))
	}
	t.Setenv("CUFILE_FORCE_COMPAT_MODE", "1") // which libcufile passes over
	if got := alarms(judge(t, look(t, "p5en"))); got != nil {
		t.Errorf("alarms of %v", got)
	}
}

// TestWithoutCompatMode: where it is not allowed, libcufile does not open without nvidia-fs, and that is the cause.
func TestWithoutCompatMode(t *testing.T) {
	t.Setenv("CUFILE_ALLOW_COMPAT_MODE", "false")
	for spec, want := range map[string][]string{"p5en": nil, "p6-b200": nil, "p5en,nvidia-fs-missing": {"nvidia-fs-loaded"}, "p6-b200,nvidia-fs-missing": {"nvidia-fs-loaded"},
		"p5en,tools-missing,nvidia-fs-missing": {"nvidia-fs-loaded"}} {
		if got := alarms(judge(t, look(t, spec))); !slices.Equal(got, want) {
			t.Errorf("%s: alarms of %v", spec, got)
		}
	}
}

// TestMissingGPUHidesNothing: seven GPUs of eight are no reason for nvidia-fs not to be loaded; proprietary modules are.
func TestMissingGPUHidesNothing(t *testing.T) {
	set := look(t, "p5en,nvidia-fs-missing")
	for i := range set.Items {
		it := &set.Items[i]
		switch it.Source {
		case facts.PCISource:
			it.Out = []byte(strings.Replace(string(it.Out), "0000:a5:00.0 DRIVER=nvidia ", "0000:a5:00.0 ", 1))
		case evidence.ListSource("/proc/driver/nvidia/gpus"):
			it.Out = []byte(strings.Replace(string(it.Out), "0000:a5:00.0/\n", "", 1))
		}
	}
	fs := judge(t, set)
	for _, id := range []string{"gpu-driver", "nvidia-fs-loaded"} {
		if worst(fs, id) != report.Fail {
			t.Errorf("%+v", of(fs, id))
		}
	}
	for _, f := range of(judge(t, look(t, "p5en,gpu-driver-proprietary")), "nvidia-fs-loaded") {
		if f.BlockedBy != "gpu-driver" {
			t.Errorf("%+v", f)
		}
	}
}

// TestPassThrough: the report has one word for an IOMMU that translates and one that does not; the kernel tells.
func TestPassThrough(t *testing.T) {
	set := look(t, "p5en,iommu-on")
	if fs := judge(t, set); !holds(fs, "platform-iommu", "translates addresses") {
		t.Errorf("%+v", of(fs, "platform-iommu"))
	}
	for i := range set.Items {
		if it := &set.Items[i]; it.Source == facts.IOMMUGroupTypes {
			it.Out = []byte(strings.ReplaceAll(string(it.Out), "DMA-FQ", "identity"))
		}
	}
	if fs := judge(t, set); worst(fs, "platform-iommu") != report.Warn || !holds(fs, "platform-iommu", "pass-through mode: ") {
		t.Errorf("%+v", of(fs, "platform-iommu"))
	}
}
