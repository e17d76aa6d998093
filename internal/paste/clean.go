package paste

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// mostBytes is how much of one text is read; what lies behind it counts as cut off.
const mostBytes = 32 << 20

// mostLine is how long a line may be: no line of any known output comes near it.
const mostLine = 64 << 10

// line is one line of a text, freed of what terminals, mail and chat put around it.
type line struct {
	rank  string // see block
	text  string
	no    int  // of the text, from 1
	whole bool // it has an end: a last line without one may be cut
}

// ansi are the sequences of a terminal: colours, moves, titles.
var ansi = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]|\x1b[=>78cDEHMNO]`)

// launched is what mpirun puts before each line: "[1,0]<stdout>:".
var launched = regexp.MustCompile(`^(?:\[\d+,(\d+)\]<std(?:out|err)>: ?|\[(\d+)\]: )`)

// lines takes a text apart. cut tells that it goes on behind mostBytes.
func lines(data []byte) (out []line, cut bool) {
	if len(data) > mostBytes {
		data, cut = data[:mostBytes], true
	}
	data = decode(data)
	if bytes.IndexByte(data, 0x1b) >= 0 {
		data = ansi.ReplaceAll(data, nil)
	}
	no, blank := 0, 0
	out = make([]line, 0, min(len(data)/16, 1<<16)+1)
	for len(data) > 0 {
		raw, rest, found := bytes.Cut(data, []byte("\n"))
		data = rest
		no++
		if len(raw) > mostLine {
			raw = raw[:mostLine]
		}
		// Two blank lines in a row say what a thousand do.
		if len(raw) > 0 {
			blank = 0
		} else if blank++; blank > 2 {
			continue
		}
		l := line{no: no, whole: found}
		l.text, l.rank = tidy(string(raw))
		out = append(out, l)
	}
	if cut && len(out) > 0 {
		out[len(out)-1].whole = false
	}
	unquote(out)
	unprefix(out)
	undress(out)
	return out, cut
}

// decode makes UTF-8 of UTF-16 with a byte order mark, as some terminals' logs are, and drops NULs.
func decode(b []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		b = b[3:]
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		order = binary.BigEndian
	}
	if order != nil {
		u := make([]uint16, 0, len(b)/2)
		for i := 2; i+1 < len(b); i += 2 {
			u = append(u, order.Uint16(b[i:]))
		}
		b = []byte(string(utf16.Decode(u)))
	}
	if bytes.IndexByte(b, 0) >= 0 {
		b = bytes.ReplaceAll(b, []byte{0}, nil)
	}
	return b
}

// tidy drops what is at the ends of a line and is not of the program that printed it.
func tidy(s string) (text, rank string) {
	if i := strings.LastIndexByte(strings.TrimRight(s, "\r"), '\r'); i >= 0 {
		s = s[i+1:] // a progress line that was written over
	}
	s = strings.TrimRight(s, "\r\n")
	if m := launched.FindStringSubmatch(s); m != nil {
		s, rank = s[len(m[0]):], "process "+m[1]+m[2]
	}
	if strings.Contains(s, "\u00a0") {
		s = strings.ReplaceAll(s, "\u00a0", " ")
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	// **bold** of a whole line; a lone star is a bullet or a systemd mark.
	if t := strings.TrimSpace(s); len(t) > 4 && strings.HasPrefix(t, "**") && strings.HasSuffix(t, "**") && strings.Count(t, "**") == 2 {
		s = t[2 : len(t)-2]
	}
	if t := strings.TrimSpace(s); len(t) > 2 && t[0] == '`' && t[len(t)-1] == '`' && strings.Count(t, "`") == 2 {
		s = t[1 : len(t)-1]
	}
	return s, rank
}

// unquote drops the "> " of a mail where a run of lines has it; a lone ">" may be a shell's.
func unquote(ls []line) {
	for i := 0; i < len(ls); {
		j := i
		for j < len(ls) && strings.HasPrefix(ls[j].text, ">") {
			j++
		}
		if j-i >= 2 || j-i == 1 && len(ls) == 1 || j-i == 1 && !strings.Contains(ls[i].text, "$") && strings.HasPrefix(ls[i].text, "> ") {
			for k := i; k < j; k++ {
				t := ls[k].text
				for strings.HasPrefix(t, ">") {
					t = strings.TrimPrefix(strings.TrimPrefix(t, ">"), " ")
				}
				ls[k].text = t
			}
		}
		i = max(j, i+1)
	}
}
