package facts

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseSystemctl reads the output of status, show, is-active, is-enabled, cat and the lists, one or several after
// another, with or without the commands before them; stderr included. A unit's file is read like show.
func ParseSystemctl(b []byte) Systemctl {
	r := unitReader{}
	for line, whole := range rawLines(b) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "[stderr] "))
		r.out.Cut = r.out.Cut || !whole && line != ""
		r.line(line, whole)
	}
	return r.out
}

type unitReader struct {
	out   Systemctl
	verb  string   // of the command before
	units []string // that it asked about and that have no answer yet

	open bool            // the last answer goes on
	mode string          // show, status or file
	seen map[string]bool // keys of the answer, to know where show begins another
	held []string        // lines of a unit's file that end in a backslash
}

func (r *unitReader) line(line string, whole bool) {
	if r.open && r.mode == "file" && strings.HasSuffix(line, `\`) {
		r.held = append(r.held, strings.TrimSpace(strings.TrimSuffix(line, `\`)))
		return
	}
	if len(r.held) > 0 {
		line, r.held = strings.Join(append(r.held, line), " "), nil
	}
	switch {
	case line == "":
		r.open = r.open && r.mode == "file" // a unit's file has blank lines between its sections
	case r.sentence(line, whole):
	case r.command(line):
	case strings.HasPrefix(line, "System has not been booted with systemd"), strings.HasPrefix(line, "Failed to connect to bus"):
		r.out.NoSystemd = true
	case r.file(line, whole):
	case r.property(line, whole):
	case r.header(line, whole):
	case r.label(line, whole):
	case r.listed(line, whole):
	default:
		r.word(line, whole)
	}
}

func (r *unitReader) begin(mode, verb, unit string) *UnitAnswer {
	if unit == "" && len(r.units) > 0 {
		unit = r.units[0]
	}
	if len(r.units) > 0 && r.units[0] == unit {
		r.units = r.units[1:]
	}
	if mode == "show" && r.verb != "" {
		verb = r.verb
	}
	r.open, r.mode, r.seen = true, mode, map[string]bool{}
	r.out.Answers = append(r.out.Answers, UnitAnswer{Unit: unit, Verb: verb})
	return r.cur()
}

func (r *unitReader) cur() *UnitAnswer { return &r.out.Answers[len(r.out.Answers)-1] }

var systemctlVerbs = []string{"status", "show", "is-active", "is-enabled", "is-failed", "is-system-running", "cat", "list-units", "list-unit-files",
	"start", "stop", "restart", "enable", "disable"}

// command reads "$ sudo systemctl status X". Within prose ("See "systemctl status X" for details") it has quotes.
func (r *unitReader) command(line string) bool {
	f := strings.Fields(line)
	at := slices.IndexFunc(f, func(w string) bool { return w == "systemctl" || strings.HasSuffix(w, "/systemctl") })
	if at < 0 {
		return false
	}
	verb, units := "", []string(nil)
	for i := at + 1; i < len(f) && !strings.ContainsAny(f[i], "|;&<>"); i++ {
		switch w := f[i]; {
		case w == "-p" || w == "-P" || w == "-n" || w == "-o" || w == "-t" || w == "--property" || w == "--lines":
			i++
		case w[0] == '-':
		case verb == "":
			verb = w
		default:
			units = append(units, unitName(w))
		}
	}
	if !slices.Contains(systemctlVerbs, verb) {
		return false
	}
	r.verb, r.units, r.open = verb, units, false
	return true
}

// sentence reads what systemctl says of a unit that is not there.
func (r *unitReader) sentence(line string, whole bool) bool {
	for _, s := range [][2]string{
		{"Unit ", " could not be found."}, {"Unit ", " not found."}, {"No files found for ", "."},
		{"Failed to get unit file state for ", ": No such file or directory"},
	} {
		i := strings.Index(line, s[0])
		if i < 0 || !strings.HasSuffix(line, s[1]) || strings.HasPrefix(line, "Loaded:") {
			continue
		}
		unit, _ := strings.CutSuffix(line[i+len(s[0]):], s[1])
		if isUnitName(unit) && !strings.Contains(unit, " ") && (whole || strings.HasSuffix(line, ".")) {
			r.begin("", "", unit).LoadState = "not-found"
			r.open = false
			return true
		}
	}
	return false
}

var unitSections = []string{"[Unit]", "[Service]", "[Mount]", "[Automount]", "[Install]", "[Timer]", "[Socket]", "[Path]", "[Swap]"}

// file reads the lines that only a unit's file has: sections, and the path that `systemctl cat` puts first.
func (r *unitReader) file(line string, whole bool) bool {
	if p, ok := strings.CutPrefix(line, "# /"); ok {
		if whole && isUnitName(path.Base(p)) {
			r.begin("file", "cat", path.Base(p)).FragmentPath = "/" + p
			return true
		}
		return strings.HasSuffix(path.Dir(p), ".d") && r.open && r.mode == "file" // a drop-in adds to the same unit
	}
	if !slices.Contains(unitSections, line) {
		return false
	}
	if !r.open || r.mode != "file" || line == "[Unit]" && r.seen[line] {
		r.begin("file", "cat", "")
	}
	r.seen[line] = true
	return true
}

// listed reads rows of list-units ("UNIT loaded active exited …") and list-unit-files ("UNIT enabled enabled").
func (r *unitReader) listed(line string, whole bool) bool {
	f := strings.Fields(line)
	if len(f) > 0 && !isUnitName(f[0]) {
		f = f[1:] // the dot
	}
	switch {
	case !whole || len(f) < 2 || !isUnitName(f[0]):
		return false
	case len(f) >= 4 && slices.Contains(loadStates, f[1]) && slices.Contains(activeStates, f[2]):
		a := r.begin("", "list", f[0])
		a.LoadState, a.ActiveState, a.SubState = f[1], f[2], f[3]
	case len(f) <= 3 && slices.Contains(unitFileStates, f[1]):
		r.begin("", "list", f[0]).UnitFileState = f[1]
	default:
		return false
	}
	r.open = false
	return true
}

// word reads the bare answers of is-active, is-failed and is-enabled.
func (r *unitReader) word(s string, whole bool) {
	verb := ""
	if strings.HasPrefix(r.verb, "is-") {
		verb = r.verb
	}
	switch {
	case verb == "is-system-running", verb == "" && s == "unknown":
	case verb != "is-enabled" && isStateWord(activeStates, s, whole):
		r.begin("", verb, "").ActiveState = s
	case verb != "is-active" && verb != "is-failed" && isStateWord(unitFileStates, s, whole):
		r.begin("", verb, "").UnitFileState = s
	case verb != "is-active" && verb != "is-failed" && s == "not-found": // systemd 253 and later
		r.begin("", verb, "").LoadState = s
	default:
		return
	}
	r.open = false
}

// header reads "● X.service - Description". The mark may be another one, or lost on the way.
func (r *unitReader) header(line string, whole bool) bool {
	name, rest, _ := strings.Cut(line, " ")
	if !isUnitName(name) && utf8.RuneCountInString(name) == 1 {
		name, rest, _ = strings.Cut(strings.TrimSpace(rest), " ")
	}
	if !isUnitName(name) || rest != "" && !strings.HasPrefix(rest, "- ") || !whole && rest == "" {
		return false
	}
	a := r.begin("status", "status", name)
	if whole {
		a.Description = strings.TrimPrefix(rest, "- ")
	}
	return true
}

// label reads the lines below a header of status.
func (r *unitReader) label(line string, whole bool) bool {
	label, value, ok := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	if !ok || !whole || !slices.Contains([]string{"Loaded", "Active", "Process", "Main PID", "Where", "What"}, label) {
		return false
	}
	going := r.open && r.mode == "status"
	if !going && label != "Loaded" && label != "Active" {
		return false // "Where:" and the like are other programs' words too
	}
	if !going || r.seen[label] && label != "Process" {
		r.begin("status", "status", "")
	}
	r.seen[label] = true
	a := r.cur()
	inside := parenthesized(value)
	switch label {
	case "Loaded":
		a.loaded(value, strings.Join(inside, ""))
	case "Active":
		a.ActiveState, _, _ = strings.Cut(value, " ")
		for _, in := range inside {
			if result, ok := strings.CutPrefix(in, "Result: "); ok {
				a.Result = result
			} else if a.SubState == "" {
				a.SubState = in
			}
		}
		if _, since, ok := strings.Cut(value, " since "); ok && a.ActiveState == "active" {
			a.ActiveEnter, _, _ = strings.Cut(since, ";")
		}
	case "Process":
		_, cmd, ok := strings.Cut(value, "ExecStart=")
		if i := strings.LastIndex(cmd, " (code="); ok && i > 0 {
			a.ExecStart = append(a.ExecStart, execCommand(cmd[:i]))
		} else if ok {
			a.ExecStart = append(a.ExecStart, ExecCommand{Args: strings.Fields(cmd), Cut: true})
		}
	case "Main PID":
		code, status, _ := strings.Cut(strings.Join(inside, " "), ", ")
		n, isExit := strings.CutPrefix(status, "status=")
		n, _, _ = strings.Cut(n, "/")
		if c, ok := strings.CutPrefix(code, "code="); ok {
			a.ExecMainCode = c
			if isExit {
				a.ExecMainStatus = optInt(n)
			}
		}
	case "Where":
		a.Where = value
	case "What":
		a.What = value
	}
	return true
}

// loaded reads "loaded (/etc/systemd/system/X; enabled; preset: enabled)".
func (a *UnitAnswer) loaded(value, inside string) {
	if first, _, _ := strings.Cut(value, " "); slices.Contains(loadStates, first) {
		a.LoadState = first
	}
	file := ""
	for i, part := range strings.Split(inside, ";") {
		part = strings.TrimSpace(part)
		if i == 0 && strings.HasPrefix(part, "/") && !strings.Contains(part, "…") {
			file = part
		}
		// The first one: "preset: enabled" and "vendor preset: enabled" are another thing.
		if slices.Contains(unitFileStates, part) && a.UnitFileState == "" {
			a.UnitFileState = part
		}
	}
	if a.UnitFileState == "generated" {
		a.SourcePath = file // systemctl shows what it was generated from: /etc/fstab
	} else {
		a.FragmentPath = file
	}
}

// parenthesized returns what is between parentheses.
func parenthesized(s string) (out []string) {
	for {
		_, rest, ok := strings.Cut(s, "(")
		in, after, closed := strings.Cut(rest, ")")
		if !ok || !closed {
			return out
		}
		out, s = append(out, in), after
	}
}

func execCommand(s string) ExecCommand {
	return ExecCommand{Args: strings.Fields(s), Cut: strings.Contains(s, "…") || strings.Contains(s, "...")}
}

func optUint(s string) Opt[uint64] {
	v, err := strconv.ParseUint(s, 10, 64)
	return Opt[uint64]{V: v, OK: err == nil}
}
