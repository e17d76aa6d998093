package paste

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a text shows as an example is no look at the node in question: an expected output, a page of a guide, what a
// healthy machine prints. Words before it say so, and what the author says of the own node ends it.
type quoting int

const (
	ownWords  quoting = iota
	quoteSoon         // words that introduce an example were read: it is one if an output follows at once
	quoteNow
)

var (
	exampleWords = []string{"expected", "example", "examples", "sample", "expect", "예시", "예상", "例", "示例", "beispiel", "erwartet"}
	pageWords    = []string{"docs", "doc", "documentation", "guide", "tutorial", "blog", "manual", "readme", "handbook", "wiki", "article", "reference"}
	ownerWords   = []string{"our", "ours", "my", "mine", "we", "i", "actual", "actually", "here", "instead", "but", "however", "got", "get", "real", "this", "now", "me", "us", "wir", "unser", "mein"}
	exampleSays  = []string{"should look", "should see", "would see", "should print", "should show", "should be like", "would look", "looks like this on", "output looks like", "will look like", "you will see", "you see something like", "for reference"}
	notExample   = []string{"as expected", "than expected", "not expected", "expected to", "unexpected", "for example,"}
)

func plainWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
}

func anyOf(words, of []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(of, w) })
}

// introducesExample tells that the outputs behind a line are somebody's example.
func introducesExample(bare string) bool {
	title, short := isTitle(bare)
	if !title && !short {
		return false
	}
	low := strings.ToLower(bare)
	if hasAny(low, notExample...) {
		return false
	}
	w := plainWords(bare)
	if anyOf(w, exampleWords) {
		return true
	}
	return title && (anyOf(w, pageWords) && !anyOf(w, ownerWords) || hasAny(low, exampleSays...))
}

// speaksOfOwn tells that the outputs behind a line are the author's own.
func speaksOfOwn(bare string) bool {
	w := plainWords(bare)
	if anyOf(w, exampleWords) {
		return false
	}
	title, _ := isTitle(bare)
	if anyOf(w, ownerWords) && (title || len(w) > 2) {
		return true
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(bare, "#=-* "))
	return title && len(w) > 0 && len(w) <= 5 && unicode.IsUpper(first) && !anyOf(w, pageWords) && !hasOrder(w)
}

func hasOrder(w []string) bool {
	return slices.ContainsFunc(w, func(s string) bool { return orderWords[s] != 0 })
}

// isTitle tells a line that introduces what follows; short one that may, as it is no sentence.
func isTitle(bare string) (title, short bool) {
	if n := utf8.RuneCountInString(bare); n == 0 || n > 200 {
		return false, false
	}
	end, _ := utf8.DecodeLastRuneInString(bare)
	title = strings.ContainsRune(":：", end) || heading(bare)
	return title, !strings.ContainsRune(".!?。;,", end) && len(strings.Fields(bare)) <= 12 && !strings.Contains(bare, "|")
}

// quote follows the words around outputs; output tells that a line belongs to an output or is a command.
func (s *splitter) quote(bare string, indentedLine, output bool, host string) {
	switch {
	case output:
		switch {
		case s.quoted == quoteSoon:
			s.quoted, s.quotedHost = quoteNow, host
		case s.quoted == quoteNow && host != "" && host != s.quotedHost:
			s.quoted = ownWords // the author's own prompt
		}
	case bare == "" || indentedLine || strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~"):
	case introducesExample(bare):
		if s.quoted != quoteNow {
			s.quoted = quoteSoon
		}
	case s.quoted != ownWords && speaksOfOwn(bare):
		s.quoted = ownWords
	case s.quoted == quoteSoon:
		if _, ok := labelOf(bare); !ok && len(plainWords(bare)) > 0 {
			s.quoted = ownWords
		}
	}
}
