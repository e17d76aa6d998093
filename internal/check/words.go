package check

import (
	"fmt"
	"strings"

	"gdsproof/internal/facts"
)

// List joins names and cuts a long list.
func List[T any](list []T, most int) string {
	var s []string
	for i, x := range list {
		if i == most {
			s = append(s, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		s = append(s, fmt.Sprint(x))
	}
	return strings.Join(s, ", ")
}

// LogLines are the known lines of trouble in a kernel log that a check judges, from the profile's signatures; lines
// that are only explained are no trouble.
func LogLines(log facts.KernelLog, rules []facts.Signature, id string) []facts.Hit {
	var mine []facts.Signature
	for _, s := range rules {
		if s.Check == id && s.Level != "info" {
			mine = append(mine, s)
		}
	}
	if len(mine) == 0 {
		return nil
	}
	return log.Hits(mine)
}

// QuoteHits turns known log lines into evidence, each with what it means.
func QuoteHits(source string, hits []facts.Hit) []Evidence {
	var out []Evidence
	for _, h := range hits {
		text := h.First.Text
		if h.First.Stamp != "" {
			text = "[" + h.First.Stamp + "] " + text
		}
		if h.Count > 1 {
			text += fmt.Sprintf(" (%d times)", h.Count)
		}
		out = append(out, Quote(source, text), Quote("meaning", h.Signature.Meaning+"; "+h.Signature.Remedy))
	}
	return out
}

// ShellQuote is a word as a shell takes it, whatever is in it: commands of fixes are pasted.
func ShellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// ShellWord is a word as a shell takes it, quoted only where that is needed.
func ShellWord(s string) string {
	if s == "" || strings.ContainsAny(s, " \t'\"$`\\;&|<>()*?[]{}~#!\n") {
		return ShellQuote(s)
	}
	return s
}
