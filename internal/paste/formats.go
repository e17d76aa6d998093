package paste

import (
	"regexp"
	"strings"

	"gdsproof/internal/facts"
)

// format is one kind of output. Formats are tried in the order of the table, and a block that is open before them.
type format struct {
	name string // for the list of what was read
	// is tells a line that only this output has.
	is func(s string) bool
	// more tells a line that belongs to it once it is open; nil: none does.
	more func(s string) bool
	// weak tells a line that other outputs have too: an open one that takes it keeps it.
	weak func(s string) bool
	// again tells a line that only begins such an output: met a second time it begins another one.
	again func(s string) bool
	// ends tells that the text shows the output's end, so that what is not in it was not printed.
	ends func(b *block) bool
	// source is the canonical name under which facts look for it.
	source func(b *block) string
	// wants tells that a command prints this, whatever the lines look like.
	wants func(c *command) bool
}

func always(string) bool                 { return true }
func named(s string) func(*block) string { return func(*block) string { return s } }

func hasAny(s string, subs ...string) bool {
	for _, x := range subs {
		if strings.Contains(s, x) {
			return true
		}
	}
	return false
}

func prefixed(s string, prefixes ...string) bool {
	t := strings.TrimLeft(s, " \t")
	for _, p := range prefixes {
		if strings.HasPrefix(t, p) {
			return true
		}
	}
	return false
}

// indented are the lines of a listing: deeper than its head, a list's dash, or "key: value".
func indented(s string) bool {
	return s == "" || s[0] == ' ' || s[0] == '\t' || s[0] == '-' || strings.Contains(s, ":")
}

var (
	cufileLine = regexp.MustCompile(`^ ?\d{1,2}-\d{1,2}-\d{4} \d\d:\d\d:\d\d:\d+ \[pid=`)
	moduleRow  = regexp.MustCompile(`^([A-Za-z][\w-]*)\s+(\d{4,9})\s+(-?\d+|-)(\s+\S.*)?$`)
	kernelLine = regexp.MustCompile(`^(?:<\d+>)?(?:[a-z0-9]+ *:[a-z]+ *: ?)?\[ *(?:\d+\.\d+|\+ *\d+\.\d+|[A-Z][a-z]{2} ?\d{1,2} +\d\d:\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4})\]`)
	syslogLine = regexp.MustCompile(`^(?:[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d(?:\.\d+)?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*) \S+ (\S+?)(?:\[\d+\])?: `)
	mountLine  = regexp.MustCompile(`^\S+ on (/\S*) type (\S+) \(`)
	tableRow   = regexp.MustCompile(`^(\S+)\s+(/\S*|none|swap)\s+([a-z][\w.-]*)\s+(\S+)\s+\d+\s+\d+\s*$`)
	infoRow    = regexp.MustCompile(`^\d+ \d+ \d+:\d+ \S+ /\S* \S+ .*- \S+ \S+ \S+`)
	dfRow      = regexp.MustCompile(`\s(?:\d+|-)%\s+/\S*$`)
	lfsRow     = regexp.MustCompile(`^\S+-(?:OST|MDT)[0-9a-f]{4}_UUID\s|^\S+\s*:\s*inactive device|^OST[0-9a-f]{4}\s|\[(?:OST|MDT):\d+\]`)
	deviceRow  = regexp.MustCompile(`^[-cbl][rwxsStT-]{9}[.+@]?\s+\d+\s.*/dev/nvidia-fs\d+$`)
	paramRow   = regexp.MustCompile(`^/sys/module/nvidia_fs/parameters/\w+\s*[:=]\s*\S+$`)
	dlRow      = regexp.MustCompile(`^\s*\d+ (?:UP|IN|ST|AT|--) (?:mgc|lov|lmv|mdc|osc|llite|ost|obdfilter)\s`)
	unameLine  = regexp.MustCompile(`^Linux \S+ \d+\.\d+\S* #\d+`)
	rdmaName   = regexp.MustCompile(`^(?:(?:efa_\d+|rdmap\d+s\d+(?:f\d+)?)[@/]?\s*)+$`)
	hwRow      = regexp.MustCompile(`^(?:(?:\S*/)?(?:efa_\d+|rdmap\d+s\d+)\S*[/ ]\s*(?:ports/\d+/)?(?:hw_counters/)?[a-z][a-z0-9_]*\s*[=: ]\s*[\d,]+|==> \S*hw_counters/\S+ <==|link (?:efa_\d+|rdmap\S+)/\d+ \S+ \d+.*)$`)
	okErrRow   = regexp.MustCompile(`^\s*[A-Z]\w+: ok = \d+ err = \d+`) // of gds_stats
	setupLine  = regexp.MustCompile(`Detected instance type: \S|configure-efa-fsx-lustre-client|EFA interfaces? (?:added|will)|Using EFA|Configuring (?:TCP|EFA)`)
)

// formats are all outputs that are read.
var formats []*format

func init() {
	formats = []*format{
		{name: "cufile.log", is: cufileLine.MatchString, more: func(s string) bool { return cufileLine.MatchString(s) || s != "" && s[0] == ' ' }, source: named(facts.PastedCufileLog)},
		{name: "gdsio", is: facts.IsGdsioLine, source: named(facts.GdsioSource), wants: func(c *command) bool { return c.program() == "gdsio" || c.program() == "gdsio_verify" }},
		{name: "gds_stats", is: facts.IsGDSStatsLine, more: func(s string) bool { return facts.IsGDSStatsLine(s) || s == "" || okErrRow.MatchString(s) }, again: func(s string) bool { return strings.Contains(s, "STATS VERSION") },
			source: named(facts.GDSStatsSource), wants: func(c *command) bool { return c.program() == "gds_stats" }},
		{name: "/proc/driver/nvidia-fs/stats", is: nvfsStats, more: func(s string) bool { return nvfsStats(s) || s == "" }, again: func(s string) bool {
			return prefixed(s, "GDS Version", "NVFS statistics", "Mmap", "Ops")
		}, ends: has(isOps), source: named(facts.NVFSProc + "/stats"),
			wants: func(c *command) bool { return c.has("/proc/driver/nvidia-fs/stats") }},
		{name: "gdscheck", is: gdscheck, more: gdscheckMore, again: func(s string) bool { return prefixed(s, "GDS release version", "nvidia_fs version") },
			ends: has(func(s string) bool { return strings.Contains(strings.ToLower(s), "latform verification") }), source: named("gdscheck -p"), wants: func(c *command) bool { return strings.HasPrefix(c.program(), "gdscheck") }},
		{name: "lnetctl net show", is: lnetNet, weak: func(s string) bool { return prefixed(s, "send_count:", "recv_count:", "- nid:", "nid:") }, more: indented, again: func(s string) bool { return s == "net:" || prefixed(s, "- net type: lo") || prefixed(s, "show:") }, source: lnetSource,
			wants: func(c *command) bool { return c.program() == "lnetctl" && c.has("net") && !c.count }},
		{name: "lnetctl peer show", is: func(s string) bool { return s == "peer:" || s == "ping:" || prefixed(s, "- primary nid:", "peer ni:") }, more: indented,
			again: func(s string) bool { return s == "peer:" || s == "ping:" }, source: peerSource},
		{name: "lnetctl stats show", is: func(s string) bool { return prefixed(s, "msgs_alloc:") || s == "statistics:" }, more: indented, source: named("lnetctl stats show")},
		{name: "lnetctl global show", is: func(s string) bool { return s == "global:" || prefixed(s, "numa_range:") }, more: indented, source: named(facts.LNetGlobalSource)},
		{name: "lnetctl udsp show", is: func(s string) bool { return s == "udsp:" }, more: indented, source: named(facts.LNetUDSPSource)},
		{name: "nvidia-smi -q", is: func(s string) bool { return strings.Contains(s, "NVSMI LOG") }, more: always, source: named(facts.SMISource), again: func(s string) bool { return strings.Contains(s, "NVSMI LOG") }},
		{name: "nvidia-smi topo -m", is: func(s string) bool { return strings.Contains(s, "GPU0\tGPU1") || strings.Contains(s, "CPU Affinity") }, more: func(s string) bool {
			return prefixed(s, "GPU", "NIC", "Legend", "X ", "SYS ", "NODE", "PHB", "PXB", "PIX", "NV#", "mlx") || s == ""
		}, source: named("nvidia-smi topo -m")},
		{name: "systemctl", is: systemctl, more: indented, again: func(s string) bool { return prefixed(s, "●", "○", "× ", "LoadState=") }, source: unitSource, wants: func(c *command) bool { return c.program() == "systemctl" }},
		{name: "the set-up's journal", weak: always, is: func(s string) bool {
			m := syslogLine.FindStringSubmatch(s)
			return m != nil && hasAny(s, "configure-efa-fsx", "setup.sh") || setupLine.MatchString(s)
		}, more: func(s string) bool { return !prefixed(s, "●") }, source: named(facts.ConfigureJournal), wants: func(c *command) bool {
			return c.program() == "journalctl" && strings.Contains(c.text, facts.ConfigureUnitName[:20])
		}},
		{name: "the kernel log", is: kernelLog, source: kernelSource, wants: func(c *command) bool {
			return c.program() == "dmesg" || c.program() == "journalctl" && (c.has("-k") || c.has("--dmesg"))
		}},
		{name: "modinfo", is: func(s string) bool {
			return prefixed(s, "filename:") && hasAny(s, ".ko", "(builtin)") || strings.HasPrefix(s, "modinfo: ERROR")
		}, more: func(s string) bool {
			k, _, ok := strings.Cut(s, ":")
			return ok && k != "" && !strings.ContainsAny(k, " /@")
		}, again: func(s string) bool { return prefixed(s, "filename:", "modinfo: ERROR") }, source: modinfoSource, wants: func(c *command) bool { return c.program() == "modinfo" }},
		{name: "lfs df", is: func(s string) bool { return lfsRow.MatchString(s) || strings.HasPrefix(s, "UUID  ") }, more: func(s string) bool { return prefixed(s, "filesystem_summary") || s == "" }, source: lfsDfSource,
			wants: func(c *command) bool { return c.program() == "lfs" && c.has("df") }},
		{name: "df", is: func(s string) bool {
			return strings.HasPrefix(s, "Filesystem ") && strings.Contains(s, "Mounted on") || dfRow.MatchString(s)
		}, more: func(s string) bool { return dfRow.MatchString(s) }, source: named("df -hT"), wants: func(c *command) bool { return c.program() == "df" }},
		{name: "mount", is: mountLine.MatchString, source: named("mount"), wants: func(c *command) bool { return c.program() == "mount" && len(c.argv) < 4 }},
		{name: "/proc/self/mountinfo", is: infoRow.MatchString, source: named(facts.MountinfoSource)},
		{name: "findmnt", is: func(s string) bool { return strings.HasPrefix(s, "TARGET") && strings.Contains(s, "FSTYPE") }, more: func(s string) bool { return strings.Contains(s, "/") }, source: named("findmnt"), wants: func(c *command) bool { return c.program() == "findmnt" }},
		{name: "/proc/mounts", is: func(s string) bool { return tableRow.MatchString(s) && !isFstab(s) }, source: named("/proc/mounts"), wants: func(c *command) bool {
			return c.has("/proc/mounts") || c.has("/proc/self/mounts") || c.has("/etc/mtab")
		}},
		{name: "/etc/fstab", is: func(s string) bool { return tableRow.MatchString(s) && isFstab(s) || fstabLustre(s) }, more: func(s string) bool { return strings.HasPrefix(s, "#") }, source: named("/etc/fstab"), wants: func(c *command) bool { return c.has("/etc/fstab") }},
		{name: "the EFA counters", is: hwRow.MatchString, more: func(s string) bool { return strings.Trim(s, "0123456789,") == "" && s != "" }, source: named(facts.EFACountersSource)},
		{name: "nvidia-fs device nodes", is: deviceRow.MatchString, source: named("ls -l /dev/nvidia-fs*"), wants: func(c *command) bool { return c.program() == "ls" && strings.Contains(c.text, "/dev/nvidia-fs") }},
		{name: "nvidia-fs parameters", is: paramRow.MatchString, source: named(facts.NVFSModule + "/parameters/*")},
		{name: "lctl dl", is: dlRow.MatchString, source: named("lctl dl")},
		{name: "lctl get_param", is: func(s string) bool {
			return prefixed(s, "health_check=") || lctlParam(s)
		}, more: func(s string) bool { return s != "" && (s[0] == ' ' || strings.HasPrefix(s, "import:")) }, source: lctlSource, wants: func(c *command) bool { return c.program() == "lctl" && c.has("get_param") }},
		{name: "uname -a", is: unameLine.MatchString, source: named("uname -a")},
		{name: "/proc/driver/nvidia-fs/version", is: func(s string) bool { return prefixed(s, "version: 2.") && strings.Count(s, ".") == 1 }, source: named(facts.NVFSProc + "/version"), wants: func(c *command) bool { return c.has("/proc/driver/nvidia-fs/version") }},
		{name: "/proc/driver/nvidia/version", is: func(s string) bool { return strings.HasPrefix(s, "NVRM version:") }, more: func(s string) bool { return strings.HasPrefix(s, "GCC version:") }, source: named("/proc/driver/nvidia/version")},
		{name: "dd", is: facts.IsDDLine, more: func(s string) bool { return strings.Contains(s, " records in") || strings.Contains(s, " records out") }, source: named(facts.DDSource), wants: func(c *command) bool { return c.program() == "dd" }},
		{name: "RDMA devices", is: rdmaName.MatchString, source: named("ls /sys/class/infiniband")},
		{name: "lsmod", is: func(s string) bool { return moduleHead(s) || isModuleRow(s) }, again: moduleHead, source: modulesSource, wants: func(c *command) bool { return c.program() == "lsmod" || c.has("/proc/modules") }},
	}
}

// has makes an end of a line that only the end of an output has.
func has(is func(string) bool) func(*block) bool {
	return func(b *block) bool {
		for _, l := range b.lines {
			if l.whole && is(l.text) {
				return true
			}
		}
		return false
	}
}

func isOps(s string) bool { return prefixed(s, "Ops") && strings.Contains(s, "BatchIO=") }
