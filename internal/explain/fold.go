package explain

import (
	"bytes"
	"hash/maphash"
)

// The caps keep the memory of a fold the same for a log of any size and content.
const (
	blockSize   = 1 << 20
	maxLine     = 64 << 10 // of a longer line only the front is read
	maxGroups   = 4096     // further processes and days are counted together
	maxShapes   = 256      // further unknown lines are counted together
	maxLate     = 20000    // lines of further unknown shapes that are looked at for names
	maxExample  = 400
	shapedBytes = 200 // of a line, for its shape
)

// Fold counts the lines of a log by what they mean, process and day.
type Fold struct {
	base    *Base
	groups  map[groupKey]*group
	last    []*group // by entry: most lines have the process and day of the one before
	shapes  map[uint64]*group
	seed    maphash.Seed
	scratch []byte
	marked  bytes.Buffer
	outputs outputs
	numbers bool // lines that are numbers and no errors of cuFile
	late    int  // lines behind the cap of shapes that were looked at for names
	order   int

	Lines, Known, Long int
	Others             int      // unknown lines beyond the cap
	quiet              [256]int // unknown lines of INFO and lower, by the level's first letter
}

type groupKey struct {
	entry int
	pid   uint64
	day   [12]byte
}

type group struct {
	key         groupKey
	level       byte
	count       int
	order       int
	first, last clip
	example     []byte
	fields      []Field // of a line that no row knows: its names
	number      bool    // it is a number alone
}

// clip is a stamp, copied out of the block.
type clip struct {
	n int
	b [32]byte
}

func (c *clip) set(b []byte)   { c.n = copy(c.b[:], b) }
func (c *clip) bytes() []byte  { return c.b[:c.n] }
func (c *clip) String() string { return string(c.b[:c.n]) }

// NewFold begins a log.
func (b *Base) NewFold() *Fold {
	return &Fold{base: b, groups: map[groupKey]*group{}, last: make([]*group, len(b.entries)), shapes: map[uint64]*group{}, seed: maphash.MakeSeed()}
}

// Line takes one line, without its end.
func (f *Fold) Line(line []byte) {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if len(line) == 0 {
		return
	}
	f.Lines++
	if bytes.IndexByte(line, 0x1b) >= 0 {
		f.scratch = stripEscapes(f.scratch, line)
		line = f.scratch
	}
	s := readStamp(line)
	if row := f.base.lines.best(s.text, s.place()); row >= 0 {
		f.Known++
		f.hit(row, &s, line)
		return
	}
	switch s.level {
	case 'I', 'D', 'T':
		f.quiet[s.level]++
		return
	}
	f.unknown(&s, line)
}

func (f *Fold) hit(row int, s *stamped, line []byte) {
	g := f.last[row]
	var key groupKey
	if g == nil || g.key.pid != s.pid || !sameDay(&g.key.day, s.day) {
		key = groupKey{entry: row, pid: s.pid}
		copy(key.day[:], s.day)
		g = f.groups[key]
		if g == nil && len(f.groups) >= maxGroups {
			key = groupKey{entry: row, pid: overflow}
			g = f.groups[key]
		}
		if g == nil {
			g = f.begin(key, s, line)
			f.groups[key] = g
		}
		f.last[row] = g
	}
	g.seen(s.stamp)
}

// seen counts a line. Threads and files come out of order, so the first time is the least one.
func (g *group) seen(stamp []byte) {
	g.count++
	switch {
	case g.key.pid == overflow || !before(stamp, g.last.bytes()):
		g.last.set(stamp)
	case before(stamp, g.first.bytes()):
		g.first.set(stamp)
	}
}

// overflow stands for all processes beyond the cap.
const overflow = ^uint64(0)

func sameDay(have *[12]byte, day []byte) bool {
	if len(day) > len(have) {
		day = day[:len(have)]
	}
	return string(have[:len(day)]) == string(day) && (len(day) == len(have) || have[len(day)] == 0)
}

func (f *Fold) begin(key groupKey, s *stamped, line []byte) *group {
	g := &group{key: key, level: s.level, order: f.order, example: bytes.Clone(line[:min(len(line), maxExample)])}
	f.order++
	g.first.set(s.stamp)
	return g
}

// unknown folds a line that no row knows by its shape: numbers and addresses do not count. Where a line can have names
// with values, those of different outputs are kept apart, and so is a count of 0.
func (f *Fold) unknown(s *stamped, line []byte) {
	pasted := s.level == 0 && len(s.stamp) == 0
	var buf [shapedBytes]byte
	n := 0
	for i := 0; i < len(s.text) && n < len(buf); i++ {
		c := s.text[i]
		if digit(c) {
			if n > 0 && digit(buf[n-1]) {
				buf[n-1] = '1'
				continue
			}
			if !pasted || c != '0' {
				c = '1'
			}
		}
		buf[n] = c
		n++
	}
	h := maphash.Bytes(f.seed, buf[:n])
	text := ""
	if pasted && len(s.text) <= maxExample {
		text = string(s.text)
		f.outputs.see(text)
		f.outputs.mark(&f.marked)
		h ^= maphash.Bytes(f.seed, f.marked.Bytes()) * 31
		defer f.outputs.json.see(text)
	}
	g := f.shapes[h]
	if g == nil {
		if g = f.shape(s, line, text); g == nil {
			f.Others++
			return
		}
		f.shapes[h] = g
	}
	g.seen(s.stamp)
}

// shape begins the group of a new shape. Beyond the cap, lines that are explained are still kept: there may be a long
// output of something else before them.
func (f *Fold) shape(s *stamped, line []byte, text string) *group {
	full := len(f.shapes) >= maxShapes
	if full {
		if text == "" || f.late >= maxLate || len(f.shapes) >= 2*maxShapes {
			return nil
		}
		f.late++
	}
	g := f.begin(groupKey{entry: -1, pid: s.pid}, s, line)
	copy(g.key.day[:], s.day)
	if text != "" {
		f.explain(g, text) // it may be a row such as "NVMe : compat"
	}
	if full && len(g.fields) == 0 {
		return nil
	}
	return g
}
