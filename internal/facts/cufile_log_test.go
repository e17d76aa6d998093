package facts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func cufileEntries(tb testing.TB, text string) []CufileLogEntry {
	tb.Helper()
	var out []CufileLogEntry
	for e, err := range ScanCufileLog(strings.NewReader(text)) {
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

const cufileLogText = ` 07-02-2031 23:59:58:7 [pid=81 tid=82] ERROR  cufio-drv:901 nvidia-fs.ko driver not loaded
07-02-2031 23:59:58:070 [pid=81 tid=81] NOTICE  0:11 running in compatible mode

 07-02-2031 23:59:59:999 [pid=4194304 tid=1] DEBUG cufio-rdma:149 No valid ip addresses: none given

rest of a message
 08-02-2031 0:00:00:1 [pid=1 tid=1] ERROR  cufio:1 an hour without its zero
 07-02-2031 23:59:58:7 [pid=81 tid=82] WARN  no module here: 5
`

func TestCufileLogLines(t *testing.T) {
	at := func(sec, ms int) time.Time {
		return time.Date(2031, 2, 7, 23, 59, sec, ms*int(time.Millisecond), time.UTC)
	}
	want := []CufileLogEntry{
		{Time: at(58, 7), PID: 81, TID: 82, Level: "ERROR", File: "cufio-drv", Line: 901, Message: "nvidia-fs.ko driver not loaded"},
		{Time: at(58, 70), PID: 81, TID: 81, Level: "NOTICE", File: "0", Line: 11, Message: "running in compatible mode"},
		{Time: at(59, 999), PID: 4194304, TID: 1, Level: "DEBUG", File: "cufio-rdma", Line: 149, Message: "No valid ip addresses: none given"},
		{Message: "rest of a message"},
		{Message: "08-02-2031 0:00:00:1 [pid=1 tid=1] ERROR  cufio:1 an hour without its zero"},
		{Time: at(58, 7), PID: 81, TID: 82, Level: "WARN", Message: "no module here: 5"},
	}
	if d := cmp.Diff(want, cufileEntries(t, cufileLogText)); d != "" {
		t.Error(d)
	}
	for name, b := range disfigured(cufileLogText) {
		squeezed := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Message" }, cmp.Comparer(func(a, b string) bool {
			return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
		}))
		if d := cmp.Diff(want, cufileEntries(t, string(b)), squeezed); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	for _, line := range []string{" 07-02-2031 23:59:58:1000 [pid=1 tid=1] INFO  a:1 x", " 07-13-2031 23:59:58:1 [pid=1 tid=1] INFO  a:1 x", " 07-02-2031 23:59:58:1 [pid=-1 tid=1] INFO  a:1 x"} {
		if e := cufileEntries(t, line+"\n")[0]; e.Level != "" {
			t.Errorf("%q: %+v", line, e)
		}
	}
	for level, want := range map[string]int{"NOTICE": 0, "ERROR": 1, "WARN": 2, "INFO": 3, "DEBUG": 4, "TRACE": 5} {
		if n, ok := (CufileLogEntry{Level: level}).Severity(); n != want || !ok {
			t.Errorf("%s: %d, %v", level, n, ok)
		}
	}
	if _, ok := (CufileLogEntry{Level: "FATAL"}).Severity(); ok {
		t.Error("an unknown level has a severity")
	}
}

// A cut log's last line is either the whole entry's beginning or no entry.
func cufileLogCut(t *testing.T, text string) {
	t.Helper()
	whole := cufileEntries(t, text)
	for i := range text {
		part := cufileEntries(t, text[:i])
		for j, e := range part {
			last := j == len(part)-1
			if !last || !e.Cut {
				if !reflect.DeepEqual(e, whole[j]) {
					t.Fatalf("cut at %d: %+v, whole %+v", i, e, whole[j])
				}
				continue
			}
			if e.Level != "" && (e.Level != whole[j].Level || e.PID != whole[j].PID || !e.Time.Equal(whole[j].Time) || e.File != "" && (e.File != whole[j].File || e.Line != whole[j].Line) ||
				e.File != "" && !strings.HasPrefix(whole[j].Message, e.Message)) {
				t.Fatalf("cut at %d, behind %q: %+v, whole %+v", i, text[max(0, i-30):i], e, whole[j])
			}
		}
	}
}

func TestCufileLogCut(t *testing.T) { cufileLogCut(t, cufileLogText) }

func TestCufileLogReader(t *testing.T) {
	long := " 07-02-2031 23:59:58:7 [pid=8 tid=8] INFO  cufio:1 " + strings.Repeat("x", 3*maxCufileLine) + "\n" + cufileLogText
	got := cufileEntries(t, long)
	if len(got) != 7 || !got[0].Cut || got[0].PID != 8 || len(got[0].Message) > maxCufileLine || got[1].Cut {
		t.Errorf("a long line: %d entries", len(got))
	}
	var last error
	n := 0
	for e, err := range ScanCufileLog(io.MultiReader(strings.NewReader(cufileLogText), iotest.ErrReader(errors.New("disk gone")))) {
		last = err
		if err == nil && e.Level != "" {
			n++
		}
	}
	if last == nil || last.Error() != "disk gone" || n != 4 {
		t.Errorf("%d entries, then %v", n, last)
	}
	if _, ok, err := ParseGDSCheckInLog(iotest.ErrReader(errors.New("disk gone"))); ok || err == nil {
		t.Errorf("a report from a reader that fails: %v, %v", ok, err)
	}
	for range ScanCufileLog(strings.NewReader(cufileLogText)) {
		break // must not go on
	}
}

// inLog puts a report behind the log's prefix, a process's lines 3 ms apart.
func inLog(report string, pid, day int) []string {
	var out []string
	for i, line := range strings.Split(strings.TrimSuffix(report, "\n"), "\n") {
		out = append(out, fmt.Sprintf(" %02d-02-2031 10:11:12:%d [pid=%d tid=%d] INFO  cufio-drv:%d%s", day, 3*i, pid, pid, 70+i, line))
		if i%9 == 4 {
			out = append(out, fmt.Sprintf(" %02d-02-2031 10:11:12:%d [pid=%d tid=%d] DEBUG  cufio-plat:403 GPU BDF: 0000:71:00.0", day, 3*i, pid, pid))
		}
	}
	return append(out, fmt.Sprintf(" %02d-02-2031 10:11:13:0 [pid=%d tid=%d] INFO  cufio_core:1070 CUFile initialization complete", day, pid, pid))
}

var gdsInLogOptions = cmp.Options{gdsIgnoreState, cmpopts.IgnoreFields(GDSReport{}, "Next")}

func TestGDSCheckInLog(t *testing.T) {
	good, bad := gdsGood.String(), gdsBad.String()
	a, b := inLog(good, 100, 3), inLog(bad, 200, 3)
	var mixed []string
	for i := range max(len(a), len(b)) {
		if i < len(a) {
			mixed = append(mixed, a[i])
		}
		if i < len(b) {
			mixed = append(mixed, b[i])
		}
	}
	noise := []string{" 03-02-2031 10:11:11:9 [pid=100 tid=100] NOTICE  cufio-drv:851 running in compatible mode"}
	for name, c := range map[string]struct {
		lines []string
		pid   int
		want  string
	}{
		"one":                  {append(noise, a...), 100, good},
		"two, one after other": {append(append([]string{}, a...), b...), 200, bad},
		"other way round":      {append(append([]string{}, b...), a...), 100, good},
		"mixed":                {mixed, 200, bad},
		"same pid, other day":  {append(append([]string{}, a...), inLog(bad, 100, 9)...), 100, bad},
		"opened again":         {append(append([]string{}, a...), inLog(good, 100, 3)...), 100, good},
		"died within":          {append(append([]string{}, a[:9]...), inLog(bad, 100, 4)...), 100, bad},
	} {
		got, ok, err := ParseGDSCheckInLog(strings.NewReader(strings.Join(c.lines, "\n") + "\n"))
		if !ok || err != nil || got.PID != c.pid || got.Open || got.Began.IsZero() {
			t.Errorf("%s: pid %d, open %v, %v, %v", name, got.PID, got.Open, ok, err)
		}
		if d := cmp.Diff(ParseGDSCheck([]byte(c.want)), got.GDSReport, gdsInLogOptions); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	got, ok, _ := ParseGDSCheckInLog(strings.NewReader(strings.Join(a[:20], "\n") + "\n"))
	if !ok || !got.Open || got.Whole(GDSDriver) || got.Ended() || len(got.Rows) == 0 {
		t.Errorf("the beginning of a report: %+v", got)
	}
	got, ok, _ = ParseGDSCheckInLog(strings.NewReader(strings.Join(a[11:], "\n") + "\n"))
	if !ok || got.Open || got.NVFSVersion != "" || got.UnloadedSpoken || got.Whole(GDSDriver) || !got.Whole(GDSGPUInfo) {
		t.Errorf("the end of a report: %+v", got)
	}
	// A process that died within its report, and another with the same number days later whose first lines are missing.
	other := inLog(bad, 100, 20)
	got, ok, _ = ParseGDSCheckInLog(strings.NewReader(strings.Join(append(append([]string{}, a[:30]...), other[30:]...), "\n") + "\n"))
	if !ok || got.NVFSVersion != "" || got.GDSVersion != "" || got.VerifiedOK != Some(false) || got.Began.Day() != 20 {
		t.Errorf("two processes with one number: %+v", got)
	}
	if _, ok, err := ParseGDSCheckInLog(strings.NewReader(cufileLogText)); ok || err != nil {
		t.Errorf("a log without a report: %v, %v", ok, err)
	}
}

func TestCufileLogCaptures(t *testing.T) {
	reports := map[string]int{"cufile-compat-tmpfs.log": 523, "cufile-compat-trace.log": 483}
	counts := map[string]map[string]int{
		"cufile-no-udev.log":       {"NOTICE": 2, "ERROR": 7},
		"cufile-udev-default.log":  {"NOTICE": 1, "ERROR": 1},
		"cufile-nocompat-ext4.log": {"ERROR": 2, "WARN": 2},
		"cufile-compat-tmpfs.log":  {"NOTICE": 2, "ERROR": 7, "WARN": 1},
		"cufile-compat-trace.log":  {"NOTICE": 1, "WARN": 1},
	}
	for name, text := range capturedFiles(t, "cufile-log") {
		levels, lines := map[string]int{}, 0
		for _, e := range cufileEntries(t, string(text)) {
			if e.Level == "" && e.Cut {
				continue // the last line ends behind its level
			}
			levels[e.Level]++
			if e.Level != "" && (e.PID == 0 || e.Time.Year() != 2026 || !e.Cut && (e.File == "" || e.Message == "")) {
				t.Errorf("%s: %+v", name, e)
			}
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			if strings.Contains(line, " [pid=") && strings.Contains(line, ":") && !strings.HasSuffix(line, "  ") {
				lines++
			}
		}
		read := 0
		for level, n := range levels {
			if level != "" {
				read += n
			}
		}
		if read != lines || levels[""] != 0 {
			t.Errorf("%s: %d of %d lines read, %d are no entries", name, read, lines, levels[""])
		}
		for level, n := range counts[name] {
			if levels[level] != n {
				t.Errorf("%s: %d %s, want %d", name, levels[level], level, n)
			}
		}
		r, ok, err := ParseGDSCheckInLog(bytes.NewReader(text))
		pid, has := reports[name]
		if err != nil || ok != has || r.PID != pid {
			t.Errorf("%s: a report of %d: %v, %v", name, r.PID, ok, err)
		}
		if ok && (len(r.Rows) != 17 || len(r.Config) != 33 || len(r.GPUs) != 1 || r.GPUTotal != Some(1) || !r.UnloadedSpoken || r.VerifiedOK != Some(true) || r.Strange != nil ||
			!r.Whole(GDSDriver) || !r.Whole(GDSPlatform) || r.IOMMU != Some(false) || len(r.Env) != 1 || r.Kernel == "") {
			t.Errorf("%s: %+v", name, r)
		}
		if len(text) < 20000 {
			cufileLogCut(t, string(text))
		}
	}
}

func FuzzCufileLog(f *testing.F) {
	f.Add([]byte(cufileLogText))
	f.Add([]byte(strings.Join(inLog(gdsGood.String(), 5, 1), "\n")))
	for _, b := range capturedFiles(f, "cufile-log") {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		lines := 0
		for line := range bytes.SplitSeq(b, []byte("\n")) {
			if strings.TrimSpace(unquote(string(bytes.TrimSpace(line)))) != "" {
				lines++
			}
		}
		got := cufileEntries(t, string(b))
		if len(got) != lines {
			t.Fatalf("%d entries of %d lines", len(got), lines)
		}
		for _, e := range got {
			if e.Level != "" && e.Time.IsZero() || e.PID < 0 || e.Line < 0 {
				t.Fatalf("%+v", e)
			}
		}
		if r, ok, err := ParseGDSCheckInLog(bytes.NewReader(b)); err != nil || ok && r.Open == r.Ended() {
			t.Fatalf("%+v, %v", r, err)
		}
	})
}

func BenchmarkCufileLog(b *testing.B) {
	text := strings.Repeat(strings.Join(inLog(gdsGood.String(), 5, 1), "\n")+"\n", 50)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, ok, err := ParseGDSCheckInLog(strings.NewReader(text)); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
