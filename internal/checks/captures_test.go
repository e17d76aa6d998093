package checks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gdsproof/internal/check"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

func capture(t *testing.T, name string) []byte {
	t.Helper()
	dir := os.Getenv("GDSPROOF_CAPTURES")
	if dir == "" {
		t.Skip("GDSPROOF_CAPTURES is not set: the real outputs are not here")
	}
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// gpuBus is a bus with one GPU, since the captures come from a machine with stand-ins for it.
var gpuBus = evidence.Item{Source: facts.PCISource, State: evidence.Present, Form: evidence.Whole, Place: evidence.Host,
	Out: []byte("0000:03:00.0 DRIVER=nvidia PCI_CLASS=30200 PCI_ID=10DE:2335 NUMA_NODE=0\n")}

func saw(source string, out []byte) evidence.Item {
	return evidence.Item{Source: source, State: evidence.Present, Form: evidence.Whole, Place: evidence.Host, Out: out}
}

func notThere(source string) evidence.Item {
	return evidence.Item{Source: source, State: evidence.Absent, Errno: "ENOENT", Form: evidence.Whole, Place: evidence.Host}
}

// TestCapturedDriver judges what the real nvidia-fs 2.28.4 printed in each state, as far as it is shown.
func TestCapturedDriver(t *testing.T) {
	const dir = "nvidia-fs-driver/"
	file := func(source, name string) func(*testing.T) evidence.Item {
		return func(t *testing.T) evidence.Item { return saw(source, capture(t, dir+name)) }
	}
	item := func(it evidence.Item) func(*testing.T) evidence.Item {
		return func(*testing.T) evidence.Item { return it }
	}
	stats := func(name string) func(*testing.T) evidence.Item { return file(facts.NVFSProc+"/stats", name) }
	noProc := item(notThere(facts.NVFSProc + "/version"))
	lustre := item(saw(facts.MountinfoSource, []byte("41 29 0:61 / /fsx rw - lustre 10.1.2.3@tcp:/abcdefgh rw,flock\n")))
	for name, tc := range map[string]struct {
		items []func(*testing.T) evidence.Item
		check string
		want  report.Status
		words string // in the summary or the evidence
	}{
		"no nvidia": {[]func(*testing.T) evidence.Item{noProc, file("dmesg", "load-no-nvidia/dmesg.no-nvidia")}, "nvidia-fs-loaded", report.Fail, "too old to export"},
		// The driver is the cause, and is to be mended first.
		"proprietary nvidia": {[]func(*testing.T) evidence.Item{file("/proc/modules", "load-proprietary-nvidia/proc-modules"), noProc, file("dmesg", "load-proprietary-nvidia/dmesg.proprietary")},
			"nvidia-fs-loaded", report.Unknown, "open flavour"},
		"proprietary nvidia, its own check": {[]func(*testing.T) evidence.Item{file("/proc/modules", "load-proprietary-nvidia/proc-modules")}, "gpu-driver", report.Fail, "(POE)"},
		"another build of nvidia":           {[]func(*testing.T) evidence.Item{noProc, file("dmesg", "load-other-nvidia-build/dmesg.crc-mismatch")}, "nvidia-fs-loaded", report.Fail, "built against another NVIDIA driver"},
		"no symbol versions": {[]func(*testing.T) evidence.Item{file("lsmod", "load-no-symbol-version/lsmod.no-symbol-version"), file("dmesg", "load-no-symbol-version/dmesg.no-symbol-version")},
			"nvidia-fs-loaded", report.Fail, "rebuild nvidia-fs"},

		"idle: loaded":   {[]func(*testing.T) evidence.Item{file("/proc/modules", "main/proc-modules.idle")}, "nvidia-fs-loaded", report.Pass, "use count 0"},
		"lsmod: loaded":  {[]func(*testing.T) evidence.Item{file("lsmod", "main/lsmod.idle")}, "nvidia-fs-loaded", report.Pass, ""},
		"not root":       {[]func(*testing.T) evidence.Item{file("/proc/modules", "main/proc-modules.non-root")}, "nvidia-fs-loaded", report.Pass, ""},
		"in use":         {[]func(*testing.T) evidence.Item{file("/proc/modules", "main/proc-modules.open16")}, "nvidia-fs-loaded", report.Pass, "use count 32"},
		"stats alone":    {[]func(*testing.T) evidence.Item{stats("main/stats.as-user")}, "nvidia-fs-loaded", report.Pass, ""},
		"version":        {[]func(*testing.T) evidence.Item{stats("main/idle/stats"), lustre}, "nvidia-fs-version", report.Pass, "2.28.4"},
		"version, short": {[]func(*testing.T) evidence.Item{file(facts.NVFSProc+"/version", "main/idle/version"), lustre}, "nvidia-fs-version", report.Pass, "2.28"},
		"nodes, nobody opened them": {[]func(*testing.T) evidence.Item{stats("main/idle/stats"), file("ls -l /dev/nvidia-fs*", "main/ls-dev")},
			"nvidia-fs-devices", report.Unknown, "nobody tried"},

		"half unloaded":           {[]func(*testing.T) evidence.Item{file("/proc/modules", "bad-page-table-version/proc-modules.rmmod-hang")}, "nvidia-fs-loaded", report.Fail, "half unloaded"},
		"half unloaded, by lsmod": {[]func(*testing.T) evidence.Item{file("lsmod", "bad-page-table-version/lsmod.rmmod-hang")}, "nvidia-fs-loaded", report.Fail, "half unloaded"},
		"after the BUG, still listed": {[]func(*testing.T) evidence.Item{file("/proc/modules", "bad-page-table-version/proc-modules.badver"), file("dmesg", "bad-page-table-version/dmesg.badver")},
			"nvidia-fs-loaded", report.Warn, "kernel BUG"},
		"the same, without its log": {[]func(*testing.T) evidence.Item{file("/proc/modules", "bad-page-table-version/proc-modules.badver")}, "nvidia-fs-loaded", report.Pass, ""},

		"no errors":                {[]func(*testing.T) evidence.Item{stats("main/idle/stats")}, "nvidia-fs-errors", report.Pass, "the default"},
		"no errors, IO stats on":   {[]func(*testing.T) evidence.Item{stats("main/hook-on/stats")}, "nvidia-fs-errors", report.Pass, ""},
		"read fails in storage":    {[]func(*testing.T) evidence.Item{stats("main/stats.read-eio")}, "nvidia-fs-errors", report.Warn, "Reads: io_state_err=1"},
		"write fails in storage":   {[]func(*testing.T) evidence.Item{stats("main/stats.write-eio")}, "nvidia-fs-errors", report.Warn, "Writes: io_state_err=1"},
		"mapping in fragments":     {[]func(*testing.T) evidence.Item{stats("main/stats.dma-frag")}, "nvidia-fs-errors", report.Warn, "IOMMU"},
		"unmapped twice":           {[]func(*testing.T) evidence.Item{stats("main/stats.double-unmap")}, "nvidia-fs-errors", report.Warn, "256 times"},
		"registrations that fail":  {[]func(*testing.T) evidence.Item{stats("main/stats.after-failures")}, "nvidia-fs-errors", report.Warn, "Bar1-map: err=2"},
		"refused reads":            {[]func(*testing.T) evidence.Item{stats("main/stats.read-refused")}, "nvidia-fs-errors", report.Warn, "Reads: err=3"},
		"table size, built for 64": {[]func(*testing.T) evidence.Item{stats("main/idle/stats"), file("dmesg", "main/dmesg.load-ok")}, "nvidia-fs-peer-table", report.Pass, "built for 64"},
		"one setting is ignored": {[]func(*testing.T) evidence.Item{stats("main/idle/stats"), file("dmesg", "main/dmesg.load-only-peer-devs-set"), item(saw(facts.ProductSource, []byte("p5en.48xlarge\n")))},
			"nvidia-fs-peer-table", report.Warn, "AWS asks for 128"},
		"built for 128": {[]func(*testing.T) evidence.Item{stats("main/idle/stats"), file("dmesg", "main/dmesg.load-128")}, "nvidia-fs-peer-table", report.Pass, "built for 128"},

		"lnet registered":          {[]func(*testing.T) evidence.Item{stats("main/open1/stats"), lustre, file(facts.NVFSProc+"/modules", "main/modules.lnet-open")}, "nvidia-fs-registered-storage", report.Pass, ""},
		"nobody has it open":       {[]func(*testing.T) evidence.Item{stats("main/idle/stats"), lustre, file(facts.NVFSProc+"/modules", "main/modules.lnet-loaded-nobody-open")}, "nvidia-fs-registered-storage", report.Unknown, "while nobody"},
		"registration was refused": {[]func(*testing.T) evidence.Item{stats("main/open1/stats"), lustre, file(evidence.HeldSource(facts.NVFSProc+"/modules"), "main/modules.refused"), file("dmesg", "main/dmesg.refused")}, "nvidia-fs-registered-storage", report.Fail, "refused nvidia-fs"},
	} {
		t.Run(name, func(t *testing.T) {
			set := &evidence.Set{Kind: evidence.Pasted, Items: []evidence.Item{gpuBus}}
			for _, f := range tc.items {
				set.Items = append(set.Items, f(t))
			}
			fs := judge(t, set)
			if got := worst(fs, tc.check); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
			if !holds(fs, tc.check, tc.words) {
				t.Errorf("nothing says %q: %+v", tc.words, fs)
			}
		})
	}
}

func holds(fs []check.Finding, id, words string) bool {
	for _, f := range fs {
		if f.Check != id {
			continue
		}
		all := f.Summary
		for _, e := range f.Evidence {
			all += "\n" + e.Text
		}
		if strings.Contains(all, words) {
			return true
		}
	}
	return false
}

// TestCapturedStatsVersions judges the statistics of other driver versions, re-created from their formats.
func TestCapturedStatsVersions(t *testing.T) {
	lustre := saw(facts.MountinfoSource, []byte("41 29 0:61 / /fsx rw - lustre 10.1.2.3@tcp:/abcdefgh rw,flock\n"))
	for name, want := range map[string]map[string]report.Status{
		"01-idle-fresh-v2.28.4.stats":                                  {"nvidia-fs-version": report.Pass, "nvidia-fs-errors": report.Pass},
		"02-after-gdsio-iostats-off-sparse-looking-file-v2.28.4.stats": {"nvidia-fs-version": report.Pass, "nvidia-fs-errors": report.Pass},
		"06-errors-iostats-off-v2.28.4.stats":                          {"nvidia-fs-version": report.Pass, "nvidia-fs-errors": report.Warn},
		"07-eight-gpus-active-during-io-v2.28.4.stats":                 {"nvidia-fs-version": report.Pass, "nvidia-fs-errors": report.Pass},
		"09-old-format-v2.7.49-iostats-off.stats":                      {"nvidia-fs-version": report.Fail, "nvidia-fs-errors": report.Pass},
		"10-old-format-v2.3.18-colon-separator.stats":                  {"nvidia-fs-version": report.Fail, "nvidia-fs-errors": report.Pass},
		"11-old-format-v2.12.4-iostats-on-batches.stats":               {"nvidia-fs-version": report.Fail, "nvidia-fs-errors": report.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			set := &evidence.Set{Items: []evidence.Item{gpuBus, lustre, saw(facts.VendorSource, []byte("Amazon EC2\n")), saw(facts.ProductSource, []byte("p5en.48xlarge\n")),
				saw(facts.NVFSProc+"/stats", capture(t, "nvidia-fs/"+name))}}
			fs := judge(t, set)
			for id, w := range want {
				if got := worst(fs, id); got != w {
					t.Errorf("%s: %s, want %s", id, got, w)
				}
			}
		})
	}
}
