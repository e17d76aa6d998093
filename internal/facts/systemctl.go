package facts

import (
	"slices"
	"strings"
	"time"
)

// Systemctl is what systemctl said: one answer for each unit that it was asked about, in the order of the text.
type Systemctl struct {
	Answers   []UnitAnswer
	NoSystemd bool // not booted with systemd (a container), or its bus cannot be reached
	Cut       bool // the text ends within a line
}

// UnitAnswer is one answer about one unit. "" and an Opt that is not OK mean that the answer does not say.
type UnitAnswer struct {
	Unit string // "" if nothing names it: show without Id, a bare word without the command before it
	Verb string // show, status, is-active, is-enabled, is-failed, list, cat; "" for a bare word or an error

	// LoadState alone tells that a unit is missing ("not-found"): is-active answers "inactive" for it.
	LoadState     string
	ActiveState   string
	SubState      string
	UnitFileState string // enabled, disabled, static, masked, generated, …
	// Result is of the unit itself. A mount whose required service failed has "success".
	Result          string
	Type            string
	RemainAfterExit Opt[bool]
	ExecMainCode    string   // exited, killed, dumped; "none" when it never ran, and then ExecMainStatus says nothing
	ExecMainStatus  Opt[int] // exit status, or the signal's number if killed or dumped
	ExecStart       []ExecCommand
	ActiveEnter     string // "Mon 2026-11-30 09:14:57 UTC"
	// ActiveEnterMonotonic is in µs since boot, not OK if it was never active.
	ActiveEnterMonotonic  Opt[uint64]
	ExecMainExit          string
	ExecMainExitMonotonic Opt[uint64]
	Requires              Opt[[]string]
	After                 Opt[[]string]
	FragmentPath          string
	SourcePath            string // /etc/fstab, of a generated mount unit
	What, Where, Options  string // of a mount unit
	Description           string
}

// ExecCommand is a command of a unit. systemd prints the arguments without their quotes.
type ExecCommand struct {
	Args []string // with the program first
	Cut  bool     // systemctl shortened it: an argument that is missing may be there
}

// Has tells whether an argument is given; known is false where it may hide in a shortened command or in a variable.
func (a UnitAnswer) Has(arg string) (yes, known bool) {
	shortened := false
	for _, c := range a.ExecStart {
		if slices.Contains(c.Args, arg) {
			return true, true
		}
		shortened = shortened || c.Cut || slices.ContainsFunc(c.Args, func(a string) bool { return strings.Contains(a, "$") })
	}
	return false, len(a.ExecStart) > 0 && !shortened
}

// Of joins all that was said of a unit; what was said later wins. Answers that name no unit are taken for this
// one's unless the text speaks of another unit too.
func (s Systemctl) Of(unit string) (UnitAnswer, bool) {
	unit = unitName(unit)
	others := slices.ContainsFunc(s.Answers, func(a UnitAnswer) bool { return a.Unit != "" && a.Unit != unit })
	out, found := UnitAnswer{Unit: unit}, false
	for _, a := range s.Answers {
		if a.Unit == unit || a.Unit == "" && !others {
			out.join(a)
			found = true
		}
	}
	return out, found
}

func (a *UnitAnswer) join(b UnitAnswer) {
	for _, p := range [][2]*string{
		{&a.Verb, &b.Verb}, {&a.LoadState, &b.LoadState}, {&a.ActiveState, &b.ActiveState}, {&a.SubState, &b.SubState},
		{&a.UnitFileState, &b.UnitFileState}, {&a.Result, &b.Result}, {&a.Type, &b.Type}, {&a.ExecMainCode, &b.ExecMainCode},
		{&a.ActiveEnter, &b.ActiveEnter}, {&a.ExecMainExit, &b.ExecMainExit}, {&a.FragmentPath, &b.FragmentPath},
		{&a.SourcePath, &b.SourcePath}, {&a.What, &b.What}, {&a.Where, &b.Where}, {&a.Options, &b.Options},
		{&a.Description, &b.Description},
	} {
		if *p[1] != "" {
			*p[0] = *p[1]
		}
	}
	later(&a.RemainAfterExit, b.RemainAfterExit)
	later(&a.ExecMainStatus, b.ExecMainStatus)
	later(&a.ActiveEnterMonotonic, b.ActiveEnterMonotonic)
	later(&a.ExecMainExitMonotonic, b.ExecMainExitMonotonic)
	later(&a.Requires, b.Requires)
	later(&a.After, b.After)
	// A whole command is better than a shortened one, whichever came last.
	if len(b.ExecStart) > 0 && (len(a.ExecStart) == 0 || !b.ExecStart[0].Cut) {
		a.ExecStart = b.ExecStart
	}
}

func later[T any](to *Opt[T], said Opt[T]) {
	if said.OK {
		*to = said
	}
}

// The words of systemd's states. A word at the very end of a text counts only if no other word begins with it.
var (
	activeStates   = []string{"active", "reloading", "inactive", "failed", "activating", "deactivating", "maintenance", "refreshing", "unknown"}
	loadStates     = []string{"stub", "loaded", "not-found", "bad-setting", "error", "merged", "masked"}
	unitFileStates = []string{"enabled", "enabled-runtime", "linked", "linked-runtime", "alias", "masked", "masked-runtime", "static", "indirect",
		"disabled", "generated", "transient", "bad"}
)

func isStateWord(states []string, s string, whole bool) bool {
	if !slices.Contains(states, s) {
		return false
	}
	return whole || !slices.ContainsFunc(states, func(o string) bool { return o != s && strings.HasPrefix(o, s) })
}

var unitSuffixes = []string{".service", ".mount", ".automount", ".target", ".timer", ".socket", ".device", ".swap", ".path", ".slice", ".scope"}

func isUnitName(s string) bool {
	return slices.ContainsFunc(unitSuffixes, func(x string) bool { return len(s) > len(x) && strings.HasSuffix(s, x) })
}

// unitName completes a name as systemctl does.
func unitName(s string) string {
	if s == "" || isUnitName(s) || strings.HasPrefix(s, "/") {
		return s
	}
	return s + ".service"
}

// SystemdTime reads a time as systemctl prints it. Only UTC has an offset that is sure: a zone's letters alone do
// not tell one, so two such times can be compared only if their zones are the same word.
func SystemdTime(s string) (t time.Time, zone string, ok bool) {
	f := strings.Fields(s)
	if len(f) != 4 {
		return time.Time{}, "", false
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05.999999"} {
		if t, err := time.Parse(layout, f[1]+" "+f[2]); err == nil {
			return t, f[3], true
		}
	}
	return time.Time{}, "", false
}
