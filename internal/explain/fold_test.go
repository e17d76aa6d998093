package explain_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"gdsproof/internal/explain"
	"gdsproof/internal/profile"
)

func fold(t testing.TB, b *explain.Base, text string) explain.Log {
	t.Helper()
	f := b.NewFold()
	if err := f.Read(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return f.Result("test")
}

func firstRow(l explain.Log) string {
	if len(l.Sections) == 0 {
		return ""
	}
	return l.Sections[0].Lines[0].Rows[0].ID
}

// kernelLines are the lines of the kernel log that the rows of signatures are tested with.
func kernelLines(t testing.TB) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../profile/testdata/signature_lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if id, text, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			out[id] = text
		}
	}
	return out
}

// TestEveryLine: the line that a row stands for is explained by that row, bare, with a stamp, and wrapped as pastes are.
func TestEveryLine(t *testing.T) {
	b := base(t)
	kernel := kernelLines(t)
	n := 0
	for _, e := range b.Entries() {
		if len(e.Match) == 0 {
			continue
		}
		n++
		line, stamp := e.Example, "30-11-2026 09:07:11:24 [pid=523 tid=524] ERROR  "
		if e.Kind == profile.KindKernelLog {
			stamp = "[Sat Nov 28 06:12:23 2026] "
			if line == "" {
				line = kernel[e.ID]
			}
		}
		if line == "" {
			t.Errorf("%s: no line to try", e.ID)
			continue
		}
		for _, wrapped := range []string{line, stamp + line, " " + stamp + line + "\r", "[1,0]<stdout>: " + stamp + line, "> " + stamp + line,
			"\x1b[31m" + stamp + line[:len(line)/2] + "\x1b[0m" + line[len(line)/2:], strings.ToUpper(line)} {
			if got := firstRow(fold(t, b, wrapped+"\n")); got != e.ID {
				t.Errorf("%s: the row %q takes its line: %q", e.ID, got, wrapped)
			}
		}
		if a := b.Lookup(line); len(a.Entries) == 0 {
			t.Errorf("%s: as a word its line is unknown: %s", e.ID, line)
		}
	}
	if n < 200 {
		t.Errorf("only %d rows have lines", n)
	}
}

func TestSections(t *testing.T) {
	l := fold(t, base(t), strings.Join([]string{
		" 29-11-2026 23:59:59:9 [pid=7 tid=7] INFO   cufio_core:597 Loaded successfully  libmount.so",
		" 30-11-2026 00:00:01:24 [pid=7 tid=8] NOTICE  cufio-drv:851 running in compatible mode",
		" 30-11-2026 00:00:02:24 [pid=7 tid=8] NOTICE  cufio-drv:851 running in compatible mode",
		" 30-11-2026 00:00:03:24 [pid=9 tid=9] ERROR  cufio-drv:846 nvidia-fs.ko driver not loaded",
		" 30-11-2026 00:00:03:24 [pid=9 tid=9] ERROR  cufio-new:1 a text of a later release, number 17",
		" 30-11-2026 00:00:03:25 [pid=9 tid=9] ERROR  cufio-new:1 a text of a later release, number 18",
		" 30-11-2026 00:00:03:26 [pid=9 tid=9] TRACE  cufio-new:2 something",
	}, "\n"))
	if len(l.Sections) != 3 || l.Sections[0].PID != 9 || l.Sections[1].PID != 7 || l.Sections[1].Day != "30-11-2026" || l.Sections[2].Day != "29-11-2026" {
		t.Fatalf("%+v", l.Sections)
	}
	x := l.Sections[1].Lines[0]
	if x.Count != 2 || x.First != "30-11-2026 00:00:01:24" || x.Last != "30-11-2026 00:00:02:24" || x.Level != "NOTICE" || x.Class != "decisive" {
		t.Errorf("%+v", x)
	}
	if l.Sections[2].Lines[0].Class != "noise" {
		t.Errorf("%+v", l.Sections[2].Lines)
	}
	if len(l.Unknown) != 1 || l.Unknown[0].Count != 2 || len(l.Quiet) != 1 || l.Quiet[0].Level != "TRACE" {
		t.Errorf("unknown %+v, quiet %+v", l.Unknown, l.Quiet)
	}
}

// TestPastedRows: of pasted outputs that are no log, the rows and counters are explained.
func TestPastedRows(t *testing.T) {
	l := fold(t, base(t), "NVMe : compat\nrx_drops: 4\nfrobnicate all the things\n5027\n")
	var got []string
	for _, u := range l.Unknown {
		id := "-"
		if len(u.Rows) > 0 {
			id = u.Rows[0].ID
		}
		got = append(got, id)
	}
	if s := strings.Join(got, " "); s != "gdscheck-nvme efa-rx_drops - cufile-5027" {
		t.Error(s)
	}
	if !l.Explained() || fold(t, base(t), "frobnicate\n").Explained() {
		t.Error("what is explained")
	}
}

func TestOddInput(t *testing.T) {
	b := base(t)
	const line = " 30-11-2026 00:00:01:24 [pid=7 tid=8] NOTICE  cufio-drv:851 running in compatible mode"
	huge := strings.Repeat("x", 3<<20)
	for name, text := range map[string]string{
		"no newline": line, "crlf": line + "\r\n", "nul": "\x00\x00\n" + line + "\n\x00", "binary": string(bytes.Repeat([]byte{0, 1, 0xff, 0x1b}, 1<<16)) + "\n" + line,
		"huge line before": huge + "\n" + line, "huge line after": line + "\n" + huge, "huge and the phrase in front": line + huge,
	} {
		for _, one := range []bool{false, true} {
			f := b.NewFold()
			var err error
			if one && len(text) < 1<<20 {
				err = f.Read(iotest.OneByteReader(strings.NewReader(text)))
			} else {
				err = f.Read(strings.NewReader(text))
			}
			if l := f.Result(name); err != nil || firstRow(l) != "log-compat" {
				t.Errorf("%s: %v %v", name, err, firstRow(l))
			}
		}
	}
	f := b.NewFold()
	if err := f.Read(iotest.ErrReader(os.ErrPermission)); err == nil {
		t.Error("an error of the reader is lost")
	}
	if l := fold(t, b, ""); l.Explained() || l.Lines != 0 {
		t.Errorf("%+v", l)
	}
}

// TestCapturedLogs: of real logs the decisive line comes first.
func TestCapturedLogs(t *testing.T) {
	root := os.Getenv("GDSPROOF_CAPTURES")
	if root == "" {
		t.Skip("GDSPROOF_CAPTURES is not set: no real logs to read")
	}
	b := base(t)
	for name, want := range map[string]string{
		"cufile-log/cufile-compat-tmpfs.log":                                                   "log-udev-device",
		"cufile-log/cufile-compat-trace.log":                                                   "log-compat",
		"cufile-log/cufile-no-udev.log":                                                        "log-udev-property",
		"cufile-log/cufile-nocompat-ext4.log":                                                  "log-not-loaded",
		"cufile-log/cufile-udev-default.log":                                                   "log-compat",
		"nodes/003-fsx-efa-bulk-write-retransmissions/dmesg-T.txt":                             "kefalnd-cancel",
		"nodes/003-fsx-efa-bulk-write-retransmissions/dmesg-T.second-boot.txt":                 "kefalnd-cancel",
		"nodes/002-fsx-efa-g6e-setup-walk-good/journalctl-configure-efa-fsx-lustre-client.txt": "setup-ok",
		"lustre/dmesg-efa-incident-with-restore-2.15.6.txt":                                    "kefalnd-cancel",
		"lustre/dmesg-efa-start-and-incident-2.15.6.txt":                                       "kefalnd-cancel",
		"nvidia-fs-driver/load-proprietary-nvidia/dmesg.proprietary":                           "nvfs-load-proprietary",
		"nvidia-fs-driver/load-other-nvidia-build/dmesg.crc-mismatch":                          "nvfs-load-crc",
		"nvidia-fs-driver/bad-page-table-version/dmesg.badver":                                 "nvfs-page-table-version",
		"nvidia-fs-driver/main/dmesg.map-enomem":                                               "nvfs-pin-nomem",
		"nvidia-fs-driver/main/dmesg.map-einval":                                               "nvfs-pin-einval",
		"nvidia-fs-driver/main/dmesg.dma-frag":                                                 "nvfs-dma-chunks",
		"nvidia-fs-driver/main/dmesg.write-eio":                                                "nvfs-write-failed",
		"nvidia-fs-driver/main/dmesg.load-ok":                                                  "nvfs-started",
	} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := firstRow(fold(t, b, string(text))); got != want {
			t.Errorf("%s: first %s, want %s", name, got, want)
		}
	}
}
