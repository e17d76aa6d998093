package facts

import (
	"reflect"
	"strings"
	"testing"
)

const (
	lnetPeerFixture = `peer:
    - primary nid: 10.3.7.21@tcp
      Multi-Rail: True
      peer state: 9
      peer ni:
        - nid: 10.3.7.21@tcp
          state: NA
          refcount: 4
          statistics:
              send_count: 501
              recv_count: 502
              drop_count: 503
          sent_stats:
              put: 511
          dropped_stats:
              put: 512
          health stats:
              health value: 900
              dropped: 521
              timeout: 522
              error: 523
              network timeout: 524
        - nid: 7.21.72.0@efa
          state: up
          health stats:
              health value: 1000
    - primary nid: 10.3.7.30@tcp
      Multi-Rail: False
      peer ni:
        - nid: 10.3.7.30@tcp
          state: NA
`
	lnetStatsFixture = `statistics:
    msgs_alloc: 3
    msgs_max: 31
    rst_alloc: 2
    errors: 1
    send_count: 700001
    resend_count: 11
    response_timeout_count: 12
    local_interrupt_count: 13
    local_dropped_count: 14
    local_aborted_count: 15
    local_no_route_count: 16
    local_timeout_count: 17
    local_error_count: 18
    remote_dropped_count: 19
    remote_error_count: 20
    remote_timeout_count: 21
    network_timeout_count: 22
    recv_count: 700002
    route_count: 23
    drop_count: 24
    send_length: 81000000001
    recv_length: 81000000002
    route_length: 25
    drop_length: 26
`
	lnetUDSPFixture = `udsp:
    - idx: 0
      src: tcp
      dst: 10.3.7.[20-30]@tcp
      rte: NA
      action:
          priority: 7
    - idx: 1
      src: efa
      dst: NA
      rte: NA
      action:
          priority: 0
`
	lnetNISFixture = `nis=
nid                      status alive refs peer  rtr   max    tx   min
0@lo                         up     0    2    0    0     0     0     0
10.3.7.9@tcp                 up    -1    1    8    0   321   320   319
7.9.80.0@efa                 up    -1    1  128    0   257   256  -248
7.9.81.0@efa               down    -1    0  128    0   257   257   257
`
)

func TestLNetPeers(t *testing.T) {
	p, problem := ParseLNetPeers([]byte(lnetPeerFixture), nil, exit(0))
	want := LNetPeers{Peers: []LNetPeer{
		{PrimaryNID: "10.3.7.21@tcp", MultiRail: Some(true), NIs: []LNetPeerNI{
			{NID: "10.3.7.21@tcp", Address: "10.3.7.21", Net: "tcp", State: Some("NA"),
				Stats:       LNetCounts{Some[uint64](501), Some[uint64](502), Some[uint64](503)},
				Sent:        LNetMessages{Put: Some[uint64](511)},
				Dropped:     LNetMessages{Put: Some[uint64](512)},
				Health:      Some(900),
				HealthStats: LNetPeerHealthStats{Some[uint64](521), Some[uint64](522), Some[uint64](523), Some[uint64](524)}},
			{NID: "7.21.72.0@efa", Address: "7.21.72.0", Net: "efa", State: Some("up"), Health: Some(1000)},
		}},
		{PrimaryNID: "10.3.7.30@tcp", MultiRail: Some(false), NIs: []LNetPeerNI{
			{NID: "10.3.7.30@tcp", Address: "10.3.7.30", Net: "tcp", State: Some("NA")},
		}},
	}}
	if !problem.OK() || !reflect.DeepEqual(p, want) {
		t.Errorf("%+v\ngot  %+v\nwant %+v", problem, p, want)
	}
	if efa := p.Of("efa"); len(efa) != 1 || efa[0].PrimaryNID != "10.3.7.21@tcp" {
		t.Errorf("peers with EFA: %+v", efa)
	}

	own := lnetPrinter{verbose: 4}.print(lnetNode(2))
	for _, text := range []string{own + lnetPeerFixture, lnetPeerFixture + own, double(lnetPeerFixture), strings.ReplaceAll(lnetPeerFixture, "\n", "\r\n")} {
		if p, _ := ParseLNetPeers([]byte(text), nil, nil); !reflect.DeepEqual(p.Peers, want.Peers) {
			t.Errorf("beside our own: got %+v", p)
		}
	}

	p, _ = ParseLNetPeers([]byte("    - primary nid: 10.3.7.1@tcp\n      Multi-Rail: True\n      peer ni:\n        - nid: 10.3.7.1@tcp\n    - primary nid: 10.3.7.2@tcp\n"), nil, nil)
	if len(p.Peers) != 2 || !p.Cut || p.Peers[1].NIs != nil || p.Peers[1].MultiRail.OK {
		t.Errorf("cut behind a name: %+v", p)
	}
	p, _ = ParseLNetPeers([]byte("    - primary nid: 10.3.7.1@tcp\n      Multi-Rail: True\n"), nil, nil)
	if len(p.Peers) != 1 || !p.Cut {
		t.Errorf("a peer without interfaces: %+v", p)
	}
	p, _ = ParseLNetPeers([]byte("        - nid: 7.21.72.0@efa\n--\n        - nid: 7.22.72.0@efa\n"), nil, nil)
	if len(p.Peers) != 1 || p.Peers[0].PrimaryNID != "" || len(p.Peers[0].NIs) != 2 || p.Cut {
		t.Errorf("grepped: %+v", p)
	}
}

func TestLNetStats(t *testing.T) {
	s, problem := ParseLNetStats([]byte(lnetStatsFixture), nil, exit(0))
	if !problem.OK() || s.Cut {
		t.Fatalf("%+v %+v", problem, s)
	}
	v := reflect.ValueOf(s)
	seen := map[uint64]string{}
	for i := range v.NumField() {
		o, ok := v.Field(i).Interface().(Opt[uint64])
		if !ok {
			continue
		}
		name := v.Type().Field(i).Name
		if !o.OK || seen[o.V] != "" {
			t.Errorf("%s: %+v, as %s", name, o, seen[o.V])
		}
		seen[o.V] = name
	}
	for value, name := range map[uint64]string{700001: "SendCount", 700002: "RecvCount", 81000000001: "SendLength",
		81000000002: "RecvLength", 24: "DropCount", 26: "DropLength", 21: "RemoteTimeoutCount", 22: "NetworkTimeoutCount"} {
		if seen[value] != name {
			t.Errorf("%d is %q, want %s", value, seen[value], name)
		}
	}
	own := lnetPrinter{verbose: 4}.print(lnetNode(1))
	if after, _ := ParseLNetStats([]byte(own+lnetStatsFixture), nil, nil); after != s {
		t.Errorf("behind net show: %+v", after)
	}
	if none, problem := ParseLNetStats([]byte(own), nil, nil); problem.OK() || none.SendCount.OK {
		t.Errorf("net show alone: %+v %+v", problem, none)
	}
}

func TestLNetUDSP(t *testing.T) {
	na := Some("NA")
	want := []LNetRule{
		{Index: Some(0), Src: Some("tcp"), Dst: Some("10.3.7.[20-30]@tcp"), Rte: na, Priority: Some[int64](7)},
		{Index: Some(1), Src: Some("efa"), Dst: na, Rte: na, Priority: Some[int64](0)},
	}
	for _, text := range []string{lnetUDSPFixture, double(lnetUDSPFixture), lnetPeerFixture + lnetUDSPFixture} {
		u, problem := ParseLNetUDSP([]byte(text), nil, exit(0))
		if !problem.OK() || u.Cut || !reflect.DeepEqual(u.Rules, want) {
			t.Errorf("%+v\ngot  %+v\nwant %+v", problem, u, want)
		}
		if u.Priority("efa") != Some[int64](0) || u.Priority("tcp").OK || u.Priority("o2ib").OK {
			t.Errorf("priorities: efa %+v, tcp %+v", u.Priority("efa"), u.Priority("tcp"))
		}
	}
	u, _ := ParseLNetUDSP([]byte("      src: tcp\n          priority: 4\n      src: efa\n          priority: 0\n"), nil, nil)
	if len(u.Rules) != 2 || u.Rules[1].Priority != Some[int64](0) || u.Priority("efa").OK {
		t.Errorf("grepped: %+v: the sides that were not printed are not known to be NA", u)
	}
	u, _ = ParseLNetUDSP([]byte("src: efa\ndst: 10.3.7.1@tcp\nsrc: efa\ndst: 10.3.7.2@tcp\n"), nil, nil)
	if len(u.Rules) != 2 || u.Rules[1].Dst != Some("10.3.7.2@tcp") {
		t.Errorf("two rules of one source: %+v", u)
	}
	for _, side := range []string{"dst", "rte"} {
		text := strings.Replace(lnetUDSPFixture, "src: efa", "src: o2ib", 1)
		at := strings.LastIndex(text, side+": NA")
		u, _ = ParseLNetUDSP([]byte(text[:at]+side+": 10.3.7.4@o2ib"+text[at+len("dst: NA"):]), nil, nil)
		if len(u.Rules) != 2 || !u.Rules[1].Priority.OK || u.Priority("o2ib").OK {
			t.Errorf("a rule for one %s alone: %+v", side, u)
		}
	}
	if _, problem := ParseLNetUDSP(nil, nil, exit(0)); problem.State != LNetEmpty {
		t.Errorf("empty: %+v", problem)
	}
}

func TestLNetCredits(t *testing.T) {
	i := Some[int64]
	want := []LNetCreditRow{
		{"0@lo", "0", "lo", Some("up"), i(0), i(2), i(0), i(0), i(0), i(0), i(0)},
		{"10.3.7.9@tcp", "10.3.7.9", "tcp", Some("up"), i(-1), i(1), i(8), i(0), i(321), i(320), i(319)},
		{"7.9.80.0@efa", "7.9.80.0", "efa", Some("up"), i(-1), i(1), i(128), i(0), i(257), i(256), i(-248)},
		{"7.9.81.0@efa", "7.9.81.0", "efa", Some("down"), i(-1), i(0), i(128), i(0), i(257), i(257), i(257)},
	}
	lines := strings.SplitAfter(lnetNISFixture, "\n")
	for name, text := range map[string]string{
		"whole": lnetNISFixture, "-n": strings.Join(lines[1:], ""), "no head": strings.Join(lines[2:], ""),
		"quoted": "> " + strings.ReplaceAll(lnetNISFixture, "\n", "\n> "),
		"notes":  strings.ReplaceAll(lnetNISFixture, "321   320   319", "321   320   319   <- has sent"),
		"CRLF":   strings.ReplaceAll(lnetNISFixture, "\n", "\r\n"),
	} {
		c, problem := ParseLNetCredits([]byte(text), nil, exit(0))
		if !problem.OK() || c.Cut || !reflect.DeepEqual(c.Rows, want) {
			t.Errorf("%s: %+v\ngot  %+v\nwant %+v", name, problem, c, want)
		}
	}
	for k, sent := range []bool{false, true, true, false} {
		if got, ok := want[k].Sent(); got != sent || !ok {
			t.Errorf("row %d: sent %v %v", k, got, ok)
		}
	}
	c, _ := ParseLNetCredits([]byte("7.9.80.0@efa up -1 1 128 0 257 25\n"), nil, nil)
	if _, ok := c.Rows[0].Sent(); ok || c.Rows[0].Max != i(257) || c.Rows[0].Tx.OK {
		t.Errorf("cut at the right: %+v", c.Rows)
	}
	moved := "nid status tx min max\n7.9.80.0@efa up 1 2 3\n"
	if c, _ := ParseLNetCredits([]byte(moved), nil, nil); c.Rows[0].Tx != i(1) || c.Rows[0].Min != i(2) || c.Rows[0].Max != i(3) || c.Rows[0].Refs.OK {
		t.Errorf("columns by name: %+v", c.Rows)
	}
}

func TestLNetGlobal(t *testing.T) {
	g, problem := ParseLNetGlobal([]byte("global:\n    numa_range: 0\n    discovery: 1\n    retry_count: 2\n    transaction_timeout: 50\n    health_sensitivity: 99\n"), nil, nil)
	want := LNetGlobal{Discovery: Some[int64](1), HealthSensitivity: Some[int64](99), TransactionTimeout: Some[int64](50), RetryCount: Some[int64](2)}
	if !problem.OK() || g != want {
		t.Errorf("%+v %+v", problem, g)
	}
}

func TestLNetCounterLines(t *testing.T) {
	u := Some[uint64]
	grep := "              send_count: 53\n              recv_count: 54\n              send_count: 2063\n              recv_count: 4111\n"
	for name, c := range map[string]struct {
		text string
		want [][]LNetCounterLine
		cut  bool
	}{
		"pairs": {text: grep, want: [][]LNetCounterLine{{{LNetCounts: LNetCounts{Send: u(53), Recv: u(54)}}, {LNetCounts: LNetCounts{Send: u(2063), Recv: u(4111)}}}}},
		"sends": {text: "send_count: 1\nsend_count: 2\nsend_count: 3\n",
			want: [][]LNetCounterLine{{{LNetCounts: LNetCounts{Send: u(1)}}, {LNetCounts: LNetCounts{Send: u(2)}}, {LNetCounts: LNetCounts{Send: u(3)}}}}},
		"head cut": {text: "recv_count: 7\nsend_count: 8\nrecv_count: 9\n",
			want: [][]LNetCounterLine{{{LNetCounts: LNetCounts{Recv: u(7)}}, {LNetCounts: LNetCounts{Send: u(8), Recv: u(9)}}}}},
		"paste": {text: "  send_count: 1\t  send_count: 11\n  recv_count: 2\t  recv_count: 12\n",
			want: [][]LNetCounterLine{{{LNetCounts: LNetCounts{Send: u(1), Recv: u(2)}}}, {{LNetCounts: LNetCounts{Send: u(11), Recv: u(12)}}}}},
		"one line": {text: "send_count: 1 recv_count: 2 send_count: 3 recv_count: 4\n",
			want: [][]LNetCounterLine{{{LNetCounts: LNetCounts{Send: u(1), Recv: u(2)}}, {LNetCounts: LNetCounts{Send: u(3), Recv: u(4)}}}}},
		"names": {text: "- net type: tcp\n send_count: 1\n- net type: efa\n - nid: 1.2.80.0@efa\n recv_count: 4\n",
			want: [][]LNetCounterLine{{{Net: "tcp", LNetCounts: LNetCounts{Send: u(1)}}, {Net: "efa", NID: "1.2.80.0@efa", LNetCounts: LNetCounts{Recv: u(4)}}}}},
		"cut": {text: "send_count: 53\nrecv_count: 5", cut: true,
			want: [][]LNetCounterLine{{{LNetCounts: LNetCounts{Send: u(53)}}}}},
		"none": {text: "8\n"},
	} {
		got := ParseLNetCounterLines([]byte(c.text))
		if !reflect.DeepEqual(got.Columns, c.want) || got.Cut != c.cut {
			t.Errorf("%s: got %+v, want %+v cut %v", name, got, c.want, c.cut)
		}
	}
	_, problem := ParseLNet([]byte(grep), nil, exit(0))
	if problem.State != LNetNameless {
		t.Errorf("net show of a grep: %+v", problem)
	}
}
