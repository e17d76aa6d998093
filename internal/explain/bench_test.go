package explain_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// traceLog is a log as libcufile writes it at TRACE in compat mode: a start, and then I/O after I/O. Most lines are
// known to no row, as in a real one.
func traceLog(size int) []byte {
	var b bytes.Buffer
	b.WriteString(" 30-11-2026 09:11:05:644 [pid=483 tid=483] NOTICE  cufio-drv:851 running in compatible mode\n")
	for i := 0; b.Len() < size; i++ {
		at := fmt.Sprintf(" 30-11-2026 09:%02d:%02d:%d [pid=483 tid=%d] ", i/60000%60, i/1000%60, i%1000, 490+i%8)
		off := (i % 4096) << 20
		for _, line := range []string{
			"DEBUG  cufio:412 cuFileWrite invoked",
			"TRACE  cufio_core:1391 cuFileReadWriteCheckandSubmit invoked",
			"TRACE  cufio_core:2120 cuFileGetNvinfo invoked",
			"DEBUG  0:88 Hash Lookup nvinfo 0x55d0c0a11e40 key 0x7f1233e00000",
			"TRACE  cufio_core:1402 write : Updating stats devPtr: 0x7f1233e00000 p2p mode: 0 compat: 1 size: 1048576",
			"TRACE  cufio_core:1460 issuing chunk:[0: 1 ] nvinfo: 0x55d0c0a11e40 remainder: 0 file off: " + strconv.Itoa(off) + " size: 1048576 buf off: 0",
			"TRACE  cufio_core:1500 cuFile IO mode: POSIX",
			"TRACE  cufio-px:161 push primary context: 0x55d0bff02c10",
			"TRACE  cufio-px:300 cufile_posix_write fd: 37 buf_offset: 0 off: " + strconv.Itoa(off) + " size: 1048576",
			"DEBUG  cufio_core:1561 posix path taken with ODIRECT fd: 37  posix fd  38",
			"DEBUG  cufio-px:511 cufile_posix_write done fd: 37  ret: 1048576",
			"TRACE  cufio-px:190 pop context: 0x55d0bff02c10 and priCtx: 0x55d0bff02c10",
			"TRACE  cufio_core:1477 done workitem inline: 0x55d0c0b3a1f0 retval: 1048576",
			"DEBUG  cufio:431 cuFileWrite done",
		} {
			b.WriteString(at)
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

const benchSize = 128 << 20

// BenchmarkTraceLog is explain's reading of a TRACE log. Its peer is the next one.
func BenchmarkTraceLog(b *testing.B) {
	text := traceLog(benchSize)
	k := base(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		f := k.NewFold()
		if err := f.Read(bytes.NewReader(text)); err != nil || f.Known == 0 {
			b.Fatal(err, f.Known)
		}
	}
}

// BenchmarkGrepTraceLog is what people do by hand: grep -F -f with the phrases that explain looks for, on the same
// text. It only counts lines; it knows nothing of rows, processes and times.
func BenchmarkGrepTraceLog(b *testing.B) {
	grep, err := exec.LookPath("grep")
	if err != nil {
		b.Skip("there is no grep to compare with")
	}
	dir := b.TempDir()
	var phrases strings.Builder
	for _, e := range base(b).Entries() {
		longest := ""
		for _, m := range e.Match {
			if len(m) > len(longest) {
				longest = m
			}
		}
		if longest != "" {
			phrases.WriteString(longest + "\n")
		}
	}
	text := traceLog(benchSize)
	file, list := filepath.Join(dir, "log"), filepath.Join(dir, "phrases")
	for name, t := range map[string][]byte{file: text, list: []byte(phrases.String())} {
		if err := os.WriteFile(name, t, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		args []string
	}{{"exact", []string{"-c", "-F", "-f", list, file}}, {"any_case", []string{"-c", "-i", "-F", "-f", list, file}}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				cmd := exec.Command(grep, c.args...)
				cmd.Env = append(os.Environ(), "LC_ALL=C")
				out, err := cmd.Output()
				if err != nil || bytes.Equal(bytes.TrimSpace(out), []byte("0")) {
					b.Fatalf("%v: %s", err, out)
				}
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	k := base(b)
	b.ReportAllocs()
	for b.Loop() {
		if !k.Lookup("5027").Known() || k.Lookup("alow_compat_mode").Known() {
			b.Fatal("lookup")
		}
	}
}

// childEnv makes the test binary fold its stdin and print the most memory that it has used.
const childEnv = "GDSPROOF_TEST_FOLD"

func TestFoldChild(t *testing.T) {
	if os.Getenv(childEnv) == "" {
		t.Skip("a part of TestMemory")
	}
	f := base(t).NewFold()
	if err := f.Read(os.Stdin); err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Printf("peak %s kB, lines %d\n", strings.Fields(rest)[0], f.Lines)
}

// TestMemory: a log of 1 GiB through a pipe takes less than 64 MiB, whatever is in it.
func TestMemory(t *testing.T) {
	const limit = 64 << 10 // kB
	size := int64(1 << 30)
	if testing.Short() || raceDetector {
		size = 16 << 20
	}
	shapes := func(i int) []byte { // every line another process, another day and another shape
		var b bytes.Buffer
		for j := 0; b.Len() < 1<<20; j++ {
			n := i<<14 + j
			fmt.Fprintf(&b, " %02d-%02d-2026 09:07:09:216 [pid=%d tid=1] ERROR  cufio-drv:846 nvidia-fs.ko driver not loaded\n", 1+n%28, 1+n/28%12, n)
			fmt.Fprintf(&b, " 30-11-2026 09:07:09:216 [pid=%d tid=1] ERROR  cufio-%c%c%c:1 no such text %s\n", n, 'a'+n%26, 'a'+n/26%26, 'a'+n/676%26, strings.Repeat("x", n%90))
		}
		return b.Bytes()
	}
	trace := traceLog(1 << 20)
	for name, block := range map[string]func(i int) []byte{"trace": func(int) []byte { return trace }, "all different": shapes,
		"no line ends": func(int) []byte { return bytes.Repeat([]byte("running in compatible mode "), 1<<15) }} {
		t.Run(name, func(t *testing.T) {
			size := size
			if name != "trace" {
				size = min(size, 256<<20) // generating is what takes the time
			}
			if raceDetector {
				t.Log("under the race detector memory says nothing; the run alone is tried")
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestFoldChild$")
			cmd.Env = append(os.Environ(), childEnv+"=1")
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for i, n := 0, int64(0); n < size; i++ {
				m, err := in.Write(block(i))
				if err != nil {
					t.Error(err)
					break
				}
				n += int64(m)
			}
			_ = in.Close()
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v: %s", err, out.String())
			}
			var peak, lines int
			if _, err := fmt.Sscanf(out.String(), "peak %d kB, lines %d", &peak, &lines); err != nil {
				t.Fatalf("%v: %s", err, out.String())
			}
			t.Logf("%d MiB in %d lines: peak %d kB", size>>20, lines, peak)
			if peak > limit && !raceDetector {
				t.Errorf("peak of %d kB, more than %d", peak, limit)
			}
		})
	}
}
