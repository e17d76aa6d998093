package platform

import (
	"fmt"

	"gdsproof/internal/check"
	"gdsproof/internal/facts"
)

// noLoader: what glibc's loader does not start, does not start libcufile in a program either. It is the case in images
// of musl (Alpine), and in those from scratch.
func noLoader(v check.View) (check.Finding, bool) {
	tool, end, none := check.Maybe(v, facts.ToolDoesNotStart), check.Maybe(v, facts.ChildEnd), check.Maybe(v, facts.NoLoader)
	const glibc = "use an image with glibc (Ubuntu, Rocky, NVIDIA's CUDA images): libcufile is linked with it"
	fix := []check.Fix{{Text: glibc, Commands: []string{"ls -l " + facts.Loaders[0] + " " + facts.Loaders[1], "head -n 2 /etc/os-release"}, Changes: "nothing", Undo: "none needed"}}
	f := check.Finding{}
	switch {
	case end.OK && !end.V.Started:
		f = check.With(check.Fail("a program that is linked with glibc does not start here: libcufile cannot run there either"), check.Quote(facts.CufileOpenSource, orElse(end.V.Words, "exit status 127")))
	case tool.OK && none.OK && none.V:
		f = check.With(check.Fail("gdscheck is there and does not start, for glibc's loader is missing: libcufile cannot run here either"),
			check.Quote(facts.GDSCheckSource, tool.V), check.Quote(facts.LoaderSource, "none"))
	case tool.OK:
		f = check.With(check.Warn("gdscheck is there and does not start: the loader that it names is missing"), check.Quote(facts.GDSCheckSource, tool.V))
	case none.OK && none.V:
		f = check.With(check.Warn("glibc's loader is in none of its places: programs that are linked with libcufile do not start"), check.Quote(facts.LoaderSource, "none"))
	default:
		return f, false
	}
	f.Fix = fix
	return f, true
}

// ended: libcufile ended the process that opened its driver. It may be this process alone, so it warns; a cufile.json
// that ends every process is told by cufile-config.
func ended(v check.View) (check.Finding, bool) {
	end := check.Maybe(v, facts.ChildEnd)
	if !end.OK || !end.V.Started {
		return check.Finding{}, false
	}
	how := fmt.Sprintf("exit status %d", end.V.Exit)
	if end.V.Signal != "" {
		how = end.V.Signal
	}
	line := check.Quote(facts.CufileOpenSource, how)
	if c := check.Maybe(v, facts.CufileConfig); c.OK {
		if file, refused := c.V.Refused(); refused && file.JSON.Dies {
			f := check.NotKnown("mend "+file.Path+" (cufile-config), and look again", "libcufile ended the process that opened its driver (%s), as it does over what is in %s", how, file.Path)
			return check.With(f, line), true
		}
	}
	f := check.Warn("libcufile crashed in a process that did nothing but open its driver: %s", how)
	switch {
	case end.V.Killed:
		f = check.Warn("the process that opened libcufile's driver was killed from outside (%s), as a memory limit does it", how)
	case end.V.Signal == "":
		f = check.Warn("libcufile ended a process that did nothing but open its driver: %s", how)
	}
	f.Fix = []check.Fix{{Text: "see whether gdscheck and a program of yours end in the same way, and whether they do with cufile.json as it was delivered; a libcufile that does not fit the driver crashes too",
		Commands: []string{"sudo dmesg | tail -n 20", "ldconfig -p | grep libcufile", "gdsproof check --only cufile-config,gpu-driver"}, Changes: "nothing", Undo: "none needed"}}
	return check.With(f, line), true
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
