package facts

import "strings"

// Df is what `df` said. df walks every mount, so on a node with a dead file system it may say nothing at all.
type Df struct {
	Rows   []DfRow
	Errors []string // "df: /fsx: Transport endpoint is not connected"
	Cut    bool     // the text ends within a line
}

// DfRow is one file system. "" means not said.
type DfRow struct {
	Filesystem string // of Lustre: "10.0.1.1@tcp:/name"; @tcp is how it was named, not the way that data takes
	Type       string // only of -T
	Mounted    string // not said by a row that was cut there
	Size       string // sizes as printed: the unit is df's affair
	Used       string
	Avail      string
	Use        string
}

// At returns the row of a mount point; of several mounted over one another the last one, which is the visible one.
func (d Df) At(mount string) (DfRow, bool) {
	for i := len(d.Rows) - 1; i >= 0; i-- {
		if d.Rows[i].Mounted == mount {
			return d.Rows[i], true
		}
	}
	return DfRow{}, false
}

// ParseDf reads `df` with any options, rows wrapped over lines (old df's own way, or a terminal's) too.
func ParseDf(b []byte) Df {
	var out Df
	typed, known := false, false // has the header a Type?
	var wrapped []string
	for line, whole := range rawLines(b) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		out.Cut = out.Cut || !whole
		switch {
		case !whole && !strings.ContainsAny(line, "%"):
			continue
		case f[0] == "df:":
			out.Errors = append(out.Errors, strings.TrimSpace(line))
			wrapped = nil
			continue
		case f[0] == "Filesystem":
			typed, known, wrapped = len(f) > 1 && f[1] == "Type", true, nil
			continue
		}
		if r, ok := dfRow(f, typed, known); ok && !(r.Type == "" && continues(wrapped, r.Filesystem)) {
			out.take(r, whole)
			wrapped = nil
			continue
		}
		// A row has three lines at most: the file system, the numbers, the mount point.
		if len(wrapped) > 0 && len(wrapped) < 8 && len(f) < 8 {
			joined := append(wrapped, f...)
			if r, ok := dfRow(joined, typed, known); ok {
				out.take(r, whole)
				wrapped = nil
				continue
			}
			if startsRow(f) {
				joined = f
			}
			wrapped = joined
			continue
		}
		wrapped = nil
		if startsRow(f) && len(f) < 8 {
			wrapped = f
		}
	}
	return out
}

func (d *Df) take(r DfRow, whole bool) {
	if !whole {
		r.Mounted = ""
	}
	d.Rows = append(d.Rows, r)
}

// startsRow knows the first field of a row that may go on in the next line.
func startsRow(f []string) bool { return strings.ContainsAny(f[0], "/:") && f[0] != "df:" }

// continues tells that a "row" of an unknown header is only the second half of a wrapped one: what looks like the
// file system is the type, and the line before was a file system alone.
func continues(wrapped []string, first string) bool {
	return len(wrapped) == 1 && isFSType(first)
}

func dfRow(f []string, typed, known bool) (DfRow, bool) {
	i, ok := usageAt(f)
	if !ok || i < 1 {
		return DfRow{}, false
	}
	r := DfRow{Size: f[i], Used: f[i+1], Avail: f[i+2], Use: f[i+3], Mounted: strings.Join(f[i+4:], " ")}
	if known && typed || !known && i == 2 && isFSType(f[1]) {
		if i < 2 {
			return DfRow{}, false
		}
		i--
		r.Type = f[i]
	}
	r.Filesystem = strings.Join(f[:i], " ")
	return r, r.Mounted[0] == '/'
}

// usageAt finds the numbers of a row of df or lfs df: three sizes, a percentage, and a mount point behind. They are
// found by their shape, since names before and behind them may hold blanks.
func usageAt(f []string) (int, bool) {
	for i := 0; i+4 < len(f); i++ {
		if isSize(f[i]) && isSize(f[i+1]) && isSize(f[i+2]) && isPercent(f[i+3]) && strings.HasPrefix(f[i+4], "/") {
			return i, true
		}
	}
	return 0, false
}

// isSize knows "114G", "1.4M", "27T", "48GiB", "1048576", and "-" where a file system does not say.
func isSize(s string) bool {
	s = strings.TrimSuffix(strings.TrimSuffix(s, "B"), "i")
	if s != "" && strings.IndexByte("kKMGTPE", s[len(s)-1]) >= 0 {
		s = s[:len(s)-1]
	}
	return s == "-" || s != "" && strings.Trim(s, "0123456789.,") == "" && s[0] >= '0'
}

func isPercent(s string) bool {
	n, ok := strings.CutSuffix(s, "%")
	return s == "-" || ok && n != "" && strings.Trim(n, "0123456789") == ""
}

func isFSType(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}
