package facts

import (
	"strconv"
	"strings"
)

// LfsStripe is what `lfs getstripe` said: one layout for each file or directory.
type LfsStripe struct {
	Layouts []LfsLayout
	Cut     bool // the text ends within a line; that line was not used
}

// LfsLayout is the layout of one file, or the default of a directory.
type LfsLayout struct {
	Path    string // "" if the text does not name it
	None    bool   // "has no stripe info": it inherits
	Entries Opt[int]
	// Parts are the components of a progressive layout (PFL), which FSx sets by default; a plain one has one.
	Parts []LfsPart
}

// LfsPart is one component.
type LfsPart struct {
	Start, End Opt[uint64] // both not OK in a plain layout
	ToEOF      bool        // the end is the end of the file
	Flags      string      // "init": it has objects; a part without is not in use yet
	Count      Opt[int]    // -1: all OSTs
	Size       Opt[uint64]
	Pattern    string   // raid0, mdt, "raid0,overstriped"
	Offset     Opt[int] // -1: any OST
}

// At is the part that holds an offset of the file.
func (l LfsLayout) At(offset uint64) (LfsPart, bool) {
	for _, p := range l.Parts {
		if !p.Start.OK || offset >= p.Start.V && (p.ToEOF || p.End.OK && offset < p.End.V) {
			return p, true
		}
	}
	return LfsPart{}, false
}

// ParseLfsStripe reads it with or without -d and -v, plain and PFL; of a mirrored file, all mirrors' parts.
func ParseLfsStripe(b []byte) LfsStripe {
	r := stripeReader{}
	for line, whole := range rawLines(b) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			continue
		case !whole:
			r.out.Cut = true
			continue
		case strings.HasSuffix(line, " has no stripe info"):
			path := strings.TrimSuffix(line, " has no stripe info")
			r.out.Layouts, r.open = append(r.out.Layouts, LfsLayout{Path: path, None: true}), false
			continue
		case strings.HasPrefix(line, "/"), strings.HasPrefix(line, "./"):
			r.out.Layouts, r.open = append(r.out.Layouts, LfsLayout{Path: strings.TrimSuffix(line, ":")}), true
			continue
		}
		r.labels(strings.Fields(line))
	}
	r.out.Layouts = saidLayouts(r.out.Layouts)
	return r.out
}

type stripeReader struct {
	out  LfsStripe
	open bool
}

// labels reads "label: value" pairs: a plain file has one a line, a default all in one line.
func (r *stripeReader) labels(f []string) {
	for i := 0; i < len(f); i++ {
		label, value, ok := strings.Cut(f[i], ":")
		if !ok {
			continue
		}
		label = strings.TrimPrefix(strings.TrimPrefix(label, "lmm_"), "raid_")
		if !stripeLabels[label] {
			continue
		}
		if value == "" && i+1 < len(f) && !strings.HasSuffix(f[i+1], ":") {
			i++
			value = f[i]
		}
		if value != "" {
			r.take(label, value)
		}
	}
}

var stripeLabels = map[string]bool{
	"stripe_count": true, "stripe_size": true, "stripe_offset": true, "pattern": true, "lcm_layout_gen": true, "lcm_entry_count": true,
	"lcme_id": true, "lcme_flags": true, "lcme_extent.e_start": true, "lcme_extent.e_end": true,
}

func (r *stripeReader) take(label, value string) {
	if !r.open {
		r.out.Layouts, r.open = append(r.out.Layouts, LfsLayout{}), true
	}
	l := &r.out.Layouts[len(r.out.Layouts)-1]
	switch label {
	case "lcm_layout_gen": // the first line of a progressive layout
		if len(l.Parts) > 0 || l.Entries.OK {
			r.out.Layouts = append(r.out.Layouts, LfsLayout{}) // of a file whose name was not understood
		}
		return
	case "lcm_entry_count":
		l.Entries = optInt(value)
		return
	}
	if n := len(l.Parts); label == "stripe_count" && n > 0 && l.Parts[n-1].Count.OK && !l.Parts[n-1].Start.OK {
		// A plain layout has one part: this is another file's, whose name was not understood.
		r.out.Layouts = append(r.out.Layouts, LfsLayout{})
		l = &r.out.Layouts[len(r.out.Layouts)-1]
	}
	if n := len(l.Parts); n == 0 || l.Parts[n-1].ends(label) {
		l.Parts = append(l.Parts, LfsPart{})
	}
	p := &l.Parts[len(l.Parts)-1]
	switch label {
	case "stripe_count":
		p.Count = stripeCount(value)
	case "stripe_size":
		p.Size = optUint(value)
	case "stripe_offset":
		p.Offset = optInt(value)
	case "pattern":
		p.Pattern = value
	case "lcme_flags":
		p.Flags = value
	case "lcme_extent.e_start":
		p.Start = optUint(value)
	case "lcme_extent.e_end":
		p.ToEOF = value == "EOF"
		p.End = optUint(value)
	}
}

// ends tells that a label is the first of another part: each says what it says once.
func (p LfsPart) ends(label string) bool {
	switch label {
	case "lcme_id":
		return p.said()
	case "lcme_flags":
		return p.Start.OK || p.Count.OK
	case "lcme_extent.e_start":
		return p.Start.OK || p.Count.OK
	case "lcme_extent.e_end":
		return p.End.OK || p.ToEOF || p.Count.OK
	case "stripe_count":
		return p.Count.OK
	}
	return false
}

func (p LfsPart) said() bool { return p != LfsPart{} }

// stripeCount reads a count; some releases print -1 as an unsigned number of 16 or 32 bits.
func stripeCount(s string) Opt[int] {
	n, err := strconv.ParseInt(s, 10, 64)
	if n == 0xffff || n == 0xffffffff {
		n = -1
	}
	return Opt[int]{V: int(n), OK: err == nil}
}

// saidLayouts drops what named a path and said nothing of it (a prompt, an error), and parts of which nothing is known.
func saidLayouts(in []LfsLayout) []LfsLayout {
	var out []LfsLayout
	for _, l := range in {
		if n := len(l.Parts); n > 0 && !l.Parts[n-1].said() {
			l.Parts = l.Parts[:n-1]
		}
		if len(l.Parts) > 0 || l.None || l.Entries.OK {
			out = append(out, l)
		}
	}
	return out
}
