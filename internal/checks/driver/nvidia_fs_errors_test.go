package driver

import (
	"testing"

	"gdsproof/internal/profile"
)

// TestErrorCountersAreKnown: each has a row of its own in the knowledge base, or one that it shares, which names the
// check.
func TestErrorCountersAreKnown(t *testing.T) {
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	known, err := p.Counters()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range errorCounters {
		if meaningOf(known, c.row, c.key) == "" {
			t.Errorf("%s %s: no row", c.row, c.key)
		}
	}
	if r, w := meaningOf(known, "Reads", "err"), meaningOf(known, "Writes", "err"); r == w {
		t.Errorf("reads and writes have one row: %s", r)
	}
	if meaningOf(known, "Reads", "nonesuch") != "" {
		t.Error("a counter that nobody knows has a meaning")
	}
}
