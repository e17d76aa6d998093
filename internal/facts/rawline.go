package facts

import (
	"iter"
	"strings"
)

// rawLines walks a text line by line. A mail's or forum's quote marks ("> ") and the CR of a CRLF are taken off;
// the indentation behind them stays, since some sources mean something by it.
//
// whole is false for a last line that no newline ends: what it says may have been cut short, and a cut number is
// another valid number. A caller who knows that a text is complete puts the newline there before it is parsed.
func rawLines(b []byte) iter.Seq2[string, bool] {
	return func(yield func(line string, whole bool) bool) {
		rest := string(b)
		for rest != "" {
			line, next, whole := strings.Cut(rest, "\n")
			rest = next
			if !yield(unquote(strings.TrimSuffix(line, "\r")), whole) {
				return
			}
		}
	}
}

// unquote takes off quote marks, however deep. A mark is one only where a blank, another mark or nothing follows.
func unquote(line string) string {
	for {
		s := strings.TrimLeft(line, " \t")
		if !strings.HasPrefix(s, ">") {
			return line
		}
		s = s[1:]
		if s != "" && s[0] != ' ' && s[0] != '\t' && s[0] != '>' {
			return line
		}
		line = strings.TrimPrefix(s, " ")
	}
}
