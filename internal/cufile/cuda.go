//go:build !nocufile

package cufile

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ebitengine/purego"
)

// CUDA is libcuda's driver API, as far as an I/O engine needs it.
type CUDA struct{ lib *library }

// OpenCUDA loads the driver's library and initialises it.
func OpenCUDA() (*CUDA, error) {
	lib, err := load("libcuda.so.1")
	if err != nil {
		return nil, fmt.Errorf("load libcuda.so.1: %w", err)
	}
	c := &CUDA{lib}
	return c, c.call("cuInit", 0)
}

// call calls a function by the first of its names that the library has.
func (c *CUDA) call(name string, args ...uintptr) error {
	f := c.lib.has(name+"_v2", name)
	if name == "cuInit" || name == "cuDeviceGet" {
		f = c.lib.has(name)
	}
	if f == 0 {
		return &Error{Call: name, Code: 500, CUDA: true, More: "this libcuda has no such function"}
	}
	r, _, _ := purego.SyscallN(f, args...)
	if e := int32(uint32(r)); e != 0 {
		return &Error{Call: name, Code: int64(e), CUDA: true, More: c.errorName(e)}
	}
	return nil
}

func (c *CUDA) errorName(e int32) string {
	f := c.lib.has("cuGetErrorName")
	p, err := newPage(4096)
	if f == 0 || err != nil {
		return ""
	}
	defer p.free()
	if r, _, _ := purego.SyscallN(f, uintptr(uint32(e)), p.at(0)); r != 0 || p.u64(0) == 0 {
		return ""
	}
	return stringAt(uintptr(p.u64(0)))
}

// Device is a GPU with its primary context.
type Device struct {
	c          *CUDA
	id         uintptr
	ctx        uintptr
	UUID       string
	Name       string
	FreeMemory uint64
	AllMemory  uint64
	// Exclusive: one process alone may use it.
	Exclusive bool
	ByPCI     bool // found by its bus address: its UUID is another, as under MIG
}

const (
	attrComputeMode   = 20
	computeProhibited = 2
	computeExclusive  = 3
)

// Find opens a GPU: by UUID, else by bus address, else by its number.
func (c *CUDA) Find(uuid, pci string, index int) (*Device, error) {
	p, err := newPage(4096)
	if err != nil {
		return nil, err
	}
	defer p.free()
	if err := c.call("cuDeviceGetCount", p.at(0)); err != nil {
		return nil, err
	}
	n := int(int32(p.u32(0)))
	d := &Device{c: c}
	found := false
	for i := range n {
		if c.call("cuDeviceGet", p.at(0), uintptr(i)) != nil {
			continue
		}
		id := uintptr(p.u32(0))
		if c.call("cuDeviceGetUuid", p.at(16), id) != nil {
			continue
		}
		if u := uuidOf(p.b[16:32]); uuid != "" && strings.EqualFold(u, uuid) {
			found, d.id = true, id
		}
	}
	if !found && pci != "" {
		p.putString(64, pci)
		if c.call("cuDeviceGetByPCIBusId", p.at(0), p.at(64)) == nil {
			found, d.id, d.ByPCI = true, uintptr(p.u32(0)), uuid != ""
		}
	}
	if !found {
		if uuid != "" || pci != "" {
			return nil, fmt.Errorf("CUDA does not see GPU %d (%s): it sees %d", index, strings.TrimSpace(uuid+" "+pci), n)
		}
		if index >= n {
			return nil, fmt.Errorf("CUDA sees %d GPUs, and there is no number %d", n, index)
		}
		if err := c.call("cuDeviceGet", p.at(0), uintptr(index)); err != nil {
			return nil, err
		}
		d.id = uintptr(p.u32(0))
	}
	if c.call("cuDeviceGetUuid", p.at(16), d.id) == nil {
		d.UUID = uuidOf(p.b[16:32])
	}
	if c.call("cuDeviceGetName", p.at(256), 128, d.id) == nil {
		d.Name = p.cstring(256)
	}
	mode := uint32(0)
	if c.call("cuDeviceGetAttribute", p.at(0), attrComputeMode, d.id) == nil {
		mode = p.u32(0)
	}
	d.Exclusive = mode == computeExclusive
	if mode == computeProhibited {
		return nil, fmt.Errorf("GPU %d is in compute mode Prohibited: no program may use it (nvidia-smi -c 0)", index)
	}
	if err := c.call("cuDevicePrimaryCtxRetain", p.at(0), d.id); err != nil {
		if d.Exclusive {
			return nil, fmt.Errorf("GPU %d is in compute mode Exclusive_Process and another program uses it: %w", index, err)
		}
		return nil, err
	}
	d.ctx = uintptr(p.u64(0))
	if err := d.Use(); err != nil {
		return nil, err
	}
	if c.call("cuMemGetInfo", p.at(0), p.at(8)) == nil {
		d.FreeMemory, d.AllMemory = p.u64(0), p.u64(8)
	}
	return d, nil
}

// Use makes the GPU's context the current one of this thread, which must be locked.
func (d *Device) Use() error { return d.c.call("cuCtxSetCurrent", d.ctx) }

// uuidOf prints a UUID as NVIDIA's tools do.
func uuidOf(b []byte) string {
	h := hex.EncodeToString(b)
	return "GPU-" + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
