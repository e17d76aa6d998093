package facts

import (
	"regexp"
	"strconv"
	"strings"

	"gdsproof/internal/evidence"
	"gdsproof/internal/profile"
)

// LogLine is one record of the kernel log.
type LogLine struct {
	Uptime Opt[float64] // seconds since boot, where the stamp says so
	Stamp  string       // as printed
	Text   string       // without stamp, host and "kernel:"
}

// KernelLog is the kernel log as far as it was had.
type KernelLog struct {
	Lines []LogLine
	// FromBoot: the log begins with the boot, so that silence means something.
	FromBoot bool
	Filtered bool
	Source   string
}

var (
	// [    9.366648] text, with or without what dmesg -x or a syslog priority puts before it
	stampUptime = regexp.MustCompile(`^(?:<\d+>)?(?:[a-z0-9]+ *:[a-z]+ *: ?)?\[ *(\d+\.\d+)\] ?(.*)$`)
	// [Jan18 08:23] text; [  +0.000031] text; [Sat Sep  9 12:34:56 2023] text
	stampHuman = regexp.MustCompile(`^(?:<\d+>)?(?:[a-z0-9]+ *:[a-z]+ *: ?)?\[((?:[A-Z][a-z]{2} ?\d{1,2} +\d\d:\d\d)|(?: *\+ *\d+\.\d+)|(?:[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}))\] ?(.*)$`)
	// Nov 30 11:04:05 host kernel: text; 2026-11-30T11:04:05+0000 host kernel: text (dmesg --time-format iso has no host)
	stampSyslog = regexp.MustCompile(`^((?:[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d(?:\.\d+)?)|(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[,.]?\d*(?:Z|[+-]\d\d:?\d\d)?)) (?:(\S+) kernel: )?(.*)$`)
	// [    9.366648] host kernel: text is journalctl -o short-monotonic
	hostKernel = regexp.MustCompile(`^\S+ kernel: (.*)$`)
)

// ParseKernelLog reads dmesg in its four time formats and journalctl -k. A line without a stamp among stamped
// ones goes on with the record before it, as nvidia-fs prints "va_start=…" below its error.
func ParseKernelLog(b []byte) KernelLog {
	var l KernelLog
	stamped := false
	for raw := range strings.Lines(string(b)) {
		line := strings.TrimRight(raw, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		var r LogLine
		if m := stampUptime.FindStringSubmatch(line); m != nil {
			s, err := strconv.ParseFloat(m[1], 64)
			r = LogLine{Uptime: Opt[float64]{V: s, OK: err == nil}, Stamp: m[1], Text: m[2]}
			if k := hostKernel.FindStringSubmatch(r.Text); k != nil {
				r.Text = k[1]
			}
		} else if m := stampHuman.FindStringSubmatch(line); m != nil {
			r = LogLine{Stamp: strings.TrimSpace(m[1]), Text: m[2]}
		} else if m := stampSyslog.FindStringSubmatch(line); m != nil {
			r = LogLine{Stamp: m[1], Text: m[3]}
		} else {
			if stamped && len(l.Lines) > 0 {
				prev := &l.Lines[len(l.Lines)-1]
				prev.Text += " " + strings.TrimSpace(line)
				continue
			}
			r = LogLine{Text: strings.TrimSpace(line)}
		}
		stamped = stamped || r.Stamp != ""
		if strings.HasPrefix(r.Text, "Linux version ") {
			l.FromBoot = true
			l.Lines = l.Lines[:0] // what stands before it is of an earlier boot
		}
		l.Lines = append(l.Lines, r)
	}
	return l
}

// Hit is a known line that the log holds.
type Hit struct {
	Signature   profile.Signature
	Count       int
	First, Last LogLine
}

// Hits finds known lines, in the order of their first appearance.
func (l KernelLog) Hits(sigs []profile.Signature) []Hit {
	type low struct {
		match, not []string
	}
	lower := make([]low, len(sigs))
	for i, s := range sigs {
		for _, m := range s.Match {
			lower[i].match = append(lower[i].match, strings.ToLower(m))
		}
		for _, m := range s.Not {
			lower[i].not = append(lower[i].not, strings.ToLower(m))
		}
	}
	at := map[string]int{}
	var out []Hit
	for _, line := range l.Lines {
		text := strings.ToLower(line.Text)
	next:
		for i, s := range sigs {
			for _, m := range lower[i].match {
				if !strings.Contains(text, m) {
					continue next
				}
			}
			for _, m := range lower[i].not {
				if strings.Contains(text, m) {
					continue next
				}
			}
			if j, ok := at[s.ID]; ok {
				out[j].Count++
				out[j].Last = line
				continue
			}
			at[s.ID] = len(out)
			out = append(out, Hit{Signature: s, Count: 1, First: line, Last: line})
		}
	}
	return out
}

// SinceLast returns the log from the last line that holds a text on; found is false if none does.
func (l KernelLog) SinceLast(text string) (rest KernelLog, found bool) {
	for i := len(l.Lines) - 1; i >= 0; i-- {
		if strings.Contains(l.Lines[i].Text, text) {
			rest = l
			rest.Lines = l.Lines[i:]
			return rest, true
		}
	}
	return KernelLog{}, false
}

// Log sources: dmesg is the kernel's ring, which forgets; the journal reaches back to the boot.
const (
	DmesgSource   = "dmesg"
	JournalSource = "journalctl -k -b"
)

// KLog is the kernel log since boot, from the source that reaches further back.
var KLog = Define("kernel-log", []string{"kernel-log"}, func(in *In) Known[KernelLog] {
	var best Known[KernelLog]
	for _, src := range []string{DmesgSource, JournalSource} {
		it := in.All(src)
		if !it.OK() || len(it.Out) == 0 {
			continue
		}
		l := ParseKernelLog(it.Out)
		l.Source, l.Filtered = src, it.Form == evidence.Filtered
		if len(l.Lines) > 0 && (!best.OK || l.FromBoot && !best.V.FromBoot) {
			best = Have(l)
		}
	}
	if best.OK {
		return best
	}
	return Unknown[KernelLog](in)
})

// LostConnection is the last word of Lustre on a connection to a server, if that word is that it was lost. A
// connection is known by the device before the text, since "lost" names the target and "restored" its address:
//
//	Lustre: x-OST0005-osc-ffff…: Connection to x-OST0005 (at 10.0.1.104@tcp) was lost; …
//	Lustre: x-OST0005-osc-ffff…: Connection restored to 10.0.1.104@tcp (at 10.0.1.104@tcp)
func (l KernelLog) LostConnection() (LogLine, bool) {
	last := map[string]LogLine{}
	var order []string
	for _, line := range l.Lines {
		before, rest, ok := strings.Cut(line.Text, ": Connection ")
		if !ok || !strings.HasPrefix(rest, "restored to ") && !strings.Contains(rest, " was lost") {
			continue
		}
		device := before[strings.LastIndexByte(before, ' ')+1:]
		if _, ok := last[device]; !ok {
			order = append(order, device)
		}
		last[device] = line
	}
	for _, d := range order {
		if strings.Contains(last[d].Text, " was lost") {
			return last[d], true
		}
	}
	return LogLine{}, false
}
