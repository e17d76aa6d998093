package checks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gdsproof/internal/check"
	"gdsproof/internal/checks"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

// change is a way to make a node odd: an item by its source, nil to take it out.
type change map[string]*evidence.Item

func text(out string) *evidence.Item {
	return &evidence.Item{State: evidence.Present, Form: evidence.Whole, Place: evidence.Host, Out: []byte(out)}
}

func state(st evidence.State, errno, why string) *evidence.Item {
	return &evidence.Item{State: st, Errno: errno, Form: evidence.Whole, Place: evidence.Host, Err: []byte(why)}
}

func with(t *testing.T, spec string, c change) *evidence.Set {
	t.Helper()
	set := look(t, spec)
	for source, it := range c {
		set.Items = slices.DeleteFunc(set.Items, func(i evidence.Item) bool { return i.Source == source })
		if it != nil {
			it.Source = source
			set.Items = append(set.Items, *it)
		}
	}
	return set
}

// bus prints GPUs on the bus, some without a driver.
func bus(drivers ...string) *evidence.Item {
	var b strings.Builder
	for i, d := range drivers {
		if d != "" {
			d = "DRIVER=" + d + " "
		}
		fmt.Fprintf(&b, "0000:%02x:00.0 %sPCI_CLASS=30200 PCI_ID=10DE:2335 NUMA_NODE=0\n", 0x60+i, d)
	}
	return text(b.String())
}

// TestOddNodes are nodes that are easily misjudged, with what may be said of them.
func TestOddNodes(t *testing.T) {
	const modules = "/proc/modules"
	noProc := change{}
	for _, f := range []string{"/stats", "/version", "/devcount", "/peer_distance", "/bridges"} {
		noProc[facts.NVFSProc+f] = state(evidence.Absent, "ENOENT", "")
	}
	hidden := change{modules: state(evidence.Absent, "ENOENT", ""), facts.KernelSource: state(evidence.Absent, "ENOENT", ""), "/proc/driver/nvidia/version": state(evidence.Absent, "ENOENT", "")}
	for k, v := range noProc {
		hidden[k] = v
	}
	opens := func(it *evidence.Item) change {
		c := change{}
		for i := range 16 {
			o := *it
			c[evidence.OpenSource(fmt.Sprintf("/dev/nvidia-fs%d", i))] = &o
		}
		return c
	}
	nvidia8 := slices.Repeat([]string{"nvidia"}, 8)
	for name, tc := range map[string]struct {
		spec  string
		c     change
		check string
		want  report.Status
		words string
	}{
		"all GPUs left the bus": {"p5en", change{facts.PCISource: text("0000:b1:00.0 PCI_CLASS=68000 PCI_ID=10DE:22A3\n"), modules: text("nvme 1 0 - Live 0x0\n"),
			"/proc/driver/nvidia/version": state(evidence.Absent, "ENOENT", ""), "/sys/module/nvidia/version": state(evidence.Absent, "ENOENT", ""), evidence.ListSource("/proc/driver/nvidia/gpus"): state(evidence.Absent, "ENOENT", "")},
			"gpu-driver", report.Fail, "0 of the 8 GPUs"},
		"one GPU without a driver": {"p5en", change{facts.PCISource: bus(append(slices.Clone(nvidia8[:7]), "")...), evidence.ListSource("/proc/driver/nvidia/gpus"): text("0000:60:00.0/\n")},
			"gpu-driver", report.Fail, "1 of 8 GPUs"},
		"a GPU for a virtual machine": {"p5en", change{facts.PCISource: bus(append(slices.Clone(nvidia8[:7]), "vfio-pci")...)}, "gpu-driver", report.Warn, "vfio-pci"},
		"a container's two of eight GPUs": {"p5en", change{facts.PCISource: bus(nvidia8...), evidence.ListSource("/proc/driver/nvidia/gpus"): text("0000:60:00.0/\n0000:61:00.0/\n")},
			"gpu-driver", report.Pass, ""},
		"/proc shows processes alone":                 {"p5en", hidden, "nvidia-fs-loaded", report.Pass, facts.NVFSModule},
		"/proc shows processes alone, GPU driver":     {"p5en", hidden, "gpu-driver", report.Pass, ""},
		"opens fail for want of descriptors":          {"p5en", opens(state(evidence.Failed, "EMFILE", "too many open files")), "nvidia-fs-devices", report.Unknown, ""},
		"opens could not be tried":                    {"p5en", opens(state(evidence.Failed, "", "start a looking child: resource temporarily unavailable")), "nvidia-fs-devices", report.Unknown, ""},
		"opens refused by a cgroup":                   {"p5en", opens(state(evidence.Denied, "EPERM", "operation not permitted")), "nvidia-fs-devices", report.Fail, "device cgroup"},
		"opens refused although the mode is 0666":     {"p5en", opens(state(evidence.Denied, "EACCES", "permission denied")), "nvidia-fs-devices", report.Fail, "nodev"},
		"nodes without a driver":                      {"p5en", opens(state(evidence.Failed, "ENXIO", "no such device or address")), "nvidia-fs-devices", report.Fail, "no driver is behind"},
		"a plain file in a node's place":              {"p5en", change{evidence.StatSource("/dev/nvidia-fs3"): text("type=file mode=0000 uid=0 gid=0 size=0 mtime=0"), evidence.OpenSource("/dev/nvidia-fs3"): nil}, "nvidia-fs-devices", report.Fail, "nvidia-fs3 is a file"},
		"peer table of one GPU":                       {"p5en", change{facts.DmesgSource: nil, facts.JournalSource: nil, facts.NVFSProc + "/peer_distance": text("gpu peer class\n")}, "nvidia-fs-peer-table", report.Warn, "empty"},
		"an old load failed, the last one did not":    {"p5en,nvidia-fs-missing", change{facts.JournalSource: nil, facts.DmesgSource: text("[    0.0] Linux version 6\n[   20.0] nvidia_fs: Unknown symbol nvidia_p2p_get_pages (err -2)\n[   99.0] nvidia_fs: Initializing nvfs driver module\n[  500.0] nvidia_fs: driver unloaded successfully\n")}, "nvidia-fs-loaded", report.Fail, "not loaded"},
		"a listed user of the module is not its line": {"p5en,nvidia-fs-missing", change{modules: text("nvidia 1 1 nvidia_fs, Live 0x0 (OE)\nmy_nvidia_fs 1 0 - Live 0x0\n")}, "nvidia-fs-loaded", report.Fail, ""},
	} {
		t.Run(name, func(t *testing.T) {
			set := with(t, tc.spec, tc.c)
			fs := judge(t, set)
			if got := worst(fs, tc.check); got != tc.want || !holds(fs, tc.check, tc.words) {
				t.Errorf("%s, want %s with %q: %+v", got, tc.want, tc.words, of(fs, tc.check))
			}
			if why := checks.NotApplicable(facts.NewTable(set, rules(t))); why != "" {
				t.Errorf("not applicable: %s", why)
			}
		})
	}
}

func of(fs []check.Finding, id string) []check.Finding {
	return slices.DeleteFunc(slices.Clone(fs), func(f check.Finding) bool { return f.Check != id })
}

// TestEXAScaler: Lustre over another network than EFA has no rule of FSx.
func TestEXAScaler(t *testing.T) {
	lustre := saw(facts.MountinfoSource, []byte("41 29 0:61 / /ai rw - lustre 10.1.2.3@o2ib:/ai200 rw,flock\n"))
	set := &evidence.Set{Items: []evidence.Item{gpuBus, lustre, saw(facts.VendorSource, []byte("NVIDIA\n")), saw(facts.ProductSource, []byte("DGXH100\n")),
		saw("/proc/modules", []byte("nvidia_fs 1 0 - Live 0x0 (OE)\nlustre 1 0 - Live 0x0\nlnet 1 0 - Live 0x0\n")),
		saw(facts.NVFSProc+"/stats", []byte("NVFS statistics(ver: 4.0)\nNVFS Driver(version: 2.20.5)\nReads : err=0 io_state_err=0\n")),
		saw("gdscheck -p", []byte(" GDS release version: 1.11.1.6\n nvidia_fs version:  2.20 libcufile version: 2.12\n Platform: x86_64\n"))}}
	fs := judge(t, set)
	if got := worst(fs, "nvidia-fs-version"); got != report.Pass {
		t.Errorf("nvidia-fs-version: %s %+v", got, of(fs, "nvidia-fs-version"))
	}
	for _, f := range fs {
		if f.Step == 2 && strings.Contains(f.Check, "efa") && f.Status != report.Skip {
			t.Errorf("%s: %s %s", f.Check, f.Status, f.Summary)
		}
	}
}

// TestAskedForInPart: what waits for a check that was not asked for is not ready.
func TestAskedForInPart(t *testing.T) {
	fs := judge(t, look(t, "p5en,nvidia-fs-missing"))
	for _, id := range []string{"nvidia-fs-version", "nvidia-fs-devices"} {
		part := []*check.Check{check.ByID(id)}
		v := check.Verdict(part, check.Only(part, fs), "")
		if v.Outcome != report.UnknownResult || v.FirstAction.Check != "nvidia-fs-loaded" {
			t.Errorf("%s: %+v", id, v)
		}
	}
}
