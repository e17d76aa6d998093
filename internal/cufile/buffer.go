//go:build !nocufile

package cufile

// Buffer is a thread's memory on a GPU, with a stream for what is done to it beside I/O.
type Buffer struct {
	d      *Device
	k      *Kernels // nil: the pattern is made and compared by the CPU
	Ptr    uintptr
	Size   uint64
	stream uintptr
	done   uintptr // an event behind what was begun: waiting for it sleeps, where waiting for a stream would spin
	result uintptr // on the GPU: bytes that differ, and the first one's offset
	args   *page
	batch  *page // of Move
}

// Alloc gets memory on the GPU.
func (d *Device) Alloc(size uint64, k *Kernels) (*Buffer, error) {
	p, err := newPage(4096)
	if err != nil {
		return nil, err
	}
	batch, err := newPage(4096)
	if err != nil {
		return nil, err
	}
	b := &Buffer{d: d, k: k, Size: size, args: p, batch: batch}
	if err := d.c.call("cuMemAlloc", p.at(0), uintptr(size)); err != nil {
		return nil, err
	}
	b.Ptr = uintptr(p.u64(0))
	if err := d.c.call("cuStreamCreate", p.at(0), 1); err != nil { // not blocked by the default stream
		return nil, err
	}
	b.stream = uintptr(p.u64(0))
	if d.c.call("cuEventCreate", p.at(0), eventBlocking|eventNoTiming) == nil {
		b.done = uintptr(p.u64(0))
	}
	if k == nil {
		return b, nil
	}
	if err := d.c.call("cuMemAlloc", p.at(0), 16); err != nil {
		return nil, err
	}
	b.result = uintptr(p.u64(0))
	p.put64(0, 0)
	p.put64(8, ^uint64(0))
	return b, d.c.call("cuMemcpyHtoD", b.result, p.at(0), 16)
}

// launch runs a kernel over words of the buffer, as many blocks as fill a GPU.
func (b *Buffer) launch(f uintptr, at, n, offset, seed uint64) error {
	p := b.args
	values := []uint64{uint64(b.Ptr) + at, n / 8, offset / 8, seed, uint64(b.result)}
	for i, v := range values {
		p.put64(1024+8*i, v)
		p.put64(2048+8*i, uint64(p.at(1024+8*i)))
	}
	blocks := min((n/8+255)/256, 1024)
	return b.d.c.call("cuLaunchKernel", f, uintptr(blocks), 1, 1, 256, 1, 1, 0, b.stream, p.at(2048), 0)
}

// Wait waits for what was begun on the buffer.
func (b *Buffer) Wait() error {
	if b.done == 0 {
		return b.d.c.call("cuStreamSynchronize", b.stream)
	}
	if err := b.d.c.call("cuEventRecord", b.done, b.stream); err != nil {
		return err
	}
	return b.d.c.call("cuEventSynchronize", b.done)
}

const (
	eventBlocking = 1
	eventNoTiming = 2
)

// Fill writes the pattern of a file's offset into a part of the buffer. host is room for the CPU's way.
func (b *Buffer) Fill(at, n, offset, seed uint64, host []byte, by func(buf []byte, offset, seed uint64)) error {
	if b.k != nil {
		if err := b.launch(b.k.fill, at, n, offset, seed); err != nil {
			return err
		}
		return b.Wait()
	}
	by(host[:n], offset, seed)
	return b.d.c.call("cuMemcpyHtoD", b.Ptr+uintptr(at), addr(host), uintptr(n))
}

// Poison overwrites a part of the buffer, so that a read that does nothing shows.
func (b *Buffer) Poison(at, n uint64) error {
	if err := b.d.c.call("cuMemsetD8Async", b.Ptr+uintptr(at), 0xa5, uintptr(n), b.stream); err != nil {
		return err
	}
	return b.Wait()
}

// Check compares a part of the buffer with the pattern of a file's offset; Wrong tells what came of it on the GPU. The
// CPU's way answers at once.
func (b *Buffer) Check(at, n, offset, seed uint64, host []byte, by func(buf []byte, offset, seed uint64) (uint64, uint64)) (wrong, first uint64, err error) {
	if b.k != nil {
		return 0, 0, b.launch(b.k.check, at, n, offset, seed)
	}
	if err := b.d.c.call("cuMemcpyDtoH", addr(host), b.Ptr+uintptr(at), uintptr(n)); err != nil {
		return 0, 0, err
	}
	wrong, first = by(host[:n], offset, seed)
	return wrong, first, nil
}

// Wrong waits for the comparisons and returns their sum.
func (b *Buffer) Wrong() (wrong, first uint64, err error) {
	if b.k == nil {
		return 0, ^uint64(0), nil
	}
	if err := b.Wait(); err != nil {
		return 0, 0, err
	}
	if err := b.d.c.call("cuMemcpyDtoH", b.args.at(0), b.result, 16); err != nil {
		return 0, 0, err
	}
	return b.args.u64(0), b.args.u64(8), nil
}
