package facts

import (
	"path"
	"slices"
	"strings"

	"gdsproof/internal/evidence"
)

// Sources of libcufile's configuration.
const (
	CufileEtc         = "/etc/cufile.json"
	CufilePathEnv     = "CUFILE_ENV_PATH_JSON"
	CallerEnvironment = "caller environment" // KEY=VALUE, a line each: what libcufile would see
)

// CufileFile is one of the two files. libcufile 1.15.1 reads both: first /etc/cufile.json, then the one that
// CUFILE_ENV_PATH_JSON names, whose keys go over the first one's. One that does not exist is passed over without a
// word; one that is a folder is refused.
type CufileFile struct {
	Path   string
	Read   bool
	Absent bool   // looked: not there
	Denied bool   // looked: may not be read
	Why    string // where it is neither
	JSON   CufileJSON
}

// CufileSetup is what decides libcufile's configuration before a program sets parameters.
type CufileSetup struct {
	Env      []string // KEY=VALUE
	EnvKnown bool
	Named    *CufileFile // nil if no file is named, or the environment is not known
	Etc      CufileFile
}

// Refused returns the file that keeps libcufile from opening its driver.
func (c CufileSetup) Refused() (CufileFile, bool) {
	for _, f := range c.files() {
		if f.Read && !f.JSON.Accepted {
			return f, true
		}
	}
	return CufileFile{}, false
}

// files in the order of their weight.
func (c CufileSetup) files() []CufileFile {
	if c.Named != nil {
		return []CufileFile{*c.Named, c.Etc}
	}
	return []CufileFile{c.Etc}
}

// Origins of a value.
const (
	CufileFromAPI     = "set by the program"
	CufileFromBuiltIn = "built-in"
)

// CufileValue is a value with where it comes from: CufileFromAPI, a variable's name, a file's path, or
// CufileFromBuiltIn.
type CufileValue struct {
	Value, Origin string
	// Sure is false where something with more weight was not seen, or where releases differ.
	Sure bool
	// Ignored is a variable whose value 1.15.1 passes over: "CUFILE_ALLOW_COMPAT_MODE=0".
	Ignored string
}

// Effective resolves a key: what the program sets (cuFileSetParameter; "" if nothing) beats the environment, that the
// files, and those the built-in values. ok is false where nothing says anything.
func (c CufileSetup) Effective(name, api string) (v CufileValue, ok bool) {
	if api != "" {
		return CufileValue{Value: api, Origin: CufileFromAPI, Sure: true}, true
	}
	key, known := CufileKeyOf(name)
	v.Sure = c.EnvKnown
	doubt := ""
	if key.Env != "" {
		if said, is := c.Variable(key.Env); is {
			value, counts := cufileVariable(key, said)
			if counts {
				return CufileValue{Value: value, Origin: key.Env, Sure: true}, true
			}
			v.Ignored = key.Env + "=" + said
			doubt = cufileWord(said)
		}
	}
	v.Value, v.Origin, ok = c.below(name, &v.Sure)
	if !ok && known && key.BuiltIn != "" {
		v.Value, v.Origin, ok = key.BuiltIn, CufileFromBuiltIn, true
	}
	if doubt != "" && doubt != v.Value {
		v.Sure = false // NVIDIA's documents promise these words, and another release may keep it
	}
	return v, ok
}

func (c CufileSetup) below(name string, sure *bool) (value, origin string, ok bool) {
	for _, f := range c.files() {
		switch {
		case f.Read && f.JSON.Accepted:
			if s, is := f.JSON.Get(name); is {
				return s.Value, f.Path, true
			}
		case !f.Absent:
			*sure = false
		}
	}
	return "", "", false
}

// Variable finds a variable of the environment.
func (c CufileSetup) Variable(name string) (string, bool) {
	for _, kv := range c.Env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// cufileVariable tells whether a value has a say. A switch takes true and false only, in any case. Any level has a
// say, and one that is none (it must be in capitals) leaves the built-in one.
func cufileVariable(key CufileKey, said string) (string, bool) {
	switch key.Kind {
	case CufileBool:
		low := lowerASCII(said)
		return low, low == "true" || low == "false"
	default:
		if slices.Contains(cufileLevels, said) {
			return said, true
		}
		return key.BuiltIn, true
	}
}

// cufileWord is what a word would mean if it counted.
func cufileWord(s string) string {
	switch lowerASCII(s) {
	case "1", "yes", "on", "y":
		return "true"
	case "0", "no", "off", "n":
		return "false"
	}
	return ""
}

// CufileConfig is libcufile's configuration for programs that the caller starts.
var CufileConfig = Define("cufile-config", []string{"cufile-config"}, func(in *In) Known[CufileSetup] {
	var c CufileSetup
	if it := in.Item(CallerEnvironment); it.Complete() {
		c.EnvKnown = true
		for line := range strings.Lines(string(it.Out)) {
			c.Env = append(c.Env, strings.TrimSuffix(line, "\n"))
		}
	}
	if p, ok := c.Variable(CufilePathEnv); ok && p != "" {
		f := CufileFile{Path: p, Why: p + " is relative to the folder that a program runs in"}
		if path.IsAbs(p) {
			f = cufileFile(in, p)
		}
		c.Named = &f
	}
	c.Etc = cufileFile(in, CufileEtc)
	if !c.EnvKnown && !c.Etc.Read && !c.Etc.Absent {
		return Unknown[CufileSetup](in)
	}
	return Have(c)
})

func cufileFile(in *In, p string) CufileFile {
	it := in.Item(p)
	f := CufileFile{Path: p}
	switch {
	case it.Complete():
		f.Read, f.JSON = true, ParseCufileJSON(it.Out)
		f.JSON.paths(in)
	case it != nil && it.State == evidence.Absent:
		f.Absent = true
	case it.OK():
		f.Why = p + ": not the whole file"
	default:
		f.Denied = it != nil && it.State == evidence.Denied
		f.Why, _ = missing(p, it)
	}
	return f
}

// paths refuses a file for a path in it that is not there, where somebody looked.
func (c *CufileJSON) paths(in *In) {
	for _, s := range c.NamedPaths() {
		if it := in.Item(evidence.StatfsSource(s.Value)); c.Accepted && it != nil && it.State == evidence.Absent {
			c.Accepted, c.Line, c.Reason = false, s.Line, s.Name+" names "+short(s.Value)+", which is not there"
		}
	}
}
