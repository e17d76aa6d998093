package paste

import (
	"sort"
	"strings"
	"unicode"

	"gdsproof/internal/evidence"
)

// orderWords tell when a snapshot was taken.
var orderWords = map[string]int{"before": -1, "first": -1, "pre": -1, "after": 1, "second": 1, "post": 1}

// labelOf finds the words in a name or heading; with words of both kinds it tells nothing.
func labelOf(s string) (int, bool) {
	label := 0
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if l := orderWords[w]; l != 0 {
			if label != 0 && label != l {
				return 0, false
			}
			label = l
		}
	}
	return label, label != 0
}

// startsWithLabel: "Before running", "After the CPU-via (-x 1) run:".
func startsWithLabel(s string) bool {
	f := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) })
	return len(f) > 0 && len(f) < 20 && (f[0] == "before" || f[0] == "after")
}

// placed is a block with its place in time, as far as there is one.
type placed struct {
	b      *block
	series string // see evidence.Item
	step   int
	since  int
	left   int // of two columns: the step of the left one, where the text shows when it was written
}

// order gives blocks their place. Within a text the position is the order, unless its own words say the contrary.
// Among texts that were named, words in their names come first, then the order in which they were given. Texts of a
// folder have no order but that of such words; one without a word stands between before and after, or alone if both
// are there of its kind.
func order(texts []Text, blocks [][]*block) []placed {
	type group struct {
		i, label int
		alone    bool
	}
	var gs []group
	for i := range texts {
		label, _ := labelOf(baseName(texts[i].Name))
		gs = append(gs, group{i, label, !texts[i].Given && label == 0 && hasLabelledKind(blocks, texts, i)})
	}
	sort.SliceStable(gs, func(a, b int) bool {
		if gs[a].label != gs[b].label {
			return gs[a].label < gs[b].label
		}
		return texts[gs[a].i].Given && !texts[gs[b].i].Given // given ones keep their order, and stand together
	})
	var out []placed
	epoch := 0
	for k, g := range gs {
		if k == 0 || texts[g.i].Given || texts[gs[k-1].i].Given || gs[k-1].label != g.label {
			epoch++
		}
		series := ""
		if !texts[g.i].Given {
			series = texts[g.i].Name
		}
		if g.alone {
			series = evidence.Alone + texts[g.i].Name
		}
		list := blocks[g.i]
		if contrary(list) {
			list = append([]*block(nil), list...)
			sort.SliceStable(list, func(a, b int) bool { return list[a].label < list[b].label })
		}
		for pos, b := range list {
			out = append(out, placed{b: b, series: series, step: epoch*evidence.Epoch + 2*pos + 2})
		}
	}
	return out
}

// hasLabelledKind tells whether a text holds an output of which both a "before" and an "after" are among the labelled
// texts: then it stands alone, as cli.md's rule for unlabelled ones says.
func hasLabelledKind(blocks [][]*block, texts []Text, i int) bool {
	kinds := map[*format]map[int]bool{}
	for j := range texts {
		if l, ok := labelOf(baseName(texts[j].Name)); ok {
			for _, b := range blocks[j] {
				if b.f != nil {
					if kinds[b.f] == nil {
						kinds[b.f] = map[int]bool{}
					}
					kinds[b.f][l] = true
				}
			}
		}
	}
	for _, b := range blocks[i] {
		if k := kinds[b.f]; b.f != nil && k[-1] && k[1] {
			return true
		}
	}
	return false
}

// contrary tells that a text says "after" before it says "before", of one kind of output.
func contrary(list []*block) bool {
	first := map[*format]int{}
	for _, b := range list {
		if b.f == nil || b.label == 0 || b.quote {
			continue
		}
		if first[b.f] == 0 {
			first[b.f] = b.label
		}
		if first[b.f] > 0 && b.label < 0 {
			return true
		}
	}
	return false
}

func baseName(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }
