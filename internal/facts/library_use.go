package facts

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gdsproof/internal/evidence"
)

// LibraryCounts are I/Os by the way they took, as libcufile counts them.
type LibraryCounts struct{ NVFS, P2P, POSIX uint64 }

// Total is the number of I/Os.
func (c LibraryCounts) Total() uint64 { return c.NVFS + c.P2P + c.POSIX }

// LibraryTold is what libcufile told of one program's I/O.
type LibraryTold struct {
	Source                 string // for people: "gds_stats", "cufile.log of process 77"
	Item                   int
	Reads, Writes, Unsplit LibraryCounts
	// Compat is the words by which the log's last process said that all it does goes through the CPU; its I/O was not
	// logged one by one then.
	Compat string
	// Idle: no I/O is shown beside those words, and it would be: the log was cut, is detailed enough to list each, or
	// tells of a file that could not be registered.
	Idle bool
	// Issued is how many I/Os were asked for, where that is known: fewer counted ones are not all of them.
	Issued map[string]uint64
}

// LibraryUse is what libcufile told of programs' I/O: its own statistics, and its log where that is detailed enough.
var LibraryUse = Define("library-use", nil, func(in *In) Known[[]LibraryTold] {
	var out []LibraryTold
	for _, i := range in.looks(GDSStatsSource) {
		s, ok := ParseGDSStats(in.item(i).Out)
		if !ok {
			continue
		}
		read, write := s.Sum()
		told := LibraryTold{Source: "gds_stats", Item: i, Reads: libraryCounts(read), Writes: libraryCounts(write)}
		if told.Reads.Total()+told.Writes.Total() > 0 {
			out = append(out, told)
		}
	}
	counted := toldByEngine(Use(in, LoadResults).V)
	ours := Use(in, Experiment).OK
	for _, i := range in.looks(PastedCufileLog, CufileLogSource) {
		if ours && in.item(i).Source == CufileLogSource {
			continue // the check's own open, which moved nothing
		}
		t, err := ParseCufileTraffic(bytes.NewReader(in.item(i).Out))
		if err != nil || len(counted) > 0 { // the engine's own counts are of every I/O; the log is of a short run beside them
			continue
		}
		for k, p := range t.Processes {
			told := LibraryTold{Source: fmt.Sprintf("cufile.log of process %d", p.PID), Item: i, Reads: pathCounts(p.Read), Writes: pathCounts(p.Write), Unsplit: pathCounts(p.Unsplit)}
			counted := told.Reads.Total() + told.Writes.Total() + told.Unsplit.Total()
			if counted == 0 && p.Compat != nil && k == len(t.Processes)-1 {
				told.Compat, told.Idle = p.Compat.Message, t.Cut || in.item(i).Truncated && in.item(i).Form == evidence.Filtered || showsNoIO(p)
			}
			if counted > 0 || told.Compat != "" {
				out = append(out, told)
			}
		}
	}
	out = append(out, counted...)
	if len(out) == 0 {
		return Because[[]LibraryTold]("libcufile's own counts were not seen", "gds_stats -l 3 of the program, or its cufile.log at level TRACE")
	}
	return Have(out)
})

// showsNoIO tells of a process without any I/O in its log that there would be some there, or that it may have done none.
func showsNoIO(p CufileProcess) bool {
	if slices.Contains([]string{"INFO", "DEBUG", "TRACE"}, p.Level) {
		return true
	}
	other := false // without another line, not even a file was tried
	for _, r := range p.Reasons {
		other = other || !strings.Contains(r.Message, "running in compatible mode")
		if strings.Contains(r.Message, "udev property not found") || strings.Contains(r.Message, "error getting volume attributes") {
			return true
		}
	}
	return !other
}

// toldByEngine joins the counts of our own engine's runs of a phase and direction: one for each GPU. Those with
// compat mode off are the strict witness's.
func toldByEngine(list []LoadItem) []LibraryTold {
	var out []LibraryTold
	at, gpus, posix := map[string]int{}, map[int]int{}, map[int][]string{}
	for _, r := range list {
		// The library counts an I/O that failed too: a run that moved nothing shows no way.
		if r.Stats == nil || r.Bytes == 0 || r.Job.Strict || r.Job.Phase == PhaseWhy || !r.GDS() {
			continue
		}
		key := r.Job.Phase + " " + r.Job.Op
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, LibraryTold{Source: "libcufile's statistics", Item: r.Item, Issued: map[string]uint64{}})
		}
		c := LibraryCounts{NVFS: r.Stats.NVFS, P2P: r.Stats.P2P, POSIX: r.Stats.POSIX}
		to := &out[i].Reads
		if r.Job.Op == "write" {
			to = &out[i].Writes
		}
		to.NVFS, to.P2P, to.POSIX = to.NVFS+c.NVFS, to.P2P+c.P2P, to.POSIX+c.POSIX
		out[i].Issued[r.Job.Op] += r.Ops
		if c.POSIX > 0 {
			posix[i] = append(posix[i], strconv.Itoa(r.Job.GPU.Index))
		}
		gpus[i]++
	}
	for i := range out {
		if n := len(posix[i]); n > 0 && n < gpus[i] {
			out[i].Source += "; POSIX on GPU " + strings.Join(posix[i], ", ")
		}
	}
	return out
}

// libraryCounts reads a direction of gds_stats: up to 1.13 it prints only how many of all were POSIX, and what was not
// was nvidia-fs's then. Without that split nothing is told of the path.
func libraryCounts(d GDSStatsIO) LibraryCounts {
	if !d.Ops.OK || !d.Posix.OK || d.Posix.V > d.Ops.V || d.Errors.V > 0 && d.Errors.V >= d.Ops.V {
		return LibraryCounts{}
	}
	c := LibraryCounts{POSIX: d.Posix.V, P2P: d.P2P.Or(0)}
	if c.POSIX+c.P2P > d.Ops.V {
		return LibraryCounts{}
	}
	c.NVFS = d.Ops.V - c.POSIX - c.P2P
	return c
}

func pathCounts(p CufilePaths) LibraryCounts {
	return LibraryCounts{NVFS: p.NVFS + p.Direct, P2P: p.P2P, POSIX: p.Posix}
}

// CompatOff tells what a process's log says of its fallback.
type CompatOff struct {
	Off     bool   // allow and force are printed as false
	Line    string // the words
	Refused string // the words by which the direct path was refused then
}

// StrictOff is what the last process of the logs says that it went by.
var StrictOff = Define("strict-off", nil, func(in *In) Known[CompatOff] {
	var out Known[CompatOff]
	for _, i := range in.looks(PastedCufileLog) {
		t, err := ParseCufileTraffic(bytes.NewReader(in.item(i).Out))
		if err != nil {
			continue
		}
		for _, p := range t.Processes {
			c := CompatOff{Off: p.UseCompat == Some(false) && !p.ForceCompat.V, Line: fmt.Sprintf("process %d: use_compat_mode : %v", p.PID, p.UseCompat.V)}
			// An open that ends over a missing driver had no fallback, whatever was printed of the settings.
			words := refusal(p)
			if !p.UseCompat.OK && words == "" {
				continue
			}
			if c.Off = c.Off || !p.UseCompat.OK; c.Off {
				c.Refused = words
			}
			out = Have(c)
			out.From = []int{i}
		}
	}
	if !out.OK {
		return Because[CompatOff]("no log tells what the library went by", "cufile.log of the run at level INFO")
	}
	return out
})

// refusal finds the words by which a process without a fallback was refused the direct path.
func refusal(p CufileProcess) string {
	if p.Paths().NVFS+p.Paths().P2P+p.Paths().Direct > 0 {
		return "" // another open or file of the same process went directly: which one is in question is not told
	}
	for _, o := range p.Opens {
		if !o.OK && o.Code.OK && (o.Code.V == 5001 || o.Code.V == 5008) {
			return fmt.Sprintf("driver open %d: %s", o.Code.V, o.Message)
		}
	}
	for _, h := range p.Handles {
		if h.OK.OK && !h.OK.V && h.Code.OK && h.Code.V == 5008 {
			return h.Line.Message
		}
	}
	return ""
}

// RefusedFile knows gdsio's words for a file that is refused the direct path, which come with compat mode off alone.
func RefusedFile(s string) bool { return strings.Contains(s, "GPUDirect Storage not supported") }

// Unregistered are the words of files that could not be registered at all, of processes that did no I/O.
var Unregistered = Define("unregistered-files", nil, func(in *In) Known[[]string] {
	var out []string
	for _, i := range in.looks(PastedCufileLog, CufileLogSource) {
		t, err := ParseCufileTraffic(bytes.NewReader(in.item(i).Out))
		if err != nil {
			continue
		}
		for _, p := range t.Processes {
			for _, h := range p.Handles {
				if h.OK == Some(false) && (h.Code.V == 5027 || h.Code.V == 5030) && p.Paths().Total() == 0 {
					out = append(out, fmt.Sprintf("%s (%d)", h.Line.Message, h.Code.V))
				}
			}
		}
	}
	return Have(out)
})
