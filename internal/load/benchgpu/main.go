// Command benchgpu measures gdsproof's own engine beside the plainest C loop, and beside gdsio where it is installed:
// interleaved runs, medians, ratios. It needs a GPU, libcufile, and a folder on a file system that cuFile can use.
//
//	benchgpu -dir DIR -lib LIBCUFILE -loop PROGRAM [-rounds 5] [-size 2048]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"gdsproof/internal/facts"
	"gdsproof/internal/host"
	"gdsproof/internal/load"
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case host.ChildVerb:
			os.Exit(host.ChildMain())
		case load.ChildVerb:
			os.Exit(load.ChildMain(os.Args[2:]))
		}
	}
	if err := bench(); err != nil {
		fmt.Fprintln(os.Stderr, "benchgpu:", err)
		os.Exit(1)
	}
}

// sample is one run.
type sample struct{ gibs, cpu float64 }

type peer struct {
	name string
	run  func(op string, threads int) (sample, error)
}

func bench() error {
	dir := flag.String("dir", "", "folder for the test file")
	lib := flag.String("lib", "libcufile.so.0", "libcufile")
	loop := flag.String("loop", "", "the C loop, built from loop.c")
	gdsio := flag.String("gdsio", "", "gdsio, where there is one")
	rounds := flag.Int("rounds", 5, "runs of each")
	size := flag.Uint64("size", 2048, "MiB")
	flag.Parse()
	ctx := context.Background()
	m, err := host.NewLive("/")
	if err != nil {
		return err
	}
	defer m.Close()
	folder := filepath.Join(*dir, ".gdsproof-bench")
	if it := m.Do(ctx, host.Act{Op: host.ActMkdir, Path: folder}); !it.OK() {
		return fmt.Errorf("%s", it.Err)
	}
	defer m.Do(ctx, host.Act{Op: host.ActRemove, Path: folder, Names: []string{"f"}})
	if it := m.Do(ctx, host.Act{Op: host.ActCreate, Path: folder, Names: []string{"f"}, Size: *size << 20}); !it.OK() {
		return fmt.Errorf("%s", it.Err)
	}
	own := func(verify bool) func(string, int) (sample, error) {
		return func(op string, threads int) (sample, error) {
			job := facts.LoadJob{Op: op, Dir: folder, Name: "f", Threads: threads, Size: *size << 20, IOSize: 1 << 20, Seed: 1, Verify: verify, Deadline: 300}
			its := load.Own{Kind: "cufile", Library: *lib, M: m}.Do(ctx, job, load.Settings{}, nil)
			r, err := facts.ParseLoadResult(its[0].Out)
			if err != nil || r.End != facts.EndDone {
				return sample{}, fmt.Errorf("engine: %s %s (%v)", r.End, r.Error, err)
			}
			gib := float64(r.Bytes) / (1 << 30)
			return sample{gib / r.Seconds, *r.CPUSeconds / gib}, nil
		}
	}
	inC := func(how string) func(string, int) (sample, error) {
		return func(op string, threads int) (sample, error) {
			out, err := exec.Command(*loop, how, op, filepath.Join(folder, "f"), strconv.Itoa(threads), strconv.FormatUint(*size, 10), "1024", *lib).Output()
			var s sample
			if err == nil {
				_, err = fmt.Sscan(string(out), &s.gibs, &s.cpu)
			}
			return s, err
		}
	}
	peers := []peer{{"gdsproof", own(false)}, {"gdsproof, compared", own(true)}, {"C loop, cuFile", inC("cufile")}, {"C loop, counted", inC("counted")}, {"C loop, pread + cuMemcpy", inC("posix")}}
	if *gdsio != "" {
		peers = append(peers, peer{"gdsio", func(op string, threads int) (sample, error) {
			its := load.Gdsio{Path: *gdsio, M: m}.Do(ctx, facts.LoadJob{Op: op, Dir: folder, Name: "f", Threads: threads, Size: *size << 20, IOSize: 1 << 20, Deadline: 300}, load.Settings{}, nil)
			g := facts.ParseGdsio(its[0].Out)
			if len(g.Runs) == 0 {
				return sample{}, fmt.Errorf("gdsio: %s", its[0].Out)
			}
			return sample{gibs: g.Runs[0].GiBs.V}, nil
		}})
	}
	fmt.Printf("%d MiB in I/Os of 1 MiB, medians of %d interleaved runs (least to most)\n", *size, *rounds)
	for _, op := range []string{"write", "read"} {
		for _, threads := range []int{1, 4, 16} {
			if err := compare(peers, op, threads, *rounds); err != nil {
				return err
			}
		}
	}
	return nil
}

func compare(peers []peer, op string, threads, rounds int) error {
	all := make([][]sample, len(peers))
	for range rounds {
		for i, p := range peers {
			s, err := p.run(op, threads)
			if err != nil {
				return fmt.Errorf("%s, %s, %d threads: %w", p.name, op, threads, err)
			}
			all[i] = append(all[i], s)
		}
	}
	base := median(all[0], func(s sample) float64 { return s.gibs })
	baseCPU := median(all[0], func(s sample) float64 { return s.cpu })
	for i, p := range peers {
		g := median(all[i], func(s sample) float64 { return s.gibs })
		c := median(all[i], func(s sample) float64 { return s.cpu })
		low, high := all[i][0].gibs, all[i][0].gibs
		for _, s := range all[i] {
			low, high = min(low, s.gibs), max(high, s.gibs)
		}
		fmt.Printf("%-5s %2d threads  %-24s %6.2f GiB/s (%.2f to %.2f)  %5.2f CPU s/GiB", op, threads, p.name, g, low, high, c)
		if i > 0 {
			fmt.Printf("   gdsproof / this: %.3f, CPU %.2f", base/g, baseCPU/max(c, 1e-9))
		}
		fmt.Println()
	}
	return nil
}

func median(list []sample, of func(sample) float64) float64 {
	var v []float64
	for _, s := range list {
		v = append(v, of(s))
	}
	slices.Sort(v)
	return v[len(v)/2]
}
