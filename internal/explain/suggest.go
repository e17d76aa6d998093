package explain

import (
	"slices"
	"strings"
)

const maxSuggestions = 5

// close are known words that lie a typing error away from q: at most a third of its letters differ.
func (b *Base) close(q string) []string {
	if len(q) > 80 {
		return nil
	}
	return nearest(q, b.words, max(1, len(q)/3))
}

// closeLines are phrases of known lines that lie some typing errors away from q.
func (b *Base) closeLines(q string) []string {
	if len(q) > 200 {
		return nil
	}
	var phrases []string
	for i := range b.entries {
		phrases = append(phrases, b.entries[i].Match...)
	}
	return nearest(q, phrases, len(q)/6)
}

func nearest(q string, words []string, limit int) []string {
	type near struct {
		word string
		d    int
	}
	var found []near
	seen := map[string]bool{}
	for _, w := range words {
		n := normal(w)
		if seen[n] || len(n)-len(q) > limit || len(q)-len(n) > limit {
			continue
		}
		seen[n] = true
		if d := distance(q, n, limit); d <= limit {
			found = append(found, near{w, d})
		}
	}
	slices.SortStableFunc(found, func(x, y near) int {
		if x.d != y.d {
			return x.d - y.d
		}
		return strings.Compare(x.word, y.word)
	})
	var out []string
	for _, f := range found {
		if len(out) < maxSuggestions && f.d <= found[0].d+1 {
			out = append(out, f.word)
		}
	}
	return out
}

// sharing are known words that have a part in common with q: of nvidia_p2p_dma the last one, say.
func (b *Base) sharing(q string) []string {
	parts := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" _.-/:=", r) })
	}
	mine := slices.DeleteFunc(parts(q), func(s string) bool { return len(s) < 4 })
	most := 0
	var out []string
	for _, w := range b.words {
		n := 0
		for _, p := range parts(w) {
			if slices.Contains(mine, p) {
				n++
			}
		}
		if n == 0 || n < most || n == most && (len(out) >= maxSuggestions || slices.Contains(out, w)) {
			continue
		}
		if n > most {
			most, out = n, nil
		}
		out = append(out, w)
	}
	return out
}

// distance counts insertions, deletions, exchanges of a letter and of two neighbours; above limit it may stop early.
func distance(a, b string, limit int) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		best := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			best = min(best, row[j])
		}
		if best > limit {
			return best
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
