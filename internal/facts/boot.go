package facts

import (
	"path"
	"strings"

	"gdsproof/internal/evidence"
)

// BootSearchSource folds all lines below the folders of boot configuration that name nvidia-fs: "path: line".
const BootSearchSource = "search for nvidia-fs in boot configuration"

// BootLine is a line of the boot configuration that names nvidia-fs.
type BootLine struct{ Path, Text string }

// Boot is what the boot configuration says of nvidia-fs.
type Boot struct {
	Lines []BootLine
	Units map[string]bool // units that name it -> enabled
}

// Loads returns the line that loads the module at boot, if any: a modules list, a softdep or install rule, an
// initramfs list, an enabled unit or a boot script that inserts it.
func (b Boot) Loads() (BootLine, bool) {
	for _, l := range b.Lines {
		t := strings.TrimSpace(l.Text)
		if t == "" || strings.HasPrefix(t, "#") || strings.HasPrefix(t, ";") {
			continue
		}
		if b.lineLoads(l, t) {
			return l, true
		}
	}
	return BootLine{}, false
}

// lineLoads tells whether a line loads the module, by the rules of the file that it stands in.
func (b Boot) lineLoads(l BootLine, t string) bool {
	conf := strings.HasSuffix(l.Path, ".conf") // others in these folders are not read
	f := strings.Fields(t)
	switch {
	case strings.Contains(l.Path, "/modules-load.d/"):
		_, blacklisted := b.Blacklist()
		return conf && SameModule(f[0], "nvidia_fs") && !blacklisted
	case l.Path == "/etc/modules", l.Path == "/etc/initramfs-tools/modules":
		return SameModule(f[0], "nvidia_fs")
	case strings.Contains(l.Path, "/modprobe.d/"):
		// "softdep nvidia post: nvidia-fs" and "install nvidia … modprobe nvidia-fs" load it with another module.
		if !conf || len(f) < 3 || SameModule(f[1], "nvidia_fs") {
			return false
		}
		return f[0] == "softdep" || f[0] == "install" && loadsModule(t)
	case strings.Contains(l.Path, "/dracut.conf"):
		return strings.HasPrefix(f[0], "add_drivers") || strings.HasPrefix(f[0], "force_drivers")
	case strings.HasSuffix(l.Path, ".service"):
		return b.Units[path.Base(l.Path)] && startsModule(t)
	case strings.Contains(l.Path, "/cron.d/"):
		return strings.HasPrefix(t, "@reboot") && loadsModule(t)
	}
	return loadsModule(t) // rc.local, init scripts, cloud-init's per-boot scripts
}

// Blacklist returns the line that keeps modules-load.d from loading the module: systemd-modules-load passes over
// what modprobe.d blacklists (modules-load.d(5)), and an install rule can replace the loading by nothing.
func (b Boot) Blacklist() (BootLine, bool) {
	for _, l := range b.Lines {
		f := strings.Fields(l.Text)
		if len(f) < 2 || !strings.Contains(l.Path, "/modprobe.d/") || !strings.HasSuffix(l.Path, ".conf") || !SameModule(f[1], "nvidia_fs") {
			continue
		}
		if f[0] == "blacklist" || f[0] == "install" && !loadsModule(strings.Join(f[2:], " ")) {
			return l, true
		}
	}
	return BootLine{}, false
}

// Disabled returns a unit that would load it and is not enabled.
func (b Boot) Disabled() (BootLine, bool) {
	for _, l := range b.Lines {
		if strings.HasSuffix(l.Path, ".service") && !b.Units[path.Base(l.Path)] && startsModule(l.Text) {
			return l, true
		}
	}
	return BootLine{}, false
}

// Script returns an enabled unit that names the module in a command which is neither modprobe nor insmod, and which
// may load it.
func (b Boot) Script() (BootLine, bool) {
	for _, l := range b.Lines {
		if strings.HasSuffix(l.Path, ".service") && b.Units[path.Base(l.Path)] && strings.HasPrefix(strings.TrimSpace(l.Text), "ExecStart") && !strings.Contains(l.Text, "modprobe") {
			return l, true
		}
	}
	return BootLine{}, false
}

// loadsModule tells a command that loads the module from one that removes or only names it.
func loadsModule(t string) bool {
	f := strings.FieldsFunc(t, func(r rune) bool { return strings.ContainsRune(" \t/;&|=(){}\"'", r) })
	for i, w := range f {
		if w != "modprobe" && w != "insmod" {
			continue
		}
		for _, a := range f[i+1:] {
			if a == "-r" || a == "--remove" {
				break
			}
			if strings.HasPrefix(a, "nvidia-fs") || strings.HasPrefix(a, "nvidia_fs") {
				return true
			}
		}
	}
	return false
}

// startsModule is loadsModule for a line of a unit.
func startsModule(t string) bool {
	t = strings.TrimSpace(t)
	for _, k := range []string{"ExecStart=", "ExecStartPre=", "ExecStartPost="} {
		if strings.HasPrefix(t, k) {
			return loadsModule(t)
		}
	}
	return false
}

// BootConfig is the boot configuration.
var BootConfig = Define("boot-config", []string{"boot-config"}, func(in *In) Known[Boot] {
	it := in.Item(BootSearchSource)
	if !it.OK() {
		return Unknown[Boot](in)
	}
	b := Boot{Units: map[string]bool{}}
	for line := range strings.Lines(string(it.Out)) {
		p, text, ok := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		if !ok {
			continue
		}
		if unit, ok := strings.CutPrefix(p, "enabled "); ok {
			b.Units[unit] = true
			continue
		}
		b.Lines = append(b.Lines, BootLine{Path: p, Text: text})
	}
	if it.Truncated {
		if _, ok := b.Loads(); !ok {
			return Because[Boot]("a folder of the boot configuration could not be read: "+string(it.Err), NeedRoot)
		}
	}
	return Have(b)
})

// ModuleFileOf is what modinfo says of nvidia-fs: the file that a boot would load.
var ModuleFileOf = Define("nvidia-fs-modinfo", []string{"nvidia-fs-modinfo"}, func(in *In) Known[Modinfo] {
	it := in.Item("modinfo nvidia_fs")
	if it == nil || it.State != evidence.Present {
		return Unknown[Modinfo](in)
	}
	m := ParseModinfo(append(append([]byte(nil), it.Out...), it.Err...))
	if len(m.Modules) == 0 && len(m.Missing) == 0 {
		return Unknown[Modinfo](in)
	}
	return Have(m)
})
