// Package render prints reports: one file a format. Text that came from a machine or a paste is shown and never
// obeyed: control characters are made visible before anything is printed.
package render

import (
	"fmt"
	"strings"
	"unicode"
)

// Clean makes text safe for a terminal: escapes, other controls and marks that turn the direction of reading are
// replaced by their names. Line breaks and TABs stay.
func Clean(s string) string {
	if !strings.ContainsFunc(s, unsafe) {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case !unsafe(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func unsafe(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case unicode.IsControl(r):
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c, r == 0x2028, r == 0x2029, r == 0xfeff:
		return true
	}
	return false
}

// line is Clean for one line: breaks become blanks.
func line(s string) string {
	return strings.Join(strings.Fields(Clean(s)), " ")
}
