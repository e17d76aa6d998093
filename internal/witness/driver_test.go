package witness

import (
	"fmt"
	"strings"
	"testing"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/profile"
)

// statsText prints nvidia-fs's statistics in their own shape; counted is nil with IO stats off.
type counters struct {
	mmap, sparse       uint64
	on                 bool
	reads, readMiB     uint64
	writes, writeMiB   uint64
	readErr, readState uint64
	noSwitchLine       bool
}

func (c counters) text() string {
	var b strings.Builder
	b.WriteString("GDS Version: 1.17.0.44\nNVFS statistics(ver: 4.0)\nNVFS Driver(version: 2.28.4)\n")
	if !c.noSwitchLine {
		fmt.Fprintf(&b, "IO stats: %s, peer IO stats: Disabled\n", map[bool]string{true: "Enabled", false: "Disabled"}[c.on])
	}
	if c.on {
		fmt.Fprintf(&b, "Reads\t\t\t\t: n=%d ok=%d err=%d readMiB=%d io_state_err=%d\n", c.reads, c.reads, c.readErr, c.readMiB, c.readState)
		fmt.Fprintf(&b, "Writes\t\t\t\t: n=%d ok=%d err=0 writeMiB=%d io_state_err=0 pg-cache=0 pg-cache-fail=0 pg-cache-eio=0\n", c.writes, c.writes, c.writeMiB)
	} else {
		fmt.Fprintf(&b, "Reads\t\t\t\t: err=%d io_state_err=%d\nWrites\t\t\t\t: err=0 io_state_err=0 pg-cache=0 pg-cache-fail=0 pg-cache-eio=0\n", c.readErr, c.readState)
	}
	fmt.Fprintf(&b, "Sparse Reads\t\t        : n=%d io=0 holes=0 pages=0 \n", c.sparse)
	fmt.Fprintf(&b, "Mmap\t\t\t\t: n=%d ok=%d err=0 munmap=%d\nBar1-map\t\t\t: n=%d ok=%d err=0 free=%d callbacks=0 active=0 delay-frees=0\n", c.mmap, c.mmap, c.mmap, c.mmap, c.mmap, c.mmap)
	b.WriteString("Error\t\t\t\t: cpu-gpu-pages=0 sg-ext=0 dma-map=0 dma-ref=0\nOps\t\t\t\t: Read=0 Write=0 BatchIO=0\n")
	return b.String()
}

// readLine is gdsio's line of a read of ops MiB, of as many asked.
func readLine(ops, asked int) string {
	sec := float64(ops) / 1024 / 3.2
	return fmt.Sprintf("IoType: READ XferType: GPUD Threads: 4 DataSetSize: %d/%d(KiB) IOSize: 1024(KiB) Throughput: %.6f GiB/sec, Avg_Latency: 1200.000000 usecs ops: %d total_time %.6f secs\n",
		ops<<10, asked<<10, 3.2, ops, sec)
}

func TestDriverReads(t *testing.T) {
	for name, c := range map[string]struct {
		before, after counters
		runs          string
		want          Says
		words         string
	}{
		"sparse, as the guide has it":            {counters{mmap: 4}, counters{mmap: 8, sparse: 10240}, readLine(10140, 10240), GDS, "10240"},
		"sparse, exactly what gdsio counted":     {counters{}, counters{mmap: 4, sparse: 10140}, readLine(10140, 10240), GDS, ""},
		"sparse, fewer than gdsio counted":       {counters{}, counters{mmap: 4, sparse: 10139}, readLine(10140, 10240), Moved, "10139"},
		"sparse of one of two runs":              {counters{}, counters{mmap: 4, sparse: 10240}, readLine(10240, 10240) + readLine(640, 640), Moved, "10880"},
		"sparse, far more than the run can have": {counters{}, counters{mmap: 4, sparse: 30000}, readLine(10140, 10240), Silent, "something else"},
		"sparse and no buffer":                   {counters{mmap: 4}, counters{mmap: 4, sparse: 10240}, readLine(10140, 10240), Silent, "another program"},
		"sparse, all failed":                     {counters{}, counters{mmap: 4, sparse: 10240, readState: 10240}, readLine(10140, 10240), Moved, "failed"},
		"nothing at all":                         {counters{mmap: 4}, counters{mmap: 4}, readLine(10140, 10240), Compat, "Mmap did not rise"},
		"registered alone":                       {counters{}, counters{mmap: 4}, readLine(10140, 10240), Moved, "Sparse Reads did not rise"},
		"counted":                                {counters{on: true}, counters{on: true, mmap: 4, reads: 10240, readMiB: 10240}, readLine(10140, 10240), GDS, ""},
		"counted, and half of it":                {counters{on: true}, counters{on: true, mmap: 4, reads: 5120, readMiB: 5120}, readLine(10140, 10240), Mixed, "5120"},
		"counted, a little less":                 {counters{on: true}, counters{on: true, mmap: 4, reads: 10000, readMiB: 10000}, readLine(10140, 10240), Moved, "a little less"},
		"counted, far more":                      {counters{on: true}, counters{on: true, mmap: 4, reads: 300000, readMiB: 300000}, readLine(10140, 10240), Silent, "more than twice"},
		"counted, no buffer":                     {counters{on: true, mmap: 8}, counters{on: true, mmap: 8, reads: 10240, readMiB: 10240}, readLine(10140, 10240), Silent, "another program"},
		"counted, all failed":                    {counters{on: true}, counters{on: true, mmap: 4, reads: 10240, readMiB: 10240, readState: 10240}, readLine(10140, 10240), Moved, "errors"},
		"counted and flat":                       {counters{on: true}, counters{on: true, mmap: 4}, readLine(10140, 10240), Compat, "did not move"},
		"sums without the line of the switch":    {counters{on: true, noSwitchLine: true}, counters{on: true, noSwitchLine: true, mmap: 4, reads: 10240, readMiB: 10240}, readLine(10140, 10240), GDS, "MiB"},
	} {
		set := &evidence.Set{Kind: evidence.Pasted}
		for i, text := range []string{c.before.text(), "$ /usr/local/cuda/gds/tools/gdsio -f /fsx/t -d 0 -w 4 -s 10G -i 1M -x 0 -I 0\n" + c.runs, c.after.text()} {
			source := facts.NVFSProc + "/stats"
			if i == 1 {
				source = facts.GdsioSource
			}
			set.Items = append(set.Items, evidence.Item{Source: source, Form: evidence.Whole, Place: evidence.Host, State: evidence.Present, Step: i + 1, Out: []byte(text)})
		}
		heard := facts.Get(facts.NewTable(set, rules(t)), evidence.Host, Heard).V
		found := false
		for _, x := range heard {
			if x.Witness == Driver && (x.Direction == Reads || x.Direction == Both) {
				found = true
				if x.Says != c.want || !strings.Contains(x.Summary, c.words) {
					t.Errorf("%s: %s (%s), want %s with %q", name, x.Says, x.Summary, c.want, c.words)
				}
			}
		}
		if !found {
			t.Errorf("%s: the driver says nothing of reads", name)
		}
	}
}

func rules(t *testing.T) *profile.Profile {
	t.Helper()
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	return p
}
