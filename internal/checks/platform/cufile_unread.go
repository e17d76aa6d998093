package platform

import (
	"gdsproof/internal/check"
	"gdsproof/internal/facts"
)

// unread: no file was read. The built-in values allow GDS, but switch off the thread pool, and whoever edits the file
// edits in vain.
//
// A report whose six telling values are the built-in ones does not show it: a file that sets other keys alone prints
// the same. So it counts only where no file was seen to be read.
func unread(v check.View, c facts.CufileSetup, p facts.Known[facts.PlatformReport]) (check.Finding, bool) {
	f := check.Warn("no cufile.json is read: libcufile runs with its built-in values (no thread pool, small I/O)")
	f.Subject = "cufile.json"
	if c.Etc.Read || c.Named != nil && c.Named.Read {
		return f, false
	}
	if p.OK && changed(p.V) {
		return f, false
	}
	file, missing := facts.CufileEtc, c.Etc.Absent && c.EnvKnown && (c.Named == nil || c.Named.Absent)
	if missing && c.Named != nil {
		f.Summary += "; CUFILE_ENV_PATH_JSON names " + c.Named.Path + ", which is not there, and libcufile says nothing of that"
	}
	f.Fix = []check.Fix{{Text: "put the file of the CUDA package in its place, or let CUFILE_ENV_PATH_JSON name it",
		Commands: []string{"ls -l " + file, "sudo cp --no-clobber " + check.ShellWord(home(v)+"/gds/cufile.json") + " " + file}, Changes: "cuFile's configuration", Undo: "sudo rm " + file}}
	if missing {
		return check.With(f, check.Quote(file, "not there")), true
	}
	builtIn, known := false, false
	if p.OK {
		builtIn, known = p.V.BuiltIn()
	}
	if !known || !builtIn {
		return f, false
	}
	evidence := []check.Evidence{quote(p.V, "max_direct_io_size_kb, max_io_threads and others have their built-in values")}
	switch {
	case c.Named != nil && !c.Named.Absent:
		return f, false // relative, or not to be read here: the program may well read it
	case c.Etc.Absent:
		return check.With(f, append(evidence, check.Quote(file, "not there"))...), true
	case !c.Etc.Denied: // a pasted report: of the files nothing is known
		return check.With(f, evidence...), true
	}
	f.Summary = "the values are the built-in ones, and " + file + " was not read here: " + c.Etc.Why
	f.Fix = []check.Fix{{Text: "see whether programs of this user may read the file",
		Commands: []string{"ls -l " + file, "sudo chmod a+r " + file}, Changes: "who may read cuFile's configuration", Undo: "the former mode, which ls printed"}}
	return check.With(f, append(evidence, check.Quote(file, c.Etc.Why))...), true
}

// namesNothing: CUFILE_ENV_PATH_JSON names a file that is not there. libcufile 1.15.1 passes over it without a word and
// goes by /etc/cufile.json: what the file was to set is not set (measured).
func namesNothing(c facts.CufileSetup) (check.Finding, bool) {
	if c.Named == nil || !c.Named.Absent {
		return check.Finding{}, false
	}
	f := check.Warn("CUFILE_ENV_PATH_JSON names %s, which is not there: libcufile says nothing of that, and goes by %s alone", c.Named.Path, facts.CufileEtc)
	f.Subject = facts.CufilePathEnv
	f.Fix = []check.Fix{unset(facts.CufilePathEnv)}
	return check.With(f, check.Quote(c.Named.Path, "not there")), true
}
