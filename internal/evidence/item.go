// Package evidence holds what was seen on a node: raw text with its source, its place and, above all, the
// state of the look itself. Nothing here parses or judges.
package evidence

import (
	"strings"
	"time"
)

// State says how a look at a source ended. Only Present has an answer; the others differ in what they allow
// to conclude, and NotCollected allows nothing at all.
type State string

const (
	Present      State = "present"       // it answered: Out (and Exit of a command) hold the answer
	Absent       State = "absent"        // looked: it is not there
	Denied       State = "denied"        // it may be there, this user may not look
	TimedOut     State = "timed-out"     // it did not answer before its deadline
	Failed       State = "failed"        // it answered with an error that is none of the above
	NotCollected State = "not-collected" // nobody looked
)

// Form says how much of a source's output an item holds.
type Form string

const (
	Whole    Form = "whole"    // all of it: what is not in it is not there
	Filtered Form = "filtered" // lines chosen by a filter (grep, a keep list): see Item.Filter
	Embedded Form = "embedded" // found inside another output (a gdscheck report in cufile.log)
)

// Place is where the look was taken.
type Place string

const (
	Host   Place = "host"
	Inside Place = "inside" // inside a container
	// Example is no place at all: what a text quotes as an example, an expected output, a page of a guide.
	Example Place = "example"
	// elsewhere begins the places of other machines than the one that is judged.
	elsewhere = "machine "
)

// Elsewhere is another machine than the one that is judged.
func Elsewhere(machine string) Place { return Place(elsewhere + machine) }

// Machine is the name of another machine's place; ok is false for every other place.
func (p Place) Machine() (name string, ok bool) { return strings.CutPrefix(string(p), elsewhere) }

// Item is one look at one source.
//
// Source is the canonical name under which facts find it, whatever the way it came here: the path of a file
// ("/proc/modules"), the words of a command ("lsmod"), or a probe and its path ("open /dev/nvidia-fs0").
// Origin says where this very text came from when that differs (a path below a root, a pasted file's name).
type Item struct {
	Source string   `json:"source"`
	Form   Form     `json:"form"`
	Filter []string `json:"filter,omitempty"` // Filtered: a line was kept if it holds one of these (lower case)
	Place  Place    `json:"place"`
	Origin string   `json:"origin,omitempty"`
	Step   int      `json:"step"` // order of snapshots; never taken from a clock or the alphabet
	// Since: what it tells of went on from that step to Step, as a run in the background; 0: it is of Step alone.
	Since int `json:"since,omitempty"`
	// Series: items of one series are ordered by their steps. Those of different series (files of a folder) are
	// ordered by their epochs alone, and not at all if one of them stands Alone.
	Series    string     `json:"series,omitempty"`
	At        *time.Time `json:"at,omitempty"` // when the look was taken, if known
	State     State      `json:"state"`
	Errno     string     `json:"errno,omitempty"` // symbolic, as EPERM
	Exit      *int       `json:"exit,omitempty"`  // of a command that ended by itself
	Out       []byte     `json:"out,omitempty"`
	Err       []byte     `json:"err,omitempty"` // stderr of a command, or the words of what went wrong
	Truncated bool       `json:"truncated,omitempty"`
	// Stuck is the process that was left behind because it could not be ended; 0 if none was.
	Stuck int `json:"stuck,omitempty"`
}

// OK tells whether the item has an answer that can be parsed.
func (i *Item) OK() bool { return i != nil && i.State == Present }

// Complete tells whether a thing that the output does not name is known not to be there.
func (i *Item) Complete() bool { return i.OK() && i.Form == Whole && !i.Truncated }

// Sources of probes that are neither a plain file nor a command.
func StatSource(path string) string   { return "stat " + path }
func OpenSource(path string) string   { return "open " + path }
func ListSource(path string) string   { return "list " + path }
func StatfsSource(path string) string { return "statfs " + path }

// HeldSource names a file read while other files are held open by the reader: the driver's list of storage
// modules means something only then.
func HeldSource(path string) string { return "held " + path }

// Epoch is how many steps an epoch has; Alone begins the name of a series that has no order to any other.
const (
	Epoch = 1_000_000_000
	Alone = "="
)

// Before tells that one item is known to have been taken before another.
func (i *Item) Before(j *Item) bool {
	if i.Series == j.Series {
		return i.Step < j.begun()
	}
	if strings.HasPrefix(i.Series, Alone) || strings.HasPrefix(j.Series, Alone) {
		return false
	}
	return i.Step/Epoch < j.Step/Epoch
}

func (i *Item) begun() int {
	if i.Since > 0 {
		return i.Since
	}
	return i.Step
}

// During tells that an item was taken while what another tells of went on.
func (i *Item) During(run *Item) bool {
	return i.Series == run.Series && run.Since > 0 && run.Since < i.Step && i.Step < run.Step
}
