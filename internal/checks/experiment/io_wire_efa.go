package experiment

import (
	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/report"
	"gdsproof/internal/witness"
)

var _ = check.Register(check.Check{
	ID:      "io-wire-efa",
	Title:   "The network that carried the data",
	Why:     "LNet counts messages for each interface: data of FSx for Lustre must show on the EFA interfaces and not on TCP. A mount by @tcp says nothing of it.",
	Source:  source,
	Step:    4,
	Needs:   applies.LustreNeeds(witness.Heard.Must()),
	Applies: applies.WithLustre,
	Fix: []check.Fix{{
		Text:     "find out why EFA is not used: the checks of step 2 on the node",
		Commands: []string{"gdsproof check --step 2"},
		Changes:  "nothing",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		return tell(v, witness.Wire, anyWay, row{witness.EFA: report.Pass, witness.TCP: report.Fail, witness.Still: report.Fail})
	},
})
