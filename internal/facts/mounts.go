package facts

import (
	"bytes"
	"strings"

	"github.com/moby/sys/mountinfo"
)

// Mount is one mounted file system.
type Mount struct {
	Source, Dir, Type, Options string
	Device                     string // major:minor
}

// MountTable is the mount table.
type MountTable struct {
	List []Mount
	Cut  bool // it was not seen to its end: what it does not list may be mounted
}

// At returns the mount that a path lies on: the longest mount point that holds it, and of several at one place
// the last, which lies on top.
func (t MountTable) At(path string) (Mount, bool) {
	path = "/" + strings.Trim(path, "/")
	best, found := Mount{}, false
	for _, m := range t.List {
		if (m.Dir == "/" || path == m.Dir || strings.HasPrefix(path, m.Dir+"/")) && len(m.Dir) >= len(best.Dir) {
			best, found = m, true
		}
	}
	return best, found
}

// OfType returns the mounts of a type.
func (t MountTable) OfType(typ string) []Mount {
	var out []Mount
	for _, m := range t.List {
		if m.Type == typ {
			out = append(out, m)
		}
	}
	return out
}

// ParseMountinfo reads /proc/self/mountinfo line by line, so that one odd line does not lose the others.
func ParseMountinfo(b []byte) MountTable {
	var t MountTable
	for raw := range bytes.Lines(b) {
		if !bytes.HasSuffix(raw, []byte("\n")) {
			t.Cut = true
			break
		}
		infos, err := mountinfo.GetMountsFromReader(bytes.NewReader(raw), nil)
		if err != nil {
			continue
		}
		for _, m := range infos {
			t.List = append(t.List, Mount{Source: m.Source, Dir: m.Mountpoint, Type: m.FSType, Options: m.Options + "," + m.VFSOptions,
				Device: strings.Join([]string{itoa(m.Major), itoa(m.Minor)}, ":")})
		}
	}
	return t
}

// MountinfoSource is the mount table of this process.
const MountinfoSource = "/proc/self/mountinfo"

// Mounts is the mount table.
var Mounts = Define("mounts", []string{"mounts"}, func(in *In) Known[MountTable] {
	it := in.Item(MountinfoSource)
	if !it.OK() {
		if t, ok := mountTexts(in); ok {
			return Have(t)
		}
		return Unknown[MountTable](in)
	}
	t := ParseMountinfo(it.Out)
	t.Cut = t.Cut || it.Truncated
	return Have(t)
})
