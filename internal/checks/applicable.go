package checks

import (
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
)

// NotApplicable says why GDS cannot be asked for at all on this machine, or "".
func NotApplicable(t *facts.Table) string {
	if n := facts.Get(t, evidence.Host, facts.GPUNode).V; n.Is == facts.No {
		return n.Why
	}
	return ""
}
