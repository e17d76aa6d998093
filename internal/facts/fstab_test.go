package facts

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const fstabText = `# /etc/fstab: static file system information.
UUID=0a1b2c3d-0001  /          ext4    defaults,discard,commit=30   0 1
#fs-0aa.fsx.eu-west-1.amazonaws.com@tcp:/oldname /old lustre defaults 0 0
fs-0bb11.fsx.eu-west-1.amazonaws.com@tcp:/qrstbcde /fsx lustre defaults,noatime,flock,_netdev,x-systemd.automount,x-systemd.requires=configure-efa-fsx-lustre-client.service,x-systemd.requires=network.target,x-systemd.after=configure-efa-fsx-lustre-client.service 0 0
172.16.9.20@tcp:172.16.9.21@tcp:/scratch	/mnt/my\040data/	lustre	rw,context="system_u:object_r:x:s0:c1,c2",flock
tmpfs /scratch tmpfs size=4g 0 0
none  /sys/kernel/debug debugfs defaults
`

func TestParseFstab(t *testing.T) {
	const unit = "configure-efa-fsx-lustre-client.service"
	want := Fstab{Rows: []FstabRow{
		{Spec: "UUID=0a1b2c3d-0001", File: "/", Type: "ext4", Options: []string{"defaults", "discard", "commit=30"}, Freq: Some(0), Pass: Some(1)},
		{Spec: "fs-0bb11.fsx.eu-west-1.amazonaws.com@tcp:/qrstbcde", File: "/fsx", Type: "lustre", Options: []string{
			"defaults", "noatime", "flock", "_netdev", "x-systemd.automount", "x-systemd.requires=" + unit, "x-systemd.requires=network.target",
			"x-systemd.after=" + unit}, Freq: Some(0), Pass: Some(0)},
		{Spec: "172.16.9.20@tcp:172.16.9.21@tcp:/scratch", File: "/mnt/my data/", Type: "lustre", Options: []string{"rw", `context="system_u:object_r:x:s0:c1,c2"`, "flock"}},
		{Spec: "tmpfs", File: "/scratch", Type: "tmpfs", Options: []string{"size=4g"}, Freq: Some(0), Pass: Some(0)},
		{Spec: "none", File: "/sys/kernel/debug", Type: "debugfs", Options: []string{"defaults"}},
	}}
	texts := disfigured(fstabText)
	texts["as is"] = []byte(fstabText)
	for how, b := range texts {
		if got := ParseFstab(b); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got  %+v\nwant %+v", how, got, want)
		}
	}
	at := ParseFstab([]byte(fstabText)).At("/fsx/")
	if len(at) != 1 || !at[0].Has("_netdev") || at[0].Has("x-systemd.requires") || at[0].Has("_net") {
		t.Fatalf("At(/fsx/) = %+v", at)
	}
	if got := at[0].Values("x-systemd.requires"); !slices.Equal(got, []string{unit, "network.target"}) {
		t.Errorf("requires %q", got)
	}
	if got := at[0].Values("x-systemd.after"); !slices.Equal(got, []string{unit}) {
		t.Errorf("after %q", got)
	}
	if got := ParseFstab([]byte(fstabText)).At("/"); len(got) != 1 || got[0].Type != "ext4" {
		t.Errorf("At(/) = %+v", got)
	}
}

func TestParseFstabOdd(t *testing.T) {
	for text, want := range map[string]Fstab{
		"": {},
		"$ cat /etc/fstab\nthe file /etc/fstab says so\n": {},
		"172.16.9.20@tcp:/q on /fsx type lustre (rw)\n":   {},
		"a@tcp:/q /fsx lustre\n":                          {Rows: []FstabRow{{Spec: "a@tcp:/q", File: "/fsx", Type: "lustre"}}},
		"a@tcp:/q /fsx lustre flock x y\n":                {Rows: []FstabRow{{Spec: "a@tcp:/q", File: "/fsx", Type: "lustre", Options: []string{"flock"}}}},
		`a@tcp:/q /a\134b\04\999 lustre flock` + "\n":     {Rows: []FstabRow{{Spec: "a@tcp:/q", File: `/a\b\04\999`, Type: "lustre", Options: []string{"flock"}}}},
		"a@tcp:/q /fsx lustre flock,_netdev,x-systemd.requires=conf": {Cut: true, Rows: []FstabRow{
			{Spec: "a@tcp:/q", File: "/fsx", Type: "lustre", Options: []string{"flock", "_netdev"}, Cut: true}}},
		"a@tcp:/q /fsx lustre flock": {Cut: true, Rows: []FstabRow{{Spec: "a@tcp:/q", File: "/fsx", Type: "lustre", Cut: true}}},
		"a@tcp:/q /fsx lustre\tflock,_netdev\t": {Cut: true, Rows: []FstabRow{
			{Spec: "a@tcp:/q", File: "/fsx", Type: "lustre", Options: []string{"flock", "_netdev"}, Cut: true}}},
		"none none\tlustre noauto\nproc /proc proc\n": {Rows: []FstabRow{
			{Spec: "none", File: "none", Type: "lustre", Options: []string{"noauto"}}, {Spec: "proc", File: "/proc", Type: "proc"}}},
		"a@tcp:/q /fsx lustr": {Cut: true},
		"a@tcp:/q /fsx lustre flock 0 0": {Cut: true, Rows: []FstabRow{
			{Spec: "a@tcp:/q", File: "/fsx", Type: "lustre", Options: []string{"flock"}, Freq: Some(0)}}},
	} {
		if got := ParseFstab([]byte(text)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\ngot  %+v\nwant %+v", text, got, want)
		}
	}
}

func fstabFromCut(t *testing.T, cut, whole Fstab) {
	t.Helper()
	for i, c := range cut.Rows {
		if i >= len(whole.Rows) {
			t.Fatalf("cut has a row more: %+v", c)
		}
		w := whole.Rows[i]
		if c.Spec != w.Spec || c.File != w.File || c.Type != w.Type || len(c.Options) > len(w.Options) || len(c.Options) < len(w.Options) && !c.Cut ||
			!slices.Equal(c.Options, w.Options[:len(c.Options)]) || c.Freq.OK && c.Freq != w.Freq || c.Pass.OK && c.Pass != w.Pass {
			t.Fatalf("cut says %+v, whole %+v", c, w)
		}
	}
}

func TestFstabCutAnywhere(t *testing.T) {
	whole := ParseFstab([]byte(fstabText))
	for i := range fstabText {
		fstabFromCut(t, ParseFstab([]byte(fstabText[:i])), whole)
	}
}

func TestFstabCaptures(t *testing.T) {
	b := capturedFiles(t, "nodes/002-fsx-efa-g6e-setup-walk-good")["fstab-lustre.txt"]
	got := ParseFstab(append(slices.Clip(b), '\n'))
	if len(got.Rows) != 1 || got.Rows[0].Type != "lustre" || got.Rows[0].File != "/mnt/lustre" || len(got.Rows[0].Options) != 7 ||
		!got.Rows[0].Has("flock") || len(got.Rows[0].Values("x-systemd.requires")) != 1 {
		t.Errorf("%+v", got)
	}
	for i := range b {
		fstabFromCut(t, ParseFstab(b[:i]), got)
	}
	// /proc/mounts has the same fields, and its escapes.
	mounts := capturedFiles(t, "lustre")["proc-mounts.txt"]
	rows := ParseFstab(append(slices.Clip(mounts), '\n')).Rows
	if n := strings.Count(string(mounts), "/mnt/lustre "); len(rows) == 0 || len(rows) > n || rows[len(rows)-1].Type != "lustre" {
		t.Errorf("%d of %d rows: %+v", len(rows), n, rows)
	}
}

func FuzzFstab(f *testing.F) {
	f.Add([]byte(fstabText))
	f.Add([]byte(`a:/ /\040 lustre a="b,c`))
	f.Add(capturedFiles(f, "lustre")["proc-mounts.txt"])
	f.Fuzz(func(t *testing.T, b []byte) {
		whole := ParseFstab(b)
		for _, r := range whole.Rows {
			if r.Spec == "" || r.File == "" || r.Type == "" || slices.Contains(r.Options, "") {
				t.Fatalf("%+v", r)
			}
		}
	})
}

func BenchmarkParseFstab(b *testing.B) {
	text := []byte(strings.Repeat(fstabText, 20))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ParseFstab(text)
	}
}
