package load

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/unix"

	"gdsproof/internal/facts"
)

// posix moves the bytes through the CPU, past the page cache where the file system can: what is in the cache would
// not travel.
func posix(job facts.LoadJob, r *reporter, res *facts.LoadResult) {
	f, direct, err := openFile(job)
	if err != nil {
		fail(res, err)
		return
	}
	defer f.Close()
	if !direct {
		res.Notes = append(res.Notes, "the file system takes no O_DIRECT: the page cache may have served")
	}
	began := time.Now()
	var moved, ops atomic.Uint64
	var mu sync.Mutex // guards what the threads found
	wrong, first := uint64(0), ^uint64(0)
	all := newHistogram()
	var failed error
	var wg sync.WaitGroup
	for _, part := range parts(job) {
		wg.Go(func() {
			err := func() error {
				buf, err := unix.Mmap(-1, 0, int(job.IOSize), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
				if err != nil {
					return fmt.Errorf("get a buffer: %w", err)
				}
				defer func() { _ = unix.Munmap(buf) }()
				h := newHistogram()
				wrongHere, firstHere := uint64(0), ^uint64(0)
				defer func() {
					mu.Lock()
					all.Merge(h)
					wrong, first = wrong+wrongHere, min(first, firstHere)
					mu.Unlock()
				}()
				for at := part.from; at < part.to; at += job.IOSize {
					b := buf[:min(job.IOSize, part.to-at)]
					if job.Op == "write" {
						Fill(b, at, job.Seed)
					} else if job.Verify {
						Poison(b)
					}
					t := time.Now()
					if err := transfer(f, job.Op, b, at); err != nil {
						return err
					}
					_ = h.RecordValue(time.Since(t).Nanoseconds())
					if job.Op == "read" && job.Verify {
						if n, where := Compare(b, at, job.Seed); n > 0 {
							wrongHere, firstHere = wrongHere+n, min(firstHere, where)
						}
					}
					ops.Add(1)
					r.progress(Progress{GPU: job.GPU.Index, Op: job.Op, Bytes: moved.Add(uint64(len(b))), Of: job.Size})
				}
				return nil
			}()
			if err != nil {
				mu.Lock()
				failed = err
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if job.Op == "write" && failed == nil {
		failed = f.Sync()
	}
	res.Bytes, res.Ops, res.Seconds = moved.Load(), ops.Load(), time.Since(began).Seconds()
	res.Latency = latency(all)
	if job.Op == "read" && job.Verify {
		res.Verified = &facts.LoadVerified{Bytes: moved.Load(), Wrong: wrong, How: "through the CPU"}
		if wrong > 0 {
			res.Verified.First = &first
		}
	}
	if failed != nil {
		fail(res, failed)
		return
	}
	res.End = facts.EndDone
}

// transfer moves a whole block. A short one is an error: the file has its full size.
func transfer(f *os.File, op string, b []byte, at uint64) error {
	var n int
	var err error
	if op == "write" {
		n, err = f.WriteAt(b, int64(at))
	} else {
		n, err = f.ReadAt(b, int64(at))
	}
	if err == nil && n < len(b) {
		err = fmt.Errorf("%s at %d: %d of %d bytes", op, at, n, len(b))
	}
	return err
}

// part is what one thread does.
type part struct{ from, to uint64 }

// parts shares a file out: each thread has a piece of its own, of whole blocks.
func parts(job facts.LoadJob) []part {
	blocks := (job.Size + job.IOSize - 1) / job.IOSize
	n := min(uint64(max(job.Threads, 1)), max(blocks, 1))
	var out []part
	for i := range n {
		p := part{blocks * i / n * job.IOSize, min(blocks*(i+1)/n*job.IOSize, job.Size)}
		if p.from < p.to {
			out = append(out, p)
		}
	}
	return out
}

// openFile opens the test file, which is there: it was made for this run, in a folder of its own.
func openFile(job facts.LoadJob) (f *os.File, direct bool, err error) {
	root, err := os.OpenRoot(job.Dir)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	for _, flag := range []int{unix.O_DIRECT, 0} {
		f, err = root.OpenFile(job.Name, os.O_RDWR|flag, 0)
		if err == nil {
			return f, flag != 0, nil
		}
		if !errors.Is(err, unix.EINVAL) {
			break
		}
	}
	return nil, false, err
}

func fail(res *facts.LoadResult, err error) {
	res.End, res.Error = facts.EndError, err.Error()
	var no syscall.Errno
	if errors.As(err, &no) {
		c := int64(no)
		res.Code = &c
	}
}

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, 600e9, 3) } // ns, up to ten minutes

func latency(h *hdrhistogram.Histogram) *facts.LoadLatency {
	if h.TotalCount() == 0 {
		return nil
	}
	usec := func(ns int64) float64 { return float64(ns) / 1000 }
	return &facts.LoadLatency{P50: usec(h.ValueAtQuantile(50)), P99: usec(h.ValueAtQuantile(99)), Max: usec(h.Max())}
}
