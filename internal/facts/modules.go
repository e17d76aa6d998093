package facts

import (
	"bytes"
	"strconv"
	"strings"

	"gdsproof/internal/evidence"
)

// Module is one row of /proc/modules or lsmod.
type Module struct {
	Name   string
	Refs   Opt[int] // -1 while it is being unloaded; a kernel that cannot unload modules prints "-"
	UsedBy []string
	State  string // Live, Loading, Unloading; "" in lsmod, which does not say
	Taint  string // letters of (POE); a last "-" means going away, "+" coming
	Line   string
}

// Going tells whether the module is listed and yet cannot be used any more: it is being unloaded and, after a
// fault in the driver, stays so until a reboot.
func (m Module) Going() bool {
	return m.Refs.OK && m.Refs.V < 0 || m.State == "Unloading" || strings.HasSuffix(m.Taint, "-")
}

// Coming tells whether the module is still being loaded.
func (m Module) Coming() bool { return m.State == "Loading" || strings.HasSuffix(m.Taint, "+") }

// Modules are the kernel's loaded modules.
type Modules struct {
	ByName   map[string]Module
	Complete bool // a module that is not listed is not loaded
	// NoModules: the kernel has no list, which is how one without loadable modules looks.
	NoModules bool
	Source    string
	asked     []string // by a filter whose output was seen to its end
}

// Lacks tells that a module is known not to be loaded: a whole list, or one that was filtered for it, has no such row.
func (m Modules) Lacks(name string) bool {
	if _, ok := m.Get(name); ok {
		return false
	}
	for _, p := range m.asked {
		if p != "" && strings.Contains(strings.ReplaceAll(name, "-", "_"), p) {
			return true
		}
	}
	return m.Complete
}

// Get finds a module; the kernel spells a dash as an underscore.
func (m Modules) Get(name string) (Module, bool) {
	r, ok := m.ByName[strings.ReplaceAll(name, "-", "_")]
	return r, ok
}

// ParseModules reads the rows of /proc/modules and of lsmod, which differ in the words behind the use count. A
// row is read by its shape, so that headers, prompts and cut rows fall out; odd counts the lines that are no rows.
func ParseModules(b []byte) (mods map[string]Module, header bool, odd int) {
	mods = map[string]Module{}
	for raw := range bytes.Lines(b) {
		line := strings.TrimSpace(string(raw))
		f := strings.Fields(line)
		if len(f) >= 3 && f[0] == "Module" && f[1] == "Size" {
			header = true
			continue
		}
		if len(f) == 0 {
			continue
		}
		odd++
		if len(f) < 3 {
			continue
		}
		if _, err := strconv.ParseUint(f[1], 10, 64); err != nil || !moduleName(f[0]) {
			continue
		}
		var refs Opt[int]
		if n, err := strconv.Atoi(f[2]); err == nil && n >= -1 {
			refs = Some(n)
		} else if f[2] != "-" || len(f) < 4 { // a lone dash may be a cut -1
			continue
		}
		odd--
		m := Module{Name: strings.ReplaceAll(f[0], "-", "_"), Refs: refs, Line: line}
		rest := f[3:]
		if len(rest) > 0 && !strings.HasPrefix(rest[0], "(") {
			for _, u := range strings.Split(rest[0], ",") {
				if u != "" && u != "-" {
					m.UsedBy = append(m.UsedBy, u)
				}
			}
			rest = rest[1:]
		}
		for _, w := range rest {
			switch {
			case w == "Live" || w == "Loading" || w == "Unloading":
				m.State = w
			case strings.HasPrefix(w, "(") && strings.HasSuffix(w, ")"):
				m.Taint = w[1 : len(w)-1]
			}
		}
		mods[m.Name] = m
	}
	return mods, header, odd
}

func moduleName(s string) bool {
	for _, r := range s {
		if r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return s != ""
}

// KernelModules is the list of loaded modules, from the kernel or from lsmod.
var KernelModules = Define("kernel-modules", []string{"modules", "identity"}, func(in *In) Known[Modules] {
	proc := in.Item("/proc/modules")
	out := Modules{ByName: map[string]Module{}}
	for _, src := range []string{"/proc/modules", "lsmod"} {
		for _, it := range in.Steps(src) {
			out.take(it)
		}
		if out.Source != "" {
			return Have(out)
		}
	}
	in.Item("lsmod")
	// A /proc that hides all but processes (subset=pid) lacks the list too: then its other files are not there either.
	if proc != nil && proc.State == evidence.Absent && in.Item(KernelSource).OK() {
		return Have(Modules{ByName: map[string]Module{}, NoModules: true, Source: "/proc/modules"})
	}
	return Unknown[Modules](in)
})

// take reads one look at the list. A later one stands over an earlier one as far as it goes.
func (m *Modules) take(it *evidence.Item) {
	if !it.OK() {
		return
	}
	mods, header, odd := ParseModules(it.Out)
	// lsmod without its header was filtered or cut at the top, whatever the item says of itself. A list whose last
	// line has no end was cut at the bottom. A row that is not understood may be the wanted one.
	ended := !it.Truncated && (len(it.Out) == 0 || bytes.HasSuffix(it.Out, []byte("\n"))) && odd == 0
	complete := ended && it.Complete() && (it.Source == "/proc/modules" || header)
	filtered := ended && it.Form == evidence.Filtered && len(it.Filter) > 0
	if len(mods) == 0 && !complete && !filtered {
		return
	}
	m.Source = it.Source
	if complete {
		m.ByName, m.Complete, m.asked = mods, true, nil
		return
	}
	if filtered {
		for _, p := range it.Filter {
			for name := range m.ByName {
				if _, still := mods[name]; !still && p != "" && strings.Contains(name, p) {
					delete(m.ByName, name)
				}
			}
		}
		m.asked = append(m.asked, it.Filter...)
	}
	for name, mod := range mods {
		m.ByName[name] = mod
	}
}
