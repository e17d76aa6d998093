package facts

import (
	"slices"
	"testing"
)

func TestParseVersion(t *testing.T) {
	for _, c := range []struct {
		text    string
		parts   []uint32
		release string
	}{
		{"2.28.4", []uint32{2, 28, 4}, ""},
		{" 2.24\n", []uint32{2, 24}, ""},
		{"2:3:18", []uint32{2, 3, 18}, ""},
		{"1.17.0.44", []uint32{1, 17, 0, 44}, ""},
		{"v1.13.1.3", []uint32{1, 13, 1, 3}, ""},
		{"3.1.0g", []uint32{3, 1, 0}, ""},
		{"2.15.6-1fsx27", []uint32{2, 15, 6}, "1fsx27"},
		{"2.15.6-30.amzn2023", []uint32{2, 15, 6}, "30.amzn2023"},
		{"2.12.8_ddn12", []uint32{2, 12, 8}, "ddn12"},
		{"2.16.0rc1", []uint32{2, 16, 0}, "rc1"},
		{"580.00.00", []uint32{580, 0, 0}, ""},
		{"6.1.0-57-amd64", []uint32{6, 1, 0}, "57-amd64"},
		{"7", []uint32{7}, ""},
	} {
		v, ok := ParseVersion(c.text)
		if !ok || !slices.Equal(v.Parts, c.parts) || v.Release != c.release {
			t.Errorf("ParseVersion(%q) = %v %q %v, want %v %q", c.text, v.Parts, v.Release, ok, c.parts, c.release)
		}
	}
	for _, bad := range []string{
		"", "v", "2.", "2.24.", "2:3:", "2..1", ".5", "2.15.6-", "1:2.15.6", "2.3:18", "unknown", "2.15 6", "2.15.6)",
		"-1.2", "4294967296.0", "1.2.3.4.5.6.7.8.9", "2.28.4, P2PDMA", "2.28(4)", "2.28/4", "2 8",
	} {
		if v, ok := ParseVersion(bad); ok {
			t.Errorf("ParseVersion(%q) = %v, want a refusal", bad, v.Parts)
		}
	}
}

func TestVersionCompare(t *testing.T) {
	for _, c := range []struct {
		v, w         string
		order        int
		orderKnown   bool
		least, known bool
	}{
		{"2.24.2", "2.24.2", 0, true, true, true},
		{"2.24.1", "2.24.2", -1, true, false, true},
		{"2.24.10", "2.24.9", 1, true, true, true},
		{"2.23", "2.24.2", -1, true, false, true},
		{"2.25", "2.24.2", 1, true, true, true},
		{"2.24", "2.24.2", 0, false, false, false},
		{"2.30", "2.30.0", 0, false, true, true},
		{"2.30.0", "2.30", 0, false, true, true},
		{"2.24.3", "2.24", 0, false, true, true},
		{"2", "2.0.0.1", 0, false, false, false},
		{"2:3:18", "2.3.18", 0, true, true, true},
		{"3.0.0g", "2.12.1", 1, true, true, true},
		{"2.15.6-1fsx12", "2.15.6", 0, true, true, true},
	} {
		v, _ := ParseVersion(c.v)
		w, _ := ParseVersion(c.w)
		if order, known := v.Compare(w); order != c.order || known != c.orderKnown {
			t.Errorf("%s.Compare(%s) = %d %v, want %d %v", c.v, c.w, order, known, c.order, c.orderKnown)
		}
		if order, known := w.Compare(v); order != -c.order || known != c.orderKnown {
			t.Errorf("%s.Compare(%s) = %d %v, want %d %v", c.w, c.v, order, known, -c.order, c.orderKnown)
		}
		if yes, known := v.AtLeast(w); yes != c.least || known != c.known {
			t.Errorf("%s.AtLeast(%s) = %v %v, want %v %v", c.v, c.w, yes, known, c.least, c.known)
		}
	}
	if yes, known := (Version{}).AtLeast(Version{Parts: []uint32{1}}); yes || known {
		t.Errorf("no version at least 1 = %v %v, want not known", yes, known)
	}
	if yes, known := (Version{Parts: []uint32{1}}).AtLeast(Version{}); yes || known {
		t.Errorf("1 at least no version = %v %v, want not known", yes, known)
	}
	if order, known := (Version{}).Compare(Version{}); known {
		t.Errorf("two absent versions compare as %d, want not known", order)
	}
}

// What is known of a version with few parts must hold for every longer version that it may stand for.
func TestVersionAtLeastAgreesWithLonger(t *testing.T) {
	var all []Version
	for a := range uint32(3) {
		all = append(all, Version{Parts: []uint32{a}})
		for b := range uint32(3) {
			all = append(all, Version{Parts: []uint32{a, b}})
			for c := range uint32(3) {
				all = append(all, Version{Parts: []uint32{a, b, c}})
			}
		}
	}
	known := 0
	for _, short := range all {
		for _, long := range all {
			if len(long.Parts) <= len(short.Parts) || !slices.Equal(long.Parts[:len(short.Parts)], short.Parts) {
				continue
			}
			for _, least := range all {
				if yes, ok := short.AtLeast(least); ok {
					known++
					if also, ok := long.AtLeast(least); !ok || also != yes {
						t.Errorf("%v at least %v = %v, but %v = %v %v", short.Parts, least.Parts, yes, long.Parts, also, ok)
					}
				}
			}
		}
	}
	if known == 0 {
		t.Error("nothing was known: the test compared nothing")
	}
}

func FuzzVersion(f *testing.F) {
	for _, s := range []string{"2.28.4", "2:3:18", "3.1.0g", "2.15.6-1fsx27", "2.24", "1:2.15.6", "2."} {
		f.Add(s, "2.24.2")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		v, okV := ParseVersion(a)
		w, okW := ParseVersion(b)
		if okV == (len(v.Parts) == 0) {
			t.Fatalf("ParseVersion(%q) = %v %v", a, v, okV)
		}
		if !okV || !okW {
			return
		}
		vw, known := v.Compare(w)
		if wv, also := w.Compare(v); wv != -vw || also != known {
			t.Fatalf("%q and %q: %d %v, turned round %d %v", a, b, vw, known, wv, also)
		}
		if yes, ok := v.AtLeast(w); known && (!ok || yes != (vw >= 0)) {
			t.Fatalf("%q at least %q = %v %v, but they compare %d", a, b, yes, ok, vw)
		}
	})
}

func BenchmarkParseVersion(b *testing.B) {
	const text = "2.15.6-1fsx27"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, ok := ParseVersion(text); !ok {
			b.Fatal("refused")
		}
	}
}
