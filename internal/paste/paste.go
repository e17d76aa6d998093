// Package paste turns text that people paste, mail and attach into an evidence set: it finds the outputs in it, in
// whatever order and dress, says which are whole, which were filtered or cut, and in what order snapshots were
// taken. It judges nothing, and what it does not recognise it names.
package paste

import (
	"fmt"
	"strings"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
)

// Text is one pasted text or file.
type Text struct {
	Name  string
	Data  []byte
	Given bool // it was named in an order that means something; files found in a folder were not
}

// Piece is a part of a text, and what it was taken for.
type Piece struct {
	Text       string // its name
	From, To   int    // lines
	What       string // "" : not recognised
	Source     string
	Words      string // the first line of what was not recognised
	Recognised bool
}

// Read makes an evidence set of texts.
func Read(texts []Text) (*evidence.Set, []Piece) {
	set := &evidence.Set{Kind: evidence.Pasted}
	var pieces []Piece
	blocks := make([][]*block, len(texts))
	for i, t := range texts {
		ls, cut := lines(t.Data)
		blocks[i] = split(t.Name, undouble(ls), cut)
	}
	for _, t := range texts {
		if len(t.Data) > mostBytes {
			pieces = append(pieces, Piece{Text: t.Name, What: fmt.Sprintf("only the first %d MiB were read", mostBytes>>20)})
		}
	}
	all := order(texts, blocks)
	if hosts := partMachines(all); len(hosts) > 1 {
		pieces = append(pieces, Piece{Text: all[0].b.name, What: "outputs of several machines (" + strings.Join(hosts, ", ") + "): the findings are of " + hosts[0] + " alone, and what one counted is not compared with another; read them apart for a verdict on each"})
	}
	whenMade(all)
	lefts := map[int]int{}
	for _, p := range all {
		if p.left > 0 {
			lefts[len(set.Items)] = p.left
		}
		its, piece := p.items()
		set.Items = append(set.Items, its...)
		if !p.b.event {
			pieces = append(pieces, piece)
		}
	}
	columns(set, lefts)
	return set, join(pieces)
}

// undouble drops every second line of a text whose lines all come twice, as some terminals' logs have them.
func undouble(ls []line) []line {
	if len(ls) < 6 {
		return ls
	}
	for i := 0; i+1 < len(ls); i += 2 {
		if ls[i].text != ls[i+1].text {
			return ls
		}
	}
	out := make([]line, 0, len(ls)/2+1)
	for i := 0; i < len(ls); i += 2 {
		out = append(out, ls[i])
	}
	return out
}

// items makes of a block what facts look for.
func (p placed) items() ([]evidence.Item, Piece) {
	b := p.b
	piece := Piece{Text: b.name, From: b.first, To: b.first}
	if n := len(b.lines); n > 0 {
		piece.To = b.lines[n-1].no
		for _, l := range b.lines {
			if w := strings.TrimSpace(l.text); w != "" {
				piece.Words = w
				break
			}
		}
	}
	it := evidence.Item{Place: b.at(), State: evidence.Present, Form: evidence.Whole, Step: p.step, Since: p.since, Series: p.series, Origin: fmt.Sprintf("%s, line %d", b.name, b.first)}
	if b.event {
		return b.typedItem(it), Piece{}
	}
	if f, ok := b.failure(); ok {
		it.Source, it.State, it.Err = f.source, f.state, []byte(f.words)
		piece.What, piece.Source, piece.Recognised = f.words, f.source, true
		return []evidence.Item{it}, piece
	}
	if b.f == nil || b.f.source == nil {
		if b.cmd != nil && piece.Words == "" {
			piece.Words = b.cmd.text
		}
		piece.Recognised = len(b.lines) == 0
		return nil, piece
	}
	it.Source = b.f.source(b)
	it.Out = []byte(b.text())
	if b.cmd != nil {
		it.Origin += ": " + b.cmd.text
		if len(b.cmd.filter) > 0 || b.cmd.shaped || b.cmd.count {
			it.Form, it.Filter = evidence.Filtered, b.cmd.filter
			if b.cmd.shaped {
				it.Filter = nil
			}
		}
	}
	if strings.HasSuffix(it.Source, "/parameters/*") {
		it.Out = parameters(b)
	}
	if b.holes {
		it.Form = evidence.Filtered
	}
	ends := b.f.ends != nil && b.f.ends(b)
	it.Truncated = b.cut || b.holes || !b.ended && !ends
	switch it.Source {
	case facts.LNetCountsSource, facts.LNetSource:
		it = withNet(it, b)
	case facts.GdsioSource, facts.DDSource, facts.UnitSource(facts.ConfigureUnitName):
		// The command tells what the lines do not: the direction of a dd, the settings of a gdsio, the unit of a word.
		if c := b.command(); c != "" {
			it.Out = append([]byte("$ "+c+"\n"), it.Out...)
		}
	}
	if strings.TrimSpace(string(it.Out)) == "" && !(b.ended && len(it.Filter) > 0) {
		piece.Recognised = true // a command without an output: nothing was shown
		return nil, piece
	}
	piece.What, piece.Source, piece.Recognised = b.f.name, it.Source, true
	if m, other := it.Place.Machine(); other {
		piece.What += " of another machine: " + m
	} else if it.Place == evidence.Example {
		piece.What += ", as an example: it is not judged"
	}
	return []evidence.Item{it}, piece
}

// parameters writes "name: value" of "path:value", as a look at the folder would have.
func parameters(b *block) []byte {
	var s strings.Builder
	for _, l := range b.lines {
		p, v, ok := strings.Cut(strings.TrimSpace(l.text), ":")
		if !ok {
			p, v, ok = strings.Cut(strings.TrimSpace(l.text), "=")
		}
		if ok {
			fmt.Fprintf(&s, "%s: %s\n", baseName(strings.TrimSpace(p)), strings.TrimSpace(v))
		}
	}
	return []byte(s.String())
}

// command is the command before the block, or the one that the text's name stands for.
func (b *block) command() string {
	if b.cmd != nil {
		return b.cmd.text
	}
	return ""
}

// failure reads a block that is only a shell's complaint.
func (b *block) failure() (failure, bool) {
	for _, l := range b.lines {
		if strings.TrimSpace(l.text) == "" {
			continue
		}
		return failureOf(l.text)
	}
	return failure{}, false
}

// withNet writes the net that a command asked for above lines that do not name it: that is what the whole answer
// begins with.
func withNet(it evidence.Item, b *block) evidence.Item {
	text := string(it.Out)
	if strings.Contains(text, "net type:") || strings.Contains(text, "@") {
		if !strings.Contains(text, "net:") && it.Form == evidence.Whole {
			it.Form = evidence.Filtered
		}
		return it
	}
	it.Form = evidence.Filtered
	net := ""
	if b.cmd != nil {
		for i, w := range b.cmd.argv {
			if w == "--net" && i+1 < len(b.cmd.argv) {
				net = b.cmd.argv[i+1]
			} else if v, ok := strings.CutPrefix(w, "--net="); ok {
				net = v
			}
		}
	}
	if net == "" && strings.Contains(strings.ToLower(baseName(b.name)), "efa") {
		net = "efa" // efa_before.txt
	}
	if net != "" {
		it.Out = []byte("    - net type: " + net + "\n" + text)
	}
	return it
}

// join puts pieces of one text that follow each other and are of one kind together, for the list of what was read.
func join(ps []Piece) []Piece {
	var out []Piece
	for _, p := range ps {
		if n := len(out); n > 0 && out[n-1].Text == p.Text && out[n-1].Source == p.Source && out[n-1].What == p.What && out[n-1].Recognised == p.Recognised && p.From > out[n-1].To {
			out[n-1].To = p.To
			continue
		}
		out = append(out, p)
	}
	return out
}
