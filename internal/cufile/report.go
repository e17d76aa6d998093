//go:build !nocufile

package cufile

import (
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Built tells that this program can load libcufile at all.
const Built = true

// maxLog caps what is kept of the log and of the noise; at level INFO an open writes some ten kilobytes.
const (
	maxLog   = 1 << 20
	maxNoise = 64 << 10
	maxFile  = 8 << 20 // what the library may write into a file: it is not trusted with the disk
)

// ReportMain is the body of the reporting child: args are the library's path or name, and in the second life of the
// process the files that the log and the noise go to.
//
// The two variables that send the log here must be in the environment from the start of the process: what Go sets
// later, C does not see without cgo. So the child starts itself anew, in its own place. The rest of the environment
// is the caller's, since that is what is judged; the environment goes before cufile.json.
func ReportMain(args []string) int {
	switch len(args) {
	case 1:
		err := again(args[0])
		return fail(os.Stdout, Report{Library: args[0], Trouble: err.Error()})
	case 3:
		runtime.LockOSThread()
		signal.Ignore(syscall.SIGXFSZ)
		// The library's stderr goes to a file; what Go says of a crash within it goes to the one that who started this reads.
		_ = debug.SetCrashOutput(os.Stderr, debug.CrashOptions{})
		out, err := quiet(args[2])
		if err != nil {
			return fail(os.Stdout, Report{Library: args[0], Trouble: err.Error()})
		}
		r := open(args[0])
		r.Log, r.Noise = plain(head(args[1], maxLog)), plain(head(args[2], maxNoise))
		return fail(out, r)
	}
	return 2
}

// again replaces the process by itself; it returns only if that fails. The files lie in the current folder, which is
// a private one of the program that started this.
func again(library string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	log, noise := filepath.Join(dir, "cufile.log"), filepath.Join(dir, "cufile.noise")
	env := []string{"CUFILE_LOGFILE_PATH=" + log, "CUFILE_LOGGING_LEVEL=INFO"}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "CUFILE_LOGFILE_PATH=") && !strings.HasPrefix(kv, "CUFILE_LOGGING_LEVEL=") {
			env = append(env, kv)
		}
	}
	// Inherited by the second life, which ignores the signal: beyond it a write fails, and that is all.
	_ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: maxFile, Max: maxFile})
	return syscall.Exec(self, []string{"gdsproof", ReportVerb, library, log, noise}, env)
}

// fail writes the report; a report of a failure is a result like any other.
func fail(w io.Writer, r Report) int {
	if json.NewEncoder(w).Encode(r) != nil {
		return 1
	}
	return 0
}

// quiet sends stdout and stderr to a file, since libcufile prints there, and returns the former stdout.
func quiet(file string) (*os.File, error) {
	keep, err := syscall.Dup(1)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(keep)
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	for _, fd := range []int{1, 2} {
		if err := syscall.Dup3(int(f.Fd()), fd, 0); err != nil {
			return nil, err
		}
	}
	return os.NewFile(uintptr(keep), "stdout"), nil
}

// version is filled by C; a package variable does not move.
var version int32

// open loads the library, opens its driver and closes it again. Every symbol is looked up softly: old releases lack
// some.
func open(library string) Report {
	r := Report{Library: library}
	lib, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		r.Error = err.Error()
		return r
	}
	r.Loaded = true
	if f, err := purego.Dlsym(lib, "cuFileGetVersion"); err == nil {
		if e, _ := call(f, uintptr(unsafe.Pointer(&version))); e == 0 {
			v := version
			r.Version = &v
		}
	}
	f, err := purego.Dlsym(lib, "cuFileDriverOpen")
	if err != nil {
		r.Error = err.Error()
		return r
	}
	e, cu := call(f)
	r.Open, r.CUDA = &e, cu
	if e != 0 {
		return r
	}
	for _, name := range []string{"cuFileDriverClose_v2", "cuFileDriverClose"} {
		if f, err := purego.Dlsym(lib, name); err == nil {
			call(f)
			break
		}
	}
	return r
}

// call calls a function that returns CUfileError_t, a struct of two ints that comes back in one register: err in
// the low half, cu_err in the high one (System V x86-64 and AAPCS64).
func call(f uintptr, args ...uintptr) (err, cu int32) {
	v, _, _ := purego.SyscallN(f, args...)
	return int32(uint32(v)), int32(uint32(uint64(v) >> 32))
}

// plain leaves a control character out: each would be six characters in JSON, and none belongs in a log.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

func head(file string, most int64) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, most))
	return string(b)
}
