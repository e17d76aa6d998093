package explain

import (
	"regexp"
	"slices"
	"strings"

	"gdsproof/internal/profile"
)

// counters reads "name: value", "name=value" (several of them too) and both behind a device or a path.
func (b *Base) counters(t string, o *outputs, asked bool) (found []Field) {
	device := deviceFront(t)
	if words := pairs(t); len(words) > 0 && len(words)+1 >= len(strings.Fields(t)) {
		for _, k := range words {
			found = append(found, b.counter(k.key, k.value, device, true, o, asked)...)
		}
		if len(found) > 0 {
			return found
		}
	}
	at := strings.IndexAny(t, ":=")
	if at <= 0 {
		return nil
	}
	label, value := strings.TrimSpace(t[:at]), strings.TrimSpace(t[at+1:])
	if label == "IO stats" { // of two on one line
		if value, rest, ok := strings.Cut(value, ", "); ok {
			return append(b.counter(label, value, false, false, o, asked), b.counters(rest, o, asked)...)
		}
	}
	return b.counter(label, value, device, t[at] == '=', o, asked)
}

// header is the name of a group of counters, or a version in brackets: there is no value behind it.
var headerLike = []string{"sent_stats", "received_stats", "dropped_stats", "health stats", "udsp info", "lnd tunables"}

var (
	valued  = regexp.MustCompile(`^"?-?\[?[0-9][0-9a-fx.,()%\]-]*"?$`)
	devices = regexp.MustCompile(`^(?:efa_|rdmap|ibp)[a-z0-9]*$`)
)

var switches = []string{"enabled", "disabled", "true", "false", "debug", "info", "warn", "up", "down"}

func (b *Base) counter(label, value string, device, equals bool, o *outputs, asked bool) (found []Field) {
	name := label
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		// A file of /sys: of the right folder, since /sys/class/net has rx_bytes too.
		if !device && !strings.Contains(name, "nvidia_fs/parameters/") && !strings.Contains(name, "/proc/driver/nvidia-fs/") {
			return nil
		}
		name = name[i+1:]
	} else if first, rest, ok := strings.Cut(name, " "); ok && devices.MatchString(strings.TrimRight(first, ":")) {
		name = strings.TrimSpace(rest)
	}
	lower := strings.ToLower(value)
	for _, e := range b.ofKind(normal(name), profile.KindCounter) {
		if !exactName(e, name) || !usable(e, device, equals, o, asked) {
			continue
		}
		if !valued.MatchString(value) && !slices.Contains(switches, lower) && !slices.Contains(headerLike, name) && !strings.Contains(label, "(ver") {
			continue
		}
		found = append(found, Field{e, isFine(e, value)})
		o.learn(e)
	}
	return found
}

// exactName tells whether a row has the name but for its case: normal takes brackets and quotes away, too.
func exactName(e profile.Entry, name string) bool {
	return slices.ContainsFunc(e.Names, func(n string) bool { return strings.EqualFold(n, name) })
}

// usable tells whether a name means the row in the output that it stands in.
func usable(e profile.Entry, device, equals bool, o *outputs, asked bool) bool {
	switch {
	case o.now == profile.OutputLNetStats:
		return e.In == profile.OutputLNetStats
	case e.In == "":
		return true
	case e.In == profile.OutputEFA:
		return device || asked || o.now == profile.OutputEFA || o.now == ""
	case e.In == profile.OutputStats:
		return equals && asked || o.now == profile.OutputStats
	case e.In == profile.OutputLNetStats:
		return asked
	}
	return asked || o.now == e.In
}

// learn takes a name that no other program has for a sign of its output.
func (o *outputs) learn(e profile.Entry) {
	if (o.now == "" || o.now == foreign) && strings.HasPrefix(e.ID, "efa-") {
		o.now = profile.OutputEFA
	}
}

// isFine tells whether a value is no sign of trouble: nothing counted, or one of those that the row names.
func isFine(e profile.Entry, value string) bool {
	v := strings.ToLower(strings.TrimSpace(value))
	for _, f := range e.Fine {
		if strings.HasPrefix(v, strings.ToLower(f)) {
			return true
		}
	}
	return e.Kind == profile.KindCounter && v != "" && strings.Trim(v, "0.%") == ""
}
