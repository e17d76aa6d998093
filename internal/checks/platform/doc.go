// Package platform has the checks of step 3: the platform as gdscheck or libcufile's own log reports it, and cuFile's
// configuration. One file is one check.
package platform

import (
	"gdsproof/internal/check"
	"gdsproof/internal/facts"
)

var bundle = check.Fix{
	Text:     "look at the GPUs with nvidia-smi, and give the whole report to the vendor",
	Commands: []string{"nvidia-smi", "/usr/local/cuda/gds/tools/gdscheck -p"},
	Changes:  "nothing",
	Undo:     "none needed",
}

// quote cites a line of the report.
func quote(p facts.PlatformReport, text string) check.Evidence { return check.Quote(p.Source, text) }

// wantWhole is what would make a report whole.
const wantWhole = "the whole output of gdscheck -p"
