package checks_test

import (
	"strings"
	"testing"

	"gdsproof/internal/check"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

// lookAt is a node with a mount more, and the question about it.
func lookAt(t *testing.T, spec, fs, mount string) *evidence.Set {
	t.Helper()
	set := look(t, spec)
	for i := range set.Items {
		switch it := &set.Items[i]; it.Source {
		case facts.OptionsSource:
			*it = facts.Options{FS: fs}.Item()
		case facts.MountinfoSource:
			if mount != "" {
				it.Out = append(it.Out, mount+"\n"...)
			}
		}
	}
	return set
}

// TestStorageFix: the first step is that of the storage in question, and what is known to hold is not asked again.
func TestStorageFix(t *testing.T) {
	for name, tc := range map[string]struct {
		mount string // of /data
		has   []string
		not   string
	}{
		"nvme":       {"500 29 259:3 / /data rw shared:300 - ext4 /dev/nvme1n1p1 rw", []string{"an nvme module with hooks", "modinfo -n nvme", "nvme_v[12]_register_nvfs_dma_ops"}, "--optimized-for-gds"},
		"raid":       {"500 29 9:0 / /data rw shared:300 - xfs /dev/md0 rw", []string{"an nvme module with hooks"}, "rdma_dev_addr_list"},
		"nfs on tcp": {"500 29 0:88 / /data rw shared:300 - nfs4 10.0.0.1:/x rw,vers=4.2,proto=tcp", []string{"/data is mounted without proto=rdma", "rpcrdma_register_nvfs_dma_ops"}, "lustre"},
		"nfs":        {"500 29 0:88 / /data rw shared:300 - nfs 10.0.0.1:/x rw,vers=3,proto=rdma,port=20049", []string{"modinfo -n rpcrdma"}, "without proto=rdma"},
		"wekafs":     {"500 29 0:88 / /data rw shared:300 - wekafs default rw", []string{"RDMA-capable cards", "nvidia_peermem", "rdma_dev_addr_list"}, "kallsyms"},
		"beegfs":     {"500 29 0:88 / /data rw shared:300 - beegfs beegfs_nodev rw", []string{"NVFS_INCLUDE_PATH", "beegfs_v1_register_nvfs_dma_ops"}, "lustre"},
		"gpfs":       {"500 29 0:88 / /data rw shared:300 - gpfs fs1 rw", []string{"verbsGPUDirectStorage", "ibm_scale_v1_register_nvfs_dma_ops"}, "lustre"},
		"scatefs":    {"500 29 0:88 / /data rw shared:300 - scatefs s rw", []string{"scatefs_register_nvfs_dma_ops"}, "lustre"},
	} {
		t.Run(name, func(t *testing.T) {
			fs := judge(t, lookAt(t, "p5en", "/data", tc.mount))
			if worst(fs, "platform-storage") != report.Fail {
				t.Fatalf("%+v", of(fs, "platform-storage"))
			}
			said := fixText(fs, "platform-storage")
			for _, want := range append(tc.has, "/usr/local/cuda/gds/tools/gdscheck -p") {
				if !strings.Contains(said, want) {
					t.Errorf("%q is not in:\n%s", want, said)
				}
			}
			if strings.Contains(said, tc.not) {
				t.Errorf("%q is in:\n%s", tc.not, said)
			}
		})
	}
}

// TestLustreFix: what holds is said, and what is not known is asked, in order.
func TestLustreFix(t *testing.T) {
	set := look(t, "p5en,gdscheck-compat-only")
	said := fixText(judge(t, set), "platform-storage")
	for _, want := range []string{"nvidia-fs is loaded, /fsx is mounted, the client is set up with --optimized-for-gds, lnet has registered with nvidia-fs: so libcufile does not see"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in:\n%s", want, said)
		}
	}
	if strings.Contains(said, "lsmod") || strings.Contains(said, "systemctl") {
		t.Errorf("what is known is asked again:\n%s", said)
	}
	for i := range set.Items {
		switch it := &set.Items[i]; it.Source {
		case "/proc/modules", facts.UnitSource(facts.ConfigureUnitName), evidence.HeldSource(facts.NVFSProc + "/modules"):
			it.State, it.Out = evidence.Denied, nil
		}
	}
	said = fixText(judge(t, set), "platform-storage")
	at := 0
	for _, want := range []string{"lsmod | grep nvidia_fs", "systemctl cat configure-efa-fsx-lustre-client.service | grep ExecStart", "lustre_v1_register_nvfs_dma_ops", "/usr/local/cuda/gds/tools/gdscheck -p"} {
		i := strings.Index(said[at:], want)
		if i < 0 {
			t.Fatalf("%q is not in, or not in its order:\n%s", want, said)
		}
		at += i
	}
	if !strings.Contains(said, "(/fsx is mounted)") {
		t.Error(said)
	}
}

// fixText is all that the fixes of a check say.
func fixText(fs []check.Finding, id string) string {
	said := ""
	for _, f := range of(fs, id) {
		for _, x := range f.Fix {
			said += x.Text + "\n" + strings.Join(x.Commands, "\n") + "\n"
		}
	}
	return said
}
