package paste

import (
	"path"
	"strings"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
)

// commandFormats are outputs that only the command before them tells: a bare number, a single word, a file.
var commandFormats []*format

func init() {
	never := func(string) bool { return false }
	cat := func(p string) func(*command) bool { return func(c *command) bool { return c.has(p) } }
	commandFormats = []*format{
		{name: "grep -c @efa", is: never, source: named(facts.LNetCountSource), ends: always2,
			wants: func(c *command) bool {
				return c.count && c.program() == "lnetctl" && strings.Contains(strings.Join(c.filter, " "), "efa")
			}},
		{name: "a count", is: never, source: nil, wants: func(c *command) bool { return c.count }},
		{name: "lfs --version", is: never, source: named("lfs --version"), ends: always2, wants: func(c *command) bool { return c.program() == "lfs" && c.has("--version") }},
		{name: "cufile.json", is: never, source: fileSource, wants: func(c *command) bool {
			return c.program() == "cat" && len(c.argv) > 1 && strings.HasSuffix(c.argv[1], ".json") && strings.Contains(c.argv[1], "cufile")
		}},
		{name: "the environment", is: never, source: named(facts.CallerEnvironment), wants: func(c *command) bool {
			return (c.program() == "env" || c.program() == "printenv") && len(c.filter) == 0 && len(c.argv) < 2
		}},
	}
	commandFormats = append(commandFormats, &format{name: "hostname", is: never, source: named(facts.HostnameSource), ends: always2, wants: func(c *command) bool {
		return c.program() == "hostname" && (len(c.argv) == 1 || len(c.argv) == 2 && (c.argv[1] == "-f" || c.argv[1] == "-s"))
	}})
	for _, p := range []string{facts.HostnameSource, facts.BootIDSource, "/proc/driver/nvidia-fs/devcount", "/proc/driver/nvidia-fs/modules", "/proc/driver/nvidia-fs/peer_distance", facts.ACSBridgeSource, facts.CmdlineSource,
		facts.NVFSModule + "/version", facts.LustreVersionFile, facts.KefalndVersionFile, facts.EFAModuleVersion, facts.ProductSource, "/proc/driver/nvidia/version"} {
		commandFormats = append(commandFormats, &format{name: p, is: never, source: named(p), ends: always2, wants: cat(p)})
	}
}

func always2(*block) bool { return true }

// fileSource is the file that was printed.
func fileSource(b *block) string {
	if b.cmd != nil && len(b.cmd.argv) > 1 {
		return b.cmd.argv[len(b.cmd.argv)-1]
	}
	return facts.CufileEtc
}

// lnetSource parts a listing from the counters that a grep left of one.
func lnetSource(b *block) string {
	names, counts := false, false
	for _, l := range b.lines {
		t := strings.TrimLeft(l.text, " \t-")
		names = names || strings.HasPrefix(t, "nid:")
		counts = counts || strings.HasPrefix(t, "send_count:") || strings.HasPrefix(t, "recv_count:")
	}
	if counts && !names {
		return facts.LNetCountsSource
	}
	return facts.LNetSource
}

func peerSource(b *block) string {
	for _, l := range b.lines {
		if strings.TrimSpace(l.text) == "ping:" {
			return "lnetctl ping"
		}
	}
	return facts.LNetPeerSource
}

// unitSource: properties that name no unit, below no command and in no file that does, are of any unit.
func unitSource(b *block) string {
	named := b.cmd != nil || strings.Contains(b.name, "configure-efa")
	for _, l := range b.lines {
		named = named || hasAny(l.text, ".service", ".mount", ".target", "configure-efa")
	}
	if !named {
		return "systemctl show, of a unit that is not named"
	}
	return facts.UnitSource(facts.ConfigureUnitName)
}

func kernelSource(b *block) string {
	if b.cmd.program() == "journalctl" {
		return facts.JournalSource
	}
	return facts.DmesgSource
}

func modulesSource(b *block) string {
	for _, l := range b.lines {
		if f := strings.Fields(l.text); len(f) > 5 && strings.HasPrefix(f[5], "0x") {
			return "/proc/modules"
		}
	}
	return "lsmod"
}

// modinfoSource names the module by the file that modinfo found, or that it did not find.
func modinfoSource(b *block) string {
	for _, l := range b.lines {
		if v, ok := strings.CutPrefix(strings.TrimSpace(l.text), "filename:"); ok {
			n := path.Base(strings.TrimSpace(v))
			n, _, _ = strings.Cut(n, ".ko")
			return "modinfo " + strings.ReplaceAll(n, "-", "_")
		}
		if _, v, ok := strings.Cut(l.text, "modinfo: ERROR: Module "); ok {
			n, _, _ := strings.Cut(v, " ")
			return "modinfo " + strings.ReplaceAll(n, "-", "_")
		}
	}
	if b.cmd != nil && len(b.cmd.argv) > 1 {
		return "modinfo " + strings.ReplaceAll(b.cmd.argv[len(b.cmd.argv)-1], "-", "_")
	}
	return "modinfo"
}

func lfsDfSource(b *block) string {
	for _, l := range b.lines {
		f := strings.Fields(l.text)
		if len(f) == 0 {
			continue
		}
		if dir, _, ok := strings.Cut(f[len(f)-1], "["); ok && strings.HasPrefix(dir, "/") {
			return facts.LfsDfSource(dir)
		}
		if strings.HasPrefix(l.text, "filesystem_summary") && strings.HasPrefix(f[len(f)-1], "/") {
			return facts.LfsDfSource(f[len(f)-1])
		}
	}
	return facts.LfsDfSource("")
}

func lctlSource(b *block) string {
	for _, l := range b.lines {
		if lctlParam(l.text) {
			return facts.ImportsSource
		}
	}
	return "lctl get_param"
}

// failure is what a shell says instead of an output.
type failure struct {
	source string
	state  evidence.State
	words  string
}

// failureOf reads "cat: /proc/…: No such file or directory" and the like.
func failureOf(s string) (failure, bool) {
	t := strings.TrimSpace(s)
	var f failure
	switch {
	case strings.HasSuffix(t, ": No such file or directory"):
		f.state = evidence.Absent
	case strings.HasSuffix(t, ": Permission denied"):
		f.state = evidence.Denied
	case strings.HasSuffix(t, ": Input/output error"), strings.HasSuffix(t, ": Transport endpoint is not connected"), strings.HasSuffix(t, ": Operation not permitted"), strings.HasSuffix(t, ": No such device"):
		f.state = evidence.Failed
	default:
		return f, false
	}
	program, rest, ok := strings.Cut(t, ": ")
	if !ok || !programs[strings.TrimSpace(program)] || strings.ContainsAny(program, " /") {
		return f, false
	}
	i := strings.IndexByte(rest, '/')
	if i < 0 {
		return f, false
	}
	p := rest[i:strings.LastIndex(rest, ": ")]
	p = strings.Trim(p, `'"‘’`)
	if strings.HasPrefix(p, "/dev/nvidia-fs") && strings.ContainsAny(p, "*?[") {
		p = "ls -l /dev/nvidia-fs*"
	}
	f.source, f.words = p, t
	return f, true
}
