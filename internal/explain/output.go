package explain

import (
	"bytes"
	"strings"

	"gdsproof/internal/profile"
)

// outputs tells, line by line, whose output a pasted text is at the moment. Names such as active, Error or send_count
// are words of many programs, and one of them means another thing in each.
type outputs struct {
	now  string // an output of profile.Outputs, foreign, or "" while nothing has told
	json jsonPath
}

// foreign is the output of a program that no row is about.
const foreign = "foreign"

// headers open an output. They stand at the front of a line, behind blanks and the dash of a list.
var headers = []struct{ front, output string }{
	{"GDS Version:", profile.OutputStats}, {"NVFS statistics", profile.OutputStats}, {"NVFS Driver", profile.OutputStats},
	{"GDS release version", profile.OutputGdscheck}, {"libcufile version:", profile.OutputGdscheck}, {"nvidia_fs version:", profile.OutputGdscheck},
	{"nvidia_fs minimum version:", profile.OutputGdscheck}, {"DRIVER CONFIGURATION:", profile.OutputGdscheck}, {"CUFILE CONFIGURATION:", profile.OutputGdscheck},
	{"net type:", profile.OutputLNet}, {"primary nid:", profile.OutputLNet}, {"msgs_alloc:", profile.OutputLNetStats}, {"msgs_max:", profile.OutputLNetStats},
	{"==============NVSMI LOG", foreign}, {"NIC statistics:", foreign}, {"filename:", foreign}, {"[global]", foreign}, {"Linux ", foreign},
}

// alone open an output when they are all of a line.
var alone = map[string]string{"net:": profile.OutputLNet, "peer:": profile.OutputLNet, "global:": profile.OutputLNet, "udsp:": profile.OutputLNet}

// commands are words of a command behind a prompt, and whose output follows. Those that only print a file tell nothing.
var commands = []struct{ word, output string }{
	{"stats show", profile.OutputLNetStats}, {"lnetctl", profile.OutputLNet}, {"nvidia-fs/stats", profile.OutputStats}, {"hw_counters", profile.OutputEFA},
	{"/infiniband/", profile.OutputEFA}, {"gdscheck", profile.OutputGdscheck},
	{"cat ", ""}, {"grep ", ""}, {"head ", ""}, {"tail ", ""}, {"awk ", ""}, {"paste ", ""}, {"for ", ""}, {"watch ", ""}, {"env", ""}, {"echo ", ""},
}

// see reads the next line of a text. The path of JSON is left as it is before the line: see jsonPath.see.
func (o *outputs) see(line string) {
	t := strings.TrimLeft(line, " \t>|`")
	if command, ok := behindPrompt(t); ok {
		o.now, o.json = foreign, jsonPath{}
		for _, c := range commands {
			if strings.Contains(command, c.word) {
				o.now = c.output
				break
			}
		}
		return
	}
	if strings.HasPrefix(t, "Module ") && strings.Contains(t, "Used by") { // lsmod
		o.now = foreign
		return
	}
	if strings.HasPrefix(line, "statistics:") && o.now != profile.OutputLNet { // in net show it stands further in
		o.now = profile.OutputLNetStats
		return
	}
	t = strings.TrimLeft(t, "- \t")
	if out, ok := alone[strings.TrimSpace(t)]; ok {
		o.now = out
		return
	}
	for _, h := range headers {
		if strings.HasPrefix(t, h.front) {
			o.now = h.output
			return
		}
	}
	if strings.Contains(t, "/infiniband/") {
		o.now = profile.OutputEFA
	}
}

// behindPrompt is the command of a line that begins with a prompt: "$ lsmod", "[ec2-user@gpu-3 ~]$ lsmod", "root@gpu-3:~# lsmod".
// A lone # begins a note as well, so that is taken for one.
func behindPrompt(t string) (command string, ok bool) {
	if rest, found := strings.CutPrefix(t, "$ "); found {
		return rest, true
	}
	for _, end := range []string{"$ ", "# "} {
		at := strings.Index(t[:min(len(t), 80)], end)
		if at > 0 && !strings.Contains(t[:at], ": ") && (t[0] == '[' && strings.Contains(t[:at], "]") || strings.Contains(t[:at], "@") && strings.Contains(t[:at], ":")) {
			return t[at+len(end):], true
		}
	}
	return "", false
}

// deviceFront is a name of an EFA device before a counter: "efa_0 rx_drops=1", "rdmap85s0/rx_drops", "/sys/class/infiniband/efa_0/…/rx_drops".
func deviceFront(s string) bool {
	return strings.HasPrefix(s, "efa_") || strings.HasPrefix(s, "rdmap") || strings.HasPrefix(s, "ibp") || strings.Contains(s, "/infiniband/")
}

// jsonPath follows the objects of a JSON text over its lines, so that level is a key of logging and of nothing else.
type jsonPath struct {
	keys []string
	last string
}

const maxDepth = 16

// see reads a line and leaves the path as it is behind it.
func (p *jsonPath) see(line string) { p.walk(line, nil) }

// walk calls found for each key with the path that it lies at.
func (p *jsonPath) walk(line string, found func(path []string, key string)) {
	if strings.IndexByte(line, '"') < 0 && !strings.ContainsAny(line, "{}") {
		return
	}
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '/':
			if strings.HasPrefix(line[i:], "//") {
				return
			}
		case '{':
			if len(p.keys) < maxDepth {
				p.keys = append(p.keys, p.last)
			}
			p.last = ""
		case '}':
			p.last = ""
			if len(p.keys) > 0 {
				p.keys = p.keys[:len(p.keys)-1]
			}
		case '"':
			end := strings.IndexByte(line[i+1:], '"')
			if end < 0 {
				return
			}
			word := line[i+1 : i+1+end]
			i += 1 + end
			if rest := strings.TrimLeft(line[i+1:], " \t"); strings.HasPrefix(rest, ":") && len(word) <= 80 {
				p.last = word
				if found != nil {
					found(p.keys, word)
				}
			}
		}
	}
}

// copy is a path that can be walked on without changing this one.
func (p *jsonPath) copy() *jsonPath {
	return &jsonPath{keys: append([]string(nil), p.keys...), last: p.last}
}

// mark makes lines of different outputs and objects different, where they are folded by their shape.
func (o *outputs) mark(b *bytes.Buffer) {
	b.Reset()
	b.WriteString(o.now)
	for _, k := range o.json.keys {
		b.WriteByte(0)
		b.WriteString(k)
	}
}
