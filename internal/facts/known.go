// Package facts alone parses. One file is one source: its struct, its parser, its fuzz test. A fact that could
// not be had says why and what would make it known; it is never a zero value that looks like an answer.
package facts

import (
	"fmt"
	"strings"

	"gdsproof/internal/evidence"
)

// Known is a fact and the items that bear it, or the reason why it is not known.
type Known[T any] struct {
	V    T
	OK   bool
	Why  string // why it is not known
	Need string // what would make it known
	From []int  // indexes of the items that were looked at
}

// NeedRoot is the Need of what a privileged user could read. Findings are counted by it.
const NeedRoot = "run as root"

// Opt is a number that may be absent: absent is not zero.
type Opt[T any] struct {
	V  T
	OK bool
}

// Some is a present Opt.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, OK: true} }

// Or is the value, or another where it is absent.
func (o Opt[T]) Or(other T) T {
	if o.OK {
		return o.V
	}
	return other
}

// missing tells why an item gave no answer and what would help. it may be nil: nobody looked.
func missing(source string, it *evidence.Item) (why, need string) {
	if f, ok := strings.CutPrefix(source, "held "); ok {
		source = f + " read while the driver is open"
	}
	ask := askFor(source)
	words := func(def string) string {
		if it != nil && len(it.Err) > 0 {
			return strings.TrimSpace(string(it.Err))
		}
		return def
	}
	switch {
	case it == nil:
		return source + ": not looked at", ask
	case it.State == evidence.Denied:
		return words(source + ": permission denied"), NeedRoot
	case it.State == evidence.TimedOut:
		return words(source + ": no answer in time"), "an answer of " + source + ": find out why it hangs"
	case it.State == evidence.Absent:
		return words(source + ": not there"), source
	case it.State == evidence.NotCollected:
		return words(source + ": not looked at"), ask
	case it.State == evidence.Failed:
		return words(source + ": failed"), "a readable " + source
	}
	return fmt.Sprintf("%s: nothing in it that is understood", source), "the whole output of " + source
}

// commandsFor are what a person types for sources that are no command or file of their own.
var commandsFor = map[string]string{
	BootSearchSource:      "grep -rsE 'nvidia[-_]fs' /etc/modules-load.d /usr/lib/modules-load.d /etc/systemd/system /etc/rc.local",
	CallerEnvironment:     "env | grep -E 'CUFILE|LD_LIBRARY_PATH', as the program has it",
	CufileLibrariesSource: "ldconfig -p | grep libcufile",
	CufileLogSource:       "gdscheck -p",
	EFADevicesSource:      "ls -l /sys/class/infiniband/",
	PCISource:             "lspci -nnk",
	LNetSource:            "sudo lnetctl net show -v 4",
}

// askFor is what would answer: the command to type, or the file to show.
func askFor(source string) string {
	if c := commandsFor[source]; c != "" {
		return c
	}
	if strings.HasPrefix(source, "/") && !strings.Contains(source, " ") {
		return "cat " + source
	}
	return "the output of " + source
}

// rank orders reasons: the one that tells most about the node is given.
func rank(it *evidence.Item) int {
	switch {
	case it == nil:
		return 0
	case it.State == evidence.NotCollected:
		return 1
	case it.State == evidence.Absent:
		return 2
	case it.State == evidence.Failed, it.State == evidence.Present:
		return 3
	case it.State == evidence.Denied:
		return 4
	}
	return 5 // timed out
}
