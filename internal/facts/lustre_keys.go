package facts

import (
	"strings"

	"gdsproof/internal/evidence"
)

// Sources of the Lustre client.
const (
	LustreVersionFile  = "/sys/fs/lustre/version"
	KefalndVersionFile = "/sys/module/kefalnd/version"
	ImportsSource      = "lctl get_param of connections"
)

// LfsDfSource is the source of a mount's target list.
func LfsDfSource(dir string) string { return "lfs df " + dir }

// LustreClient is the client as far as it is installed and loaded.
type LustreClient struct {
	Version   Opt[Version]
	Text      string
	Source    string
	Loaded    Opt[bool]       // the lustre module
	Installed map[string]bool // module -> modinfo finds it for the running kernel
	Kernel    map[string]string
}

// Client is the Lustre client.
var Client = Define("lustre-client", []string{"lustre-client", "modules"}, func(in *In) Known[LustreClient] {
	c := LustreClient{Installed: map[string]bool{}, Kernel: map[string]string{}}
	known := false
	set := func(text, source string) {
		if c.Version.OK {
			return
		}
		if v, ok := ParseVersion(text); ok {
			c.Version, c.Text, c.Source, known = Some(v), text, source, true
		}
	}
	// Of a version that was cut, 2.15 may be left as 2.1.
	if it := in.Item(LustreVersionFile); it.OK() && !it.Truncated {
		set(strings.TrimSpace(string(it.Out)), it.Source)
	}
	if it := in.Item("lfs --version"); it.OK() && !it.Truncated { // "lfs 2.15.6"
		if f := strings.Fields(string(it.Out)); len(f) >= 2 && f[0] == "lfs" {
			set(f[1], it.Source)
		}
	}
	for _, m := range []string{"lustre", "kefalnd"} {
		it := in.Item("modinfo " + m)
		if it == nil || it.State != evidence.Present {
			continue
		}
		mi := ParseModinfo(append(append([]byte(nil), it.Out...), it.Err...))
		if f, ok := mi.Of(m); ok {
			c.Installed[m], known = true, true
			c.Kernel[m] = f.Kernel()
			if m == "lustre" {
				set(f.Version, it.Source)
			}
		} else if mi.NotFound(m) {
			c.Installed[m], known = false, true
		}
	}
	if mods := Use(in, KernelModules); mods.OK {
		if _, ok := mods.V.Get("lustre"); ok {
			c.Loaded, known = Some(true), true
		} else if mods.V.Complete {
			c.Loaded = Some(false)
		}
	}
	if !known {
		return Unknown[LustreClient](in)
	}
	return Have(c)
})

// Connections are the client's connections to the servers' targets.
var Connections = Define("lustre-imports", []string{"lustre-answers"}, func(in *In) Known[[]LctlImport] {
	it := in.Item(ImportsSource)
	if !it.OK() {
		return Unknown[[]LctlImport](in)
	}
	l := ParseLctlParams(it.Out).Imports()
	if len(l) == 0 {
		return Unknown[[]LctlImport](in)
	}
	return Have(l)
})

// ImportDown tells that a connection is known not to work. CONNECTING is normal for some seconds after a mount,
// and IDLE is a connection that rests.
func ImportDown(i LctlImport) bool {
	if i.Deactivated {
		return false // by choice: nothing waits for it
	}
	switch i.State {
	case "DISCONN", "EVICTED", "CLOSED", "NEW":
		return true
	}
	return false
}

// FSNameSet are the names of the file systems in question; empty means all.
type FSNameSet map[string]bool

// Has tells whether a server target ("k3vqpbev-OST0004") is of one of them.
func (s FSNameSet) Has(target string) bool {
	if len(s) == 0 {
		return true
	}
	i := strings.LastIndexByte(target, '-')
	return i < 0 || s[target[:i]]
}

// FSNames are the names of the Lustre file systems in question: that of --fs, else of every Lustre mount.
func FSNames(t MountTable, fs string) FSNameSet {
	list := t.OfType("lustre")
	if fs != "" {
		if m, ok := t.At(fs); ok && m.Type == "lustre" {
			list = []Mount{m}
		}
	}
	out := FSNameSet{}
	for _, m := range list {
		// 10.31.9.77@tcp:/k3vqpbev, with a folder below it if that was mounted
		if _, name, ok := strings.Cut(m.Source, ":/"); ok {
			name, _, _ = strings.Cut(name, "/")
			out[name] = true
		}
	}
	return out
}

// Answer tells how a Lustre mount answered.
type MountAnswer struct {
	Dir    string
	Statfs evidence.State
	Words  string // of a statfs that did not succeed
	Stuck  int
	Df     Opt[LfsDf]
	DfHung string
}

// Answers are the answers of the Lustre mounts.
var Answers = Define("lustre-answers", []string{"lustre-answers", "mounts"}, func(in *In) Known[[]MountAnswer] {
	m := Use(in, Mounts)
	if list := listedTargets(in); len(list) > 0 && in.Pasted() {
		return Have(list)
	}
	if !m.OK {
		return Known[[]MountAnswer]{Why: m.Why, Need: m.Need}
	}
	var out []MountAnswer
	for _, mt := range m.V.OfType("lustre") {
		st := in.Item(evidence.StatfsSource(mt.Dir))
		if st == nil {
			continue
		}
		a := MountAnswer{Dir: mt.Dir, Statfs: st.State, Stuck: st.Stuck}
		if st.State != evidence.Present {
			a.Words = strings.TrimSpace(string(st.Err))
		}
		if it := in.Item(LfsDfSource(mt.Dir)); it != nil {
			switch it.State {
			case evidence.Present:
				a.Df = Some(ParseLfsDf(append(append([]byte(nil), it.Out...), it.Err...)))
			case evidence.TimedOut:
				a.DfHung = strings.TrimSpace(string(it.Err))
			}
		}
		out = append(out, a)
	}
	if len(out) == 0 {
		return Because[[]MountAnswer]("no Lustre mount was asked", "statfs of a Lustre mount")
	}
	return Have(out)
})

// listedTargets are answers known by lfs df alone, as texts have them: it listed targets, so the mount answered.
func listedTargets(in *In) []MountAnswer {
	var out []MountAnswer
	for _, it := range in.Prefix(LfsDfSource("")) {
		if !it.OK() {
			continue
		}
		if df := ParseLfsDf(it.Out); len(df.Targets) > 0 {
			df.Cut = df.Cut || it.Form != evidence.Whole
			out = append(out, MountAnswer{Dir: strings.TrimPrefix(it.Source, LfsDfSource("")), Statfs: evidence.Present, Df: Some(df)})
		}
	}
	return out
}

// FstabNow is /etc/fstab.
var FstabNow = Define("fstab", []string{"fstab"}, func(in *In) Known[Fstab] {
	it := in.Item("/etc/fstab")
	switch {
	case it == nil:
		return Unknown[Fstab](in)
	case it.State == evidence.Absent:
		return Have(Fstab{})
	case !it.OK():
		return Unknown[Fstab](in)
	}
	f := ParseFstab(it.Out)
	if it.Truncated {
		f.Cut = true
	}
	return Have(f)
})

// MountUnitOf is what systemd says of a mount.
type MountUnitOf struct {
	Dir  string
	Unit UnitAnswer
}

// MountUnits are the units of the Lustre mounts.
var MountUnits = Define("mount-units", []string{"mount-units", "mounts"}, func(in *In) Known[[]MountUnitOf] {
	m := Use(in, Mounts)
	if !m.OK {
		return Known[[]MountUnitOf]{Why: m.Why, Need: m.Need}
	}
	var out []MountUnitOf
	for _, mt := range m.V.OfType("lustre") {
		name := MountUnit(mt.Dir)
		it := in.Item(UnitSource(name))
		if !it.OK() {
			continue
		}
		if u, ok := ParseSystemctl(it.Out).Of(name); ok {
			out = append(out, MountUnitOf{mt.Dir, u})
		}
	}
	if len(out) == 0 {
		return Unknown[[]MountUnitOf](in)
	}
	return Have(out)
})
