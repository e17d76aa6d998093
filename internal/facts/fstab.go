package facts

import (
	"strconv"
	"strings"
)

// Fstab is /etc/fstab, or lines of it.
type Fstab struct {
	Rows []FstabRow
	Cut  bool // the text ends within a line
}

// FstabRow is one line that is no comment.
type FstabRow struct {
	Spec    string   // "fs-….amazonaws.com@tcp:/name"
	File    string   // the mount point, escapes read
	Type    string   // "lustre"
	Options []string // x-systemd.* ones are here only: they never come to /proc/mounts
	Freq    Opt[int]
	Pass    Opt[int]
	Cut     bool // the options end where the text ends: others may have followed
}

// Has tells whether an option without a value is there.
func (r FstabRow) Has(option string) bool {
	for _, o := range r.Options {
		if o == option {
			return true
		}
	}
	return false
}

// Values returns the values of an option that may be given several times, as x-systemd.requires.
func (r FstabRow) Values(option string) []string {
	var out []string
	for _, o := range r.Options {
		if k, v, ok := strings.Cut(o, "="); ok && k == option {
			out = append(out, v)
		}
	}
	return out
}

// At returns the rows of a mount point. A slash at the end makes no difference to mount.
func (f Fstab) At(file string) []FstabRow {
	var out []FstabRow
	for _, r := range f.Rows {
		if trimSlash(r.File) == trimSlash(file) {
			out = append(out, r)
		}
	}
	return out
}

func trimSlash(s string) string {
	if t := strings.TrimRight(s, "/"); t != "" {
		return t
	}
	return s
}

// ParseFstab reads fstab(5). The fields have no labels, so a row is known by what its first three may be: prompts
// and prose around a pasted line are left out.
func ParseFstab(b []byte) Fstab {
	var out Fstab
	for line, whole := range rawLines(b) {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if !whole {
			// The field that is being written when the text ends may be the beginning of another.
			out.Cut = true
			if f[len(f)-1] = wholeOptions(f, line); f[len(f)-1] == "" {
				f = f[:len(f)-1]
			}
		}
		if len(f) < 3 || !isFstabSpec(f[0], f[2]) || !isFstabFile(f[1]) || !isFSType(f[2]) {
			continue
		}
		r := FstabRow{Spec: unescapeOctal(f[0]), File: unescapeOctal(f[1]), Type: f[2], Cut: !whole && len(f) < 5}
		if len(f) > 3 {
			r.Options = splitOptions(unescapeOctal(f[3]))
		}
		if len(f) > 4 {
			r.Freq = optInt(f[4])
		}
		if len(f) > 5 {
			r.Pass = optInt(f[5])
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

// wholeOptions returns what is certain of the last field of a cut line: of options, those before the last comma.
func wholeOptions(f []string, line string) string {
	last := f[len(f)-1]
	switch {
	case strings.HasSuffix(line, " ") || strings.HasSuffix(line, "\t"):
		return last
	case len(f) == 4:
		comma, quoted := 0, false
		for i := range len(last) {
			if last[i] == '"' {
				quoted = !quoted
			} else if last[i] == ',' && !quoted {
				comma = i
			}
		}
		return last[:comma]
	}
	return ""
}

func isFstabSpec(spec, fsType string) bool {
	return spec == fsType || strings.ContainsAny(spec, "/:=") || spec == "none" || spec == "swap" || isFSType(spec) && fsType == "tmpfs"
}

func isFstabFile(file string) bool { return file[0] == '/' || file == "none" || file == "swap" }

// splitOptions splits at commas outside quotes, as libmount does (SELinux contexts are quoted).
func splitOptions(s string) []string {
	var out []string
	quoted, from := false, 0
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ',' && !quoted:
			if i > from {
				out = append(out, s[from:i])
			}
			from = i + 1
		}
	}
	if from < len(s) {
		out = append(out, s[from:])
	}
	return out
}

// unescapeOctal reads the escapes of fstab and /proc/mounts: \040 is a blank, \011 a TAB, \134 a backslash.
func unescapeOctal(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				out = append(out, byte(v))
				i += 3
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func optInt(s string) Opt[int] {
	v, err := strconv.Atoi(s)
	return Opt[int]{V: v, OK: err == nil}
}
