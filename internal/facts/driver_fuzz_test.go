package facts

import (
	"os"
	"path/filepath"
	"testing"
)

// seed gives a fuzz test the real outputs whose names match, where they are at hand.
func seed(f *testing.F, patterns ...string) {
	f.Add([]byte(""))
	f.Add([]byte("\x00\xff\n"))
	dir := os.Getenv("GDSPROOF_CAPTURES")
	for _, p := range patterns {
		files, err := filepath.Glob(filepath.Join(dir, p))
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			if b, err := os.ReadFile(name); err == nil && dir != "" {
				f.Add(b)
			}
		}
	}
}

func FuzzModules(f *testing.F) {
	seed(f, "nvidia-fs-driver/*/proc-modules*", "nvidia-fs-driver/*/lsmod*")
	f.Fuzz(func(t *testing.T, b []byte) {
		mods, _, _ := ParseModules(b)
		for name, m := range mods {
			if name != m.Name || m.Refs.OK && m.Refs.V < -1 {
				t.Errorf("%q: %+v", name, m)
			}
		}
	})
}

func FuzzNVFSStats(f *testing.F) {
	f.Add([]byte(statsOn))
	seed(f, "nvidia-fs/*.stats", "nvidia-fs-driver/main/stats*")
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, r := range ParseNVFSStats(b).Rows {
			if len(r) == 0 {
				t.Error("an empty row counts as printed")
			}
		}
	})
}

func FuzzKernelLog(f *testing.F) {
	seed(f, "nvidia-fs-driver/*/dmesg*", "lustre/dmesg*")
	p := table().Profile
	f.Fuzz(func(t *testing.T, b []byte) {
		l := ParseKernelLog(b)
		if n := len(l.Hits(p.Signatures)); n > len(p.Signatures) {
			t.Errorf("%d kinds of hits of %d signatures", n, len(p.Signatures))
		}
	})
}

func FuzzNVFSFiles(f *testing.F) {
	seed(f, "nvidia-fs-driver/*/*peer_distance*", "nvidia-fs/other-proc/*", "nvidia-fs-driver/main/ls-dev*")
	f.Fuzz(func(t *testing.T, b []byte) {
		ParsePeerDistance(b)
		ParseRegistered(b)
		ParseNVFSProcVersion(b)
		ParseStat(b)
		for _, n := range ParseLsDevices(b) {
			if _, ok := nodeNumber(n.Path); !ok {
				t.Errorf("node %q", n.Path)
			}
		}
	})
}

func FuzzBus(f *testing.F) {
	f.Add([]byte("0000:53:00.0 DRIVER=nvidia PCI_CLASS=30200 PCI_ID=10DE:2335 NUMA_NODE=0\n"))
	f.Add([]byte("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n"))
	f.Add([]byte("29 1 259:2 / / rw,relatime shared:1 - ext4 /dev/root rw\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, d := range ParsePCIEvents(b) {
			if d.Address == "" {
				t.Error("a device without an address")
			}
		}
		ParseNVRM(b)
		ParseMountinfo(b)
	})
}
