package load

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
)

func TestMain(m *testing.M) {
	// Engines that do what a library can do to their process.
	for name, f := range map[string]func(*facts.LoadResult){
		"exit0":   func(*facts.LoadResult) { os.Exit(0) },
		"exit7":   func(*facts.LoadResult) { fmt.Fprintln(os.Stderr, "giving up"); os.Exit(7) },
		"panic":   func(*facts.LoadResult) { panic("lost") },
		"hang":    func(*facts.LoadResult) { select {} },
		"noise":   func(r *facts.LoadResult) { fmt.Println("a library talks"); r.End, r.Bytes = facts.EndDone, 1 },
		"closes0": func(r *facts.LoadResult) { _ = os.Stdin.Close(); r.End, r.Bytes = facts.EndDone, 1 },
	} {
		engines[name] = func(_ facts.LoadJob, _ *reporter, r *facts.LoadResult) { f(r) }
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case host.ChildVerb:
			os.Exit(host.ChildMain())
		case ChildVerb:
			os.Exit(ChildMain(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

func live(t *testing.T) *host.Live {
	t.Helper()
	l, err := host.NewLive("/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func result(t *testing.T, its []evidence.Item) facts.LoadResult {
	t.Helper()
	if len(its) != 1 || its[0].Source != facts.LoadSource {
		t.Fatalf("%+v", its)
	}
	r, err := facts.ParseLoadResult(its[0].Out)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func testFile(t *testing.T, l *host.Live, size uint64) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "d")
	for _, a := range []host.Act{{Op: host.ActMkdir, Path: dir}, {Op: host.ActCreate, Path: dir, Names: []string{"f"}, Size: size}} {
		if it := l.Do(context.Background(), a); !it.OK() {
			t.Fatalf("%s: %s", a.Op, it.Err)
		}
	}
	return dir
}

func TestPOSIX(t *testing.T) {
	l := live(t)
	const size = 5<<20 + 4096 // the last block is a short one
	dir := testFile(t, l, size)
	job := facts.LoadJob{Op: "write", Dir: dir, Name: "f", Threads: 3, Size: size, IOSize: 1 << 20, Seed: 42, Deadline: 60}
	e := Own{Kind: "posix", M: l}
	told := 0
	if r := result(t, e.Do(context.Background(), job, Settings{}, func(Progress) { told++ })); r.End != facts.EndDone || r.Bytes != size || r.Ops != 6 || told == 0 {
		t.Fatalf("%+v, told %d times", r, told)
	}
	job.Op, job.Verify = "read", true
	if r := result(t, e.Do(context.Background(), job, Settings{}, nil)); r.End != facts.EndDone || r.Verified == nil || r.Verified.Bytes != size || r.Verified.Wrong != 0 {
		t.Errorf("%+v %+v", r, r.Verified)
	}
	// Another run's data, and one wrong byte.
	other := job
	other.Seed = 43
	if r := result(t, e.Do(context.Background(), other, Settings{}, nil)); r.Verified == nil || r.Verified.Wrong != size || *r.Verified.First != 0 {
		t.Errorf("data of another run: %+v", r.Verified)
	}
	f, err := os.OpenFile(filepath.Join(dir, "f"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0xff, 0xff}, 3<<20+12); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if r := result(t, e.Do(context.Background(), job, Settings{}, nil)); r.Verified == nil || r.Verified.Wrong != 8 || *r.Verified.First != 3<<20+8 {
		t.Errorf("a wrong byte: %+v", r.Verified)
	}
	if err := os.Truncate(filepath.Join(dir, "f"), size-8192); err != nil {
		t.Fatal(err)
	}
	if r := result(t, e.Do(context.Background(), job, Settings{}, nil)); r.End != facts.EndError || r.Error == "" {
		t.Errorf("a file that is too short: %+v", r)
	}
	job.Name = "nobody"
	if r := result(t, e.Do(context.Background(), job, Settings{}, nil)); r.End != facts.EndError || r.Code == nil || *r.Code != 2 || r.Bytes != 0 {
		t.Errorf("no file: %+v", r)
	}
	job.Name = "../d/f"
	if r := result(t, e.Do(context.Background(), job, Settings{}, nil)); r.End != facts.EndError {
		t.Errorf("a name that leads out of the folder: %+v", r)
	}
}

// Only a word of the process itself is an end.
func TestEnds(t *testing.T) {
	l := live(t)
	for name, c := range map[string]struct{ end, words string }{
		"exit0":   {facts.EndCrashed, "status 0 before its work was done"},
		"exit7":   {facts.EndCrashed, "status 7"},
		"panic":   {facts.EndCrashed, "lost"},
		"hang":    {facts.EndKilled, "did not end in time"},
		"noise":   {facts.EndDone, ""},
		"closes0": {facts.EndDone, ""},
		"nobody":  {facts.EndError, "no engine nobody"},
	} {
		deadline := 60.0
		if name == "hang" {
			deadline = 0.5
		}
		r := result(t, Own{Kind: name, M: l}.Do(context.Background(), facts.LoadJob{Op: "read", Deadline: deadline}, Settings{}, nil))
		if r.End != c.end || !strings.Contains(r.Error, c.words) {
			t.Errorf("%s: %s, %q", name, r.End, r.Error)
		}
		if name == "noise" && (len(r.Notes) != 1 || r.Notes[0] != "a library talks") {
			t.Errorf("%+v", r.Notes)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(200*time.Millisecond, cancel)
	if r := result(t, Own{Kind: "hang", M: l}.Do(ctx, facts.LoadJob{Op: "read", Deadline: 60}, Settings{}, nil)); r.End != facts.EndKilled {
		t.Errorf("%+v", r)
	}
}

func TestPattern(t *testing.T) {
	a, b := make([]byte, 4096), make([]byte, 4096)
	Fill(a, 8192, 7)
	Fill(b, 8192, 8)
	if n, _ := Compare(a, 8192, 7); n != 0 {
		t.Errorf("%d bytes of its own pattern are wrong", n)
	}
	if n, first := Compare(b, 8192, 7); n != 4096 || first != 8192 {
		t.Errorf("%d bytes of another seed are wrong, from %d", n, first)
	}
	if n, _ := Compare(a, 4096, 7); n != 4096 {
		t.Errorf("%d bytes of another place are wrong", n)
	}
	Poison(a)
	if n, _ := Compare(a, 8192, 7); n != 4096 {
		t.Errorf("poison passes: %d wrong", n)
	}
	// The words are a contract with the engine that makes them on a GPU.
	if w := word(0, 0); w != 0xe220a8397b1dcdaf {
		t.Errorf("%#x", w)
	}
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		threads  int
		size, io uint64
	}{{4, 10 << 20, 1 << 20}, {4, 2 << 20, 1 << 20}, {1, 4096, 4096}, {7, 5<<20 + 4096, 1 << 20}} {
		at := uint64(0)
		list := parts(facts.LoadJob{Threads: c.threads, Size: c.size, IOSize: c.io})
		for _, p := range list {
			if p.from != at || p.to <= p.from || p.from%c.io != 0 {
				t.Errorf("%+v: %+v", c, list)
			}
			at = p.to
		}
		if at != c.size || len(list) > c.threads {
			t.Errorf("%+v: %+v", c, list)
		}
	}
}
