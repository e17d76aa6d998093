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
	// A row of gdscheck with a value that is a word of a known line, too: the row is the better answer.
	if a.Entries = b.pair(query); len(a.Entries) > 1 && a.Entries[0].Kind == profile.KindGdscheck && a.by(ByPair) {
		return a
	}
	if row := b.lines.best([]byte(query)); row >= 0 {
		a.Entries = []profile.Entry{b.entries[row]}
		a.by(ByLine)
		return a
	}
	if a.Entries = b.pair(query); a.by(ByPair) {
		return a
	}
	if a.Entries = b.numberIn(q); a.by(ByNumber) {
		return a
	}
	if a.Entries, a.Suggestions = b.partOf(q); a.by(ByPart) {
		return a
	}
	if strings.Contains(q, " ") {
		if row := b.lines.nearest([]byte(query)); row >= 0 {
			a.Entries = []profile.Entry{b.entries[row]}
			a.by(ByPart)
			return a
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
	prefixed  = regexp.MustCompile(`^(?:errno|error|err|ret|rc|code|status|result|cufileerror|gds error|cufile error|unknown error)[ =:(]*(-?\d+)\)?$`)
	signed    = regexp.MustCompile(`^-(50\d\d)$`)
	quotedKey = regexp.MustCompile(`"([a-z_0-9]+)"\s*:`)
	number    = regexp.MustCompile(`^\d{1,4}$`)
	inside    = regexp.MustCompile(`(?:^|[^0-9.:x-])-?(50[0-4]\d|5050)(?:$|[^0-9.:])`)
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
	if strings.Contains(q, "/") && !strings.Contains(q, " ") {
		add(q[strings.LastIndexByte(q, '/')+1:])
	}
	return out
}

// pair reads "name=value", "name : value" and "device name=value"; of a row of gdscheck the value is explained too.
func (b *Base) pair(line string) []profile.Entry {
	line = strings.TrimSpace(line)
	if len(line) > 400 {
		return nil
	}
	at := strings.IndexAny(line, "=:")
	if at <= 0 {
		return b.values(line)
	}
	name := normal(line[:at])
	found := b.named(name)
	if len(found) == 0 {
		found = b.named(strings.TrimLeft(name, "-"))
	}
	value := strings.TrimSpace(line[at+1:])
	if words := strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '/' }); len(found) == 0 && len(words) > 1 {
		found = b.named(words[len(words)-1])
	}
	if len(found) == 0 {
		return append(b.counters(line), b.keys(line)...)
	}
	values := b.values(value)
	switch found[0].Kind {
	case profile.KindGdscheck:
		// "Lustre: Build Version" is no row: a name of one word stands before a value that rows have.
		if len(values) == 0 && !strings.ContainsAny(name, " -_") && !slices.Contains(freeValued, name) {
			return nil
		}
		return append(found, values...)
	case profile.KindCounter:
		// "Error: …" begins many lines; a counter has a number or counters behind it.
		if value != "" && !digit(value[0]) && !strings.Contains(value, "=") && !slices.Contains(switches, strings.ToLower(strings.Fields(value)[0])) {
			return nil
		}
	case profile.KindGdsioOption:
		return nil // size, directory: words of every text
	}
	return found
}

var (
	freeValued = []string{"iommu", "platform", "arch", "environment"}
	switches   = []string{"enabled", "enabled,", "disabled", "disabled,", "true", "false", "debug", "info", "warn", "up", "down"}
)

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

// values are those of a row of gdscheck: "dmabuf, compat".
func (b *Base) values(list string) []profile.Entry {
	var found []profile.Entry
	for v := range strings.SplitSeq(list, ",") {
		found = append(found, b.ofKind(normal(v), profile.KindGdscheck)...)
	}
	return found
}

// counters are the names before an equals sign, as in the line of a GPU in nvidia-fs's statistics.
func (b *Base) counters(line string) []profile.Entry {
	var found []profile.Entry
	for _, word := range strings.Fields(line) {
		name, _, ok := strings.Cut(word, "=")
		if !ok {
			continue
		}
		found = append(found, b.ofKind(normal(name), profile.KindCounter)...)
	}
	return found
}

// keys are the quoted keys of a line of cufile.json that holds several.
func (b *Base) keys(line string) []profile.Entry {
	var found []profile.Entry
	for _, m := range quotedKey.FindAllStringSubmatch(line, -1) {
		found = append(found, b.ofKind(m[1], profile.KindKey)...)
	}
	return found
}

// errorNumberIn is for lines that nobody asked about one by one: a port may have such a number too.
func (b *Base) errorNumberIn(q string) []profile.Entry {
	for _, hint := range []string{"cufile", "errno", "error", "gds", "ret"} {
		if strings.Contains(q, hint) {
			return b.numberIn(q)
		}
	}
	return nil
}

// numberIn finds a number of cuFile within a text.
func (b *Base) numberIn(q string) []profile.Entry {
	if m := inside.FindStringSubmatch(q); m != nil {
		return b.named(m[1])
	}
	return nil
}

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
