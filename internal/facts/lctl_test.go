package facts

import (
	"reflect"
	"strings"
	"testing"
)

const (
	lctlDl = `  0 UP mgc MGC172.16.9.20@tcp 1f2e3d4c-0000-4000-8000-0a0b0c0d0e0f 4
  1 UP lov qrstbcde-clilov-ffff9a00c0000000 1f2e3d4c-0000-4000-8000-0a0b0c0d0e0f 3
  2 UP mdc qrstbcde-MDT0000-mdc-ffff9a00c0000000 1f2e3d4c-0000-4000-8000-0a0b0c0d0e0f 9
 13 IN osc qrstbcde-OST001f-osc-ffff9a00c0000000 1f2e3d4c-0000-4000-8000-0a0b0c0d0e0f 4 172.16.9.31@tcp
`
	lctlParams = `$ sudo lctl get_param version osc.*.max_pages_per_brw
version=2.15.7
health_check=healthy
osc.qrstbcde-OST0000-osc-ffff9a00c0000000.max_pages_per_brw=1024
osc.qrstbcde-OST001f-osc-ffff9a00c0000000.max_pages_per_brw=256
osc.qrstbcde-OST0000-osc-ffff9a00c0000000.import=
import:
    name: qrstbcde-OST0000-osc-ffff9a00c0000000
    target: qrstbcde-OST0000_UUID
    state: FULL
    connect_flags: [ write_grant, server_lock, fid_is_enabled ]
    connect_data:
       flags: 0xa425005444fb0018
       target_version: 2.15.7.0
       max_brw_size: 4194304
    import_flags: [ replayable, pingable, connect_tried ]
    connection:
       failover_nids: [ 172.16.9.31@tcp, "172.16.9.32@tcp" ]
       current_connection: 172.16.9.31@tcp
       connection_attempts: 3
       generation: 1
       idle: 5 sec
    rpcs:
       inflight: 0
       timeouts: 2
osc.qrstbcde-OST001f-osc-ffff9a00c0000000.state=
current_state: DISCONN
state_history:
 - [ 1802066400, CONNECTING ]
 - [ 1802066410, DISCONN ]
osc.qrstbcde-OST001f-osc-ffff9a00c0000000.ost_server_uuid=qrstbcde-OST001f_UUID	DISCONN	DEACTIVATED
lov.qrstbcde-clilov-ffff9a00c0000000.target_obd=
0: qrstbcde-OST0000_UUID ACTIVE
31: qrstbcde-OST001f_UUID INACTIVE
error: get_param: param_path 'mdc/*/import': Permission denied
`
)

func TestParseLctlDevices(t *testing.T) {
	const client = "1f2e3d4c-0000-4000-8000-0a0b0c0d0e0f"
	want := LctlDevices{Devices: []LctlDevice{
		{0, "UP", "mgc", "MGC172.16.9.20@tcp", client, Some(4)},
		{1, "UP", "lov", "qrstbcde-clilov-ffff9a00c0000000", client, Some(3)},
		{2, "UP", "mdc", "qrstbcde-MDT0000-mdc-ffff9a00c0000000", client, Some(9)},
		{13, "IN", "osc", "qrstbcde-OST001f-osc-ffff9a00c0000000", client, Some(4)},
	}}
	texts := disfigured(lctlDl)
	texts["as is"] = []byte(lctlDl)
	for how, b := range texts {
		if got := ParseLctlDevices(b); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", how, got, want)
		}
	}
	for i, target := range []string{"", "", "qrstbcde-MDT0000", "qrstbcde-OST001f"} {
		if got := want.Devices[i].Target(); got != target {
			t.Errorf("target of %s = %q, want %q", want.Devices[i].Name, got, target)
		}
	}
	for text, want := range map[string]LctlDevices{
		"  7 UP osc q-OST0001-osc-ffff uuid 6":       {Cut: true},
		"  x UP osc q-OST0001-osc-ffff uuid 6\n":     {},
		"  7 DOWN osc q-OST0001-osc-ffff uuid 6\n":   {},
		"IOC_LIBCFS_GET_NI error 100: x UP y z w\n ": {Cut: false},
	} {
		if got := ParseLctlDevices([]byte(text)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestParseLctlParams(t *testing.T) {
	texts := disfigured(lctlParams)
	texts["as is"] = []byte(lctlParams)
	wantImports := []LctlImport{
		{Target: "qrstbcde-OST0000", State: "FULL", Connection: "172.16.9.31@tcp", FailoverNIDs: []string{"172.16.9.31@tcp", "172.16.9.32@tcp"},
			Attempts: Some(3), Timeouts: Some(2), TargetVersion: "2.15.7.0", MaxBRWSize: Some[uint64](4194304)},
		{Target: "qrstbcde-OST001f", State: "DISCONN", Deactivated: true},
	}
	for how, b := range texts {
		got := ParseLctlParams(b)
		if len(got.Params) != 8 || len(got.Errors) != 1 || got.Cut {
			t.Fatalf("%s: %d parameters, errors %q", how, len(got.Params), got.Errors)
		}
		if v, ok := got.Get("version"); !ok || v != "2.15.7" {
			t.Errorf("%s: version %q %v", how, v, ok)
		}
		pages := got.Of("osc", "max_pages_per_brw")
		if len(pages) != 2 || pages[0].Value != "1024" || pages[1].Value != "256" || pages[1].Target() != "qrstbcde-OST001f" {
			t.Errorf("%s: %+v", how, pages)
		}
		if im := got.Imports(); !reflect.DeepEqual(im, wantImports) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", how, im, wantImports)
		}
		if lov := got.LovTargets("lov"); !reflect.DeepEqual(lov, []LctlLovTarget{{0, "qrstbcde-OST0000", true}, {31, "qrstbcde-OST001f", false}}) {
			t.Errorf("%s: %+v", how, lov)
		}
	}
	if v, ok := ParseLctlParams([]byte(lctlParams)).Get("osc.qrstbcde-OST0000-osc-ffff9a00c0000000.import"); !ok || !strings.HasPrefix(v, "import:\n    name: ") {
		t.Errorf("the import's lines: %q", v)
	}
}

func TestParseLctlParamsOdd(t *testing.T) {
	for text, want := range map[string]LctlParams{
		"":                                   {},
		"no parameter\n  at all\n":           {},
		"health_check=NOT HEALTHY\n":         {Params: []LctlParam{{Name: "health_check", Value: "NOT HEALTHY"}}},
		"health_check=healthy":               {Cut: true},
		"osc.a.x=1\nosc.b.x=2":               {Cut: true, Params: []LctlParam{{Name: "osc.a.x", Value: "1"}}},
		"osc.a.x=1\nosc.b":                   {Cut: true, Params: []LctlParam{{Name: "osc.a.x", Value: "1"}}},
		"osc.a.import=\nstate: FU":           {Cut: true, Params: []LctlParam{{Name: "osc.a.import", Cut: true}}},
		"osc.a.import=\n":                    {Params: []LctlParam{{Name: "osc.a.import", Cut: true}}},
		"version=lustre: 2.12.9\nbuild: 3\n": {Params: []LctlParam{{Name: "version", Value: "lustre: 2.12.9\nbuild: 3"}}},
		"PATH=/bin\nA b=c\n":                 {},
	} {
		if got := ParseLctlParams([]byte(text)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
	cut := ParseLctlParams([]byte("osc.a.import=\nstate: FULL\nconn"))
	if _, ok := cut.Get("osc.a.import"); ok || !cut.Params[0].Cut {
		t.Errorf("a value that was cut is taken for whole: %+v", cut)
	}
}

// Several parameters tell of one connection; the value of a server's own name is not needed for it.
func TestLctlImportsJoined(t *testing.T) {
	text := "osc.q-OST0002-osc-f.ost_server_uuid=q-OST0002_UUID\tIDLE\n" +
		"osc.q-OST0002-osc-f.import=\nstate: FULL\ncurrent_connection: 172.16.9.33@tcp\nconnection_attempts: 2\n" +
		"osc.q-OST0003-osc-f.import=\ngeneration: 1\n" +
		"osc.q-OST0002-osc-g.state=\ncurrent_state: NEW\n"
	want := []LctlImport{{Target: "q-OST0002", State: "IDLE", Connection: "172.16.9.33@tcp", Attempts: Some(2)}, {Target: "q-OST0002", State: "NEW"}}
	if got := ParseLctlParams([]byte(text)).Imports(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func lctlFromCut(t *testing.T, text []byte) {
	t.Helper()
	dl, params := ParseLctlDevices(text), ParseLctlParams(text)
	imports := map[string]LctlImport{}
	for _, im := range params.Imports() {
		imports[im.Target] = im
	}
	for i := range text {
		for j, d := range ParseLctlDevices(text[:i]).Devices {
			if d != dl.Devices[j] {
				t.Fatalf("cut at %d says %+v, whole %+v", i, d, dl.Devices[j])
			}
		}
		c := ParseLctlParams(text[:i])
		for j, p := range c.Params {
			if w := params.Params[j]; p.Name != w.Name || !strings.HasPrefix(w.Value, p.Value) {
				t.Fatalf("cut at %d says %+v, whole %+v", i, p, w)
			}
		}
		for _, im := range c.Imports() {
			w := imports[im.Target]
			if im.State != "" && im.State != w.State || im.Connection != "" && im.Connection != w.Connection ||
				im.Attempts.OK && im.Attempts != w.Attempts || im.Deactivated && !w.Deactivated {
				t.Fatalf("cut at %d says %+v, whole %+v", i, im, w)
			}
		}
	}
}

func TestLctlCutAnywhere(t *testing.T) {
	lctlFromCut(t, []byte(lctlDl))
	lctlFromCut(t, []byte(lctlParams))
}

func TestLctlCaptures(t *testing.T) {
	files := capturedFiles(t, "lustre")
	dl := ParseLctlDevices(files["lctl-dl.txt"])
	kinds := map[string]int{}
	for i, d := range dl.Devices {
		kinds[d.Type]++
		if d.Index != i || d.State != "UP" || !d.Refs.OK || (d.Target() != "") != (d.Type == "osc" || d.Type == "mdc") {
			t.Errorf("%+v", d)
		}
	}
	if !reflect.DeepEqual(kinds, map[string]int{"mgc": 1, "lov": 1, "lmv": 1, "mdc": 4, "osc": 6}) {
		t.Errorf("%v", kinds)
	}
	stats := files["llite-and-osc-stats.txt"]
	params := ParseLctlParams(stats)
	if want := strings.Count(string(stats), ".stats="); len(params.Params) != want || want < 2 || params.Cut {
		t.Errorf("%d parameters, want %d", len(params.Params), want)
	}
	lines := 0
	for _, p := range params.Params {
		lines += 2 + strings.Count(p.Value, "\n")
	}
	if want := strings.Count(string(stats), "\n"); lines != want {
		t.Errorf("%d lines of %d are in the values", lines, want)
	}
	if llite := params.Of("llite", "stats"); len(llite) != 1 || !strings.Contains(llite[0].Value, "write_bytes               100 samples [bytes] 1048576") {
		t.Errorf("%+v", llite)
	}
	health := ParseLctlParams(capturedFiles(t, "nodes/001-fsx-efa-g6e-lnet-good-gds-not-offered")["lctl-get_param-health_check.txt"])
	if v, ok := health.Get("health_check"); !ok || v != "healthy" {
		t.Errorf("health_check %q %v", v, ok)
	}
	lctlFromCut(t, files["lctl-dl.txt"])
	lctlFromCut(t, stats)
}

func FuzzLctl(f *testing.F) {
	f.Add([]byte(lctlDl))
	f.Add([]byte(lctlParams))
	captures := capturedFiles(f, "lustre")
	f.Add(captures["lctl-dl.txt"])
	f.Add(captures["llite-and-osc-stats.txt"])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, d := range ParseLctlDevices(b).Devices {
			if d.Index < 0 || d.Name == "" || !lctlStates[d.State] {
				t.Fatalf("%+v", d)
			}
		}
		params := ParseLctlParams(b)
		for _, p := range params.Params {
			if p.Name == "" || strings.ContainsAny(p.Name, " \t=") {
				t.Fatalf("%+v", p)
			}
		}
		for _, im := range params.Imports() {
			if im.Target == "" || im.State == "" && im.Connection == "" {
				t.Fatalf("%+v", im)
			}
		}
		params.LovTargets("lov")
	})
}

func BenchmarkParseLctl(b *testing.B) {
	text := []byte(strings.Repeat(lctlParams, 10))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ParseLctlParams(text).Imports()
	}
}
