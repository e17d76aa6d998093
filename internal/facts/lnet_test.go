package facts

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestLNetLayoutsAndVerbosities(t *testing.T) {
	node := lnetNode(3)
	for _, netlink := range []bool{false, true} {
		for _, verbose := range []int{0, 1, 2, 4} {
			p := lnetPrinter{netlink, verbose}
			t.Run(fmt.Sprintf("netlink=%v/v%d", netlink, verbose), func(t *testing.T) {
				l, problem := ParseLNet([]byte(p.print(node)), nil, exit(0))
				if problem != (LNetProblem{State: LNetAnswered}) {
					t.Fatalf("problem %+v", problem)
				}
				want := LNet{Nets: []string{"lo", "tcp", "efa"}, NIs: p.read(node)}
				if !reflect.DeepEqual(l, want) {
					t.Errorf("got  %+v\nwant %+v", l, want)
				}
			})
		}
	}
}

// What a paste does to a text must not change what is read.
func TestLNetBattered(t *testing.T) {
	node := lnetNode(2)
	text := lnetPrinter{verbose: 4}.print(node)
	flat := func(s string) string {
		var out []string
		for l := range strings.Lines(s) {
			out = append(out, strings.TrimSpace(l))
		}
		return strings.Join(out, "\n") + "\n"
	}
	for name, batter := range map[string]func(string) string{
		"no indentation":    flat,
		"TABs":              func(s string) string { return strings.ReplaceAll(s, "    ", "\t") },
		"TABs in labels":    func(s string) string { return strings.ReplaceAll(s, "health value", "health\t value") },
		"squeezed":          func(s string) string { return strings.ReplaceAll(s, "  ", " ") },
		"no blank at colon": func(s string) string { return strings.ReplaceAll(s, ": ", ":") },
		"no-break blanks":   func(s string) string { return strings.ReplaceAll(s, "  ", "\u00a0\u00a0") },
		"CRLF":              func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"quoted":            func(s string) string { return "> " + strings.ReplaceAll(s, "\n", "\n> ") + "\n" },
		"quoted twice":      func(s string) string { return ">> " + strings.ReplaceAll(s, "\n", "\n>> ") + "\n" },
		"host before lines": func(s string) string { return "node7: " + strings.ReplaceAll(s, "\n", "\nnode7: ") + "\n" },
		"mpirun":            func(s string) string { return strings.ReplaceAll("\n"+s, "\n", "\n[1,0]<stdout>: ") + "\n" },
		"one line":          func(s string) string { return strings.ReplaceAll(flat(s), "\n", " ") + "\n" },
		"fenced":            func(s string) string { return "```yaml\n" + s + "```" },
		"documents":         func(s string) string { return "---\n" + s + "...\n" },
		"notes":             func(s string) string { return strings.ReplaceAll(s, "status:", "# the next\nstatus:") },
		"fences":            func(s string) string { return strings.ReplaceAll(s, "status:", "```\n```\nstatus:") },
		"an open document":  func(s string) string { return "---\n" + s + "..." },
		"numbered notes":    func(s string) string { return strings.ReplaceAll(s, "sent_stats:", "sent_stats:\n1: see below\n") },
		"prompt":            func(s string) string { return "[root@n ~]# lnetctl net show -v 4\n" + s + "[root@n ~]#\n" },
		"new labels":        func(s string) string { return strings.ReplaceAll(s, "recv_count", "get_rtt_usec: 5\nrecv_count") },
		"twice":             func(s string) string { return double(s) },
		"tagged":            func(s string) string { return strings.ReplaceAll(s, `CPT: "`, `CPT: ! "`) },
		"no last line break": func(s string) string {
			return strings.TrimSuffix(s, "\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, problem := ParseLNet([]byte(batter(text)), nil, nil)
			if !problem.OK() || l.Cut || l.Next != 0 || l.Orphans != 0 {
				t.Errorf("problem %+v, cut %v, next %d, orphans %d", problem, l.Cut, l.Next, l.Orphans)
			}
			for i := range l.NIs { // lines that came twice
				l.NIs[i].Interfaces = slices.Compact(l.NIs[i].Interfaces)
			}
			if !reflect.DeepEqual(l.NIs, node) {
				t.Errorf("got  %+v\nwant %+v", l.NIs, node)
			}
		})
	}
}

func TestLNetOldVersions(t *testing.T) {
	old, problem := ParseLNet([]byte(lnet210), nil, nil)
	if !problem.OK() || old.Cut {
		t.Fatalf("2.10: %+v cut %v", problem, old.Cut)
	}
	ten := LNetNI{
		NID: "192.168.40.7@o2ib1", Address: "192.168.40.7", Net: "o2ib1", Status: Some("down"),
		Interfaces: []string{"ib2", "ib5"},
		Stats:      LNetCounts{Some[uint64](31), Some[uint64](32), Some[uint64](33)},
		Tunables: LNetTunables{PeerTimeout: Some[int64](181), PeerCredits: Some[int64](9),
			PeerBufferCredits: Some[int64](2), Credits: Some[int64](257), ConnsPerPeer: Some[int64](5)},
		DevCPT: Some(1), CPT: Some([]int{0, 1, 2}),
	}
	if !reflect.DeepEqual(old.NIs, []LNetNI{ten}) {
		t.Errorf("2.10: got  %+v\nwant %+v", old.NIs, ten)
	}
	if len(old.Of("o2ib")) != 1 || len(old.Of("o2ib1")) != 0 || !old.Has("o2ib") || old.Has("efa") {
		t.Errorf("o2ib1 is a net of o2ib: %v", old.Nets)
	}

	twelve, _ := ParseLNet([]byte(lnet212), nil, nil)
	ni := twelve.NIs[0]
	if ni.Health != Some(77) || ni.HealthStats.FatalError.OK || ni.HealthStats.Dropped != Some[uint64](42) ||
		ni.Dropped.Hello != Some[uint64](25) || ni.Sent.Put.OK || ni.Received.Put.OK {
		t.Errorf("2.12: %+v", ni)
	}
	if ni.Tunables.ConnsPerPeer != Some[int64](6) || ni.Tunables.NQPs.OK || ni.NetPriority.OK || ni.DevCPT != Some(2) {
		t.Errorf("2.12: %+v", ni)
	}
}

func TestLNetNames(t *testing.T) {
	text := `net:
    - net type: <18:0>
      local NI(s):
        - nid: 7.9.80.0@<18:0>
          status: up
        - nid: fe80::71:9@x@efa1
          status: up
        - nid: nonsense
          status: down
`
	l, _ := ParseLNet([]byte(text), nil, nil)
	if len(l.NIs) != 2 || len(l.Of("efa")) != 2 {
		t.Fatalf("NIs %+v", l.NIs)
	}
	if o, ok := l.NIs[0].Octets(); !ok || o != [4]byte{7, 9, 80, 0} {
		t.Errorf("octets %v %v", o, ok)
	}
	if o, ok := l.NIs[1].Octets(); ok || l.NIs[1].Address != "fe80::71:9@x" || l.NIs[1].Net != "efa1" {
		t.Errorf("long NID: %+v, octets %v", l.NIs[1], o)
	}
	if l.Orphans != 1 || l.NIs[1].Status != Some("up") {
		t.Errorf("the status of a NID that is none: orphans %d, %+v", l.Orphans, l.NIs[1])
	}
}

// Values behind a gap belong to an interface that is not named.
func TestLNetGaps(t *testing.T) {
	for _, gap := range []string{"...", "…", "--", "<snip>", "[root@n ~]# "} {
		text := "- nid: 1.2.80.0@efa\n  status: up\n" + gap + "\n  send_count: 5\n- nid: 1.2.81.0@efa\n  send_count: 6\n"
		l, _ := ParseLNet([]byte(text), nil, nil)
		if len(l.NIs) != 2 || l.NIs[0].Stats.Send.OK || l.NIs[1].Stats.Send != Some[uint64](6) || l.Orphans != 1 {
			t.Errorf("%q: %+v", gap, l)
		}
	}
}

// A grep that took the names away lets two interfaces look like one: the first value is the named one's.
func TestLNetLostName(t *testing.T) {
	l, _ := ParseLNet([]byte("- nid: 1.2.80.0@efa\n  send_count: 5\n  credits: 1\n  send_count: 9\n  credits: 2\n"), nil, nil)
	if len(l.NIs) != 1 || l.NIs[0].Stats.Send != Some[uint64](5) || l.NIs[0].Tunables.Credits != Some[int64](1) {
		t.Errorf("%+v", l)
	}
}

// Other listings of lnetctl in the same text are not ours.
func TestLNetBesideOthers(t *testing.T) {
	node := lnetNode(2)
	own := lnetPrinter{verbose: 0}.print(node)
	for name, other := range map[string]string{
		"peers": lnetPeerFixture,
		"stats": lnetStatsFixture,
		"rules": lnetUDSPFixture,
		"route": "route:\n    - net: tcp1\n      gateway: 10.3.0.1@tcp\n      state: up\n",
	} {
		for _, text := range []string{own + other, other + own} {
			l, _ := ParseLNet([]byte(text), nil, nil)
			if want := (lnetPrinter{verbose: 0}).read(node); !reflect.DeepEqual(l.NIs, want) || l.Cut || l.Next != 0 {
				t.Errorf("%s: got %+v\nwant %+v", name, l, want)
			}
		}
	}
}

func TestLNetSecondListing(t *testing.T) {
	before, after := lnetNode(2), lnetNode(2)
	after[3].Stats.Send = Some[uint64](999999)
	p := lnetPrinter{verbose: 2}
	first, second := p.print(before), p.print(after)
	for name, head := range map[string]string{"whole": "net:\n", "without net": ""} {
		text := first + strings.TrimPrefix(second, "net:\n")
		if head != "" {
			text = first + second
		}
		l, _ := ParseLNet([]byte(text), nil, nil)
		if !reflect.DeepEqual(l.NIs, p.read(before)) || l.Cut {
			t.Errorf("%s: first %+v", name, l)
		}
		if l.Next != len(first) {
			t.Fatalf("%s: next %d, want %d", name, l.Next, len(first))
		}
		l, _ = ParseLNet([]byte(text[l.Next:]), nil, nil)
		if !reflect.DeepEqual(l.NIs, p.read(after)) || l.Next != 0 {
			t.Errorf("%s: second %+v", name, l)
		}
	}
}

func TestLNetNumbers(t *testing.T) {
	for value, want := range map[string]Opt[uint64]{
		"0": Some[uint64](0), "18446744073709551615": Some[uint64](18446744073709551615), "2,063": Some[uint64](2063),
		"1,234,567 ← much":     Some[uint64](1234567),
		"18446744073709551616": {}, "-1": {}, "2…": {}, "2,06": {}, ",063": {}, "1234,567": {}, "NA": {}, "": {}, "1e3": {},
	} {
		l, _ := ParseLNet([]byte("- nid: 1.2.80.0@efa\n  send_count: "+value+"\n"), nil, nil)
		if len(l.NIs) != 1 || l.NIs[0].Stats.Send != want {
			t.Errorf("%q: got %+v, want %+v", value, l.NIs, want)
		}
	}
}

// The reason for a reader of our own, told in lnet_scan.go, is still one.
func TestLNetYAMLWouldNotDo(t *testing.T) {
	text := lnetPrinter{verbose: 1}.print(lnetNode(1))
	var doc any
	for name, s := range map[string]string{
		"flattened": strings.ReplaceAll(text, "  ", ""),
		"TABs":      strings.ReplaceAll(text, "    ", "\t"),
		"quoted":    "> " + strings.ReplaceAll(text, "\n", "\n> "),
		"grepped":   "  send_count: 53\n  recv_count: 54\n  send_count: 2063\n",
	} {
		if err := yaml.Unmarshal([]byte(s), &doc); err == nil {
			t.Errorf("%s: the YAML library reads it now", name)
		}
	}
	if err := yaml.Unmarshal([]byte("send_count: 21"), &doc); err != nil || fmt.Sprint(doc) != "map[send_count:21]" {
		t.Errorf("cut: %v %v", doc, err)
	}
}

func exit(n int) *int { return &n }

func double(s string) string {
	var b strings.Builder
	for l := range strings.Lines(s) {
		b.WriteString(l + l)
	}
	return b.String()
}

func BenchmarkLNet(b *testing.B) {
	text := []byte(lnetPrinter{verbose: 4}.print(lnetNode(16)))
	b.Run("scanner", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if l, _ := ParseLNet(text, nil, nil); len(l.NIs) != 18 {
				b.Fatal(len(l.NIs))
			}
		}
	})
	b.Run("yaml", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			var doc any
			if err := yaml.Unmarshal(text, &doc); err != nil {
				b.Fatal(err)
			}
		}
	})
}
