//go:build !nocufile

package cufile

import (
	"fmt"
	"sync"

	"github.com/ebitengine/purego"
)

// library is a shared library of which every symbol is looked up softly: older releases lack some.
type library struct {
	handle uintptr
	funcs  sync.Map // name to address
}

func load(path string) (*library, error) {
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	return &library{handle: h}, nil
}

// has finds the first of some names; 0 if the library has none.
func (l *library) has(names ...string) uintptr {
	for _, n := range names {
		known, ok := l.funcs.Load(n)
		if !ok {
			f, _ := purego.Dlsym(l.handle, n)
			l.funcs.Store(n, f)
			known = f
		}
		if f := known.(uintptr); f != 0 {
			return f
		}
	}
	return 0
}

// Flush writes out what the libraries have printed and C has not: the process ends without C's own end.
func Flush() {
	if f, err := purego.Dlsym(purego.RTLD_DEFAULT, "fflush"); err == nil {
		purego.SyscallN(f, 0)
	}
}

// Error is what a function of libcufile or libcuda answered.
type Error struct {
	Call string
	Code int64 // of cuFile (5001 …), errno, or of CUDA where CUDA is set
	CUDA bool
	More string
}

func (e *Error) Error() string {
	if e.Code == 0 {
		return e.Call + ": " + e.More
	}
	s := fmt.Sprintf("%s: %d", e.Call, e.Code)
	if e.CUDA {
		s = fmt.Sprintf("%s: CUDA error %d", e.Call, e.Code)
	}
	if e.More != "" {
		s += " (" + e.More + ")"
	}
	return s
}
