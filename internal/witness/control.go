package witness

import (
	"fmt"

	"gdsproof/internal/facts"
)

// controlHears speaks of the windows in which only the CPU was asked: the driver must not move there. If it does,
// somebody else was at work, or the control run was none.
func controlHears(h *hearing) {
	ws := fact(h, facts.DriverWindows)
	plan := fact(h, facts.Experiment)
	said := false
	for _, w := range ws.V {
		idle := plan.OK && h.idleOf(plan.V, w.Items)
		if w.Phase == "control" && w.Broken != "" {
			h.say(Testimony{Witness: Control, Direction: Both, Phase: "control", Says: Silent, Summary: w.Broken, WouldSpeakIf: "the same runs once more", Evidence: h.quote(w.Items[:]...)})
			said = true
		}
		if w.Phase != "control" && !idle || w.Broken != "" {
			continue
		}
		d := readWindow(w)
		if idle {
			// Still says nothing here: no I/O of ours was at work.
			if rose(d.mmap) || rose(d.sparse) || rose(d.reads) || rose(d.writes) {
				h.say(Testimony{Witness: Control, Direction: Both, Phase: "idle", Says: Moved, Numbers: d.numbers(), Evidence: h.quote(w.Items[:]...),
					Summary: "the driver's counters moved while nothing of ours was at work: another program uses GDS on this host", WouldSpeakIf: "the same experiment with nothing else at work"})
				said = true
			}
			continue
		}
		dir := Both
		dirs := map[string]bool{}
		for _, r := range w.Runs {
			dirs[direction(r.Op)] = true
		}
		if len(dirs) == 1 {
			for k := range dirs {
				dir = k
			}
		}
		t := Testimony{Witness: Control, Direction: dir, Phase: "control", Numbers: d.numbers(), Evidence: h.quote(w.Items[:]...)}
		if rose(d.mmap) || rose(d.sparse) || rose(d.reads) || rose(d.writes) {
			t.Says = Moved
			t.Summary = "the driver's counters moved during a run that did not ask for GDS: another program uses GDS on this host, or the run was no control"
			t.WouldSpeakIf = "the same runs with nothing else at work"
		} else {
			t.Says, t.Summary = Still, "the driver's counters did not move during the run through the CPU"
		}
		h.say(t)
		said = true
	}
	if !said {
		if !ws.OK && plan.OK {
			h.say(Testimony{Witness: Control, Direction: Both, Says: Silent, Summary: ws.Why, WouldSpeakIf: ws.Need})
			return
		}
		if why := plan.V.LeftOut[facts.PhaseControl]; why != "" {
			h.say(Testimony{Witness: Control, Direction: Both, Says: Silent, Summary: "the run through the CPU was left out: " + why, WouldSpeakIf: "gdsproof prove without --no-control"})
			return
		}
		h.say(Testimony{Witness: Control, Direction: Both, Says: Silent, Summary: "no run through the CPU lies between two looks at the driver's counters", WouldSpeakIf: "a run with -x 1 and the counters behind it"})
	}
}

// libraryHears speaks of what libcufile says of its own I/O: its statistics, and its log at level TRACE.
func libraryHears(h *hearing) {
	heard := false
	for _, u := range fact(h, facts.LibraryUse).V {
		if u.Compat != "" {
			heard = true
			t := Testimony{Witness: Library, Direction: Both, Phase: "gds", Says: Compat, Evidence: h.quote(u.Item),
				Summary: fmt.Sprintf("%s says \"%s\": nvidia-fs was not found, and all its I/O goes through the CPU", u.Source, u.Compat)}
			if u.Idle {
				t.Says, t.WouldSpeakIf = Silent, "the whole log, at level TRACE"
				t.Summary = fmt.Sprintf("%s says \"%s\": nvidia-fs was not found, and I/O would go through the CPU; none is in what the log shows", u.Source, u.Compat)
			}
			h.say(t)
		}
		for _, l := range []struct {
			dir string
			n   facts.LibraryCounts
		}{{Reads, u.Reads}, {Writes, u.Writes}, {Both, u.Unsplit}} {
			if l.n.Total() == 0 {
				continue
			}
			heard = true
			n := l.n
			if issued := u.Issued[map[string]string{Reads: "read", Writes: "write"}[l.dir]]; n.Total() < issued {
				h.say(Testimony{Witness: Library, Direction: l.dir, Phase: "gds", Says: Silent, Evidence: h.quote(u.Item), Numbers: map[string]uint64{"issued": issued, "total": n.Total(), "nvfs": n.NVFS, "p2p": n.P2P, "posix": n.POSIX},
					Summary: fmt.Sprintf("%d I/Os were issued and %d were counted (%s)", issued, n.Total(), u.Source), WouldSpeakIf: "a libcufile that counts every I/O (1.15 and later)"})
				continue
			}
			t := Testimony{Witness: Library, Direction: l.dir, Phase: "gds", Evidence: h.quote(u.Item),
				Numbers: map[string]uint64{"total": n.Total(), "nvfs": n.NVFS, "p2p": n.P2P, "posix": n.POSIX}}
			what := map[string]string{Reads: "reads", Writes: "writes", Both: "operations"}[l.dir]
			switch {
			case n.POSIX == n.Total():
				t.Says, t.Summary = Compat, fmt.Sprintf("%d of %d %s were POSIX (%s)", n.POSIX, n.Total(), what, u.Source)
			case n.POSIX > 0:
				t.Says, t.Summary = Mixed, fmt.Sprintf("%d of %d %s were POSIX, the others direct (%s)", n.POSIX, n.Total(), what, u.Source)
			case n.P2P > 0:
				t.Says, t.Summary = P2PDMA, fmt.Sprintf("%d of %d %s took PCI P2PDMA, none was POSIX (%s)", n.P2P, n.Total(), what, u.Source)
			default:
				t.Says, t.Summary = GDS, fmt.Sprintf("%d of %d %s took the GDS path, none was POSIX (%s)", n.NVFS+n.P2P, n.Total(), what, u.Source)
			}
			h.say(t)
		}
	}
	if !heard {
		h.say(Testimony{Witness: Library, Direction: Both, Says: Silent, Summary: "nothing seen tells what libcufile counted",
			WouldSpeakIf: "libcufile's own statistics (profile.cufile_stats 3 and gds_stats -l 3), or its log at level TRACE"})
	}
}

// gdsReasons are errors by which libcufile refuses the direct path, with compat mode off (cufile.md 3.2).
var gdsReasons = map[int64]string{5001: "nvidia-fs is not loaded", 5008: "GDS is not supported on this file"}

// strictHears speaks of runs with compat mode off. A refusal shows by itself that it was off; a success speaks only if
// the library said what it went by.
func strictHears(h *hearing) {
	heard := false
	off, plan := fact(h, facts.StrictOff), fact(h, facts.Experiment)
	if plan.OK { // its logs are told run by run
		off = facts.Known[facts.CompatOff]{}
	}
	for _, r := range fact(h, facts.Runs).V {
		t := Testimony{Witness: Strict, Direction: direction(r.Op), Phase: "strict", Evidence: h.quote(r.Item)}
		if plan.OK && r.Phase != facts.PhaseStrict {
			// A run with the user's own configuration: that one may have compat mode off, and then a refusal speaks.
			if r.Failed == "" || !r.GDS || gdsReasons[r.Code.V] == "" && !facts.RefusedFile(r.Failed) {
				continue
			}
		}
		switch {
		case plan.OK && r.Strict && r.Failed == "" && r.Asked.V > 0 && r.Bytes.V*10 < r.Asked.V*9:
			t.Says, t.Summary, t.WouldSpeakIf = Silent, fmt.Sprintf("the run with compat mode off moved %s of %s", Size(r.Bytes.V), Size(r.Asked.V)), "a run that moves all of it"
		case r.Strict && r.GDS && r.Moved() && r.Failed == "" && r.CompatOff == facts.Some(true):
			t.Says, t.Summary = OK, fmt.Sprintf("%s moved with compat mode off, as read back from the library", Size(r.Bytes.V))
			t.Numbers = map[string]uint64{"bytes": r.Bytes.V}
		case plan.OK && r.Strict && r.Failed != "" && gdsReasons[r.Code.V] == "" && !facts.RefusedFile(r.Failed):
			t.Says, t.Summary, t.WouldSpeakIf = Silent, "the run with compat mode off failed for another reason: "+r.Failed, "that reason mended"
		case !plan.OK && r.Failed != "" && r.GDS && h.mendedSince(r.Item):
			t.Says, t.Summary = Silent, "refused at first ("+r.Failed+"), and later I/O entered the driver: what was wrong then is mended"
			t.WouldSpeakIf = "a run with compat mode off after the last change"
		case r.Failed != "" && r.GDS && (gdsReasons[r.Code.V] != "" || facts.RefusedFile(r.Failed)):
			t.Says, t.Summary = Failed, "refused with compat mode off: "+r.Failed
		case r.Strict && r.GDS && r.Moved() && off.OK && off.V.Off:
			t.Says, t.Summary = OK, fmt.Sprintf("%s moved with compat mode off, as the library's log says (%s)", Size(r.Bytes.V), off.V.Line)
			t.Numbers = map[string]uint64{"bytes": r.Bytes.V}
		case r.Strict && r.GDS && r.Moved():
			t.Says, t.Summary = Silent, "a run that asked for compat mode off succeeded; what the library really went by was not seen"
			t.WouldSpeakIf = "cufile.log of that run at level INFO, with use_compat_mode : false in it"
		default:
			continue
		}
		heard = true
		h.say(t)
	}
	if off.OK && off.V.Off && off.V.Refused != "" {
		heard = true
		h.say(Testimony{Witness: Strict, Direction: Both, Phase: "strict", Says: Failed, Summary: "refused with compat mode off: " + off.V.Refused, Evidence: h.quote(off.From...)})
	}
	if why := plan.V.LeftOut[facts.PhaseStrict]; !heard && why != "" {
		h.say(Testimony{Witness: Strict, Direction: Both, Says: Silent, Summary: "the run with compat mode off was left out: " + why, WouldSpeakIf: "gdsproof prove without --no-strict, where it can be made"})
		return
	}
	if !heard {
		h.say(Testimony{Witness: Strict, Direction: Both, Says: Silent, Summary: "no run with compat mode off was seen", WouldSpeakIf: "a read and a write with allow_compat_mode and force_compat_mode false, and the log of that run"})
	}
}

// dataHears speaks of runs that compared what they read with what was written.
func dataHears(h *hearing) {
	for _, v := range fact(h, facts.Verifications).V {
		t := Testimony{Witness: Data, Direction: Reads, Phase: "gds", Says: OK, Summary: "what was read is what was written: " + v.Line, Evidence: h.quote(v.Item)}
		if !v.OK {
			t.Says, t.Summary = Failed, "DATA WRONG: "+v.Line
		}
		h.say(t)
	}
}

// mendedSince tells that a window that begins behind an item shows I/O inside the driver.
func (h *hearing) mendedSince(item int) bool {
	for _, w := range fact(h, facts.DriverWindows).V {
		if d := readWindow(w); w.Broken == "" && h.in.Ordered(item, w.Items[0]) && (rose(d.reads) || rose(d.writes) || rose(d.sparse)) {
			return true
		}
	}
	return false
}
