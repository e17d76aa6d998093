package facts

import (
	"reflect"
	"strings"
	"testing"
)

const dfTyped = `Filesystem                 Type      Size  Used Avail Use% Mounted on
tmpfs                      tmpfs     251G     0  251G   0% /dev/shm
/dev/nvme1n1p1             ext4       97G   61G   36G  63% /
//files.example/team share cifs      2.0T  1.1T  0.9T  55% /mnt/team share
172.16.9.20@tcp:/qrstbcde  lustre     54T  8.3T   45T  16% /fsx
overlay                    overlay      -     -     -    - /var/lib/x
`

func TestParseDf(t *testing.T) {
	want := Df{Rows: []DfRow{
		{"tmpfs", "tmpfs", "/dev/shm", "251G", "0", "251G", "0%"},
		{"/dev/nvme1n1p1", "ext4", "/", "97G", "61G", "36G", "63%"},
		{"//files.example/team share", "cifs", "/mnt/team share", "2.0T", "1.1T", "0.9T", "55%"},
		{"172.16.9.20@tcp:/qrstbcde", "lustre", "/fsx", "54T", "8.3T", "45T", "16%"},
		{"overlay", "overlay", "/var/lib/x", "-", "-", "-", "-"},
	}}
	texts := disfigured(dfTyped)
	texts["as is"] = []byte(dfTyped)
	for how, b := range texts {
		if got := ParseDf(b); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got  %+v\nwant %+v", how, got, want)
		}
	}
}

func TestParseDfLayouts(t *testing.T) {
	const fs, size = "172.16.9.20@tcp:/qrstbcde", "54T  8.3T   45T  16%"
	for text, want := range map[string]DfRow{
		// old df wraps long names by itself
		"Filesystem Type Size Used Avail Use% Mounted on\n" + fs + "\n      lustre " + size + " /fsx\n": {fs, "lustre", "/fsx", "54T", "8.3T", "45T", "16%"},
		// a narrow terminal
		"Filesystem Type Size Used Avail Use% Mounted on\n" + fs + " lustre " + size + "\n/fsx\n":  {fs, "lustre", "/fsx", "54T", "8.3T", "45T", "16%"},
		"Filesystem Type Size Used Avail Use% Mounted on\n" + fs + "\nlustre " + size + "\n/fsx\n": {fs, "lustre", "/fsx", "54T", "8.3T", "45T", "16%"},
		// a row alone, and one wrapped without its header
		fs + " lustre " + size + " /fsx\n":    {fs, "lustre", "/fsx", "54T", "8.3T", "45T", "16%"},
		fs + "\n  lustre " + size + " /fsx\n": {fs, "lustre", "/fsx", "54T", "8.3T", "45T", "16%"},
		// no -T
		"Filesystem Size Used Avail Use% Mounted on\n" + fs + " " + size + " /fsx\n": {fs, "", "/fsx", "54T", "8.3T", "45T", "16%"},
		fs + " " + size + " /fsx\n": {fs, "", "/fsx", "54T", "8.3T", "45T", "16%"},
		// df -T, and another language's header
		"Filesystem Type 1K-blocks Used Available Use% Mounted on\n" + fs + " lustre 5806096 712 5805384 1% /fsx\n": {fs, "lustre", "/fsx", "5806096", "712", "5805384", "1%"},
		"Dateisystem Typ Größe Benutzt Verf. Verw% Eingehängt auf\n" + fs + " lustre 54T 8,3T 45T 16% /fsx\n":       {fs, "lustre", "/fsx", "54T", "8,3T", "45T", "16%"},
	} {
		if got := ParseDf([]byte(text)); len(got.Rows) != 1 || got.Rows[0] != want {
			t.Errorf("%q:\ngot  %+v\nwant %+v", text, got, want)
		}
	}
}

func TestParseDfNot(t *testing.T) {
	for text, want := range map[string]Df{
		"": {},
		"df: /fsx: Transport endpoint is not connected\n":            {Errors: []string{"df: /fsx: Transport endpoint is not connected"}},
		"df: /fsx: Transport endpoint is":                            {Cut: true},
		"172.16.9.20@tcp:/qrstbcde on /fsx type lustre (rw,flock)\n": {},
		"172.16.9.20@tcp:/q lustre 54T 8.3T 45T 16":                  {Cut: true},
		"172.16.9.20@tcp:/q lustre 54T 8.3T 45T 16% /fs":             {Cut: true, Rows: []DfRow{{"172.16.9.20@tcp:/q", "lustre", "", "54T", "8.3T", "45T", "16%"}}},
		"total - 54T 8.3T 45T 16% -\n":                               {},
	} {
		if got := ParseDf([]byte(text)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
	over := ParseDf([]byte("systemd-1 autofs 0 0 0 - /fsx\n" + "172.16.9.20@tcp:/q lustre 54T 8.3T 45T 16% /fsx\n"))
	if r, ok := over.At("/fsx"); !ok || r.Type != "lustre" {
		t.Errorf("At(/fsx) = %+v %v, want the one mounted over the autofs", r, ok)
	}
	if r, ok := ParseDf([]byte(dfTyped)).At("/dev/shm"); !ok || r.Type != "tmpfs" {
		t.Errorf("At(/dev/shm) = %+v %v, want the first row", r, ok)
	}
	if r, ok := over.At("/fs"); ok {
		t.Errorf("At(/fs) = %+v", r)
	}
}

func dfFromCut(t *testing.T, cut, whole Df) {
	t.Helper()
	for i, c := range cut.Rows {
		if i >= len(whole.Rows) {
			t.Fatalf("cut has a row more: %+v", c)
		}
		w := whole.Rows[i]
		if c.Mounted == "" {
			w.Mounted = ""
		}
		if c != w {
			t.Fatalf("cut says %+v, whole %+v", c, w)
		}
	}
}

func TestDfCutAnywhere(t *testing.T) {
	whole := ParseDf([]byte(dfTyped))
	for i := range dfTyped {
		dfFromCut(t, ParseDf([]byte(dfTyped[:i])), whole)
	}
}

func TestDfCaptures(t *testing.T) {
	files := map[string][]byte{"lustre": capturedFiles(t, "lustre")["df-hT.txt"]}
	for name, b := range capturedFiles(t, "nodes") {
		if strings.HasSuffix(name, "df-hT.txt") && !strings.Contains(name, "lfs") {
			files[name] = b
		}
	}
	for name, b := range files {
		got := ParseDf(b)
		if want := strings.Count(string(b), "%") - 1; len(got.Rows) != want || got.Cut || len(got.Errors) > 0 {
			t.Errorf("%s: %d rows, want %d", name, len(got.Rows), want)
		}
		for _, r := range got.Rows {
			if strings.Contains(r.Filesystem, "@tcp:/") != (r.Type == "lustre") || strings.Contains(r.Filesystem, " ") || r.Type == "" {
				t.Errorf("%s: %+v", name, r)
			}
		}
		for i := range b {
			dfFromCut(t, ParseDf(b[:i]), got)
		}
	}
	if r, ok := ParseDf(files["lustre"]).At("/mnt/lustre"); !ok || r != (DfRow{"10.0.1.154@tcp:/abcdefgh", "lustre", "/mnt/lustre", "27T", "114G", "27T", "1%"}) {
		t.Errorf("/mnt/lustre: %+v %v", r, ok)
	}
}

func FuzzDf(f *testing.F) {
	f.Add([]byte(dfTyped))
	f.Add([]byte("a:/b\n lustre 1T 1T 1T 1%\n/fsx\n"))
	f.Add(capturedFiles(f, "lustre")["df-hT.txt"])
	f.Fuzz(func(t *testing.T, b []byte) {
		got := ParseDf(b)
		for _, r := range got.Rows {
			if r.Filesystem == "" || r.Size == "" || r.Mounted != "" && r.Mounted[0] != '/' {
				t.Fatalf("%+v", r)
			}
		}
	})
}

func BenchmarkParseDf(b *testing.B) {
	text := []byte(strings.Repeat(dfTyped, 20))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ParseDf(text)
	}
}
