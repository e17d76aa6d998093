package platform

import (
	"fmt"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var installTools = check.Fix{
	Text:     "install the GDS package of the CUDA version that the programs use: libcufile, and gdscheck and gdsio beside it",
	Commands: []string{"ls -d /usr/local/cuda*", "sudo apt-get install -y gds-tools-13-0 libcufile-13-0   # the numbers of your CUDA"},
	Changes:  "installs NVIDIA's packages",
	Undo:     "remove the packages",
}

var _ = check.Register(check.Check{
	ID:     "cufile-library",
	Title:  "libcufile is found, and fits the tools",
	Why:    "Programs do GDS through libcufile; with several CUDA installs a program may load another one than the tools test.",
	Source: "NVIDIA GDS Installation and Troubleshooting Guide; ld.so(8)",
	Step:   3,
	Examples: map[string]string{
		"p5en":                        "pass",
		"p5en,cufile-library-missing": "fail",
		"laptop":                      "skip",
	},
	Needs: applies.GPUNeeds(facts.Libraries.Must(), facts.CUDAInstalls.Want(), facts.Platform.Want(), facts.ToolTrouble.Want(), facts.DriverOpen.Want(), facts.Stats.Want(),
		facts.ChildEnd.Want(), facts.ToolDoesNotStart.Want(), facts.NoLoader.Want(), facts.CufileConfig.Want(), facts.CUDAHome.Want()),
	Applies: applies.OnGPUNode,
	Fix:     []check.Fix{installTools},
	Judge: func(v check.View) []check.Finding {
		libs := check.Get(v, facts.Libraries)
		open, trouble, p := check.Maybe(v, facts.DriverOpen), check.Maybe(v, facts.ToolTrouble), check.Maybe(v, facts.Platform)
		var ev []check.Evidence
		for i, l := range libs {
			if i < 3 {
				ev = append(ev, check.Quote("libcufile", fmt.Sprintf("%s %s (%s)", l.Path, l.Version, l.By)))
			}
		}
		with := func(f check.Finding, more ...check.Evidence) []check.Finding {
			return []check.Finding{check.With(f, append(ev, more...)...)}
		}
		install := installTools
		install.Commands = []string{"ls -d /usr/local/cuda*", packages(v)}
		switch loader, missing := noLoader(v); {
		case len(libs) > 0 && missing:
			return with(loader)
		case len(libs) == 0:
			f := check.With(check.Fail("no libcufile is found: neither by the loader nor in CUDA's folders"), check.Quote(facts.CufileLibrariesSource, "none"))
			if trouble.OK && trouble.V != "" {
				f = check.With(f, check.Quote(facts.GDSCheckSource, trouble.V))
			}
			if p.OK && p.V.Source == facts.GDSCheckSource {
				// gdscheck is linked with it: it is somewhere, and programs may not find it there.
				f = check.With(check.NotKnown("where the programs find it: ldd of one of them", "gdscheck found a libcufile; nothing that was looked at tells where it is"), quote(p.V, "GDS release version: "+p.V.GDSVersion))
			}
			f.Fix = []check.Fix{install}
			if missing {
				f.Fix = append(loader.Fix, install)
				f = check.With(f, loader.Evidence...)
			}
			return []check.Finding{f}
		case trouble.OK && strings.Contains(trouble.V, "loading shared libraries"):
			f := check.Fail("the loader does not find what the tools need: %s", trouble.V)
			f.Fix = []check.Fix{install}
			return with(f, check.Quote(facts.GDSCheckSource, trouble.V))
		case trouble.OK && trouble.V != "":
			f := check.Warn("the tools and libcufile are of different CUDA versions: gdscheck does not start")
			if h := check.Maybe(v, facts.CUDAHome); h.OK {
				f.Summary += fmt.Sprintf(" (the tools are of %s, the loader finds %s)", h.V, libs[0].Path)
			}
			f.Fix = []check.Fix{{Text: "use the tools of the CUDA version whose libcufile the loader finds, or let /usr/local/cuda and the loader's path point to one version",
				Commands: []string{"ls -l /usr/local/cuda", "ldconfig -p | grep libcufile", choose(libs[0].Home())},
				Changes:  "which CUDA version is the default", Undo: "the former link, which ls printed"}, install}
			return with(f, check.Quote(facts.GDSCheckSource, trouble.V))
		case open.OK && !open.V.Loaded:
			return with(check.Fail("%s does not load: %s", open.V.Library, open.V.Error), check.Quote(facts.CufileOpenSource, open.V.Error))
		case open.OK && open.V.Open == nil && open.V.Error != "":
			return with(check.Fail("%s is not a libcufile that programs can use: %s", open.V.Library, open.V.Error), check.Quote(facts.CufileOpenSource, open.V.Error))
		}
		if f, bad := ended(v); bad {
			return with(f)
		}
		text := "libcufile " + orUnknown(libs[0].Version)
		if p.OK && p.V.GDSVersion != "" {
			text += ", GDS release " + p.V.GDSVersion
		}
		if s := check.Maybe(v, facts.Stats); s.OK && s.V.GDSVersion != "" && p.OK && p.V.GDSVersion != "" && s.V.GDSVersion != p.V.GDSVersion {
			text += "; the driver was built with GDS " + s.V.GDSVersion + ", which is normal and no trouble"
		}
		if versions := different(libs); len(versions) > 1 {
			text += "; several are installed (" + strings.Join(versions, ", ") + "), and a program takes the first that its loader finds"
		}
		switch libs[0].By {
		case "folder":
			text += "; the loader does not know it by itself (no ldconfig entry, not in LD_LIBRARY_PATH)"
		case "python":
			text += "; only programs of its Python environment find it (" + libs[0].Path + ")"
		}
		if libs[0].By != "python" {
			for _, l := range libs {
				if l.By == "python" { // of the run path of a program's own libraries, which goes before the loader's
					text += "; programs of a Python environment take their own (" + l.Path + ")"
					break
				}
			}
		}
		return with(check.Pass("%s", text))
	},
})

func orUnknown(s string) string {
	if s == "" {
		return "of a version that its file's name does not tell"
	}
	return s
}

func different(libs []facts.CufileLibrary) []string {
	var out []string
	seen := map[string]bool{}
	for _, l := range libs {
		if l.Version != "" && !seen[l.Version] {
			seen[l.Version] = true
			out = append(out, l.Version)
		}
	}
	return out
}
