//go:build !nocufile

package cufile

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// page is memory that C may write to: Go's own may move with its stack.
type page struct{ b []byte }

func newPage(size int) (*page, error) {
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	return &page{b}, nil
}

func (p *page) free() { _ = unix.Munmap(p.b) }

// at is the address of an offset.
func (p *page) at(off int) uintptr { return uintptr(unsafe.Pointer(&p.b[off])) }

func (p *page) u32(off int) uint32          { return binary.LittleEndian.Uint32(p.b[off:]) }
func (p *page) u64(off int) uint64          { return binary.LittleEndian.Uint64(p.b[off:]) }
func (p *page) put32(off int, v uint32)     { binary.LittleEndian.PutUint32(p.b[off:], v) }
func (p *page) put64(off int, v uint64)     { binary.LittleEndian.PutUint64(p.b[off:], v) }
func (p *page) putString(off int, s string) { copy(p.b[off:], s+"\x00") }

// cstring reads a string of C's.
func (p *page) cstring(off int) string {
	for i := off; i < len(p.b); i++ {
		if p.b[i] == 0 {
			return string(p.b[off:i])
		}
	}
	return string(p.b[off:])
}
