package host

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gdsproof/internal/report"
)

// TestProgramOnHangingNode runs the whole program on a node where things hang in every way: the driver's
// statistics never answer, dmesg ignores signals, journalctl prints without end, and modinfo is a program on a dead
// file system, whose start cannot be interrupted.
func TestProgramOnHangingNode(t *testing.T) {
	dir, ok := inOwnMounts(t)
	if !ok {
		return
	}
	h := startHangs(t, dir)
	exe := filepath.Join(t.TempDir(), "gdsproof")
	if out, err := exec.Command("go", "build", "-o", exe, "gdsproof/cmd/gdsproof").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fakeNode(t, h)

	first, stderr := runCheck(t, exe)
	stuck := inD()
	if stuck == 0 {
		t.Error("nothing is stuck: the test has no hang")
	}
	says := map[string]string{}
	for _, f := range first.Findings {
		text := f.Summary
		for _, e := range f.Evidence {
			text += "\n" + e.Text
		}
		says[f.Check] += string(f.Status) + " " + text + "\n"
	}
	if s := says["nvidia-fs-errors"]; !strings.HasPrefix(s, "unknown") || !strings.Contains(s, "was left behind") {
		t.Errorf("the hanging statistics are no finding: %s", s)
	}
	if s := says["nvidia-fs-loaded"]; strings.HasPrefix(s, "fail") {
		t.Errorf("what does not answer counts as not loaded: %s", s)
	}
	for _, w := range []string{"/proc/driver/nvidia-fs/stats", "dmesg", "modinfo nvidia"} {
		if !strings.Contains(stderr, "warning: "+w) {
			t.Errorf("stderr does not name %s:\n%s", w, stderr)
		}
	}

	second, stderr := runCheck(t, exe)
	if again := inD(); again > stuck {
		t.Errorf("a second run left more stuck processes: %d, then %d", stuck, again)
	}
	if !strings.Contains(stderr, "since") {
		t.Errorf("the second run does not say since when:\n%s", stderr)
	}
	if second.Verdict.Outcome != first.Verdict.Outcome {
		t.Errorf("outcomes %s, %s", first.Verdict.Outcome, second.Verdict.Outcome)
	}
}

// fakeNode mounts, where only this test sees it, a GPU on the bus, the driver's folder, programs that hang, and a
// place for locks.
func fakeNode(t *testing.T, h *hangs) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll("/run/gdsproof", 0o700))
	for _, at := range []string{"/proc/driver", "/sys/bus/pci/devices", "/usr/local/sbin", "/run/gdsproof"} {
		if _, err := os.Stat(at); err != nil {
			needs(t, false, "needs "+at)
		}
		must(unix.Mount("test", at, "tmpfs", 0, "mode=0700"))
		t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	}
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		must(os.MkdirAll(filepath.Dir(path), 0o755))
		must(os.WriteFile(path, []byte(text), mode))
	}
	write("/sys/bus/pci/devices/0000:53:00.0/uevent", "DRIVER=nvidia\nPCI_CLASS=30200\nPCI_ID=10DE:2335\n", 0o644)
	write("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.1.2  Release Build\n", 0o644)
	write("/proc/driver/nvidia-fs/version", "version: 2.28\n", 0o644)
	write("/proc/driver/nvidia-fs/stats", "", 0o644)
	must(unix.Mount(h.path("read", "never"), "/proc/driver/nvidia-fs/stats", "", unix.MS_BIND, ""))
	t.Cleanup(func() { _ = unix.Unmount("/proc/driver/nvidia-fs/stats", unix.MNT_DETACH) })
	write("/usr/local/sbin/dmesg", "#!/bin/sh\ntrap '' TERM INT HUP\nwhile :; do sleep 1; done\n", 0o755)
	write("/usr/local/sbin/journalctl", "#!/bin/sh\nexec yes nvidia-fs: a line without end\n", 0o755)
	must(os.Symlink(h.path("program", "never"), "/usr/local/sbin/modinfo"))
}

// runCheck runs the program, which must end within its timeout whatever hangs.
func runCheck(t *testing.T, exe string) (report.Report, string) {
	t.Helper()
	const timeout = 6 * time.Second
	var out, errs strings.Builder
	c := exec.Command(exe, "check", "--step", "1", "--timeout", timeout.String(), "-o", "json", "--exit-style", "zero")
	c.Stdout, c.Stderr = &out, &errs
	began := time.Now()
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	if d := time.Since(began); d > timeout+3*time.Second {
		t.Errorf("took %s with a timeout of %s", d, timeout)
	}
	var r report.Report
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return r, errs.String()
}
