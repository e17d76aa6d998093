package facts

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const gdsioLine = "IoType: READ XferType: GPUD Threads: 4 DataSetSize: 2097152/4194304(KiB) IOSize: 1024(KiB) Throughput: 2.000000 GiB/sec, Avg_Latency: 1953.125000 usecs ops: 2048 total_time 1.000000 secs"

func TestGdsioForms(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want func(GdsioRun) bool
	}{
		"plain": {gdsioLine, func(r GdsioRun) bool {
			return r.Op == "read" && r.GDS && !r.CPU && r.Threads == Some[uint64](4) && r.AskedBytes == Some[uint64](4<<30) && r.GiBs == Some(2.0) && r.LatencyUsec == Some(1953.125) && r.Seconds == Some(1.0)
		}},
		"wrapped":          {strings.Replace(strings.Replace(gdsioLine, " IOSize", "\n  IOSize", 1), " Avg", "\nAvg", 1), nil},
		"squeezed":         {strings.NewReplacer(": ", ":", "  ", " ").Replace(gdsioLine), nil},
		"full-width comma": {strings.Replace(gdsioLine, ",", "，", 1), nil},
		"of mpirun":        {"[1,3]<stdout>:" + gdsioLine, nil},
		"quoted":           {"> " + gdsioLine, nil},
		"bold":             {"**" + gdsioLine + "**", nil},
		"without IoType":   {strings.TrimPrefix(gdsioLine, "IoType: READ "), func(r GdsioRun) bool { return r.Op == "" && r.GDS }},
		"CPU":              {strings.Replace(gdsioLine, "GPUD", "CPUONLY", 1), func(r GdsioRun) bool { return r.CPU && !r.GDS }},
		"CPU to GPU":       {strings.Replace(gdsioLine, "GPUD", "CPU_GPU", 1), func(r GdsioRun) bool { return r.CPU && !r.GDS }},
		"batch":            {strings.Replace(strings.Replace(gdsioLine, "GPUD", "GPU_BATCH", 1), "Threads: 4", "Threads: 4 IoDepth: 8", 1), func(r GdsioRun) bool { return r.GDS && r.Depth == Some[uint64](8) }},
		"random write":     {strings.Replace(gdsioLine, "READ", "RANDWRITE", 1), func(r GdsioRun) bool { return r.Op == "write" && r.Random }},
	} {
		t.Run(name, func(t *testing.T) {
			g := ParseGdsio([]byte(tc.text + "\n"))
			if len(g.Runs) != 1 || len(g.Errors) != 0 {
				t.Fatalf("%+v", g)
			}
			r := g.Runs[0]
			if r.DoneBytes != Some[uint64](2<<30) || r.Ops != Some[uint64](2048) || r.IOSizeBytes != Some[uint64](1<<20) || len(r.Odd) != 0 || r.Cut {
				t.Errorf("%+v", r)
			}
			if tc.want != nil && !tc.want(r) {
				t.Errorf("%+v", r)
			}
		})
	}
	for old, odd := range map[string]string{"ops: 2048": "ops: 1048", "2.000000 GiB": "9.000000 GiB"} {
		if g := ParseGdsio([]byte(strings.Replace(gdsioLine, old, odd, 1) + "\n")); len(g.Runs) != 1 || len(g.Runs[0].Odd) == 0 {
			t.Errorf("%s: the line agrees with itself: %+v", odd, g)
		}
	}
}

func TestGdsioErrors(t *testing.T) {
	for line, want := range map[string]struct {
		kind string
		code Opt[int64]
	}{
		"file register error: GPUDirect Storage not supported on current file filename:/fsx/f.3": {GdsioRegister, Some[int64](5008)},
		"cuFile driver open error: 5001":                                      {GdsioDriverOpen, Some[int64](5001)},
		"Error: IO failed stopping traffic, fd :31 ret:-14 errno :2":          {GdsioIO, Some[int64](-14)},
		"io failed :ret :-28 errno :1, file offset :4096, block size  :65536": {GdsioNoSpace, Some[int64](-28)},
		"Tid: 2 incomplete Read, done = 4096 issued = 1048576":                {GdsioIncomplete, Opt[int64]{}},
	} {
		g := ParseGdsio([]byte(line + "\n"))
		if len(g.Errors) != 1 || g.Errors[0].Kind != want.kind || g.Errors[0].Code != want.code || len(g.Runs) != 0 || !IsGdsioLine(line) {
			t.Errorf("%s: %+v", line, g)
		}
	}
	g := ParseGdsio([]byte("Data Verification Success\nREAD total GiB/s: 12.5\nwarn: error opening log file: Permission denied, logging will be disabled\n"))
	if g.Verified != Some(true) || g.Totals["read"] != 12.5 || g.LogWarning == "" || len(g.Errors) != 0 {
		t.Errorf("%+v", g)
	}
	for _, prose := range []string{"the Throughput: was bad", "ops: none", "Reads\t: n=4 ok=4 err=0 readMiB=4", "Threads: 4", "I ran gdsio and it failed", "total 12"} {
		if IsGdsioLine(prose) {
			t.Errorf("%q is taken for gdsio's", prose)
		}
	}
}

// TestGdsioCaptures: each public result line is read in full and agrees with itself.
func TestGdsioCaptures(t *testing.T) {
	b := capture(t, "gdsio-lines.txt")
	fields := regexp.MustCompile(`Threads: (\d+).* DataSetSize: (\d+)/(\d+).* ops: (\d+) total_time`)
	n := 0
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		m := fields.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(line, "#") {
			continue
		}
		n++
		g := ParseGdsio([]byte(line + "\n"))
		if len(g.Runs) != 1 {
			t.Errorf("%s: %+v", line, g)
			continue
		}
		r := g.Runs[0]
		ops, _ := strconv.ParseUint(m[4], 10, 64)
		threads, _ := strconv.ParseUint(m[1], 10, 64)
		if len(r.Odd) > 0 || r.Ops != Some(ops) || r.Threads != Some(threads) || !r.DoneBytes.OK || !r.AskedBytes.OK || !r.GiBs.OK || !r.Seconds.OK || r.Op == "" || r.GDS == r.CPU {
			t.Errorf("%s: %+v", line, r)
		}
	}
	if n < 90 {
		t.Errorf("%d lines", n)
	}
}

func TestGdsioCommands(t *testing.T) {
	c, ok := ParseGdsioCommand("CUFILE_ENV_PATH_JSON=/tmp/cufile.json /usr/local/cuda/gds/tools/gdsio -f /fsx/a -d 3 -w 4 -s 10G -i 1M -x 0 -I 1 -V > /tmp/log 2>&1")
	if !ok || c.Op != "write" || !c.GDS || c.CPU || c.File != "/fsx/a" || c.GPU != Some(3) || c.Threads != Some[uint64](4) || c.Size != Some[uint64](10<<30) || c.IOSize != Some[uint64](1<<20) || !c.Verify || c.Env[CufilePathEnv] != "/tmp/cufile.json" {
		t.Errorf("%v %+v", ok, c)
	}
	if c, ok := ParseGdsioCommand("$ sudo gdsio -D /mnt/d -d $i -w 8 -s 1G -x 1 -I 0 &"); !ok || c.GPU.OK || !c.CPU || c.Op != "read" {
		t.Errorf("%v %+v", ok, c)
	}
	for _, s := range []string{"ls gdsio", "cat gdsio.log", "I ran gdsio -x 0 today"} {
		if c, ok := ParseGdsioCommand(s); ok {
			t.Errorf("%s: %+v", s, c)
		}
	}
}

const statsText = "cuFile STATS VERSION : 8\nGLOBAL STATS:\nRead: ok = 90 err = 0\nPER_GPU STATS:\n" +
	"GPU 0(UUID: aaaabbbbccccddddeeeeffff00001111) Read: bw=1.5 util(%)=1 n=70 posix=6 unalign=2 dr=0 r_sparse=0 r_inline=0 err=0 MiB=70 Write: bw=0 util(%)=0 n=20 posix=20 unalign=0 dr=0 err=0 MiB=20 BufRegister: n=4 err=0 free=4 MiB=0\n" +
	"GPU 1(UUID: aaaabbbbccccddddeeeeffff00002222) Read: bw=1.5 util(%)=1 n=20 posix=0 unalign=0 dr=0 r_sparse=0 r_inline=0 err=1 MiB=20 Write: bw=0 util(%)=0 n=0 posix=0 unalign=0 dr=0 err=0 MiB=0 BufRegister: n=4 err=0 free=4 MiB=0\n"

func TestGDSStats(t *testing.T) {
	s, ok := ParseGDSStats([]byte(statsText))
	read, write := s.Sum()
	if !ok || s.Version != Some[uint64](8) || len(s.GPUs) != 2 || read.Ops != Some[uint64](90) || read.Posix != Some[uint64](6) || write.Posix != Some[uint64](20) || write.Ops != Some[uint64](20) || read.Errors != Some[uint64](1) {
		t.Errorf("%v %+v", ok, s)
	}
	// Without the GPUs' lines (level 1) nothing tells of the path.
	s, ok = ParseGDSStats([]byte("cuFile STATS VERSION : 8\nGLOBAL STATS:\nRead: ok = 90 err = 0\n"))
	if read, _ := s.Sum(); !ok || read.Ops.OK || read.Posix.OK {
		t.Errorf("%v %+v", ok, s)
	}
	for _, other := range []string{"Reads\t\t: n=4 ok=4 err=0 readMiB=4 io_state_err=0", "NVMe : Supported", "GPU index 0 NVIDIA H200 bar:1 supports GDS", "Mmap : n=4 ok=4 err=0 munmap=4", "GPU 0000:63:00.0  uuid:1 : Registered_MiB=0"} {
		if IsGDSStatsLine(other) {
			t.Errorf("%q is taken for gds_stats'", other)
		}
	}
}

func TestDD(t *testing.T) {
	for text, want := range map[string]DDRun{
		"$ dd if=/dev/zero of=/fsx/a bs=1M count=64 oflag=direct\n64+0 records in\n64+0 records out\n67108864 bytes (67 MB, 64 MiB) copied, 0.5 s, 134 MB/s\n": {Bytes: 67108864, Seconds: 0.5},
		"67108864 bytes (67 MB) copied, 0.5 s, 134 MB/s\n":                    {Bytes: 67108864, Seconds: 0.5},
		"67108864 Bytes (67 MB, 64 MiB) kopiert, 0,5 s, 134 MB/s\n":           {Bytes: 67108864, Seconds: 0.5},
		"67108864 bytes transferred in 0.500000 secs (134217728 bytes/sec)\n": {Bytes: 67108864, Seconds: 0.5},
	} {
		got := ParseDD([]byte(text))
		if len(got) != 1 || got[0].Bytes != want.Bytes || got[0].Seconds != want.Seconds || len(got[0].Odd) > 0 {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if c, ok := ParseDDCommand("dd if=/fsx/a of=/dev/null bs=1M iflag=direct"); !ok || c.Op != "read" || !c.DirectIn {
		t.Errorf("%v %+v", ok, c)
	}
	if c, ok := ParseDDCommand("sudo dd if=/dev/zero of=/fsx/a bs=4M count=9"); !ok || c.Op != "write" || c.BS != Some[uint64](4<<20) {
		t.Errorf("%v %+v", ok, c)
	}
	for _, other := range []string{"sent 67108864 bytes  received 35 bytes", "67108864 bytes of memory", "copied 3 files"} {
		if IsDDLine(other) || len(ParseDD([]byte(other+"\n"))) > 0 {
			t.Errorf("%q is taken for dd's", other)
		}
	}
}

// TestCufileTrafficCaptures compares with counts by text: libcufile prints one "compat: 1" line for each I/O that went
// through POSIX.
func TestCufileTrafficCaptures(t *testing.T) {
	dir := os.Getenv("GDSPROOF_CAPTURES")
	if dir == "" {
		t.Skip("GDSPROOF_CAPTURES is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "cufile-log", "*.log"))
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	counted := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseCufileTraffic(bytes.NewReader(b))
		if err != nil || len(got.Processes) == 0 {
			t.Fatalf("%s: %v", f, err)
		}
		want := uint64(bytes.Count(b, []byte("p2p mode: 0 compat: 1")))
		posix := uint64(0)
		for _, p := range got.Processes {
			posix += p.Paths().Posix
			if n := p.Paths().NVFS + p.Paths().P2P + p.Paths().Direct; n > 0 {
				t.Errorf("%s: %d I/Os are said to have gone directly on a machine without nvidia-fs", f, n)
			}
		}
		counted += int(want)
		if want > 0 && posix != want {
			t.Errorf("%s: %d POSIX I/Os, the log has %d", f, posix, want)
		}
		if strict := strings.Contains(f, "nocompat"); strict {
			p := got.Processes[0]
			if len(p.Opens) == 0 || p.Opens[0].OK || p.Opens[0].Code != Some[int64](5001) {
				t.Errorf("%s: %+v", f, p)
			}
		}
	}
	if counted == 0 {
		t.Error("no capture has an I/O")
	}
}

func TestCufileTrafficDirect(t *testing.T) {
	line := func(i int, level, text string) string {
		return fmt.Sprintf(" 30-11-2026 10:00:%02d:5 [pid=77 tid=77] %s  cufio:%d %s\n", i, level, 100+i, text)
	}
	var log strings.Builder
	for i := range 5 {
		log.WriteString(line(i, "DEBUG", "gds path taken with ODIRECT fd: 52"))
		log.WriteString(line(i, "TRACE", "read : Updating stats devPtr: 0x7f0000000000 p2p mode: 0 compat: 0"))
	}
	got, err := ParseCufileTraffic(strings.NewReader(log.String()))
	if err != nil || len(got.Processes) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if p := got.Processes[0].Paths(); got.Processes[0].Read.NVFS != 5 || p.Total() != 5 || p.Posix != 0 {
		t.Errorf("two lines of one I/O are counted twice, or lost: %+v", p)
	}
}

// TestLoadParsersCut: a text that is cut anywhere never yields a number that the whole does not contain.
func TestLoadParsersCut(t *testing.T) {
	numbers := regexp.MustCompile(`\d+`)
	whole := map[string]bool{}
	text := gdsioLine + "\nError: IO failed stopping traffic, fd :31 ret:-14 errno :2\n" + statsText + "67108864 bytes (67 MB) copied, 0.5 s, 134 MB/s\n"
	for _, n := range numbers.FindAllString(text, -1) {
		whole[n] = true
	}
	known := func(i int, what string, values ...Opt[uint64]) {
		t.Helper()
		for _, v := range values {
			if v.OK && !whole[strconv.FormatUint(v.V, 10)] && !whole[strconv.FormatUint(v.V>>10, 10)] {
				t.Errorf("cut at %d: %s %d is in no text", i, what, v.V)
			}
		}
	}
	for i := range len(text) {
		b := []byte(text[:i])
		for _, r := range ParseGdsio(b).Runs {
			known(i, "gdsio", r.Ops, r.Threads, r.DoneBytes, r.AskedBytes, r.IOSizeBytes)
			if i < len(gdsioLine) && !r.Cut {
				t.Errorf("cut at %d: the line is taken for a whole one: %+v", i, r)
			}
		}
		for _, e := range ParseGdsio(b).Errors {
			if e.Code.OK && e.Code.V != -14 {
				t.Errorf("cut at %d: %+v", i, e)
			}
		}
		if s, ok := ParseGDSStats(b); ok {
			for _, g := range s.GPUs {
				known(i, "gds_stats", g.Read.Ops, g.Read.Posix, g.Write.Ops, g.Write.Posix, g.Read.MiB)
			}
		}
		for _, d := range ParseDD(b) {
			known(i, "dd", Some(d.Bytes))
		}
	}
}

func capture(t testing.TB, name string) []byte {
	t.Helper()
	dir := os.Getenv("GDSPROOF_CAPTURES")
	if dir == "" {
		t.Skip("GDSPROOF_CAPTURES is not set: the captured outputs are not there")
	}
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func FuzzLoadParsers(f *testing.F) {
	f.Add([]byte(gdsioLine + "\n" + statsText))
	f.Add([]byte("$ dd if=/dev/zero of=/x\n1+0 records in\n1 bytes copied, 1 s, 1 B/s\n"))
	seed(f, "gdsio-lines.txt", "cufile-log/*.log")
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, r := range ParseGdsio(b).Runs {
			if r.GDS && r.CPU {
				t.Errorf("%+v", r)
			}
		}
		ParseGDSStats(b)
		ParseDD(b)
		for line := range strings.Lines(string(b)) {
			ParseGdsioCommand(line)
			ParseDDCommand(line)
			IsGdsioLine(line)
			IsGDSStatsLine(line)
			IsDDLine(line)
		}
		if tr, err := ParseCufileTraffic(bytes.NewReader(b)); err != nil || len(tr.Processes) > mostCufileProcesses {
			t.Errorf("%v", err)
		}
	})
}

func BenchmarkGdsio(b *testing.B) {
	text := []byte(strings.Repeat(gdsioLine+"\n", 100))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ParseGdsio(text)
	}
}

func BenchmarkCufileTraffic(b *testing.B) {
	text := capture(b, "cufile-log/cufile-compat-trace.log")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := ParseCufileTraffic(bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}
