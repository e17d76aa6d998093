package paste

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
)

func guide(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("testdata/guide.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sources are the items of a text, in order.
func sources(set *evidence.Set) []string {
	var out []string
	for _, it := range set.Items {
		out = append(out, it.Source)
	}
	return out
}

func readOne(s string) (*evidence.Set, []Piece) {
	return Read([]Text{{Name: "ticket.txt", Data: []byte(s), Given: true}})
}

func TestGuideInEveryDress(t *testing.T) {
	text := guide(t)
	want, pieces := readOne(text)
	wanted := []string{"lsmod", facts.NVFSProc + "/stats", facts.UnitSource(facts.ConfigureUnitName), facts.LNetSource, facts.LNetCountSource, "df -hT", "gdscheck -p",
		facts.NVFSProc + "/stats", facts.LNetCountsSource, facts.GdsioSource, facts.GdsioSource, facts.NVFSProc + "/stats", facts.LNetCountsSource, facts.GdsioSource, facts.NVFSProc + "/stats"}
	if got := sources(want); !slices.Equal(got, wanted) {
		t.Fatalf("%q", got)
	}
	for _, p := range pieces {
		if !p.Recognised {
			t.Errorf("not recognised: %+v", p)
		}
	}
	prefix := func(p string) string {
		return p + strings.Join(strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n"), p) + "\n"
	}
	u := utf16.Encode([]rune("\ufeff" + text))
	wide := make([]byte, 0, 2*len(u))
	for _, c := range u {
		wide = append(wide, byte(c), byte(c>>8))
	}
	var doubled strings.Builder
	for l := range strings.Lines(text) {
		doubled.WriteString(l + l)
	}
	for name, s := range map[string]string{
		"CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "quoted": prefix("> "), "quoted twice": prefix(">> "), "of mpirun": prefix("[1,0]<stdout>:"),
		"colour": strings.ReplaceAll(text, "Supported", "\x1b[32mSupported\x1b[0m"), "fenced": "Hi,\n```console\n" + text + "```\nthanks\n", "UTF-16": string(wide),
		"byte order mark": "\ufeff" + text, "doubled": doubled.String(), "NUL": strings.ReplaceAll(text, "err=0", "err\x00=0"), "trailing blanks": strings.ReplaceAll(text, "\n", "  \n"),
		"root prompt": strings.ReplaceAll(strings.ReplaceAll(text, "ubuntu@gpu-7:~$ ", "[root@gpu-7 ~]# "), "sudo ", ""), "bare commands": strings.ReplaceAll(text, "ubuntu@gpu-7:~$ ", ""),
		"numbered": numberedLines(text), "bullets": "• " + strings.Join(strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n"), "• ") + "\n",
		"TABs": strings.ReplaceAll(text, "    ", "\t"), "other language": "다음은 출력입니다，감사합니다。\n" + text + "\n이상입니다\n",
	} {
		t.Run(name, func(t *testing.T) {
			set, _ := readOne(s)
			if got := sources(set); !slices.Equal(got, wanted) {
				t.Fatalf("%q", got)
			}
		})
	}
}

func TestCommands(t *testing.T) {
	for text, want := range map[string]struct {
		program, filter string
		count, shaped   bool
	}{
		"$ sudo lnetctl net show --net efa -v | grep -E \"send_count|recv_count\"":                               {"lnetctl", "send_count recv_count", false, false},
		"root@gpu-7:/tmp# lsmod | grep -i nvidia_fs":                                                             {"lsmod", "nvidia_fs", false, false},
		"[ec2-user@ip ~]$ sudo lnetctl net show | grep -c '@efa'":                                                {"lnetctl", "@efa", true, false},
		"% grep \"NVFS Driver\" /proc/driver/nvidia-fs/stats":                                                    {"cat", "nvfs driver", false, false},
		"sudo -E dmesg -T | tail -50":                                                                            {"dmesg", "", false, true},
		"(base) me@host:~$ CUFILE_ENV_PATH_JSON=/tmp/c.json /usr/local/cuda/gds/tools/gdsio -x 0 2>&1 | tee log": {"gdsio", "", false, false},
		"+ df -hT /fsx": {"df", "", false, false},
	} {
		c := commandLine(line{text: text, no: 1, whole: true})
		if c == nil || c.program() != want.program || strings.Join(c.filter, " ") != want.filter || c.count != want.count || c.shaped != want.shaped {
			t.Errorf("%s: %+v", text, c)
		}
	}
	for _, text := range []string{"# before the run", "cat pictures are nice", "df: /fsx: Input/output error", "mount the file system first", "## lsmod", "100% sure", "Sparse Reads: n=0", "+ added line", "make sure that it works"} {
		if c := commandLine(line{text: text, no: 1, whole: true}); c != nil {
			t.Errorf("%q is taken for a command: %+v", text, c)
		}
	}
}

func item(t *testing.T, set *evidence.Set, source string) evidence.Item {
	t.Helper()
	i := set.Find(evidence.Host, source)
	if i < 0 {
		t.Fatalf("no %s in %q", source, sources(set))
	}
	return set.Items[i]
}

func TestWhatAnItemSaysOfItself(t *testing.T) {
	t.Run("a filter", func(t *testing.T) {
		set, _ := readOne("$ lsmod | grep nvidia_fs\nnvidia_fs 397312 0\n$ \n")
		if it := item(t, set, "lsmod"); it.Form != evidence.Filtered || !slices.Equal(it.Filter, []string{"nvidia_fs"}) || it.Truncated {
			t.Errorf("%+v", it)
		}
	})
	t.Run("a filter that left nothing", func(t *testing.T) {
		set, _ := readOne("$ lsmod | grep nvidia_fs\n$ uname -r\n")
		if it := item(t, set, "lsmod"); it.Form != evidence.Filtered || len(it.Out) != 0 || it.Truncated {
			t.Errorf("%+v", it)
		}
	})
	t.Run("an end that may be cut", func(t *testing.T) {
		for _, s := range []string{"$ lsmod | grep nvidia_fs\n", "$ lsmod | grep nvidia_fs"} {
			if set, _ := readOne(s); len(set.Items) != 0 {
				t.Errorf("%+v", set.Items)
			}
		}
		set, _ := readOne("$ lsmod\nModule                  Size  Used by\next4 1069056 1\n")
		if it := item(t, set, "lsmod"); !it.Truncated {
			t.Errorf("the end of the text is taken for the end of the list: %+v", it)
		}
		set, _ = readOne("$ lsmod\nModule                  Size  Used by\next4 1069056 1\n$ \n")
		if it := item(t, set, "lsmod"); it.Truncated || it.Form != evidence.Whole {
			t.Errorf("%+v", it)
		}
	})
	t.Run("lines left out", func(t *testing.T) {
		set, _ := readOne("$ lsmod\nModule                  Size  Used by\next4 1069056 1\n...\njbd2 192512 1 ext4\n$ \n")
		if it := item(t, set, "lsmod"); !it.Truncated {
			t.Errorf("%+v", it)
		}
	})
	t.Run("complaints", func(t *testing.T) {
		for s, want := range map[string]evidence.State{
			"cat: /proc/driver/nvidia-fs/stats: No such file or directory\n": evidence.Absent,
			"cat: /proc/driver/nvidia-fs/stats: Permission denied\n":         evidence.Denied,
		} {
			set, _ := readOne("$ cat /proc/driver/nvidia-fs/stats\n" + s)
			if it := item(t, set, facts.NVFSProc+"/stats"); it.State != want {
				t.Errorf("%+v", it)
			}
		}
		set, _ := readOne("$ ls -l /dev/nvidia-fs*\nls: cannot access '/dev/nvidia-fs*': No such file or directory\n")
		if it := item(t, set, "ls -l /dev/nvidia-fs*"); it.State != evidence.Absent {
			t.Errorf("%+v", it)
		}
	})
	t.Run("cufile.json", func(t *testing.T) {
		set, pieces := readOne("$ cat /tmp/cufile.json\n{\n // note\n \"properties\": { \"allow_compat_mode\": false }\n}\n{ \"name\": \"other\" }\n")
		if it := item(t, set, "/tmp/cufile.json"); it.Truncated || !strings.HasSuffix(string(it.Out), "}\n") {
			t.Errorf("%+v", it)
		}
		if len(pieces) != 2 || pieces[1].Recognised {
			t.Errorf("%+v", pieces)
		}
		set, _ = readOne("{\n \"properties\": { \"allow_compat_mode\": fal")
		if it := item(t, set, facts.CufileEtc); !it.Truncated {
			t.Errorf("half a file is taken for a file: %+v", it)
		}
	})
	t.Run("nothing known", func(t *testing.T) {
		for _, s := range []string{"", "\n\n", "hello\nworld\n", "\x00\x01\x02", strings.Repeat("x", 1<<20)} {
			if set, _ := readOne(s); len(set.Items) != 0 {
				t.Errorf("%.20q: %+v", s, set.Items)
			}
		}
	})
}

func TestOrder(t *testing.T) {
	counts := func(n string) []byte {
		return []byte("    - net type: efa\n              send_count: " + n + "\n              recv_count: " + n + "\n")
	}
	run := []byte("IoType: READ XferType: GPUD Threads: 4 DataSetSize: 1048576/1048576(KiB) IOSize: 1024(KiB) Throughput: 0.500000 GiB/sec, Avg_Latency: 7812.500000 usecs ops: 1024 total_time 2.000000 secs\n")
	before := func(set *evidence.Set, a, b string) bool {
		var x, y *evidence.Item
		for i := range set.Items {
			if strings.Contains(string(set.Items[i].Out), a) {
				x = &set.Items[i]
			}
			if strings.Contains(string(set.Items[i].Out), b) {
				y = &set.Items[i]
			}
		}
		if x == nil || y == nil {
			t.Fatalf("no %s or no %s", a, b)
		}
		return x.Before(y)
	}
	for name, tc := range map[string]struct {
		texts []Text
		a, b  string
		want  bool
	}{
		"words beat the alphabet and the order given": {[]Text{{Name: "efa_after.txt", Data: counts("9"), Given: true}, {Name: "efa_before.txt", Data: counts("5"), Given: true}}, "count: 5", "count: 9", true},
		"a folder with words":                         {[]Text{{Name: "d/efa_after.txt", Data: counts("9")}, {Name: "d/efa_before.txt", Data: counts("5")}}, "count: 5", "count: 9", true},
		"an unlabelled one is between":                {[]Text{{Name: "d/efa_after.txt", Data: counts("9")}, {Name: "d/gdsio.log", Data: run}}, "IoType", "count: 9", true},
		"one word alone":                              {[]Text{{Name: "d/x.before.txt", Data: counts("5")}, {Name: "d/x.txt", Data: counts("7")}}, "count: 5", "count: 7", true},
		"both words there: the third stands alone":    {[]Text{{Name: "d/x.before.txt", Data: counts("5")}, {Name: "d/x.txt", Data: counts("7")}, {Name: "d/x.after.txt", Data: counts("9")}}, "count: 5", "count: 7", false},
		"files of a folder have no order":             {[]Text{{Name: "d/1.txt", Data: counts("5")}, {Name: "d/2.txt", Data: counts("9")}}, "count: 5", "count: 9", false},
		"as given":                                    {[]Text{{Name: "zz.txt", Data: counts("5"), Given: true}, {Name: "aa.txt", Data: counts("9"), Given: true}}, "count: 5", "count: 9", true},
		"in one text":                                 {[]Text{{Name: "a.txt", Data: slices.Concat(counts("5"), run, counts("9"))}}, "count: 5", "IoType", true},
		"headings that say the contrary":              {[]Text{{Name: "a.txt", Data: slices.Concat([]byte("--- AFTER ---\n"), counts("9"), []byte("--- BEFORE ---\n"), counts("5"))}}, "count: 5", "count: 9", true},
	} {
		t.Run(name, func(t *testing.T) {
			set, _ := Read(tc.texts)
			if got := before(set, tc.a, tc.b); got != tc.want {
				t.Errorf("%v: %+v", got, set.Items)
			}
		})
	}
}

// TestColumns: paste sets the look before and the look after side by side.
func TestColumns(t *testing.T) {
	run := "IoType: READ XferType: GPUD Threads: 4 DataSetSize: 1048576/1048576(KiB) IOSize: 1024(KiB) Throughput: 0.500000 GiB/sec, Avg_Latency: 7812.500000 usecs ops: 1024 total_time 2.000000 secs\n"
	set, _ := readOne("$ cat /tmp/gds_r_*.log\n" + run + "$ paste /tmp/efa_before.txt /tmp/efa_after.txt\n" +
		"              send_count: 53\t              send_count: 56\n              recv_count: 54\t              recv_count: 57\n              send_count: 60\t              send_count: 90\n              recv_count: 61\t              recv_count: 91\n")
	var left, right, gdsio *evidence.Item
	for i := range set.Items {
		switch it := &set.Items[i]; {
		case it.Source == facts.GdsioSource:
			gdsio = it
		case strings.Contains(string(it.Out), "send_count: 53\nrecv_count: 54\nsend_count: 60\n"):
			left = it
		case strings.Contains(string(it.Out), "send_count: 56\nrecv_count: 57\nsend_count: 90\n"):
			right = it
		}
	}
	if left == nil || right == nil || gdsio == nil || !left.Before(gdsio) || !gdsio.Before(right) {
		t.Errorf("%+v", set.Items)
	}
}

func captures(t testing.TB) map[string][]byte {
	t.Helper()
	dir := os.Getenv("GDSPROOF_CAPTURES")
	if dir == "" {
		t.Skip("GDSPROOF_CAPTURES is not set: the captured outputs are not there")
	}
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(p, ".md") || strings.HasSuffix(p, ".tsv") {
			return err
		}
		b, err := os.ReadFile(p)
		out[strings.TrimPrefix(p, dir+"/")] = b
		return err
	})
	if err != nil || len(out) < 50 {
		t.Fatalf("%d captures: %v", len(out), err)
	}
	return out
}

// TestCaptures: each captured output is taken for what it is, by its name's first word or its folder.
func TestCaptures(t *testing.T) {
	for name, want := range map[string]string{
		"gdscheck/": "gdscheck -p", "cufile-log/": facts.PastedCufileLog, "nvidia-fs/0": facts.NVFSProc + "/stats", "nvidia-fs/1": facts.NVFSProc + "/stats",
		"lustre/dmesg": facts.DmesgSource, "lustre/efa-port": facts.EFACountersSource, "lustre/df": "df -hT", "lustre/lsmod": "lsmod", "gdsio-lines": facts.GdsioSource,
	} {
		n := 0
		for file, b := range captures(t) {
			if !strings.HasPrefix(file, name) || len(b) == 0 || strings.Contains(file, "INDEX") || strings.Contains(file, "ABSENT") {
				continue
			}
			n++
			set, pieces := readOne(string(b))
			if !slices.Contains(sources(set), want) {
				t.Errorf("%s: %q, %+v", file, sources(set), pieces)
			}
		}
		if n == 0 {
			t.Errorf("no capture begins with %s", name)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(guide(f)), []byte("after"))
	if os.Getenv("GDSPROOF_CAPTURES") != "" {
		for _, b := range captures(f) {
			f.Add(b[:min(len(b), 8<<10)], []byte("x"))
		}
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		set, pieces := Read([]Text{{Name: "before.txt", Data: a}, {Name: "b", Data: b, Given: true}, {Name: "c", Data: bytes.ToUpper(a)}})
		for _, it := range set.Items {
			if it.Source == "" || it.State == "" || it.Form == "" {
				t.Errorf("%+v", it)
			}
		}
		for _, p := range pieces {
			if p.From > p.To {
				t.Errorf("%+v", p)
			}
		}
	})
}

func numberedLines(text string) string {
	var b strings.Builder
	n := 0
	for l := range strings.Lines(text) {
		n++
		fmt.Fprintf(&b, "%5d  %s", n, l)
	}
	return b.String()
}

// TestSeveralMachines: counters of one machine before and of another after are no window.
func TestSeveralMachines(t *testing.T) {
	stats := func(n string) string {
		return "NVFS statistics(ver: 4.0)\nMmap\t\t\t\t: n=" + n + " ok=" + n + " err=0 munmap=" + n + "\n"
	}
	set, pieces := readOne("me@a:~$ cat /proc/driver/nvidia-fs/stats\n" + stats("1") + "me@b:~$ cat /proc/driver/nvidia-fs/stats\n" + stats("9") + "me@b:~$ \n")
	if len(set.Items) != 2 || set.Items[0].Before(&set.Items[1]) {
		t.Errorf("%+v", set.Items)
	}
	if len(pieces) == 0 || !strings.Contains(pieces[0].What, "a, b") {
		t.Errorf("%+v", pieces)
	}
	set, _ = readOne("me@a:~$ cat /proc/driver/nvidia-fs/stats\n" + stats("1") + "root@a:/tmp# cat /proc/driver/nvidia-fs/stats\n" + stats("9") + "$ \n")
	if len(set.Items) != 2 || !set.Items[0].Before(&set.Items[1]) {
		t.Errorf("one machine, two users: %+v", set.Items)
	}
}
