//go:build !nocufile

package cufile

import (
	"fmt"
	"strconv"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Driver is libcufile.
type Driver struct {
	lib         *library
	read, write uintptr
	clock       uintptr // clock_gettime
	errno       uintptr // __errno_location: purego itself returns no errno on Linux
	p           *page
	// Version is 1000·major + 10·minor, 0 where the library has no such function (before 1.8).
	Version int32
}

// Load loads libcufile.
func Load(path string) (*Driver, error) {
	lib, err := load(path)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	p, err := newPage(16 << 10)
	if err != nil {
		return nil, err
	}
	d := &Driver{lib: lib, p: p, read: lib.has("cuFileRead"), write: lib.has("cuFileWrite")}
	if d.read == 0 || d.write == 0 || lib.has("cuFileDriverOpen") == 0 {
		return nil, fmt.Errorf("load %s: it is no libcufile", path)
	}
	if d.clock, err = purego.Dlsym(purego.RTLD_DEFAULT, "clock_gettime"); err != nil {
		return nil, err
	}
	d.errno, _ = purego.Dlsym(purego.RTLD_DEFAULT, "__errno_location")
	if d.status("cuFileGetVersion", p.at(0)) == nil {
		d.Version = int32(p.u32(0))
	}
	return d, nil
}

// status calls a function that returns CUfileError_t; one that the library lacks is an error without a code.
func (d *Driver) status(name string, args ...uintptr) error {
	f := d.lib.has(name)
	if f == 0 {
		return &Error{Call: name, Code: 0, More: "this libcufile has no such function"}
	}
	e, cu := call(f, args...)
	switch {
	case e == 5011:
		return &Error{Call: name, Code: int64(e), More: fmt.Sprintf("CUDA error %d", cu)}
	case e != 0:
		return &Error{Call: name, Code: int64(e)}
	}
	return nil
}

// Open opens the driver, with statistics of every I/O where the library has them (1.15).
func (d *Driver) Open() error {
	early := d.status("cuFileSetStatsLevel", 3)
	if err := d.status("cuFileDriverOpen"); err != nil {
		return err
	}
	if early != nil {
		_ = d.status("cuFileSetStatsLevel", 3)
	}
	_ = d.status("cuFileStatsStart")
	return nil
}

// Close closes it.
func (d *Driver) Close() error {
	if d.lib.has("cuFileDriverClose_v2") != 0 {
		return d.status("cuFileDriverClose_v2")
	}
	return d.status("cuFileDriverClose")
}

// Effective reads back what the library goes by; a release before 1.14 tells nothing.
func (d *Driver) Effective() map[string]string {
	out := map[string]string{}
	for number, name := range map[uintptr]string{1: "allow_compat_mode", 2: "force_compat_mode", 7: "use_pci_p2pdma", 9: "force_odirect_mode"} {
		d.p.put32(0, 0)
		if d.status("cuFileGetParameterBool", number, d.p.at(0)) == nil {
			out[name] = strconv.FormatBool(d.p.b[0] != 0)
		}
	}
	return out
}

// NVFS is the version of nvidia-fs that the library found; 0.0 where it is not loaded.
func (d *Driver) NVFS() (string, bool) {
	if d.status("cuFileDriverGetProperties", d.p.at(0)) != nil {
		return "", false
	}
	return fmt.Sprintf("%d.%d", d.p.u32(0), d.p.u32(4)), true
}

// File is a registered file.
type File struct {
	d      *Driver
	handle uintptr
}

// Register registers an open file.
func (d *Driver) Register(fd int) (*File, error) {
	clear(d.p.b[:64])
	d.p.put32(8, 1) // CU_FILE_HANDLE_TYPE_OPAQUE_FD
	d.p.put32(16, uint32(fd))
	if err := d.status("cuFileHandleRegister", d.p.at(0), d.p.at(8)); err != nil {
		return nil, err
	}
	return &File{d, uintptr(d.p.u64(0))}, nil
}

// Release takes the registration back.
func (f *File) Release() {
	if fn := f.d.lib.has("cuFileHandleDeregister"); fn != 0 {
		purego.SyscallN(fn, f.handle)
	}
}

// RegisterBuffer pins memory of a GPU for direct I/O.
func (d *Driver) RegisterBuffer(b *Buffer) error {
	return d.status("cuFileBufRegister", b.Ptr, uintptr(b.Size), 0)
}

// ReleaseBuffer takes it back.
func (d *Driver) ReleaseBuffer(b *Buffer) { _ = d.status("cuFileBufDeregister", b.Ptr) }

// Stats are the library's own counts of this process. There is more room than the structure of 1.15 takes (5000 bytes).
func (d *Driver) Stats() (Counts, error) {
	const size = 8 << 10
	clear(d.p.b[:size])
	if err := d.status("cuFileGetStatsL3", d.p.at(0)); err != nil {
		return Counts{}, err
	}
	return parseL3(d.p.b[:size], d.Version)
}

func addr(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }
