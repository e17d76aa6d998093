package explain

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/facts"
	"gdsproof/internal/profile"
)

// Answer is what is known about a word.
type Answer struct {
	Query       string
	Entries     []profile.Entry
	Checks      []*check.Check
	Suggestions []string // of a word that is not known
	Note        string   // why it is not known, where that can be said
	How         How
}

// How a query was understood.
type How int

const (
	NotAtAll How = iota
	ByName
	ByLine   // it holds the phrases of a known line
	ByPair   // a name with a value
	ByNumber // it holds a number of cuFile
	ByPart   // one known line holds it
)

// Known tells whether there is an answer.
func (a Answer) Known() bool { return len(a.Entries) > 0 || len(a.Checks) > 0 }

func (a *Answer) by(h How) bool {
	if !a.Known() {
		return false
	}
	a.How = h
	return true
}

// maxQuery is far above any word or line that somebody asks about.
const maxQuery = 16 << 10

// Lookup answers a word, a number, a "name=value", or a line.
func (b *Base) Lookup(query string) Answer {
	if len(query) > maxQuery {
		query = query[:maxQuery]
	}
	a := Answer{Query: strings.TrimSpace(query)}
	q := normal(query)
	if q == "" {
		return a
	}
	if c := check.ByID(q); c != nil {
		a.Checks = []*check.Check{c}
	}
	for _, form := range forms(q) {
		if a.Entries = b.named(form); len(a.Entries) > 0 {
			break
		}
	}
	if a.by(ByName) {
		a.Entries = sameCase(a.Entries, a.Query)
		return a
	}
	o := &outputs{}
	o.see(query)
	for _, f := range b.fields(query, o, true) {
		a.Entries = append(a.Entries, f.Entry)
	}
	// A row of gdscheck with a value that is a word of a known line, too: the row is the better answer.
	if len(a.Entries) > 1 && a.Entries[0].Kind == profile.KindGdscheck && a.by(ByPair) {
		return a
	}
	if row := b.lines.best([]byte(query), anywhere); row >= 0 {
		a.Entries = []profile.Entry{b.entries[row]}
		a.by(ByLine)
		return a
	}
	if a.by(ByPair) {
		return a
	}
	if a.Entries = b.gdsioCommand(query); a.by(ByPair) {
		return a
	}
	if a.Entries = b.numberIn(q); a.by(ByNumber) {
		return a
	}
	if a.Entries, a.Suggestions = b.partOf(q); a.by(ByPart) {
		return a
	}
	if a.Note = b.notANumber(q); a.Note != "" {
		a.Suggestions = nil
		return a
	}
	if strings.Contains(q, " ") {
		row, sure := b.lines.nearest([]byte(query))
		if sure {
			a.Entries = []profile.Entry{b.entries[row]}
			a.by(ByPart)
			return a
		}
		if row >= 0 && len(a.Suggestions) == 0 {
			a.Suggestions = b.entries[row].Match
		}
		if words := strings.Fields(q); len(words) > 3 {
			if near := b.closeLines(q); len(near) > 0 {
				a.Suggestions = near
			}
			if len(a.Suggestions) == 0 {
				a.Suggestions = b.sharing(q)
			}
			return a // a sentence: a word of it that is known is no answer
		}
	}
	// A typing error is nearer than a word that merely holds the query.
	if near := b.close(q); len(near) > 0 {
		a.Suggestions = near
	}
	if len(a.Suggestions) == 0 {
		a.Suggestions = b.sharing(q)
	}
	return a
}

func (b *Base) named(q string) []profile.Entry {
	var out []profile.Entry
	for _, i := range b.names[q] {
		out = append(out, b.entries[i])
	}
	return out
}

// sameCase keeps the rows with the very name, if there are any: gdsio has -d and -D.
func sameCase(entries []profile.Entry, query string) []profile.Entry {
	var same []profile.Entry
	for _, e := range entries {
		if slices.Contains(e.Names, query) {
			same = append(same, e)
		}
	}
	if len(same) > 0 {
		return same
	}
	return entries
}

var (
	prefixed = regexp.MustCompile(`^(?:errno|error|err|ret|returned|rc|code|status|result|cufileerror|gds error|cufile error|unknown error)[ =:(]*(-?\d+)\)?$`)
	signed   = regexp.MustCompile(`^-(50\d\d)$`)
	number   = regexp.MustCompile(`^\d{1,4}$`)
	inside   = regexp.MustCompile(`(?:\b(?:errno|error|err|error code|cufile\w*|rc|ret|failed with)\b[ =:(]{1,4}|\bcufile\w*\b[^0-9]{1,40}[ =:(])-?(50[0-4]\d|5050)(?:$|[^0-9.:a-z])`)
)

// forms are ways in which one word is written.
func forms(q string) []string {
	out := []string{q}
	add := func(s string) { out = append(out, s) }
	if m := prefixed.FindStringSubmatch(q); m != nil {
		q = m[1]
		add(q)
	}
	if m := signed.FindStringSubmatch(q); m != nil {
		add(m[1])
	}
	if number.MatchString(q) && len(q) < 4 {
		add("-" + q) // errno 22 is -22 in a log
	}
	if strings.HasPrefix(q, "--") || strings.HasPrefix(q, "gdsio ") {
		add(strings.TrimLeft(q, "- "))
	}
	// Of a path the last part, but /sys/class/net has rx_bytes too.
	if strings.Contains(q, "/") && !strings.Contains(q, " ") && (!strings.HasPrefix(q, "/sys/") || strings.Contains(q, "infiniband") || strings.Contains(q, "nvidia")) {
		add(q[strings.LastIndexByte(q, '/')+1:])
	}
	return out
}

// ofKind are the rows of one kind that answer to a name.
func (b *Base) ofKind(name, kind string) []profile.Entry {
	var found []profile.Entry
	for _, e := range b.named(name) {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

// exactly are the rows of one kind with this very name, in the same case.
func (b *Base) exactly(name, kind string) []profile.Entry {
	return slices.DeleteFunc(b.ofKind(normal(name), kind), func(e profile.Entry) bool { return !slices.Contains(e.Names, name) })
}

// numberIn finds a number of cuFile within a text, where the word before it says that it is an error: a port, an
// offset or a count may be 5001 too.
func (b *Base) numberIn(q string) []profile.Entry {
	if m := inside.FindStringSubmatch(strings.ToLower(q)); m != nil {
		return b.ofKind(m[1], profile.KindError)
	}
	return nil
}

// notANumber says which numbers there are, for one that is none of them: a neighbour is no better.
func (b *Base) notANumber(q string) string {
	said := false
	if m := prefixed.FindStringSubmatch(q); m != nil {
		q, said = m[1], true
	}
	if n, err := strconv.Atoi(q); err != nil || !said && n > -1000 && n < 1000 && !strings.HasPrefix(q, "-") {
		return ""
	}
	first, last := 0, 0
	for i := range b.entries {
		if e := &b.entries[i]; e.Kind == profile.KindError {
			if n, err := strconv.Atoi(e.Names[0]); err == nil && n > 0 {
				if first == 0 || n < first {
					first = n
				}
				last = max(last, n)
			}
		}
	}
	return "cuFile's error numbers go from " + strconv.Itoa(first) + " to " + strconv.Itoa(last) + "; of others only some numbers of errno are explained"
}

// gdsioCommand are the options of a command line of gdsio, or of a part of one that begins with an option: "-x 2".
func (b *Base) gdsioCommand(line string) (found []profile.Entry) {
	words := strings.Fields(line)
	if len(words) < 2 || !optionWord.MatchString(words[0]) && words[0][strings.LastIndexByte(words[0], '/')+1:] != "gdsio" {
		return nil
	}
	for _, w := range words {
		if !optionWord.MatchString(w) {
			continue
		}
		rows := b.exactly(w, profile.KindGdsioOption)
		if len(rows) == 0 {
			return nil // of another program
		}
		found = append(found, rows...)
	}
	return found
}

var optionWord = regexp.MustCompile(`^-[A-Za-z]$`)

// partOf finds rows whose phrase or name holds all of the query. A part of a line that one row alone has is an
// answer; a single word may be a mistake for another, so it is a suggestion.
func (b *Base) partOf(q string) (one []profile.Entry, several []string) {
	if len(q) < 5 {
		return nil, nil
	}
	if _, err := strconv.Atoi(q); err == nil {
		return nil, nil
	}
	for i := range b.entries {
		e := &b.entries[i]
		for _, p := range append(append([]string(nil), e.Match...), e.Names...) {
			if strings.Contains(strings.ToLower(p), q) {
				one = append(one, *e)
				several = append(several, p)
				break
			}
		}
	}
	if len(one) == 1 && strings.Contains(q, " ") {
		return one, nil
	}
	if len(several) > maxSuggestions {
		several = several[:maxSuggestions]
	}
	return nil, several
}

// Measured is what was seen of a key of cufile.json: its type and values. It stands beside the code that reads the
// file, and is not repeated in the rows of knowledge.
func Measured(e profile.Entry) (facts.CufileKey, bool) {
	if e.Kind != profile.KindKey || len(e.Names) == 0 {
		return facts.CufileKey{}, false
	}
	return facts.CufileKeyOf(e.Names[0])
}
