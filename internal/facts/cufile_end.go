package facts

import (
	"regexp"
	"strings"

	"gdsproof/internal/evidence"
)

// Loaders are the paths of glibc's program loader, which are fixed in every program that is linked with it.
var Loaders = []string{"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"}

// NoLoader tells that none of Loaders is there.
var NoLoader = Define("glibc-loader", []string{"cufile-library"}, func(in *In) Known[bool] {
	it := in.Item(LoaderSource)
	if !it.Complete() {
		return Unknown[bool](in)
	}
	return Have(len(strings.TrimSpace(string(it.Out))) == 0)
})

// CufileEnd is how the child ended that opened libcufile's driver and left no answer: within the library, or before
// it could begin.
type CufileEnd struct {
	Signal  string // "signal 11 (segmentation fault)"; "SIGSEGV: segmentation violation" where Go caught it
	Killed  bool   // by a signal that nothing sends to itself
	Exit    int    // where no signal ended it
	Started bool   // false: its loader, or a library that every program needs, is missing
	Words   string // what is known besides
}

var endedBySignal = regexp.MustCompile(`ended by signal (\d+) \([^)\n]*\)`)

// goCaught is the first line of what Go prints of a signal within C code; it then ends the process with status 2.
var goCaught = regexp.MustCompile(`(?m)^SIG[A-Z]+: [a-z ]+`)

// ChildEnd is known where the child ended without an answer and the way in which it ended tells why. A child that was
// not let run, or did not end in time, tells nothing of the library.
var ChildEnd = Define("cufile-child-end", []string{"gdscheck"}, func(in *In) Known[CufileEnd] {
	it := in.Item(CufileOpenSource)
	if it == nil || it.Stuck != 0 {
		return Unknown[CufileEnd](in)
	}
	words := string(it.Err)
	e := CufileEnd{Started: true}
	signal := endedBySignal.FindStringSubmatch(words)
	switch {
	case it.State == evidence.Absent && it.Errno == "ENOENT":
		e.Started, e.Words = false, strings.TrimSpace(words)
	case it.State != evidence.Failed:
		return Unknown[CufileEnd](in)
	case signal != nil:
		e.Signal, e.Killed = strings.TrimPrefix(signal[0], "ended by "), signal[1] == "9" || signal[1] == "15"
	case it.Exit == nil, strings.Contains(words, "GLIBC_"): // this program's own trouble with an older glibc
		return Unknown[CufileEnd](in)
	case *it.Exit == 127:
		e.Started, e.Exit = false, 127
		e.Words, _ = GDSLoadError(it.Err)
	case *it.Exit > 128 && *it.Exit < 128+65: // as a shell tells it
		e.Signal, e.Killed = "signal "+itoa(*it.Exit-128), *it.Exit == 128+9 || *it.Exit == 128+15
	default:
		e.Exit, e.Signal = *it.Exit, goCaught.FindString(words)
	}
	return Have(e)
})

// ToolDoesNotStart is what the system says where gdscheck is there and cannot be executed: the loader that it names
// is not there.
var ToolDoesNotStart = Define("gdscheck-start", []string{"gdscheck"}, func(in *In) Known[string] {
	it := in.Item(GDSCheckSource)
	if it != nil && it.State == evidence.Absent && it.Errno == "ENOENT" && it.Origin != "" {
		return Have(strings.TrimSpace(string(it.Err)))
	}
	return Unknown[string](in)
})

// CUDAHome is the folder of the CUDA install whose gdscheck was asked; without the tools, that of the libcufile which
// programs find. A pasted output tells neither.
var CUDAHome = Define("cuda-home", []string{"gdscheck", "cufile-library"}, func(in *In) Known[string] {
	if it := in.Item(GDSCheckSource); it != nil {
		if home, ok := strings.CutSuffix(it.Origin, "/gds/tools/gdscheck -p"); ok && strings.HasPrefix(home, "/") {
			return Have(home)
		}
	}
	for _, l := range Use(in, Libraries).V {
		if home := l.Home(); home != "" {
			return Have(home)
		}
	}
	return Unknown[string](in)
})

// NoTools tells that gdscheck was looked for and is in none of CUDA's folders.
var NoTools = Define("gdscheck-missing", []string{"gdscheck"}, func(in *In) Known[bool] {
	it := in.Item(GDSCheckSource)
	switch {
	case it == nil || it.State == evidence.NotCollected:
		return Unknown[bool](in)
	case it.State == evidence.Absent && it.Origin == "":
		return Have(true)
	}
	return Have(false)
})
