package facts

import (
	"strconv"
	"strings"
)

// LfsDf is what `lfs df` said.
type LfsDf struct {
	Targets []LfsTarget
	// Summaries are the rows that end each file system's list: with one, no target of it is missing above.
	Summaries []LfsTarget
	Errors    []string
	Cut       bool // the text ends within a line
}

// LfsTarget is one MDT or OST. Sizes are as printed: their unit is that of the options.
type LfsTarget struct {
	UUID  string   // "qrstbcde-OST0004_UUID"; a summary has none
	Kind  string   // MDT or OST; "" in a summary
	Index Opt[int] // 4: the UUID has it in hexadecimal, [OST:4] in decimal
	Mount string
	Size  string
	Used  string
	Avail string
	Use   string
	Flags string // behind [OST:4], of 2.12 and later: D degraded, R read-only, …
	// Fault is what is said in place of the sizes: "inactive device", "Resource temporarily unavailable".
	// "" means that the target answered.
	Fault string
}

// Inactive tells that the client was told not to use the target; any other fault is one of reaching it.
func (t LfsTarget) Inactive() bool { return t.Fault == "inactive device" }

// ParseLfsDf reads `lfs df` with any options.
func ParseLfsDf(b []byte) LfsDf {
	var out LfsDf
	for line, whole := range rawLines(b) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			continue
		case !whole:
			out.Cut = true
		case strings.HasPrefix(line, "lfs df:"), strings.HasPrefix(line, "lfs:"), strings.HasPrefix(line, "error:"):
			out.Errors = append(out.Errors, line)
			continue
		}
		if t, ok := lfsFault(line); ok {
			if whole {
				out.Targets = append(out.Targets, t)
			}
			continue
		}
		f := strings.Fields(line)
		if len(f) > 2 && f[0] == "filesystem" && f[1] == "summary:" { // before 2.11
			f = append([]string{"filesystem_summary:"}, f[2:]...)
		}
		at, ok := usageAt(f)
		if !ok || at != 1 {
			continue
		}
		t := LfsTarget{Size: f[1], Used: f[2], Avail: f[3], Use: f[4]}
		tail := strings.Join(f[5:], " ")
		if f[0] == "filesystem_summary:" {
			if whole {
				t.Mount = tail
				out.Summaries = append(out.Summaries, t)
			}
			continue
		}
		if t.UUID = f[0]; t.place(tail) {
			out.Targets = append(out.Targets, t)
		}
	}
	return out
}

// place reads "/fsx[OST:4] D".
func (t *LfsTarget) place(tail string) bool {
	open := strings.LastIndexByte(tail, '[')
	if open < 0 {
		return false
	}
	in, flags, ok := strings.Cut(tail[open+1:], "]")
	kind, index, colon := strings.Cut(in, ":")
	if !ok || !colon || kind != "OST" && kind != "MDT" {
		return false
	}
	t.Mount, t.Kind, t.Index, t.Flags = tail[:open], kind, optInt(index), strings.TrimSpace(flags)
	return t.Index.OK && t.Index.V >= 0
}

// lfsFault reads "qrstbcde-OST0004_UUID   : inactive device" and "OST0004   : Resource temporarily unavailable".
func lfsFault(line string) (LfsTarget, bool) {
	name, fault, ok := strings.Cut(line, ":")
	name, fault = strings.TrimSpace(name), strings.TrimSpace(fault)
	kind, index, is := targetIndex(name)
	if !ok || !is || fault == "" || strings.ContainsAny(name, " \t/.") {
		return LfsTarget{}, false
	}
	return LfsTarget{UUID: name, Kind: kind, Index: Some(index), Fault: fault}, true
}

// targetIndex takes "name-OST001f_UUID", "name-OST001f" or "OST001f" apart; the number is hexadecimal.
func targetIndex(name string) (kind string, index int, ok bool) {
	name = strings.TrimSuffix(name, "_UUID")
	name = name[strings.LastIndexByte(name, '-')+1:]
	if len(name) != 7 || name[:3] != "OST" && name[:3] != "MDT" {
		return "", 0, false
	}
	n, err := strconv.ParseUint(name[3:], 16, 16)
	return name[:3], int(n), err == nil
}
