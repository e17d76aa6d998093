//go:build !nocufile

package cufile

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == ReportVerb {
		os.Exit(ReportMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// standIn is a library with libcufile's ABI that does what its environment says. It logs and prints as the real
// one does, and its names are looked up in the same way.
const standIn = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef struct { int err; int cu_err; } E;
static const char *mode(void) { const char *m = getenv("CUFILE_TEST"); return m ? m : ""; }
E cuFileGetVersion(int *v) { *v = 1150; E e = {0, 0}; return e; }
E cuFileDriverOpen(void) {
	E e = {0, 0};
	printf("libcufile says hello on stdout\n");
	fflush(stdout);
	if (!strcmp(mode(), "exit")) exit(9);
	if (!strcmp(mode(), "crash")) { volatile int *p = 0; *p = 1; }
	if (!strcmp(mode(), "flood")) { char b[1 << 16]; memset(b, 1, sizeof b); memcpy(b, "noise", 5); for (int i = 0; i < 1600; i++) if (write(1, b, sizeof b) < 0) break; }
	if (!strcmp(mode(), "badjson")) { e.err = -22; return e; }
	if (!strcmp(mode(), "cuda")) { e.err = 5011; e.cu_err = 100; return e; }
	FILE *f = fopen(getenv("CUFILE_LOGFILE_PATH"), "a");
	fprintf(f, " 30-11-2026 12:00:00:7 [pid=1 tid=1] %s  cufio-drv:1 level\n", getenv("CUFILE_LOGGING_LEVEL"));
	fclose(f);
	if (!strcmp(mode(), "closes")) close(0);
	if (!strcmp(mode(), "strict")) e.err = 5001;
	return e;
}
E cuFileDriverClose_v2(void) { E e = {0, 0}; FILE *f = fopen(getenv("CUFILE_LOGFILE_PATH"), "a"); fprintf(f, "closed\n"); fclose(f); return e; }
`

func buildStandIn(t *testing.T) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("gcc is missing")
		}
		t.Skip("not tested: needs gcc for the stand-in library")
	}
	dir := t.TempDir()
	src, lib := filepath.Join(dir, "standin.c"), filepath.Join(dir, "libcufile.so.0")
	if err := os.WriteFile(src, []byte(standIn), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-shared", "-fPIC", "-o", lib, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return lib
}

// child runs the reporting child as the program does, in a folder of its own.
func child(t *testing.T, lib string, env ...string) (Report, string, error) {
	t.Helper()
	c := exec.Command(os.Args[0], ReportVerb, lib)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), env...)
	out, err := c.Output()
	var r Report
	if json.Unmarshal(out, &r) != nil && err == nil {
		t.Fatalf("no report in %q", out)
	}
	return r, string(out), err
}

func TestReport(t *testing.T) {
	lib := buildStandIn(t)
	for name, tc := range map[string]struct {
		mode   string
		open   int32
		cuda   int32
		log    string
		closed bool
	}{
		"opens":             {"", 0, 0, "INFO  cufio-drv:1 level", true},
		"closes stdin":      {"closes", 0, 0, "level", true},
		"strict, no driver": {"strict", 5001, 0, "level", false},
		"floods stdout":     {"flood", 0, 0, "level", true},
		"refused config":    {"badjson", -22, 0, "", false},
		"no device":         {"cuda", 5011, 100, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			// What the caller says of the log does not matter here; what he says of the rest does.
			r, _, err := child(t, lib, "CUFILE_TEST="+tc.mode, "CUFILE_LOGGING_LEVEL=ERROR", "CUFILE_LOGFILE_PATH=/nowhere")
			if err != nil || !r.Loaded || r.Error != "" || r.Open == nil || *r.Open != tc.open || r.CUDA != tc.cuda {
				t.Fatalf("%v %+v", err, r)
			}
			if !strings.Contains(r.Log, tc.log) || strings.Contains(r.Log, "closed") != tc.closed {
				t.Errorf("log %q", r.Log)
			}
			if !strings.Contains(r.Noise, "hello on stdout") {
				t.Errorf("noise %q", r.Noise)
			}
			if r.Version == nil || *r.Version != 1150 {
				t.Errorf("version %v", r.Version)
			}
		})
	}
}

// TestReportEnds: a library that ends the process leaves no report, and its noise does not look like one. Of a crash
// Go's words come out on stderr, of which the first tell the signal.
func TestReportEnds(t *testing.T) {
	lib := buildStandIn(t)
	for mode, want := range map[string]struct {
		exit int
		says string
	}{"exit": {9, ""}, "crash": {2, "SIGSEGV: segmentation violation"}} {
		_, out, err := child(t, lib, "CUFILE_TEST="+mode)
		var end *exec.ExitError
		if !errors.As(err, &end) || out != "" {
			t.Errorf("%s: %v, %q", mode, err, out)
			continue
		}
		if end.ExitCode() != want.exit || !strings.Contains(string(end.Stderr), want.says) {
			t.Errorf("%s: exit status %d, %.300q", mode, end.ExitCode(), end.Stderr)
		}
	}
}

// TestReportOfItsOwnTrouble: what goes wrong before the library is touched does not speak of the library.
func TestReportOfItsOwnTrouble(t *testing.T) {
	c := exec.Command(os.Args[0], ReportVerb, "libcufile.so.0", "/nowhere/log", "/nowhere/noise")
	out, err := c.Output()
	var r Report
	if json.Unmarshal(out, &r) != nil || err != nil || r.Error != "" || !strings.Contains(r.Trouble, "/nowhere/noise") {
		t.Errorf("%v %s", err, out)
	}
}

func TestReportWithoutLibrary(t *testing.T) {
	r, _, err := child(t, "/nowhere/libcufile.so.0")
	if err != nil || r.Loaded || r.Open != nil || !strings.Contains(r.Error, "/nowhere/libcufile.so.0") {
		t.Errorf("%v %+v", err, r)
	}
	// A library that is something else, as the loader finds it.
	if r, _, err := child(t, "libm.so.6"); err != nil || !r.Loaded || r.Open != nil || !strings.Contains(r.Error, "cuFileDriverOpen") {
		t.Errorf("%v %+v", err, r)
	}
}

// TestReportOfAFlood: what a library prints without end is bounded on the disk and in the report.
func TestReportOfAFlood(t *testing.T) {
	lib := buildStandIn(t)
	r, out, err := child(t, lib, "CUFILE_TEST=flood")
	if err != nil || r.Open == nil || *r.Open != 0 {
		t.Fatalf("%v %.300s", err, out)
	}
	if len(out) > 2*maxNoise || !strings.HasPrefix(r.Noise, "libcufile says hello") || strings.ContainsRune(r.Noise, 1) {
		t.Errorf("%d bytes of report, noise %.100q", len(out), r.Noise)
	}
}
