package checks_test

import (
	"strings"
	"testing"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

// platformChecks are those that the platform report alone can answer.
var platformChecks = []string{"nvidia-fs-loaded", "platform-nvidia-fs", "platform-storage", "platform-gpus", "platform-iommu", "platform-verification", "platform-acs",
	"platform-bar", "platform-ignored", "cufile-config"}

// TestCapturedReports judges public reports of every release, whole and in part, alone: what a part does not show is
// unknown, and never red. The statuses are in the order of platformChecks: p(ass), w(arn), f(ail), ? (unknown), b (unknown,
// waits for a cause), s(kip).
func TestCapturedReports(t *testing.T) {
	for name, tc := range map[string]struct{ want, check, words string }{
		"onizuka-2021-p400-beta0.9.1.txt":                                  {"pppppppwpp", "platform-bar", "256 MiB"},
		"pgstrom-2021-2xa100-beta0.95.1.txt":                               {"pppppppppp", "platform-ignored", "MOFED peer direct : disabled | normal"},
		"onizuka-2021-p1000-v1.0.0.txt":                                    {"pppppppwpp", "platform-storage", "NVMe : Supported"},
		"pgstrom-2021-2xa100-v1.0.0-nvmeof.txt":                            {"pppppppppp", "platform-storage", "NVMeOF : Supported"},
		"springdale-2021-dgx2-v1.0.0.71-readme-sample-lines.txt":           {"????p?????", "platform-iommu", "disabled"},
		"onizuka-2021-p400-v1.1.0-vm.txt":                                  {"pppppppwpp", "platform-bar", "256 MiB"},
		"gdsnvidiafs4-2021-allunsupported-v1.1-list-only.txt":              {"????????p?", "platform-storage", "not seen to their end"},
		"dali4009-2022-p100-no-header-allunsupported.txt":                  {"??f?????p?", "platform-storage", "Unsupported"},
		"kvikio152-2023-dgx2-v1.5.0-nvme-ok-head-only.txt":                 {"ppp?????p?", "platform-storage", "NVMe : Supported"},
		"gdsnvidiafs18-2023-v1.6.1-version-lines-only.txt":                 {"pp????????", "nvidia-fs-loaded", "2.15"},
		"gdsnvidiafs31-2023-rocky86-v1.7.1-compat-off-allunsupported.txt":  {"ppf?????p?", "platform-storage", "NVMe : Unsupported"},
		"pgstrom-2024-a100-nvmeof-nfs.txt":                                 {"pppppppppp", "platform-storage", "NFS : Supported"},
		"tinygrad51-2026-rtx4090-v1.13.1-nvme-not-registered.txt":          {"pp??????p?", "platform-storage", "not seen to their end"},
		"blog-2026-8xh100-nfsordma.txt":                                    {"pppppppppw", "cufile-config", "no cufile.json is read"},
		"gdsnvidiafs74-2026-8gpu-nfs-userspace-rdma-up8-v1.13.0.txt":       {"ppp?????p?", "platform-storage", "NFS : Supported"},
		"delta-2026-a100-v1.13.1-nvidia-fs-not-loaded-compat-off-FAIL.txt": {"bbbbbb?bb?", "gpu-driver", "proprietary"},
		"lab-2025-2xrtx6000ada-threadripper-compat-off.txt":                {"pppppppppp", "cufile-config", "compat mode is not allowed"},
		"lab-2025-stelline-host-deps-v1.14-head-only.txt":                  {"ppp?????p?", "platform-storage", "NVMe : Supported"},
		"qemu-2025-l40s-p2pdma-no-nvidia-fs.txt":                           {"sspppppppp", "nvidia-fs-loaded", "reached by PCI P2PDMA (NVMe P2PDMA : Supported)"},
		"inhouse-2026-h200-v1.15.1-from-cufile-log-no-nvidia-fs.txt":       {"fbbppppppp", "nvidia-fs-loaded", "no nvidia_fs version"},
		"nvidiadoc-2025-v1.16-l4-sample.txt":                               {"pppppppppp", "platform-storage", "FSx Lustre : Supported"},
		"gdsnvidiafs77-2026-v1.16.1-env-section-compat-off.txt":            {"ppf?????p?", "platform-storage", "NVMe : Unsupported"},
	} {
		t.Run(name, func(t *testing.T) {
			captured(t, saw("gdscheck -p", capture(t, "gdscheck/"+name)), tc.want, tc.check, tc.words)
		})
	}
}

// TestCapturedLogs judges libcufile's own log: at level INFO it has the report, at ERROR it has not.
func TestCapturedLogs(t *testing.T) {
	for name, want := range map[string]string{
		"cufile-compat-tmpfs.log":  "fbbppppppp",
		"cufile-compat-trace.log":  "fbbppppppp",
		"cufile-no-udev.log":       "??????????",
		"cufile-nocompat-ext4.log": "??????????",
		"cufile-udev-default.log":  "??????????",
	} {
		t.Run(name, func(t *testing.T) {
			captured(t, saw(facts.CufileLogSource, capture(t, "cufile-log/"+name)), want, "", "")
		})
	}
}

func captured(t *testing.T, it evidence.Item, want, id, words string) {
	fs := judge(t, &evidence.Set{Kind: evidence.Pasted, Items: []evidence.Item{gpuBus, it}})
	short := map[report.Status]string{report.Pass: "p", report.Warn: "w", report.Fail: "f", report.Unknown: "?", report.Skip: "s"}
	var got strings.Builder
	for _, c := range platformChecks {
		s := short[worst(fs, c)]
		for _, f := range fs {
			if f.Check == c && f.BlockedBy != "" {
				s = "b"
			}
		}
		got.WriteString(s)
	}
	if got.String() != want {
		t.Errorf("%s, want %s", got.String(), want)
		for _, f := range fs {
			if strings.HasPrefix(f.Check, "platform") || f.Check == "cufile-config" || f.Check == "nvidia-fs-loaded" {
				t.Logf("%s: %s %s", f.Check, f.Status, f.Summary)
			}
		}
	}
	if id != "" && !holds(fs, id, words) {
		t.Errorf("%s says nothing of %q: %+v", id, words, fs)
	}
}
