package witness

import (
	"strings"
	"testing"

	"gdsproof/internal/report"
)

var all = struct{ library, driver, strict, wire, control, data []Says }{
	library: []Says{Silent, GDS, P2PDMA, Compat, Mixed},
	driver:  []Says{Silent, GDS, Moved, Compat, Mixed},
	strict:  []Says{Silent, OK, Failed},
	wire:    []Says{Silent, EFA, TCP, Still},
	control: []Says{Silent, Still, Moved},
	data:    []Says{Silent, OK, Failed},
}

// walk calls f with every combination of testimony of one direction, with and without EFA in question.
func walk(f func(l lane, c Case, ts []Testimony, v report.Verdict)) (n int) {
	for _, efa := range []bool{false, true} {
		c := Case{EFA: efa}
		for _, lib := range all.library {
			for _, drv := range all.driver {
				for _, str := range all.strict {
					for _, wir := range all.wire {
						for _, ctl := range all.control {
							for _, dat := range all.data {
								ts := []Testimony{say(Library, Reads, lib), say(Driver, Reads, drv), say(Strict, Reads, str), say(Wire, Reads, wir), say(Data, Reads, dat),
									{Witness: Control, Direction: Reads, Phase: "control", Says: ctl}}
								f(lane{library: lib, driver: drv, strict: str, wire: wir, control: ctl, data: dat}, c, ts, Decide(ts, c))
								n++
							}
						}
					}
				}
			}
		}
	}
	return n
}

func say(w, dir string, s Says) Testimony {
	return Testimony{Witness: w, Direction: dir, Phase: "gds", Says: s}
}

// TestDecideNeverProvesTooMuch states, apart from the table, what must hold of every combination of testimony.
func TestDecideNeverProvesTooMuch(t *testing.T) {
	seen := map[report.Outcome]int{}
	n := walk(func(l lane, c Case, _ []Testimony, v report.Verdict) {
		seen[v.Outcome]++
		driver, wire := l.driver, l.wire
		if l.control == Moved {
			driver, wire = Silent, Silent
		}
		if l.library == P2PDMA && (driver == Compat || driver == Mixed) {
			driver = Silent // P2PDMA does not pass nvidia-fs
		}
		odd := l.library == GDS && (driver == Compat || driver == Mixed)
		cpu := l.library == Compat || l.library == Mixed || driver == Compat || driver == Mixed || l.strict == Failed || l.data == Failed
		direct := l.library == GDS || l.library == P2PDMA || driver == GDS || l.strict == OK
		if v.Outcome == report.Proven {
			if cpu || !direct || c.EFA && wire != EFA {
				t.Errorf("proven: %+v, %+v: %s", l, c, v.Summary)
			}
		} else if direct && !cpu && (!c.EFA || wire == EFA) && !odd {
			t.Errorf("%s: %+v, %+v: %s", v.Outcome, l, c, v.Summary)
		}
		if l.data == Failed && (v.Outcome != report.Refuted || !strings.Contains(v.Summary, "DATA WRONG")) {
			t.Errorf("wrong data: %s: %+v", v.Outcome, l)
		}
		if cpu && (v.Outcome == report.Unproven || v.Outcome == report.Ready) {
			t.Errorf("%s although a witness says CPU: %+v", v.Outcome, l)
		}
		if l.library == Compat && driver != GDS && l.strict != Failed && driver != Mixed && v.Outcome != report.Refuted {
			t.Errorf("%s although the library says CPU: %+v", v.Outcome, l)
		}
		if c.EFA && wire == Still && direct && !cpu && !odd && v.Outcome != report.Contradicted {
			t.Errorf("%s although the wire stayed still: %+v", v.Outcome, l)
		}
		if v.Outcome == report.Refuted && !cpu && !(c.EFA && wire == TCP) {
			t.Errorf("refuted without a witness that says so: %+v", l)
		}
	})
	if n != 2*5*5*3*4*3*3 {
		t.Errorf("%d combinations", n)
	}
	for _, o := range []report.Outcome{report.Proven, report.Refuted, report.Mixed, report.Contradicted, report.Unproven} {
		if seen[o] == 0 {
			t.Errorf("no combination is %s", o)
		}
	}
}

// TestEveryRowIsReached: a row that another one always hides is no row.
func TestEveryRowIsReached(t *testing.T) {
	hit := map[int]bool{}
	walk(func(l lane, c Case, ts []Testimony, _ report.Verdict) {
		hit[judgeDirection(silenced(ts), Reads, c).no] = true
	})
	for i, r := range laneRows {
		if r.no != i+1 || !hit[r.no] {
			t.Errorf("row %d (%s) is number %d, reached: %v", i+1, r.words, r.no, hit[r.no])
		}
	}
}

func TestDecideJoins(t *testing.T) {
	reads := []Testimony{say(Driver, Reads, GDS), say(Wire, Reads, EFA)}
	registered := append(reads[:2:2], say(Driver, Writes, Moved), say(Wire, Writes, EFA))
	for name, tc := range map[string]struct {
		ts                    []Testimony
		c                     Case
		want, readsO, writesO report.Outcome
		words                 string
	}{
		"nothing said":                     {nil, Case{}, report.Unproven, "", "", "no witness"},
		"no GPU":                           {reads, Case{NotApplicable: "no NVIDIA GPU"}, report.NotApplicable, "", "", "no NVIDIA GPU"},
		"could not move":                   {nil, Case{CannotMove: "5027: no /run/udev"}, report.NotReady, "", "", "5027"},
		"reads alone":                      {reads, Case{EFA: true}, report.Proven, report.Proven, "", "over EFA"},
		"reads proven, writes registered":  {registered, Case{EFA: true, WritesAllowed: true}, report.Proven, report.Proven, report.Unproven, "writes registered, not counted"},
		"writes may be off":                {registered, Case{EFA: true}, report.Unproven, report.Proven, report.Unproven, "gds_rdma_write_support"},
		"writes' wire unknown":             {append(reads[:2:2], say(Driver, Writes, Moved)), Case{EFA: true, WritesAllowed: true}, report.Unproven, report.Proven, report.Unproven, "EFA"},
		"reads proven, writes through CPU": {append(reads[:2:2], say(Driver, Writes, Compat), say(Wire, Writes, EFA)), Case{EFA: true, WritesAllowed: true}, report.Refuted, report.Proven, report.Refuted, "writes went through the CPU"},
		"a part of the writes":             {append(reads[:2:2], say(Library, Writes, Mixed)), Case{}, report.Mixed, report.Proven, report.Mixed, "writes went partly"},
		"two windows disagree":             {[]Testimony{say(Driver, Reads, GDS), say(Driver, Reads, Compat)}, Case{}, report.Mixed, report.Mixed, "", "partly"},
		"both at once":                     {[]Testimony{say(Driver, Both, Compat)}, Case{}, report.Refuted, "", "", "I/O went through the CPU"},
		"the wire alone proves nothing":    {[]Testimony{say(Wire, Reads, EFA)}, Case{EFA: true}, report.Unproven, "", "", ""},
		"the control's wire is not theirs": {[]Testimony{say(Driver, Reads, GDS), {Witness: Wire, Direction: Reads, Phase: "control", Says: EFA}}, Case{EFA: true}, report.Unproven, report.Unproven, "", "nothing shows that EFA"},
		"strict refused, forced elsewhere": {[]Testimony{say(Strict, Reads, OK), say(Driver, Reads, Compat)}, Case{}, report.Refuted, report.Refuted, "", "CPU"},
	} {
		t.Run(name, func(t *testing.T) {
			v := Decide(tc.ts, tc.c)
			if v.Outcome != tc.want || v.Reads != tc.readsO || v.Writes != tc.writesO || !strings.Contains(v.Summary, tc.words) {
				t.Errorf("%s (reads %s, writes %s): %s", v.Outcome, v.Reads, v.Writes, v.Summary)
			}
		})
	}
}
