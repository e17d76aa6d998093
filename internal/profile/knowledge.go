package profile

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// Kinds of Entry.
const (
	KindError       = "error"        // a number of cufile.h
	KindReturn      = "return"       // a negative result, an errno
	KindCufileLog   = "cufile-log"   // a line of cufile.log
	KindGdsioLine   = "gdsio-line"   // a line that gdsio or gdscheck prints
	KindKernelLog   = "kernel-log"   // a line of the kernel log: a Signature, or one that no check looks for
	KindCounter     = "counter"      // nvidia-fs, EFA, LNet
	KindKey         = "key"          // of cufile.json
	KindVariable    = "variable"     // of the environment
	KindGdscheck    = "gdscheck"     // a row, or a value of one
	KindGdsioOption = "gdsio-option" // option, or key of a job file
	KindGdsioField  = "gdsio-field"  // of the result line
)

// Outputs that a row can be bound to by In.
const (
	OutputStats         = "stats"          // /proc/driver/nvidia-fs/stats
	OutputEFA           = "efa"            // hw_counters of a device
	OutputLNet          = "lnet"           // lnetctl net, peer and global show
	OutputLNetStats     = "lnet-stats"     // lnetctl stats show
	OutputGdscheck      = "gdscheck"       // a row of any value
	OutputGdscheckLine  = "gdscheck-line"  // the same, with a name that no other program has
	OutputGdscheckValue = "gdscheck-value" // a value and no row
	OutputGdsio         = "gdsio"          // a result line
	OutputCufileLog     = "cufile-log"     // a line with libcufile's stamp
)

// Outputs are all of them.
var Outputs = []string{OutputStats, OutputEFA, OutputLNet, OutputLNetStats, OutputGdscheck, OutputGdscheckLine, OutputGdscheckValue, OutputGdsio, OutputCufileLog}

const (
	maxWeight      = 100
	shortestPhrase = 6 // of the longest of a row: a shorter one is in too many lines
)

var kinds = []string{KindError, KindReturn, KindCufileLog, KindGdsioLine, KindKernelLog, KindCounter, KindKey, KindVariable,
	KindGdscheck, KindGdsioOption, KindGdsioField}

// Entry is a row of what is known about a word, a number or a line: what matches it, what it means, and what to do.
type Entry struct {
	ID    string   `yaml:"id"`
	Kind  string   `yaml:"kind"`
	Names []string `yaml:"names,omitempty"` // words that it answers to
	Match []string `yaml:"match,omitempty"` // of a line: all of them, case-insensitive
	Not   []string `yaml:"not,omitempty"`   // and none of them
	// In is the one output in which the names or the phrases mean this: other programs use them too.
	In   string   `yaml:"in,omitempty"`
	Fine []string `yaml:"fine,omitempty"` // values (their fronts) that are no sign of trouble, besides counts of 0
	// Weight is how telling a line is, 1 to 100; see Class.
	Weight  int      `yaml:"weight,omitempty"`
	Level   string   `yaml:"level,omitempty"` // as libcufile usually prints it
	After   []string `yaml:"after,omitempty"` // rows whose lines are the cause of this one's
	Meaning string   `yaml:"meaning"`
	Cause   string   `yaml:"cause,omitempty"`
	Remedy  string   `yaml:"remedy,omitempty"`
	Since   string   `yaml:"since,omitempty"` // release of GDS or of the driver
	Until   string   `yaml:"until,omitempty"`
	Check   string   `yaml:"check,omitempty"`   // the check that judges it
	Example string   `yaml:"example,omitempty"` // a line that it takes
	Origin  `yaml:",inline"`
}

// Class says in a word how telling a line of a weight is.
func Class(weight int) string {
	switch {
	case weight >= 80:
		return "decisive"
	case weight >= 60:
		return "cause"
	case weight >= 40:
		return "consequence"
	case weight >= 20:
		return "harmless"
	}
	return "noise"
}

// A file a subject: errors, lines, counters, keys, rows of gdscheck, gdsio.
var (
	//go:embed errors.yaml
	builtinErrors []byte
	//go:embed cufile_log.yaml
	builtinCufileLog []byte
	//go:embed counters.yaml
	builtinCounters []byte
	//go:embed keys.yaml
	builtinKeys []byte
	//go:embed gdscheck_rows.yaml
	builtinGdscheck []byte
	//go:embed gdsio.yaml
	builtinGdsio []byte
)

// Entries are all rows of knowledge: the built-in ones, those of the profile's own file over them, and the known
// lines of the kernel log. The built-in ones are read here and not in Load, since most verbs do without.
func (p *Profile) Entries() ([]Entry, error) {
	var all Profile
	for _, f := range []struct {
		name string
		text []byte
	}{{"errors", builtinErrors}, {"cufile_log", builtinCufileLog}, {"counters", builtinCounters}, {"keys", builtinKeys},
		{"gdscheck_rows", builtinGdscheck}, {"gdsio", builtinGdsio}} {
		one, err := parse("built-in "+f.name, f.text)
		if err != nil {
			return nil, err
		}
		all.overlay(one)
	}
	all.overlay(&Profile{Knowledge: p.Knowledge})
	for _, s := range p.Signatures {
		all.Knowledge = append(all.Knowledge, s.entry())
	}
	return all.Knowledge, nil
}

// Counters are the rows of knowledge of counters.
func (p *Profile) Counters() ([]Entry, error) {
	all, err := parse("built-in counters", builtinCounters)
	if err != nil {
		return nil, err
	}
	all.overlay(&Profile{Knowledge: p.Knowledge})
	return slices.DeleteFunc(all.Knowledge, func(e Entry) bool { return e.Kind != KindCounter }), nil
}

// Text is what a row says in one line: meaning, cause, and what to do.
func (k Entry) Text() string {
	text := k.Meaning
	if k.Cause != "" {
		text += " (" + k.Cause + ")"
	}
	if k.Remedy != "" {
		text += "; " + k.Remedy
	}
	return text
}

// entry is a known line of the kernel log as a row of knowledge. The level gives the weight where the row has none.
func (s Signature) entry() Entry {
	w := s.Weight
	if w == 0 {
		w = map[string]int{"fail": 90, "warn": 65, "info": 25}[s.Level]
	}
	check := s.Check
	if check == "" {
		check = "kernel-log"
	}
	return Entry{ID: s.ID, Kind: KindKernelLog, Match: s.Match, Not: s.Not, Weight: w, Meaning: s.Meaning, Remedy: s.Remedy, Check: check, Origin: s.Origin}
}

func (k Entry) check() error {
	row := "knowledge " + k.ID
	switch {
	case k.ID == "" || k.Meaning == "":
		return fmt.Errorf("knowledge: a row needs id and meaning: %+v", k)
	case !slices.Contains(kinds, k.Kind):
		return fmt.Errorf("%s: kind: %q is none of %s", row, k.Kind, strings.Join(kinds, ", "))
	case len(k.Names) == 0 && len(k.Match) == 0:
		return fmt.Errorf("%s: needs names or match: nothing would lead to it", row)
	case len(k.Match) > 0 && (k.Weight < 1 || k.Weight > maxWeight):
		return fmt.Errorf("%s: weight: %d is not in 1 to %d", row, k.Weight, maxWeight)
	}
	if k.In != "" && !slices.Contains(Outputs, k.In) {
		return fmt.Errorf("%s: in: %q is none of %s", row, k.In, strings.Join(Outputs, ", "))
	}
	for _, n := range slices.Concat(k.Names, k.After, k.Fine) {
		if strings.TrimSpace(n) == "" {
			return fmt.Errorf("%s: an empty name", row)
		}
	}
	longest := 0
	for _, m := range slices.Concat(k.Match, k.Not) {
		if strings.TrimSpace(m) == "" {
			return fmt.Errorf("%s: an empty match fits every line", row)
		}
	}
	for _, m := range k.Match {
		longest = max(longest, len(m))
	}
	if len(k.Match) > 0 && longest < shortestPhrase {
		return fmt.Errorf("%s: match: no phrase has %d letters", row, shortestPhrase)
	}
	return k.ok(row)
}
