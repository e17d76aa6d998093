//go:build !nocufile

package cufile

import (
	"fmt"
	"time"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// ioBatchAddress is where ioBatch begins, for C. It does several I/Os in a row without coming back: after each call
// from Go that takes longer than a moment the scheduler has to be asked for a processor again, which was 10 to 40
// microseconds of CPU time for each I/O (measured, Go 1.26), as much as a third of what the I/O itself takes.
var ioBatchAddress uintptr

// MostBatch is how many I/Os a batch may have.
const MostBatch = 64

// Where the fields of a batch are that Go reads, as in the assembly.
const (
	batchLeft   = 56
	batchResult = 64
	batchStamp  = 80
	batchCode   = 96
	batchStamps = 256 // MostBatch+1 of struct timespec
)

// Moves are I/Os of one size, one behind the other in the file.
type Moves struct {
	Write      bool
	N          int // of MostBatch
	Size       uint64
	FileOffset uint64
	At, Step   uint64 // where in the buffer the first one is, and how far apart they are
	// Took is called with the time that each I/O took, also one that failed.
	Took func(time.Duration)
}

// Move does the I/Os until one does not move all its bytes. It returns how many did, and what the one behind them
// answered. The thread must be locked: a failure is in its errno.
func (f *File) Move(b *Buffer, m Moves) (done int, got int64, err error) {
	d, p := f.d, b.batch
	name, fn := "cuFileRead", d.read
	if m.Write {
		name, fn = "cuFileWrite", d.write
	}
	m.N = min(m.N, MostBatch)
	for i, v := range [...]uint64{
		uint64(fn), uint64(f.handle), uint64(b.Ptr), m.Size, m.FileOffset, m.At, m.Step, uint64(m.N), m.Size,
		uint64(d.clock), uint64(p.at(batchStamps)), uint64(d.errno), 0,
	} {
		p.put64(8*i, v)
	}
	purego.SyscallN(ioBatchAddress, p.at(0))
	done = m.N - int(p.u64(batchLeft))
	for i := range (int(p.u64(batchStamp)-uint64(p.at(batchStamps))) / 16) - 1 {
		m.Took(p.stamp(i+1) - p.stamp(i))
	}
	if done == m.N {
		return done, 0, nil
	}
	got = int64(p.u64(batchResult))
	if got >= 0 && got < int64(m.Size) {
		return done, got, fmt.Errorf("%s at %d: %d of %d bytes", name, m.FileOffset+uint64(done)*m.Size, got, m.Size)
	}
	return done, got, failure(name, got, m.Size, int64(p.u64(batchCode)))
}

// stamp is a struct timespec.
func (p *page) stamp(i int) time.Duration {
	at := batchStamps + 16*i
	return time.Duration(p.u64(at))*time.Second + time.Duration(p.u64(at+8))
}

// failure decodes what an I/O answered: -1 with an errno of the system or of cuFile (50xx), a negative number of
// cuFile, or, of an odd release, a positive one that is more than was asked for.
func failure(name string, n int64, size uint64, errno int64) error {
	switch {
	case n == -1:
		e := &Error{Call: name, Code: errno, More: "errno"}
		if errno > 0 && errno < 4096 {
			e.More = unix.ErrnoName(unix.Errno(errno)) + ", " + unix.Errno(errno).Error()
		}
		return e
	case n < 0:
		return &Error{Call: name, Code: -n}
	}
	return &Error{Call: name, Code: n, More: fmt.Sprintf("%d bytes were asked for", size)}
}
