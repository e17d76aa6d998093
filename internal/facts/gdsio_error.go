package facts

import (
	"regexp"
	"strconv"
	"strings"
)

// GdsioError is a line by which gdsio says that a run failed. A run that failed has no result line, and may exit 0.
type GdsioError struct {
	Kind  string
	Code  Opt[int64] // 5001; or a negative return value, which is -errno
	Errno Opt[int64] // the line's own errno: not to be relied on, it is that of another call
	Op    string     // "read", "write", "" if the line does not tell
	Path  string

	Line   string
	LineNo int
}

// Kinds of GdsioError.
const (
	GdsioDriverOpen = "driver-open"
	GdsioRegister   = "register"
	GdsioIO         = "io"
	GdsioIncomplete = "incomplete"
	GdsioVerify     = "verify"
	GdsioSymbol     = "symbol" // the loader refused: tool and library of different releases
	GdsioUsage      = "usage"
	GdsioNoSpace    = "no-space"
	GdsioOther      = "other"
)

// ofKernel knows a line of the kernel log, with its time or without.
var ofKernel = regexp.MustCompile(`^(?:<\d+>)?\[ *\d+\.\d+\]|^\[[a-z]{3} [a-z]{3} +\d|\bkernel: |^nvidia[-_]fs ?:`)

var (
	gdsioRet   = regexp.MustCompile(`\bret ?[:=] ?(-?[0-9]+)[^0-9]`)
	gdsioErrno = regexp.MustCompile(`\berrno ?[:=] ?(-?[0-9]+)[^0-9]`)
	gdsioFile  = regexp.MustCompile(`filename ?: ?(\S+)`)
	gdsioOpen  = regexp.MustCompile(`unable to open file (\S+?),? error`)
)

// gdsioError reads a line; low is the same in lower case. whole is false where the text ends in it.
func gdsioError(line, low string, whole bool) (GdsioError, bool) {
	e := GdsioError{Line: line}
	if ofKernel.MatchString(low) {
		return e, false // the driver's own words for a failed I/O, of any program
	}
	after := func(words string) (string, bool) {
		i := strings.Index(low, words)
		if i < 0 {
			return "", false
		}
		return line[i+len(words):], true
	}
	number := func(re *regexp.Regexp) Opt[int64] {
		end := low
		if whole {
			end += " "
		}
		if m := re.FindStringSubmatch(end); m != nil {
			if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
				return Some(n)
			}
		}
		return Opt[int64]{}
	}
	switch {
	case strings.Contains(low, "driver open error"):
		e.Kind = GdsioDriverOpen
		rest, _ := after("driver open error")
		e.Code = cufileCode(strings.TrimLeft(rest, ": "), whole)
	case strings.Contains(low, "file register error"), strings.Contains(low, "buffer register error"), strings.Contains(low, "buffer register failed"),
		strings.Contains(low, "buf register failed"):
		e.Kind = GdsioRegister
		rest, _ := after("register ")
		_, rest, _ = strings.Cut(rest, ":")
		e.Code = cufileCode(rest, whole)
		if m := gdsioFile.FindStringSubmatchIndex(line); m != nil && (whole || m[1] < len(line)) {
			e.Path = line[m[2]:m[3]]
		}
	case strings.Contains(low, "buffer deregister failed"):
		// It follows a registration that failed.
		e.Kind = GdsioOther
		rest, _ := after("buffer deregister failed")
		e.Code = cufileCode(strings.TrimLeft(rest, ": "), whole)
	case strings.Contains(low, "io failed"), strings.Contains(low, "returned error(ret"):
		e.Kind = GdsioIO
		e.Code, e.Errno = number(gdsioRet), number(gdsioErrno)
		switch {
		case strings.Contains(low, "cufileread"):
			e.Op = "read"
		case strings.Contains(low, "cufilewrite"):
			e.Op = "write"
		}
		if e.Code == Some(int64(-28)) {
			e.Kind = GdsioNoSpace
		}
	case strings.Contains(low, "incomplete read"), strings.Contains(low, "incomplete write"):
		e.Kind, e.Op = GdsioIncomplete, "read"
		if strings.Contains(low, "incomplete write") {
			e.Op = "write"
		}
	case strings.Contains(low, "data verification") && (strings.Contains(low, "fail") || strings.Contains(low, "error") || strings.Contains(low, "mismatch")):
		e.Kind = GdsioVerify
	case strings.Contains(low, "gdsio") && (strings.Contains(low, "symbol lookup error") || strings.Contains(low, "undefined symbol") || strings.Contains(low, "error while loading shared libraries")):
		e.Kind = GdsioSymbol
	case strings.HasPrefix(low, "unable to open file"):
		if e.Kind = GdsioOther; strings.Contains(low, "no space left") {
			e.Kind = GdsioNoSpace
		}
		if m := gdsioOpen.FindStringSubmatchIndex(line); m != nil {
			e.Path = line[m[2]:m[3]]
		}
	case strings.HasPrefix(low, "invalid transfer mode"), strings.HasPrefix(low, "invalid gpu device id"),
		strings.Contains(low, "gdsio: invalid option"), strings.Contains(low, "gdsio: option requires"), strings.HasPrefix(low, "usage") && strings.Contains(low, "gdsio"):
		e.Kind = GdsioUsage
	case strings.Contains(low, "gdsio: command not found"), strings.Contains(low, "gdsio: not found"), strings.Contains(low, "gdsio: no such file"), strings.Contains(low, "gdsio: permission denied"):
		e.Kind = GdsioOther
	default:
		return GdsioError{}, false
	}
	if !whole && (e.Kind == GdsioIO && !e.Code.OK || strings.HasPrefix(low, "unable to open file")) {
		return GdsioError{}, false // its end would tell whether space ran out
	}
	return e, true
}
