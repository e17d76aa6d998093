package explain_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzFold: no text stops the reader; how it is cut into reads changes nothing; nothing is counted twice.
func FuzzFold(f *testing.F) {
	b := base(f)
	for _, e := range b.Entries() {
		if e.Example != "" {
			f.Add([]byte(" 30-11-2026 09:07:09:24 [pid=523 tid=524] ERROR  " + e.Example + "\r\n"))
		}
	}
	f.Add([]byte("[Sat Nov 28 06:12:23 2026] LNet: x\n\x1b[31mNVMe : compat\x1b[0m\n> 5027\n\x00\n[1,0]<stdout>: [pid="))
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, parts := b.NewFold(), b.NewFold()
		if err := whole.Read(bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if err := parts.Read(iotest.HalfReader(iotest.DataErrReader(bytes.NewReader(text)))); err != nil {
			t.Fatal(err)
		}
		x, y := whole.Result(""), parts.Result("")
		if len(text) < 32<<10 && (x.Lines != y.Lines || x.Known != y.Known || len(x.Sections) != len(y.Sections)) {
			t.Errorf("whole %d %d, in parts %d %d", x.Lines, x.Known, y.Lines, y.Known)
		}
		n := x.Others
		for _, s := range x.Sections {
			for _, l := range s.Lines {
				n += l.Count
			}
		}
		for _, l := range x.Unknown {
			n += l.Count
		}
		for _, l := range x.Quiet {
			n += l.Count
		}
		if n != x.Lines {
			t.Errorf("%d lines, %d counted", x.Lines, n)
		}
	})
}

// FuzzLookup: no word stops it, and an answer is never beside a suggestion.
func FuzzLookup(f *testing.F) {
	b := base(f)
	for _, s := range []string{"5027", "-22", "NVMe : nvfs, compat", "rx_drops=4", "\x00", "Reads\t\t: n=1 ok=1", strings.Repeat("=", 500), "--", "errno"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := b.Lookup(s)
		if a.Known() && len(a.Suggestions) > 0 && a.How == 0 {
			t.Errorf("%q: %+v", s, a)
		}
	})
}
