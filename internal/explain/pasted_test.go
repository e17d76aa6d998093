package explain_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"gdsproof/internal/explain"
)

// rowsOf are the ids of the rows of lines that are no log lines, with an asterisk where a cause is told.
func rowsOf(l explain.Log) string {
	var out []string
	for _, u := range l.Unknown {
		for _, r := range u.Rows {
			id := r.ID
			if r.Cause != "" {
				id += "*"
			}
			out = append(out, id)
		}
	}
	return strings.Join(out, " ")
}

// TestNamesInTheirOwnOutput: a name is explained where its own program prints it, and a cause is told of a value that
// is trouble.
func TestNamesInTheirOwnOutput(t *testing.T) {
	b := base(t)
	for _, c := range []struct{ name, text, want string }{
		{"lsmod", "Module                  Size  Used by\nlustre 1105920 7\nlov 356352 9 mdc,lustre\nnvidia_fs 258048 0\nnvme 65536 2\n", ""},
		{"nvidia-smi", "==============NVSMI LOG==============\n    Display Active                        : Disabled\n        Tx Throughput                     : 400 KB/s\n        Pending                           : Enabled\n    Minor Number                          : 3\n", ""},
		{"ethtool", "NIC statistics:\n     tx_bytes: 77\n     rx_drops: 4\n", ""},
		{"systemctl", "   Loaded: loaded (/etc/x.service; enabled)\n   Active: active (exited)\n", ""},
		{"efa", "efa_3/rx_drops=0\nefa_3/retrans_pkts=12\n", "efa-rx_drops efa-retrans_pkts*"},
		{"stats that are fine", "NVFS statistics(ver: 4.0)\nReads : n=9 ok=9 err=0 readMiB=7 io_state_err=0\nBar1-map : n=5 ok=5 err=0 free=4 callbacks=0 active=1 delay-frees=0\nError : cpu-gpu-pages=0 sg-ext=0 dma-map=0 dma-ref=0\n",
			"nvfs-statistics nvfs-reads nvfs-bar1-map nvfs-error"},
		{"stats with faults", "NVFS statistics(ver: 4.0)\nReads : n=9 ok=9 err=2 readMiB=7 io_state_err=0\nBar1-map : n=5 ok=4 err=1 free=4 callbacks=0 active=0 delay-frees=0\nError : cpu-gpu-pages=0 sg-ext=0 dma-map=3 dma-ref=0\n",
			"nvfs-statistics nvfs-reads nvfs-reads-err* nvfs-bar1-map* nvfs-error nvfs-dma-map*"},
		{"gdscheck's configuration", " properties.use_compat_mode : true\n fs.lustre.posix_gds_min_kb: 0\n kernel.pid_max = 7\n", "key-properties-allow-compat-mode key-fs-lustre-posix-gds-min-kb"},
		{"totals of LNet", "statistics:\n    send_count: 868\n    recv_count: 10\n    drop_count: 0\n", "lnet-total-messages lnet-total-messages lnet-total-drops"},
		{"an interface of LNet", "net:\n    - net type: efa\n      local NI(s):\n        - nid: 3.8.17.0@efa\n          statistics:\n              send_count: 868\n              drop_count: 2\n", "lnet-send-count lnet-drop-count"},
	} {
		l := fold(t, b, c.text)
		if got := rowsOf(l); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		named := 0
		for _, u := range l.Unknown {
			if len(u.Rows) > 0 {
				named += u.Count
			}
		}
		if l.Known != named {
			t.Errorf("%s: %d lines known, and %d are explained", c.name, l.Known, named)
		}
	}
}

// TestHealthyNodes: of the outputs of whole nodes only those of what is broken there have a cause.
func TestHealthyNodes(t *testing.T) {
	root := os.Getenv("GDSPROOF_CAPTURES")
	if root == "" {
		t.Skip("GDSPROOF_CAPTURES is not set: no real nodes to read")
	}
	b := base(t)
	files, err := filepath.Glob(filepath.Join(root, "nodes", "*", "*"))
	if err != nil || len(files) < 60 {
		t.Fatal(len(files), err)
	}
	for _, f := range files {
		name := filepath.Base(f)
		broken := strings.Contains(f, "/003-") && (strings.HasPrefix(name, "efa-hw_counters") || strings.HasPrefix(name, "dmesg"))
		if broken || name == "case.md" {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		l := fold(t, b, string(text))
		for _, s := range l.Sections {
			for _, x := range s.Lines {
				if x.Class != "noise" && x.Class != "harmless" {
					t.Errorf("%s: %s %s: %s", f, x.Class, x.Rows[0].ID, x.Text)
				}
			}
		}
		if got := rowsOf(l); strings.Contains(got, "*") {
			t.Errorf("%s: %s", f, got)
		}
	}
}

// TestDecisiveFirst: the line that has to be mended is called decisive where something followed from it.
func TestDecisiveFirst(t *testing.T) {
	l := fold(t, base(t), strings.Join([]string{
		" 30-11-2026 10:00:00:5 [pid=7 tid=7] NOTICE  cufio-drv:851 running in compatible mode",
		" 30-11-2026 10:00:00:6 [pid=7 tid=7] ERROR  cufio-fs:748 error creating udev_device for block device dev_no: 0:41",
		" 30-11-2026 10:00:00:7 [pid=7 tid=7] ERROR  cufio:331 cuFileHandleRegister error: file descriptor is not registered",
	}, "\n"))
	if x := l.Sections[0].Lines[0]; x.Rows[0].ID != "log-udev-device" || x.Class != "decisive" {
		t.Errorf("%+v", x)
	}
}

// TestTimesOutOfOrder: threads, and files one behind the other, are not in the order of time.
func TestTimesOutOfOrder(t *testing.T) {
	line := func(stamp, pid string) string {
		return " " + stamp + " [pid=" + pid + " tid=1] NOTICE  cufio-drv:851 running in compatible mode\n"
	}
	l := fold(t, base(t), line("30-11-2026 10:00:00:42", "7")+line("29-11-2026 08:00:00:1", "7")+line("30-11-2026 10:00:00:7", "7")+
		line("30-11-2026 09:59:59:999", "8")+line("30-11-2026 10:00:00:112", "7"))
	if len(l.Sections) != 3 {
		t.Fatalf("%+v", l.Sections)
	}
	x := l.Sections[0].Lines[0]
	if x.Count != 3 || x.First != "30-11-2026 10:00:00:7" || x.Last != "30-11-2026 10:00:00:112" {
		t.Errorf("%+v", x)
	}
	l = fold(t, base(t), "[   99.500000] LNet: Added LNI 3.8.17.0@efa [32/512/0/200]\n[  100.250000] LNet: Added LNI 3.8.18.0@efa [32/512/0/200]\n[    7.750000] LNet: Added LNI 3.8.19.0@efa [32/512/0/200]\n")
	if x := l.Sections[0].Lines[0]; x.First != "7.750000" || x.Last != "100.250000" {
		t.Errorf("%+v", x)
	}
}

// TestEncodings: what PowerShell and editors of Windows make of a log.
func TestEncodings(t *testing.T) {
	b := base(t)
	text := "\U0001f600 a note\r\n 30-11-2026 00:00:01:24 [pid=7 tid=8] NOTICE  cufio-drv:851 running in compatible mode\r\n"
	encode := func(text string, order binary.AppendByteOrder) string {
		var out []byte
		for _, c := range utf16.Encode([]rune(text)) {
			out = order.AppendUint16(out, c)
		}
		return string(out)
	}
	const mark = "\ufeff"
	for name, in := range map[string]string{"utf-8 with a mark": mark + text, "little endian": encode(mark+text, binary.LittleEndian), "big endian": encode(mark+text, binary.BigEndian)} {
		l := fold(t, b, in)
		if firstRow(l) != "log-compat" || l.Lines != 2 || l.Unknown[0].Text != "\U0001f600 a note" {
			t.Errorf("%s: %s, %d lines, %+v", name, firstRow(l), l.Lines, l.Unknown)
		}
	}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		if l := fold(t, b, encode(text[len("\U0001f600 "):], order)); firstRow(l) != "log-compat" {
			t.Errorf("%v without a mark: %+v", order, l.Unknown)
		}
	}
	f := b.NewFold()
	if err := f.Read(iotest.OneByteReader(strings.NewReader(encode(mark+strings.Repeat("x", 3<<12)+"\n"+text, binary.LittleEndian)))); err != nil {
		t.Fatal(err)
	}
	if l := f.Result(""); firstRow(l) != "log-compat" || l.Lines != 3 {
		t.Errorf("byte by byte: %d lines", l.Lines)
	}
	// Half a mark, half a letter, half a pair.
	for cut, lines := range map[string]int{"\xff": 1, "\xff\xfe": 0, "\xff\xfe\x3d": 0, "\xff\xfe\x3d\xd8": 0, "\xff\xfe\x3d\xd8a\x00": 1} {
		if l := fold(t, b, cut); l.Explained() || l.Lines != lines {
			t.Errorf("%q: %d lines, want %d", cut, l.Lines, lines)
		}
	}
}
