package facts

import (
	"bytes"
	"strings"
)

// GDSReport is what gdscheck -p says, as far as the driver's own checks need it.
type GDSReport struct {
	GDSVersion     string // GDS release version
	NVFSVersion    string // two parts
	NVFSMinimum    string // the least nvidia-fs that this release wants
	DriverStatus   string // "Supported(Nvidia Open Driver Installed)"
	CudaDriver     string
	LooksLikeGDS   bool
	VerifiedOK     Opt[bool]
	UnloadedSpoken bool // version lines are there and nvidia_fs is not among them: the module was not loaded
}

// ParseGDSCheck reads by label; two labels can share a line.
func ParseGDSCheck(b []byte) GDSReport {
	var r GDSReport
	versionLines := false
	cutEnd := len(b) > 0 && b[len(b)-1] != '\n'
	rest := b
	for len(rest) > 0 {
		var raw []byte
		raw, rest, _ = bytes.Cut(rest, []byte("\n"))
		line := strings.TrimSpace(string(raw))
		if cutEnd && len(rest) == 0 {
			break // a version or a word that was cut in two is another one
		}
		low := strings.ToLower(line)
		if v, ok := after(line, low, "gds release version:"); ok {
			r.GDSVersion, versionLines = v, true
		}
		if v, ok := after(line, low, "nvidia_fs version:"); ok {
			r.NVFSVersion, versionLines = v, true
		}
		if v, ok := after(line, low, "nvidia_fs minimum version:"); ok {
			r.NVFSMinimum, versionLines = v, true
		}
		// Up to 1.15 the same number is printed under this name.
		if v, ok := after(line, low, "libcufile version:"); ok && r.NVFSMinimum == "" {
			r.NVFSMinimum, versionLines = v, true
		}
		if i := strings.Index(low, "nvidia driver info status:"); i >= 0 {
			r.DriverStatus = strings.TrimSpace(line[i+len("nvidia driver info status:"):])
		}
		if v, ok := after(line, low, "cuda driver version installed:"); ok {
			r.CudaDriver = v
		}
		switch {
		case strings.Contains(low, "platform verification succeeded"):
			r.VerifiedOK = Some(true)
		case strings.Contains(low, "platform verification error"), strings.Contains(low, "platform verification failed"):
			r.VerifiedOK = Some(false)
		}
		if strings.Contains(low, "driver configuration:") || strings.Contains(low, "cufile configuration:") {
			r.LooksLikeGDS = true
		}
	}
	r.LooksLikeGDS = r.LooksLikeGDS || versionLines || r.DriverStatus != "" || r.VerifiedOK.OK
	r.UnloadedSpoken = versionLines && r.NVFSVersion == "" && (r.GDSVersion != "" || r.NVFSMinimum != "")
	return r
}

// after returns the first word behind a label.
func after(line, low, label string) (string, bool) {
	i := strings.Index(low, label)
	if i < 0 {
		return "", false
	}
	f := strings.Fields(line[i+len(label):])
	if len(f) == 0 {
		return "", false
	}
	return f[0], true
}

// GDSCheck is the report of NVIDIA's gdscheck.
var GDSCheck = Define("gdscheck", []string{"gdscheck"}, func(in *In) Known[GDSReport] {
	it := in.Item("gdscheck -p")
	if it.OK() {
		if r := ParseGDSCheck(it.Out); r.LooksLikeGDS {
			return Have(r)
		}
	}
	return Unknown[GDSReport](in)
})
