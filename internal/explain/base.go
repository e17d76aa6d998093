// Package explain answers what a word, a number or a line means, from the profile's rows of knowledge and the
// registry of checks. Whole logs are folded in a stream: a row of knowledge, a process and a day is one group.
package explain

import (
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/profile"
)

// Base is the knowledge, ready to be searched.
type Base struct {
	entries []profile.Entry
	names   map[string][]int // in the form of normal()
	words   []string         // all names and ids of checks, as written, for suggestions
	lines   *matcher
}

// New makes a base of a profile.
func New(p *profile.Profile) (*Base, error) {
	entries, err := p.Entries()
	if err != nil {
		return nil, err
	}
	b := &Base{entries: entries, names: map[string][]int{}}
	for i := range entries {
		e := &entries[i]
		b.name(i, e.ID)
		for _, n := range e.Names {
			b.name(i, n)
			b.words = append(b.words, n)
		}
		// Of properties.allow_compat_mode people write the last part.
		if e.Kind == profile.KindKey {
			for _, n := range e.Names {
				if at := strings.LastIndexByte(n, '.'); at >= 0 {
					b.name(i, n[at+1:])
					b.words = append(b.words, n[at+1:])
				}
			}
		}
	}
	for _, c := range check.All() {
		b.words = append(b.words, c.ID)
	}
	b.lines = newMatcher(entries)
	return b, nil
}

func (b *Base) name(i int, word string) {
	n := normal(word)
	for _, have := range b.names[n] {
		if have == i {
			return
		}
	}
	b.names[n] = append(b.names[n], i)
}

// Entries are all rows, in the order of the files.
func (b *Base) Entries() []profile.Entry { return b.entries }

// normal is a word as it is compared: without case, quotes and what pastes leave around it.
func normal(s string) string {
	s = strings.TrimLeft(strings.TrimSpace(s), "\"'`([{<>| \t")
	s = strings.TrimRight(s, "\"'`)]}>,;:= \t.")
	return strings.ToLower(strings.Join(strings.Fields(s), " "))
}
