package witness

import (
	"fmt"

	"gdsproof/internal/facts"
)

// CaseNow is the case of a node as far as its evidence tells it; NotApplicable is left to who knows the checks.
var CaseNow = facts.Define("case", nil, func(in *facts.In) facts.Known[Case] {
	var c Case
	q, efa := facts.Use(in, facts.Question), facts.Use(in, facts.EFAQuestion)
	c.EFA = q.V.Is == facts.Yes && efa.V.Is != facts.No && !facts.Use(in, facts.OffLustre).V
	c.WritesAllowed = writesAllowed(in)
	moved, failed := false, ""
	plan := facts.Use(in, facts.Experiment)
	for _, r := range facts.Use(in, facts.Runs).V {
		moved = moved || r.Moved()
		if plan.OK && r.Phase != facts.PhaseStrict && r.Phase != facts.PhaseWhy && r.Phase != facts.PhaseControl && r.Failed != "" && gdsReasons[r.Code.V] == "" && !facts.RefusedFile(r.Failed) {
			c.Failed = append(c.Failed, fmt.Sprintf("GPU %s, %s: %s", r.GPU, r.Op, r.Failed))
		}
		if r.Failed != "" && failed == "" && gdsReasons[r.Code.V] == "" && !facts.RefusedFile(r.Failed) {
			failed = r.Failed
		}
	}
	for _, u := range facts.Use(in, facts.LibraryUse).V {
		moved = moved || u.Reads.Total()+u.Writes.Total()+u.Unsplit.Total() > 0
	}
	if failed == "" {
		failed = unregistered(in)
	}
	if plan.V.CannotStart != "" {
		failed = plan.V.CannotStart
	}
	if !moved {
		c.CannotMove = failed
	}
	return facts.Have(c)
})

// writesAllowed tells whether the evidence shows gds_rdma_write_support to be on. libcufile's built-in value is on
// too, but what it reads in the end only its report or its file tells.
func writesAllowed(in *facts.In) bool {
	const key = "properties.gds_rdma_write_support"
	if p := facts.Use(in, facts.Platform); p.OK {
		if b := p.V.Bool(key); b.OK {
			return b.V
		}
	}
	c := facts.Use(in, facts.CufileConfig)
	if !c.OK || !c.V.Etc.Read && c.V.Named == nil {
		return false
	}
	v, ok := c.V.Effective(key, "")
	return ok && v.Value == "true"
}

// unregistered finds a file that libcufile could not register for a reason that forbids any I/O, compat mode or not:
// without udev's database it is 5027 or 5030.
func unregistered(in *facts.In) string {
	for _, f := range facts.Use(in, facts.Unregistered).V {
		return f
	}
	return ""
}
