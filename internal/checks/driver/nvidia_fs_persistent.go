package driver

import (
	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var installForBoot = check.Fix{
	Text: "install the built module below /lib/modules and have it loaded at boot; or build it into the image, or into the boot script. Check again after a reboot",
	Commands: []string{
		"sudo install -D -m 0644 nvidia-fs.ko /lib/modules/$(uname -r)/extra/nvidia-fs.ko",
		"sudo depmod -a",
		"echo nvidia_fs | sudo tee /etc/modules-load.d/nvidia-fs.conf",
	},
	Changes: "adds a module file and a line that loads it at every boot",
	Undo:    "sudo rm /etc/modules-load.d/nvidia-fs.conf /lib/modules/$(uname -r)/extra/nvidia-fs.ko && sudo depmod -a",
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
			f := check.With(check.Warn("%s would load it, but the unit is not enabled", d.Path), check.Quote(d.Path, d.Text))
			return []check.Finding{f}
		}
		f := check.Warn("nothing loads nvidia_fs at boot: after a reboot it is gone")
		if notInstalled {
			f.Summary = "nvidia_fs is not installed below /lib/modules and nothing inserts it at boot: after a reboot it is gone"
			f.Evidence = check.Bearing(v, facts.ModuleFileOf)
		}
		return []check.Finding{check.With(f, check.Bearing(v, facts.BootConfig)...)}
	},
})

// inserts: a script that inserts a file by its path needs no installed module.
func inserts(l facts.BootLine) bool { return containsWord(l.Text, "insmod") }
