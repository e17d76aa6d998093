package facts

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// GDSStats is what gds_stats printed of one process: libcufile's own count of its I/O, by path from level 3 on. What a
// level or release does not print is absent, not zero.
type GDSStats struct {
	Version     Opt[uint64]  // "cuFile STATS VERSION"
	Read, Write GDSStatsIO   // of the process. Its count is not that of the GPUs: a public sample has twice as many
	Sizes       []GDSStatsIn // level 2 on: I/Os by size
	GPUs        []GDSStatsGPU
	Left        bool   // lines are left out (". . ."): the GPUs here are not all
	Failure     string // the tool could not attach; so it is where the process runs in compat mode, too
	Cut         bool
}

// GDSStatsIO is a direction's part of a line. Up to 1.13 only Posix is printed of the paths.
type GDSStatsIO struct {
	Ops, Errors, MiB                    Opt[uint64]
	NVFS, P2P, Posix                    Opt[uint64]
	Unaligned, Rerouted, Sparse, Inline Opt[uint64] // Rerouted: through another GPU's memory (dr)
}

// GDSStatsIn is a row of the histogram.
type GDSStatsIn struct {
	FromKiB, ToKiB uint64 // ToKiB is 0 for the row without an end
	Reads, Writes  uint64
}

// GDSStatsGPU is a GPU's line.
type GDSStatsGPU struct {
	Index       int
	UUID        string
	Read, Write GDSStatsIO
	Registered  Opt[uint64] // buffers
}

// Empty tells whether nothing of the tool's was found.
func (s GDSStats) Empty() bool {
	return !s.Version.OK && len(s.GPUs) == 0 && len(s.Sizes) == 0 && s.Failure == "" && s.Read == GDSStatsIO{} && s.Write == GDSStatsIO{}
}

// Sum adds up the GPUs' reads and writes. A value is there only if every GPU has it and no GPU is missing.
func (s GDSStats) Sum() (read, write GDSStatsIO) {
	if len(s.GPUs) == 0 || s.Left || s.Cut {
		return
	}
	read, write = s.GPUs[0].Read, s.GPUs[0].Write
	for _, g := range s.GPUs[1:] {
		read, write = read.plus(g.Read), write.plus(g.Write)
	}
	return read, write
}

func (a GDSStatsIO) plus(b GDSStatsIO) GDSStatsIO {
	add := func(a *Opt[uint64], b Opt[uint64]) {
		if a.OK = a.OK && b.OK && a.V+b.V >= a.V; a.OK {
			a.V += b.V
		}
		*a = a.orNone()
	}
	add(&a.Ops, b.Ops)
	add(&a.Errors, b.Errors)
	add(&a.MiB, b.MiB)
	add(&a.NVFS, b.NVFS)
	add(&a.P2P, b.P2P)
	add(&a.Posix, b.Posix)
	add(&a.Unaligned, b.Unaligned)
	add(&a.Rerouted, b.Rerouted)
	add(&a.Sparse, b.Sparse)
	add(&a.Inline, b.Inline)
	return a
}

// gdsStatsTitles begin sections; the first two begin a report.
var gdsStatsTitles = []string{"cufile stats version", "global stats", "read-write size histogram", "per_gpu stats", "per_gpu pool buffer stats", "per_gpu posix pool buffer stats", "per_gpu rdma stats", "rdma mrstats"}

const gdsStatsFailure = "error opening gds stats"

var (
	gdsStatsGPULine = regexp.MustCompile(`^GPU ([0-9]+) ?(?:\( ?(?:UUID: ?)?([^)]*)\))? ?(Read: .*)$`)
	gdsStatsRow     = regexp.MustCompile(`^([0-9]+)-([0-9]+|\.\.\.|…) ?\(KiB\) ?: ?([0-9]+) ([0-9]+)$`)
	gdsStatsEquals  = regexp.MustCompile(` ?= ?`)
)

// IsGDSStatsLine tells a line of gds_stats from others.
func IsGDSStatsLine(line string) bool {
	line = strings.Join(strings.Fields(unquote(line)), " ")
	return slices.Contains(gdsStatsTitles, gdsStatsTitle(line)) || gdsStatsGPULine.MatchString(line) || strings.Contains(line, gdsStatsFailure)
}

func gdsStatsTitle(line string) string {
	before, _, _ := strings.Cut(lowerASCII(line), ":")
	return strings.TrimSpace(before)
}

// ParseGDSStats reads the first report of a text.
func ParseGDSStats(b []byte) (GDSStats, bool) {
	all := ParseGDSStatsAll(b)
	if len(all) == 0 {
		return GDSStats{}, false
	}
	return all[0], true
}

// ParseGDSStatsAll reads the reports of a text one by one: people run the tool before and after.
func ParseGDSStatsAll(b []byte) []GDSStats {
	var r gdsStatsReader
	for line, whole := range rawLines(b) {
		if !whole {
			r.cur.Cut = true
			// The last word may be cut, unless a blank stands behind it.
			if t := strings.TrimRight(line, " \t"); t == line {
				line = line[:strings.LastIndexAny(line, " \t")+1]
			}
		}
		r.line(strings.Join(strings.Fields(line), " "), whole)
	}
	r.end()
	return r.out
}

type gdsStatsReader struct {
	out  []GDSStats
	cur  GDSStats
	in   *GDSStatsIO  // that the next key=value belongs to
	last *Opt[uint64] // the value read last
}

func (r *gdsStatsReader) end() {
	if !r.cur.Empty() {
		r.out = append(r.out, r.cur)
	}
	r.cur, r.in, r.last = GDSStats{}, nil, nil
}

func (r *gdsStatsReader) line(line string, whole bool) {
	title := gdsStatsTitle(line)
	if r.last != nil && line != "" && line[0] >= '0' && line[0] <= '9' {
		*r.last = Opt[uint64]{} // the wrap went through a number
	}
	r.last = nil
	switch {
	case line == "":
	case title == gdsStatsTitles[0]:
		cut := r.cur.Cut
		r.cur.Cut = false
		r.end()
		r.cur.Cut = cut
		_, v, _ := strings.Cut(line, ":")
		if n, ok := countOf(strings.TrimSpace(v)); ok && whole {
			r.cur.Version = Some(n)
		}
	case slices.Contains(gdsStatsTitles, title):
		if title == gdsStatsTitles[1] && (len(r.cur.GPUs) > 0 || len(r.cur.Sizes) > 0 || r.cur.Read != GDSStatsIO{}) {
			cut := r.cur.Cut
			r.cur.Cut = false
			r.end()
			r.cur.Cut = cut
		}
		r.in = nil
	case strings.Contains(line, gdsStatsFailure):
		r.cur.Failure = line
	case strings.Trim(line, ". …") == "":
		r.cur.Left = true
	case r.gpu(line), r.row(line, whole), r.global(line, whole), r.more(line):
	default:
		r.in = nil
	}
}

// gpu reads "GPU 2 Read: bw=6.3 util(%)=797 n=781 posix=0 … Write: bw=0 … BufRegister: n=8 …". From 1.14 it has
// "pcie p2pdma=0 nvfs=781" too.
func (r *gdsStatsReader) gpu(line string) bool {
	m := gdsStatsGPULine.FindStringSubmatch(line)
	if m == nil || !strings.Contains(m[3], "=") {
		return false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return false
	}
	uuid := strings.TrimSpace(m[2])
	if strings.Trim(uuid, ".…") == "" {
		uuid = ""
	}
	r.cur.GPUs = append(r.cur.GPUs, GDSStatsGPU{Index: n, UUID: uuid})
	r.values(m[3])
	return true
}

// more reads the rest of a GPU's line that was wrapped.
func (r *gdsStatsReader) more(line string) bool {
	if r.in == nil || len(r.cur.GPUs) == 0 || !strings.Contains(line, "=") {
		return false
	}
	r.values(line)
	return true
}

func (r *gdsStatsReader) values(text string) {
	g := &r.cur.GPUs[len(r.cur.GPUs)-1]
	for w := range strings.FieldsSeq(gdsStatsEquals.ReplaceAllString(text, "=")) {
		switch lowerASCII(w) {
		case "read:":
			r.in = &g.Read
			continue
		case "write:":
			r.in = &g.Write
			continue
		case "bufregister:":
			r.in = &GDSStatsIO{}
			continue
		}
		k, v, ok := strings.Cut(w, "=")
		if !ok || r.in == nil {
			continue
		}
		to := r.in.field(lowerASCII(k))
		if k == "n" && r.in != &g.Read && r.in != &g.Write {
			to = &g.Registered
		}
		if to == nil || to.OK {
			to = new(Opt[uint64]) // a key of another release, or one that came before
		}
		if n, ok := countOf(v); ok {
			*to = Some(n)
		}
		r.last = to
	}
}

func (a *GDSStatsIO) field(key string) *Opt[uint64] {
	switch key {
	case "n", "ok":
		return &a.Ops
	case "err":
		return &a.Errors
	case "mib", "mb":
		return &a.MiB
	case "nvfs":
		return &a.NVFS
	case "p2pdma", "p2p":
		return &a.P2P
	case "posix":
		return &a.Posix
	case "unalign":
		return &a.Unaligned
	case "dr":
		return &a.Rerouted
	case "r_sparse":
		return &a.Sparse
	case "r_inline":
		return &a.Inline
	}
	return nil
}

func (r *gdsStatsReader) row(line string, whole bool) bool {
	m := gdsStatsRow.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	var n [4]uint64
	for i, v := range m[1:] {
		n[i], _ = countOf(v) // the row without an end stays 0
	}
	if whole {
		r.cur.Sizes = append(r.cur.Sizes, GDSStatsIn{n[0], n[1], n[2], n[3]})
	}
	return true
}

// global reads "Total Read Size (MiB): 781", and since version 8 "Read: ok = 781 err = 0".
func (r *gdsStatsReader) global(line string, whole bool) bool {
	label, value, _ := strings.Cut(line, ":")
	label = strings.TrimSpace(lowerASCII(label))
	value = gdsStatsEquals.ReplaceAllString(strings.TrimSpace(value), "=")
	if (label == "read" || label == "write") && strings.HasPrefix(lowerASCII(value), "ok=") {
		to := &r.cur.Read
		if label == "write" {
			to = &r.cur.Write
		}
		for w := range strings.FieldsSeq(value) {
			k, v, _ := strings.Cut(w, "=")
			if n, ok := countOf(v); ok && (k == "ok" || k == "err") {
				*to.field(k) = Some(n)
			}
		}
		r.in = nil
		return true
	}
	to := map[string]*Opt[uint64]{"total read size (mib)": &r.cur.Read.MiB, "total write size (mib)": &r.cur.Write.MiB,
		"total read errors": &r.cur.Read.Errors, "total write errors": &r.cur.Write.Errors}[label]
	if to == nil {
		return false
	}
	if n, ok := countOf(value); ok && whole && !to.OK {
		*to = Some(n)
	}
	r.in = nil
	return true
}
