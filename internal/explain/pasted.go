package explain

import (
	"regexp"
	"strings"

	"gdsproof/internal/profile"
)

var bareNumber = regexp.MustCompile(`^-?\d+$`)

// explain answers a line of a pasted text that no row knows: names with values, a word that no other program has, or
// an error number. A word that anybody may write (active, Enabled) is no answer where nobody asked about it.
func (f *Fold) explain(g *group, text string) {
	t := strings.TrimSpace(text)
	if bareNumber.MatchString(t) {
		rows := f.base.ofKind(strings.TrimPrefix(t, "-"), profile.KindError)
		g.number = true
		f.numbers = f.numbers || len(rows) == 0
		g.fields = asFields(rows)
		return
	}
	g.fields = f.base.fields(text, &f.outputs, false)
	if len(g.fields) == 0 {
		g.fields = asFields(f.base.wholeLine(t))
	}
}

// wholeLine answers a line that is one word of ours and nothing else, or that names an error by its number.
func (b *Base) wholeLine(t string) []profile.Entry {
	switch {
	case strings.HasPrefix(t, "CU_FILE_"):
		return b.exactly(t, profile.KindError)
	case strings.Contains(t, "_") && len(b.exactly(t, profile.KindVariable)) > 0:
		return b.exactly(t, profile.KindVariable)
	case strings.Contains(t, ".") && len(b.exactly(t, profile.KindKey)) > 0:
		return b.exactly(t, profile.KindKey)
	}
	return b.numberIn(t)
}

func asFields(rows []profile.Entry) (out []Field) {
	for _, e := range rows {
		out = append(out, Field{Entry: e})
	}
	return out
}
