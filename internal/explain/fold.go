package explain

import (
	"bytes"
	"hash/maphash"

	"gdsproof/internal/profile"
)

// The caps keep the memory of a fold the same for a log of any size and content.
const (
	blockSize   = 1 << 20
	maxLine     = 64 << 10 // of a longer line only the front is read
	maxGroups   = 4096     // further processes and days are counted together
	maxShapes   = 256      // further unknown lines are counted together
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
	entries     []profile.Entry // of an unknown line that is a word or a row
}

// clip is a stamp, copied out of the block.
type clip struct {
	n int
	b [32]byte
}

func (c *clip) set(b []byte)   { c.n = copy(c.b[:], b) }
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
	if row := f.base.lines.best(s.text); row >= 0 {
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
	g.count++
	g.last.set(s.stamp)
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

// unknown folds a line that no row knows by its shape: numbers and addresses do not count.
func (f *Fold) unknown(s *stamped, line []byte) {
	var buf [shapedBytes]byte
	n := 0
	for i := 0; i < len(s.text) && n < len(buf); i++ {
		c := s.text[i]
		if digit(c) {
			if n > 0 && buf[n-1] == '0' {
				continue
			}
			c = '0'
		}
		buf[n] = c
		n++
	}
	h := maphash.Bytes(f.seed, buf[:n])
	g := f.shapes[h]
	if g == nil {
		if len(f.shapes) >= maxShapes {
			f.Others++
			return
		}
		g = f.begin(groupKey{entry: -1, pid: s.pid}, s, line)
		copy(g.key.day[:], s.day)
		// A pasted line may be a word that is known, or a row such as "NVMe : compat".
		if s.level == 0 && len(s.text) <= maxExample {
			g.entries = f.base.short(string(s.text))
		}
		f.shapes[h] = g
	}
	g.count++
	g.last.set(s.stamp)
}

// short answers a line that is a name, a pair of name and value, or holds an error number.
func (b *Base) short(line string) []profile.Entry {
	q := normal(line)
	for _, form := range forms(q) {
		if e := b.named(form); len(e) > 0 {
			return e
		}
	}
	if e := b.pair(line); len(e) > 0 {
		return e
	}
	return b.errorNumberIn(q)
}
