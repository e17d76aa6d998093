package facts

import (
	"path"
	"strings"
)

// Modinfo is what `modinfo` said, of one module or of several one after another.
type Modinfo struct {
	Modules []ModuleFile
	Missing []string // names of which it said that no such module is installed
	Errors  []string // what else it complained of
	Cut     bool     // the text ends within a line; that line was not used
}

// ModuleFile is one module file. "" means that the line was not there.
//
// It is the file that a modprobe would load, which need not be what is loaded now: after an insmod of a module
// built elsewhere, modinfo does not find it although it runs.
type ModuleFile struct {
	Filename    string // "(builtin)" for one that is part of the kernel
	Name        string // without a name line, as after a grep, it comes from the file's name
	Version     string
	License     string
	Description string
	SrcVersion  string
	Vermagic    string
	Depends     Opt[[]string] // an empty list says: on none
	Staging     bool          // AL2023's Lustre client is of the staging directory
	Parms       []Parm
}

// Parm is one parameter line.
type Parm struct{ Name, Text string }

// Kernel is the kernel release that the module was built for, "" if it does not say.
func (m ModuleFile) Kernel() string {
	release, _, _ := strings.Cut(m.Vermagic, " ")
	return release
}

// SameModule compares module names: the kernel takes - and _ for the same, and modinfo answers with either.
func SameModule(a, b string) bool {
	return strings.ReplaceAll(a, "-", "_") == strings.ReplaceAll(b, "-", "_")
}

// Of returns the module of a name.
func (m Modinfo) Of(name string) (ModuleFile, bool) {
	for _, mod := range m.Modules {
		if SameModule(mod.Name, name) {
			return mod, true
		}
	}
	return ModuleFile{}, false
}

// NotFound tells that modinfo said that there is no such module.
func (m Modinfo) NotFound(name string) bool {
	for _, n := range m.Missing {
		if SameModule(n, name) {
			return true
		}
	}
	return false
}

// ParseModinfo reads the output, stderr included, whole or grepped.
func ParseModinfo(b []byte) Modinfo {
	var out Modinfo
	var cur *ModuleFile
	for line, whole := range rawLines(b) {
		line = strings.TrimSpace(line)
		if name, ok := moduleMissing(line, whole); ok {
			out.Missing = append(out.Missing, name)
			cur = nil
			continue
		}
		if !whole {
			out.Cut = out.Cut || line != ""
			continue
		}
		if strings.HasPrefix(line, "modinfo: ") || strings.HasPrefix(line, "ERROR: modinfo: ") {
			out.Errors = append(out.Errors, line)
			cur = nil
			continue
		}
		label, value, ok := modinfoLine(line)
		switch {
		case !ok && !isSignatureRow(line):
			cur = nil // a prompt, a heading, ethtool's "driver:": what follows is of something else
			continue
		case !ok:
			continue
		}
		if cur == nil || cur.begins(label) {
			out.Modules = append(out.Modules, ModuleFile{})
			cur = &out.Modules[len(out.Modules)-1]
		}
		cur.take(label, value)
	}
	out.Modules = keepTelling(out.Modules)
	return out
}

// moduleMissing reads kmod's "modinfo: ERROR: Module X not found.", module-init-tools' "could not find module X"
// and busybox's "module 'X' not found". kmod's ends in a stop, so that it is whole wherever the text is cut behind it.
func moduleMissing(line string, whole bool) (name string, ok bool) {
	_, said, ok := strings.Cut(line, "modinfo: ")
	if !ok {
		return "", false
	}
	said = strings.TrimPrefix(said, "ERROR: ")
	if n, ok := strings.CutPrefix(said, "could not find module "); ok {
		return n, whole && isModuleName(n)
	}
	if n, ok := strings.CutPrefix(said, "Module "); ok {
		n, _, ok = strings.Cut(n, " not found.")
		return n, ok && isModuleName(n)
	}
	if n, ok := strings.CutPrefix(said, "module "); ok {
		n, _, ok = strings.Cut(n, " not found")
		n = strings.Trim(n, "'")
		return n, ok && isModuleName(n)
	}
	return "", false
}

func isModuleName(s string) bool { return s != "" && !strings.ContainsAny(s, " \t") }

// modinfoLine takes a line apart. The labels are those of kmod; ok is false for a line of another kind.
func modinfoLine(line string) (label, value string, ok bool) {
	label, value, ok = strings.Cut(line, ":")
	label = strings.TrimRight(label, " \t")
	if !ok || label == "" || label == "driver" {
		return "", "", false
	}
	for i := range len(label) {
		if c := label[i]; c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return "", "", false
		}
	}
	return label, strings.TrimSpace(value), true
}

// isSignatureRow knows the rows of hexadecimal pairs under "signature:", and blank lines.
func isSignatureRow(line string) bool {
	return strings.Trim(line, "0123456789ABCDEFabcdef: \t") == ""
}

// begins tells that a label is the first line of another module.
func (m *ModuleFile) begins(label string) bool {
	switch label {
	case "filename":
		return true
	case "name":
		return m.Name != "" && m.Filename == ""
	case "version":
		return m.Version != ""
	case "vermagic":
		return m.Vermagic != ""
	}
	return false
}

// take keeps the first of what a module says twice (a module may have several license lines).
func (m *ModuleFile) take(label, value string) {
	once := func(to *string) {
		if *to == "" {
			*to = value
		}
	}
	switch label {
	case "filename":
		m.Filename = value
		m.Name = moduleOfFile(value)
	case "name":
		if m.Filename != "" || m.Name == "" {
			m.Name = value
		}
	case "version":
		once(&m.Version)
	case "license":
		once(&m.License)
	case "description":
		once(&m.Description)
	case "srcversion":
		once(&m.SrcVersion)
	case "vermagic":
		once(&m.Vermagic)
	case "staging":
		m.Staging = m.Staging || value == "Y"
	case "depends":
		if !m.Depends.OK {
			m.Depends = Some(strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }))
		}
	case "parm":
		if name, text, ok := strings.Cut(value, ":"); ok {
			m.Parms = append(m.Parms, Parm{Name: strings.TrimSpace(name), Text: strings.TrimSpace(text)})
		}
	}
}

func moduleOfFile(file string) string {
	base := path.Base(file)
	if i := strings.Index(base, ".ko"); i > 0 {
		return base[:i] // .ko, .ko.xz, .ko.zst
	}
	return ""
}

// keepTelling drops blocks of which nothing was understood: any "label: value" line of a paste may open one.
func keepTelling(ms []ModuleFile) []ModuleFile {
	var out []ModuleFile
	for _, m := range ms {
		if m.Filename != "" || m.Name != "" || m.Version != "" || m.Vermagic != "" ||
			m.License != "" || m.SrcVersion != "" || m.Depends.OK || len(m.Parms) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// ParseModinfoField reads the answer of `modinfo -F field`: bare values, one a line. Which field was asked for,
// only the command knows. Complaints and a cut last line are left out.
func ParseModinfoField(b []byte) []string {
	var out []string
	for line, whole := range rawLines(b) {
		line = strings.TrimSpace(line)
		if whole && line != "" && !strings.Contains(line, "modinfo: ") {
			out = append(out, line)
		}
	}
	return out
}
