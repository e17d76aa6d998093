package explain

import (
	"encoding/binary"
	"strings"

	"gdsproof/internal/profile"
)

// matcher finds the rows whose phrases are in a line: Wu and Manber's search for many phrases. A window of some
// bytes of each row's longest phrase is its anchor; three bytes of the text tell how far the next anchor must be
// away at least, so that most bytes of a log are never looked at.
type matcher struct {
	rows   []lineRow
	short  []int // rows whose phrases are too short for a window: a user's own
	window int
	shift  [tableSize]uint8
	bucket [tableSize][]anchor // of places with shift 0
}

const (
	tableBits = 14
	tableSize = 1 << tableBits
	minWindow = 6
	maxWindow = 16
)

type lineRow struct {
	entry    int
	phrases  [][]byte // in lower case; the first holds the anchor
	not      [][]byte
	specific int // letters of all phrases: of two rows the one that asks for more wins
	weight   int
	where    place
}

// place is the kind of line that a row is looked for in, by the stamp before the text.
type place uint8

const (
	stampCufile place = 1 << iota
	stampKernel       // of dmesg or the journal, where every program writes
	stampNone
	asked    // a line that somebody asked about by itself
	anywhere = ^place(0)
)

// ours are words that no other program's lines in the journal have.
var ours = []string{"cufile", "nvidia", "nvfs", "gds", "gpudirect", "cuda"}

func placesOf(e *profile.Entry) place {
	switch {
	case e.Kind == profile.KindKernelLog:
		return stampKernel | stampNone | asked
	case e.In == profile.OutputCufileLog:
		return stampCufile | asked
	}
	w := stampCufile | stampNone | asked
	for _, p := range e.Match {
		for _, word := range ours {
			if strings.Contains(strings.ToLower(p), word) {
				return w | stampKernel
			}
		}
	}
	return w
}

type anchor struct {
	row    int
	before int // bytes of the phrase before the window's end
}

func newMatcher(entries []profile.Entry) *matcher {
	m := &matcher{window: maxWindow}
	count := map[string]int{}
	for i, e := range entries {
		if len(e.Match) == 0 {
			continue
		}
		r := lineRow{entry: i, weight: e.Weight, where: placesOf(&e)}
		longest := 0
		for j, p := range e.Match {
			r.phrases = append(r.phrases, lower([]byte(p)))
			r.specific += len(p)
			if len(p) > len(e.Match[longest]) {
				longest = j
			}
		}
		for _, p := range e.Not {
			r.not = append(r.not, lower([]byte(p)))
		}
		r.phrases[0], r.phrases[longest] = r.phrases[longest], r.phrases[0]
		if len(r.phrases[0]) < minWindow {
			m.short = append(m.short, len(m.rows))
			m.rows = append(m.rows, r)
			continue
		}
		m.window = min(m.window, len(r.phrases[0]))
		for at := 3; at <= len(r.phrases[0]); at++ {
			count[string(r.phrases[0][at-3:at])]++
		}
		m.rows = append(m.rows, r)
	}
	if len(m.rows) == 0 {
		return m
	}
	for i := range m.shift {
		m.shift[i] = uint8(m.window - 2)
	}
	for i := range m.rows {
		if len(m.rows[i].phrases[0]) >= minWindow {
			m.anchor(i, count)
		}
	}
	return m
}

// anchor puts the window of a row into the tables: that with the rarest three-letter groups of all phrases.
func (m *matcher) anchor(row int, count map[string]int) {
	p := m.rows[row].phrases[0]
	best, at := -1, m.window
	for end := m.window; end <= len(p); end++ {
		n := 0
		for i := end - m.window + 3; i <= end; i++ {
			n += count[string(p[i-3:i])]
		}
		if best < 0 || n < best {
			best, at = n, end
		}
	}
	for i := at - m.window + 3; i <= at; i++ {
		h := hash3(p[i-3], p[i-2], p[i-1])
		m.shift[h] = min(m.shift[h], uint8(at-i))
		if i == at {
			m.bucket[h] = append(m.bucket[h], anchor{row, at})
		}
	}
}

// hash3 takes letters of both cases for the same; what else it takes for the same is found out by comparing.
func hash3(a, b, c byte) uint32 { return hashWord(uint32(a)<<8 | uint32(b)<<16 | uint32(c)<<24) }

func hashWord(w uint32) uint32 { return ((w | 0x20202000) &^ 0xff) * 0x9E3779B1 >> (32 - tableBits) }

// best returns the entry of the row that fits a line best, or -1.
func (m *matcher) best(line []byte, at place) int {
	if len(m.rows) == 0 {
		return -1
	}
	found := -1
	for end := m.window; end <= len(line); {
		h := hashWord(binary.LittleEndian.Uint32(line[end-4 : end]))
		if s := m.shift[h]; s != 0 {
			end += int(s)
			continue
		}
		for _, a := range m.bucket[h] {
			if found != a.row && m.rows[a.row].where&at != 0 && (found < 0 || m.rows[a.row].beats(&m.rows[found])) && m.fits(a, line, end) {
				found = a.row
			}
		}
		end++
	}
	for _, row := range m.short {
		if r := &m.rows[row]; r.where&at != 0 && (found < 0 || r.beats(&m.rows[found])) && r.holds(line, 0) {
			found = row
		}
	}
	if found < 0 {
		return -1
	}
	return m.rows[found].entry
}

// nearest is for a line that was cut or quoted without its front: the row of which it holds the most, or -1. It is
// sure if that is the row but for its front, and most of the line: a sentence that has some of the words is no such line.
func (m *matcher) nearest(line []byte) (entry int, sure bool) {
	const enough = 12 // letters
	most, row, without := enough-1, -1, 0
	for i := range m.rows {
		r := &m.rows[i]
		n, missing := 0, 0
		for _, p := range r.phrases {
			if contains(line, p) {
				n += len(p)
			} else {
				missing++
			}
		}
		if n > most || n == most && row >= 0 && r.specific < m.rows[row].specific {
			most, row, without = n, i, missing
		}
	}
	if row < 0 {
		return -1, false
	}
	return m.rows[row].entry, without <= 1 && 2*most >= len(line)
}

func (r *lineRow) beats(o *lineRow) bool {
	if r.specific != o.specific {
		return r.specific > o.specific
	}
	return r.weight > o.weight
}

// fits compares the phrase around an anchor, and looks for the row's other phrases in the whole line.
func (m *matcher) fits(a anchor, line []byte, end int) bool {
	r := &m.rows[a.row]
	from := end - a.before
	if from < 0 || !hasAt(line, from, r.phrases[0]) {
		return false
	}
	return r.holds(line, 1)
}

// holds looks for the phrases from one on, and for what must not be there.
func (r *lineRow) holds(line []byte, from int) bool {
	for _, p := range r.phrases[from:] {
		if !contains(line, p) {
			return false
		}
	}
	for _, p := range r.not {
		if contains(line, p) {
			return false
		}
	}
	return true
}

func hasAt(line []byte, from int, low []byte) bool {
	if len(line)-from < len(low) {
		return false
	}
	for i, c := range low {
		if lowerByte(line[from+i]) != c {
			return false
		}
	}
	return true
}

func contains(line, low []byte) bool {
	for i := 0; i+len(low) <= len(line); i++ {
		if lowerByte(line[i]) == low[0] && hasAt(line, i, low) {
			return true
		}
	}
	return false
}

func lowerByte(c byte) byte {
	if c-'A' < 26 {
		return c | 0x20
	}
	return c
}

func lower(b []byte) []byte {
	for i, c := range b {
		b[i] = lowerByte(c)
	}
	return b
}
