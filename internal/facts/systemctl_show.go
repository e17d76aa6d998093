package facts

import (
	"slices"
	"strings"
)

// property reads a line of show or of a unit's file.
func (r *unitReader) property(line string, whole bool) bool {
	key, value, ok := strings.Cut(line, "=")
	if !ok || !isPropertyName(key) {
		return false
	}
	inFile := r.open && r.mode == "file"
	if !whole && !cutIsSure(key, value) {
		return true
	}
	if !inFile && !unitKeys[key] {
		return true // PATH=/bin opens no answer
	}
	if !inFile && (!r.open || r.mode != "show" || r.seen[key] && key != "ExecStart") {
		r.begin("show", "show", "")
	}
	r.seen[key] = true
	a := r.cur()
	if inFile {
		a.fileLine(key, value)
	} else {
		a.showLine(key, value)
	}
	return true
}

// unitKeys are those that are read.
var unitKeys = func() map[string]bool {
	m := map[string]bool{}
	for _, k := range strings.Fields(`Id LoadState ActiveState SubState UnitFileState Result ExecMainCode ExecMainStatus ExecStart
		ActiveEnterTimestamp ActiveEnterTimestampMonotonic ExecMainExitTimestamp ExecMainExitTimestampMonotonic
		FragmentPath SourcePath Requires After Type RemainAfterExit What Where Options Description`) {
		m[k] = true
	}
	return m
}()

func cutIsSure(key, value string) bool {
	switch key {
	case "ActiveState":
		return isStateWord(activeStates, value, false)
	case "LoadState":
		return isStateWord(loadStates, value, false)
	case "UnitFileState":
		return isStateWord(unitFileStates, value, false)
	}
	return false
}

func isPropertyName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !('A' <= c && c <= 'Z') && (i == 0 || !('a' <= c && c <= 'z') && !('0' <= c && c <= '9')) {
			return false
		}
	}
	return s != ""
}

func (a *UnitAnswer) showLine(key, value string) {
	switch key {
	case "Id":
		if isUnitName(value) {
			a.Unit = value
		}
	case "LoadState":
		a.LoadState = value
	case "ActiveState":
		a.ActiveState = value
	case "SubState":
		a.SubState = value
	case "UnitFileState":
		a.UnitFileState = value
	case "Result":
		a.Result = value
	case "ExecMainCode":
		// si_code of the child: CLD_EXITED, CLD_KILLED, CLD_DUMPED
		if n := optInt(value); n.OK && n.V >= 0 && n.V < 4 {
			a.ExecMainCode = []string{"none", "exited", "killed", "dumped"}[n.V]
		}
	case "ExecMainStatus":
		a.ExecMainStatus = optInt(value)
	case "ActiveEnterTimestamp":
		a.ActiveEnter = sinceEver(value)
	case "ActiveEnterTimestampMonotonic":
		a.ActiveEnterMonotonic = sinceBoot(value)
	case "ExecMainExitTimestamp":
		a.ExecMainExit = sinceEver(value)
	case "ExecMainExitTimestampMonotonic":
		a.ExecMainExitMonotonic = sinceBoot(value)
	case "FragmentPath":
		a.FragmentPath = value
	case "Requires":
		a.Requires = Some(strings.Fields(value))
	case "After":
		a.After = Some(strings.Fields(value))
	case "ExecStart":
		if c, ok := shownCommand(value); ok {
			a.ExecStart = append(a.ExecStart, c)
		}
	default:
		a.eitherLine(key, value)
	}
}

// fileLine reads a unit's file, where lists are spread over lines and an empty value takes back what came before.
func (a *UnitAnswer) fileLine(key, value string) {
	switch key {
	case "Requires":
		a.Requires = Some(append(a.Requires.V, strings.Fields(value)...))
	case "After":
		a.After = Some(append(a.After.V, strings.Fields(value)...))
	case "ExecStart":
		if value == "" {
			a.ExecStart = nil
			return
		}
		if args := strings.Fields(strings.TrimLeft(value, "@-:+!|")); len(args) > 0 {
			a.ExecStart = append(a.ExecStart, ExecCommand{Args: args})
		}
	default:
		a.eitherLine(key, value)
	}
}

func (a *UnitAnswer) eitherLine(key, value string) {
	switch key {
	case "Type":
		a.Type = value
	case "RemainAfterExit":
		yes := slices.Contains([]string{"yes", "true", "on", "1"}, value)
		no := slices.Contains([]string{"no", "false", "off", "0"}, value)
		a.RemainAfterExit = Opt[bool]{V: yes, OK: yes || no}
	case "SourcePath":
		a.SourcePath = value
	case "What":
		a.What = value
	case "Where":
		a.Where = value
	case "Options":
		a.Options = value
	case "Description":
		a.Description = value
	}
}

// shownCommand reads "{ path=/bin/x ; argv[]=/bin/x --y ; ignore_errors=no ; … }".
func shownCommand(s string) (ExecCommand, bool) {
	_, argv, ok := strings.Cut(s, "argv[]=")
	if !ok {
		return ExecCommand{}, false
	}
	argv, _, ended := strings.Cut(argv, " ; ")
	c := execCommand(argv)
	c.Cut = c.Cut || !ended
	return c, len(c.Args) > 0
}

// sinceEver is a timestamp, "" where systemctl prints none or n/a: it never happened.
func sinceEver(s string) string {
	if s == "n/a" {
		return ""
	}
	return s
}

// sinceBoot is a monotonic time; systemd prints 0 for what never happened.
func sinceBoot(s string) Opt[uint64] {
	v := optUint(s)
	v.OK = v.OK && v.V > 0
	return v
}
