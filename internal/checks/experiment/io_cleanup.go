package experiment

import (
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "io-cleanup",
	Title:  "The experiment left nothing behind",
	Why:    "Test files take room, and a switch that stays on costs every later I/O a little.",
	Source: "gdsproof's own record of what it changed",
	Step:   4,
	Needs:  []facts.Need{facts.Cleanup.Must()},
	Fix: []check.Fix{{
		Text:     "remove what is named, once no gdsproof of another node is at work there; the next gdsproof prove on this node tries again by itself",
		Commands: []string{"ls -la FOLDER", "rm -r FOLDER"},
		Changes:  "removes test files",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		c := check.Get(v, facts.Cleanup)
		foreign := ""
		if len(c.Foreign) > 0 {
			foreign = "; test folders of other runs were seen and left alone: " + strings.Join(c.Foreign, ", ")
		}
		if len(c.Earlier) > 0 {
			foreign = "; put in order for an earlier run that had died: " + strings.Join(c.Earlier, ", ") + foreign
		}
		if len(c.Left) > 0 {
			return []check.Finding{check.With(check.Warn("left behind: %s", strings.Join(c.Left, ", ")+foreign), check.Quote(facts.CleanupSource, strings.Join(c.Left, "\n")))}
		}
		if len(c.Removed) == 0 {
			return []check.Finding{check.Pass("nothing had to be removed%s", foreign)}
		}
		return []check.Finding{check.Pass("removed: %s%s", strings.Join(c.Removed, ", "), foreign)}
	},
})
