package facts

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What -x asks for, by its number and by the names that releases print for it. 2 to 4 copy through host memory, 1
// stays there; the others call cuFile, which may still go through POSIX.
var (
	gdsioGDSNames = []string{"GPUD", "GPUDIRECT", "GPU_DIRECT", "ASYNC", "GPUD_ASYNC", "GPU_DIRECT_ASYNC", "GPU_BATCH", "GPUD_BATCH", "GPU_BATCH_STREAM", "GPUD_BATCH_STREAM"}
	gdsioCPUNames = []string{"CPUONLY", "CPU_ONLY", "CPU_GPU", "CPU_ASYNC_GPU", "CPU_CACHED_GPU"}
)

func gdsioXfer(number int) (gds, cpu bool) {
	return number == 0 || number >= 5 && number <= 7, number >= 1 && number <= 4
}

const (
	kib = 1 << 10
	gib = 1 << 30
)

var (
	gdsioWord    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	gdsioDone    = regexp.MustCompile(`^([0-9,]+) ?/ ?([0-9,]+) ?(\((?:KiB|KB)\))?$`)
	gdsioSize    = regexp.MustCompile(`^([0-9,]+) ?\((KiB|KB)\)$`)
	gdsioSizes   = regexp.MustCompile(`^([0-9]+)-([0-9]+)-[0-9]+ ?\((?:KiB|KB)\)$`)
	gdsioRate    = regexp.MustCompile(`^([0-9.,]+) ?Gi?B/sec$`)
	gdsioMicros  = regexp.MustCompile(`^([0-9.,]+) ?usecs$`)
	gdsioElapsed = regexp.MustCompile(`^:? ?([0-9.,]+) ?(u?secs)\b`)
)

// gdsioRun reads a result line from its first label on. A value counts only with what stands behind it (its unit, or
// the next label): one that a cut or a wrapped paste made shorter would be another valid number.
func gdsioRun(text string) GdsioRun {
	run := GdsioRun{Line: text}
	at := gdsioLabelsIn(lowerASCII(text))
	field := func(label int) (value string, ended bool) {
		i := slices.IndexFunc(at, func(l gdsioLabel) bool { return l.label == label })
		if i < 0 {
			return "", false
		}
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1].at
		}
		return strings.TrimRight(strings.Join(strings.Fields(text[at[i].end:end]), " "), ",;"), i+1 < len(at)
	}
	count := func(label int) Opt[uint64] {
		v, ended := field(label)
		n, ok := countOf(v)
		return Opt[uint64]{V: n, OK: ok && ended}.orNone()
	}
	if v, ended := field(gdsioIoType); ended && gdsioWord.MatchString(v) {
		run.IoType = v
		switch strings.ToUpper(v) {
		case "READ", "RANDREAD":
			run.Op = "read"
		case "WRITE", "RANDWRITE":
			run.Op = "write"
		}
		run.Random = run.Op != "" && len(v) > len("WRITE")
	}
	if v, ended := field(gdsioXferType); ended && gdsioWord.MatchString(v) {
		run.XferType = v
		run.GDS = slices.Contains(gdsioGDSNames, strings.ToUpper(v))
		run.CPU = slices.Contains(gdsioCPUNames, strings.ToUpper(v))
	}
	run.Threads, run.Depth, run.Ops = count(gdsioThreads), count(gdsioDepth), count(gdsioOps)
	v, _ := field(gdsioThroughput)
	run.GiBs = gdsioFloat(gdsioRate.FindStringSubmatch(v)) // the betas' "GB" is 2^30 too
	v, _ = field(gdsioLatency)
	run.LatencyUsec = gdsioFloat(gdsioMicros.FindStringSubmatch(v))
	v, _ = field(gdsioTime)
	if m := gdsioElapsed.FindStringSubmatch(v); m != nil {
		if run.Seconds = gdsioFloat(m); m[2] == "usecs" {
			run.Seconds.V /= 1e6
		}
	}
	v, _ = field(gdsioIOSize)
	if m := gdsioSize.FindStringSubmatch(v); m != nil {
		if n, ok := countOf(m[1]); ok && n > 0 && n < math.MaxUint64/kib {
			run.IOSizeBytes = Some(n * kib)
		}
	} else if m := gdsioSizes.FindStringSubmatch(v); m != nil {
		run.MinIOSize, run.MaxIOSize = gdsioKiB(m[1]), gdsioKiB(m[2])
	}
	v, ended := field(gdsioDataSet)
	run.dataSet(v, ended)
	run.Cut = !run.Seconds.OK
	run.Odd = run.disagreements()
	return run
}

// orNone drops the value of an absent number.
func (o Opt[T]) orNone() Opt[T] {
	if !o.OK {
		return Opt[T]{}
	}
	return o
}

func gdsioKiB(s string) Opt[uint64] {
	n, ok := countOf(s)
	if !ok || n > math.MaxUint64/kib {
		return Opt[uint64]{}
	}
	return Some(n * kib)
}

// dataSet reads "done/asked(KiB)". The betas print bytes and no unit; a page may have dropped the unit: which of them
// it is, the number of operations tells.
func (run *GdsioRun) dataSet(v string, ended bool) {
	m := gdsioDone.FindStringSubmatch(v)
	if m == nil || m[3] == "" && !ended {
		return
	}
	done, ok1 := countOf(m[1])
	asked, ok2 := countOf(m[2])
	if !ok1 || !ok2 || done > math.MaxUint64/kib || asked > math.MaxUint64/kib {
		return
	}
	if m[3] == "" {
		moved := run.Ops.V * run.IOSizeBytes.V
		switch {
		case !run.Ops.OK || !run.IOSizeBytes.OK:
			return
		case done*kib == moved:
			done, asked = done*kib, asked*kib
		case done != moved:
			return
		}
	} else {
		done, asked = done*kib, asked*kib
	}
	run.DoneBytes, run.AskedBytes = Some(done), Some(asked)
}

// gdsioFloat reads the first group. gdsio prints six decimals: a comma is a decimal one before exactly six digits
// that end the number, and parts thousands only where a point follows.
func gdsioFloat(m []string) Opt[float64] {
	if m == nil {
		return Opt[float64]{}
	}
	whole, rest, point := strings.Cut(m[1], ".")
	switch {
	case point:
		if n, ok := countOf(whole); ok {
			whole = strconv.FormatUint(n, 10)
		}
	case strings.Count(whole, ",") == 1:
		if whole, rest, _ = strings.Cut(whole, ","); len(rest) != 6 {
			return Opt[float64]{}
		}
	}
	v, err := strconv.ParseFloat(whole+"."+rest, 64)
	if err != nil || math.IsInf(v, 0) {
		return Opt[float64]{}
	}
	return Some(v)
}

// disagreements checks the line against itself. On every real line these hold: done is operations times size (batch
// mode of old releases counts batches, of depth entries), and throughput is done over time.
func (run GdsioRun) disagreements() []string {
	var odd []string
	if run.DoneBytes.OK && run.Ops.OK && run.IOSizeBytes.OK {
		// Sizes are printed in whole KiB, rounded down: the true size may be up to one KiB above.
		done, ops, size := float64(run.DoneBytes.V), float64(run.Ops.V), float64(run.IOSizeBytes.V)
		fits := func(n float64) bool { return done >= n*size-kib && done <= n*(size+kib) }
		if !fits(ops) && !(run.Depth.OK && fits(ops*float64(run.Depth.V))) {
			odd = append(odd, fmt.Sprintf("%d operations of %d KiB are not the %d KiB that it says were moved", run.Ops.V, run.IOSizeBytes.V/kib, run.DoneBytes.V/kib))
		}
	}
	if run.DoneBytes.OK && run.GiBs.OK && run.Seconds.OK && run.Seconds.V > 0 {
		rate := float64(run.DoneBytes.V) / gib / run.Seconds.V
		// Both are rounded to the sixth decimal, and what was moved to a KiB.
		slack := 0.01*rate + 1e-6 + (kib/run.Seconds.V+rate*gib*1e-6/run.Seconds.V)/gib
		if math.Abs(rate-run.GiBs.V) > slack {
			odd = append(odd, fmt.Sprintf("%d KiB in %.6g s are %.6g GiB/s, and it says %.6g", run.DoneBytes.V/kib, run.Seconds.V, rate, run.GiBs.V))
		}
	}
	return odd
}
