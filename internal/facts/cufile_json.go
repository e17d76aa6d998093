package facts

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// CufileJSON is a cufile.json as libcufile 1.15.1 takes it. A refused file makes every open of the driver fail
// (-22, EINVAL), or even ends the process; libcufile then says so on stdout and in no log.
type CufileJSON struct {
	Accepted bool
	Line     int    // of what is refused, 0 if nothing is
	Reason   string //
	Dies     bool   // the process ends over it

	Settings []CufileSetting // in the order of the text, of equal names the last
	Doubts   []CufileDoubt   // values that 1.15.1 refuses, while other releases have other limits
}

// CufileSetting is a key with its value. Keys that libcufile does not know are kept: a misspelt one has no effect.
type CufileSetting struct {
	Name  string   // "properties.allow_compat_mode"
	Value string   // as libcufile understands it: "1" of 1.9; a list's values with blanks between them
	List  []string // of a list; the paths of a mount_table
	Known bool     // 1.15.1 reads this key
	Line  int
}

// CufilePathKeys name files or folders: libcufile 1.15.1 refuses the whole cufile.json (-22) where one is not there. The
// paths of a mount_table may be missing (measured).
var CufilePathKeys = []string{"logging.dir", "denylist.devices", "denylist.mounts"}

// NamedPaths are the absolute paths whose absence refuses the file, each as a setting of its own.
func (c CufileJSON) NamedPaths() []CufileSetting {
	var out []CufileSetting
	for _, s := range c.Settings {
		if !slices.Contains(CufilePathKeys, s.Name) {
			continue
		}
		for _, p := range append(s.List, s.Value)[:max(len(s.List), 1)] {
			if path.IsAbs(p) {
				out = append(out, CufileSetting{Name: s.Name, Value: p, Known: true, Line: s.Line})
			}
		}
	}
	return out
}

// CufileDoubt is a value out of its limits.
type CufileDoubt struct {
	Name, Why string
	Line      int
}

// Get finds a setting.
func (c CufileJSON) Get(name string) (CufileSetting, bool) {
	for _, s := range c.Settings {
		if s.Name == name {
			return s, true
		}
	}
	return CufileSetting{}, false
}

// ParseCufileJSON reads a whole file. A text that was cut is refused like a file that ends there: whoever knows that
// it was cut must not call it.
func ParseCufileJSON(b []byte) CufileJSON {
	p := cufileParser{text: string(b)}
	var root cufileNode
	f := cufileFlat{text: p.text}
	if !p.value(&root) {
		f.refuse(p.bad)
		return f.finish()
	}
	switch {
	case root.kind == cufileObject, root.kind == cufileNull, root.kind == cufileList && len(root.list) == 0:
		f.object("", root)
	default:
		f.refuse(cufileFault{root.from, "the first value is not an object", true})
	}
	return f.finish()
}

// cufileFlat turns the tree into settings.
type cufileFlat struct {
	text string
	out  CufileJSON
	bad  []cufileFault
	at   []int // of the settings
}

func (f *cufileFlat) refuse(x cufileFault) { f.bad = append(f.bad, x) }

// finish counts lines in one go and names the first fault of the text.
func (f *cufileFlat) finish() CufileJSON {
	lines := cufileLines{text: f.text}
	for i, at := range f.at {
		f.out.Settings[i].Line = lines.of(at)
	}
	for i := range f.out.Doubts {
		if s, ok := f.out.Get(f.out.Doubts[i].Name); ok {
			f.out.Doubts[i].Line = s.Line
		}
	}
	f.out.Accepted = len(f.bad) == 0
	if !f.out.Accepted {
		first := slices.MinFunc(f.bad, func(a, b cufileFault) int { return a.at - b.at })
		f.out.Line, f.out.Reason, f.out.Dies = 1+strings.Count(f.text[:min(first.at, len(f.text))], "\n"), first.why, first.dies
	}
	return f.out
}

// cufileLines counts lines of rising offsets.
type cufileLines struct {
	text     string
	at, line int
}

func (l *cufileLines) of(at int) int {
	if at < l.at {
		l.at, l.line = 0, 0
	}
	l.line += strings.Count(l.text[l.at:at], "\n")
	l.at = at
	return l.line + 1
}

// object takes the members of an object. Below known depths and lengths an object is a value of its own: libcufile
// has no key there.
func (f *cufileFlat) object(prefix string, n cufileNode) {
	for _, m := range n.members {
		name := prefix + m.name
		if strings.Contains(m.name, ".") {
			// A name with a dot is not a path: libcufile does not find "properties.allow_compat_mode" as one name.
			f.add(CufileSetting{Name: prefix + strconv.Quote(short(m.name)), Value: f.plain(m.node)}, m.at)
			continue
		}
		key, known := CufileKeyOf(name)
		section := slices.Contains(cufileSections, name)
		switch {
		case m.node.kind == cufileNull:
		case section && m.node.kind != cufileObject:
			f.refuse(cufileFault{m.at, name + " is not an object", true})
		case known:
			f.setting(key, m)
		case m.node.kind == cufileObject && len(name) < 128 && strings.Count(name, ".") < 6:
			f.object(name+".", m.node)
		default:
			f.add(CufileSetting{Name: short(name), Value: f.plain(m.node)}, m.at)
		}
	}
}

func (f *cufileFlat) add(s CufileSetting, at int) {
	f.out.Settings = append(f.out.Settings, s)
	f.at = append(f.at, at)
}

// plain is the value of a key that libcufile does not read.
func (f *cufileFlat) plain(n cufileNode) string {
	if n.kind == cufileText {
		return n.text
	}
	if len(f.text[n.from:n.to]) > 200 {
		return f.text[n.from:n.from+200] + "…"
	}
	return f.text[n.from:n.to]
}

func (f *cufileFlat) setting(key CufileKey, m cufileMember) {
	s := CufileSetting{Name: key.Name, Known: true}
	ok, dies := false, false
	switch n := m.node; key.Kind {
	case CufileBool:
		ok = n.kind == cufileTrue || n.kind == cufileFalse
		s.Value = strconv.FormatBool(n.kind == cufileTrue)
	case CufileString:
		ok, s.Value = n.kind == cufileText, n.text
		if key.Name == "properties.rdma_peer_type" && ok && s.Value != "peer_mem" && s.Value != "dmabuf" {
			f.out.Doubts = append(f.out.Doubts, CufileDoubt{Name: key.Name, Why: "must be peer_mem or dmabuf"})
		}
	case CufileUint, CufileUint32:
		var v uint64
		v, ok = n.unsigned()
		s.Value = strconv.FormatUint(v, 10)
		if key.Kind == CufileUint32 && v > math.MaxUint32 {
			ok, dies = false, ok
		}
		if why := cufileLimit(key.Name, v); ok && why != "" {
			f.out.Doubts = append(f.out.Doubts, CufileDoubt{Name: key.Name, Why: why})
		}
	case CufileUints, CufileStrings:
		ok = n.kind == cufileList
		s.List = []string{}
		for _, v := range n.list {
			u, isUint := v.unsigned()
			switch {
			case key.Kind == CufileStrings && v.kind == cufileText:
				s.List = append(s.List, v.text)
			case key.Kind == CufileUints && isUint && v.kind == cufileNumber && v.whole:
				s.List = append(s.List, strconv.FormatUint(u, 10))
			default:
				ok = false
			}
		}
		s.Value = strings.Join(s.List, " ")
		if ok && key.Kind == CufileUints && len(s.List) == 0 {
			return // as if the key were not there
		}
	case CufileMounts:
		ok, s.List = cufileMounts(m.node)
		s.Value = strings.Join(s.List, " ")
	}
	if !ok {
		f.refuse(cufileFault{m.at, fmt.Sprintf("%s has the wrong type: %s", key.Name, short(f.plain(m.node))), dies})
		return
	}
	f.add(s, m.at)
}

// unsigned converts as jsoncpp does: a fraction is dropped, true is 1; what is negative or too large has no value.
func (n cufileNode) unsigned() (uint64, bool) {
	switch {
	case n.kind == cufileTrue:
		return 1, true
	case n.kind == cufileFalse:
		return 0, true
	case n.kind != cufileNumber:
		return 0, false
	case n.whole:
		return n.n, !n.neg
	}
	return uint64(n.real), n.real >= 0 && n.real < math.MaxUint64
}

func cufileMounts(n cufileNode) (ok bool, paths []string) {
	if n.kind != cufileObject {
		return false, nil
	}
	paths = []string{}
	for _, m := range n.members {
		if m.node.kind != cufileObject && m.node.kind != cufileNull {
			return false, nil
		}
		for _, x := range m.node.members {
			if x.name != "rdma_dev_addr_list" || x.node.kind == cufileNull {
				continue
			}
			if x.node.kind != cufileList || slices.ContainsFunc(x.node.list, func(v cufileNode) bool { return v.kind != cufileText }) {
				return false, nil
			}
		}
		paths = append(paths, m.name)
	}
	return true, paths
}

// cufileLimit tells why 1.15.1 refuses a number, as its own messages give the limits.
func cufileLimit(name string, v uint64) string {
	switch name {
	case "properties.max_direct_io_size_kb":
		if v < 64 || v > 16384 || v%64 != 0 {
			return "must be a multiple of 64 from 64 to 16384"
		}
	case "properties.max_device_cache_size_kb":
		if v%4 != 0 {
			return "must be a multiple of 4"
		}
	case "properties.max_device_pinned_mem_size_kb":
		if v != 0 && v < 64 {
			return "must be at least 64"
		}
	case "properties.poll_mode_max_size_kb":
		if v < 4 || v%4 != 0 {
			return "must be a multiple of 4, and not 0"
		}
	case "properties.io_batchsize":
		if v < 1 || v > 256 {
			return "must be from 1 to 256"
		}
	case "properties.max_batch_io_timeout_msecs":
		if v < 1 || v > 1000 {
			return "must be from 1 to 1000"
		}
	case "properties.per_buffer_cache_size_kb":
		if v < 64 {
			return "too small" // 0 ends the process
		}
	case "execution.max_io_queue_depth":
		if v < 1 {
			return "must not be 0"
		}
	}
	return ""
}
