package facts

import (
	"strconv"
	"strings"
)

// cufileNode is a value of cufile.json.
type cufileNode struct {
	kind    cufileNodeKind
	text    string // of a string, decoded; of a number, as written
	whole   bool   // a number without fraction that fits 64 bits
	neg     bool
	n       uint64 // of such a number, without its sign
	real    float64
	list    []cufileNode
	members []cufileMember
	from    int // where it begins and ends in the text
	to      int
}

type cufileNodeKind byte

const (
	cufileNull cufileNodeKind = iota
	cufileTrue
	cufileFalse
	cufileNumber
	cufileText
	cufileList
	cufileObject
)

type cufileMember struct {
	name string
	node cufileNode
	at   int // of the name
}

// cufileToken is a token of the grammar.
type cufileToken struct {
	kind     byte // one of {}[],: and s string, n number, t true, f false, z null, c comment, e end, x error
	from, to int
}

// cufileParser reads as libcufile 1.15.1 does. That is neither JSON nor what any library for JSON with comments
// reads: the last of equal names wins with its whole value, a comma before a closing bracket and "#" are refused, a
// comment is not allowed between a name and its colon or in an empty list, while a newline in a string, 08, "1." and
// a lone "-" are accepted, and what follows the first value is not looked at. All this was measured by opening the
// driver with such files; the steps below are those of the reader that libcufile has in it (jsoncpp's older one), so
// that also its oddities come out alike.
type cufileParser struct {
	text  string
	at    int
	depth int
	bad   cufileFault
}

// cufileFault is why a text is refused; dies: libcufile ends the process over it, by an exception that nobody catches.
type cufileFault struct {
	at   int
	why  string
	dies bool
}

// cufileDepth is jsoncpp's limit.
const cufileDepth = 1000

func (p *cufileParser) fail(at int, why string) bool {
	if p.bad.why == "" {
		p.bad = cufileFault{at: at, why: why}
	}
	return false
}

// value reads a value, and the comments before it.
func (p *cufileParser) value(n *cufileNode) bool {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > cufileDepth {
		p.bad = cufileFault{p.at, "nested more than 1000 deep", true}
		return false
	}
	t := p.token()
	for t.kind == 'c' {
		t = p.token()
	}
	*n = cufileNode{from: t.from}
	ok := true
	switch t.kind {
	case '{':
		n.kind = cufileObject
		ok = p.object(n)
	case '[':
		n.kind = cufileList
		ok = p.array(n)
	case 'n':
		n.kind = cufileNumber
		ok = p.number(n, t)
	case 's':
		n.kind = cufileText
		n.text, ok = p.string(t)
	case 't':
		n.kind = cufileTrue
	case 'f':
		n.kind = cufileFalse
	case 'z':
	default:
		return p.fail(t.from, p.expected("a value", t))
	}
	n.to = p.at
	return ok
}

func (p *cufileParser) object(n *cufileNode) bool {
	index := map[string]int{}
	name := ""
	t := p.token()
	for ; t.kind != 'x'; t = p.token() {
		for t.kind == 'c' {
			t = p.token()
		}
		if t.kind == '}' && name == "" { // also behind a comma, if the name before it is empty
			return true
		}
		if t.kind != 's' {
			break
		}
		var ok bool
		if name, ok = p.string(t); !ok {
			return false
		}
		colon := p.token()
		if colon.kind != ':' {
			return p.fail(colon.from, p.expected("a colon behind the name "+strconv.Quote(short(name)), colon))
		}
		m := cufileMember{name: name, at: t.from}
		if !p.value(&m.node) {
			return false
		}
		if i, again := index[name]; again {
			n.members[i] = m
		} else {
			index[name] = len(n.members)
			n.members = append(n.members, m)
		}
		comma := p.token()
		if comma.kind != '}' && comma.kind != ',' && comma.kind != 'c' {
			return p.fail(comma.from, p.expected("a comma or }", comma))
		}
		for comma.kind == 'c' {
			comma = p.token() // whatever comes behind a comment is taken for the comma
		}
		if comma.kind == '}' {
			return true
		}
	}
	if t.kind == '}' {
		return p.fail(t.from, "a comma before }")
	}
	return p.fail(t.from, p.expected("a name in quotes, or }", t))
}

func (p *cufileParser) array(n *cufileNode) bool {
	p.blanks()
	if p.at < len(p.text) && p.text[p.at] == ']' {
		p.at++
		return true
	}
	for {
		var v cufileNode
		if !p.value(&v) {
			if p.bad.at < len(p.text) && p.text[p.bad.at] == ']' && strings.HasPrefix(p.bad.why, "] where a value") {
				p.bad.why = "a comma before ], or a comment in an empty list"
			}
			return false
		}
		n.list = append(n.list, v)
		t := p.token()
		for t.kind == 'c' {
			t = p.token()
		}
		switch t.kind {
		case ']':
			return true
		case ',':
		default:
			return p.fail(t.from, p.expected("a comma or ]", t))
		}
	}
}

// number decodes a token of a number: whole ones of up to 64 bits, others as the C++ library reads a double.
func (p *cufileParser) number(n *cufileNode, t cufileToken) bool {
	n.text = p.text[t.from:t.to]
	digits, neg := strings.CutPrefix(n.text, "-")
	if strings.Trim(digits, "0123456789") == "" {
		v, err := strconv.ParseUint("0"+digits, 10, 64) // "-" alone is 0
		if err == nil && (!neg || v <= 1<<63) {
			n.whole, n.neg, n.n = true, neg && v > 0, v
			return true
		}
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil {
		return p.fail(t.from, short(n.text)+" is no number")
	}
	n.real = f
	return true
}

// expected words a complaint about the token that came instead.
func (p *cufileParser) expected(what string, t cufileToken) string {
	got := ""
	switch {
	case t.kind == 'e':
		return "the text ends where " + what + " belongs"
	case t.kind == 'c':
		got = "a comment"
	case strings.HasPrefix(p.text[t.from:], "\xef\xbb\xbf"):
		got = "a byte order mark"
	case p.text[t.from] == '#':
		return "#, which begins no comment here"
	case t.kind == 'x' && strings.HasPrefix(p.text[t.from:], "/*"):
		return "a comment without an end"
	case t.kind == 'x' && p.text[t.from] == '"':
		return "a string without an end"
	case t.kind == 's':
		got = "a string"
	default:
		got = p.text[t.from:min(t.to, t.from+20)]
		if c := p.text[t.from]; c < ' ' || c >= 0x7f {
			got = strconv.QuoteToASCII(p.text[t.from : t.from+1])
		}
	}
	return got + " where " + what + " belongs"
}

func short(s string) string {
	if len(s) <= 40 {
		return s
	}
	return s[:40] + "…"
}
