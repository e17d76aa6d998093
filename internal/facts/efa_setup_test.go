package facts

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const (
	setupOutput = `$ sudo ./setup.sh --optimized-for-gds --tcp-name ens7
Checking python3 path: /usr/bin/python3
Doing basic checks...
Started configure-efa-fsx-lustre-client.py at 2027-02-09 06:40:50.118237
Checking whether cmd "lfs" exists in PATH...
Using Lustre client version 2.15.7
Found TCP interface: ens7
Using EFA driver version 3.1.0
Detected instance type: p5en.48xlarge
Found 16 available EFA device(s)
	Configuration to write to /etc/modprobe.d/modprobe.conf:
options libcfs cpu_npartitions=16 cpu_pattern="0[0-11] 1[12-23]"
	Dry run mode - skipping file write
[Service]
ExecStart=/usr/bin/python3 /usr/local/sbin/configure-efa-fsx-lustre-client.py --optimized-for-gds --tcp-name ens7
`
	setupEnabled = `The service "configure-efa-fsx-lustre-client.service" is already enabled. Changes will apply on next boot. Please reboot.
`
	setupJournal = `-- Boot 0f1e2d3c --
Feb 08 11:00:01 gpu-17 systemd[1]: Starting configure-efa-fsx-lustre-client.service - Configure EFA FSx Lustre Client...
Feb 08 11:00:02 gpu-17 python3[911]: Started configure-efa-fsx-lustre-client.py at 2027-02-08 11:00:02.1
Feb 08 11:00:09 gpu-17 python3[911]: Error: Unable to get EC2 instance type from metadata service
Feb 08 11:00:09 gpu-17 python3[911]: configure-efa-fsx-lustre-client.py: [2027-02-08 11:00:09] Error: Unable to get EC2 instance type from metadata service
Feb 08 11:00:09 gpu-17 systemd[1]: configure-efa-fsx-lustre-client.service: Main process exited, code=exited, status=1/FAILURE
Feb 08 11:00:09 gpu-17 systemd[1]: configure-efa-fsx-lustre-client.service: Failed with result 'exit-code'.
Feb 08 11:00:09 gpu-17 systemd[1]: Failed to start configure-efa-fsx-lustre-client.service - Configure EFA FSx Lustre Client.
-- Boot 1f1e2d3c --
Feb 09 06:41:01 gpu-17 systemd[1]: Starting configure-efa-fsx-lustre-client.service - Configure EFA FSx Lustre Client...
Feb 09 06:41:02 gpu-17 python3[1811]: Loading Lustre/EFA modules...
Feb 09 06:41:03 gpu-17 python3[1811]:         Adding in parallel the EFA interfaces ['rdmap97s0', 'rdmap98s0']...
Feb 09 06:41:22 gpu-17 python3[1811]:         2 out of 2 cmds have succeeded.
Feb 09 06:41:22 gpu-17 python3[1811]:         Adding in parallel the EFA interfaces ['rdmap113s0']...
Feb 09 06:41:32 gpu-17 python3[1811]: configure-efa-fsx-lustre-client.py: [2027-02-09 06:41:32] Successfully configured and added 3 EFA interface(s).
Feb 09 06:41:32 gpu-17 systemd[1]: Finished configure-efa-fsx-lustre-client.service - Configure EFA FSx Lustre Client.
`
)

func TestParseEFASetup(t *testing.T) {
	first := EFASetupRun{
		GDS: Some(true), Client: "2.15.7", Driver: "3.1.0", Instance: "p5en.48xlarge", TCP: "ens7", Available: Some(16), Partitions: Some(16),
	}
	enabled := first
	enabled.AlreadyEnabled, enabled.Reboot = true, true
	failed := EFASetupRun{PID: "911", Failed: true, Errors: []EFASetupError{{Kind: SetupNoMetadata, Text: "Unable to get EC2 instance type from metadata service"}}}
	good := EFASetupRun{PID: "1811", Added: Some(3), Finished: true, Interfaces: []string{"rdmap97s0", "rdmap98s0", "rdmap113s0"}}
	for text, want := range map[string][]EFASetupRun{
		setupOutput:                {first},
		setupOutput + setupEnabled: {enabled},
		setupJournal:               {failed, good},
		setupOutput + setupEnabled + setupJournal:                   {enabled, failed, good},
		strings.ReplaceAll(setupOutput, " --optimized-for-gds", ""): {func() EFASetupRun { r := first; r.GDS = Some(false); return r }()},
		"": nil,
	} {
		texts := disfigured(text)
		texts["as is"] = []byte(text)
		for how, b := range texts {
			if got := ParseEFASetup(b); !reflect.DeepEqual(got.Runs, want) || got.Cut {
				t.Errorf("%s %.40q:\ngot  %+v\nwant %+v", how, text, got, want)
			}
		}
	}
	if last, ok := ParseEFASetup([]byte(setupJournal)).Last(); !ok || last.PID != "1811" {
		t.Errorf("Last() = %+v %v", last, ok)
	}
	// No boot lines and no systemd: the processes tell the runs apart.
	var script string
	for line := range strings.Lines(setupJournal) {
		if strings.Contains(line, "python3[") {
			script += line
		}
	}
	if got := ParseEFASetup([]byte(script)).Runs; len(got) != 2 || got[0].PID != "911" || got[1].Added != Some(3) {
		t.Errorf("grepped journal: %+v", got)
	}
}

func TestParseEFASetupErrors(t *testing.T) {
	for text, kind := range map[string]string{
		`cmd "lnetctl" not found`: SetupCommandMissing,
		"EFA driver version 2.11.0 does not meet the minimum requirement 2.12.1":               SetupVersionTooLow,
		"Primary interface ens9 does not exist or is not up. Timeout after 120 second(s).":     SetupTCPDown,
		"No up TCP interface found. Timeout after 60 second(s).":                               SetupTCPDown,
		"Unable to get EC2 instance type from metadata service":                                SetupNoMetadata,
		"No EFA device found. Exit because --allow-no-efa is not specified":                    SetupNoDevice,
		"Instance type g6e.48xlarge does not support Lustre GDS.":                              SetupTypeNotGDS,
		"rdmap9s0 has 3 PCI parts, expected 4":                                                 SetupPCIName,
		"NUMA node for rdmap9s0 is -1 which is not in range":                                   SetupNUMA,
		"No EFA devices found for NUMA node 1":                                                 SetupNUMAWithoutEFA,
		"Unable to extract tag from version 2.15.6":                                            SetupPackage,
		"No supported package manager found":                                                   SetupPackage,
		"Error removing EFA interfaces":                                                        SetupRemove,
		"Error adding EFA interfaces":                                                          SetupAdd,
		"lnetctl udsp add --src efa --priority 0 failed. ret=22":                               SetupPriority,
		"Command timed out after 300 seconds":                                                  SetupTimeout,
		"Error running cmd=lnetctl net add --net efa --if rdmap9s0 --peer-credits 128 --cpt 9": SetupCommand,
		"a text that nobody knows yet":                                                         "",
	} {
		for _, before := range []string{"Error: ", "configure-efa-fsx-lustre-client.py: [2027-02-09 06:41:32] Error: ",
			"Feb 09 06:41:32 gpu-17 python3[1811]: configure-efa-fsx-lustre-client.py: [2027-02-09 06:41:32] Error: "} {
			got, ok := ParseEFASetup([]byte(before + text + "\n")).Last()
			if want := []EFASetupError{{Kind: kind, Text: text}}; !ok || !slices.Equal(got.Errors, want) {
				t.Errorf("%s%s: %+v, want %+v", before, text, got.Errors, want)
			}
		}
	}
	for _, text := range []string{"Command 'foo' not found\n", "Error: ", "Error: a text that is cut", "dmesg: LNetError: 11:0: x\n", "Error running"} {
		if got := ParseEFASetup([]byte(text)); len(got.Runs) != 0 {
			t.Errorf("%q: %+v, want nothing", text, got.Runs)
		}
	}
	got, _ := ParseEFASetup([]byte("Error: EFA driver version 2.11.0 does not meet the minimum requirement 2.1")).Last()
	if len(got.Errors) != 1 || !got.Errors[0].Cut {
		t.Errorf("cut: %+v", got)
	}
	// A date in brackets is no process.
	got, _ = ParseEFASetup([]byte("configure-efa-fsx-lustre-client.py: [2027-02-09 06:41:32]: Successfully configured and added 8 EFA interface(s).\n")).Last()
	if got.Added != Some(8) || got.PID != "" {
		t.Errorf("brackets: %+v", got)
	}
	got, _ = ParseEFASetup([]byte("Job for configure-efa-fsx-lustre-client.service canceled.\n")).Last()
	if !got.Canceled || got.Failed {
		t.Errorf("cancelled: %+v", got)
	}
}

func setupFromCut(t *testing.T, cut, whole EFASetup) {
	t.Helper()
	for i, c := range cut.Runs {
		if i >= len(whole.Runs) {
			t.Fatalf("cut has a run more: %+v", c)
		}
		w := whole.Runs[i]
		for _, f := range [][2]string{{c.PID, w.PID}, {c.Client, w.Client}, {c.Driver, w.Driver}, {c.Instance, w.Instance}, {c.TCP, w.TCP}} {
			if f[0] != "" && f[0] != f[1] {
				t.Fatalf("run %d: cut says %q, whole %q", i, f[0], f[1])
			}
		}
		if c.Added.OK && c.Added != w.Added || c.Available.OK && c.Available != w.Available || c.Partitions.OK && c.Partitions != w.Partitions ||
			c.GDS.OK && c.GDS != w.GDS || c.Finished && !w.Finished || c.Failed && !w.Failed || c.Reboot && !w.Reboot ||
			len(c.Interfaces) > len(w.Interfaces) || !slices.Equal(c.Interfaces, w.Interfaces[:len(c.Interfaces)]) {
			t.Fatalf("run %d: cut says %+v, whole %+v", i, c, w)
		}
		for j, e := range c.Errors {
			if j >= len(w.Errors) || e.Kind != w.Errors[j].Kind || !strings.HasPrefix(w.Errors[j].Text, e.Text) || !e.Cut && e.Text != w.Errors[j].Text {
				t.Fatalf("run %d: cut says %+v, whole %+v", i, c.Errors, w.Errors)
			}
		}
	}
}

func TestEFASetupCutAnywhere(t *testing.T) {
	text := setupOutput + setupEnabled + setupJournal
	whole := ParseEFASetup([]byte(text))
	for i := range text {
		setupFromCut(t, ParseEFASetup([]byte(text[:i])), whole)
	}
}

func TestEFASetupCaptures(t *testing.T) {
	node := capturedFiles(t, "nodes/002-fsx-efa-g6e-setup-walk-good")
	journal := capturedFiles(t, "lustre")["journal-configure-efa-service-ok.txt"]
	for name, b := range map[string][]byte{"lustre": journal, "node": node["journalctl-configure-efa-fsx-lustre-client.txt"]} {
		want := []EFASetupRun{{PID: "122779", Added: Some(1), Finished: true, Interfaces: []string{"efa_0"}}}
		if got := ParseEFASetup(b); !reflect.DeepEqual(got.Runs, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	out := ParseEFASetup(node["setup.sh.txt"])
	want := []EFASetupRun{{GDS: Some(false), Client: "2.15.6", Driver: "3.0.0", Instance: "g6e.24xlarge", TCP: "enp71s0", Available: Some(1)}}
	if !reflect.DeepEqual(out.Runs, want) {
		t.Errorf("setup.sh: %+v", out)
	}
	for _, b := range [][]byte{journal, node["setup.sh.txt"]} {
		whole := ParseEFASetup(b)
		for i := range b {
			setupFromCut(t, ParseEFASetup(b[:i]), whole)
		}
	}
}

func FuzzEFASetup(f *testing.F) {
	f.Add([]byte(setupOutput + setupEnabled))
	f.Add([]byte(setupJournal))
	f.Add([]byte("Error: Error running cmd=x\nError: a not found\n"))
	f.Add(capturedFiles(f, "lustre")["journal-configure-efa-service-ok.txt"])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, r := range ParseEFASetup(b).Runs {
			if r.AlreadyEnabled && !r.Reboot || r.Added.OK && !r.Finished || r.Added.V < 0 && r.Added.OK {
				t.Fatalf("%+v", r)
			}
			for _, e := range r.Errors {
				if e.Text == "" {
					t.Fatalf("a complaint without words: %+v", r)
				}
			}
		}
	})
}

func BenchmarkParseEFASetup(b *testing.B) {
	text := []byte(strings.Repeat(setupOutput+setupJournal, 10))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ParseEFASetup(text)
	}
}
