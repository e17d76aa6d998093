package facts

import "testing"

// The error forms of lnetctl 2.12 to 2.17, as its printers (cyaml.c; libyaml from 2.16 on) lay them out.
func TestLNetProblems(t *testing.T) {
	errno := func(n, descr string) string {
		return "show:\n    - net:\n          errno: " + n + "\n          descr: \"" + descr + "\"\n"
	}
	netlink := func(n, descr string) string {
		return "---\nshow:\n-     net:\n      errno: " + n + "\n      descr: ! \"" + descr + "\"\n...\n"
	}
	open := func(why string) string {
		return "opening /dev/lnet failed: " + why + "\nhint: the kernel modules may not be loaded\n"
	}
	help := "net show: show networks\n\t--net: net name (e.g. tcp0) to filter on\n\t--verbose: display detailed output per network.\n\n"
	for _, c := range []struct {
		name, out, err string
		exit           *int
		want           LNetState
		errno          Opt[int]
		words          string
	}{
		{"not loaded, 2.15", "", open("No such file or directory"), exit(0), LNetNotLoaded, Opt[int]{}, "opening /dev/lnet failed: No such file or directory"},
		{"not loaded, peer show", "", open("No such file or directory") + errno("-2", "cannot get peer list: No such file or directory"), exit(254), LNetNotLoaded, Some(-2), "opening /dev/lnet failed: No such file or directory"},
		{"not loaded, global show", "", errno("-2", "cannot get numa_range: Unknown error -2"), exit(254), LNetNotLoaded, Some(-2), "cannot get numa_range: Unknown error -2"},
		{"not loaded, 2.16", "", "Writer error: failed to resolve Netlink family id\n", exit(234), LNetNotLoaded, Opt[int]{}, "Writer error: failed to resolve Netlink family id"},
		{"driver gone", "", open("No such device") + errno("-19", "cannot get networks: No such device"), exit(237), LNetNotLoaded, Some(-19), "opening /dev/lnet failed: No such device"},
		{"not configured, 2.15", "", errno("-100", "cannot get networks: Network is down"), exit(156), LNetNotConfigured, Some(-100), "cannot get networks: Network is down"},
		{"not configured, 2.16", "", netlink("-100", "LNet stack down"), exit(156), LNetNotConfigured, Some(-100), `descr: ! "LNet stack down"`},
		{"not root", "", open("Permission denied") + errno("-13", "cannot get networks: Permission denied"), exit(243), LNetDenied, Some(-13), "opening /dev/lnet failed: Permission denied"},
		{"no CAP_SYS_ADMIN", "", errno("-13", "cannot get networks: Permission denied"), exit(243), LNetDenied, Some(-13), `descr: "cannot get networks: Permission denied"`},
		{"not root, 2.16", "", netlink("-1", "Operation not permitted"), exit(255), LNetDenied, Some(-1), `descr: ! "Operation not permitted"`},
		{"sudo asks", "", "sudo: a password is required\n", exit(1), LNetDenied, Opt[int]{}, "sudo: a password is required"},
		{"net absent, 2.16", "", netlink("-3", "Network is down"), exit(234), LNetNetAbsent, Some(-3), "Network is down"},
		{"net unknown, 2.15", "", errno("-1", "cannot parse net 'efa'"), exit(255), LNetNetUnknown, Some(-1), `descr: "cannot parse net 'efa'"`},
		{"net unknown, 2.16", "", netlink("-2", "cannot parse net"), exit(254), LNetNetUnknown, Some(-2), `descr: ! "cannot parse net"`},
		{"bad option", help, "show: invalid option -- '4'\n", exit(0), LNetBadOption, Opt[int]{}, "show: invalid option -- '4'"},
		{"bad option, stdout alone", help, "", nil, LNetBadOption, Opt[int]{}, "net show: show networks"},
		{"no tool", "", "bash: lnetctl: command not found\n", exit(127), LNetNoTool, Opt[int]{}, "bash: lnetctl: command not found"},
		{"no tool, exit alone", "", "", exit(127), LNetNoTool, Opt[int]{}, ""},
		{"empty", "", "", exit(0), LNetEmpty, Opt[int]{}, ""},
		{"empty, exit not known", "\n \n", "", nil, LNetEmpty, Opt[int]{}, ""},
		{"empty, exit 1", "", "", exit(1), LNetFailed, Opt[int]{}, ""},
		{"another errno", "", errno("-12", "cannot get networks: out of memory"), exit(244), LNetFailed, Some(-12), "cannot get networks: out of memory"},
		{"an error among the output", errno("-100", "cannot get networks: Network is down"), "", nil, LNetNotConfigured, Some(-100), "cannot get networks: Network is down"},
		{"something else", "Filesystem Type Size\n/dev/root ext4 20G\n", "", exit(0), LNetUnreadable, Opt[int]{}, "Filesystem Type Size"},
	} {
		_, p := ParseLNet([]byte(c.out), []byte(c.err), c.exit)
		if want := (LNetProblem{c.want, c.errno, c.words}); p != want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.name, p, want)
		}
		if p.OK() {
			t.Errorf("%s: taken for an answer", c.name)
		}
	}
	// An answer stays one, but one that ended with an error is not known to be whole.
	text := []byte(lnetPrinter{}.print(lnetNode(1)))
	if l, p := ParseLNet(text, []byte("Reader error\n"), exit(3)); !p.OK() || !l.Cut || len(l.NIs) != 3 {
		t.Errorf("an answer with an error behind it: %+v %+v", p, l)
	}
}
