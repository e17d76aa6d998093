package facts

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const (
	efaUnit  = "configure-efa-fsx-lustre-client.service"
	unitShow = `Type=oneshot
RemainAfterExit=yes
Result=success
ExecMainExitTimestamp=Tue 2027-02-09 06:41:32 UTC
ExecMainExitTimestampMonotonic=48219911
ExecMainCode=1
ExecMainStatus=0
ExecStart={ path=/usr/bin/python3 ; argv[]=/usr/bin/python3 /opt/configure-efa-fsx-lustre-client.py --optimized-for-gds --tcp-name ens7 ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }
Id=configure-efa-fsx-lustre-client.service
Requires=network-online.target system.slice
After=
LoadState=loaded
ActiveState=active
SubState=exited
FragmentPath=/etc/systemd/system/configure-efa-fsx-lustre-client.service
UnitFileState=enabled
ActiveEnterTimestamp=Tue 2027-02-09 06:41:33 UTC
ActiveEnterTimestampMonotonic=48220417
SomethingNew=1

Id=fsx.mount
Result=success
LoadState=loaded
ActiveState=inactive
SubState=dead
UnitFileState=generated
ActiveEnterTimestamp=n/a
ActiveEnterTimestampMonotonic=0
Where=/fsx
What=172.16.9.20@tcp:/qrstbcde
`
	unitStatus = `● configure-efa-fsx-lustre-client.service - Configure EFA FSx Lustre Client
     Loaded: loaded (/etc/systemd/system/configure-efa-fsx-lustre-client.service; disabled; preset: enabled)
     Active: active (exited) since Tue 2027-02-09 06:41:33 UTC; 3h 2min ago
    Process: 1811 ExecStart=/usr/bin/python3 /opt/configure-efa-fsx-lustre-client.py --optimized-for-gds (code=exited, status=0/SUCCESS)
   Main PID: 1811 (code=exited, status=0/SUCCESS)
        CPU: 2.218s

Feb 09 06:41:32 gpu-17 python3[1811]:         Active: nothing of status
`
	unitFailed = `x efa-b.service - Configure EFA
     Loaded: loaded (/run/systemd/system/efa-b.service; enabled; vendor preset: disabled)
     Active: failed (Result: exit-code) since Tue 2027-02-09 06:41:33 UTC; 17s ago
    Process: 47 ExecStart=/usr/bin/python3 /opt/configure-efa… (code=exited, status=3/NOTIMPLEMENTED)
   Main PID: 47 (code=exited, status=3/NOTIMPLEMENTED)
`
	unitFile = `# /etc/systemd/system/configure-efa-fsx-lustre-client.service
[Unit]
Description=Configure EFA FSx Lustre Client
After=network-online.target
After=cloud-init.target

[Service]
Type=oneshot
RemainAfterExit=true
ExecStart=-/usr/bin/python3 /opt/configure-efa-fsx-lustre-client.py \
    --allow-no-efa \
    --optimized-for-gds

# /etc/systemd/system/configure-efa-fsx-lustre-client.service.d/slow.conf
[Service]
ExecStartPre=/bin/sleep 5
`
	unitCommands = `$ systemctl is-active efa-b nosuch.service
failed
inactive
$ sudo systemctl is-enabled efa-b.service
enabled
$ systemctl is-enabled nosuch.service
Failed to get unit file state for nosuch.service: No such file or directory
$ systemctl is-system-running
running
$ systemctl status nosuch.service --no-pager
Unit nosuch.service could not be found.
$ systemctl show -p ActiveState,SubState efa-b.service
ActiveState=failed
SubState=failed
`
)

func TestParseSystemctlShow(t *testing.T) {
	want := Systemctl{Answers: []UnitAnswer{{
		Unit: efaUnit, Verb: "show", LoadState: "loaded", ActiveState: "active", SubState: "exited", UnitFileState: "enabled", Result: "success",
		Type: "oneshot", RemainAfterExit: Some(true), ExecMainCode: "exited", ExecMainStatus: Some(0),
		ExecStart:   []ExecCommand{{Args: []string{"/usr/bin/python3", "/opt/configure-efa-fsx-lustre-client.py", "--optimized-for-gds", "--tcp-name", "ens7"}}},
		ActiveEnter: "Tue 2027-02-09 06:41:33 UTC", ActiveEnterMonotonic: Some[uint64](48220417),
		ExecMainExit: "Tue 2027-02-09 06:41:32 UTC", ExecMainExitMonotonic: Some[uint64](48219911),
		Requires: Some([]string{"network-online.target", "system.slice"}), After: Some([]string{}), FragmentPath: "/etc/systemd/system/" + efaUnit,
	}, {
		Unit: "fsx.mount", Verb: "show", LoadState: "loaded", ActiveState: "inactive", SubState: "dead", UnitFileState: "generated", Result: "success",
		Where: "/fsx", What: "172.16.9.20@tcp:/qrstbcde",
	}}}
	texts := disfigured(unitShow)
	texts["as is"] = []byte(unitShow)
	for how, b := range texts {
		if got := ParseSystemctl(b); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", how, got, want)
		}
	}
	for arg, want := range map[string]bool{"--optimized-for-gds": true, "--optimized": false} {
		if yes, known := want1(t, unitShow).Has(arg); yes != want || !known {
			t.Errorf("Has(%s) = %v %v", arg, yes, known)
		}
	}
}

func want1(t *testing.T, text string) UnitAnswer {
	t.Helper()
	a, ok := ParseSystemctl([]byte(text)).Of("configure-efa-fsx-lustre-client")
	if !ok {
		t.Fatalf("nothing of %s in %q", efaUnit, text)
	}
	return a
}

func TestParseSystemctlStatus(t *testing.T) {
	want := Systemctl{Answers: []UnitAnswer{{
		Unit: efaUnit, Verb: "status", Description: "Configure EFA FSx Lustre Client", LoadState: "loaded", ActiveState: "active", SubState: "exited",
		UnitFileState: "disabled", FragmentPath: "/etc/systemd/system/" + efaUnit, ActiveEnter: "Tue 2027-02-09 06:41:33 UTC",
		ExecStart:    []ExecCommand{{Args: []string{"/usr/bin/python3", "/opt/configure-efa-fsx-lustre-client.py", "--optimized-for-gds"}}},
		ExecMainCode: "exited", ExecMainStatus: Some(0),
	}, {
		Unit: "efa-b.service", Verb: "status", Description: "Configure EFA", LoadState: "loaded", ActiveState: "failed", Result: "exit-code",
		UnitFileState: "enabled", FragmentPath: "/run/systemd/system/efa-b.service", ExecMainCode: "exited", ExecMainStatus: Some(3),
		ExecStart: []ExecCommand{{Args: []string{"/usr/bin/python3", "/opt/configure-efa…"}, Cut: true}},
	}}}
	texts := disfigured(unitStatus + unitFailed)
	texts["as is"] = []byte(unitStatus + unitFailed)
	texts["no marks"] = []byte(strings.NewReplacer("● ", "", "x efa", "efa").Replace(unitStatus + unitFailed))
	for how, b := range texts {
		if got := ParseSystemctl(b); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", how, got, want)
		}
	}
	if yes, known := want.Answers[1].Has("--optimized-for-gds"); yes || known {
		t.Errorf("a shortened command has the flag: %v %v, want not known", yes, known)
	}
	grepped := want1(t, "   Active: activating (start) since Tue 2027-02-09 06:41:33 UTC; 2s ago\n")
	if grepped.ActiveState != "activating" || grepped.SubState != "start" || grepped.ActiveEnter != "" || grepped.LoadState != "" {
		t.Errorf("grepped: %+v", grepped)
	}
}

func TestParseSystemctlFile(t *testing.T) {
	a := want1(t, unitFile)
	want := UnitAnswer{
		Unit: efaUnit, Verb: "cat", FragmentPath: "/etc/systemd/system/" + efaUnit, Description: "Configure EFA FSx Lustre Client", Type: "oneshot",
		RemainAfterExit: Some(true), After: Some([]string{"network-online.target", "cloud-init.target"}),
		ExecStart: []ExecCommand{{Args: []string{"/usr/bin/python3", "/opt/configure-efa-fsx-lustre-client.py", "--allow-no-efa", "--optimized-for-gds"}}},
	}
	if !reflect.DeepEqual(a, want) {
		t.Errorf("got  %+v\nwant %+v", a, want)
	}
}

func TestParseSystemctlCommands(t *testing.T) {
	s := ParseSystemctl([]byte(unitCommands))
	b, _ := s.Of("efa-b")
	want := UnitAnswer{Unit: "efa-b.service", Verb: "show", ActiveState: "failed", SubState: "failed", UnitFileState: "enabled"}
	if !reflect.DeepEqual(b, want) {
		t.Errorf("efa-b: %+v", b)
	}
	none, _ := s.Of("nosuch.service")
	if none.LoadState != "not-found" || none.ActiveState != "inactive" || none.UnitFileState != "" {
		t.Errorf("nosuch: %+v", none)
	}
	if a, ok := s.Of(efaUnit); ok {
		t.Errorf("a unit that nobody spoke of: %+v", a)
	}
	if len(s.Answers) != 6 {
		t.Errorf("%d answers: %+v", len(s.Answers), s.Answers)
	}
}

func TestParseSystemctlShort(t *testing.T) {
	for text, want := range map[string]UnitAnswer{
		"active\n":                            {ActiveState: "active"},
		"active":                              {ActiveState: "active"},
		"inactive":                            {ActiveState: "inactive"},
		"enabled\nactive\n":                   {ActiveState: "active", UnitFileState: "enabled"},
		"enabled-runtime":                     {UnitFileState: "enabled-runtime"},
		"not-found\n":                         {LoadState: "not-found"},
		"Unit " + efaUnit + " not found.":     {LoadState: "not-found"},
		"No files found for " + efaUnit + ".": {LoadState: "not-found"},
		"Failed to start " + efaUnit + ": Unit " + efaUnit + " not found.\n":                               {LoadState: "not-found"},
		"○ " + efaUnit + "\n     Loaded: masked (Reason: Unit " + efaUnit + " is masked.)\n":               {Verb: "status", LoadState: "masked"},
		"     Loaded: not-found (Reason: Unit " + efaUnit + " not found.)\n     Active: inactive (dead)\n": {Verb: "status", LoadState: "not-found", ActiveState: "inactive", SubState: "dead"},
		efaUnit + " enabled enabled\n":                                                 {Verb: "list", UnitFileState: "enabled"},
		"● " + efaUnit + " loaded active exited Configure EFA FSx\n":                   {Verb: "list", LoadState: "loaded", ActiveState: "active", SubState: "exited"},
		"ExecMainCode=2\nExecMainStatus=15\n":                                          {Verb: "show", ExecMainCode: "killed", ExecMainStatus: Some(15)},
		"ExecMainCode=0\nExecMainStatus=0\n":                                           {Verb: "show", ExecMainCode: "none", ExecMainStatus: Some(0)},
		"ActiveState=active":                                                           {Verb: "show", ActiveState: "active"},
		"ActiveState=active\nUnitFileState=enabled":                                    {Verb: "show", ActiveState: "active"},
		"     Active: activating (auto-restart) (Result: exit-code) since x; 1s ago\n": {Verb: "status", ActiveState: "activating", SubState: "auto-restart", Result: "exit-code"},
	} {
		want.Unit = efaUnit
		if got := want1(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\ngot  %+v\nwant %+v", text, got, want)
		}
	}
	for _, text := range []string{"", "enabled", "activ", "masked", "Unit x could not be found.\n", "See \"systemctl status a.service\" for details.\n", "PATH=/bin\nfoo=bar\n",
		"unknown\n", "Where: /fsx\n", "Created symlink /etc/a.service → /etc/b.service.\n"} {
		if s := ParseSystemctl([]byte(text)); len(s.Answers) != 0 {
			t.Errorf("%q: %+v, want no answer", text, s.Answers)
		}
	}
	// Options with a value are no units, and a pipe ends the command.
	s := ParseSystemctl([]byte("$ systemctl show -p ActiveState --property LoadState b -n 5 | grep a\nActiveState=failed\n"))
	if b, ok := s.Of("b"); !ok || b.ActiveState != "failed" || len(s.Answers) != 1 {
		t.Errorf("command with options: %+v", s)
	}
	// What names no unit is not laid at the door of one while the text speaks of another.
	s = ParseSystemctl([]byte("ActiveState=active\n\nId=b.service\nActiveState=failed\n"))
	if a, ok := s.Of("a"); ok {
		t.Errorf("Of(a) = %+v", a)
	}
	if b, ok := s.Of("b"); !ok || b.ActiveState != "failed" {
		t.Errorf("Of(b) = %+v %v", b, ok)
	}
	for text, cut := range map[string]bool{"active\n": false, "active": true, "active\n  ": false, "x": true} {
		if got := ParseSystemctl([]byte(text)).Cut; got != cut {
			t.Errorf("%q: cut %v, want %v", text, got, cut)
		}
	}
	if s := ParseSystemctl([]byte("a.service enabled or so it seems\nb.service was active today once\n")); len(s.Answers) != 0 {
		t.Errorf("prose: %+v", s.Answers)
	}
	if s := ParseSystemctl([]byte("System has not been booted with systemd as init system (PID 1). Can't operate.\n")); !s.NoSystemd {
		t.Error("no systemd was not seen")
	}
}

func TestSystemdTime(t *testing.T) {
	got, zone, ok := SystemdTime("Tue 2027-02-09 06:41:33 UTC")
	if !ok || zone != "UTC" || got.Format("2006-01-02T15:04:05") != "2027-02-09T06:41:33" {
		t.Errorf("%v %q %v", got, zone, ok)
	}
	if us, _, ok := SystemdTime("Tue 2027-02-09 06:41:33.250000 KST"); !ok || !us.After(got) {
		t.Errorf("with microseconds: %v %v", us, ok)
	}
	for _, s := range []string{"", "n/a", "Tue 2027-02-09 06:41:33", "Tue 2027-02-39 06:41:33 UTC"} {
		if _, _, ok := SystemdTime(s); ok {
			t.Errorf("SystemdTime(%q) is a time", s)
		}
	}
}

func unitsFromCut(t *testing.T, cut, whole Systemctl) {
	t.Helper()
	for i, c := range cut.Answers {
		if i >= len(whole.Answers) {
			t.Fatalf("cut has an answer more: %+v", c)
		}
		w := whole.Answers[i]
		for _, f := range [][2]string{{c.LoadState, w.LoadState}, {c.ActiveState, w.ActiveState}, {c.SubState, w.SubState}, {c.UnitFileState, w.UnitFileState},
			{c.Result, w.Result}, {c.Type, w.Type}, {c.ActiveEnter, w.ActiveEnter}, {c.FragmentPath, w.FragmentPath}, {c.ExecMainCode, w.ExecMainCode},
			{c.Where, w.Where}, {c.What, w.What}, {c.Unit, w.Unit}} {
			if f[0] != "" && f[0] != f[1] {
				t.Fatalf("answer %d: cut says %q, whole %q", i, f[0], f[1])
			}
		}
		for j, e := range c.ExecStart {
			if !slices.Equal(e.Args, w.ExecStart[j].Args) {
				t.Fatalf("answer %d: cut says %q, whole %q", i, e.Args, w.ExecStart[j].Args)
			}
		}
		if c.ExecMainStatus.OK && c.ExecMainStatus != w.ExecMainStatus || c.ActiveEnterMonotonic.OK && c.ActiveEnterMonotonic != w.ActiveEnterMonotonic {
			t.Fatalf("answer %d: cut says %+v, whole %+v", i, c, w)
		}
	}
}

func TestSystemctlCutAnywhere(t *testing.T) {
	for _, text := range []string{unitShow, unitStatus + unitFailed, unitCommands, unitFile} {
		whole := ParseSystemctl([]byte(text))
		for i := range text {
			unitsFromCut(t, ParseSystemctl([]byte(text[:i])), whole)
		}
	}
}

func BenchmarkParseSystemctl(b *testing.B) {
	text := []byte(strings.Repeat(unitShow+unitStatus, 10))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ParseSystemctl(text)
	}
}
