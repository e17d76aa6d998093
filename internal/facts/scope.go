package facts

import (
	"fmt"
	"strconv"
)

// Answer of a question that may have none.
type Answer int

const (
	CannotTell Answer = iota
	No
	Yes
)

// Scope tells whether something is in question here, and by what sign; where it cannot be told, Why is what would
// tell it.
type Scope struct {
	Is  Answer
	Why string
}

// Question is what the run is about. The user's --fs decides; without it any sign of Lustre does. Where neither
// speaks, and something that would have was not looked at, it cannot be told.
var Question = Define("question", []string{"mounts", "modules", "identity"}, func(in *In) Known[Scope] {
	o := Use(in, Asked)
	m := Use(in, Mounts)
	if o.OK && o.V.FS != "" && m.OK {
		if mt, ok := m.V.At(o.V.FS); ok && (mt.Dir != "/" || mt.Type == "lustre") {
			if mt.Type == "lustre" {
				return Have(Scope{Yes, fmt.Sprintf("%s is a lustre mount", mt.Dir)})
			}
			return Have(Scope{No, fmt.Sprintf("%s is on %s, not on lustre", o.V.FS, mt.Type)})
		}
		// A folder of the root file system may be a mount point that is not mounted: other signs decide.
	}
	if m.OK {
		if l := m.V.OfType("lustre"); len(l) > 0 {
			return Have(Scope{Yes, l[0].Dir + " is a lustre mount"})
		}
	}
	mods := Use(in, KernelModules)
	if mods.OK {
		for _, n := range []string{"lustre", "lnet"} {
			if mod, ok := mods.V.Get(n); ok {
				return Have(Scope{Yes, "the module " + mod.Name + " is loaded"})
			}
		}
	}
	t := Use(in, InstanceType)
	if t.OK {
		if i, ok := in.Profile().Instance(t.V); ok && i.GDS {
			return Have(Scope{Yes, "AWS offers Lustre GDS over EFA on " + t.V})
		}
	}
	if m.OK && mods.OK && (mods.V.Complete || mods.V.NoModules) {
		return Have(Scope{No, "no Lustre mount and no Lustre module; name one with --fs if it should be"})
	}
	return Have(Scope{CannotTell, "whether Lustre is used: the mount table and the loaded modules, or --fs"})
})

func itoa(n int) string { return strconv.Itoa(n) }
