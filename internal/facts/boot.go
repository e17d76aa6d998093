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
		if strings.HasPrefix(t, "#") || strings.HasPrefix(t, ";") {
			continue
		}
		switch {
		case strings.Contains(l.Path, "/modules-load.d/"), l.Path == "/etc/modules", l.Path == "/etc/initramfs-tools/modules":
			name, _, _ := strings.Cut(t, " ")
			if SameModule(name, "nvidia_fs") {
				return l, true
			}
		case strings.Contains(l.Path, "/modprobe.d/"):
			f := strings.Fields(t)
			if len(f) > 0 && (f[0] == "softdep" || f[0] == "install") {
				return l, true
			}
		case strings.Contains(l.Path, "/dracut.conf"):
			if strings.Contains(t, "drivers") {
				return l, true
			}
		case strings.HasSuffix(l.Path, ".service"):
			if b.Units[path.Base(l.Path)] && loadsModule(t) {
				return l, true
			}
		default: // rc.local, cron's @reboot, cloud-init's per-boot scripts
			if loadsModule(t) {
				return l, true
			}
		}
	}
	return BootLine{}, false
}

// Disabled returns a unit that would load it and is not enabled.
func (b Boot) Disabled() (BootLine, bool) {
	for _, l := range b.Lines {
		if strings.HasSuffix(l.Path, ".service") && !b.Units[path.Base(l.Path)] && loadsModule(l.Text) {
			return l, true
		}
	}
	return BootLine{}, false
}

func loadsModule(t string) bool {
	return strings.Contains(t, "modprobe") || strings.Contains(t, "insmod")
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
