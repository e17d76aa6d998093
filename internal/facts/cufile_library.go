package facts

import (
	"encoding/json"
	"path"
	"strings"
)

// Sources of libcufile.
const (
	GDSCheckSource        = "gdscheck -p"
	CufileLibrariesSource = "libcufile libraries"   // folded: "PATH: file=libcufile.so.1.15.1 by=ldconfig"
	CUDAInstallsSource    = "CUDA installs"         // the names in /usr/local that begin with cuda
	CufileOpenSource      = "libcufile driver open" // what the reporting child said, without the log
	CufileLogSource       = "cufile.log of an open" // the log that libcufile wrote at level INFO
	LoaderSource          = "glibc loader"          // which of Loaders are there, a line each
)

// CufileLibrary is a libcufile that a program could load.
type CufileLibrary struct {
	Path    string
	Version string // of the file's name: 1.15.1
	// By: LD_LIBRARY_PATH, ldconfig, folder (only programs that know CUDA's folders find it there), python (only
	// programs of that Python environment do).
	By string
}

// Home is the folder of the CUDA install that a library is of, "" where its path does not tell.
func (l CufileLibrary) Home() string {
	for _, inner := range []string{"/lib64/", "/targets/", "/lib/"} {
		if home, _, ok := strings.Cut(l.Path, inner); ok && strings.HasPrefix(path.Base(home), "cuda") {
			return home
		}
	}
	return ""
}

// Libraries are the libcufiles of the node, in the order in which they would be found.
var Libraries = Define("cufile-libraries", []string{"cufile-library"}, func(in *In) Known[[]CufileLibrary] {
	it := in.Item(CufileLibrariesSource)
	if !it.OK() {
		return Unknown[[]CufileLibrary](in)
	}
	var out []CufileLibrary
	for line := range strings.Lines(string(it.Out)) {
		p, rest, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		w := ParseStat([]byte(rest))
		v, _ := strings.CutPrefix(path.Base(w["file"]), "libcufile.so.")
		if v == "0" {
			v = ""
		}
		out = append(out, CufileLibrary{Path: p, Version: v, By: w["by"]})
	}
	if len(out) == 0 && it.Truncated {
		return Because[[]CufileLibrary]("the list of libcufiles was not seen whole", "ldconfig -p | grep libcufile")
	}
	return Have(out)
})

// CUDAInstalls are the CUDA folders of /usr/local, "cuda -> cuda-13.0" for a link.
var CUDAInstalls = Define("cuda-installs", []string{"cufile-library"}, func(in *In) Known[[]string] {
	it := in.Item(CUDAInstallsSource)
	if !it.OK() {
		return Unknown[[]string](in)
	}
	return Have(strings.FieldsFunc(string(it.Out), func(r rune) bool { return r == '\n' }))
})

// CufileOpen is how an open of libcufile's driver ended.
type CufileOpen struct {
	Library string `json:"library"`
	Loaded  bool   `json:"loaded"`
	Error   string `json:"error"`
	Open    *int32 `json:"open"`
	CUDA    int32  `json:"cuda"`
	Version *int32 `json:"version"`
	Noise   string `json:"noise"`
}

// DriverOpen is known where gdscheck gave no report (not there, or it does not start) and a library was found.
var DriverOpen = Define("cufile-open", []string{"gdscheck"}, func(in *In) Known[CufileOpen] {
	it := in.Item(CufileOpenSource)
	if !it.OK() {
		return Unknown[CufileOpen](in)
	}
	var o CufileOpen
	if err := json.Unmarshal(it.Out, &o); err != nil {
		return Because[CufileOpen](CufileOpenSource+": "+err.Error(), "a readable answer")
	}
	return Have(o)
})
