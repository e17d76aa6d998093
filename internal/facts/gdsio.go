package facts

import (
	"slices"
	"strconv"
	"strings"
)

// Gdsio is what gdsio printed: result lines of runs that ended, and error lines of runs that did not. The tool's exit
// status is no part of it: a failed driver open exits 0. XferType is what was asked for; it proves no path.
type Gdsio struct {
	Runs       []GdsioRun
	Errors     []GdsioError
	Verified   Opt[bool]          // of gdsio_verify and of -V; one failure outweighs any success
	Totals     map[string]float64 // GiB/s by "read" and "write": sums of several processes, which gdsio does not print itself
	LogWarning string             // the library could not open its log: harmless
}

// GdsioRun is a result line.
type GdsioRun struct {
	Op               string // "read", "write", "" if it cannot be told
	Random           bool
	IoType, XferType string // as printed, "" where a cut or old line lacks them
	GDS, CPU         bool   // what XferType asks for: cuFile with GPU memory, or no cuFile; neither: not known

	Threads, Depth, Ops                Opt[uint64]
	DoneBytes, AskedBytes, IOSizeBytes Opt[uint64] // IOSizeBytes is absent where sizes vary, and below 1 KiB
	MinIOSize, MaxIOSize               Opt[uint64] // of runs with sizes that vary
	GiBs, LatencyUsec, Seconds         Opt[float64]

	Odd    []string // where the line does not agree with itself
	Line   string   // joined, where it was wrapped
	LineNo int
	Cut    bool // its end is missing
}

// Empty tells whether nothing of gdsio's was found.
func (g Gdsio) Empty() bool {
	return len(g.Runs) == 0 && len(g.Errors) == 0 && !g.Verified.OK && len(g.Totals) == 0 && g.LogWarning == ""
}

// ParseGdsio reads output of gdsio and gdsio_verify, of one or many processes, with anything between. Result lines may
// be wrapped, quoted, prefixed by a launcher, squeezed, or cut.
func ParseGdsio(b []byte) Gdsio {
	var r gdsioReader
	for line, whole := range rawLines(b) {
		r.no++
		line = gdsioClean(line)
		low := lowerASCII(line)
		// Two results without a line break between them, as parallel processes print.
		from := 0
		if i := strings.Index(low, "iotype:"); i >= 0 {
			for at := i + 1; ; {
				j := strings.Index(low[at:], "iotype:")
				if j < 0 {
					break
				}
				r.feed(line[from:at+j], true)
				from, at = at+j, at+j+1
			}
		}
		r.feed(line[from:], whole)
	}
	r.flush()
	return r.out
}

// IsGdsioLine tells a line that gdsio prints, or the guide's sum of several, from others.
func IsGdsioLine(line string) bool {
	low := strings.TrimSpace(lowerASCII(gdsioClean(unquote(line))))
	for _, p := range []string{"verifying data", "url index :", "gpu index :", "gdsio version"} {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	return len(gdsioLabelsIn(low)) >= gdsioEnough || !ParseGdsio([]byte(line+"\n")).Empty()
}

// gdsioClean takes off what a terminal, a launcher's colours or a page put there.
func gdsioClean(line string) string {
	if strings.ContainsRune(line, 0x1b) {
		line = smiEscape.ReplaceAllString(line, "")
	}
	return strings.TrimSpace(gdsioPage.Replace(line))
}

var gdsioPage = strings.NewReplacer("，", ",", "：", ":", "\u00a0", " ", "**", "", "`", "", "\r", "")

// gdsioLabels in the order of the line.
var gdsioLabels = []string{"iotype:", "xfertype:", "threads:", "iodepth:", "datasetsize:", "iosize:", "throughput:", "avg_latency:", "ops:", "total_time"}

const (
	gdsioIoType = iota
	gdsioXferType
	gdsioThreads
	gdsioDepth
	gdsioDataSet
	gdsioIOSize
	gdsioThroughput
	gdsioLatency
	gdsioOps
	gdsioTime
)

// gdsioEnough labels make a result line: one or two stand in prose and tables too.
const gdsioEnough = 3

type gdsioLabel struct{ label, at, end int }

// gdsioLabelsIn finds the labels of a line in lower case, in the order of the line: a label behind a later one is
// something else.
func gdsioLabelsIn(low string) []gdsioLabel {
	var out []gdsioLabel
	from := 0
	for i, l := range gdsioLabels {
		if j := strings.Index(low[from:], l); j >= 0 {
			// "ops:" must not be looked for behind a label that comes later than it.
			if k := slices.IndexFunc(gdsioLabels[i+1:], func(next string) bool {
				n := strings.Index(low[from:], next)
				return n >= 0 && n < j
			}); k >= 0 {
				continue
			}
			at := from + j
			from = at + len(l)
			out = append(out, gdsioLabel{i, at, from})
		}
	}
	return out
}

type gdsioReader struct {
	out    Gdsio
	no     int
	text   string // of the result line that is being read, "" if none is
	prefix string // what stood before it; a launcher puts the same before the rest
	begun  int    // its line number
}

func (r *gdsioReader) feed(line string, whole bool) {
	if r.text != "" {
		rest := strings.TrimSpace(strings.TrimPrefix(line, r.prefix))
		if r.goesOn(rest) {
			// Without a blank: terminals wrap within words and numbers, and no value needs the blank behind it.
			r.text += rest
			return
		}
		r.flush()
	}
	labels := gdsioLabelsIn(lowerASCII(line))
	if len(labels) > 0 && labels[0].label <= gdsioDataSet && (len(labels) > 1 || labels[0].label <= gdsioXferType) {
		r.prefix, r.text, r.begun = strings.TrimSpace(line[:labels[0].at]), line[labels[0].at:], r.no
		return
	}
	r.other(line, whole)
}

// goesOn tells whether a line continues the one being read.
func (r *gdsioReader) goesOn(rest string) bool {
	have := gdsioLabelsIn(lowerASCII(r.text))
	last := have[len(have)-1].label
	if last == gdsioTime && gdsioRun(r.text).Seconds.OK {
		return false
	}
	own := gdsioLabelsIn(lowerASCII(rest))
	if len(own) > 0 {
		return own[0].label > last
	}
	if len(gdsioLabelsIn(lowerASCII(r.text+rest))) > len(have) {
		return true
	}
	// The middle of a value: digits, and the unit.
	unit := strings.TrimLeft(rest, "0123456789.,/- ")
	return rest != "" && (unit == "" || slices.Contains(gdsioUnits, strings.TrimRight(unit, ", ")))
}

var gdsioUnits = []string{"(KiB)", "(KB)", "GiB/sec", "GB/sec", "usecs", "secs"}

func (r *gdsioReader) flush() {
	if r.text == "" {
		return
	}
	if len(gdsioLabelsIn(lowerASCII(r.text))) >= gdsioEnough {
		run := gdsioRun(r.text)
		run.LineNo = r.begun
		r.out.Runs = append(r.out.Runs, run)
	}
	r.text = ""
}

// other takes a line that is no result.
func (r *gdsioReader) other(line string, whole bool) {
	low := lowerASCII(line)
	switch {
	case strings.Contains(low, "error opening log file"):
		r.out.LogWarning = line
		return
	case strings.Contains(low, "total gib/s"):
		r.total(low, whole)
		return
	case strings.Contains(low, "data verification success"):
		r.out.Verified = Some(r.out.Verified.Or(true))
		return
	}
	e, ok := gdsioError(line, low, whole)
	if !ok {
		return
	}
	if e.Kind == GdsioVerify {
		r.out.Verified = Some(false)
	}
	e.LineNo = r.no
	r.out.Errors = append(r.out.Errors, e)
}

// total reads "WRITE total GiB/s: 12.3", the sum that awk makes of several processes' results.
func (r *gdsioReader) total(low string, whole bool) {
	before, value, ok := strings.Cut(low, "total gib/s")
	f := strings.Fields(before)
	if !ok || len(f) == 0 || !whole {
		return
	}
	op := strings.Trim(f[len(f)-1], `"'`)
	v, err := strconv.ParseFloat(strings.Trim(value, `: "'`), 64)
	if err != nil || v < 0 || op != "read" && op != "write" {
		return
	}
	if r.out.Totals == nil {
		r.out.Totals = map[string]float64{}
	}
	if _, twice := r.out.Totals[op]; !twice {
		r.out.Totals[op] = v
	}
}
