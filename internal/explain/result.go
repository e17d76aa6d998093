package explain

import (
	"slices"
	"strings"

	"gdsproof/internal/profile"
)

// Log is what a log says, as JSON has it too.
type Log struct {
	Name      string    `json:"name"`
	Lines     int       `json:"lines"`
	Known     int       `json:"known_lines"`
	LongLines int       `json:"long_lines"` // of which the front alone was read
	Sections  []Section `json:"sections"`   // most telling first
	Unknown   []Line    `json:"unknown"`    // lines that no row knows, folded by shape
	Quiet     []Level   `json:"unknown_by_level"`
	Others    int       `json:"unknown_others"` // lines beyond what is kept of unknown ones
}

// Section is one process on one day.
type Section struct {
	PID   uint64 `json:"pid,omitempty"`
	Day   string `json:"day,omitempty"`
	More  bool   `json:"more_processes,omitempty"` // all processes beyond the cap together
	Lines []Line `json:"lines"`
	score int
}

// Line is a folded line.
type Line struct {
	Class   string `json:"class,omitempty"` // decisive, cause, consequence, harmless, noise
	Level   string `json:"level,omitempty"`
	Count   int    `json:"count"`
	First   string `json:"first,omitempty"` // stamps as printed
	Last    string `json:"last,omitempty"`
	Text    string `json:"text"` // the first of them
	Rows    []Row  `json:"rows"`
	score   int
	order   int
	entryID string
}

// Level is a number of lines of a level.
type Level struct {
	Level string `json:"level"`
	Count int    `json:"count"`
}

// Row is a row of knowledge, as JSON has it.
type Row struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind"`
	Names   []string `json:"names"`
	Meaning string   `json:"meaning"`
	Cause   string   `json:"cause,omitempty"`
	Remedy  string   `json:"remedy,omitempty"`
	Since   string   `json:"since,omitempty"`
	Until   string   `json:"until,omitempty"`
	Check   string   `json:"check,omitempty"`
	Type    string   `json:"type,omitempty"` // of a key of cufile.json
	BuiltIn string   `json:"built_in,omitempty"`
	Stock   string   `json:"packaged,omitempty"`
	Env     string   `json:"variable,omitempty"`
	Source  string   `json:"source"`
	Date    string   `json:"date"`
}

// RowOf is the printed form of a row.
func RowOf(e profile.Entry) Row {
	r := Row{ID: e.ID, Kind: e.Kind, Names: e.Names, Meaning: e.Meaning, Cause: e.Cause, Remedy: e.Remedy, Since: e.Since, Until: e.Until,
		Check: e.Check, Source: e.Source, Date: e.Date}
	if r.Names == nil {
		r.Names = []string{}
	}
	if k, ok := Measured(e); ok {
		r.Type, r.BuiltIn, r.Stock, r.Env = kindWords[k.Kind], k.BuiltIn, k.Stock, k.Env
	}
	return r
}

var levelWords = map[byte]string{'N': "NOTICE", 'E': "ERROR", 'W': "WARN", 'I': "INFO", 'D': "DEBUG", 'T': "TRACE"}

// Result is what the fold has come to.
func (f *Fold) Result(name string) Log {
	l := Log{Name: name, Lines: f.Lines, Known: f.Known, LongLines: f.Long, Sections: []Section{}, Unknown: []Line{}, Quiet: []Level{}, Others: f.Others}
	type place struct {
		pid uint64
		day string
	}
	at := map[place]int{}
	var groups []*group
	for _, g := range f.groups {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, byOrder)
	for _, g := range groups {
		p := place{g.key.pid, strings.TrimRight(string(g.key.day[:]), "\x00")}
		i, ok := at[p]
		if !ok {
			i = len(l.Sections)
			at[p] = i
			s := Section{PID: p.pid, Day: p.day}
			if p.pid == overflow {
				s.PID, s.More = 0, true
			}
			l.Sections = append(l.Sections, s)
		}
		e := f.base.entries[g.key.entry]
		line := g.line()
		line.Class, line.score, line.entryID, line.Rows = profile.Class(e.Weight), e.Weight, e.ID, []Row{RowOf(e)}
		l.Sections[i].Lines = append(l.Sections[i].Lines, line)
	}
	for i := range l.Sections {
		l.Sections[i].rank(f.base)
	}
	slices.SortStableFunc(l.Sections, func(a, b Section) int { return b.score - a.score })
	var unknown []*group
	for _, g := range f.shapes {
		unknown = append(unknown, g)
	}
	slices.SortFunc(unknown, byOrder)
	for _, g := range unknown {
		line := g.line()
		if !g.number || !f.numbers { // among other numbers, 5027 is one as well
			line.Rows = fieldRows(g.fields)
		}
		if len(line.Rows) > 0 {
			l.Known += g.count
		}
		l.Unknown = append(l.Unknown, line)
	}
	for _, c := range []byte("IDT") {
		if n := f.quiet[c]; n > 0 {
			l.Quiet = append(l.Quiet, Level{levelWords[c], n})
		}
	}
	return l
}

// fieldRows are rows about names with values. Where the value is no sign of trouble, there is no cause and no remedy.
func fieldRows(fields []Field) []Row {
	rows := []Row{}
	for _, x := range fields {
		r := RowOf(x.Entry)
		if x.Fine {
			r.Cause, r.Remedy = "", ""
		}
		rows = append(rows, r)
	}
	return rows
}

func byOrder(a, b *group) int { return a.order - b.order }

func (g *group) line() Line {
	return Line{Level: levelWords[g.level], Count: g.count, First: g.first.String(), Last: g.last.String(), Text: string(g.example), Rows: []Row{}, order: g.order}
}

// rank puts the most telling line first. Where a line and one that follows from it are both there, the cause comes
// directly before the consequence: it is what has to be mended.
func (s *Section) rank(b *Base) {
	at := map[string]int{}
	for i := range s.Lines {
		at[s.Lines[i].entryID] = i
	}
	for range 4 { // the longest chain of causes
		for i := range b.entries {
			e := &b.entries[i]
			j, ok := at[e.ID]
			if !ok {
				continue
			}
			for _, cause := range e.After {
				if k, ok := at[cause]; ok && s.Lines[k].score <= s.Lines[j].score {
					s.Lines[k].score = s.Lines[j].score + 1
					s.Lines[k].Class = profile.Class(s.Lines[k].score) // as telling as what it leads to
				}
			}
		}
	}
	slices.SortStableFunc(s.Lines, func(a, b Line) int {
		if a.score != b.score {
			return b.score - a.score
		}
		return a.order - b.order
	})
	s.score = s.Lines[0].score
}

// Explained tells whether a line of the log was.
func (l Log) Explained() bool {
	if l.Known > 0 {
		return true
	}
	return slices.ContainsFunc(l.Unknown, func(u Line) bool { return len(u.Rows) > 0 })
}
