package checks_test

import (
	"strings"
	"testing"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

// replied is a command's answer.
func replied(out, err string, exit int) *evidence.Item {
	it := text(out)
	it.Err, it.Exit = []byte(err), &exit
	return it
}

// edited is a node's item with some words replaced.
func edited(t *testing.T, spec, source string, words ...string) *evidence.Item {
	t.Helper()
	set := look(t, spec)
	i := set.Find(evidence.Host, source)
	if i < 0 || !set.Items[i].OK() {
		t.Fatalf("%s has no %s", spec, source)
	}
	out := string(set.Items[i].Out)
	for k := 0; k < len(words); k += 2 {
		if !strings.Contains(out, words[k]) {
			t.Fatalf("%s of %s has no %q:\n%s", source, spec, words[k], out)
		}
		out = strings.ReplaceAll(out, words[k], words[k+1])
	}
	it := set.Items[i]
	it.Out = []byte(out)
	return &it
}

// TestOddClients are Lustre clients that are easily misjudged.
func TestOddClients(t *testing.T) {
	unit, imports, fstab, df := facts.UnitSource(facts.ConfigureUnitName), facts.ImportsSource, "/etc/fstab", facts.LfsDfSource("/fsx")
	noMount := edited(t, "p5en,lustre-not-mounted", facts.MountinfoSource)
	waiting := *noMount
	waiting.Out = append(append([]byte(nil), noMount.Out...), "410 29 0:61 / /fsx rw,relatime shared:220 - autofs systemd-1 rw,fd=60\n"...)
	atWork := edited(t, "p5en", unit, "ActiveState=active", "ActiveState=activating", "SubState=exited", "SubState=start")
	asked := facts.Options{FS: "/fsx"}.Item()
	otherDead := edited(t, "p5en", imports)
	otherDead.Out = append(otherDead.Out, "osc.zzotherf-OST0000-osc-ffff9a31c0de4800.ost_server_uuid=zzotherf-OST0000_UUID\tDISCONN\n"...)
	for name, tc := range map[string]struct {
		spec  string
		c     change
		check string
		want  report.Status
		words string
	}{
		"no /dev/lnet, as in a container": {"p5en", change{facts.LNetSource: replied("", "opening /dev/lnet failed: No such file or directory\nhint: the kernel modules may not be loaded\n", 0)}, "lnet-efa-net", report.Unknown, "container"},
		"lnetctl does not start":          {"p5en", change{facts.LNetSource: replied("", "lnetctl: error while loading shared libraries: liblnetconfig.so.4: cannot open shared object file: No such file or directory\n", 127)}, "lnet-efa-net", report.Unknown, ""},
		"nothing and exit 0":              {"p5en", change{facts.LNetSource: replied("", "", 0)}, "lnet-efa-net", report.Unknown, "nothing"},
		"at work, no efa net yet":         {"p5en,lnet-tcp-only", change{unit: atWork}, "lnet-efa-net", report.Unknown, "at work"},
		"at work, some interfaces":        {"p5en,lnet-some-missing", change{unit: atWork}, "lnet-efa-count", report.Unknown, "at work"},
		"automount waits":                 {"p5en,lustre-not-mounted", change{facts.MountinfoSource: &waiting, fstab: edited(t, "p5en", fstab)}, "lustre-mounted", report.Unknown, "waits for its first access"},
		"automount waits, named":          {"p5en,lustre-not-mounted", change{facts.MountinfoSource: &waiting, facts.OptionsSource: &asked}, "lustre-mounted", report.Unknown, "waits for its first access"},
		"lfs df with an error alone":      {"p5en", change{df: replied("", "lfs df: cannot open /fsx: Permission denied\n", 13)}, "lustre-answers", report.Unknown, ""},
		"lfs df with a header alone":      {"p5en", change{df: replied("UUID                   1K-blocks        Used   Available Use% Mounted on\n", "", 0)}, "lustre-answers", report.Unknown, "no target"},
		"another file system is dead":     {"p5en", change{imports: otherDead, facts.OptionsSource: &asked}, "lustre-answers", report.Pass, ""},
		"this file system is dead":        {"p5en", change{imports: edited(t, "p5en", imports, "FULL", "DISCONN")}, "lustre-answers", report.Fail, "DISCONN"},
		"connecting just after the mount": {"p5en", change{imports: edited(t, "p5en", imports, "FULL", "CONNECTING")}, "lustre-answers", report.Pass, ""},
		"peers not discovered yet":        {"p5en,fs-not-efa", change{facts.LNetPeerSource: edited(t, "p5en,fs-not-efa", facts.LNetPeerSource, "Multi-Rail: True", "Multi-Rail: False")}, "fs-efa-enabled", report.Unknown, "met"},
		"inactive, and nobody could look": {"p5en", change{unit: edited(t, "p5en", unit, "ActiveState=active", "ActiveState=inactive"), facts.LNetSource: replied("", "opening /dev/lnet failed: Permission denied\n", 243)}, "efa-service", report.Unknown, ""},
		"masked, with interfaces":         {"p5en", change{unit: edited(t, "p5en", unit, "LoadState=loaded", "LoadState=masked")}, "efa-service", report.Warn, "masked"},
		"no unit, with interfaces (EKS)":  {"p5en", change{unit: replied("Id="+facts.ConfigureUnitName+"\nLoadState=not-found\nActiveState=inactive\nSubState=dead\nUnitFileState=\n", "", 0)}, "efa-service", report.Warn, "EKS"},
		"tcp is preferred as much":        {"p5en", change{facts.LNetUDSPSource: edited(t, "p5en", facts.LNetUDSPSource, "udsp:\n", "udsp:\n    - idx: 5\n      src: tcp\n      dst: NA\n      rte: NA\n      action:\n          priority: 0\n")}, "lnet-efa-priority", report.Warn, "side by side"},
		"no class, bus not seen":          {"p5en", change{facts.EFADevicesSource: state(evidence.Absent, "ENOENT", ""), facts.PCISource: nil}, "efa-devices", report.Fail, "was not seen"},
		"the flag hides in a variable":    {"p5en", change{unit: edited(t, "p5en", unit, facts.GDSFlag, "$EFA_OPTS")}, "efa-service-gds", report.Unknown, "shortened"},
		"not mounted at boot":             {"p5en", change{fstab: text("fs-1.example@tcp:/x /fsx lustre noauto,flock 0 0\n")}, "fstab-order", report.Pass, "noauto"},
		"another line of fstab":           {"p5en", change{fstab: text("fs-2.example@tcp:/y /scratch lustre flock 0 0\n"), facts.OptionsSource: &asked}, "fstab-order", report.Skip, ""},
		"ConnectX beside EFA":             {"p6-b200", nil, "efa-devices", report.Pass, "not EFA, ignored: mlx5_0"},
		"@tcp in the mount is explained":  {"p5en", nil, "lustre-mounted", report.Pass, "not the way that data takes"},
	} {
		t.Run(name, func(t *testing.T) {
			fs := judge(t, with(t, tc.spec, tc.c))
			if got := worst(fs, tc.check); got != tc.want || !holds(fs, tc.check, tc.words) {
				t.Errorf("%s, want %s with %q: %+v", got, tc.want, tc.words, of(fs, tc.check))
			}
		})
	}
}

// TestSecondLookFails: what the first look at LNet saw stays known.
func TestSecondLookFails(t *testing.T) {
	set := look(t, "p5en,lnet-drops")
	n := 0
	for i := range set.Items {
		if it := &set.Items[i]; it.Source == facts.LNetSource && it.Step == 1 {
			it.State, it.Out, it.Err = evidence.TimedOut, nil, []byte("no answer")
			n++
		}
	}
	fs := judge(t, set)
	if got := worst(fs, "lnet-efa-net"); n != 1 || got != report.Pass {
		t.Errorf("%d second looks, lnet-efa-net %s", n, got)
	}
}
