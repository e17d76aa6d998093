package facts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gdsproof/internal/evidence"
	"gdsproof/internal/profile"
)

func TestModules(t *testing.T) {
	for name, tc := range map[string]struct {
		text          string
		refs          Opt[int]
		listed        bool
		going, coming bool
		odd           int
	}{
		"live":            {"nvidia_fs 331776 0 - Live 0xffffffffc1a00000 (OE)\n", Some(0), true, false, false, 0},
		"dash in name":    {"nvidia-fs 331776 4 - Live 0xffffffffc1a00000 (OE)\n", Some(4), true, false, false, 0},
		"lsmod":           {"Module                  Size  Used by\nnvidia_fs             331776  2\n", Some(2), true, false, false, 0},
		"unloading":       {"nvidia_fs 331776 -1 - Unloading 0xffffffffc1a00000 (OE-)\n", Some(-1), true, true, false, 0},
		"lsmod unloading": {"nvidia_fs             331776  -1\n", Some(-1), true, true, false, 0},
		"flag alone":      {"nvidia_fs 331776 0 - Live 0x0000000000000000 (OE-)\n", Some(0), true, true, false, 0},
		"loading":         {"nvidia_fs 331776 0 - Loading 0xffffffffc1a00000 (OE+)\n", Some(0), true, false, true, 0},
		// A kernel built without module unloading prints no use count and no users.
		"no unloading in the kernel": {"nvidia_fs 1830912 - - Live 0xffffffffc080c000 (O)\n", Opt[int]{}, true, false, false, 0},
		"user only":                  {"nvidia 14393344 66 nvidia_fs,nvidia_uvm, Live 0xffffffffc0000000 (OE)\n", Opt[int]{}, false, false, false, 0},
		"cut in the use count":       {"nvidia_fs 331776 -", Opt[int]{}, false, false, false, 1},
		"cut in the size":            {"nvidia_fs 3317", Opt[int]{}, false, false, false, 1},
		"prompt and row":             {"$ lsmod | grep nvidia_fs\nnvidia_fs 331776 0\n", Some(0), true, false, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			mods, _, odd := ParseModules([]byte(tc.text))
			m, ok := Modules{ByName: mods}.Get("nvidia_fs")
			if ok != tc.listed || m.Refs != tc.refs || m.Going() != tc.going || m.Coming() != tc.coming || odd != tc.odd {
				t.Errorf("listed %v refs %v going %v coming %v odd %d, want %+v", ok, m.Refs, m.Going(), m.Coming(), odd, tc)
			}
		})
	}
}

func table(items ...evidence.Item) *Table {
	p, err := profile.Load(os.DevNull)
	if err != nil {
		panic(err)
	}
	for i := range items {
		items[i].Place = evidence.Host
		if items[i].Form == "" {
			items[i].Form = evidence.Whole
		}
		if items[i].State == "" {
			items[i].State = evidence.Present
		}
	}
	return NewTable(&evidence.Set{Items: items}, p)
}

func TestModulesCompleteness(t *testing.T) {
	for name, tc := range map[string]struct {
		item evidence.Item
		want bool
	}{
		"whole":              {evidence.Item{Source: "/proc/modules", Out: []byte("efa 1 0 - Live 0x0\n")}, true},
		"cut":                {evidence.Item{Source: "/proc/modules", Out: []byte("efa 1 0 - Live 0x0")}, false},
		"truncated":          {evidence.Item{Source: "/proc/modules", Truncated: true, Out: []byte("efa 1 0 - Live 0x0\n")}, false},
		"a row not read":     {evidence.Item{Source: "/proc/modules", Out: []byte("efa 1 0 - Live 0x0\nnvidia_fs ? 0 - Live 0x0\n")}, false},
		"lsmod with header":  {evidence.Item{Source: "lsmod", Out: []byte("Module Size Used by\nefa 1 0\n")}, true},
		"lsmod, grepped":     {evidence.Item{Source: "lsmod", Out: []byte("efa 1 0\n")}, false},
		"filtered by a keep": {evidence.Item{Source: "lsmod", Form: evidence.Filtered, Out: []byte("Module Size Used by\nefa 1 0\n")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := Get(table(tc.item), evidence.Host, KernelModules)
			if !k.OK || k.V.Complete != tc.want {
				t.Errorf("known %v, complete %v, want %v", k.OK, k.V.Complete, tc.want)
			}
		})
	}
}

const statsOn = "GDS Version: 1.16.1.5 \nNVFS statistics(ver: 4.0)\nNVFS Driver(version: 2.27.9)\nMellanox PeerDirect Supported: True\n" +
	"IO stats: Enabled, peer IO stats: Disabled\nLogging level: warn\n\nActive Shadow-Buffer (MiB): 12\nActive Process: 3\n" +
	"Batches\t\t\t\t: n=4 ok=4 err=0 Avg-Submit-Latency(usec)=11\nReads\t\t\t\t: n=901 ok=900 err=1 readMiB=899 io_state_err=2\n" +
	"Reads\t\t\t\t: Bandwidth(MiB/s)=771 Avg-Latency(usec)=42\nSparse Reads\t\t        : n=17 io=1 holes=2 pages=300 \n" +
	"Writes\t\t\t\t: n=33 ok=33 err=0 writeMiB=33 io_state_err=0 pg-cache=5 pg-cache-fail=0 pg-cache-eio=0\n" +
	"Writes\t\t\t\t: Bandwidth(MiB/s)=88 Avg-Latency(usec)=99\nMmap\t\t\t\t: n=8 ok=7 err=1 munmap=6\n" +
	"Bar1-map\t\t\t: n=7 ok=7 err=0 free=6 callbacks=0 active=1 delay-frees=0\nError\t\t\t\t: cpu-gpu-pages=0 sg-ext=0 dma-map=3 dma-ref=4294967294\n" +
	"Ops\t\t\t\t: Read=1 Write=0 BatchIO=0\nGPU 0000:1b:00.0  uuid:0badc0de-1111-2222-3333-444455556666 : Registered_MiB=3 Cache_MiB=16 max_pinned_MiB=9 \n"

func TestNVFSStats(t *testing.T) {
	s := ParseNVFSStats([]byte(statsOn))
	want := NVFSStats{GDSVersion: "1.16.1.5", Format: "4.0", Driver: "2.27.9", PeerDirect: Some(true), IOStats: Some(true), PeerStats: Some(false), Logging: "warn",
		Rows: map[string]map[string]uint64{
			RowShadow: {"": 12}, RowProcess: {"": 3}, RowBatches: {"n": 4, "ok": 4, "err": 0, "Avg-Submit-Latency(usec)": 11},
			RowReads:  {"n": 901, "ok": 900, "err": 1, "readMiB": 899, "io_state_err": 2, "Bandwidth(MiB/s)": 771, "Avg-Latency(usec)": 42},
			RowSparse: {"n": 17, "io": 1, "holes": 2, "pages": 300},
			RowWrites: {"n": 33, "ok": 33, "err": 0, "writeMiB": 33, "io_state_err": 0, "pg-cache": 5, "pg-cache-fail": 0, "pg-cache-eio": 0, "Bandwidth(MiB/s)": 88, "Avg-Latency(usec)": 99},
			RowMmap:   {"n": 8, "ok": 7, "err": 1, "munmap": 6}, RowBar1: {"n": 7, "ok": 7, "err": 0, "free": 6, "callbacks": 0, "active": 1, "delay-frees": 0},
			RowError: {"cpu-gpu-pages": 0, "sg-ext": 0, "dma-map": 3, "dma-ref": 4294967294}, RowOps: {"Read": 1, "Write": 0, "BatchIO": 0},
		},
		GPUs: []NVFSGPU{{PCI: "0000:1b:00.0", UUID: "0badc0de-1111-2222-3333-444455556666", Values: map[string]uint64{"Registered_MiB": 3, "Cache_MiB": 16, "max_pinned_MiB": 9}}},
	}
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
	// Squeezed blanks, CRLF and wrapped lines tell the same.
	odd := strings.NewReplacer("\t\t\t\t: ", ": ", "\t", " ", " callbacks=", "\r\n   callbacks=", "\n", "\r\n").Replace(statsOn)
	if d := cmp.Diff(want, ParseNVFSStats([]byte(odd))); d != "" {
		t.Error("as pasted:", d)
	}
}

func TestNVFSStatsOldForms(t *testing.T) {
	s := ParseNVFSStats([]byte("GDS Version: 0.9.1.5 \nNVFS statistics(ver: 2.0)\nNVFS Driver(version: 2:4:3)\n\nActive Shadow-Buffer (MB): 4\nActive Process: 1\nReads\t: n=5 ok=5 err=0 readMiB=5 io_state_err=0\nError\t: cpu-gpu-pages=0 sg-ext=0 dma-map=0\n"))
	if s.Driver != "2.4.3" || s.IOStats.OK || s.Counter(RowShadow, "") != Some(uint64(4)) || s.Counter(RowError, "dma-ref").OK || s.Counter(RowReads, "n") != Some(uint64(5)) {
		t.Errorf("%+v", s)
	}
}

// TestCapturedStats: every line of every statistics file that the real driver printed is understood, and no cut
// invents a value.
func TestCapturedStats(t *testing.T) {
	n := 0
	for _, sub := range []string{"nvidia-fs", "nvidia-fs-driver"} {
		for name, b := range capturedFiles(t, sub) {
			base := filepath.Base(name)
			if !strings.HasPrefix(base, "stats") && !strings.HasSuffix(base, ".stats") {
				continue
			}
			n++
			s := ParseNVFSStats(b)
			words := 0
			for _, r := range s.Rows {
				words += len(r)
			}
			for _, g := range s.GPUs {
				words += len(g.Values)
			}
			wantWords := 0
			for line := range strings.Lines(string(b)) {
				wantWords += strings.Count(line, "=")
				if strings.HasPrefix(line, "Active ") {
					wantWords++
				}
			}
			if s.Driver == "" || s.GDSVersion == "" || s.Cut || words != wantWords {
				t.Errorf("%s: driver %q GDS %q, %d values of %d", name, s.Driver, s.GDSVersion, words, wantWords)
			}
			for i := range b {
				sameOrAbsent(t, name, s, ParseNVFSStats(b[:i]))
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d statistics files found", n)
	}
}

func sameOrAbsent(t *testing.T, name string, whole, cut NVFSStats) {
	t.Helper()
	if cut.Driver != "" && cut.Driver != whole.Driver {
		t.Errorf("%s: a cut makes driver %q of %q", name, cut.Driver, whole.Driver)
	}
	for row, m := range cut.Rows {
		for k, v := range m {
			if w, ok := whole.Rows[row][k]; !ok || w != v {
				t.Errorf("%s: a cut makes %s %s=%d of %d", name, row, k, v, w)
			}
		}
	}
}

func TestCapturedModules(t *testing.T) {
	for name, b := range capturedFiles(t, "nvidia-fs-driver") {
		base := filepath.Base(name)
		if !strings.HasPrefix(base, "lsmod") && !strings.HasPrefix(base, "proc-modules") {
			continue
		}
		mods, _, odd := ParseModules(b)
		if odd != 0 {
			t.Errorf("%s: %d lines not understood", name, odd)
		}
		m, listed := mods["nvidia_fs"]
		stuck := strings.Contains(base, "rmmod-hang")
		absent := strings.HasPrefix(name, "load-")
		if listed == absent || m.Going() != stuck {
			t.Errorf("%s: listed %v going %v", name, listed, m.Going())
		}
	}
}

func TestCapturedProcFiles(t *testing.T) {
	seen := map[string]int{}
	for name, b := range capturedFiles(t, "nvidia-fs-driver") {
		base, _, _ := strings.Cut(filepath.Base(name), ".")
		switch base {
		case "peer_distance":
			rows := ParsePeerDistance(b)
			lines := strings.Count(string(b), "\n") - 1
			if len(rows) != lines || lines < 5 {
				t.Errorf("%s: %d rows of %d lines", name, len(rows), lines)
			}
			for _, r := range rows {
				if r.Class != "network" && r.Class != "nvme" && r.Class != "x" {
					t.Errorf("%s: class %q", name, r.Class)
				}
			}
			seen[base]++
		case "modules":
			names := ParseRegistered(b)
			if len(names) != strings.Count(string(b), ":") || len(names) == 0 {
				t.Errorf("%s: %v", name, names)
			}
			if strings.HasSuffix(name, "lnet-open") && !(Registered{Names: names}).Has("lnet") {
				t.Errorf("%s: no lnet in %v", name, names)
			}
			seen[base]++
		case "ls-dev":
			nodes := ParseLsDevices(b)
			if want := strings.Count(string(b), "\n"); len(nodes) != want || nodes[0].Path != "/dev/nvidia-fs0" || nodes[want-1].Type != "char" {
				t.Errorf("%s: %d nodes of %d", name, len(nodes), want)
			}
			seen[base]++
		case "version":
			if v, ok := ParseNVFSProcVersion(b); ok && v != "2.28" {
				t.Errorf("%s: %q", name, v)
			}
		case "dmesg":
			log := ParseKernelLog(b)
			for _, l := range log.Lines {
				if !l.Uptime.OK || l.Text == "" {
					t.Errorf("%s: a line without a stamp or a text: %+v", name, l)
				}
			}
			seen[base]++
		}
	}
	for _, k := range []string{"peer_distance", "modules", "ls-dev", "dmesg"} {
		if seen[k] == 0 {
			t.Errorf("no capture of %s", k)
		}
	}
}

func TestKernelLogStamps(t *testing.T) {
	const text = "nvidia-fs:read IO failed :-5"
	for name, line := range map[string]string{
		"uptime":          "[  938.512345] " + text,
		"uptime, level":   "kern  :err   : [  938.512345] " + text,
		"priority":        "<3>[  938.512345] " + text,
		"human":           "[Jan18 08:23] " + text,
		"human delta":     "[  +0.000031] " + text,
		"ctime":           "[Sat Sep  9 11:22:33 2023] " + text,
		"journal":         "Nov 30 11:04:05 node7 kernel: " + text,
		"short-monotonic": "[  938.512345] node7 kernel: " + text,
		"iso":             "2026-11-30T11:04:05,123456+00:00 " + text,
		"journal iso":     "2026-11-30T11:04:05+0000 node7 kernel: " + text,
		"bare":            text,
	} {
		t.Run(name, func(t *testing.T) {
			l := ParseKernelLog([]byte(line + "\n"))
			if len(l.Lines) != 1 || l.Lines[0].Text != text {
				t.Errorf("%+v", l.Lines)
			}
		})
	}
	l := ParseKernelLog([]byte("[ 1.000000] Error ret -12 invoking nvidia_p2p_get_pages\n                va_start=0x7000\n[ 2.000000] next\n"))
	if len(l.Lines) != 2 || !strings.HasSuffix(l.Lines[0].Text, "va_start=0x7000") {
		t.Errorf("a line without a stamp does not go on with the one before: %+v", l.Lines)
	}
}

func TestLostConnection(t *testing.T) {
	const (
		lost     = "[ 1.0] Lustre: qq-OST0005-osc-ffff8881: Connection to qq-OST0005 (at 10.7.1.4@tcp) was lost; in progress operations using this service will wait for recovery to complete\n"
		restored = "[ 2.0] Lustre: qq-OST0005-osc-ffff8881: Connection restored to 10.7.1.4@tcp (at 10.7.1.4@tcp)\n"
		other    = "[ 3.0] Lustre: qq-OST0006-osc-ffff8881: Connection restored to 10.7.1.4@tcp (at 10.7.1.4@tcp)\n"
	)
	for text, want := range map[string]bool{"": false, lost: true, lost + restored: false, restored + lost: true, lost + restored + lost: true, lost + other: true, restored: false} {
		if _, got := ParseKernelLog([]byte(text)).LostConnection(); got != want {
			t.Errorf("%q: lost %v, want %v", text, got, want)
		}
	}
}

func TestQuestionOfAutomount(t *testing.T) {
	auto := evidence.Item{Source: MountinfoSource, Out: []byte("30 1 8:1 / / rw - ext4 /dev/sda1 rw\n40 30 0:40 / /fsx rw - autofs systemd-1 rw\n")}
	mods := evidence.Item{Source: "/proc/modules", Out: []byte("ext4 1 1 - Live 0x0\n")}
	asked := Options{FS: "/fsx"}.Item()
	fstab := evidence.Item{Source: "/etc/fstab", Out: []byte("fs-1.example@tcp:/x /fsx lustre _netdev 0 0\n")}
	for name, tc := range map[string]struct {
		items []evidence.Item
		want  Answer
	}{
		"fstab tells":     {[]evidence.Item{asked, auto, mods, fstab}, Yes},
		"nothing tells":   {[]evidence.Item{asked, auto, mods}, CannotTell},
		"mounted over it": {[]evidence.Item{asked, {Source: MountinfoSource, Out: append(append([]byte(nil), auto.Out...), "41 40 0:41 / /fsx rw - nfs4 host:/x rw\n"...)}}, No},
		"cut":             {[]evidence.Item{asked, mods, {Source: MountinfoSource, Truncated: true, Out: []byte("30 1 8:1 / / rw - ext4 /dev/sda1 rw\n40 30 0:40 / /fsx rw - xfs /dev/sdb rw\n")}}, CannotTell},
	} {
		if got := Get(table(tc.items...), evidence.Host, Question).V.Is; got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
