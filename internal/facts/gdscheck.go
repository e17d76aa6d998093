package facts

import "strings"

// GDSReport is what gdscheck -p says, of any release from the betas of 2021 to 1.17. libcufile writes the same
// report into its log. "" and an Opt that is not OK mean that the text does not say.
//
// A report is often pasted in part, so absence is only told where the part that would show it was read whole: see
// Begun and Whole.
type GDSReport struct {
	GDSVersion  string // "1.15.1.6"; of the tool and libcufile, not of the driver
	Beta        bool
	NVFSVersion string // two parts: "2.26" of a 2.26.6
	NVFSMinimum string // the least nvidia-fs that this release wants
	Machine     string // x86_64, of the version lines

	Env    []GDSSetting // CUFILE_* variables that were set: the report is about them, not about /etc/cufile.json alone
	Rows   []GDSRow     // DRIVER CONFIGURATION, in the order of the text
	Config []GDSSetting // CUFILE CONFIGURATION, likewise
	GPUs   []GDSGPU

	GPUTotal Opt[int] // "Total GPUS supported on this platform", in logs only
	NoGPU    bool     // "Platform does not have any supported GPU!"

	IOMMU        Opt[bool] // true: on or pass-through, which look alike here
	IOMMUText    string
	ACS          []string // bridges with ACS on, as printed: 0000:87:09.0, older 87:09.0
	DriverStatus string   // "Supported(Nvidia Open Driver Installed)"
	CudaDriver   string   // 13000
	Product      string   // of the firmware; "" also where it has none
	Arch, Kernel string

	VerifiedOK   Opt[bool] // true proves little: it was seen with every row Unsupported
	VerifiedLine string
	Reason       string // of a failure, from the line behind it

	Warnings []string // lines that begin with "warn"
	Strange  []string // lines of the report that are not understood: a newer release, or another text in it

	LooksLikeGDS   bool
	UnloadedSpoken bool // the line that would name nvidia_fs is there without it: the module was not loaded
	Cut            bool // the text ends within a line
	Next           int  // where another report begins in the text, 0 if none does

	sections []GDSSection // in the order of their beginning
	titled   map[GDSSection]bool
	elided   map[GDSSection]bool // the text says that lines were left out here
}

// GDSSetting is a line "name : value". A value can be printed empty.
type GDSSetting struct{ Name, Value string }

// GDSSection is a part of the report.
type GDSSection string

// The sections by their titles. The betas have one title for drivers and configuration, and none for the platform.
const (
	GDSVersions GDSSection = "versions"
	GDSEnv      GDSSection = "ENVIRONMENT"
	GDSDriver   GDSSection = "DRIVER CONFIGURATION"
	GDSConfig   GDSSection = "CUFILE CONFIGURATION"
	GDSGPUInfo  GDSSection = "GPU INFO"
	GDSPlatform GDSSection = "PLATFORM INFO"
)

// Begun tells whether any line of a section was read.
func (r GDSReport) Begun(s GDSSection) bool {
	for _, b := range r.sections {
		if b == s {
			return true
		}
	}
	return false
}

// Whole tells whether a section was read from its title to what comes behind it, so that what is not in it is not
// there. It cannot see lines that were filtered out: that is known of the item.
func (r GDSReport) Whole(s GDSSection) bool {
	if len(r.sections) == 0 || r.elided[s] {
		return false
	}
	last := r.sections[len(r.sections)-1]
	switch {
	case s == GDSPlatform:
		return r.Ended() && (r.titled[s] || r.Beta && r.titled[GDSGPUInfo])
	case !r.titled[s]:
		return false
	case r.Beta && s == GDSDriver && last == GDSConfig:
		return len(r.Config) > 0
	}
	return r.Ended() || last != s
}

// Ended tells whether the verification, the report's last line, was read.
func (r GDSReport) Ended() bool { return r.VerifiedOK.OK }

// Row finds a row by its name of today, whatever the release calls it: "DDN EXAScaler" is LUSTRE in the betas.
func (r GDSReport) Row(name string) (GDSRow, bool) {
	want := gdsRowKey(name)
	for _, row := range r.Rows {
		if gdsRowKey(row.Name) == want {
			return row, true
		}
	}
	return GDSRow{}, false
}

// Setting finds a line of the configuration.
func (r GDSReport) Setting(key string) (string, bool) {
	for _, s := range r.Config {
		if s.Name == key {
			return s.Value, true
		}
	}
	return "", false
}

// Bool reads a switch of the configuration: true and false, 1 and 0 in the betas.
func (r GDSReport) Bool(key string) Opt[bool] {
	switch v, _ := r.Setting(key); strings.ToLower(v) {
	case "true", "1":
		return Some(true)
	case "false", "0":
		return Some(false)
	}
	return Opt[bool]{}
}

// CUDA is the version of the CUDA driver.
func (r GDSReport) CUDA() (major, minor int, ok bool) {
	n := optInt(r.CudaDriver)
	return n.V / 1000, n.V % 1000 / 10, n.OK && n.V >= 1000
}

// GDSCheck is the report of NVIDIA's gdscheck.
var GDSCheck = Define("gdscheck", []string{"gdscheck"}, func(in *In) Known[GDSReport] {
	it := in.Item(GDSCheckSource)
	if it.OK() {
		if r := ParseGDSCheck(it.Out); r.LooksLikeGDS {
			return Have(r)
		}
		if words, ok := GDSLoadError(it.Err); ok {
			return Because[GDSReport]("gdscheck does not start: "+words, "gdscheck of the same CUDA version as libcufile")
		}
	}
	return Unknown[GDSReport](in)
})

// GDSLoadError finds the words of the loader where gdscheck (or gdsio) does not start. An undefined symbol means
// that tool and libcufile are of different CUDA versions: seen with exit status 127.
func GDSLoadError(b []byte) (string, bool) {
	for line := range rawLines(b) {
		for _, words := range []string{"symbol lookup error", "error while loading shared libraries"} {
			if i := strings.Index(line, words); i >= 0 {
				return strings.TrimSpace(line[i:]), true
			}
		}
	}
	return "", false
}
