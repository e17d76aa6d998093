package cli

import (
	"strings"
	"testing"

	"gdsproof/internal/report"
)

const (
	apartRun  = "IoType: READ XferType: GPUD Threads: 4 DataSetSize: 10485760/10485760(KiB) IOSize: 1024(KiB) Throughput: 3.225806 GiB/sec, Avg_Latency: 1224.218035 usecs ops: 10240 total_time 3.100000 secs\n"
	apartGdsi = "gdsio -f /fsx/t -d 0 -w 4 -s 10G -i 1M -x 0 -I 0"
)

// counters is a look at the driver, with IO stats off.
func counters(sparse, mmap string) string {
	return "NVFS statistics(ver: 4.0)\nNVFS Driver(version: 2.28.4)\nIO stats: Disabled, peer IO stats: Disabled\nReads\t: err=0 io_state_err=0\nSparse Reads\t: n=" + sparse +
		" io=0 holes=0 pages=0\nWrites\t: err=0 io_state_err=0\nMmap\t: n=" + mmap + " ok=" + mmap + " err=0 munmap=" + mmap + "\nBar1-map\t: n=" + mmap + " ok=" + mmap + " err=0 free=" + mmap +
		" callbacks=0 active=0 delay-frees=0\nOps\t: Read=0 Write=0 BatchIO=0\n"
}

func each(prefix, text string) string {
	return prefix + strings.Join(strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n"), prefix) + "\n"
}

// mixedLines takes a line of each in turn, as pdsh prints what several machines answer.
func mixedLines(a, b string) string {
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	var out strings.Builder
	for i := range x {
		out.WriteString(x[i] + y[i])
	}
	return out.String()
}

// TestReadApart: what does not belong together makes no window, neither for a proof nor for a red.
func TestReadApart(t *testing.T) {
	const cat, p = "cat /proc/driver/nvidia-fs/stats\n", "ubuntu@gpu-7:~$ "
	flat, rises := counters("0", "4"), counters("10240", "8")
	for name, tc := range map[string]struct {
		text string
		want report.Outcome
	}{
		"ssh to two machines":           {"$ ssh gpu-1 " + cat + flat + "$ ssh gpu-2 " + cat + rises + "$ \n", report.Unproven},
		"ssh to one machine":            {"$ ssh gpu-1 " + cat + flat + "$ ssh gpu-1 " + apartGdsi + "\n" + apartRun + "$ ssh gpu-1 '" + strings.TrimSpace(cat) + "'\n" + rises + "$ \n", report.Proven},
		"a loop over machines":          {"$ for h in gpu-1 gpu-2; do ssh $h " + strings.TrimSpace(cat) + "; done\n" + flat + rises + "$ \n", report.Unproven},
		"headings that name machines":   {"Node gpu-1:\n" + flat + "\nNode gpu-2:\n" + rises, report.Unproven},
		"headings in Markdown":          {"## node gpu-1\n```\n$ " + cat + flat + "```\n## node gpu-2\n```\n$ " + cat + rises + "```\n", report.Unproven},
		"headings of one machine":       {"Node gpu-1 before:\n" + flat + apartRun + "\nNode gpu-1 after:\n" + rises, report.Proven},
		"pdsh of one":                   {each("gpu-1: ", flat+apartRun+rises), report.Proven},
		"pdsh of two":                   {each("gpu-1: ", flat) + each("gpu-2: ", rises), report.Unproven},
		"pdsh of two, mixed":            {mixedLines(each("gpu-1: ", flat), each("gpu-2: ", rises)), report.Unproven},
		"srun with labels":              {each("0: ", flat+apartRun+rises), report.Proven},
		"srun with labels of two":       {each("0: ", flat) + each("1: ", rises), report.Unproven},
		"mpirun of two":                 {each("[1,0]<stdout>:", flat) + each("[1,1]<stdout>:", rises), report.Unproven},
		"times of kubectl":              {each("2026-11-30T09:11:06.238Z ", flat+apartRun+rises), report.Proven},
		"a good and a bad machine":      {"Working node:\n" + flat + apartRun + rises + "\nBroken node:\n" + flat + apartRun + flat, report.Unproven},
		"other addresses":               {"$ hostname\ngpu-1\n$ " + cat + flat + "$ hostname\ngpu-2\n$ " + cat + rises + "$ \n", report.Unproven},
		"a run by ssh elsewhere":        {p + cat + flat + p + "ssh gpu-8 " + apartGdsi + "\n" + apartRun + p + cat + flat + p + "\n", report.Unproven},
		"a run by ssh on this machine":  {p + cat + flat + p + "ssh gpu-7 " + apartGdsi + "\n" + apartRun + p + cat + flat + p + "\n", report.Refuted},
		"a run by srun elsewhere":       {p + cat + flat + p + "srun -N1 -w gpu-8 " + apartGdsi + "\n" + apartRun + p + cat + flat + p + "\n", report.Unproven},
		"a run where srun likes":        {p + cat + flat + p + "srun -N1 " + apartGdsi + "\n" + apartRun + p + cat + flat + p + "\n", report.Unproven},
		"a run in a pod":                {p + cat + flat + p + "kubectl exec pod-1 -- " + apartGdsi + "\n" + apartRun + p + cat + flat + p + "\n", report.Unproven},
		"an old log":                    {p + cat + flat + p + "cat /tmp/yesterday.log\n" + apartRun + p + cat + flat + p + "\n", report.Unproven},
		"its log, shown later":          {p + cat + flat + p + apartGdsi + " > /tmp/r.log 2>&1\n" + p + cat + rises + p + "cat /tmp/r.log\n" + apartRun + p + cat + rises + p + "\n", report.Proven},
		"its log, flat":                 {p + cat + flat + p + apartGdsi + " > /tmp/r.log 2>&1\n" + p + "cat /tmp/r.log\n" + apartRun + p + cat + flat + p + "\n", report.Refuted},
		"in the background":             {p + cat + flat + p + apartGdsi + " > /tmp/r.log 2>&1 &\n[1] 42\n" + p + cat + counters("5000", "8") + p + "cat /tmp/r.log\n" + apartRun + p + cat + rises + p + "\n", report.Proven},
		"a whole log":                   {p + "cat /tmp/all.log\n" + flat + apartRun + rises + p + "\n", report.Proven},
		"the line again":                {p + cat + flat + p + apartGdsi + "\n" + apartRun + "As you see:\n> " + apartRun + p + cat + rises + p + "\n", report.Proven},
		"a line of the kernel":          {"[   57.538751] nvidia-fs:read IO failed :-5\n", report.Unproven},
		"gdsio's own line":              {"io failed :ret :-5 errno :5, file offset :0, block size  :1048576\n", report.NotReady},
		"unloaded in between":           {p + cat + flat + p + "sudo rmmod nvidia_fs && sudo insmod nvidia-fs.ko\n" + p + apartGdsi + "\n" + apartRun + p + cat + rises + p + "\n", report.Unproven},
		"started anew in between":       {p + cat + flat + p + "sudo reboot\n" + p + cat + rises + p + "\n", report.Unproven},
		"loaded before both":            {p + "sudo rmmod nvidia_fs; sudo insmod nvidia-fs.ko\n" + p + cat + flat + p + apartGdsi + "\n" + apartRun + p + cat + rises + p + "\n", report.Proven},
		"the switch, off and on":        {p + cat + strings.ReplaceAll(flat, "IO stats: Disabled,", "IO stats: Enabled,") + p + "echo 0 | sudo tee /sys/module/nvidia_fs/parameters/rw_stats_enabled\n0\n" + p + apartGdsi + "\n" + apartRun + p + cat + strings.ReplaceAll(flat, "IO stats: Disabled,", "IO stats: Enabled,") + p + "\n", report.Unproven},
		"expected and actual":           {"Expected:\n" + flat + "Expected after:\n" + rises + "Actual before:\n" + flat + "Actual after:\n" + flat + apartRun, report.Unproven},
		"an example and the own node":   {"From a blog. Example output of a good node:\n" + flat + apartRun + rises + "\nOur node has this:\n" + counters("50", "60") + apartRun + counters("50", "60"), report.Refuted},
		"what the docs say":             {"The docs say that after a run one would see:\n```\n" + flat + "```\n```\n" + rises + "```\nBut on our node it stays the same:\n" + flat, report.Unproven},
		"an expected refusal":           {"Expected output:\nGPUDirect Storage not supported on current file filename:/d/a\n", report.Unproven},
		"as expected":                   {"It went as expected:\n" + flat + apartRun + rises, report.Proven},
		"an expectation in prose first": {"Expected behavior\nGDS should be used.\n" + p + cat + flat + p + apartGdsi + "\n" + apartRun + p + cat + flat + p + "\n", report.Refuted},
	} {
		t.Run(name, func(t *testing.T) {
			r := readTexts(t, builtIn(t), given(tc.text))
			if r.Verdict.Outcome != tc.want {
				t.Errorf("%s: %s", r.Verdict.Outcome, r.Verdict.Summary)
			}
		})
	}
}

// TestCutLogs: that compat mode would be used refutes nothing where no I/O is shown; a log that is whole keeps its word.
func TestCutLogs(t *testing.T) {
	const first = " 30-11-2026 09:07:08:92 [pid=457 tid=457] NOTICE  cufio-drv:851 running in compatible mode\n"
	for text, want := range map[string]report.Outcome{
		first: report.Unproven, // not even a file was tried
		first + " 30-11-2026 09:07:08:265 [pid=457 tid=457] ERROR  cufio-udev:67 udev prop":                                                   report.Unproven,
		first + " 30-11-2026 09:07:08:265 [pid=457 tid=457] ERROR  cufio-udev:67 udev property not found: ID_FS_USAGE vda\n":                  report.Unproven,
		first + " 30-11-2026 09:07:08:265 [pid=457 tid=457] INFO  0:80 Lib being used for urcup concurrency:  liburcu-bp\n":                   report.Unproven,
		first + " 30-11-2026 09:07:08:265 [pid=457 tid=457] ERROR  cufio-fs:79 mount option not found in mount table data device: /dev/vda\n": report.Refuted,
	} {
		if r := readTexts(t, builtIn(t), given(text)); r.Verdict.Outcome != want {
			t.Errorf("%q: %s: %s", text, r.Verdict.Outcome, r.Verdict.Summary)
		}
	}
}
