package facts

import (
	"strconv"
	"strings"
)

// The reader of lnetctl's output is a label scanner of our own and no YAML library. What people hand in is
// seldom the whole document: it is cut, grepped, quoted, its indentation squeezed or its line breaks lost. Of
// such text a YAML parser reads nothing at all (goccy/go-yaml v1.19.2: a flattened, TAB-indented, grepped or
// quoted listing is an error, and all of it is lost), or reads it wrongly: cut inside "send_count: 217" it
// returns 21 without a word. It takes twenty times as long, too (BenchmarkLNet). lnetctl's own
// printer is no YAML emitter up to 2.15 (liblnetconfig's cyaml.c), and its errors have plain lines in front. A
// label and the value behind it survive all of that.
//
// Nothing here depends on a line's number, its indentation or the order of the labels. Only two things make a
// label mean one thing or another: the section it stands in (put: of sent_stats or of dropped_stats) and the
// interface that was named last.

// lnetLabel names what stands before a colon.
type lnetLabel uint8

const (
	lnetOther lnetLabel = iota // a label that nobody asks for
	lnetBreak                  // a line without any label: an ellipsis, grep's "--", a prompt
	lnetIndex                  // a bare number: "0: efa_0" below interfaces

	lnetDocNet
	lnetDocPeer
	lnetDocElse // route, routing, global, udsp: what follows belongs to no interface
	lnetNetType
	lnetLocalNIs
	lnetNID
	lnetStatus
	lnetInterfaces
	lnetStatistics
	lnetSent
	lnetReceived
	lnetDropped
	lnetHealthStats
	lnetTunables
	lnetUDSPInfo
	lnetSendCount
	lnetRecvCount
	lnetDropCount
	lnetPut
	lnetGet
	lnetReply
	lnetAck
	lnetHello
	lnetFatal
	lnetHealth
	lnetInterrupts
	lnetHealthDropped
	lnetAborted
	lnetNoRoute
	lnetTimeouts
	lnetHealthError
	lnetPingCount
	lnetNextPing
	lnetPeerTimeout
	lnetPeerCredits
	lnetPeerBuffers
	lnetCredits
	lnetConnsPerPeer
	lnetNQPs
	lnetNetPriority
	lnetNIDPriority
	lnetDevCPT
	lnetCPT

	lnetPrimaryNID
	lnetMultiRail
	lnetPeerNIs
	lnetPeerState
	lnetPeerTimedOut
	lnetPeerNetTimedOut

	lnetIdx
	lnetSrc
	lnetDst
	lnetRte
	lnetPriority

	lnetErrno
	lnetDescr

	lnetMsgsAlloc // the first key of "stats show"; the others are told apart by name there
)

// lnetLabelMax is longer than the longest label plus the squeezed blanks of a bad paste.
const lnetLabelMax = 48

// lnetScan walks over the labels of a text.
type lnetScan struct {
	text       string
	pos        int
	start, eol int // of the line that pos stands in
	closed     int // before this place, a value of a last line without its line break cannot have been cut

	label lnetLabel
	name  string // the label's words
	value string // what stands behind it, without quotes; "" if nothing does
	whole bool   // the value cannot have been cut by the end of the text
	line  int    // where the label's line begins
}

func newLNetScan(text string) lnetScan {
	// Web pages and mail programs indent with no-break blanks. Two bytes for two: places stay what they are.
	if strings.Contains(text, "\u00a0") {
		text = strings.ReplaceAll(text, "\u00a0", "  ")
	}
	s := lnetScan{text: text, eol: -1, closed: len(text)}
	// A last line without its line break may have been cut at any byte, in the middle of a number too. What
	// another label follows was not.
	if last := strings.LastIndexByte(text, '\n') + 1; last < len(text) {
		s.closed = last + max(strings.LastIndex(text[last:], ": "), 0)
		if text[len(text)-1] == ':' {
			s.closed = len(text) - 1
		}
	}
	return s
}

// next finds the next label, or a line that has none. Each byte is looked at a fixed number of times.
func (s *lnetScan) next() bool {
	for s.pos < len(s.text) {
		if s.pos > s.eol {
			s.start, s.eol = s.pos, len(s.text)
			if i := strings.IndexByte(s.text[s.pos:], '\n'); i >= 0 {
				s.eol = s.pos + i
			}
		}
		rest := s.text[s.pos:s.eol]
		colon, label, name := lnetFindLabel(rest, false)
		if colon < 0 {
			first := s.pos == s.start
			s.pos = s.eol + 1
			if first && lnetBreaks(rest) {
				s.label, s.name, s.value, s.whole, s.line = lnetBreak, "", "", true, s.start
				return true
			}
			continue
		}
		s.label, s.name, s.line = label, name, s.start
		s.pos += colon + 1
		s.readValue(s.text[s.pos:s.eol])
		return true
	}
	return false
}

// readValue takes the value behind a label and leaves pos behind it. A value is one word or a quoted string.
func (s *lnetScan) readValue(rest string) {
	s.value, s.whole = "", true
	body := strings.TrimLeft(rest, " \t\r")
	at := len(rest) - len(body)
	// libyaml (2.16+) tags strings: descr: ! "Network is down"
	if t := strings.TrimLeft(strings.TrimPrefix(body, "!"), " \t"); len(t) < len(body) && t != "" && (t[0] == '"' || t[0] == '\'') {
		at += len(body) - len(t)
		body = t
	}
	if body == "" {
		return
	}
	if q := body[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(body[1:], q)
		if end < 0 { // cut inside, or wrapped over two lines: not a value
			s.pos = s.eol
			return
		}
		s.value = body[1 : 1+end]
		s.pos += at + end + 2
		return
	}
	// Line breaks may be lost: "statistics: send_count: 3". A label behind a label means no value.
	ahead, label, _ := lnetFindLabel(body, true)
	if ahead >= 0 && label != lnetOther {
		return
	}
	end := strings.IndexAny(body, " \t\r")
	if end < 0 {
		end = len(body)
	}
	if body[end-1] == ':' { // a label that nobody asks for, or nonsense
		if strings.IndexByte(body[:end-1], ':') >= 0 {
			s.pos += at + end
		}
		return
	}
	s.value = body[:end]
	s.pos += at + end
	s.whole = s.pos < s.closed || s.eol < len(s.text)
}

// lnetFindLabel finds the first colon that ends a label, and which one. The colons of "eth0:0" and of IPv6
// addresses end none. Blanks behind a colon may have been lost: "send_count:5" is taken if the label is known;
// strict does not.
func lnetFindLabel(s string, strict bool) (colon int, label lnetLabel, name string) {
	head := strings.TrimLeft(s, " \t\r>-*|")
	off := len(s) - len(head)
	near := head
	if strict { // only a known label counts
		near = head[:min(len(head), lnetLabelMax)]
	}
	for from := 0; ; {
		i := strings.IndexByte(near[from:], ':')
		if i < 0 {
			return -1, lnetOther, ""
		}
		i += from
		blank := i+1 == len(head) || head[i+1] == ' ' || head[i+1] == '\t' || head[i+1] == '\r'
		if blank || !strict {
			label, name = lnetClassify(head[:i])
			if blank || label > lnetIndex || label == lnetIndex && lnetLetter(head[i+1]) {
				return off + i, label, name
			}
		}
		from = i + 1
	}
}

func lnetLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// lnetClassify names a label; blanks inside it may be squeezed TABs or runs.
func lnetClassify(s string) (lnetLabel, string) {
	if len(s) > lnetLabelMax {
		return lnetOther, ""
	}
	s = strings.TrimRight(s, " \t\r")
	if strings.IndexByte(s, '\t') >= 0 || strings.Contains(s, "  ") {
		s = strings.Join(strings.Fields(s), " ")
	}
	if s == "" {
		return lnetOther, ""
	}
	if l, ok := lnetWords[s]; ok {
		return l, s
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return lnetOther, s
		}
	}
	return lnetIndex, s
}

// lnetBreaks tells whether a line without a label means that something may be missing there. Notes and fences
// do not.
func lnetBreaks(line string) bool {
	line = strings.Trim(line, " \t\r>")
	return line != "" && line[0] != '#' && !strings.HasPrefix(line, "```")
}

// lnetOpenEnd tells whether the end of the text may have cut something off: it does not end with a line break,
// nor with what only stands behind the last value.
func lnetOpenEnd(text string) bool {
	if text == "" || strings.HasSuffix(text, "\n") {
		return false
	}
	last := strings.Trim(text[strings.LastIndexByte(text, '\n')+1:], " \t\r>")
	return last != "" && last != "..." && last != "```" && !strings.HasSuffix(last, `"`)
}

// lnetUint reads a counter. Reports print counters with separators of thousands; lnetctl does not.
func lnetUint(s string) (uint64, bool) {
	if strings.IndexByte(s, ',') > 0 {
		groups := strings.Split(s, ",")
		for i, g := range groups {
			if len(g) != 3 && (i > 0 || len(g) > 3) {
				return 0, false
			}
		}
		s = strings.Join(groups, "")
	}
	v, err := strconv.ParseUint(s, 10, 64)
	return v, err == nil
}

// lnetSetUint, lnetSetInt and lnetSetWord keep the first value of a label: what comes again below the same
// interface belongs to something whose name was lost.
func lnetSetUint(s *lnetScan, to *Opt[uint64]) {
	if !to.OK && s.whole {
		if v, ok := lnetUint(s.value); ok {
			*to = Some(v)
		}
	}
}

func lnetSetInt[T int | int64](s *lnetScan, to *Opt[T]) {
	if !to.OK && s.whole {
		if v, err := strconv.ParseInt(s.value, 10, 64); err == nil {
			*to = Some(T(v))
		}
	}
}

// lnetSetWord takes one of the words that lnetctl prints there. No word is the beginning of another, so a
// word at the very end of a text is not cut.
func lnetSetWord(s *lnetScan, to *Opt[string], words ...string) {
	for _, w := range words {
		if !to.OK && s.value == w {
			*to = Some(w)
		}
	}
}

// lnetSplitNID cuts a NID at its last @: the long forms of 2.16+ hold colons, and an address could hold an @.
func lnetSplitNID(s *lnetScan) (address, net string, ok bool) {
	i := strings.LastIndexByte(s.value, '@')
	if !s.whole || i <= 0 || i == len(s.value)-1 {
		return "", "", false
	}
	return s.value[:i], s.value[i+1:], true
}
