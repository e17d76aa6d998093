package checks_test

import (
	"fmt"
	"strings"
	"testing"

	"gdsproof/internal/check"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/paste"
	"gdsproof/internal/report"
)

// Texts in the shape of the tools', with numbers of their own.
func gdsio(io, xfer string, kib, ops int) string {
	gib := float64(kib) / (1 << 20)
	return fmt.Sprintf("IoType: %s XferType: %s Threads: 4 DataSetSize: %d/%d(KiB) IOSize: 1024(KiB) Throughput: %.6f GiB/sec, Avg_Latency: %.6f usecs ops: %d total_time 2.000000 secs\n",
		io, xfer, kib, kib, gib/2, 8e6/float64(ops), ops)
}

func nvfs(on bool, reads, sparse, writes, mmap, unmap, err int) string {
	word, rd, wr := "Disabled", fmt.Sprintf("err=%d io_state_err=0", err), "err=0 io_state_err=0 pg-cache=0 pg-cache-fail=0 pg-cache-eio=0"
	if on {
		word = "Enabled"
		rd = fmt.Sprintf("n=%d ok=%d err=%d readMiB=%d io_state_err=0", reads, reads, err, reads)
		wr = fmt.Sprintf("n=%d ok=%d err=0 writeMiB=%d io_state_err=0 pg-cache=0 pg-cache-fail=0 pg-cache-eio=0", writes, writes, writes)
	}
	return fmt.Sprintf("GDS Version: 1.16.0.49 \nNVFS statistics(ver: 4.0)\nNVFS Driver(version: 2.27.3)\nMellanox PeerDirect Supported: False\nIO stats: %s, peer IO stats: Disabled\n"+
		"Reads\t\t\t\t: %s\nSparse Reads\t\t        : n=%d io=0 holes=0 pages=0 \nWrites\t\t\t\t: %s\nMmap\t\t\t\t: n=%d ok=%d err=0 munmap=%d\nBar1-map\t\t\t: n=%d ok=%d err=0 free=%d callbacks=0 active=0 delay-frees=0\n"+
		"Error\t\t\t\t: cpu-gpu-pages=0 sg-ext=0 dma-map=0 dma-ref=0\nOps\t\t\t\t: Read=0 Write=0 BatchIO=0\n", word, rd, sparse, wr, mmap, mmap, unmap, mmap, mmap, unmap)
}

// lnet is lnetctl net show -v of a node with two EFA interfaces.
func lnet(tcp, efa1, efa2, drops int) string {
	ni := func(net, nid string, n, drop int) string {
		return fmt.Sprintf("    - net type: %s\n      local NI(s):\n        - nid: %s\n          status: up\n          statistics:\n              send_count: %d\n              recv_count: %d\n              drop_count: %d\n", net, nid, n, n, drop)
	}
	return "net:\n" + ni("lo", "0@lo", 0, 0) + ni("tcp", "10.3.7.9@tcp", tcp, 0) + ni("efa", "7.9.85.0@efa", efa1, drops) + "        - nid: 7.9.102.0@efa\n          status: up\n          statistics:\n" +
		fmt.Sprintf("              send_count: %d\n              recv_count: %d\n              drop_count: 0\n", efa2, efa2)
}

const fsx = "10.3.7.1@tcp:/q8wkzbev /fsx lustre rw,flock,relatime 0 0\n"

func hw(timeouts int) string {
	return fmt.Sprintf("efa_0 rdma_read_bytes=%d\nefa_0 retrans_timeout_events=%d\nefa_0 rx_drops=0\n", 1000+timeouts, timeouts)
}

func judgedTexts(t *testing.T, texts ...string) map[string]check.Finding {
	t.Helper()
	var list []paste.Text
	for i, s := range texts {
		list = append(list, paste.Text{Name: fmt.Sprintf("%d.txt", i), Data: []byte(s), Given: true})
	}
	set, _ := paste.Read(list)
	out := map[string]check.Finding{}
	for _, f := range check.Run(check.All(), facts.NewTable(set, rules(t)), evidence.Host) {
		out[f.Check] = f
	}
	return out
}

// TestExperimentChecks shows each check of step 4 in every colour that it has.
func TestExperimentChecks(t *testing.T) {
	read, cpu := gdsio("READ", "GPUD", 1<<20, 1024), gdsio("READ", "CPUONLY", 1<<20, 1024)
	write := gdsio("WRITE", "GPUD", 1<<20, 1024)
	strictLog := func(open string) string {
		return " 30-11-2026 10:00:00:7 [pid=41 tid=41] INFO   cufio_core:800 properties.use_compat_mode : false\n 30-11-2026 10:00:00:8 [pid=41 tid=41] INFO   cufio_core:801 properties.force_compat_mode : false\n" + open
	}
	covered := map[string]map[report.Status]bool{}
	for name, tc := range map[string]struct {
		check string
		want  report.Status
		words string
		texts []string
	}{
		"moved":                  {"io-moved", report.Pass, "1.00 GiB read", []string{read}},
		"an error and no result": {"io-moved", report.Fail, "5008", []string{"file register error: GPUDirect Storage not supported on current file filename:/fsx/a (5008)\n"}},
		"mangled":                {"io-moved", report.Unknown, "agree", []string{strings.Replace(read, "ops: 1024", "ops: 999", 1)}},
		"verified":               {"io-verified", report.Pass, "", []string{read + "Data Verification Success\n"}},
		"not verified":           {"io-verified", report.Unknown, "", []string{read}},
		"counted reads":          {"io-driver-reads", report.Pass, "1024 MiB", []string{nvfs(true, 5, 0, 0, 1, 1, 0), read, nvfs(true, 1029, 0, 0, 5, 5, 0)}},
		"sparse reads":           {"io-driver-reads", report.Pass, "Sparse", []string{nvfs(false, 0, 3, 0, 1, 1, 0), read, nvfs(false, 0, 1027, 0, 5, 5, 0)}},
		"dense file":             {"io-driver-reads", report.Unknown, "dense", []string{nvfs(false, 0, 3, 0, 1, 1, 0), read, nvfs(false, 0, 3, 0, 5, 5, 0)}},
		"reset in between":       {"io-driver-reads", report.Unknown, "fell", []string{nvfs(false, 0, 900, 0, 9, 9, 0), read, nvfs(false, 0, 3, 0, 5, 5, 0)}},
		"switched in between":    {"io-driver-reads", report.Unknown, "switched", []string{nvfs(false, 0, 3, 0, 1, 1, 0), read, nvfs(true, 3, 3, 0, 5, 5, 0)}},
		"counted writes":         {"io-driver-writes", report.Pass, "1024 MiB", []string{nvfs(true, 0, 0, 2, 1, 1, 0), write, nvfs(true, 0, 0, 1026, 5, 5, 0)}},
		"writes not counted":     {"io-driver-writes", report.Unknown, "registered", []string{nvfs(false, 0, 0, 0, 1, 1, 0), write, nvfs(false, 0, 0, 0, 5, 5, 0)}},
		"registered":             {"io-driver-registered", report.Pass, "1 to 5", []string{nvfs(false, 0, 0, 0, 1, 1, 0), write, nvfs(false, 0, 0, 0, 5, 5, 0)}},
		"not registered":         {"io-driver-registered", report.Unknown, "stayed at 1", []string{nvfs(false, 0, 0, 0, 1, 1, 0), write, nvfs(false, 0, 0, 0, 1, 1, 0)}},
		"no error":               {"io-driver-errors", report.Pass, "", []string{nvfs(true, 0, 0, 0, 1, 1, 0), read, nvfs(true, 1024, 0, 0, 5, 5, 0)}},
		"errors":                 {"io-driver-errors", report.Fail, "Reads err +3", []string{nvfs(true, 0, 0, 0, 1, 1, 0), read, nvfs(true, 1024, 0, 0, 5, 5, 3)}},
		"control still":          {"io-control", report.Pass, "did not move", []string{nvfs(false, 0, 0, 0, 1, 1, 0), cpu, nvfs(false, 0, 0, 0, 1, 1, 0)}},
		"control moved":          {"io-control", report.Warn, "another program", []string{nvfs(false, 0, 0, 0, 1, 1, 0), cpu, nvfs(false, 0, 0, 0, 2, 2, 0)}},
		"over EFA":               {"io-wire-efa", report.Pass, "over EFA", []string{fsx, lnet(9, 100, 100, 0), read, lnet(12, 2150, 101, 0)}},
		"over TCP":               {"io-wire-efa", report.Fail, "over TCP", []string{fsx, lnet(9, 100, 100, 0), read, lnet(2100, 101, 102, 0)}},
		"EFA still":              {"io-wire-efa", report.Fail, "stayed still", []string{fsx, lnet(9, 100, 100, 0), read, lnet(12, 104, 103, 0)}},
		"no window":              {"io-wire-efa", report.Unknown, "before and after", []string{fsx, read, lnet(12, 104, 103, 0)}},
		"one GPU, one rail":      {"io-wire-rails", report.Pass, "one GPU", []string{fsx, lnet(9, 100, 100, 0), read, lnet(12, 2150, 101, 0)}},
		"eight GPUs, one rail":   {"io-wire-rails", report.Warn, "7.9.102.0@efa", []string{fsx, lnet(9, 100, 100, 0), eightRuns(read), lnet(12, 16500, 101, 0)}},
		"no time-out":            {"io-wire-errors", report.Pass, "", []string{fsx, hw(7), read, hw(7)}},
		"time-outs":              {"io-wire-errors", report.Warn, "retrans_timeout_events +5", []string{fsx, hw(7), read, hw(12)}},
		"drops":                  {"io-wire-errors", report.Warn, "drop_count of 7.9.85.0@efa +4", []string{fsx, lnet(9, 100, 100, 1), read, lnet(12, 2150, 101, 5)}},
		"throughput":             {"io-throughput", report.Pass, "never a proof", []string{read}},
		"strict refused":         {"io-strict", report.Fail, "refused", []string{"file register error: GPUDirect Storage not supported on current file filename:/fsx/a\n"}},
		"strict not heard":       {"io-strict", report.Unknown, "", []string{read}},
		"strict open refused": {"io-strict", report.Fail, "5001", []string{strictLog(" 30-11-2026 10:00:00:9 [pid=41 tid=41] ERROR  cufio:480 cuFile initialization failed\n"),
			"$ CUFILE_ENV_PATH_JSON=/tmp/s.json gdsio -f /fsx/a -d 0 -w 4 -s 1G -i 1M -x 0 -I 0\ncuFile driver open error: 5001\n$ \n"}},
		"strict succeeds": {"io-strict", report.Pass, "compat mode off", []string{strictLog(" 30-11-2026 10:00:00:9 [pid=41 tid=41] INFO   cufio_core:1070 CUFile initialization complete\n"),
			"$ CUFILE_ENV_PATH_JSON=/tmp/s.json gdsio -f /fsx/a -d 0 -w 4 -s 1G -i 1M -x 0 -I 0\n" + read + "$ \n"}},
		"strict by word alone":    {"io-strict", report.Unknown, "was not seen", []string{"$ CUFILE_ENV_PATH_JSON=/tmp/s.json gdsio -f /fsx/a -d 0 -w 4 -s 1G -i 1M -x 0 -I 0\n" + read + "$ \n"}},
		"library all nvidia-fs":   {"io-library", report.Pass, "GDS path", []string{gdsStats(70, 0)}},
		"library all POSIX":       {"io-library", report.Fail, "70 of 70", []string{gdsStats(70, 70)}},
		"library a part":          {"io-library", report.Fail, "9 of 70", []string{gdsStats(70, 9)}},
		"library was not watched": {"io-library", report.Unknown, "", []string{read}},
	} {
		t.Run(name, func(t *testing.T) {
			f := judgedTexts(t, tc.texts...)[tc.check]
			if f.Status != tc.want || !strings.Contains(f.Summary, tc.words) {
				t.Errorf("%s: %s", f.Status, f.Summary)
			}
		})
		if covered[tc.check] == nil {
			covered[tc.check] = map[report.Status]bool{}
		}
		covered[tc.check][tc.want] = true
	}
	for _, c := range check.All() {
		if c.Step == 4 && !(covered[c.ID][report.Pass] && (len(covered[c.ID]) > 1 || c.ID == "io-throughput")) {
			t.Errorf("%s: seen only as %v", c.ID, covered[c.ID])
		}
	}
}

// eightRuns are results of runs at once: no two are alike to the last digit.
func eightRuns(line string) string {
	before, rest, _ := strings.Cut(line, "Avg_Latency: ")
	_, behind, _ := strings.Cut(rest, " usecs")
	var b strings.Builder
	for i := range 8 {
		fmt.Fprintf(&b, "%sAvg_Latency: %d.%06d usecs%s", before, 1950+i, 17*i, behind)
	}
	return b.String()
}

// gdsStats is what gds_stats -l 3 prints of one GPU's reads.
func gdsStats(n, posix int) string {
	return fmt.Sprintf("cuFile STATS VERSION : 8\nGLOBAL STATS:\nRead: ok = %d err = 0\nPER_GPU STATS:\nGPU 0(UUID: 11111111222222223333333344444444) Read: bw=1.5 util(%%)=1 n=%d posix=%d unalign=0 dr=0 r_sparse=0 r_inline=0 err=0 MiB=%d Write: bw=0 util(%%)=0 n=0 posix=0 unalign=0 dr=0 err=0 MiB=0 BufRegister: n=4 err=0 free=4 MiB=0\n", n, n, posix, n)
}
