package load

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
)

const gdsioLine = "IoType: READ XferType: GPUD Threads: 4 DataSetSize: 1015808/1048576(KiB) IOSize: 1024(KiB) Throughput: 3.100000 GiB/sec, Avg_Latency: 1200.000000 usecs ops: 992 total_time 0.312500 secs"

// A program in gdsio's place: what it prints decides, not how it ends.
func TestGdsio(t *testing.T) {
	l := live(t)
	for name, c := range map[string]struct {
		script, end, words string
		runs               int
	}{
		"a result":               {"echo '" + gdsioLine + "'; env > env", "", "", 1},
		"driver open, status 0":  {"echo 'cuFile driver open error: 5001'", "", "", 0},
		"register, status 1":     {"echo 'file register error: GPUDirect Storage not supported on current file filename :/x'; exit 1", "", "", 0},
		"nothing, status 0":      {"true", facts.EndError, "printed no result", 0},
		"usage, status 255":      {"echo 'Usage [using config file]: gdsio rw-sample.gdsio'; exit 255", "", "", 0},
		"odd words, status 3":    {"echo what; exit 3", facts.EndCrashed, "status 3", 0},
		"no library, status 127": {"echo 'gdsio: error while loading shared libraries: libcufile.so.0: cannot open shared object file' >&2; exit 127", "", "", 0},
		"killed":                 {"kill -9 $$", facts.EndCrashed, "signal 9", 0},
		"hangs":                  {"sleep 60", facts.EndKilled, "in time", 0},
	} {
		dir := t.TempDir()
		tool := filepath.Join(dir, "gdsio")
		if err := os.WriteFile(tool, []byte("#!/bin/sh\n"+strings.ReplaceAll(c.script, "> env", "> "+dir+"/env")+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		job := facts.LoadJob{Op: "read", Dir: "/fsx/d", Name: "f", GPU: facts.LoadGPU{Index: 3}, Threads: 4, Size: 1 << 30, IOSize: 1 << 20, Deadline: 20, Strict: true}
		if name == "hangs" {
			job.Deadline = 0.4
		}
		t.Setenv("CUFILE_FORCE_COMPAT_MODE", "true")
		t.Setenv("CUDA_VISIBLE_DEVICES", "1")
		its := Gdsio{Path: tool, M: l}.Do(context.Background(), job, Settings{JSON: "/s.json", Log: "/s.log", Level: "INFO"}, nil)
		g := facts.ParseGdsio(its[0].Out)
		if its[0].State != evidence.Present || len(g.Runs) != c.runs {
			t.Errorf("%s: %s %q", name, its[0].State, its[0].Out)
		}
		cmd, ok := facts.ParseGdsioCommand(strings.TrimPrefix(strings.SplitN(string(its[0].Out), "\n", 2)[0], "$ "))
		if !ok || cmd.GPU.V != 3 || cmd.Op != "read" || !cmd.GDS || cmd.Size.V != 1<<30 || cmd.Env[facts.CufilePathEnv] != "/s.json" {
			t.Errorf("%s: %+v", name, cmd)
		}
		if c.end == "" {
			if len(its) != 1 {
				t.Errorf("%s: %d items: %s", name, len(its), its[1].Out)
			}
		} else if len(its) != 2 {
			t.Errorf("%s: no word on how it ended", name)
		} else if r, err := facts.ParseLoadResult(its[1].Out); err != nil || r.End != c.end || !strings.Contains(r.Error, c.words) || !r.GDS() || r.Bytes != 0 {
			t.Errorf("%s: %s %q (%v)", name, r.End, r.Error, err)
		}
		if name != "a result" {
			continue
		}
		env, err := os.ReadFile(filepath.Join(dir, "env"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"CUDA_DEVICE_ORDER=PCI_BUS_ID\n", "CUFILE_ENV_PATH_JSON=/s.json\n", "CUFILE_LOGFILE_PATH=/s.log\n", "CUFILE_LOGGING_LEVEL=INFO\n", "CUFILE_ALLOW_COMPAT_MODE=false\n"} {
			if !strings.Contains(string(env), want) {
				t.Errorf("the run has no %q in\n%s", want, env)
			}
		}
		for _, not := range []string{"CUFILE_FORCE_COMPAT_MODE", "CUDA_VISIBLE_DEVICES"} {
			if strings.Contains(string(env), not) {
				t.Errorf("the run has %s", not)
			}
		}
	}
}

func TestGdsioSize(t *testing.T) {
	for n, want := range map[uint64]string{2 << 30: "2G", 1 << 20: "1M", 4096: "4K", 1<<30 + 4096: "1048580K", 1000: "1000"} {
		if got := gdsioSize(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
