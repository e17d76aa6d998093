package paste

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
)

// typedOn notes a command and the machine that it was typed on.
func (s *splitter) typedOn(c *command) {
	s.typed, s.over = c, false
	if c.host != "" {
		s.host = c.host
	}
	switch p := c.program(); {
	case c.remote.login && c.remote.host != "":
		s.before, s.host = s.host, c.remote.host
	case (p == "exit" || p == "logout") && c.host == "" && s.before != "":
		s.host, s.before = s.before, ""
	}
}

var (
	nodeTitle = regexp.MustCompile(`(?i)^(?:(?:output|outputs|stats|counters|results?|logs?)?\s*(?:on|from|of|at)\s+)?(?:the\s+)?(?:node|host|hostname|server|machine|instance|worker|client)s?\s*[:#=]?\s*(\S+)$`)
	onTitle   = regexp.MustCompile(`(?i)^(?:(?:output|outputs|stats|counters|results?|logs?)\s+)?(?:on|from)\s+(\S+)$`)
	kindTitle = regexp.MustCompile(`(?i)^(?:the\s+)?(good|bad|working|broken|healthy|faulty|failing|other|second|first|slow|fast|passing)\s+(?:node|host|server|machine|instance|worker|client|one)$`)
	// ansible's "gpu-1 | CHANGED | rc=0 >>", pssh's "[1] 09:11:06 [SUCCESS] gpu-1", clush's own line between two rules.
	ansibleTitle = regexp.MustCompile(`^(\S+) \| (?:CHANGED|SUCCESS|FAILED|UNREACHABLE)\b`)
	psshTitle    = regexp.MustCompile(`^\[\d+\] \d\d:\d\d:\d\d \[(?:SUCCESS|FAILURE)\] (\S+)`)
	orderTitle   = regexp.MustCompile(`(?i)\b(?:before|after|pre|post|first|second)\b`)
)

// headingHost is the machine that a heading names, "" for any other line.
func (s *splitter) headingHost(text string) string {
	if text == "" || text[0] == ' ' || text[0] == '\t' || len(text) > 100 {
		return ""
	}
	for _, re := range []*regexp.Regexp{ansibleTitle, psshTitle} {
		if m := re.FindStringSubmatch(text); m != nil {
			return hostName(m[1])
		}
	}
	bare := strings.TrimSpace(text)
	marked := heading(bare)
	t := strings.TrimSpace(strings.Trim(bare, "#=-*_~[]<>: "))
	if !marked && strings.TrimRight(bare, ":") == bare && strings.Trim(bare, "[]") == bare && !nodeTitle.MatchString(t) {
		return ""
	}
	if m := kindTitle.FindStringSubmatch(t); m != nil {
		return strings.ToLower(m[1]) + " one"
	}
	if i := strings.IndexByte(t, '('); i > 0 {
		t = strings.TrimSpace(t[:i])
	}
	t = strings.Trim(strings.Join(strings.Fields(orderTitle.ReplaceAllString(t, "")), " "), ":,- ")
	m := nodeTitle.FindStringSubmatch(t)
	if m == nil {
		m = onTitle.FindStringSubmatch(t)
		if m != nil && !machineLike(m[1]) {
			m = nil
		}
	}
	if m == nil && machineLike(t) && (marked || strings.HasSuffix(bare, ":") || strings.HasPrefix(bare, "[")) {
		m = []string{t, t}
	}
	if m == nil || strings.ContainsAny(m[1], "/=|\\()") {
		return ""
	}
	if n := hostName(strings.Trim(m[1], ":")); n != "" && !slices.Contains([]string{"is", "has", "was", "shows", "name", "type", "count", "info", "status", "config", "configuration"}, n) {
		return n
	}
	return ""
}

// parts are what headings number besides machines.
var parts = regexp.MustCompile(`(?i)^(?:step|phase|run|test|part|section|gpu_?\d|pass|round|iter|case|exam|efa_?\d|rdma|mlx|nvme\d|eth\d|en[sp]\d|ib\d|ost|mdt|v\d|write|read|snap|sample|look|tab|fig|app|chap|log|out|stat|gds|x\d|job|try|attempt|cufile|cuda|fsx|utf|sha|md\d)`)

// machineLike tells a name that machines have: letters and a number, in one word.
func machineLike(s string) bool {
	if len(s) < 3 || len(s) > 64 || parts.MatchString(s) || strings.ContainsAny(s, " \t/=|:()@%,") {
		return false
	}
	letters, digits, hyphen := 0, 0, strings.ContainsRune(s, '-')
	for _, r := range s {
		switch {
		case unicode.IsLetter(r) && r < unicode.MaxASCII:
			letters++
		case unicode.IsDigit(r):
			digits++
		case r != '-' && r != '.' && r != '_':
			return false
		}
	}
	return address.MatchString(s) || letters >= 2 && digits > 0 && (hyphen || unicode.IsDigit(rune(s[len(s)-1])))
}

// machine is the machine that a block is of: "" where nothing names it. sure is false where it was run somewhere that
// is not told: it is of no known machine, and no two of them are of the same.
func (b *block) machine() (name string, elsewhere, sure bool) {
	switch {
	case b.rank != "":
		return b.rank, true, true
	case b.over || b.typed == nil || !b.typed.remote.is || b.typed.remote.login:
		return b.host, false, true
	case b.typed.remote.host == "":
		return "a machine that is not named", true, false
	case b.typed.remote.host == b.host:
		return b.host, false, true
	}
	return b.typed.remote.host, true, true
}

// ofRanks takes the processes of a launcher for machines only where several of them show the machine's own counters:
// those of one machine run side by side.
func ofRanks(all []placed) {
	looks := map[string]bool{}
	for _, p := range all {
		if isRank(p.b.rank) && p.b.counters() {
			looks[p.b.rank] = true
		}
	}
	if len(looks) < 2 {
		for _, p := range all {
			if isRank(p.b.rank) {
				p.b.rank = ""
			}
		}
	}
}

func isRank(s string) bool { return strings.HasPrefix(s, "process ") }

// counters tells a look at counters of the whole machine.
func (b *block) counters() bool {
	if b.f == nil || b.f.source == nil || len(b.lines) == 0 {
		return false
	}
	switch b.f.source(b) {
	case facts.NVFSProc + "/stats", facts.LNetSource, facts.LNetCountsSource, facts.EFACountersSource:
		return true
	}
	return false
}

// partMachines keeps what several machines printed apart: counters of one before and of another after are no window,
// and settings of one explain nothing on another. The one with the most outputs is judged; the names of all are
// returned, that one first. Examples are of no machine at all.
func partMachines(all []placed) []string {
	ofRanks(all)
	names := make([]string, len(all))
	local, count := map[string]bool{}, map[string]int{}
	var order []string
	elsewhere := false
	for i, p := range all {
		name, away, sure := p.b.machine()
		names[i] = name
		if p.b.quote || p.b.event {
			continue
		}
		if !sure && p.b.f != nil { // two looks of this kind are no pair
			all[i].series = fmt.Sprintf("%sline %d of %s", evidence.Alone, p.b.first, p.b.name)
		}
		if !p.b.gives() {
			continue
		}
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
		count[name]++
		if !away && name != "" {
			local[name] = true
		}
		elsewhere = elsewhere || away
	}
	// What stands before the first prompt that names a machine is of that machine, if there is but one.
	if len(local) == 1 && count[""] > 0 {
		for l := range local {
			for i := range names {
				if names[i] == "" {
					names[i] = l
				}
			}
			count[l] += count[""]
			order = slices.DeleteFunc(order, func(s string) bool { return s == "" })
		}
	}
	judged := ""
	for i, n := range order {
		if i == 0 || count[n] > count[judged] {
			judged = n
		}
	}
	for i := range all {
		b := all[i].b
		switch {
		case b.quote:
			b.place, all[i].series = evidence.Example, evidence.Alone+"example "+all[i].series
		case len(order) > 1:
			if !strings.HasPrefix(all[i].series, evidence.Alone+"line ") {
				all[i].series = evidence.Alone + "host " + names[i] + " " + all[i].series
			}
			if names[i] != judged {
				b.place = evidence.Elsewhere(machineName(names[i]))
			}
		}
	}
	if len(order) > 1 {
		rest := slices.DeleteFunc(slices.Clone(order), func(s string) bool { return s == judged })
		order = append([]string{judged}, rest...)
	}
	for i, n := range order {
		order[i] = machineName(n)
	}
	return order
}

// machineName is for people: the machine on which was typed what names no other may have no name.
func machineName(s string) string {
	if s == "" {
		return "the one whose prompt names none"
	}
	return s
}

// gives tells that a block becomes an item.
func (b *block) gives() bool {
	if _, failed := b.failure(); failed {
		return true
	}
	if b.f == nil || b.f.source == nil {
		return false
	}
	for _, l := range b.lines {
		if strings.TrimSpace(l.text) != "" {
			return true
		}
	}
	return b.ended && b.cmd != nil && len(b.cmd.filter) > 0
}
