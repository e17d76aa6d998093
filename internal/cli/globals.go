package cli

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"gdsproof/internal/facts"
	"gdsproof/internal/profile"
)

// globals are the flags that every verb has.
type globals struct {
	outputs      []string
	node         string
	profilePath  string
	minNVFS      string
	efaCount     int
	instanceType string
	timeout      time.Duration
	exitStyle    string
	failOnWarn   bool
	color        string
	verbose      bool
	quiet        bool
	saveEvidence string
}

func (g *globals) register(f *pflag.FlagSet) {
	f.StringArrayVarP(&g.outputs, "output", "o", nil, "output format: text or json; FORMAT=FILE writes to a file; can be given several times")
	f.StringVar(&g.node, "node", "live", "live, or sim:NAME[,FAULT...] (see gdsproof sim list)")
	f.StringVar(&g.profilePath, "profile", "", "file whose rows replace those of the built-in profile (default "+profile.DefaultPath+" if it is there)")
	f.StringVar(&g.minNVFS, "min-nvidia-fs", "", "least version of nvidia-fs, instead of the profile's")
	f.IntVar(&g.efaCount, "efa-count", 0, "number of EFA interfaces that LNet should have, instead of the profile's")
	f.StringVar(&g.instanceType, "instance-type", "", "instance type, instead of what the firmware says")
	f.DurationVar(&g.timeout, "timeout", 30*time.Second, "longest time that looking may take")
	f.StringVar(&g.exitStyle, "exit-style", "native", "exit statuses: "+strings.Join(exitStyles, ", "))
	f.BoolVar(&g.failOnWarn, "fail-on-warn", false, "exit with 4 if there are only warnings (native style)")
	f.StringVar(&g.color, "color", "auto", "auto, always or never")
	f.BoolVarP(&g.verbose, "verbose", "v", false, "show evidence, reasons and every fix")
	f.StringVar(&g.saveEvidence, "save-evidence", "", "write all that was seen to a file, unredacted (for tests)")
	_ = f.MarkHidden("save-evidence")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "print the verdict line alone")
}

// check finds values that no verb can use.
func (g *globals) check() error {
	if !slices.Contains(exitStyles, g.exitStyle) {
		return usagef("--exit-style %q: there are %s", g.exitStyle, strings.Join(exitStyles, ", "))
	}
	if !slices.Contains([]string{"auto", "always", "never"}, g.color) {
		return usagef("--color %q: there are auto, always, never", g.color)
	}
	if g.timeout <= 0 {
		return usagef("--timeout %s: must be more than 0", g.timeout)
	}
	if g.efaCount < 0 {
		return usagef("--efa-count %d: must not be negative", g.efaCount)
	}
	if g.minNVFS != "" {
		if v, ok := facts.ParseVersion(g.minNVFS); !ok || len(v.Parts) < 2 {
			return usagef("--min-nvidia-fs %q: not a version such as 2.24.2", g.minNVFS)
		}
	}
	if g.node != "live" && !strings.HasPrefix(g.node, "sim:") {
		return usagef("--node %q: live, or sim:NAME[,FAULT...]", g.node)
	}
	return nil
}

// colored tells whether a stream gets colour: the flag wins, then NO_COLOR, CLICOLOR_FORCE, and a terminal.
func (g *globals) colored(w any) bool {
	switch g.color {
	case "always":
		return true
	case "never":
		return false
	}
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	if v := os.Getenv("CLICOLOR_FORCE"); v != "" && v != "0" {
		return true
	}
	return terminal(w)
}

// terminal tells whether a stream is one.
func terminal(w any) bool {
	if r, ok := w.(*resultWriter); ok {
		w = r.w
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0
}
