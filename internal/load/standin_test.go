//go:build !nocufile

package load

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gdsproof/internal/facts"
)

var standin = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "gdsproof-standin-")
	if err != nil {
		return "", err
	}
	for _, c := range [][]string{{"cuda.c", "libcuda.so.1"}, {"cufile.c", "libcufile.so.0"}, {"cufile.c", "old/libcufile.so.0", "-DOLD"}} {
		out := filepath.Join(dir, c[1])
		if err := os.MkdirAll(filepath.Dir(out), 0o700); err != nil {
			return "", err
		}
		args := append([]string{"-shared", "-fPIC", "-O1", "-w", "-pthread", "-o", out, filepath.Join("testdata", "standin", c[0])}, c[2:]...)
		if msg, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			return string(msg), err
		}
	}
	return dir, nil
})

// libraries are the stand-ins, built by the C compiler.
func libraries(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("not tested: no gcc to build the stand-in libraries")
		}
		t.Skip("not tested: no gcc to build the stand-in libraries")
	}
	dir, err := standin()
	if err != nil {
		t.Fatalf("%v: %s", err, dir)
	}
	return dir
}

type behaviour struct {
	mode, gpu, library string
	strict             bool
	deadline           float64
}

// does runs a write and a read as the stand-in behaves. What it must write first for a read is written by a good one.
func does(t *testing.T, b behaviour, op string) facts.LoadResult {
	t.Helper()
	dir := libraries(t)
	l := live(t)
	t.Setenv("LD_LIBRARY_PATH", dir)
	const size = 8 << 20
	job := facts.LoadJob{Op: "write", Dir: testFile(t, l, size), Name: "f", GPU: facts.LoadGPU{Index: 1, UUID: "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f"}, Threads: 2, Size: size, IOSize: 1 << 20, Seed: 9, Verify: true, Deadline: 60}
	e := Own{Kind: "cufile", Library: filepath.Join(dir, "libcufile.so.0"), M: l}
	if op == "read" {
		t.Setenv("CUFILE_STANDIN", "nvfs")
		if r := result(t, e.Do(context.Background(), job, Settings{}, nil)); r.End != facts.EndDone {
			t.Fatalf("%+v", r)
		}
	}
	t.Setenv("CUFILE_STANDIN", b.mode)
	t.Setenv("CUFILE_STANDIN_GPU", b.gpu)
	if b.library != "" {
		e.Library = filepath.Join(dir, b.library)
	}
	if b.deadline > 0 {
		job.Deadline = b.deadline
	}
	job.Op, job.Strict = op, b.strict
	return result(t, e.Do(context.Background(), job, Settings{}, nil))
}

func TestStandIn(t *testing.T) {
	whole := func(nvfs, p2p, posix uint64) func(facts.LoadResult) bool {
		return func(r facts.LoadResult) bool {
			return r.End == facts.EndDone && r.Bytes == 8<<20 && r.Ops == 8 && r.Stats != nil && *r.Stats == facts.LoadStats{Total: nvfs + p2p + posix, NVFS: nvfs, P2P: p2p, POSIX: posix}
		}
	}
	right := func(f func(facts.LoadResult) bool) func(facts.LoadResult) bool {
		return func(r facts.LoadResult) bool {
			return f(r) && r.Verified != nil && r.Verified.Bytes == 8<<20 && r.Verified.Wrong == 0
		}
	}
	failed := func(code int64, words string) func(facts.LoadResult) bool {
		return func(r facts.LoadResult) bool {
			return r.End == facts.EndError && r.Code != nil && *r.Code == code && strings.Contains(r.Error, words)
		}
	}
	ended := func(end, words string) func(facts.LoadResult) bool {
		return func(r facts.LoadResult) bool { return r.End == end && strings.Contains(r.Error, words) }
	}
	wrong := func(n, first uint64) func(facts.LoadResult) bool {
		return func(r facts.LoadResult) bool {
			return r.End == facts.EndDone && r.Verified != nil && r.Verified.Wrong == n && r.Verified.First != nil && *r.Verified.First == first
		}
	}
	noted := func(f func(facts.LoadResult) bool, words string) func(facts.LoadResult) bool {
		return func(r facts.LoadResult) bool { return f(r) && strings.Contains(strings.Join(r.Notes, "\n"), words) }
	}
	noStats := func(words string) func(facts.LoadResult) bool {
		return noted(func(r facts.LoadResult) bool {
			return r.End == facts.EndDone && r.Stats == nil && r.Verified.Wrong == 0
		}, words)
	}
	for name, c := range map[string]struct {
		b    behaviour
		op   string
		good func(facts.LoadResult) bool
	}{
		"all nvfs, write":  {behaviour{mode: "nvfs"}, "write", whole(8, 0, 0)},
		"all nvfs, read":   {behaviour{mode: "nvfs"}, "read", right(whole(8, 0, 0))},
		"all POSIX, write": {behaviour{mode: "posix"}, "write", whole(0, 0, 8)},
		"all POSIX, read":  {behaviour{mode: "posix"}, "read", right(whole(0, 0, 8))},
		"half and half":    {behaviour{mode: "half"}, "read", right(whole(4, 0, 4))},
		"P2P":              {behaviour{mode: "p2p"}, "read", right(whole(0, 8, 0))},
		"strict, and it takes the path": {behaviour{mode: "nvfs", strict: true}, "read", func(r facts.LoadResult) bool {
			return r.End == facts.EndDone && r.Effective["allow_compat_mode"] == "false" && r.Effective["force_compat_mode"] == "false"
		}},
		"strict, no driver":              {behaviour{mode: "posix", strict: true}, "read", failed(5001, "cuFileDriverOpen")},
		"strict, not on this file":       {behaviour{mode: "silent-compat", strict: true}, "read", failed(5008, "cuFileHandleRegister")},
		"no udev":                        {behaviour{mode: "no-udev"}, "read", failed(5027, "cuFileHandleRegister")},
		"a cufile.json that is refused":  {behaviour{mode: "broken-json"}, "read", noted(failed(-22, "cuFileDriverOpen"), "does not parse")},
		"an error of CUDA":               {behaviour{mode: "cuda-error"}, "read", failed(5011, "CUDA error 999")},
		"short reads":                    {behaviour{mode: "short"}, "read", ended(facts.EndError, "524288 of 1048576 bytes")},
		"errno of cuFile":                {behaviour{mode: "errno-5027"}, "read", failed(5027, "cuFileRead")},
		"errno of the system":            {behaviour{mode: "errno-eio"}, "write", failed(5, "EIO")},
		"a negative number":              {behaviour{mode: "negative"}, "read", failed(5010, "cuFileRead")},
		"more than was asked for":        {behaviour{mode: "positive"}, "read", ended(facts.EndError, "1048576 bytes were asked for")},
		"a corrupted block":              {behaviour{mode: "corrupt"}, "read", wrong(8, 3<<20+4096)},
		"a read that does nothing":       {behaviour{mode: "nothing"}, "read", wrong(8<<20, 0)},
		"old data":                       {behaviour{mode: "stale"}, "read", wrong(8<<20, 0)},
		"a hang in an I/O":               {behaviour{mode: "hang", deadline: 1}, "read", ended(facts.EndKilled, "in time")},
		"a hang in the opening":          {behaviour{mode: "hang-open", deadline: 1}, "read", ended(facts.EndKilled, "in time")},
		"a crash":                        {behaviour{mode: "crash"}, "read", ended(facts.EndCrashed, "")},
		"a crash in an I/O":              {behaviour{mode: "crash-io"}, "read", ended(facts.EndCrashed, "")},
		"a crash of its own thread":      {behaviour{mode: "thread-crash"}, "read", ended(facts.EndCrashed, "")},
		"an exit with 0":                 {behaviour{mode: "exit"}, "read", ended(facts.EndCrashed, "status 0 before")},
		"an exit with a code":            {behaviour{mode: "exit-code"}, "read", ended(facts.EndCrashed, "status 5 before")},
		"output on stdout":               {behaviour{mode: "noise"}, "read", noted(right(whole(8, 0, 0)), "libcufile talks")},
		"a closed fd 0":                  {behaviour{mode: "close0"}, "read", right(whole(8, 0, 0))},
		"buffers that cannot be pinned":  {behaviour{mode: "no-pin"}, "read", noted(right(whole(8, 0, 0)), "5036")},
		"a release without statistics":   {behaviour{library: "old/libcufile.so.0"}, "read", noStats("no such function")},
		"a version without statistics":   {behaviour{mode: "old-version"}, "read", noStats("1.14 has no statistics")},
		"statistics of another layout":   {behaviour{mode: "moved-stats"}, "read", noStats("another layout")},
		"statistics of 77 GPUs":          {behaviour{mode: "odd-stats"}, "read", noStats("77 GPUs")},
		"statistics of a part":           {behaviour{mode: "lost-stats"}, "read", func(r facts.LoadResult) bool { return r.End == facts.EndDone && r.Ops == 8 && r.Stats.Total == 2 }},
		"no compiler for the kernels":    {behaviour{gpu: "nojit"}, "read", noted(right(whole(8, 0, 0)), "by the CPU")},
		"no compiler, a corrupted block": {behaviour{gpu: "nojit", mode: "corrupt"}, "read", wrong(8, 3<<20+4096)},
		"no compiler, write":             {behaviour{gpu: "nojit"}, "write", whole(8, 0, 0)},
		"a GPU in exclusive mode":        {behaviour{gpu: "exclusive"}, "read", ended(facts.EndError, "Exclusive_Process")},
		"a GPU in prohibited mode":       {behaviour{gpu: "prohibited"}, "read", ended(facts.EndError, "Prohibited")},
		"a GPU without memory":           {behaviour{gpu: "full"}, "read", ended(facts.EndError, "CUDA_ERROR_OUT_OF_MEMORY")},
		"a busy GPU":                     {behaviour{gpu: "busy"}, "read", noted(right(whole(8, 0, 0)), "another program")},
		"no GPU":                         {behaviour{gpu: "none"}, "read", ended(facts.EndError, "cuInit: CUDA error 100")},
		"no library":                     {behaviour{library: "nowhere.so"}, "read", ended(facts.EndError, "nowhere.so")},
		"another library":                {behaviour{library: "libcuda.so.1"}, "read", ended(facts.EndError, "no libcufile")},
	} {
		t.Run(name, func(t *testing.T) {
			if c.b.mode == "" {
				c.b.mode = "nvfs"
			}
			r := does(t, c.b, c.op)
			if !c.good(r) {
				t.Errorf("%+v\nstats %+v, verified %+v, code %v", r, r.Stats, r.Verified, r.Code)
			}
		})
	}
}

// A GPU is found by its UUID, else by its bus address; a number alone is the last resort.
func TestStandInFindsGPU(t *testing.T) {
	dir := libraries(t)
	l := live(t)
	t.Setenv("LD_LIBRARY_PATH", dir)
	for name, c := range map[string]struct {
		gpu  facts.LoadGPU
		want string
	}{
		"by UUID":        {facts.LoadGPU{Index: 5, UUID: "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"}, "Stand-in 0"},
		"by bus address": {facts.LoadGPU{Index: 5, UUID: "GPU-ffffffff-0405-0607-0809-0a0b0c0d0e0f", PCI: "0000:3b:00.0"}, "Stand-in 1"},
		"by number":      {facts.LoadGPU{Index: 1}, "Stand-in 1"},
		"nobody":         {facts.LoadGPU{Index: 0, UUID: "GPU-ffffffff-0405-0607-0809-0a0b0c0d0e0f", PCI: "0000:99:00.0"}, ""},
		"no such number": {facts.LoadGPU{Index: 7}, ""},
	} {
		job := facts.LoadJob{Op: "write", Dir: testFile(t, l, 1<<20), Name: "f", GPU: c.gpu, Threads: 1, Size: 1 << 20, IOSize: 1 << 20, Deadline: 60}
		r := result(t, Own{Kind: "cufile", Library: filepath.Join(dir, "libcufile.so.0"), M: l}.Do(context.Background(), job, Settings{}, nil))
		if (r.End == facts.EndDone) != (c.want != "") || r.Versions["gpu"] != c.want {
			t.Errorf("%s: %s %q %v", name, r.End, r.Error, r.Versions)
		}
	}
}
