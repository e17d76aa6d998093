package facts

import (
	"slices"
	"strings"

	"gdsproof/internal/evidence"
)

// identityMark is a name that a machine has to itself, and the item that shows it.
type identityMark struct {
	kind string
	name []string // several: any of them is enough
	it   *evidence.Item
}

// identityMarks are all of them that pasted outputs show.
func identityMarks(in *In) []identityMark {
	if !in.Pasted() {
		return nil
	}
	var out []identityMark
	for i := range in.t.Set.Items { // they are no part of what a window says, unless they break it
		it := in.item(i)
		if it.Place != in.place || !it.OK() || !slices.Contains([]string{HostnameSource, BootIDSource, "uname -a", LNetSource}, it.Source) {
			continue
		}
		m := identityMark{kind: it.Source, it: it}
		switch first, _, _ := strings.Cut(strings.TrimSpace(string(it.Out)), "\n"); it.Source {
		case LNetSource:
			n, _ := ParseLNet(it.Out, it.Err, it.Exit)
			for _, ni := range n.NIs {
				if LNetLND(ni.Net) == "tcp" {
					m.name = append(m.name, ni.NID)
				}
			}
		case "uname -a":
			if f := strings.Fields(first); len(f) > 2 && f[0] == "Linux" {
				m.name = f[1:2]
			}
		default:
			m.name = []string{first}
		}
		if len(m.name) > 0 && m.name[0] != "" {
			out = append(out, m)
		}
	}
	// Where all of a kind agree, there is nothing to compare.
	first, differ := map[string][]string{}, map[string]bool{}
	for _, m := range out {
		if f, ok := first[m.kind]; !ok {
			first[m.kind] = m.name
		} else {
			differ[m.kind] = differ[m.kind] || !slices.Equal(f, m.name)
		}
	}
	return slices.DeleteFunc(out, func(m identityMark) bool { return !differ[m.kind] })
}

// strangers tells that two looks are of two machines: between them, or from the last mark before them on, names that
// only one machine has are others.
func strangers(in *In, marks []identityMark, a, b *evidence.Item) string {
	within := map[string]identityMark{}
	for _, m := range marks {
		if b.Before(m.it) || !(m.it.Before(a) || m.it == a || a.Before(m.it)) {
			continue
		}
		if was, ok := within[m.kind]; ok && !a.Before(m.it) && m.it != a {
			if was.it.Before(m.it) {
				within[m.kind] = m // nearer to the first look
			}
			continue
		}
		was, ok := within[m.kind]
		if ok && !slices.ContainsFunc(m.name, func(n string) bool { return slices.Contains(was.name, n) }) {
			if m.kind == BootIDSource {
				return "the machine was started anew in between, or the looks are of two machines (boot id " + was.name[0] + ", then " + m.name[0] + ")"
			}
			return "the looks are of two machines: " + was.name[0] + " and " + m.name[0]
		}
		within[m.kind] = m
	}
	return ""
}
