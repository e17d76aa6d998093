package facts

import (
	"regexp"
	"strings"
)

// TypedSource is a command that was typed, of which the place among the looks matters.
const TypedSource = "typed command"

// Between is what a command between two looks did to the counters; "" for nothing.
type Between struct {
	Anew     string // all counters, or the driver's or LNet's, began anew
	Switched string // the driver's IO stats were switched
}

// Any tells that it did something.
func (b Between) Any() bool { return b.Anew != "" || b.Switched != "" }

// typedItems are the commands among the looks, by their items.
func (in *In) typedItems() []int {
	var out []int
	for i := range in.t.Set.Items {
		if it := &in.t.Set.Items[i]; it.Place == in.place && it.Source == TypedSource {
			out = append(out, i)
		}
	}
	return out
}

var (
	typedUnload = regexp.MustCompile(`(?:^|[\s;&|/])(?:rmmod|insmod|lustre_rmmod)(?:\s|$)|\bmodprobe\s+(?:-\w+\s+)*(?:-r|--remove)\b|\bmodprobe\s+-\w*r\w*\s|\blnetctl\s+lnet\s+unconfigure\b|\blctl\s+network\s+(?:down|unconfigure)\b`)
	typedBoot   = regexp.MustCompile(`(?:^|[\s;&|/])(?:reboot|kexec)(?:\s|$)|\bshutdown\s+-\w*r|\bsystemctl\s+(?:-\w+\s+)*(?:reboot|kexec)\b|\binit\s+6\b`)
	typedUnit   = regexp.MustCompile(`\b(?:systemctl\s+(?:-\S+\s+)*(?:restart|stop|start|try-restart)\s+(?:\S+\s+)*\S*(?:lustre|lnet|efa|nvidia)|service\s+\S*(?:lustre|lnet|efa|nvidia)\S*\s+(?:re)?st)`)
	typedSwitch = regexp.MustCompile(`\becho\b.*rw_stats_enabled`)
)

// BetweenLooks reads a command line.
func BetweenLooks(command string) Between {
	var b Between
	if strings.Contains(command, "rw_stats_enabled") && typedSwitch.MatchString(command) {
		b.Switched = "IO stats were switched in between (" + command + ")"
	}
	switch {
	case typedBoot.MatchString(command):
		b.Anew = "the machine was started anew in between (" + command + ")"
	case typedUnload.MatchString(command):
		b.Anew = "a module was unloaded or loaded in between (" + command + ")"
	case typedUnit.MatchString(command):
		b.Anew = "a service was started or stopped in between (" + command + ")"
	}
	return b
}
