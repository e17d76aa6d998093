package facts

import (
	"bytes"
	"slices"
	"strings"

	"gdsproof/internal/evidence"
)

// Other outputs that tell what is mounted, in the order of what they tell: df has no options.
const (
	ProcMountsSource = "/proc/mounts"
	MountSource      = "mount"
	FindmntSource    = "findmnt"
	DfSource         = "df -hT"
)

// ParseMountText reads the lines of mount, /proc/mounts, findmnt and df, whichever they are of.
func ParseMountText(b []byte) MountTable {
	var t MountTable
	t.Cut = len(b) > 0 && !bytes.HasSuffix(b, []byte("\n"))
	for line, whole := range rawLines(b) {
		if m, ok := mountRow(line); ok && whole {
			t.List = append(t.List, m)
		}
	}
	for _, r := range ParseDf(b).Rows {
		if r.Type != "" && r.Mounted != "" {
			t.List = append(t.List, Mount{Source: r.Filesystem, Dir: r.Mounted, Type: r.Type})
		}
	}
	return t
}

// mountRow: "SRC on DIR type TYPE (OPTS)", "SRC DIR TYPE OPTS 0 0", findmnt's "DIR SRC TYPE OPTS" with its tree.
func mountRow(line string) (Mount, bool) {
	f := strings.Fields(line)
	if len(f) >= 6 && f[1] == "on" && f[3] == "type" && strings.HasPrefix(f[2], "/") && strings.HasPrefix(f[5], "(") {
		return Mount{Source: unescapeOctal(f[0]), Dir: unescapeOctal(f[2]), Type: f[4], Options: strings.Trim(strings.Join(f[5:], " "), "()")}, true
	}
	if len(f) == 6 && strings.HasPrefix(f[1], "/") && isFSType(f[2]) && strings.Trim(f[4]+f[5], "0123456789") == "" {
		return Mount{Source: unescapeOctal(f[0]), Dir: unescapeOctal(f[1]), Type: f[2], Options: f[3]}, true
	}
	if len(f) >= 4 {
		dir := strings.TrimLeft(f[0], "│├└─ |`-")
		opts := f[3]
		if strings.HasPrefix(dir, "/") && isFSType(f[2]) && (strings.HasPrefix(opts, "rw") || strings.HasPrefix(opts, "ro")) && !strings.HasPrefix(f[1], "/dev/nvidia") {
			return Mount{Source: f[1], Dir: dir, Type: f[2], Options: opts}, true
		}
	}
	return Mount{}, false
}

// mountTexts are the mounts that other outputs than mountinfo tell. What one of them lists is mounted; what none
// lists is not mounted only if one of them was seen whole.
func mountTexts(in *In) (MountTable, bool) {
	out := MountTable{Cut: true}
	found := false
	for _, src := range []string{ProcMountsSource, MountSource, FindmntSource, DfSource} {
		for _, i := range in.looks(src) {
			it := in.item(i)
			t := ParseMountText(it.Out)
			if !it.Complete() {
				t.Cut = true
			}
			if len(t.List) == 0 {
				continue
			}
			found = true
			out.Cut = out.Cut && (t.Cut || src == FindmntSource)
			for _, m := range t.List {
				if !slices.ContainsFunc(out.List, func(o Mount) bool { return o.Dir == m.Dir && o.Type == m.Type }) {
					out.List = append(out.List, m)
				}
			}
		}
	}
	return out, found
}

// All is the items of a source as one: pasted texts have an output in pieces. Its state is that of the first that
// gave an answer.
func (in *In) All(source string) *evidence.Item {
	its := in.Steps(source)
	var out *evidence.Item
	n := 0
	for _, it := range its {
		if !it.OK() {
			continue
		}
		n++
		if out == nil {
			c := *it
			c.Out = slices.Clone(it.Out)
			out = &c
			continue
		}
		if len(out.Out) > 0 && out.Out[len(out.Out)-1] != '\n' {
			out.Out = append(out.Out, '\n')
		}
		out.Out = append(out.Out, it.Out...)
		out.Truncated = out.Truncated || it.Truncated
		if it.Form != evidence.Whole {
			out.Form = it.Form
		}
	}
	if n == 0 {
		return in.Item(source)
	}
	return out
}

// Pasted tells that the evidence is text that somebody gave: it is of a node where GDS is asked for, and what it does
// not hold nobody looked at.
func (in *In) Pasted() bool { return in.t.Set.Kind == evidence.Pasted }
