package explain

import (
	"regexp"
	"slices"
	"strings"

	"gdsproof/internal/profile"
)

// Field is a name that stands in a line with a value.
type Field struct {
	profile.Entry
	// Fine: the value is no sign of trouble (a count of 0, a switch as it should be), so the cause and the remedy that
	// the row knows are not about this line.
	Fine bool
}

const maxFieldLine = 400

// fields explains the names of a line of a program's output. asked: somebody asked about this very line, so a name
// that other programs have too may stand for itself.
func (b *Base) fields(line string, o *outputs, asked bool) []Field {
	if len(line) > maxFieldLine {
		return nil
	}
	if found := b.jsonKeys(line, o); len(found) > 0 {
		return found
	}
	if found := b.variables(line); len(found) > 0 {
		return found
	}
	t := strings.TrimLeft(strings.TrimSpace(line), ">|` \t")
	if rest, ok := strings.CutPrefix(t, "- "); ok { // of a list
		t = rest
	}
	for _, read := range []func(string, *outputs, bool) []Field{b.dottedKey, b.statsRow, b.gdscheckRow, b.gdsioFields, b.counters} {
		if found := read(t, o, asked); len(found) > 0 {
			return found
		}
	}
	return nil
}

// jsonKeys are the keys of cufile.json in a line. A key counts where it lies in the file; of a fragment whose objects
// are not to be seen, a name with an underscore is taken by itself.
func (b *Base) jsonKeys(line string, o *outputs) (found []Field) {
	if strings.IndexByte(line, '"') < 0 {
		return nil
	}
	o.json.copy().walk(line, func(path []string, key string) {
		dotted, inside := key, false
		for i := len(path) - 1; i >= 0 && path[i] != ""; i-- {
			dotted, inside = path[i]+"."+dotted, true
		}
		rows := b.exactly(dotted, profile.KindKey)
		if len(rows) == 0 && !inside && strings.Contains(key, "_") && key == strings.ToLower(key) {
			rows = b.ofKind(key, profile.KindKey)
		}
		for _, e := range rows {
			found = append(found, Field{Entry: e})
		}
	})
	return found
}

// dottedKey is a key as gdscheck prints it, with its place in the file: "properties.use_compat_mode : true".
func (b *Base) dottedKey(t string, _ *outputs, _ bool) (found []Field) {
	at := strings.IndexAny(t, ":=")
	if at <= 0 || !strings.Contains(t[:at], ".") {
		return nil
	}
	for _, e := range b.exactly(strings.TrimSpace(t[:at]), profile.KindKey) {
		found = append(found, Field{Entry: e})
	}
	return found
}

var assigned = regexp.MustCompile(`(?:^|[ \t;"'])([A-Z][A-Za-z]*(?:_[A-Za-z0-9]+)+) ?[=:]`)

// variables are assignments of the environment: the output of env, the front of a command, gdscheck's ENVIRONMENT.
func (b *Base) variables(line string) (found []Field) {
	for _, m := range assigned.FindAllStringSubmatch(line, -1) {
		for _, e := range b.exactly(m[1], profile.KindVariable) {
			found = append(found, Field{Entry: e})
		}
	}
	return found
}

// keyValue is a word name=value.
type keyValue struct{ key, value string }

var pairWord = regexp.MustCompile(`^([A-Za-z_][^=\s]*)=([^=\s]*)$`)

func pairs(text string) (out []keyValue) {
	for w := range strings.FieldsSeq(text) {
		if m := pairWord.FindStringSubmatch(strings.TrimRight(w, ",;")); m != nil {
			out = append(out, keyValue{m[1], m[2]})
		}
	}
	return out
}

// statsRow is a row of the driver's statistics with its own keys behind. A key that counts failures is explained too
// when it has counted one.
func (b *Base) statsRow(t string, _ *outputs, _ bool) []Field {
	label, rest, ok := strings.Cut(t, ":")
	if !ok {
		return nil
	}
	label = strings.TrimSpace(label)
	keys := pairs(rest)
	if strings.HasPrefix(label, "GPU ") && len(keys) > 0 {
		var found []Field
		for _, k := range keys {
			for _, e := range b.counterIn(k.key, profile.OutputStats, "") {
				found = append(found, Field{e, isFine(e, k.value)})
			}
		}
		return found
	}
	rows := b.counterIn(label, profile.OutputStats)
	if len(rows) != 1 || len(keys) == 0 || !slices.ContainsFunc(rows[0].Names, func(n string) bool { return strings.EqualFold(n, label) }) {
		return nil
	}
	row := rows[0]
	var failed, others []Field
	own, known := len(row.Names) == 1, false
	for _, k := range keys {
		of := b.counterIn(label+" "+k.key, profile.OutputStats)
		if len(of) == 0 {
			of = b.counterIn(k.key, profile.OutputStats, "")
		}
		for _, e := range of {
			f := Field{e, isFine(e, k.value)}
			known = true
			switch {
			case e.ID == row.ID:
				own = true
			case !f.Fine && (e.Check != "" || e.Cause != ""):
				failed = append(failed, f)
			default:
				others = append(others, f)
			}
		}
	}
	switch {
	case !known:
		return nil // "Error : ret=-5" of another program
	case own:
		return append([]Field{{row, noFailure(label, keys)}}, failed...)
	}
	return append(failed, others...) // Reads : Bandwidth(MiB/s)=0 …
}

// noFailure tells whether none of the keys of a row that count failures has counted one: n and ok are no trouble.
func noFailure(label string, keys []keyValue) bool {
	for _, k := range keys {
		counts := label == "Error"
		for _, word := range []string{"err", "fail", "eio"} {
			counts = counts || strings.Contains(k.key, word)
		}
		if counts && strings.Trim(k.value, "0") != "" {
			return false
		}
	}
	return true
}

// gdscheckValues are those of a storage row.
var gdscheckValues = []string{"supported", "unsupported", "nvfs", "compat", "p2pdma", "dmabuf", "nvidia_peermem", "c2c"}

// gdscheckRow is a row of gdscheck with one of its values: "NFS : Unsupported" is one, "NFS: Enabled" is not.
func (b *Base) gdscheckRow(t string, o *outputs, asked bool) []Field {
	label, value, ok := strings.Cut(t, ":")
	if !ok {
		return b.asValues(t, asked)
	}
	var found []Field
	for _, e := range b.ofKind(normal(label), profile.KindGdscheck) {
		switch e.In {
		case profile.OutputGdscheckLine:
			found = append(found, Field{e, isFine(e, value)})
		case profile.OutputGdscheck:
			if o.now == profile.OutputGdscheck || asked && value != "" || slices.ContainsFunc(e.Names, func(n string) bool { return strings.EqualFold(normal(n), normal(t)) }) {
				found = append(found, Field{e, isFine(e, value)})
			}
		case profile.OutputGdscheckValue:
		default:
			values := b.values(value)
			dashed := slices.ContainsFunc(e.Names, func(n string) bool { return strings.HasPrefix(n, "--") })
			storage := len(values) > 0
			for v := range strings.SplitSeq(value, ",") {
				storage = storage && slices.Contains(gdscheckValues, normal(v))
			}
			if !storage && !(dashed && (len(values) > 0 || strings.HasPrefix(strings.TrimSpace(value), "Up:"))) {
				continue
			}
			v := normal(value)
			found = append(found, Field{e, v != "unsupported" && v != "compat"})
			for _, x := range values {
				found = append(found, Field{Entry: x})
			}
		}
	}
	return found
}

// asValues is "nvfs, compat" alone, which is explained when asked for.
func (b *Base) asValues(t string, asked bool) (found []Field) {
	if asked {
		for _, e := range b.values(t) {
			found = append(found, Field{Entry: e})
		}
	}
	return found
}

// values are those of a row of gdscheck: "dmabuf, compat"; nothing if one of them is no value.
func (b *Base) values(list string) (found []profile.Entry) {
	for v := range strings.SplitSeq(list, ",") {
		n := len(found)
		for _, e := range b.ofKind(normal(v), profile.KindGdscheck) {
			if e.In == profile.OutputGdscheckValue {
				found = append(found, e)
			}
		}
		if len(found) == n {
			return nil
		}
	}
	return found
}

var resultField = regexp.MustCompile(`([A-Za-z_]+):`)

// gdsioFields are those of a result line, or of a part of one that was wrapped.
func (b *Base) gdsioFields(t string, _ *outputs, _ bool) []Field {
	var found []Field
	sure := false
	for _, m := range resultField.FindAllStringSubmatch(t, -1) {
		for _, e := range b.exactly(m[1], profile.KindGdsioField) {
			sure = sure || e.In == ""
			found = append(found, Field{Entry: e})
		}
	}
	if sure || len(found) > 0 && strings.Contains(t, "GiB/sec") {
		return found
	}
	return nil
}

// counterIn are the counters that answer to a name in one of the outputs; "" stands for those that no other program has.
func (b *Base) counterIn(name string, in ...string) (found []profile.Entry) {
	for _, e := range b.ofKind(normal(name), profile.KindCounter) {
		if slices.Contains(in, e.In) {
			found = append(found, e)
		}
	}
	return found
}
