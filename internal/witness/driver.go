package witness

import (
	"fmt"

	"gdsproof/internal/facts"
)

// chunk is the most that nvidia-fs does at once (nvidia-fs.md: 16 MiB).
const chunk = 16 << 20

// driverWindow is what a window of the driver's counters tells.
type driverWindow struct {
	facts.Window[facts.NVFSStats]
	on                   bool // IO stats are known to be on in both looks
	reads, readMiB       facts.Opt[uint64]
	writes, writeMiB     facts.Opt[uint64]
	sparse               facts.Opt[uint64]
	mmap, unmap, barmaps facts.Opt[uint64]
	// readErrs and writeErrs are I/Os that failed: a synchronous one is counted as done all the same, and Sparse Reads
	// before it is issued.
	readErrs, writeErrs uint64
}

func readWindow(w facts.Window[facts.NVFSStats]) driverWindow {
	on := counts(w.Before) && counts(w.After)
	errs := func(row string) uint64 { return facts.Rise(w, row, "err").V + facts.Rise(w, row, "io_state_err").V }
	d := driverWindow{readErrs: errs(facts.RowReads), writeErrs: errs(facts.RowWrites), Window: w, on: on, sparse: facts.Rise(w, facts.RowSparse, "n"), mmap: facts.Rise(w, facts.RowMmap, "ok"), unmap: facts.Rise(w, facts.RowMmap, "munmap"), barmaps: facts.Rise(w, facts.RowBar1, "ok")}
	if on {
		d.reads, d.readMiB = facts.Rise(w, facts.RowReads, "ok"), facts.Rise(w, facts.RowReads, "readMiB")
		d.writes, d.writeMiB = facts.Rise(w, facts.RowWrites, "ok"), facts.Rise(w, facts.RowWrites, "writeMiB")
	}
	return d
}

// counts tells that a look was taken with IO stats on: by its own line, or by sums that are printed then alone. A
// driver without the line (2.3) always counts.
func counts(s facts.NVFSStats) bool {
	if s.IOStats.OK {
		return s.IOStats.V
	}
	return s.Counter(facts.RowReads, "readMiB").OK || s.Counter(facts.RowWrites, "writeMiB").OK
}

func (d driverWindow) numbers() map[string]uint64 {
	m := map[string]uint64{}
	for k, v := range map[string]facts.Opt[uint64]{"reads_ok": d.reads, "reads_mib": d.readMiB, "writes_ok": d.writes, "writes_mib": d.writeMiB, "sparse_reads": d.sparse,
		"mmap_ok": d.mmap, "munmap": d.unmap, "bar1_map_ok": d.barmaps} {
		if v.OK {
			m[k] = v.V
		}
	}
	return m
}

// flat tells that a counter was seen twice and did not rise.
func flat(o facts.Opt[uint64]) bool { return o.OK && o.V == 0 }
func rose(o facts.Opt[uint64]) bool { return o.OK && o.V > 0 }

const ioStatsOn = "IO stats on during the run: echo 1 | sudo tee /sys/module/nvidia_fs/parameters/rw_stats_enabled (cleared at the next load of the module)"

// driverHears speaks of the windows in which GDS was asked for, or in which nobody says what was done.
func driverHears(h *hearing) {
	ws := fact(h, facts.DriverWindows)
	if t, ok := h.noDriver(); ok {
		for _, x := range t {
			h.say(x)
		}
		return
	}
	if !ws.OK {
		h.say(Testimony{Witness: Driver, Direction: Both, Says: Silent, Summary: ws.Why, WouldSpeakIf: ws.Need})
		return
	}
	other := otherPath(h)
	plan := fact(h, facts.Experiment)
	for _, w := range ws.V {
		if w.Phase == "control" || plan.OK && (w.Phase == "idle" || apart(w.Phase)) {
			continue // the control's; and what an experiment did with another configuration than the user's
		}
		if w.Broken != "" {
			h.say(Testimony{Witness: Driver, Direction: Both, Phase: w.Phase, Says: Silent, Summary: w.Broken, WouldSpeakIf: "two looks at the counters with nothing but the run in between", Evidence: h.quote(w.Items[:]...)})
			continue
		}
		d := readWindow(w)
		if w.Phase == "idle" {
			h.driverAlone(d, other)
			continue
		}
		for _, op := range []string{"read", "write"} {
			bytes, n := d.Moved(op, true)
			if n == 0 {
				continue
			}
			t := Testimony{Witness: Driver, Direction: direction(op), Phase: w.Phase, Numbers: d.numbers(), Evidence: h.quote(w.Items[:]...)}
			t.Numbers["bytes_asked_of_cufile"] = bytes
			if op == "read" {
				d.hearReads(&t, bytes, other)
			} else {
				d.hearWrites(&t, bytes, other)
			}
			h.say(t)
		}
	}
}

// noDriver speaks of an experiment on a node where every look found nvidia-fs's files not to be there: what cuFile
// moved can have gone through the CPU alone, where no way around nvidia-fs is configured. Where the library tells, it
// knows better.
func (h *hearing) noDriver() ([]Testimony, bool) {
	plan, absent := fact(h, facts.Experiment), fact(h, facts.DriverAbsent)
	if !plan.OK || !absent.OK || !absent.V || otherPath(h) != "" || fact(h, facts.LibraryUse).OK {
		return nil, false
	}
	var out []Testimony
	said := map[string]bool{}
	for _, r := range fact(h, facts.Runs).V {
		if r.Strict && r.Moved() && r.Failed == "" && r.CompatOff == facts.Some(true) {
			return nil, false // there is a way around nvidia-fs all the same
		}
		if dir := direction(r.Op); r.GDS && r.Moved() && !apart(r.Phase) && !said[dir] {
			said[dir] = true
			out = append(out, Testimony{Witness: Driver, Direction: dir, Phase: "gds", Says: Compat, Numbers: map[string]uint64{},
				Summary: facts.NVFSProc + "/stats is not there: nvidia-fs is not loaded, and without it cuFile goes through the CPU"})
		}
	}
	return out, len(out) > 0
}

// apart tells a phase whose runs have another configuration than the user's programs: the strict witness speaks of it.
func apart(phase string) bool { return phase == facts.PhaseStrict || phase == facts.PhaseWhy }

// hearReads: with IO stats on the driver counts what it read; without, Sparse Reads rises where the file looks
// sparse to the client, which a file on FSx for Lustre does.
func (d driverWindow) hearReads(t *Testimony, bytes uint64, other string) {
	switch {
	case (rose(d.sparse) || rose(d.reads)) && d.unregistered():
		t.Says, t.Summary, t.WouldSpeakIf = Silent, nobodysBuffers, "the same run with nothing else at work"
	case d.on && d.readMiB.OK && d.reads.OK:
		d.counted(t, "Reads", d.reads.V, d.readMiB.V, d.readErrs, bytes, other, rose(d.sparse))
	case rose(d.sparse):
		least := d.leastReads()
		if d.readErrs >= d.sparse.V {
			t.Says, t.Summary, t.WouldSpeakIf = Moved, fmt.Sprintf("Sparse Reads rose by %d and %d reads failed: none is known to have moved a byte", d.sparse.V, d.readErrs), "a run without errors"
			return
		}
		if d.sparse.V-d.readErrs >= least {
			t.Says, t.Summary = GDS, fmt.Sprintf("Sparse Reads rose by %d for the reads that were asked for: they entered the driver", d.sparse.V)
			if most := d.mostReads(); most > 0 && d.sparse.V > 2*most {
				t.Says, t.Summary = Silent, fmt.Sprintf("Sparse Reads rose by %d, more than twice what the run can have made: something else used GDS meanwhile", d.sparse.V)
				t.WouldSpeakIf = "the same run with nothing else at work"
			}
			return
		}
		t.Says, t.Summary = Moved, fmt.Sprintf("Sparse Reads rose by %d only, of at least %d reads: a part of the file did not look sparse, or a part went through the CPU", d.sparse.V, least)
		t.WouldSpeakIf = ioStatsOn
	default:
		d.registered(t, other)
	}
}

func (d driverWindow) hearWrites(t *Testimony, bytes uint64, other string) {
	switch {
	case rose(d.writes) && d.unregistered():
		t.Says, t.Summary, t.WouldSpeakIf = Silent, nobodysBuffers, "the same run with nothing else at work"
		return
	case d.on && d.writeMiB.OK && d.writes.OK:
		d.counted(t, "Writes", d.writes.V, d.writeMiB.V, d.writeErrs, bytes, other, false)
		return
	}
	d.registered(t, other)
}

// nobodysBuffers: every program that uses the driver registers buffers first, so what was counted in a window without
// a registration is of a program that had registered before.
const nobodysBuffers = "the driver counted I/O while no buffer was registered (Mmap did not rise): it was another program's"

func (d driverWindow) unregistered() bool {
	return flat(d.mmap) && (flat(d.barmaps) || !d.barmaps.OK)
}

// counted judges by the driver's own sums of operations and MiB.
func (d driverWindow) counted(t *Testimony, row string, ok, mib, errs, bytes uint64, other string, sparse bool) {
	asked, least := bytes>>20, d.leastOps(row)
	switch {
	case errs > 0 && errs >= ok:
		t.Says, t.Summary, t.WouldSpeakIf = Moved, fmt.Sprintf("%s: %d operations and %d errors: none is known to have moved a byte", row, ok, errs), "a run without errors"
	case ok == 0 && mib == 0 && !sparse:
		if other != "" {
			t.Says, t.Summary, t.WouldSpeakIf = Silent, "the driver counted nothing, but "+other, "the library's own statistics"
			return
		}
		t.Says, t.Summary = Compat, fmt.Sprintf("IO stats are on and %s did not move, although %s were moved", row, Size(bytes))
	case mib > 2*d.mostMiB(row)+64:
		t.Says, t.Summary = Silent, fmt.Sprintf("%s rose by %d MiB, more than twice what was asked for: something else used GDS meanwhile", row, mib)
		t.WouldSpeakIf = "the same run with nothing else at work"
	case mib+1 >= asked && ok-errs >= least: // the driver prints whole MiB
		t.Says, t.Summary = GDS, fmt.Sprintf("%s rose by %d operations and %d MiB; %s were asked for", row, ok, mib, Size(bytes))
	case (mib+1)*100 >= asked*98 && (ok-errs)*100 >= least*98:
		t.Says, t.Summary, t.WouldSpeakIf = Moved, fmt.Sprintf("%s rose by %d operations and %d MiB, a little less than the %s that were moved", row, ok, mib, Size(bytes)), "the library's own statistics"
	case other != "":
		t.Says, t.Summary, t.WouldSpeakIf = Moved, fmt.Sprintf("%s rose by %d MiB of %s; %s", row, mib, Size(bytes), other), "the library's own statistics"
	default:
		t.Says, t.Summary = Mixed, fmt.Sprintf("%s rose by %d operations and %d MiB only; %s were asked for: the rest went another way", row, ok, mib, Size(bytes))
	}
}

// mostMiB is what the runs can have moved at most: gdsio's count of what it did falls short of what it was asked for.
func (d driverWindow) mostMiB(row string) uint64 {
	n := uint64(0)
	for _, r := range d.Runs {
		if r.GDS && (r.Op == "read") == (row == "Reads") {
			n += max(r.Bytes.Or(0), r.Asked.Or(0)) >> 20
		}
	}
	return n
}

// registered judges by the registration of buffers alone: nothing registered means that the driver was not used,
// registered means that it was spoken to, not that data took it.
func (d driverWindow) registered(t *Testimony, other string) {
	threads, dirs := uint64(0), map[string]bool{}
	for _, r := range d.Runs {
		if r.GDS && r.Moved() {
			threads += max(1, r.Threads.Or(1))
			dirs[r.Op] = true
		}
	}
	switch {
	case flat(d.mmap) && (flat(d.barmaps) || !d.barmaps.OK) && other != "":
		t.Says, t.Summary, t.WouldSpeakIf = Silent, "no buffer was registered with nvidia-fs, but "+other, "the library's own statistics"
	case flat(d.mmap) && (flat(d.barmaps) || !d.barmaps.OK):
		t.Says, t.Summary = Compat, "no buffer was registered with the driver (Mmap did not rise): the library did not use it"
	case !d.mmap.OK:
		t.Says, t.Summary, t.WouldSpeakIf = Silent, "the counters of the looks do not show Mmap", "the whole of "+facts.NVFSProc+"/stats before and after"
	case len(dirs) > 1 && d.mmap.V < threads:
		t.Says, t.WouldSpeakIf = Silent, ioStatsOn
		t.Summary = fmt.Sprintf("Mmap rose by %d, fewer than the %d buffers of the runs: which of them registered is not told", d.mmap.V, threads)
	default:
		t.Says, t.Summary, t.WouldSpeakIf = Moved, fmt.Sprintf("registered with the driver (Mmap +%d), not counted: IO stats are off", d.mmap.V), ioStatsOn
		if d.on {
			t.Summary = fmt.Sprintf("registered with the driver (Mmap +%d)", d.mmap.V)
		}
		if t.Direction == Reads && flat(d.sparse) {
			t.Summary += "; Sparse Reads did not rise, as on a dense file or in compat mode"
		}
	}
}

// driverAlone speaks of a window in which nobody says what was done: what moved tells that something was.
func (h *hearing) driverAlone(d driverWindow, other string) {
	base := Testimony{Witness: Driver, Phase: "idle", Numbers: d.numbers(), Evidence: h.quote(d.Items[:]...)}
	spoke := false
	add := func(dir string, says Says, format string, a ...any) {
		t := base
		t.Direction, t.Says, t.Summary = dir, says, fmt.Sprintf(format, a...)
		if says == Moved {
			t.WouldSpeakIf = ioStatsOn
		}
		spoke = true
		h.say(t)
	}
	if d.readErrs > 0 && d.readErrs >= max(d.reads.V, d.sparse.V) {
		add(Reads, Moved, "%d reads entered the driver and %d failed: none is known to have moved a byte", max(d.reads.V, d.sparse.V), d.readErrs)
	} else if rose(d.reads) && rose(d.readMiB) {
		add(Reads, GDS, "Reads rose by %d operations and %d MiB between the two looks", d.reads.V, d.readMiB.V)
	} else if rose(d.sparse) {
		add(Reads, GDS, "Sparse Reads rose by %d between the two looks: reads entered the driver", d.sparse.V)
	}
	if rose(d.writes) && rose(d.writeMiB) && d.writeErrs < d.writes.V {
		add(Writes, GDS, "Writes rose by %d operations and %d MiB between the two looks", d.writes.V, d.writeMiB.V)
	}
	switch {
	case spoke:
	case d.on && flat(d.reads) && flat(d.writes) && rose(d.mmap) && rose(d.unmap) && !rose(d.sparse):
		if other != "" {
			add(Both, Silent, "buffers were registered and no I/O was counted, but %s", other)
		} else {
			add(Both, Compat, "a program registered %d buffers and let them go, and with IO stats on not one read or write was counted: its I/O went through the CPU", d.mmap.V)
		}
	case rose(d.mmap):
		add(Both, Moved, "buffers were registered with the driver (Mmap +%d); what the I/O did is not counted", d.mmap.V)
	default:
		t := base
		t.Direction, t.Says = Both, Silent
		t.Summary, t.WouldSpeakIf = "no counter moved between the two looks: nothing shows that cuFile was used", "the run itself: the lines that it printed"
		h.say(t)
	}
}

// leastReads is how many read chunks the runs made at least; mostReads how many they can have made.
func (d driverWindow) leastReads() uint64 { return d.leastOps("Reads") }

// leastOps is the same of a row: an I/O is one chunk or more, and a chunk has 16 MiB at most.
func (d driverWindow) leastOps(row string) uint64 {
	n := uint64(0)
	for _, r := range d.Runs {
		if r.GDS && (r.Op == "read") == (row == "Reads") && r.Moved() {
			by := r.Bytes.V / chunk
			if r.Ops.OK {
				n += max(by, r.Ops.V)
			} else {
				n += max(by, 1)
			}
		}
	}
	return n
}

func (d driverWindow) mostReads() uint64 {
	n := uint64(0)
	for _, r := range d.Runs {
		if r.GDS && r.Op == "read" && r.Moved() {
			if !r.IOSize.OK || r.IOSize.V == 0 || !r.Ops.OK {
				return 0
			}
			n += max(r.Ops.V, r.Bytes.V/min(r.IOSize.V, chunk), r.Asked.Or(0)/min(r.IOSize.V, chunk)) + r.Threads.Or(1)
		}
	}
	return n
}

// otherPath is why flat counters of nvidia-fs do not mean the CPU: "" if nothing in the evidence says so.
func otherPath(h *hearing) string {
	if o := fact(h, facts.OtherPath); o.OK {
		return o.V + ", which does not pass nvidia-fs"
	}
	if c := fact(h, facts.CufileConfig); c.OK {
		if v, ok := c.V.Effective("properties.use_pci_p2pdma", ""); ok && v.Value == "true" {
			return "PCI P2PDMA is configured, which does not pass nvidia-fs"
		}
		if s, ok := c.V.Etc.JSON.Get("fs.weka.rdma_dev_addr_list"); ok && len(s.List) > 0 {
			return "WekaFS is given RDMA addresses, and its user-space RDMA does not pass nvidia-fs"
		}
	}
	return ""
}

// Size is a number of bytes for people.
func Size(b uint64) string {
	switch {
	case b >= 1<<30:
		return fmt.Sprintf("%.2f GiB", float64(b)/(1<<30))
	case b >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(b)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", b)
}
