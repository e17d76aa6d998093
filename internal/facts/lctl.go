package facts

import (
	"strings"
)

// LctlDevice is one row of `lctl dl`: what the client has set up, one device for each server target.
type LctlDevice struct {
	Index int
	State string // UP; IN inactive, ST stopping, AT attached and not set up
	Type  string // mgc, lov, lmv, mdc, osc
	Name  string // "qrstbcde-OST0001-osc-ffff…"
	UUID  string
	Refs  Opt[int]
}

// Target is the server target of a device, "qrstbcde-OST0001", or "".
func (d LctlDevice) Target() string { return targetOf(d.Name) }

// LctlDevices is the answer of `lctl dl`.
type LctlDevices struct {
	Devices []LctlDevice
	Cut     bool // the text ends within a line; that line was not used
}

var lctlStates = map[string]bool{"UP": true, "IN": true, "ST": true, "AT": true}

// ParseLctlDevices reads its rows, those of -t (with the server's NID at the end) too.
func ParseLctlDevices(b []byte) LctlDevices {
	var out LctlDevices
	for line, whole := range rawLines(b) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if !whole {
			out.Cut = true
			continue
		}
		if len(f) < 5 || !lctlStates[f[1]] {
			continue
		}
		index := optInt(f[0])
		if !index.OK || index.V < 0 {
			continue
		}
		d := LctlDevice{Index: index.V, State: f[1], Type: f[2], Name: f[3], UUID: f[4]}
		if len(f) > 5 {
			d.Refs = optInt(f[5])
		}
		out.Devices = append(out.Devices, d)
	}
	return out
}

// LctlParams is the answer of `lctl get_param`.
type LctlParams struct {
	Params []LctlParam
	Errors []string // "error: get_param: param_path 'osc/*/import': No such file or directory"
	Cut    bool     // the text ends within a line; that line was not used
}

// LctlParam is one parameter. A value of several lines has them as they were, indentation too.
type LctlParam struct {
	Name  string // "osc.qrstbcde-OST0001-osc-ffff….max_pages_per_brw"
	Value string
	Cut   bool // the value goes on where the text was cut
}

// Target is the server target that a parameter's name speaks of, or "".
func (p LctlParam) Target() string {
	if i := strings.IndexByte(p.Name, '.'); i >= 0 {
		return targetOf(p.Name[i+1:])
	}
	return ""
}

// Get returns the value of a parameter of that very name.
func (l LctlParams) Get(name string) (string, bool) {
	for _, p := range l.Params {
		if p.Name == name && !p.Cut {
			return p.Value, true
		}
	}
	return "", false
}

// Of returns the parameters of a kind of device: Of("osc", "max_pages_per_brw").
func (l LctlParams) Of(kind, name string) []LctlParam {
	var out []LctlParam
	for _, p := range l.Params {
		if strings.HasPrefix(p.Name, kind+".") && strings.HasSuffix(p.Name, "."+name) {
			out = append(out, p)
		}
	}
	return out
}

// ParseLctlParams reads "name=value" lines, and the lines below "name=" up to the next name.
func ParseLctlParams(b []byte) LctlParams {
	var out LctlParams
	var lines []string
	var cur *LctlParam
	oneLine := false // its value began behind the "="
	end := func() {
		if cur != nil {
			cur.Value = strings.TrimRight(strings.Join(lines, "\n"), "\n")
		}
		cur, lines = nil, nil
	}
	for line, whole := range rawLines(b) {
		line = strings.TrimRight(line, " \t")
		if !whole && line != "" {
			out.Cut = true
			if _, _, ok := paramLine(line); cur != nil && !ok && !oneLine {
				cur.Cut = true
			}
			continue
		}
		if name, value, ok := paramLine(line); ok {
			end()
			out.Params = append(out.Params, LctlParam{Name: name})
			cur = &out.Params[len(out.Params)-1]
			if oneLine = value != ""; oneLine {
				lines = append(lines, value)
			}
			continue
		}
		switch {
		case strings.HasPrefix(line, "error: "):
			out.Errors = append(out.Errors, line)
			end()
		case strings.HasPrefix(line, "$ "), strings.HasPrefix(line, "# "), strings.Contains(line, "lctl get_param"):
			end()
		case cur != nil:
			lines = append(lines, line)
		}
	}
	if cur != nil && len(lines) == 0 {
		cur.Cut = true // "name=" is the first line of a long value more often than an empty one
	}
	end()
	return out
}

// paramLine knows the first line of a parameter: names have no blanks, and a value's lines no name before a "=".
func paramLine(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(strings.TrimLeft(line, " \t"), "=")
	if !ok || name == "" || name[0] < 'a' || name[0] > 'z' || !strings.Contains(name, ".") && name != line[:len(name)] {
		return "", "", false
	}
	for i := range len(name) {
		c := name[i]
		if !isLetter(c) && (c < '0' || c > '9') && strings.IndexByte("._-@:*", c) < 0 {
			return "", "", false
		}
	}
	return name, strings.TrimSpace(value), true
}

// targetOf finds "name-OST0001" at the beginning of a device's name.
func targetOf(device string) string {
	for _, kind := range []string{"-OST", "-MDT"} {
		if i := strings.Index(device, kind); i > 0 && len(device) >= i+8 {
			if _, _, ok := targetIndex(device[:i+8]); ok {
				return device[:i+8]
			}
		}
	}
	return ""
}
