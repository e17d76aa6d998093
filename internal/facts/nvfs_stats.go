package facts

import (
	"bytes"
	"strconv"
	"strings"

	"gdsproof/internal/evidence"
)

// NVFSStats is /proc/driver/nvidia-fs/stats of any version from 2.3 on. Counters are kept under the driver's own
// labels and keys, since versions add and drop them; what is not printed is not there, and not zero.
type NVFSStats struct {
	GDSVersion string // of the driver's build, not of the installed libcufile; trailing blank removed
	Format     string // "4.0"
	Driver     string // "2.28.4", also where the driver prints colons
	PeerDirect Opt[bool]
	IOStats    Opt[bool] // rw_stats_enabled; 2.3 has no switch and prints no line
	PeerStats  Opt[bool]
	Logging    string
	Rows       map[string]map[string]uint64
	GPUs       []NVFSGPU
	Cut        bool // the text ends in the middle of a line
}

// NVFSGPU is a line of a GPU that had a buffer registered since the module was loaded.
type NVFSGPU struct {
	PCI, UUID string
	Values    map[string]uint64
}

// Labels of NVFSStats.Rows.
const (
	RowShadow  = "Active Shadow-Buffer (MiB)"
	RowProcess = "Active Process"
	RowBatches = "Batches"
	RowReads   = "Reads"
	RowSparse  = "Sparse Reads"
	RowWrites  = "Writes"
	RowMmap    = "Mmap"
	RowBar1    = "Bar1-map"
	RowError   = "Error"
	RowOps     = "Ops"
)

var nvfsRows = map[string]string{
	"active shadow-buffer (mib)": RowShadow, "active shadow-buffer (mb)": RowShadow, "active process": RowProcess,
	"batches": RowBatches, "reads": RowReads, "sparse reads": RowSparse, "writes": RowWrites, "mmap": RowMmap,
	"bar1-map": RowBar1, "error": RowError, "ops": RowOps,
}

// Counter returns a counter, if the driver printed it.
func (s NVFSStats) Counter(row, key string) Opt[uint64] {
	v, ok := s.Rows[row][key]
	return Opt[uint64]{V: v, OK: ok}
}

// Empty tells whether nothing of a stats file was found.
func (s NVFSStats) Empty() bool {
	return s.Driver == "" && s.GDSVersion == "" && len(s.Rows) == 0 && len(s.GPUs) == 0
}

// ParseNVFSStats reads by label: pastes squeeze blanks, turn TABs into blanks and wrap lines.
func ParseNVFSStats(b []byte) NVFSStats {
	s := NVFSStats{Rows: map[string]map[string]uint64{}}
	s.Cut = len(b) > 0 && b[len(b)-1] != '\n'
	rest := b
	last := "" // label that a wrapped line goes on with
	for len(rest) > 0 {
		var raw []byte
		raw, rest, _ = bytes.Cut(rest, []byte("\n"))
		cut := s.Cut && len(rest) == 0
		line := strings.TrimRight(string(raw), "\r")
		// A line that was cut without a blank at its end may end in the middle of its last word.
		if cut && line != "" && !strings.HasSuffix(line, " ") && !strings.HasSuffix(line, "\t") && !strings.HasSuffix(line, ")") {
			if i := strings.LastIndexAny(line, " \t,"); i >= 0 {
				line = line[:i]
			} else {
				line = ""
			}
		}
		last = s.line(strings.TrimSpace(line), last)
	}
	return s
}

// line takes one line and returns the label that a wrapped next line belongs to.
func (s *NVFSStats) line(line, last string) string {
	label, value, ok := strings.Cut(line, ":")
	if !ok {
		if last != "" && strings.Contains(line, "=") {
			s.counters(last, line)
			return last
		}
		return ""
	}
	label, value = strings.Join(strings.Fields(label), " "), strings.TrimSpace(value)
	low := strings.ToLower(label)
	switch {
	case low == "gds version":
		s.GDSVersion = value
	case low == "nvfs statistics(ver":
		s.Format = strings.TrimSpace(strings.TrimSuffix(value, ")"))
	case low == "nvfs driver(version":
		if v, ok := strings.CutSuffix(value, ")"); ok {
			s.Driver = strings.ReplaceAll(strings.TrimSpace(v), ":", ".")
		}
	case low == "mellanox peerdirect supported":
		s.PeerDirect = word(value, "true", "false")
	case low == "io stats":
		// IO stats: Enabled, peer IO stats: Disabled
		first, second, _ := strings.Cut(value, ",")
		s.IOStats = word(first, "enabled", "disabled")
		if _, v, ok := strings.Cut(second, ":"); ok {
			s.PeerStats = word(v, "enabled", "disabled")
		}
	case low == "logging level":
		s.Logging = value
	case strings.HasPrefix(low, "gpu "):
		s.gpu(line)
	default:
		row, ok := nvfsRows[low]
		if !ok {
			return ""
		}
		s.counters(row, value)
		return row
	}
	return ""
}

func (s *NVFSStats) counters(row, text string) {
	m := s.Rows[row]
	if m == nil {
		m = map[string]uint64{}
	}
	for _, w := range strings.Fields(text) {
		k, v, ok := strings.Cut(w, "=")
		if !ok {
			k, v = "", w // Active Process: 1
		}
		if n, ok := counter(v); ok {
			m[k] = n
		}
	}
	if len(m) > 0 {
		s.Rows[row] = m
	}
}

// gpu reads "GPU 0000:53:00.0  uuid:3f1c… : Registered_MiB=0 Cache_MiB=0 max_pinned_MiB=4". Documentation
// shows the keys with _MB.
func (s *NVFSStats) gpu(line string) {
	g := NVFSGPU{Values: map[string]uint64{}}
	for _, w := range strings.Fields(line)[1:] {
		switch {
		case strings.HasPrefix(w, "uuid:"):
			g.UUID = strings.TrimPrefix(w, "uuid:")
		case strings.Contains(w, "="):
			k, v, _ := strings.Cut(w, "=")
			if n, ok := counter(v); ok {
				g.Values[strings.Replace(k, "_MB", "_MiB", 1)] = n
			}
		case g.PCI == "" && strings.Count(w, ":") == 2:
			g.PCI = w
		}
	}
	if g.UUID != "" {
		s.GPUs = append(s.GPUs, g)
	}
}

// counter reads an unsigned number; people's tools put separators into long ones.
func counter(v string) (uint64, bool) {
	v = strings.TrimRight(v, ",;")
	if strings.Contains(v, ",") {
		v = strings.ReplaceAll(v, ",", "")
	}
	n, err := strconv.ParseUint(v, 10, 64)
	return n, err == nil
}

// word reads one of two words, in any case.
func word(v, yes, no string) Opt[bool] {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case yes:
		return Some(true)
	case no:
		return Some(false)
	}
	return Opt[bool]{}
}

// Paths of nvidia-fs.
const (
	NVFSProc   = "/proc/driver/nvidia-fs"
	NVFSModule = "/sys/module/nvidia_fs"
)

// Stats is the driver's statistics file.
var Stats = Define("nvidia-fs-stats", []string{"nvidia-fs-proc"}, func(in *In) Known[NVFSStats] {
	it := in.Last(NVFSProc + "/stats")
	if it.OK() {
		if s := ParseNVFSStats(it.Out); !s.Empty() {
			return Have(s)
		}
	}
	return Unknown[NVFSStats](in)
})

// ProcDir tells whether the driver's proc folder is there: false is known only when it was looked for.
var ProcDir = Define("nvidia-fs-proc-dir", []string{"nvidia-fs-proc", "identity"}, func(in *In) Known[bool] {
	// Where /proc hides all but processes, nothing of a driver is seen, and nothing can be told.
	hidden := in.Item(KernelSource)
	absent, unsure := false, hidden != nil && hidden.State == evidence.Absent
	for _, f := range []string{"/stats", "/version", "/devcount"} {
		it := in.Item(NVFSProc + f)
		switch {
		case it == nil:
		case it.State == evidence.Present:
			return Have(true)
		case it.State == evidence.Absent:
			absent = true
		default:
			// Refused or hanging: something may be there, and a folder on the way may be what refused.
			unsure = true
		}
	}
	if absent && !unsure {
		return Have(false)
	}
	return Unknown[bool](in)
})

// Driving is the sign that nvidia-fs is loaded; it is unknown where no sign was seen, whatever the reason. What is
// wrong with a driver is told only of one that is there.
var Driving = Define("nvidia-fs-seen", []string{"nvidia-fs-proc", "nvidia-fs-sysfs", "modules"}, func(in *In) Known[string] {
	if m := Use(in, KernelModules); m.OK {
		if mod, ok := m.V.Get("nvidia_fs"); ok {
			return Have(mod.Line)
		}
	}
	if d := Use(in, ProcDir); d.OK && d.V {
		return Have(NVFSProc)
	}
	if it := in.Item(NVFSModule + "/version"); it.OK() {
		return Have(it.Source)
	}
	return Because[string]("nothing looked at shows that nvidia-fs is loaded", "the list of loaded modules (lsmod)")
})
