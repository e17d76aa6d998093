package facts

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// DDRun is what dd says at its end. It does not say what was read or written: the command does, where it is there.
type DDRun struct {
	Bytes       uint64
	Seconds     float64
	BytesPerSec Opt[float64] // as printed, in one or two digits behind the point

	// Blocks, whole and partial; not printed in some pastes.
	WholeIn, PartialIn, WholeOut, PartialOut Opt[uint64]

	Command *DDCommand // nil where no command, or more than one, was seen since the result before
	Odd     []string
	Line    string
	LineNo  int
}

// DDCommand is a command line of dd.
type DDCommand struct {
	From, To  string // if= and of=; "" is standard input or output, or not known
	Op        string // "write" from /dev/zero and the like, "read" into /dev/null, else ""
	BS, Count Opt[uint64]
	DirectIn  bool // iflag=direct
	DirectOut bool // oflag=direct
}

// dd's last line. All locales keep the order; words, decimal mark and the kind of comma change, and so does what stands
// in brackets. The rate's "/s" ends it: without that, numbers may be cut.
var (
	ddDone    = regexp.MustCompile(`(?:^|[^0-9.,])([0-9]+) ?\p{L}+ ?(?:\(([^()]*)\) ?)?[\p{L} ]+[,，、] ?([0-9]+(?:[.,][0-9]+)?(?:e[-+]?[0-9]+)?) ?\p{L}+[,，、] ?([0-9]+(?:[.,][0-9]+)?) ?([kKMGTP]?)(i?)B/s`)
	ddBSD     = regexp.MustCompile(`(?:^|[^0-9.,])([0-9]+) bytes transferred in ([0-9]+(?:\.[0-9]+)?) secs \(([0-9]+) bytes/sec\)`)
	ddRecords = regexp.MustCompile(`(?:^|[^0-9+])([0-9]+)\+([0-9]+) \p{L}`)
)

// ParseDD reads results of dd of any release and locale, each with the command that stands before it.
func ParseDD(b []byte) []DDRun {
	var (
		out      []DDRun
		commands []DDCommand
		records  [][2]uint64
		no       int
	)
	for line, whole := range rawLines(b) {
		no++
		if c, ok := ParseDDCommand(line); ok && whole {
			commands = append(commands, c)
			continue
		}
		if m := ddRecords.FindStringSubmatch(line); m != nil && whole {
			n, err1 := strconv.ParseUint(m[1], 10, 64)
			p, err2 := strconv.ParseUint(m[2], 10, 64)
			if err1 == nil && err2 == nil {
				records = append(records, [2]uint64{n, p})
			}
			continue
		}
		run, ok := ddRun(line)
		if !ok {
			continue
		}
		run.LineNo = no
		if len(records) == 2 {
			run.WholeIn, run.PartialIn = Some(records[0][0]), Some(records[0][1])
			run.WholeOut, run.PartialOut = Some(records[1][0]), Some(records[1][1])
		}
		if len(commands) == 1 {
			run.Command = &commands[0]
		}
		commands, records = nil, nil
		out = append(out, run)
	}
	return out
}

// IsDDLine tells a line that dd prints at its end from others.
func IsDDLine(line string) bool {
	_, ok := ddRun(unquote(line))
	return ok || strings.HasSuffix(strings.TrimSpace(line), " records in") || strings.HasSuffix(strings.TrimSpace(line), " records out")
}

func ddRun(line string) (DDRun, bool) {
	run := DDRun{Line: strings.TrimSpace(line)}
	var seconds, rate, unit, binary string
	if m := ddBSD.FindStringSubmatch(line); m != nil {
		run.Bytes, _ = strconv.ParseUint(m[1], 10, 64)
		seconds, rate = m[2], m[3]
	} else if m := ddDone.FindStringSubmatch(line); m != nil {
		run.Bytes, _ = strconv.ParseUint(m[1], 10, 64)
		seconds, rate, unit, binary = m[3], m[4], m[5], m[6]
	} else {
		return DDRun{}, false
	}
	var err error
	run.Seconds, err = strconv.ParseFloat(strings.Replace(seconds, ",", ".", 1), 64)
	if err != nil || run.Bytes == math.MaxUint64 {
		return DDRun{}, false
	}
	v, err := strconv.ParseFloat(strings.Replace(rate, ",", ".", 1), 64)
	if err != nil {
		return run, true
	}
	step := 1000.0
	if binary != "" {
		step = 1024
	}
	v *= math.Pow(step, float64(strings.Index(" KMGTP", strings.ToUpper(unit + " ")[:1])))
	run.BytesPerSec = Some(v)
	// The rate is rounded to two digits. busybox counts its units in 1024 and calls them MB.
	if run.Seconds > 0 {
		if is := float64(run.Bytes) / run.Seconds; is < v*0.89 || is > v*1.16 {
			run.Odd = append(run.Odd, fmt.Sprintf("%d bytes in %g s are %.3g bytes/s, and it says %.3g", run.Bytes, run.Seconds, is, v))
		}
	}
	return run, true
}

// ParseDDCommand reads a whole command line that runs dd.
func ParseDDCommand(line string) (DDCommand, bool) {
	if !strings.Contains(line, "dd ") {
		return DDCommand{}, false
	}
	args, _, ok := commandOf(line, "dd")
	if !ok {
		return DDCommand{}, false
	}
	var c DDCommand
	known := false
	for _, w := range args {
		k, v, ok := strings.Cut(w, "=")
		if !ok {
			continue
		}
		plain := v
		if strings.ContainsAny(v, "$`<>*?") {
			plain = ""
		}
		switch k {
		case "if":
			c.From, known = plain, true
		case "of":
			c.To, known = plain, true
		case "bs":
			c.BS, known = ddNumber(plain), true
		case "count":
			c.Count = ddNumber(plain)
		case "iflag":
			c.DirectIn = ddHas(v, "direct")
		case "oflag":
			c.DirectOut = ddHas(v, "direct")
		}
	}
	switch {
	case c.From == "/dev/zero" || c.From == "/dev/urandom" || c.From == "/dev/random":
		if c.To != "/dev/null" {
			c.Op = "write"
		}
	case c.To == "/dev/null" && c.From != "":
		c.Op = "read"
	}
	return c, known
}

// On tells what the command does to files below a folder: "read", "write", or "" for neither, both, or not known.
func (c DDCommand) On(folder string) string {
	below := func(p string) bool {
		folder := strings.TrimSuffix(folder, "/")
		return folder != "" && (p == folder || strings.HasPrefix(p, folder+"/"))
	}
	switch {
	case below(c.From) && !below(c.To):
		return "read"
	case below(c.To) && !below(c.From):
		return "write"
	}
	return ""
}

func ddHas(flags, flag string) bool {
	for f := range strings.SplitSeq(flags, ",") {
		if f == flag {
			return true
		}
	}
	return false
}

// ddNumber reads dd's numbers: products (4kx8) and suffixes, of which kB is 1000 and k, K, KiB are 1024.
func ddNumber(s string) Opt[uint64] {
	total := uint64(1)
	for part := range strings.SplitSeq(s, "x") {
		digits := strings.TrimRight(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
		n, err := strconv.ParseUint(digits, 10, 64)
		scale, ok := ddScale(part[len(digits):])
		if err != nil || !ok || n != 0 && scale > math.MaxUint64/n || n != 0 && total > math.MaxUint64/(n*scale) {
			return Opt[uint64]{}
		}
		total *= n * scale
	}
	return Some(total)
}

func ddScale(suffix string) (uint64, bool) {
	switch suffix {
	case "":
		return 1, true
	case "c":
		return 1, true
	case "w":
		return 2, true
	case "b":
		return 512, true
	}
	power := strings.IndexByte("KMGTP", suffix[0]&^0x20) + 1
	step := uint64(1024)
	switch suffix[1:] {
	case "", "iB":
	case "B":
		step = 1000
	default:
		return 0, false
	}
	n := uint64(1)
	for range power {
		n *= step
	}
	return n, power > 0
}
