package driver

import (
	"fmt"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "nvidia-fs-loaded",
	Title:  "The GDS kernel module nvidia_fs is loaded and can be used",
	Why:    "Without nvidia-fs, libcufile copies file data through CPU memory and says nothing.",
	Source: "NVIDIA GDS Installation and Troubleshooting Guide; nvidia-fs source, nvfs-core.c",
	Step:   1,
	Gate:   true,
	Examples: map[string]string{
		"p5en":                           "pass",
		"p5en,nvidia-fs-missing":         "fail",
		"p5en,nvidia-fs-stuck-unloading": "fail",
		"p5en,gpu-driver-proprietary":    "unknown",
		"laptop":                         "skip",
	},
	After:   []string{"gpu-driver/" + modules},
	Needs:   applies.NVFSNeeds(facts.KernelModules.Want(), facts.ProcDir.Want(), facts.Driving.Want(), facts.Platform.Want(), facts.KLog.Want(), facts.ModuleFileOf.Want(), facts.Rules.Must()),
	Applies: applies.NVFS,
	Fix:     []check.Fix{load, build},
	Judge: func(v check.View) []check.Finding {
		mods, dir, gds := check.Maybe(v, facts.KernelModules), check.Maybe(v, facts.ProcDir), check.Maybe(v, facts.Platform)
		if mods.OK {
			if m, ok := mods.V.Get("nvidia_fs"); ok {
				line := check.Quote(mods.V.Source, m.Line)
				switch {
				case m.Going():
					f := check.With(check.Fail("nvidia_fs is listed but half unloaded: nothing can open it any more"), line)
					f.Fix = []check.Fix{rebootNode, build}
					return []check.Finding{check.With(f, loadTrouble(v)...)}
				case m.Coming():
					return []check.Finding{check.With(check.NotKnown("another look in a moment", "nvidia_fs is just being loaded"), line)}
				}
				if bug := sinceLoad(v); len(bug) > 0 {
					f := check.With(check.Warn("nvidia_fs is loaded, but hit a kernel BUG since: it cannot be unloaded, and what it does from here on is open"), append([]check.Evidence{line}, bug...)...)
					f.Fix = []check.Fix{rebootNode, build}
					return []check.Finding{f}
				}
				return []check.Finding{check.With(check.Pass("nvidia_fs is loaded%s", useCount(m)), line)}
			}
		}
		if dir.OK && dir.V {
			return []check.Finding{check.With(check.Pass("the driver's folder %s is there", facts.NVFSProc), check.Bearing(v, facts.ProcDir)...)}
		}
		if sign := check.Maybe(v, facts.Driving); sign.OK {
			return []check.Finding{check.With(check.Pass("%s is there", sign.V), check.Bearing(v, facts.Driving)...)}
		}
		if gds.OK && gds.V.NVFSVersion != "" {
			return []check.Finding{check.With(check.Pass("libcufile found nvidia_fs %s", gds.V.NVFSVersion), check.Quote(gds.V.Source, "nvidia_fs version: "+gds.V.NVFSVersion))}
		}
		notThere := dir.OK && !dir.V
		switch {
		case mods.OK && mods.V.Lacks("nvidia_fs"):
			f := check.With(check.Fail("the nvidia_fs module is not loaded"), check.Quote(mods.V.Source, "no line begins with nvidia_fs"))
			return []check.Finding{withCause(v, f)}
		case mods.OK && mods.V.NoModules && notThere:
			f := check.With(check.Fail("nvidia-fs is not there: no %s, and the kernel lists no modules", facts.NVFSProc), check.Bearing(v, facts.ProcDir)...)
			return []check.Finding{withCause(v, f)}
		case notThere && len(loadTrouble(v)) > 0:
			// The folder is made when the module is loaded, and the kernel log tells why that did not succeed.
			f := check.Fail("%s is not there, and the kernel log shows that nvidia_fs could not be loaded", facts.NVFSProc)
			return []check.Finding{withCause(v, check.With(f, check.Bearing(v, facts.ProcDir)...))}
		case notThere && !mods.OK:
			// The folder is made when the module is loaded; a container can mask it.
			return []check.Finding{check.With(check.NotKnown("the list of loaded modules (lsmod)", "%s is not there, and the list of modules is not known", facts.NVFSProc), check.Bearing(v, facts.ProcDir)...)}
		case gds.OK && gds.V.UnloadedSpoken && !gds.V.Bool("properties.force_compat_mode").V: // libcufile leaves it alone then
			return []check.Finding{withCause(v, check.With(check.Fail("the platform report has no nvidia_fs version: the module is not loaded"), check.Quote(gds.V.Source, "nvidia_fs minimum version: "+gds.V.NVFSMinimum)))}
		case gds.OK && strings.HasPrefix(strings.ToLower(gds.V.Reason), "nvidia-fs driver is not loaded"):
			return []check.Finding{withCause(v, check.With(check.Fail("libcufile says that nvidia-fs is not loaded"), check.Quote(gds.V.Source, gds.V.Reason)))}
		}
		need := mods.Need
		if need == "" {
			need = "the whole list of loaded modules (lsmod)"
		}
		return []check.Finding{check.NotKnown(need, "nothing looked at tells whether nvidia_fs is loaded")}
	},
})

var rebootNode = check.Fix{Text: "reboot: a module in this state neither works for sure nor goes away", Commands: []string{"sudo reboot"}, Changes: "restarts the node", Undo: "none"}

// sinceLoad are the kernel's words on a BUG in the module that is loaded now.
func sinceLoad(v check.View) []check.Evidence {
	var bugs []facts.Hit
	for _, h := range loadHits(v) {
		if h.Signature.ID == "nvfs-kernel-bug" {
			bugs = append(bugs, h)
		}
	}
	return check.QuoteHits(check.Maybe(v, facts.KLog).V.Source, bugs)
}

// withCause adds what the kernel log says of failed attempts to load it, and puts the fix first that fits: a
// module that is not installed cannot be loaded, it has to be built.
func withCause(v check.View, f check.Finding) check.Finding {
	if ev, fixes := loadTrouble(v), loadFixes(v); len(ev) > 0 {
		f.Evidence = append(f.Evidence, ev...)
		f.Fix = fixes
		return f
	}
	if mi := check.Maybe(v, facts.ModuleFileOf); mi.OK && mi.V.NotFound("nvidia_fs") {
		f.Summary += " and not installed below /lib/modules"
		f.Evidence = append(f.Evidence, check.Bearing(v, facts.ModuleFileOf)...)
		f.Fix = []check.Fix{build}
	}
	return f
}

// loadTrouble quotes what the kernel says of attempts to load the module that did not succeed.
func loadTrouble(v check.View) []check.Evidence {
	return check.QuoteHits(check.Maybe(v, facts.KLog).V.Source, loadHits(v))
}

// loadHits are the known lines since the last load that succeeded: what went wrong before it was mended since.
func loadHits(v check.View) []facts.Hit {
	log := check.Maybe(v, facts.KLog)
	if !log.OK {
		return nil
	}
	rest, found := log.V.SinceLast(loadedLine)
	if !found {
		rest = log.V
	}
	return check.LogLines(rest, check.Get(v, facts.Rules).Signatures, "nvidia-fs-loaded")
}

// loadFixes are the cures that fit what the kernel said.
func loadFixes(v check.View) []check.Fix {
	var out []check.Fix
	for _, h := range loadHits(v) {
		switch h.Signature.ID {
		case "nvfs-load-proprietary":
			return []check.Fix{openDriver, build}
		case "nvfs-load-crc", "nvfs-load-einval", "nvfs-page-table-version", "nvfs-kernel-bug":
			return []check.Fix{build, load}
		case "nvfs-load-no-nvidia":
			out = []check.Fix{{Text: "load the NVIDIA driver first, then nvidia-fs", Commands: []string{"sudo modprobe nvidia", "sudo modprobe nvidia_fs"},
				Changes: "loads both modules until the next reboot", Undo: "sudo rmmod nvidia_fs"}, build}
		}
	}
	if len(out) == 0 {
		return []check.Fix{load, build}
	}
	return out
}

func useCount(m facts.Module) string {
	switch {
	case !m.Refs.OK:
		return ""
	case m.Refs.V == 0:
		return ", use count 0, which is normal while no program uses GDS"
	}
	return fmt.Sprintf(", use count %d", m.Refs.V)
}
