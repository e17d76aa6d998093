package facts

import (
	"strings"

	"gdsproof/internal/evidence"
)

// NVFSVersion is the version of the running nvidia-fs, with the place that says it.
type NVFSVersion struct {
	Version Version
	Text    string
	Source  string
	Line    string
}

// ParseNVFSProcVersion reads "version: 2.28": two parts only, there is no more in it.
func ParseNVFSProcVersion(b []byte) (string, bool) {
	for line := range strings.Lines(string(b)) {
		k, v, ok := strings.Cut(line, ":")
		if ok && strings.EqualFold(strings.TrimSpace(k), "version") && strings.HasSuffix(line, "\n") {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}

// DriverVersion is the version of the driver that is loaded: the statistics file says it in full, the module's
// sysfs file too since 2.14.12, /proc/driver/nvidia-fs/version and gdscheck in two parts.
var DriverVersion = Define("nvidia-fs-version", []string{"nvidia-fs-proc", "nvidia-fs-sysfs", "gdscheck"}, func(in *In) Known[NVFSVersion] {
	have := func(text, source, line string) (Known[NVFSVersion], bool) {
		v, ok := ParseVersion(text)
		if !ok {
			return Known[NVFSVersion]{}, false
		}
		return Have(NVFSVersion{Version: v, Text: text, Source: source, Line: line}), true
	}
	if s := Use(in, Stats); s.OK && s.V.Driver != "" {
		if k, ok := have(s.V.Driver, NVFSProc+"/stats", "NVFS Driver(version: "+s.V.Driver+")"); ok {
			return k
		}
	}
	if it := in.Item(NVFSModule + "/version"); it.OK() {
		text := strings.TrimSpace(string(it.Out))
		if k, ok := have(text, it.Source, text); ok {
			return k
		}
	}
	if it := in.Item(NVFSProc + "/version"); it.OK() {
		if text, ok := ParseNVFSProcVersion(it.Out); ok {
			if k, ok := have(text, it.Source, "version: "+text); ok {
				return k
			}
		}
	}
	if g := Use(in, GDSCheck); g.OK && g.V.NVFSVersion != "" {
		if k, ok := have(g.V.NVFSVersion, GDSCheckSource, "nvidia_fs version: "+g.V.NVFSVersion); ok {
			return k
		}
	}
	return Unknown[NVFSVersion](in)
})

// Params are the driver's module parameters.
var Params = Define("nvidia-fs-parameters", []string{"nvidia-fs-sysfs"}, func(in *In) Known[map[string]string] {
	it := in.Item(NVFSModule + "/parameters/*")
	if !it.OK() {
		return Unknown[map[string]string](in)
	}
	return Have(parseFolded(it))
})

// parseFolded reads an item that folds many small files: "name: value", a line each.
func parseFolded(it *evidence.Item) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(string(it.Out)) {
		if k, v, ok := strings.Cut(line, ": "); ok {
			m[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	return m
}
