package facts

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

func (p *cufileParser) blanks() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// next is the next byte, 0 at the end of the text; a NUL in the text ends it too.
func (p *cufileParser) next() byte {
	if p.at >= len(p.text) {
		return 0
	}
	p.at++
	return p.text[p.at-1]
}

func (p *cufileParser) token() cufileToken {
	p.blanks()
	t := cufileToken{from: p.at}
	c := p.next()
	t.kind = c
	ok := true
	switch c {
	case '{', '}', '[', ']', ',', ':':
	case '"':
		t.kind, ok = 's', p.skipString()
	case '/':
		t.kind, ok = 'c', p.skipComment()
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		t.kind = 'n'
		p.skipNumber()
	case 't':
		ok = p.word("rue")
	case 'f':
		ok = p.word("alse")
	case 'n':
		t.kind, ok = 'z', p.word("ull")
	case 0:
		t.kind = 'e'
	default:
		ok = false
	}
	if !ok {
		t.kind = 'x'
	}
	t.to = p.at
	return t
}

func (p *cufileParser) word(w string) bool {
	if !strings.HasPrefix(p.text[p.at:], w) {
		return false
	}
	p.at += len(w)
	return true
}

func (p *cufileParser) skipString() bool {
	for p.at < len(p.text) {
		switch p.next() {
		case '\\':
			p.next()
		case '"':
			return true
		}
	}
	return false
}

// skipComment: a comment of the second kind needs its end within the text; it makes no difference behind the first
// value, where nothing is looked at any more.
func (p *cufileParser) skipComment() bool {
	switch p.next() {
	case '*':
		if i := strings.Index(p.text[p.at:], "*/"); i >= 0 {
			p.at += i + 2
			return true
		}
		p.at = len(p.text)
	case '/':
		for p.at < len(p.text) {
			if c := p.next(); c == '\n' || c == '\r' {
				break
			}
		}
		return true
	}
	return false
}

func (p *cufileParser) skipNumber() {
	digits := func() {
		for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
			p.at++
		}
	}
	is := func(set string) bool { return p.at < len(p.text) && strings.IndexByte(set, p.text[p.at]) >= 0 }
	digits()
	if is(".") {
		p.at++
		digits()
	}
	if is("eE") {
		p.at++
		if is("+-") {
			p.at++
		}
		digits()
	}
}

// string decodes a string token. Any byte may stand in it, a newline too.
func (p *cufileParser) string(t cufileToken) (string, bool) {
	in := p.text[t.from+1 : t.to-1]
	if strings.IndexByte(in, '\\') < 0 {
		return in, true
	}
	var b strings.Builder
	for i := 0; i < len(in); i++ {
		if in[i] != '\\' {
			b.WriteByte(in[i])
			continue
		}
		i++
		if i == len(in) {
			return "", p.fail(t.from, "a string that ends in a backslash")
		}
		switch c := in[i]; c {
		case '"', '/', '\\':
			b.WriteByte(c)
		case 'b', 'f', 'n', 'r', 't':
			b.WriteByte("\b\f\n\r\t"[strings.IndexByte("bfnrt", c)])
		case 'u':
			r, used, ok := cufileRune(in[i+1:])
			if !ok {
				return "", p.fail(t.from, `a string with a bad \u in it`)
			}
			b.WriteString(r)
			i += used
		default:
			return "", p.fail(t.from, `a string with \`+strconv.QuoteToASCII(string(rune(c)))[1:2]+" in it")
		}
	}
	return b.String(), true
}

// cufileRune decodes what is behind \u. The first half of a pair must be followed by another; a second half alone
// is accepted.
func cufileRune(s string) (text string, used int, ok bool) {
	hex := func(s string) (rune, bool) {
		if len(s) < 4 || strings.Trim(s[:4], "0123456789abcdefABCDEF") != "" {
			return 0, false
		}
		v, err := strconv.ParseUint(s[:4], 16, 32)
		return rune(v), err == nil
	}
	r, ok := hex(s)
	if !ok {
		return "", 0, false
	}
	if r < 0xd800 || r > 0xdbff {
		return string(utf8.AppendRune(nil, r)), 4, true
	}
	if len(s) < 10 || s[4] != '\\' || s[5] != 'u' {
		return "", 0, false
	}
	low, ok := hex(s[6:])
	return string(utf8.AppendRune(nil, 0x10000+(r&0x3ff)<<10+low&0x3ff)), 10, ok
}
