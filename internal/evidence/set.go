package evidence

import (
	"strings"
	"time"
)

// Kind says what a set was filled from.
type Kind string

const (
	Live   Kind = "live"
	Sim    Kind = "sim"
	Bundle Kind = "bundle"
	Pasted Kind = "pasted"
)

// Set is all that is known about one node.
type Set struct {
	Kind      Kind       `json:"kind"`
	Simulated bool       `json:"simulated"` // also true in a bundle of a simulated node
	Boot      string     `json:"boot,omitempty"`
	Now       *time.Time `json:"now,omitempty"`
	Items     []Item     `json:"items"`
}

// Find returns the index of the first item with that place and source, or -1 if nobody looked. An item in
// state NotCollected counts as found: it says why nobody looked.
func (s *Set) Find(place Place, source string) int {
	for i := range s.Items {
		if s.Items[i].Place == place && s.Items[i].Source == source {
			return i
		}
	}
	return -1
}

// Prefix returns the indexes of the items at a place whose source begins with prefix.
func (s *Set) Prefix(place Place, prefix string) []int {
	var out []int
	for i := range s.Items {
		if s.Items[i].Place == place && strings.HasPrefix(s.Items[i].Source, prefix) {
			out = append(out, i)
		}
	}
	return out
}

// Without returns a copy of the set that lacks item i, as if nobody had looked.
func (s *Set) Without(i int) *Set {
	c := *s
	c.Items = make([]Item, 0, len(s.Items)-1)
	c.Items = append(c.Items, s.Items[:i]...)
	c.Items = append(c.Items, s.Items[i+1:]...)
	return &c
}
