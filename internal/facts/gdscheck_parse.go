package facts

import (
	"bytes"
	"slices"
	"strings"
)

// ParseGDSCheck reads the first report of a text. What stands before it (a prompt, a warning about the log file) and
// behind it is left out; Next tells where another one begins.
func ParseGDSCheck(b []byte) GDSReport {
	var r gdsReader
	at := 0
	for line, whole := range rawLines(b) {
		if !r.line(line, whole) {
			r.out.Next = at
			break
		}
		at += bytes.IndexByte(b[at:], '\n') + 1 // of the last line it does not matter
	}
	return r.finish()
}

// gdsReader reads a report line by line: of a text, or of a log behind its prefix.
type gdsReader struct {
	out    GDSReport
	failed bool // the verification failed and its reason is awaited
	over   bool // the report is at its end
	seen   map[string]bool
}

// first tells whether a name comes for the first time: a list that was pasted twice counts once.
func (r *gdsReader) first(kind, name string) bool {
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	again := r.seen[kind+name]
	r.seen[kind+name] = true
	return !again
}

func (r *gdsReader) finish() GDSReport {
	r.out.LooksLikeGDS = r.out.GDSVersion != "" || r.out.NVFSVersion != "" || r.out.NVFSMinimum != "" || len(r.out.titled) > 0 ||
		r.out.DriverStatus != "" || r.out.Ended() || len(r.out.Rows) > 1 || len(r.out.Config) > 1 || len(r.out.GPUs) > 0
	return r.out
}

// line takes a line; false: it begins another report. Of a line without its end only what cannot be the beginning
// of something else is taken.
func (r *gdsReader) line(raw string, whole bool) bool {
	line := strings.TrimSpace(raw)
	if line == "" {
		return true
	}
	low := lowerASCII(line)
	if !whole {
		r.out.Cut = true
		r.cutLine(line, low)
		return true
	}
	section, isTitle := gdsTitle(low)
	versions := gdsVersions(line, low, whole)
	if r.again(section, isTitle, versions) {
		return false
	}
	switch {
	case isTitle:
		r.begin(section)
		r.title(section)
		r.failed = false
	case strings.Trim(line, "=") == "":
	case gdsElision(line):
		r.elide()
	case len(versions) > 0:
		r.versions(versions)
	case r.over:
	case r.verification(line, low):
	case r.known(line, low):
		r.failed = false
	case r.failed:
		r.out.Reason, r.failed, r.over = line, false, true
	default:
		r.strange(line, low)
	}
	return true
}

// cutLine takes from a line that the text's end may have shortened: versions that something follows, and the
// verdict's last word, since no other begins with it.
func (r *gdsReader) cutLine(line, low string) {
	if r.over {
		return
	}
	if v := gdsVersions(line, low, false); len(v) > 0 && !r.again("", false, v) {
		r.versions(v)
		return
	}
	if strings.HasSuffix(low, "platform verification succeeded") || strings.HasSuffix(low, "platform verification failed") {
		r.verification(line, low)
		r.out.Cut = false
	}
}

// again tells whether a line belongs to another report: titles come once, and versions first.
func (r *gdsReader) again(s GDSSection, title bool, v []gdsVersion) bool {
	if title {
		return r.out.titled[s] || r.out.Ended()
	}
	for _, x := range v {
		if x.label == gdsRelease && (r.out.GDSVersion != "" && r.out.GDSVersion != x.value || len(r.out.sections) > 1 || r.out.Ended()) {
			return true
		}
	}
	return false
}

func (r *gdsReader) begin(s GDSSection) {
	if !r.out.Begun(s) {
		r.out.sections = append(r.out.sections, s)
	}
}

func (r *gdsReader) title(s GDSSection) {
	if r.out.titled == nil {
		r.out.titled = map[GDSSection]bool{}
	}
	r.out.titled[s] = true
}

// gdsTitle reads a section's title: a line of its own. The betas say "cuFile CONFIGURATION:" above the drivers.
func gdsTitle(low string) (GDSSection, bool) {
	name, ok := strings.CutSuffix(low, ":")
	if !ok {
		return "", false
	}
	for _, s := range []GDSSection{GDSEnv, GDSDriver, GDSConfig, GDSGPUInfo, GDSPlatform} {
		if name == lowerASCII(string(s)) {
			return s, true
		}
	}
	return "", false
}

// known takes the lines that their label tells.
func (r *gdsReader) known(line, low string) bool {
	if g, ok := gdsGPU(line); ok {
		r.begin(GDSGPUInfo)
		if r.first("gpu", line) {
			r.out.GPUs = append(r.out.GPUs, g)
		}
		return true
	}
	if s, ok := gdsVariable(line); ok && (r.out.titled[GDSEnv] || strings.Contains(line, " : ")) {
		r.begin(GDSEnv)
		r.out.Env = append(r.out.Env, s)
		return true
	}
	if s, ok := gdsSetting(line); ok {
		r.begin(GDSConfig)
		if r.first("setting", s.Name) {
			r.out.Config = append(r.out.Config, s)
		}
		return true
	}
	if s, ok := r.platform(line, low); ok {
		r.begin(s)
		return true
	}
	inside := r.inDrivers()
	if row, ok := gdsRow(line, inside); ok {
		if r.out.titled[GDSConfig] && !r.out.titled[GDSDriver] && len(r.out.Config) == 0 {
			r.out.Beta = true
			r.title(GDSDriver)
		}
		r.drivers()
		if r.first("row", gdsRowKey(row.Name)) {
			r.out.Rows = append(r.out.Rows, row)
		}
		return true
	}
	return false
}

// inDrivers tells whether the last title is the drivers'; the betas' title is that of the configuration too.
func (r *gdsReader) inDrivers() bool {
	if len(r.out.sections) == 0 {
		return false
	}
	last := r.out.sections[len(r.out.sections)-1]
	return last == GDSDriver || last == GDSConfig && len(r.out.Config) == 0
}

// drivers begins the section of the drivers, which in the betas stands below the configuration's title.
func (r *gdsReader) drivers() {
	if r.out.Begun(GDSDriver) {
		return
	}
	if i := slices.Index(r.out.sections, GDSConfig); i >= 0 && r.out.Beta {
		r.out.sections = slices.Insert(r.out.sections, i, GDSDriver)
		return
	}
	r.begin(GDSDriver)
}

// strange keeps what is not understood where a report is under way.
func (r *gdsReader) strange(line, low string) {
	switch {
	case strings.HasPrefix(low, "warn"):
		r.out.Warnings = append(r.out.Warnings, line)
	case len(r.out.sections) > 0 && !r.out.Ended():
		r.out.Strange = append(r.out.Strange, line)
	}
}

// gdsElision tells the mark that a writer puts where lines were left out.
func gdsElision(line string) bool {
	switch strings.Trim(line, "[]<>() ") {
	case "...", "…", "....", "snip", "truncated":
		return true
	}
	return false
}

func (r *gdsReader) elide() {
	if len(r.out.sections) == 0 {
		return
	}
	if r.out.elided == nil {
		r.out.elided = map[GDSSection]bool{}
	}
	r.out.elided[r.out.sections[len(r.out.sections)-1]] = true
}

// lowerASCII is ToLower that keeps every offset, also in text that is not UTF-8.
func lowerASCII(s string) string {
	if strings.IndexFunc(s, func(c rune) bool { return 'A' <= c && c <= 'Z' }) < 0 {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
