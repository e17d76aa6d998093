package driver

import (
	"path"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var installForBoot = check.Fix{
	Text: "in the folder where it was built (gds-nvidia-fs/src): install the module below /lib/modules and have it loaded at boot; or build it into the image, or into the boot script. Check again after a reboot",
	Commands: []string{
		"sudo install -D -m 0644 nvidia-fs.ko /lib/modules/$(uname -r)/extra/nvidia-fs.ko",
		"sudo depmod -a",
		"modinfo -n nvidia_fs  # must name the file in extra; a file in updates goes before it: remove the package that brought it",
		"echo nvidia_fs | sudo tee /etc/modules-load.d/gdsproof-nvidia-fs.conf",
	},
	Changes: "adds a module file and a line that loads it at every boot",
	Undo:    "sudo rm /etc/modules-load.d/gdsproof-nvidia-fs.conf /lib/modules/$(uname -r)/extra/nvidia-fs.ko && sudo depmod -a",
}

var loadAtBoot = check.Fix{
	Text:     "have the installed module loaded at boot; check again after a reboot",
	Commands: []string{"echo nvidia_fs | sudo tee /etc/modules-load.d/gdsproof-nvidia-fs.conf"},
	Changes:  "a line that loads the module at every boot",
	Undo:     "sudo rm /etc/modules-load.d/gdsproof-nvidia-fs.conf",
}

var _ = check.Register(check.Check{
	ID:     "nvidia-fs-persistent",
	Title:  "Something loads nvidia-fs at boot",
	Why:    "A module loaded with insmod is gone after the next reboot, and GDS falls back to the CPU without a word.",
	Source: "modules-load.d(5), modprobe.d(5), insmod(8)",
	Step:   1,
	Examples: map[string]string{
		"p5en":                       "pass",
		"p5en,nvidia-fs-insmod-only": "warn",
		"laptop":                     "skip",
	},
	After: []string{"nvidia-fs-loaded"},
	Needs: applies.NVFSNeeds(facts.Driving.Must(), facts.BootConfig.Must(), facts.ModuleFileOf.Want(), facts.Container.Want()),
	Fix:   []check.Fix{installForBoot},
	Applies: func(v check.View) (check.Answer, string) {
		if a, why := applies.NVFS(v); a != check.Yes {
			return a, why
		}
		if c := check.Maybe(v, facts.Container); c.OK && c.V != "" {
			return check.No, "inside a container (" + c.V + "): the boot of the host is not seen from here"
		}
		return check.Yes, ""
	},
	Judge: func(v check.View) []check.Finding {
		boot, mi := check.Get(v, facts.BootConfig), check.Maybe(v, facts.ModuleFileOf)
		notInstalled := mi.OK && mi.V.NotFound("nvidia_fs")
		line, loads := boot.Loads()
		switch {
		case loads && notInstalled && !inserts(line):
			return []check.Finding{check.With(check.Warn("%s loads nvidia_fs at boot, but modinfo finds no such module below /lib/modules: the line will fail", line.Path),
				append(check.Bearing(v, facts.ModuleFileOf), check.Quote(line.Path, line.Text))...)}
		case loads:
			return []check.Finding{check.With(check.Pass("%s loads it at boot", line.Path), check.Quote(line.Path, line.Text))}
		}
		if d, ok := boot.Disabled(); ok {
			unit := path.Base(d.Path)
			f := check.With(check.Warn("%s would load it, but the unit is not enabled", d.Path), check.Quote(d.Path, d.Text))
			f.Fix = []check.Fix{{Text: "enable the unit", Commands: []string{"sudo systemctl enable " + unit}, Changes: "runs the unit at each boot", Undo: "sudo systemctl disable " + unit}}
			return []check.Finding{f}
		}
		if l, ok := boot.Script(); ok {
			return []check.Finding{check.With(check.NotKnown("a look into the unit's script, or a reboot", "%s names nvidia-fs in a command; whether that loads it cannot be told", l.Path), check.Quote(l.Path, l.Text))}
		}
		if l, ok := boot.Blacklist(); ok {
			f := check.With(check.Warn("%s keeps it from being loaded at boot", l.Path), check.Quote(l.Path, l.Text))
			f.Fix = []check.Fix{{Text: "take the line out", Commands: []string{"sudoedit " + l.Path}, Changes: "the module may be loaded again", Undo: "put the line back"}, loadAtBoot}
			return []check.Finding{f}
		}
		f := check.Warn("nothing loads nvidia_fs at boot: after a reboot it is gone")
		if mi.OK && !notInstalled {
			f.Fix = []check.Fix{loadAtBoot}
		}
		if notInstalled {
			f.Summary = "nvidia_fs is not installed below /lib/modules and nothing inserts it at boot: after a reboot it is gone"
			f.Evidence = check.Bearing(v, facts.ModuleFileOf)
		}
		return []check.Finding{check.With(f, check.Bearing(v, facts.BootConfig)...)}
	},
})

// inserts: a script that inserts a file by its path needs no installed module.
func inserts(l facts.BootLine) bool { return containsWord(l.Text, "insmod") }
