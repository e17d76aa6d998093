package paste

import (
	"strings"
	"unicode/utf8"

	"gdsproof/internal/evidence"
)

// block is a run of lines of one output.
type block struct {
	f     *format // nil: not recognised
	cmd   *command
	lines []line
	first int      // number of its first line
	ended bool     // a prompt or another command stands behind it: the output was seen to its end
	cut   bool     // the text stops inside it
	holes bool     // the text leaves something out
	label int      // -1 before, 1 after, 0 neither
	name  string   // of the text
	host  string   // that the last prompt, heading or log-in before it names
	rank  string   // that a launcher put before each line: a machine's name, or a process of several
	typed *command // the last command before it, whether or not it prints this
	over  bool     // a heading behind that command names the machine
	quote bool     // an example, and no look at the node in question
	event bool     // no output: a command of which the place in time matters
	place evidence.Place
}

func (b *block) text() string {
	var s strings.Builder
	for _, l := range b.lines {
		s.WriteString(l.text)
		if l.whole {
			s.WriteByte('\n')
		}
	}
	return s.String()
}

// splitter walks through the lines of one text.
type splitter struct {
	name       string
	out        []*block
	cur        *block
	cmd        *command // whose output is expected
	label      int
	host       string // of the last prompt, heading or log-in that named one
	before     string // the host before a log-in
	typed      *command
	over       bool
	rank       string
	quoted     quoting
	quotedHost string
	fenced     bool
}

// split takes a text apart into outputs.
func split(name string, ls []line, cut bool) []*block {
	s := &splitter{name: name}
	for i := 0; i < len(ls); i++ {
		if ls[i].rank != s.rank {
			s.close(false)
			s.rank = ls[i].rank
		}
		if end, broken, ok := jsonAt(ls, i); ok && s.fresh(ls[i]) {
			s.json(ls[i:end], broken)
			i = end - 1
			continue
		}
		s.line(ls[i])
	}
	s.close(false)
	if n := len(s.out); n > 0 && (cut || len(ls) > 0 && !ls[len(ls)-1].whole) {
		s.out[n-1].cut = true
	}
	return s.out
}

// fresh tells that a line may begin an object: it is not in the middle of another output.
func (s *splitter) fresh(l line) bool {
	return s.cur == nil || s.cur.f == nil || s.cur.f.more == nil || !s.cur.f.more(l.text) || len(s.cur.lines) == 0 || l.text[0] == '{'
}

// json takes a whole object.
func (s *splitter) json(ls []line, broken bool) {
	cmd := s.cmd
	if s.cur != nil && s.cur.cmd == cmd && len(s.cur.lines) == 0 { // the command's own, empty so far
		s.out = s.out[:len(s.out)-1]
		s.cur = nil
	}
	s.close(false)
	s.cmd = cmd
	f := cufileFormat
	if !isCufile(ls) {
		f = nil
	}
	s.open(f, ls[0])
	s.cur.lines, s.cur.cut = ls, broken
	s.close(!broken)
}

func (s *splitter) line(l line) {
	text := strings.TrimRight(l.text, " \t")
	bare := strings.TrimSpace(text)
	// A line of the open output stays with it, whatever else it may look like; a log's lines are the common case.
	if s.cur != nil && s.cur.f != nil && s.cur.f.is(l.text) && !(s.cur.f.again != nil && s.repeats(l.text)) {
		s.add(l)
		return
	}
	if strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") {
		s.close(s.fenced) // the closing fence ends an output
		s.fenced = !s.fenced
		s.typed = nil
		return
	}
	if waiting.MatchString(l.text) {
		s.close(true)
		s.typed = nil
		return
	}
	if c := commandLine(l); c != nil {
		s.close(true)
		s.quote(bare, false, true, c.host)
		s.typedOn(c)
		s.expect(c)
		return
	}
	if cell(bare) {
		s.close(false)
		s.open(nil, l)
		s.add(l)
		return
	}
	if f := s.recognise(l.text); f != nil {
		s.quote(bare, false, true, "")
		if s.cur != nil && s.cur.f != nil && s.cur.f != f && s.cur.f.more != nil && f.weak != nil && f.weak(l.text) && s.cur.f.more(l.text) {
			s.add(l)
			return
		}
		if s.cur == nil || s.cur.f != f || f.again != nil && s.repeats(l.text) {
			s.close(s.cur != nil && s.cur.f != nil && s.cur.f != f)
			s.open(f, l)
		}
		s.add(l)
		return
	}
	s.quote(bare, l.text != "" && (l.text[0] == ' ' || l.text[0] == '\t'), false, "")
	if host := s.headingHost(l.text); host != "" {
		s.close(false)
		s.host, s.over = host, true
		s.label, _ = labelOf(bare)
		return
	}
	if elided(bare) {
		if s.cur != nil {
			s.cur.holes = true
		}
		return
	}
	if s.cur != nil && s.cur.f != nil && s.cur.f.more != nil && s.cur.f.more(l.text) && !heading(bare) {
		s.add(l)
		return
	}
	if label, ok := labelOf(bare); ok && (heading(bare) || startsWithLabel(bare)) {
		s.close(false)
		s.label = label
		return
	}
	if bare == "" {
		if s.cur != nil && s.cur.f == nil {
			s.cur.lines = append(s.cur.lines, l)
		}
		return
	}
	if heading(bare) {
		s.close(false)
		s.label = 0
		return
	}
	// What an expected command printed and no recogniser knows: words of systemctl is-active, a bare count.
	if s.cmd != nil && s.cmd != s.curCmd() {
		if f := s.wanted(); f != nil {
			s.open(f, l)
			s.add(l)
			return
		}
	}
	if s.cur != nil && s.cur.f != nil && s.cur.cmd != nil && s.cur.cmd == s.cmd && s.cmd != nil && s.cur.f.wants != nil && s.cur.f.wants(s.cmd) {
		s.add(l)
		return
	}
	if s.cur == nil || s.cur.f != nil {
		s.close(false)
		s.open(nil, l)
	}
	s.add(l)
}

func (s *splitter) curCmd() *command {
	if s.cur == nil {
		return nil
	}
	return s.cur.cmd
}

// expect notes a command. One that printed nothing before the next is an answer too.
func (s *splitter) expect(c *command) {
	s.cmd = c
	if c.marks() {
		s.out = append(s.out, &block{event: true, cmd: c, typed: c, first: c.no, name: s.name, host: s.host, rank: s.rank, label: s.label, quote: s.quoted == quoteNow})
	}
	if c.silent {
		s.cmd = nil
		return
	}
	if strings.HasPrefix(c.program(), "echo") {
		if label, ok := labelOf(c.text); ok {
			s.label = label
		}
		s.cmd = nil
		return
	}
	if f := s.wanted(); f != nil {
		s.open(f, line{no: c.no})
	}
}

// wanted is the format that the expected command prints.
func (s *splitter) wanted() *format {
	for _, f := range commandFormats {
		if f.wants(s.cmd) {
			return f
		}
	}
	for _, f := range formats {
		if f.wants != nil && f.wants(s.cmd) {
			return f
		}
	}
	return nil
}

// recognise finds the format of a line that is not of the open block.
func (s *splitter) recognise(text string) *format {
	if s.cur != nil && s.cur.f != nil && s.cur.f.is(text) {
		return s.cur.f
	}
	if text == "" {
		return nil
	}
	for _, f := range formats {
		if f.is(text) {
			return f
		}
	}
	return nil
}

// repeats tells that a line begins what the open block has begun already. The same line twice in a row is a
// double, not a beginning.
func (s *splitter) repeats(text string) bool {
	key := leadOf(text)
	if !s.cur.f.again(text) {
		return false
	}
	for i, l := range s.cur.lines {
		if leadOf(l.text) == key && s.cur.f.again(l.text) {
			return !(i == len(s.cur.lines)-1 && l.text == text)
		}
	}
	return false
}

// leadOf is what a line is known by: its label.
func leadOf(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, ":=("); i > 0 {
		return strings.TrimSpace(s[:i])
	}
	return s
}

func (s *splitter) open(f *format, l line) {
	s.cur = &block{f: f, cmd: s.cmd, first: l.no, label: s.label, name: s.name, host: s.host, rank: s.rank, typed: s.typed, over: s.over, quote: s.quoted == quoteNow}
	s.out = append(s.out, s.cur)
}

func (s *splitter) add(l line) {
	if s.cur.first == 0 {
		s.cur.first = l.no
	}
	if strings.HasSuffix(l.text, "…") || strings.HasSuffix(l.text, "...") && !strings.Contains(l.text, "://") {
		s.cur.holes = true
	}
	s.cur.lines = append(s.cur.lines, l)
}

// close ends the open block. ended tells that what stands behind shows it to be whole.
func (s *splitter) close(ended bool) {
	if s.cur == nil {
		return
	}
	s.cur.ended = ended && s.cmd != nil && s.cur.cmd == s.cmd
	if ended && s.cur.cmd == nil && s.cur.f != nil {
		s.cur.ended = true
	}
	s.cur = nil
	s.cmd = nil
}

// cell knows a row of a table in Markdown, of which the first column may show a line of an output to explain it.
func cell(bare string) bool { return strings.HasSuffix(bare, " |") || strings.HasPrefix(bare, "| ") }

// elided knows a line that stands for lines that were left out.
func elided(s string) bool {
	switch strings.ToLower(strings.Trim(s, "[]<>()# ")) {
	case "…", "...", "....", "snip", "…snip…", "...snip...", "truncated", "cut", "etc.", "and so on":
		return true
	}
	return false
}

// heading knows a line that parts outputs: rules with words, Markdown heads.
func heading(s string) bool {
	if utf8.RuneCountInString(s) > 100 || strings.Trim(s, "=-_*~") == "" { // a bare rule parts nothing by itself
		return false
	}
	for _, p := range []string{"---", "===", "***", "###", "# ", "## ", "==>", ">>>", "~~~~", "___"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
