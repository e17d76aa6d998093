package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"gdsproof/internal/check"
	_ "gdsproof/internal/checks"
	"gdsproof/internal/explain"
	"gdsproof/internal/facts"
	"gdsproof/internal/profile"
)

func base(t testing.TB) *explain.Base {
	t.Helper()
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	b, err := explain.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// answered fails unless a word leads to a row of the kind.
func answered(t *testing.T, b *explain.Base, kind string, words ...string) {
	t.Helper()
next:
	for _, w := range words {
		a := b.Lookup(w)
		for _, e := range a.Entries {
			if e.Kind == kind {
				continue next
			}
		}
		t.Errorf("%s: no %s", w, kind)
	}
}

func TestEveryErrorNumber(t *testing.T) {
	b := base(t)
	for n := 5001; n <= 5050; n++ {
		for _, form := range []string{"%d", "-%d", "errno %d", "error: %d", "Unknown error %d", "cuFile driver open error: %d"} {
			a := b.Lookup(fmt.Sprintf(form, n))
			if len(a.Entries) == 0 {
				t.Errorf(form+": not known", n)
				continue
			}
			unassigned := strings.Contains(a.Entries[0].Meaning, "not assigned")
			if strings.HasPrefix(form, "%d") && unassigned != (n == 5021 || n == 5032) {
				t.Errorf("%d: %s", n, a.Entries[0].Meaning)
			}
		}
	}
	answered(t, b, profile.KindReturn, "-22", "22", "EINVAL", "errno 22", "-1", "-5", "-512", "errno 50xx")
	for _, w := range []string{"5051", "5000", "9999", "-7777"} {
		if a := b.Lookup(w); a.Known() {
			t.Errorf("%s is no error number and was explained: %+v", w, a.Entries)
		}
	}
}

func TestEveryKey(t *testing.T) {
	b := base(t)
	for _, k := range facts.CufileKeys {
		answered(t, b, profile.KindKey, k.Name, k.Name[strings.LastIndexByte(k.Name, '.')+1:])
		if k.Shown != "" {
			answered(t, b, profile.KindKey, k.Shown)
		}
		if k.Env != "" {
			answered(t, b, profile.KindVariable, k.Env)
		}
		a := b.Lookup(k.Name)
		if m, ok := explain.Measured(a.Entries[0]); !ok || m.Name != k.Name {
			t.Errorf("%s: what was measured of it is not found", k.Name)
		}
	}
	// Keys of other releases, as gdscheck prints them.
	answered(t, b, profile.KindKey, "fs.gpfs.use_pci_p2pdma", "block.nvme.use_pci_p2pdma", "properties.vanilla_posix_io_mode", "blacklist.mounts",
		"sparse.p2p_compat_enable", "properties.gpu_bounce_buffer_slab_size_kb", "miscellaneous.static_routing_filepath", "properties.rdma_unhealthy_threshold")
	answered(t, b, profile.KindVariable, "CUFILE_ENV_PATH_JSON", "CUFILE_LOGFILE_PATH", "CUFILE_RDMA_SR_MAX_SGE", "KVIKIO_COMPAT_MODE")
}

func TestEveryCounter(t *testing.T) {
	b := base(t)
	rows := map[string][]string{
		facts.RowShadow: nil, facts.RowProcess: nil, facts.RowOps: {"Read", "Write", "BatchIO"}, facts.RowBatches: nil,
		facts.RowReads: {"n", "ok", "err", "io_state_err"}, facts.RowWrites: {"n", "ok", "err", "io_state_err"},
		facts.RowSparse: {"n", "io", "holes", "pages"}, facts.RowMmap: {"n", "ok"}, facts.RowBar1: {"n", "ok", "err", "free", "callbacks", "active"},
		facts.RowError: nil,
	}
	for row, keys := range rows {
		answered(t, b, profile.KindCounter, row)
		for _, k := range keys {
			answered(t, b, profile.KindCounter, row+" "+k)
		}
	}
	answered(t, b, profile.KindCounter, strings.Fields(`readMiB writeMiB pg-cache pg-cache-fail pg-cache-eio munmap free callbacks active delay-frees
		cpu-gpu-pages sg-ext dma-map dma-ref Registered_MiB Cache_MiB max_pinned_MiB cross_root_port(%) np2p p2pdist peerrank devcount bridges modules
		rw_stats_enabled peer_stats_enabled max_devices dbg_enabled info_enabled use_legacy_p2p_allocation NVFS_MAX_PEER_DEVS
		tx_bytes tx_pkts rx_bytes rx_pkts rx_drops send_bytes send_wrs recv_bytes recv_wrs rdma_read_wrs rdma_read_bytes rdma_read_wr_err
		rdma_read_resp_bytes rdma_write_wrs rdma_write_bytes rdma_write_wr_err rdma_write_recv_bytes retrans_bytes retrans_pkts
		retrans_timeout_events impaired_remote_conn_events unresponsive_remote_events lifespan submitted_cmds completed_cmds cmds_err
		no_completion_cmds keep_alive_rcvd alloc_pd_err create_qp_err create_cq_err reg_mr_err alloc_ucontext_err create_ah_err mmap_err
		alloc_mr_err get_dma_mr_err send_count recv_count drop_count sent_stats received_stats dropped_stats put get reply ack hello fatal_error
		interrupts dropped aborted timeouts ping_count next_ping peer_timeout peer_credits credits nqps discovery`)...)
	answered(t, b, profile.KindCounter, "health value", "no route", "net priority", "dev cpt", "IO stats", "rx_drops: 12", "efa_0 rdma_read_bytes=93278175232",
		"/sys/class/infiniband/efa_0/ports/1/hw_counters/rx_drops")
}

func TestGdscheckAndGdsio(t *testing.T) {
	b := base(t)
	answered(t, b, profile.KindGdscheck, "NVMe P2PDMA", "NVMe", "NVMeOF", "SCSI", "ScaleFlux CSD", "FSx Lustre", "NVMesh", "DDN EXAScaler", "IBM Spectrum Scale",
		"NFS", "BeeGFS", "ScaTeFS", "VIRTIOFS", "WekaFS", "Userspace RDMA", "--Mellanox PeerDirect", "--DmaBuf support", "--DcConnection", "--rdma library",
		"--rdma devices", "--rdma_device_status", "Supported", "Unsupported", "nvfs", "compat", "p2pdma", "dmabuf", "nvidia_peermem", "c2c",
		"DDN EXAScaler      : nvfs, compat", "--rdma library        : Not Loaded (libcufile_rdma.so)", "IOMMU: disabled", "Nvidia Driver Info Status")
	for c := range strings.SplitSeq("f D d n m w s o i p b V x B I T k U R F a M P J O h", " ") {
		answered(t, b, profile.KindGdsioOption, "-"+c)
	}
	if a := b.Lookup("-D"); len(a.Entries) != 1 || !strings.HasPrefix(a.Entries[0].Meaning, "folder") {
		t.Errorf("-D: %+v", a.Entries)
	}
	answered(t, b, profile.KindGdsioField, "IoType", "XferType", "GPUD", "Threads", "IoDepth", "DataSetSize", "IOSize", "Throughput", "Avg_Latency", "total_time")
	answered(t, b, profile.KindGdsioOption, "xfer_type", "skip_bufregister", "fd_type")
}

func TestChecksAndUnknown(t *testing.T) {
	b := base(t)
	for _, c := range check.All() {
		a := b.Lookup(c.ID)
		if len(a.Checks) != 1 {
			t.Errorf("%s is not explained", c.ID)
			continue
		}
		if w := explain.WordsOf(c); len(w.Says()) == 0 && c.Step <= 3 || w.Title == "" || w.After == nil || w.Fix == nil {
			t.Errorf("%s: %+v", c.ID, w)
		}
	}
	for word, want := range map[string]string{"rx_drop": "rx_drops", "nvidia-fs-load": "nvidia-fs-loaded", "alow_compat_mode": "allow_compat_mode",
		"CUFILE_ENV_PATH_JSN": "CUFILE_ENV_PATH_JSON", "XferTyp": "XferType", "use_pci_p2pmda": "use_pci_p2pdma"} {
		a := b.Lookup(word)
		if a.Known() || len(a.Suggestions) == 0 || a.Suggestions[0] != want {
			t.Errorf("%s: known %v, suggestions %q, want %s", word, a.Known(), a.Suggestions, want)
		}
	}
	for _, w := range []string{"", "   ", "frobnicate", "zzzzzzzz", "\x00\xff", strings.Repeat("x", 1<<20)} {
		if a := b.Lookup(w); a.Known() || len(a.Suggestions) > 0 {
			t.Errorf("%.20q: %+v", w, a.Suggestions)
		}
	}
}

// TestRowsNameRealThings: a check that is named must be there, and so must a cause.
func TestRowsNameRealThings(t *testing.T) {
	ids := map[string]bool{}
	entries := base(t).Entries()
	for _, e := range entries {
		if ids[e.ID] {
			t.Errorf("%s is there twice", e.ID)
		}
		ids[e.ID] = true
	}
	for _, e := range entries {
		if e.Check != "" && check.ByID(e.Check) == nil {
			t.Errorf("%s: no check %s", e.ID, e.Check)
		}
		for _, a := range e.After {
			if !ids[a] {
				t.Errorf("%s: comes after %s, which is no row", e.ID, a)
			}
		}
	}
}

// TestWholeLinesAreTaken: a line whose front is the name of a row, a counter or a port is not taken for that.
func TestWholeLinesAreTaken(t *testing.T) {
	b := base(t)
	for line, want := range map[string]string{
		"Is PCIP2PDMA Supported: 0 kernel Support: 1": "log-p2pdma-three", "DDN EXAScaler: lustre driver support OK": "log-driver-ok",
		"NVMe: driver support OK": "log-driver-ok", "Nvidia Driver Info Status: Supported only on (nvidia-fs version <= 2.17.4)": "gdscheck-line-driver-flavour",
		"DDN EXAScaler : nvfs, compat": "gdscheck-exascaler", "Platform verification succeeded": "gdscheck-verified", "Command timed out after 300 seconds": "setup-timeout",
		"Unknown symbol nvidia_p2p_get_pages (err -2)": "nvfs-load-no-nvidia", "Reads\t\t: n=1 ok=1 err=0 readMiB=1 io_state_err=0": "nvfs-reads",
		"IO stats: Disabled, peer IO stats: Disabled": "nvfs-io-stats", "Reads : n=1 ok=1 err=0": "nvfs-reads", "Lustre: Build Version: 2.15.6": "", "Error: no such thing": "",
		"directory: /fsx": "",
	} {
		got := ""
		if a := b.Lookup(line); a.Known() {
			got = a.Entries[0].ID
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	if l := fold(t, b, "listening on port 5001\n"); l.Explained() {
		t.Errorf("a port is explained: %+v", l.Unknown)
	}
}

// TestOverlay: a user's row replaces the built-in one everywhere.
func TestOverlay(t *testing.T) {
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	p, err = p.With("mine", []byte("knowledge:\n  - {id: cufile-5027, kind: error, names: [\"5027\"], meaning: ours, source: us, date: 2026-02-03}\n"+
		"signatures:\n  - {id: short, match: [zq], level: fail, meaning: two letters, remedy: r, source: us, date: 2026-02-03}\n"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := explain.New(p)
	if err != nil {
		t.Fatal(err)
	}
	if a := b.Lookup("5027"); len(a.Entries) != 1 || a.Entries[0].Meaning != "ours" {
		t.Errorf("%+v", a.Entries)
	}
	if a := b.Lookup("a line with zq in it"); len(a.Entries) != 1 || a.Entries[0].ID != "short" {
		t.Errorf("%+v", a.Entries)
	}
}
