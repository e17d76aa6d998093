package facts

import "strings"

// FileSystem is what is known of the file system of a run's file.
type FileSystem int

const (
	FSNotTold   FileSystem = iota
	FSLustre               // on a Lustre mount that was seen
	FSOther                // on a mount of another type that was seen
	FSElsewhere            // below no Lustre mount that was seen, and what it is on was not seen
)

// fileSystemOf tells it by the mount tables and the df that were seen.
func fileSystemOf(m Known[MountTable], r Run) FileSystem {
	if !strings.HasPrefix(r.File, "/") {
		return FSNotTold
	}
	if !m.OK {
		return FSNotTold
	}
	mt, ok := m.V.At(r.File)
	switch {
	case ok && mt.Type == "lustre":
		return FSLustre
	case ok && mt.Type == "autofs":
		return FSNotTold
	case ok && mt.Dir != "/" && mt.Type != "" && mt.Type != "overlay":
		return FSOther
	case len(m.V.OfType("lustre")) > 0:
		return FSElsewhere
	}
	return FSNotTold
}

// overLustre leaves out runs on files that are not on Lustre: they send nothing over LNet. A window with no other
// runs tells nothing of the wire.
func overLustre[T any](in *In, ws []Window[T]) []Window[T] {
	var out []Window[T]
	m := Use(in, Mounts)
	for _, w := range ws {
		var runs []Run
		for _, r := range w.Runs {
			if f := fileSystemOf(m, r); f != FSOther && f != FSElsewhere {
				runs = append(runs, r)
			}
		}
		if len(w.Runs) > 0 && len(runs) == 0 {
			continue
		}
		if len(runs) < len(w.Runs) {
			w.Runs = runs
			w.Phase = phaseOf(runs)
		}
		out = append(out, w)
	}
	return out
}

// OffLustre tells that all that is known to have been moved is on file systems that were seen to be none of Lustre's.
var OffLustre = Define("runs-off-lustre", []string{"mounts"}, func(in *In) Known[bool] {
	n, m := 0, Use(in, Mounts)
	for _, r := range Use(in, Runs).V {
		if !r.GDS || !r.Moved() {
			continue
		}
		if fileSystemOf(m, r) != FSOther {
			return Have(false)
		}
		n++
	}
	return Have(n > 0)
})
