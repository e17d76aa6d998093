package facts

import "strings"

// LNetState says how lnetctl answered. Only LNetAnswered has something to judge.
type LNetState string

const (
	LNetAnswered LNetState = "answered"
	// LNetNotLoaded: the lnet module is not loaded, or its device is left from a driver that is gone.
	LNetNotLoaded LNetState = "lnet is not loaded"
	// LNetNotConfigured: lnet is loaded and nobody has configured a network.
	LNetNotConfigured LNetState = "lnet is not configured"
	// LNetDenied: /dev/lnet is for root, and needs CAP_SYS_ADMIN inside a container.
	LNetDenied LNetState = "permission denied"
	// LNetNetAbsent: the net that was asked for is not configured (2.16 and later; up to 2.15 that is
	// LNetEmpty).
	LNetNetAbsent LNetState = "the net is not configured"
	// LNetNetUnknown: this lnetctl does not know the net type that was asked for. One that does not know efa is
	// not AWS's client.
	LNetNetUnknown LNetState = "the net type is not known to this lnetctl"
	// LNetBadOption: the answer is a help text, printed with exit status 0.
	LNetBadOption LNetState = "lnetctl does not know the option"
	// LNetNoTool: there is no lnetctl.
	LNetNoTool LNetState = "no lnetctl"
	// LNetEmpty: nothing at all, and no error. lnetctl 2.12 to 2.15 prints nothing and exits 0 when lnet is not
	// loaded (what it says on stderr may not have been kept) and when the net that was asked for is not
	// configured: it is never an answer.
	LNetEmpty LNetState = "empty"
	// LNetNameless: counters without the names of their interfaces; ParseLNetCounterLines reads them.
	LNetNameless LNetState = "counters without names"
	// LNetFailed: an error that is none of the above: see Errno and Words.
	LNetFailed LNetState = "lnetctl failed"
	// LNetUnreadable: nothing in it is understood.
	LNetUnreadable LNetState = "not understood"
)

// LNetProblem is why there is nothing to judge, or that there is no such problem.
type LNetProblem struct {
	State LNetState
	Errno Opt[int] // as lnetctl printed it: -100
	Words string   // the line that tells
}

// OK tells whether lnetctl answered.
func (p LNetProblem) OK() bool { return p.State == LNetAnswered }

// lnetSigns are words that tell a state, the more telling first: lnetctl hints at missing modules also where
// the permission is missing (liblnetconfig's l_ioctl of 2.12 to 2.15). Words are lower case.
var lnetSigns = []struct {
	words string
	state LNetState
}{
	{"command not found", LNetNoTool},
	{"lnetctl: not found", LNetNoTool},
	{"executable file not found", LNetNoTool},
	{"error while loading shared libraries", LNetNoTool}, // it cannot start
	{"invalid option", LNetBadOption},
	{"unrecognized option", LNetBadOption},
	{"requires an argument", LNetBadOption},
	{"net show: show networks", LNetBadOption},
	{"display detailed output per", LNetBadOption},
	{"cannot parse net", LNetNetUnknown},
	{"permission denied", LNetDenied},
	{"operation not permitted", LNetDenied},
	{"a password is required", LNetDenied}, // sudo
	{"a terminal is required", LNetDenied}, // sudo
	{"lnet stack down", LNetNotConfigured}, // 2.16 and later
	{"failed to resolve netlink family", LNetNotLoaded},
	{"no such file or directory", LNetNotLoaded},
	{"no such device", LNetNotLoaded},
}

// lnetErrnos are told by number where the words do not tell. "Network is down" is -100 (not configured) up to
// 2.15 and -3 (this net is not) from 2.16 on; -2 and -1 are also lnetctl's own codes.
var lnetErrnos = map[int]LNetState{
	-100: LNetNotConfigured,
	-3:   LNetNetAbsent,
	-2:   LNetNotLoaded,
	-13:  LNetDenied,
	-19:  LNetNotLoaded,
}

// lnetDiagnose says why a text holds no answer. Errors stand on stderr, in a paste often among the output.
func lnetDiagnose(out, stderr string, exit *int) LNetProblem {
	all := stderr
	if strings.TrimSpace(out) != "" {
		all = strings.TrimSpace(stderr + "\n" + out)
	}
	var p LNetProblem
	var descr string
	for s := newLNetScan(all); s.next(); {
		switch s.label {
		case lnetErrno:
			lnetSetInt(&s, &p.Errno)
		case lnetDescr:
			descr = s.value
		}
	}
	low := strings.ToLower(all)
	for _, sign := range lnetSigns {
		if i := strings.Index(low, sign.words); i >= 0 {
			p.State = sign.state
			p.Words = lnetLineAt(all, i)
			return p
		}
	}
	if p.Errno.OK {
		p.State, p.Words = LNetFailed, descr
		if known, ok := lnetErrnos[p.Errno.V]; ok {
			p.State = known
		}
		return p
	}
	switch {
	case exit != nil && *exit == 127:
		p.State = LNetNoTool
	case strings.TrimSpace(all) != "":
		p.State, p.Words = LNetUnreadable, lnetLineAt(strings.TrimSpace(all), 0)
	case exit != nil && *exit != 0:
		p.State = LNetFailed
	default:
		p.State = LNetEmpty
	}
	return p
}

// lnetLineAt is the line around a place of a text, short enough to be shown.
func lnetLineAt(text string, at int) string {
	if at > len(text) { // a text may grow when its case changes
		at = 0
	}
	line := text[strings.LastIndexByte(text[:at], '\n')+1:]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	line = strings.TrimSpace(line)
	if len(line) > 200 {
		line = strings.ToValidUTF8(line[:200], "")
	}
	return line
}
