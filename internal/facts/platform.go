package facts

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gdsproof/internal/evidence"
)

// PlatformReport is the platform report, whichever way it was had, with its source.
type PlatformReport struct {
	GDSReport
	Source string
	// Partial: lines were chosen by a filter, so a line that is not there may have been left out.
	Partial bool
}

// Platform is the report of gdscheck, or the same report out of libcufile's log.
var Platform = Define("platform-report", []string{"gdscheck"}, func(in *In) Known[PlatformReport] {
	if g := Use(in, GDSCheck); g.OK {
		it := in.Item(GDSCheckSource)
		return Have(PlatformReport{GDSReport: g.V, Source: GDSCheckSource, Partial: it == nil || it.Form != evidence.Whole})
	}
	if it := in.Item(CufileLogSource); it.OK() {
		if r, ok, err := ParseGDSCheckInLog(bytes.NewReader(it.Out)); ok && err == nil {
			return Have(PlatformReport{GDSReport: r.GDSReport, Source: CufileLogSource, Partial: it.Form != evidence.Whole})
		}
	}
	return Unknown[PlatformReport](in)
})

// StorageRows are the rows of the platform report that speak of the file system in question; without any, the file
// system is not known.
type StorageRows struct {
	What string   // "Lustre", "NFS (nfs4 on /data)"
	Rows []string // one of them has to be direct
}

// rowsOfType: which rows of the report speak of a mounted type.
var rowsOfType = map[string][]string{
	"lustre": {"DDN EXAScaler", "FSx Lustre"}, "nfs": {"NFS"}, "nfs4": {"NFS"}, "wekafs": {"WekaFS"}, "beegfs": {"BeeGFS"},
	"gpfs": {"IBM Spectrum Scale"}, "virtiofs": {"VIRTIOFS"}, "scatefs": {"ScaTeFS"},
}

// RowsInQuestion are the rows to look at: those of --fs, else those of Lustre where it is in question, else those of
// a distributed file system that is mounted. A local disk's type is on every machine and tells nothing.
var RowsInQuestion = Define("storage-rows", Sources(Question.Sources, []string{"mounts"}), func(in *In) Known[StorageRows] {
	o, m := Use(in, Asked), Use(in, Mounts)
	if o.OK && o.V.FS != "" && m.OK {
		if mt, ok := m.V.At(o.V.FS); ok && (mt.Dir != "/" || o.V.FS == "/") {
			if rows, ok := rowsOfType[mt.Type]; ok {
				return Have(StorageRows{fmt.Sprintf("%s on %s", mt.Type, mt.Dir), rows})
			}
			if strings.HasPrefix(mt.Source, "/dev/nvme") || strings.HasPrefix(mt.Source, "/dev/md") {
				return Have(StorageRows{fmt.Sprintf("%s on %s, on %s", mt.Type, mt.Dir, mt.Source), []string{"NVMe", "NVMeOF", "NVMe P2PDMA"}})
			}
			return Have(StorageRows{What: fmt.Sprintf("%s on %s, on %s, for which the report has no row", mt.Type, mt.Dir, mt.Source)})
		}
	}
	q := Use(in, Question)
	if q.OK && q.V.Is == Yes {
		return Have(StorageRows{"Lustre", rowsOfType["lustre"]})
	}
	if m.OK {
		for _, typ := range []string{"wekafs", "gpfs", "beegfs", "scatefs"} {
			if l := m.V.OfType(typ); len(l) > 0 {
				return Have(StorageRows{fmt.Sprintf("%s on %s", typ, l[0].Dir), rowsOfType[typ]})
			}
		}
	}
	return Have(StorageRows{})
})

// NVFSQuestion tells whether nvidia-fs is asked for: on a GPU node, unless its storage is reached by PCI P2PDMA or
// C2C alone, which need no driver of their own.
var NVFSQuestion = Define("nvidia-fs-question", Sources(GPUNode.Sources, RowsInQuestion.Sources, []string{"gdscheck"}), func(in *In) Known[Scope] {
	n := Use(in, GPUNode)
	if !n.OK || n.V.Is != Yes {
		return n
	}
	if d := Use(in, Driving); d.OK {
		return n
	}
	p, rows := Use(in, Platform), Use(in, RowsInQuestion)
	if !p.OK || rows.V.What == "Lustre" || strings.HasPrefix(rows.V.What, "lustre") {
		return n
	}
	// A report that was not seen to its end may yet name P2PDMA or C2C, which need no nvidia-fs.
	if in.Pasted() && p.V.UnloadedSpoken && (p.V.Partial || !p.V.Whole(GDSDriver) || !p.V.Whole(GDSConfig)) {
		return Have(Scope{CannotTell, "the whole output of gdscheck -p: it may name a path that needs no nvidia-fs"})
	}
	look := rows.V.Rows
	if rows.V.What == "" {
		look = nil
		for _, r := range p.V.Rows {
			look = append(look, r.Name)
		}
	}
	on := p.V.Bool("properties.use_pci_p2pdma")
	for _, name := range look {
		r, ok := p.V.Row(name)
		switch {
		case !ok || !r.Direct() || r.Has("nvfs"):
		case r.Has("c2c"):
			return Have(Scope{No, "the storage is reached by C2C (" + r.Name + " : " + r.Value + "), which needs no nvidia-fs"})
		case (r.Has("p2pdma") || r.Name == "NVMe P2PDMA") && on.OK && on.V:
			return Have(Scope{No, "the storage is reached by PCI P2PDMA (" + r.Name + " : " + r.Value + "), which needs no nvidia-fs"})
		}
	}
	return n
})

// ToolTrouble is what the loader says where gdscheck does not start for a symbol that libcufile lacks: tool and
// library are of different CUDA versions. "" is no such trouble.
var ToolTrouble = Define("gdscheck-loader", []string{"gdscheck"}, func(in *In) Known[string] {
	it := in.Item(GDSCheckSource)
	if !it.OK() {
		return Unknown[string](in)
	}
	words, _ := GDSLoadError(append(append([]byte(nil), it.Err...), it.Out...))
	return Have(words)
})

// OtherPath is a path that the evidence offers besides nvidia-fs, in whatever part of a report it stands: where there
// is one, still counters of nvidia-fs do not mean the CPU.
var OtherPath = Define("other-path", []string{"gdscheck"}, func(in *In) Known[string] {
	reports := []GDSReport{}
	for _, i := range in.looks(GDSCheckSource) {
		reports = append(reports, ParseGDSCheck(in.item(i).Out))
	}
	if p := Use(in, Platform); p.OK {
		reports = append(reports, p.V.GDSReport)
	}
	for _, r := range reports {
		if b := r.Bool("properties.use_pci_p2pdma"); b.OK && b.V {
			return Have("PCI P2PDMA is configured")
		}
		lustre := Use(in, Question).V.Is == Yes
		for _, row := range r.Rows {
			switch {
			case lustre && !slices.Contains(rowsOfType["lustre"], row.Name): // another storage's path carries nothing of Lustre
			case row.Has("c2c"):
				return Have("C2C is offered (" + row.Name + ")")
			case row.Has("p2pdma") && !networked(row.Name), row.Name == "NVMe P2PDMA" && row.Direct():
				return Have("PCI P2PDMA is offered (" + row.Name + ")")
			}
		}
	}
	return Because[string]("nothing seen offers another path than nvidia-fs", "the whole output of gdscheck -p")
})
