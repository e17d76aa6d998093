package sim

import (
	"fmt"
	"slices"
	"strings"
)

// systemctl answers "show UNIT -p LIST" as systemd 252 does: in its own order, only what the unit has, exit 0.
func (n *node) systemctl(args []string) answer {
	if len(args) < 2 || args[0] != "show" {
		return answer{err: "the simulated systemctl knows show alone\n", exit: 1}
	}
	var want []string
	if len(args) == 4 && args[2] == "-p" {
		want = strings.Split(args[3], ",")
	}
	var props [][2]string
	switch {
	case args[1] == unit && n.fs != nil && !n.setup.missing:
		props = n.setupUnit()
	case n.fs != nil && args[1] == strings.TrimPrefix(n.fs.dir, "/")+".mount":
		props = n.mountUnit()
	default:
		props = missingUnit(args[1])
	}
	var b strings.Builder
	for _, p := range props {
		if len(want) == 0 || slices.Contains(want, p[0]) {
			fmt.Fprintf(&b, "%s=%s\n", p[0], p[1])
		}
	}
	return answer{out: b.String()}
}

// at prints a moment as two properties, nothing and 0 where it never was.
func moment(name string, at float64) [][2]string {
	if at == 0 {
		return [][2]string{{name, ""}, {name + "Monotonic", "0"}}
	}
	return [][2]string{{name, stamp(at)}, {name + "Monotonic", fmt.Sprintf("%d", uint64(at*1e6))}}
}

func (n *node) setupUnit() [][2]string {
	failed := n.complaint() != ""
	status := onOff(failed, "1", "0")
	active := n.ended()
	if failed {
		active = 0
	}
	props := [][2]string{{"Type", "oneshot"}, {"RemainAfterExit", "yes"}, {"Result", onOff(failed, "exit-code", "success")}}
	props = append(props, moment("ExecMainExitTimestamp", n.ended())...)
	props = append(props, [][2]string{
		{"ExecMainCode", "1"}, {"ExecMainStatus", status},
		{"ExecStart", fmt.Sprintf("{ path=/usr/bin/python3 ; argv[]=%s ; ignore_errors=no ; start_time=[%s] ; stop_time=[%s] ; pid=1811 ; code=exited ; status=%s }",
			n.execStart(), stamp(n.setup.at), stamp(n.ended()), status)},
		{"Id", unit}, {"Requires", "system.slice network-online.target sysinit.target"},
		{"After", "basic.target systemd-journald.socket network-online.target system.slice sysinit.target"},
		{"LoadState", "loaded"}, {"ActiveState", onOff(failed, "failed", "active")}, {"SubState", onOff(failed, "failed", "exited")},
		{"FragmentPath", "/etc/systemd/system/" + unit}, {"SourcePath", ""}, {"UnitFileState", "enabled"}}...)
	return append(props, moment("ActiveEnterTimestamp", active)...)
}

// mountUnit is the unit that systemd makes of a line in fstab. A mount by hand makes it active too.
func (n *node) mountUnit() [][2]string {
	on, at := n.mounted(), 0.0
	what := "fs-0b7e51c49d2af8036.fsx.us-west-2.amazonaws.com@tcp:/" + n.fs.name
	if on {
		what, at = n.fs.source(), n.mountedAt()
	}
	name := strings.TrimPrefix(n.fs.dir, "/")
	requires, after := "-.mount system.slice", "-.mount remote-fs-pre.target systemd-journald.socket system.slice network.target "+name+".automount"
	if !n.fs.unordered {
		requires, after = requires+" "+unit, after+" "+unit
	}
	props := [][2]string{{"Where", n.fs.dir}, {"What", what},
		{"Options", "rw,relatime,checksum,flock,nouser_xattr,lruresize,lazystatfs,nouser_fid2path,verbose,encrypt,_netdev"}, {"Type", "lustre"}, {"Result", "success"},
		{"Id", name + ".mount"}, {"Requires", requires}, {"After", after},
		{"LoadState", "loaded"}, {"ActiveState", onOff(on, "active", "inactive")}, {"SubState", onOff(on, "mounted", "dead")},
		{"FragmentPath", "/run/systemd/generator/" + name + ".mount"}, {"SourcePath", "/etc/fstab"}, {"UnitFileState", "generated"}}
	return append(props, moment("ActiveEnterTimestamp", at)...)
}

func missingUnit(name string) [][2]string {
	props := [][2]string{{"Id", name}, {"Requires", ""}, {"After", ""}, {"LoadState", "not-found"}, {"ActiveState", "inactive"}, {"SubState", "dead"},
		{"FragmentPath", ""}, {"SourcePath", ""}, {"UnitFileState", ""}}
	if strings.HasSuffix(name, ".service") {
		own := append([][2]string{{"Type", "simple"}, {"RemainAfterExit", "no"}, {"Result", "success"}}, moment("ExecMainExitTimestamp", 0)...)
		props = slices.Concat(own, [][2]string{{"ExecMainCode", "0"}, {"ExecMainStatus", "0"}}, props)
	}
	return append(props, moment("ActiveEnterTimestamp", 0)...)
}

// journalctl answers for the kernel and for the set-up's unit.
func (n *node) journalctl(args []string) answer {
	var b strings.Builder
	switch {
	case slices.Contains(args, "-k"): // -o short-monotonic
		for line := range strings.Lines(n.dmesg()) {
			at, text, _ := strings.Cut(line, "] ")
			fmt.Fprintf(&b, "%s] %s kernel: %s", at, n.hostname, text)
		}
	case slices.Contains(args, unit): // -o short-iso; a line's own indentation is kept
		for _, r := range n.setupJournal() {
			fmt.Fprintf(&b, "%s %s %s: %s\n", clock(r.at).Format("2006-01-02T15:04:05-0700"), n.hostname, r.from, r.text)
		}
	}
	return answer{out: b.String()}
}
