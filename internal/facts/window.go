package facts

import (
	"cmp"
	"slices"
	"strings"

	"gdsproof/internal/evidence"
)

// Run is one piece of I/O that somebody did and that tells how much it moved.
type Run struct {
	Engine string // gdsio, dd, cufile, posix
	Op     string // read, write, "" if that is not told
	GDS    bool   // cuFile was asked for
	CPU    bool   // cuFile was not used at all: a control run
	Strict bool   // asked for with compat mode off; whether it was, only the library tells
	Bytes  Opt[uint64]
	Asked  Opt[uint64]
	Ops    Opt[uint64]
	IOSize Opt[uint64]
	// Threads is how many buffers are registered at least.
	Threads Opt[uint64]
	GiBs    Opt[float64]
	// CPUSeconds is what the run cost, user and system.
	CPUSeconds Opt[float64]
	// Phase and GPU are known of an experiment of our own.
	Phase, GPU string
	// CompatOff is what the library itself said that it went by, in this very run.
	CompatOff Opt[bool]
	Failed    string // the words of an error; "" if none was printed
	Code      Opt[int64]
	Line      string
	Item      int
	// Once: the line has all its numbers, to the last digit: the same line again is the same run.
	Once bool
	// File is what was read or written, "" where the command was not seen or does not tell.
	File string
}

// Moved tells that bytes are known to have been moved.
func (r Run) Moved() bool { return r.Bytes.OK && r.Bytes.V > 0 }

// Window is a fact seen twice with something, or nothing, done in between.
type Window[T any] struct {
	Phase         string // gds, control, mixed (both in one window), strict, why, idle (nothing known was done)
	Before, After T
	Runs          []Run
	Items         [2]int
	// Broken: the two cannot be compared: reset, reload, switch toggled.
	Broken string
}

// Moved sums what the runs of a direction moved; with gds, only of those that asked cuFile.
func (w Window[T]) Moved(op string, gds bool) (bytes uint64, n int) {
	for _, r := range w.Runs {
		if r.Op == op && (!gds || r.GDS) && r.Moved() {
			bytes += r.Bytes.V
			n++
		}
	}
	return bytes, n
}

// snapshot is one look at a counter file.
type snapshot[T any] struct {
	v    T
	item int
}

// windows pairs looks that are known to follow each other: within a series, and from one epoch to the next where each
// has one series alone.
func windows[T any](in *In, snaps []snapshot[T], broken func(a, b T) string) []Window[T] {
	_, driver := any(snaps).([]snapshot[NVFSStats])
	runs := Use(in, Runs).V
	at := func(s snapshot[T]) *evidence.Item { return in.item(s.item) }
	slices.SortStableFunc(snaps, func(a, b snapshot[T]) int {
		x, y := at(a), at(b)
		return cmp.Or(cmp.Compare(x.Step/evidence.Epoch, y.Step/evidence.Epoch), cmp.Compare(x.Series, y.Series), cmp.Compare(x.Step, y.Step))
	})
	seriesOf := map[int]map[string]bool{} // by epoch
	for _, s := range snaps {
		if it := at(s); !strings.HasPrefix(it.Series, evidence.Alone) {
			e := it.Step / evidence.Epoch
			if seriesOf[e] == nil {
				seriesOf[e] = map[string]bool{}
			}
			seriesOf[e][it.Series] = true
		}
	}
	var out []Window[T]
	typed, marks := in.typedItems(), identityMarks(in)
	long := slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return in.item(r.Item).Since == 0 })
	pair := func(a, b snapshot[T]) {
		w := Window[T]{Before: a.v, After: b.v, Items: [2]int{a.item, b.item}, Broken: broken(a.v, b.v)}
		w.Broken = cmp.Or(w.Broken, strangers(in, marks, at(a), at(b)))
		for _, i := range typed {
			if it := in.item(i); at(a).Before(it) && it.Before(at(b)) {
				in.note(i)
				b := BetweenLooks(strings.TrimSpace(string(it.Out)))
				if w.Broken = cmp.Or(w.Broken, b.Anew); driver {
					w.Broken = cmp.Or(w.Broken, b.Switched)
				}
			}
		}
		w.Runs = runsBetween(in, runs, at(a), at(b))
		w.Phase = phaseOf(w.Runs)
		out = append(out, w)
	}
	sole := func(s snapshot[T]) bool { return len(seriesOf[at(s).Step/evidence.Epoch]) == 1 }
	last := map[string]snapshot[T]{} // of each series; "" is that of the common order
	for _, s := range snaps {
		it := at(s)
		// A look in the middle of a run would part what it counted: the window around the whole run tells more.
		if slices.ContainsFunc(long, func(r Run) bool { return it.During(in.item(r.Item)) }) {
			continue
		}
		if l, ok := last[it.Series]; ok && it.Series != "" && at(l).Before(it) {
			pair(l, s)
		} else if l, ok := last[""]; ok && !strings.HasPrefix(it.Series, evidence.Alone) && at(l).Before(it) && sole(l) && sole(s) {
			pair(l, s)
		}
		last[it.Series] = s
		if !strings.HasPrefix(it.Series, evidence.Alone) {
			last[""] = s
		}
	}
	return out
}

// runsBetween are the runs that are known to lie between two looks.
func runsBetween(in *In, runs []Run, a, b *evidence.Item) []Run {
	var out []Run
	for _, r := range runs {
		if it := in.item(r.Item); a.Before(it) && it.Before(b) {
			out = append(out, r)
		}
	}
	return out
}

func phaseOf(runs []Run) string {
	gds, cpu := false, false
	apart := len(runs) > 0
	for _, r := range runs {
		gds, cpu = gds || r.GDS, cpu || r.CPU
		apart = apart && (r.Phase == PhaseStrict || r.Phase == PhaseWhy)
	}
	switch {
	case apart: // runs with another configuration than the user's
		return runs[0].Phase
	case gds && cpu:
		return "mixed"
	case gds:
		return "gds"
	case cpu:
		return "control"
	}
	return "idle"
}

// looks are the items of some sources that gave an answer.
func (in *In) looks(sources ...string) []int {
	var out []int
	for i := range in.t.Set.Items {
		it := &in.t.Set.Items[i]
		if it.Place == in.place && it.OK() && slices.Contains(sources, it.Source) {
			out = append(out, i)
			in.note(i)
		}
	}
	return out
}

func (in *In) item(i int) *evidence.Item { return &in.t.Set.Items[i] }

// StepOf is the step of an item.
func (in *In) StepOf(i int) int { return in.item(i).Step }

// Ordered tells that one item is known to have been taken before another.
func (in *In) Ordered(i, j int) bool { return in.item(i).Before(in.item(j)) }

// Origin names an item: its source, and where its text came from if that differs.
func (in *In) Origin(i int) (source, origin string) {
	it := in.item(i)
	return it.Source, it.Origin
}

// DriverWindows are the driver's statistics before and after.
var DriverWindows = Define("driver-windows", Sources(Stats.Sources, nil), func(in *In) Known[[]Window[NVFSStats]] {
	var snaps []snapshot[NVFSStats]
	for _, i := range in.looks(NVFSProc + "/stats") {
		it := in.item(i)
		if s := ParseNVFSStats(it.Out); len(s.Rows) > 0 {
			snaps = append(snaps, snapshot[NVFSStats]{s, i})
		}
	}
	ws := windows(in, snaps, brokenDriver)
	if it := in.Last(NVFSProc + "/stats"); len(ws) == 0 && it != nil && it.State == evidence.Absent {
		return Because[[]Window[NVFSStats]](NVFSProc+"/stats is not there: nvidia-fs is not loaded", "nvidia-fs loaded")
	}
	if len(ws) == 0 {
		return Because[[]Window[NVFSStats]]("the driver's statistics were not seen before and after", NVFSProc+"/stats before and after the I/O")
	}
	return Have(ws)
})

// DriverAbsent tells that every look at the driver's statistics found them not to be there.
var DriverAbsent = Define("driver-absent", Stats.Sources, func(in *In) Known[bool] {
	seen := false
	for i := range in.t.Set.Items {
		it := &in.t.Set.Items[i]
		if it.Place != in.place || it.Source != NVFSProc+"/stats" {
			continue
		}
		if it.State != evidence.Absent {
			return Have(false)
		}
		in.note(i)
		seen = true
	}
	if !seen {
		return Because[bool]("nobody looked at "+NVFSProc, NVFSProc+"/stats")
	}
	return Have(true)
})

// brokenDriver tells why two looks at the driver's counters cannot be compared.
func brokenDriver(a, b NVFSStats) string {
	switch {
	case a.Driver != "" && b.Driver != "" && a.Driver != b.Driver:
		return "another version was loaded in between"
	case a.IOStats.OK && b.IOStats.OK && a.IOStats.V != b.IOStats.V:
		return "IO stats were switched in between"
	}
	for row, keys := range a.Rows {
		if row == RowShadow || row == RowProcess || row == RowOps {
			continue // gauges
		}
		for k, v := range keys {
			if now, ok := b.Rows[row][k]; ok && now < v && !nvfsGauge[k] {
				return "a counter fell: the module was reloaded or its counters were reset, or the looks are in the wrong order, or of two machines"
			}
		}
	}
	return ""
}

// nvfsGauge are values of counter rows that rise and fall.
var nvfsGauge = map[string]bool{"active": true, "dma-ref": true, "delay-frees": true, "Bandwidth(MiB/s)": true, "Avg-Latency(usec)": true, "Avg-Submit-Latency(usec)": true}

// Rise is by how much a counter rose; absent where either look lacks it.
func Rise(w Window[NVFSStats], row, key string) Opt[uint64] {
	a, b := w.Before.Counter(row, key), w.After.Counter(row, key)
	if !a.OK || !b.OK || b.V < a.V {
		return Opt[uint64]{}
	}
	return Some(b.V - a.V)
}
