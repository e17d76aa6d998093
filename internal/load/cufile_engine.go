//go:build !nocufile

package load

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/unix"

	"gdsproof/internal/cufile"
	"gdsproof/internal/facts"
)

// HasCufile tells whether this program can call libcufile itself.
const HasCufile = true

// busyMemory is how much of a GPU's memory is in use before another program is suspected: a context alone takes some
// hundred megabytes.
const busyMemory = 4 << 30

// cufileEngine moves the bytes with libcufile.
func cufileEngine(job facts.LoadJob, r *reporter, res *facts.LoadResult) {
	debug.SetGCPercent(-1) // a short life with little garbage
	runtime.LockOSThread() // errno is a thread's, and so is CUDA's current context
	defer runtime.UnlockOSThread()
	defer cufile.Flush()
	cuda, err := cufile.OpenCUDA()
	if err != nil {
		refuse(res, err)
		return
	}
	gpu, err := cuda.Find(job.GPU.UUID, job.GPU.PCI, job.GPU.Index)
	if err != nil {
		refuse(res, err)
		return
	}
	res.Versions = map[string]string{"gpu": gpu.Name}
	if gpu.ByPCI {
		res.Notes = append(res.Notes, "CUDA names this GPU "+gpu.UUID+": MIG, or another driver's view; it was found by its bus address")
	}
	if used := gpu.AllMemory - gpu.FreeMemory; gpu.AllMemory > 0 && used > busyMemory {
		res.Notes = append(res.Notes, fmt.Sprintf("%d MiB of the GPU's memory are in use: another program is at work on it", used>>20))
	}
	lib, err := cufile.Load(job.Library)
	if err != nil {
		refuse(res, err)
		return
	}
	if lib.Version > 0 {
		res.Versions["libcufile"] = fmt.Sprintf("%d.%d", lib.Version/1000, lib.Version%1000/10)
	}
	if err := lib.Open(); err != nil {
		refuse(res, err)
		return
	}
	defer func() { _ = lib.Close() }()
	res.Effective = lib.Effective()
	if v, ok := lib.NVFS(); ok {
		res.Versions["nvidia_fs"] = v
	}
	if job.Wait {
		r.send("open", res.Versions)
		<-r.begin
	}
	f, direct, err := openFile(job)
	if err != nil {
		fail(res, err)
		return
	}
	defer f.Close()
	if !direct {
		res.Notes = append(res.Notes, "the file system takes no O_DIRECT")
	}
	plain, err := reopened(f, direct)
	if err != nil {
		fail(res, err)
		return
	}
	defer plain.Close()
	file, err := lib.Register(int(plain.Fd()))
	if err != nil {
		refuse(res, err)
		return
	}
	defer file.Release()
	var kernels *cufile.Kernels
	if job.Verify || job.Op == "write" {
		if kernels, err = gpu.Kernels(); err != nil {
			res.Notes = append(res.Notes, "the pattern is made and compared by the CPU: "+err.Error())
			kernels = nil
		}
	}
	r.send("open", res.Versions)
	w := &gpuWork{job: job, r: r, lib: lib, gpu: gpu, kernels: kernels, file: file, hist: newHistogram(), first: ^uint64(0)}
	w.run(f.Sync)
	res.Bytes, res.Ops, res.Seconds, res.CPUSeconds, res.Latency = w.moved.Load(), w.ops.Load(), w.seconds, &w.cpu, latency(w.hist)
	res.Notes = append(res.Notes, w.notes...)
	if c, err := lib.Stats(); err != nil {
		res.Notes = append(res.Notes, "libcufile's statistics: "+err.Error())
	} else {
		p := c.Reads
		if job.Op == "write" {
			p = c.Writes
		}
		res.Stats = &facts.LoadStats{Total: p.Total, NVFS: p.NVFS, P2P: p.P2P, POSIX: p.POSIX}
	}
	if job.Op == "read" && job.Verify {
		res.Verified = &facts.LoadVerified{Bytes: w.compared.Load(), Wrong: w.wrong, How: "on the GPU"}
		if kernels == nil {
			res.Verified.How = "through the CPU, from the GPU's memory"
		}
		if w.wrong > 0 {
			first := w.first
			res.Verified.First = &first
		}
	}
	if w.err != nil {
		refuse(res, w.err)
		return
	}
	res.End = facts.EndDone
}

// reopened is the same file by a descriptor with nothing but its access mode: libcufile refuses one that was opened with
// O_NOFOLLOW (5019, measured), as everything below a folder is here.
func reopened(f *os.File, direct bool) (*os.File, error) {
	flags := os.O_RDWR
	if direct {
		flags |= unix.O_DIRECT
	}
	return os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), flags, 0)
}

// refuse keeps an error of the library with its code.
func refuse(res *facts.LoadResult, err error) {
	fail(res, err)
	var e *cufile.Error
	if errors.As(err, &e) && e.Code != 0 && !e.CUDA {
		res.Code = &e.Code
	}
}

// ringBlocks is how many I/Os a thread's buffer has room for: the pattern is made, and compared, for a whole buffer at
// once, so that a kernel's start costs next to nothing for each I/O. mostRing bounds it: a GPU may let 256 MiB be
// mapped in all.
const (
	ringBlocks = 16
	mostRing   = 32 << 20
)

// gpuWork is the I/O of all threads.
type gpuWork struct {
	job     facts.LoadJob
	r       *reporter
	lib     *cufile.Driver
	gpu     *cufile.Device
	kernels *cufile.Kernels
	file    *cufile.File

	moved, ops, compared atomic.Uint64

	mu           sync.Mutex
	hist         *hdrhistogram.Histogram
	wrong, first uint64
	err          error
	notes        []string

	seconds, cpu float64
}

// run does the I/O. What it takes until a write is on the storage counts as the write's.
func (w *gpuWork) run(flush func() error) {
	list := parts(w.job)
	var ready, over sync.WaitGroup
	begin := make(chan struct{})
	ready.Add(len(list))
	for _, p := range list {
		over.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			t, err := w.thread(p)
			ready.Done()
			<-begin
			if err == nil {
				err = t.all(p)
			}
			w.end(t, err)
		})
	}
	ready.Wait() // buffers are registered: only I/O is measured
	began, spent := time.Now(), cpu()
	close(begin)
	over.Wait()
	if w.job.Op == "write" && w.err == nil {
		w.err = flush()
	}
	w.seconds, w.cpu = time.Since(began).Seconds(), cpu()-spent
}

// ioThread is one thread with its buffer.
type ioThread struct {
	w    *gpuWork
	b    *cufile.Buffer
	host []byte // of the CPU's way
	hist *hdrhistogram.Histogram
	ring uint64
	// wrong and first are what the CPU's way found.
	wrong, first uint64
	registered   bool
}

func (w *gpuWork) thread(p part) (*ioThread, error) {
	if err := w.gpu.Use(); err != nil {
		return nil, err
	}
	io := w.job.IOSize
	blocks := uint64(ringBlocks)
	if w.job.Op == "read" && !w.job.Verify {
		blocks = 1 // nothing is made or compared
	}
	t := &ioThread{w: w, hist: newHistogram(), first: ^uint64(0), ring: max(io, min(mostRing/io*io, blocks*io, (p.to-p.from+io-1)/io*io))}
	var err error
	if t.b, err = w.gpu.Alloc(t.ring, w.kernels); err != nil {
		return nil, err
	}
	if w.kernels == nil {
		t.host = make([]byte, t.ring)
	}
	// A buffer that cannot be registered is no end: the library has buffers of its own for it, which are slower.
	if err := w.lib.RegisterBuffer(t.b); err != nil {
		w.mu.Lock()
		w.notes = append(w.notes, "a buffer could not be registered: "+err.Error())
		w.mu.Unlock()
	} else {
		t.registered = true
	}
	return t, nil
}

// all does a thread's part, a buffer's worth after the other.
func (t *ioThread) all(p part) error {
	step := t.ring
	if t.w.job.Op == "read" && !t.w.job.Verify {
		step = t.w.job.IOSize * ringBlocks // one after the other into the same place
	}
	for at := p.from; at < p.to; at += step {
		if err := t.round(at, min(step, p.to-at)); err != nil {
			return err
		}
		t.w.r.progress(Progress{GPU: t.w.job.GPU.Index, Op: t.w.job.Op, Bytes: t.w.moved.Load(), Of: t.w.job.Size})
	}
	return nil
}

func (t *ioThread) round(at, n uint64) error {
	w, job := t.w, &t.w.job
	write := job.Op == "write"
	switch {
	case write:
		if err := t.b.Fill(0, n, at, job.Seed, t.host, Fill); err != nil {
			return err
		}
	case job.Verify:
		if err := t.b.Poison(0, n); err != nil {
			return err
		}
	}
	if err := t.move(at, n); err != nil {
		return err
	}
	if write || !job.Verify {
		return nil
	}
	wrong, first, err := t.b.Check(0, n, at, job.Seed, t.host, Compare)
	if err != nil {
		return err
	}
	if wrong > 0 {
		t.first = min(t.first, first)
		t.wrong += wrong
	}
	w.compared.Add(n)
	return t.b.Wait() // the next round's poison must not come before the comparison
}

// move moves a buffer's worth, or a part of the file that is larger where nothing is made or compared.
func (t *ioThread) move(at, n uint64) error {
	w, job := t.w, &t.w.job
	for off := uint64(0); off < n; {
		size := min(job.IOSize, n-off) // the file's last I/O may be a short one
		m := cufile.Moves{Write: job.Op == "write", N: int(min((n-off)/size, cufile.MostBatch)), Size: size, FileOffset: at + off, At: off % t.ring, Step: size % t.ring,
			Took: func(d time.Duration) { _ = t.hist.RecordValue(d.Nanoseconds()) }}
		done, got, err := w.file.Move(t.b, m)
		off += uint64(done) * size
		w.ops.Add(uint64(done))
		w.moved.Add(uint64(done) * size)
		if err != nil {
			w.ops.Add(1)
			w.moved.Add(uint64(max(got, 0)))
			return err
		}
	}
	return nil
}

// end gathers what a thread found.
func (w *gpuWork) end(t *ioThread, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t != nil {
		w.hist.Merge(t.hist)
		wrong, first, werr := t.b.Wrong()
		if werr != nil && err == nil {
			err = werr
		}
		if wrong+t.wrong > 0 {
			w.wrong += wrong + t.wrong
			w.first = min(w.first, first, t.first)
		}
		if t.registered {
			w.lib.ReleaseBuffer(t.b)
		}
	}
	if err != nil && w.err == nil {
		w.err = err
	}
}
