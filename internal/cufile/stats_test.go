package cufile

import (
	"encoding/binary"
	"strings"
	"testing"
)

// l3 is the structure as 1.15.1 fills it; words are u64, and their numbers were measured.
func l3(gpus uint32, words map[int]uint64) []byte {
	b := make([]byte, 8<<10)
	binary.LittleEndian.PutUint32(b[1024:], gpus)
	for i, v := range words {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	return b
}

func TestParseL3(t *testing.T) {
	c, err := parseL3(l3(2, map[int]uint64{0: 10, 2: 6, 135: 10, 136: 1, 137: 2, 138: 7, 143: 3, 148: 4, 149: 0, 150: 4, 151: 0, 148 + 31: 2, 151 + 31: 2}), 1150)
	if err != nil || c.Reads != (Paths{Total: 10, P2P: 1, NVFS: 2, POSIX: 7, Errors: 3}) || c.Writes != (Paths{Total: 6, NVFS: 4, POSIX: 2}) {
		t.Errorf("%+v, %v", c, err)
	}
	for name, x := range map[string]struct {
		b       []byte
		version int32
		words   string
	}{
		"an older release":           {l3(1, nil), 1140, "1.14 has no statistics"},
		"no version":                 {l3(1, nil), 0, "no statistics"},
		"more GPUs than room":        {l3(17, nil), 1150, "another layout"},
		"ways that do not add up":    {l3(1, map[int]uint64{135: 10, 138: 9}), 1150, "another layout"},
		"counted at level 1 alone":   {l3(1, map[int]uint64{0: 5}), 1150, "another layout"},
		"cut":                        {make([]byte, 4096), 1150, "cut"},
		"writes that do not add up":  {l3(1, map[int]uint64{148: 1}), 1190, "another layout"},
		"writes at level 1 and no 3": {l3(0, map[int]uint64{2: 5}), 1150, "another layout"},
	} {
		if c, err := parseL3(x.b, x.version); err == nil || !strings.Contains(err.Error(), x.words) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

func FuzzParseL3(f *testing.F) {
	f.Add(l3(1, map[int]uint64{135: 10, 137: 10}), int32(1150))
	f.Fuzz(func(t *testing.T, b []byte, version int32) {
		c, err := parseL3(b, version)
		for _, p := range []Paths{c.Reads, c.Writes} {
			if err == nil && p.NVFS+p.P2P+p.POSIX != p.Total {
				t.Fatalf("%+v", c)
			}
		}
	})
}
