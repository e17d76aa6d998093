package facts

import "strings"

// The labels of the version lines. Two can share a line, and the last one is the betas' and 1.0's with a blank
// before the colon.
const (
	gdsRelease   = "gds release version"
	gdsNVFS      = "nvidia_fs version"
	gdsMinimum   = "nvidia_fs minimum version"
	gdsLibrary   = "libcufile version"
	gdsBetaWords = "(beta)"
)

type gdsVersion struct {
	label, value string
	beta         bool
}

// gdsVersions finds the versions of a line. The last value of a line without its end may be a shortened one.
func gdsVersions(line, low string, whole bool) []gdsVersion {
	if !strings.Contains(low, " version") {
		return nil
	}
	var out []gdsVersion
	for _, label := range []string{gdsRelease, gdsNVFS, gdsMinimum, gdsLibrary} {
		i := strings.Index(low, label)
		if i < 0 || i > 0 && low[i-1] != ' ' && low[i-1] != '\t' {
			continue
		}
		rest := strings.TrimLeft(low[i+len(label):], " \t")
		rest, beta := strings.CutPrefix(rest, gdsBetaWords)
		rest, ok := strings.CutPrefix(strings.TrimLeft(rest, " \t"), ":")
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, " \t")
		end := strings.IndexAny(rest, " \t,")
		if end < 0 {
			if !whole {
				continue
			}
			end = len(rest)
		}
		at := len(line) - len(rest)
		if v, ok := ParseVersion(line[at : at+end]); ok {
			out = append(out, gdsVersion{label, v.Text, beta})
		}
	}
	return out
}

// versions takes the versions of a line. The line that names the minimum is where nvidia_fs would be named too,
// whatever the release: without it the module was not loaded.
func (r *gdsReader) versions(list []gdsVersion) {
	r.begin(GDSVersions)
	for _, v := range list {
		switch v.label {
		case gdsRelease:
			r.out.GDSVersion, r.out.Beta = v.value, v.beta
		case gdsNVFS:
			r.out.NVFSVersion = v.value
		case gdsMinimum:
			r.out.NVFSMinimum = v.value
		case gdsLibrary: // up to 1.15 the minimum is printed under this name
			if r.out.NVFSMinimum == "" {
				r.out.NVFSMinimum = v.value
			}
		}
	}
	r.out.UnloadedSpoken = r.out.NVFSMinimum != "" && r.out.NVFSVersion == ""
}
