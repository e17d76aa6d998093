package facts

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"
)

// CufileLogEntry is a line of cufile.log:
//
//	30-11-2026 09:07:09:50 [pid=491 tid=491] ERROR  cufio-drv:846 nvidia-fs.ko driver not loaded
//
// with or without a blank in front, the milliseconds without zeros before them. A line that is none (the rest of a
// message with a newline in it, a note in a pasted log) has no Level and is all Message.
type CufileLogEntry struct {
	// Time is local to the machine that wrote it, whose zone the log does not tell: compare it with times of the same
	// log only. It is in UTC here.
	Time     time.Time
	PID, TID int
	Level    string // NOTICE, ERROR, WARN, INFO, DEBUG, TRACE
	File     string // "cufio-drv"; "0" where libcufile has none
	Line     int    // moves with each release: messages are known by their text
	Message  string
	Cut      bool // the text ends within it, or it was longer than any line is
}

// cufileLevels from the most severe down. NOTICE comes first, so it is in logs of the default level ERROR.
var cufileLevels = []string{"NOTICE", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"}

// Severity of the entry: 0 is the most severe. known is false for a word that is no level.
func (e CufileLogEntry) Severity() (n int, known bool) {
	for i, l := range cufileLevels {
		if l == e.Level {
			return i, true
		}
	}
	return 0, false
}

// maxCufileLine is far above the longest line seen (2 KiB). What is behind it is passed over.
const maxCufileLine = 64 << 10

// ScanCufileLog reads a log of any size, line by line and in memory of one line. Empty lines are left out. An error
// of the reader is yielded last, with no entry.
func ScanCufileLog(r io.Reader) iter.Seq2[CufileLogEntry, error] {
	return func(yield func(CufileLogEntry, error) bool) {
		br := bufio.NewReaderSize(r, maxCufileLine)
		var last cufileWords
		for {
			raw, err := br.ReadSlice('\n')
			long := errors.Is(err, bufio.ErrBufferFull)
			whole := err == nil
			line := strings.TrimSpace(unquote(string(bytes.TrimSpace(raw))))
			if line != "" && !yield(last.entry(line, whole), nil) {
				return
			}
			for long {
				_, err = br.ReadSlice('\n')
				long = errors.Is(err, bufio.ErrBufferFull)
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(CufileLogEntry{}, err)
				}
				return
			}
		}
	}
}

// cufileWords keeps what the line before had: most lines have the same second.
type cufileWords struct {
	stamp string
	at    time.Time
}

func (w *cufileWords) entry(line string, whole bool) CufileLogEntry {
	e := CufileLogEntry{Message: line, Cut: !whole}
	at, rest, ok := w.time(line)
	if !ok {
		return e
	}
	pid, tid, rest, ok := cufileIDs(rest)
	if !ok {
		return e
	}
	level, rest, more := cutBlank(strings.TrimLeft(rest, " \t"))
	if strings.Trim(level, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || level == "" || !more && !whole {
		return e
	}
	e.Time, e.PID, e.TID, e.Level = at, pid, tid, level
	rest = strings.TrimLeft(rest, " \t")
	e.Message = rest
	where, text, more := cutBlank(rest)
	if i := strings.LastIndexByte(where, ':'); i > 0 && (more || whole) {
		if n, err := strconv.Atoi(where[i+1:]); err == nil && n >= 0 {
			e.File, e.Line, e.Message = where[:i], n, strings.TrimSpace(text)
		}
	}
	return e
}

// time reads "DD-MM-YYYY HH:MM:SS:mmm".
func (w *cufileWords) time(s string) (time.Time, string, bool) {
	const layout = "02-01-2006 15:04:05"
	if len(s) < len(layout)+2 || s[2] != '-' || s[len(layout)] != ':' {
		return time.Time{}, s, false
	}
	if stamp := s[:len(layout)]; stamp != w.stamp {
		at, err := time.Parse(layout, stamp)
		if err != nil {
			return time.Time{}, s, false
		}
		w.stamp, w.at = strings.Clone(stamp), at
	}
	ms, rest, ok := cutBlank(s[len(layout)+1:])
	n, err := strconv.Atoi(ms)
	if !ok || err != nil || n < 0 || n > 999 {
		return time.Time{}, s, false
	}
	return w.at.Add(time.Duration(n) * time.Millisecond), rest, true
}

// cutBlank is Cut at the first blank or tab.
func cutBlank(s string) (before, after string, found bool) {
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// cufileIDs reads "[pid=491 tid=491]".
func cufileIDs(s string) (pid, tid int, rest string, ok bool) {
	in, rest, ok := strings.Cut(strings.TrimLeft(s, " \t"), "]")
	in, begins := strings.CutPrefix(in, "[")
	if !ok || !begins {
		return 0, 0, s, false
	}
	p, t, ok := cutBlank(in)
	pw, isPID := strings.CutPrefix(p, "pid=")
	tw, isTID := strings.CutPrefix(strings.TrimSpace(t), "tid=")
	pid, err1 := strconv.Atoi(pw)
	tid, err2 := strconv.Atoi(tw)
	return pid, tid, rest, ok && isPID && isTID && err1 == nil && err2 == nil && pid >= 0 && tid >= 0
}
