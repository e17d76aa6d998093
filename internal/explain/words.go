package explain

import (
	"fmt"
	"slices"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/facts"
	"gdsproof/internal/profile"
)

// kindWords are the types of the values of cufile.json, as people say them.
var kindWords = map[facts.CufileKind]string{facts.CufileBool: "true or false", facts.CufileUint: "number", facts.CufileUint32: "number below 2^32",
	facts.CufileString: "string", facts.CufileUints: "list of numbers", facts.CufileStrings: "list of strings",
	facts.CufileMounts: "object: path to rdma_dev_addr_list"}

// Topic is a kind of thing that can be asked about.
type Topic struct {
	Kind  string   `json:"kind"`
	Title string   `json:"title"`
	Count int      `json:"count"`
	Try   []string `json:"examples"`
}

// KindTitles name the kinds, in the order of the list of topics.
var KindTitles = []struct{ Kind, Title string }{
	{profile.KindError, "error numbers of cuFile"}, {profile.KindReturn, "negative results and errno"}, {profile.KindCufileLog, "lines of cufile.log"},
	{profile.KindKernelLog, "lines of the kernel log (dmesg)"}, {profile.KindGdsioLine, "lines that gdsio and gdscheck print"},
	{profile.KindCounter, "counters: nvidia-fs, EFA, LNet"}, {profile.KindKey, "keys of cufile.json"}, {profile.KindVariable, "variables"},
	{profile.KindGdscheck, "rows and values of gdscheck"}, {profile.KindGdsioOption, "options and job keys of gdsio"}, {profile.KindGdsioField, "result fields of gdsio"},
}

// KindChecks is the kind of topic that the registry answers.
const KindChecks = "check"

// Topics lists what can be asked about.
func (b *Base) Topics() []Topic {
	out := []Topic{{KindChecks, "checks", len(check.All()), nil}}
	for _, c := range check.All()[:min(2, len(check.All()))] {
		out[0].Try = append(out[0].Try, c.ID)
	}
	for _, k := range KindTitles {
		t := Topic{Kind: k.Kind, Title: k.Title}
		for _, e := range b.entries {
			if e.Kind != k.Kind {
				continue
			}
			if t.Count++; len(t.Try) < 2 {
				if len(e.Names) > 0 {
					t.Try = append(t.Try, e.Names[0])
				} else {
					t.Try = append(t.Try, e.Match[0])
				}
			}
		}
		out = append(out, t)
	}
	return out
}

// CheckWords is a check in words, as JSON has it.
type CheckWords struct {
	Check    string      `json:"check"`
	Title    string      `json:"title"`
	Why      string      `json:"why"`
	Step     int         `json:"step"`
	Gate     bool        `json:"gate"`
	After    []string    `json:"after"`
	Needs    []string    `json:"needs"`
	Fix      []check.Fix `json:"fix"`
	Examples []Example   `json:"examples"`
	Source   string      `json:"source"`
}

// Example is a simulated node and what the check says of it.
type Example struct {
	Node   string `json:"node"`
	Status string `json:"status"`
}

// WordsOf puts a check into words, from its fields.
func WordsOf(c *check.Check) CheckWords {
	w := CheckWords{Check: c.ID, Title: c.Title, Why: c.Why, Step: c.Step, Gate: c.Gate, After: append([]string{}, c.After...), Needs: []string{},
		Fix: append([]check.Fix{}, c.Fix...), Examples: []Example{}, Source: c.Source}
	for i := range w.Fix {
		if w.Fix[i].Commands == nil {
			w.Fix[i].Commands = []string{}
		}
	}
	for _, n := range c.Needs {
		if !n.Optional {
			w.Needs = append(w.Needs, n.Name)
		}
	}
	for node, status := range c.Examples {
		w.Examples = append(w.Examples, Example{"sim:" + node, status})
	}
	slices.SortFunc(w.Examples, func(a, b Example) int {
		if a.Status != b.Status {
			return slices.Index(statuses, a.Status) - slices.Index(statuses, b.Status)
		}
		return strings.Compare(a.Node, b.Node)
	})
	return w
}

var statuses = []string{"pass", "warn", "fail", "unknown", "skip"}

// Says are the outcomes in sentences: what the check says of which node.
func (w CheckWords) Says() []string {
	var out []string
	for _, s := range statuses {
		var nodes []string
		for _, e := range w.Examples {
			if e.Status == s {
				nodes = append(nodes, e.Node)
			}
		}
		if len(nodes) > 0 {
			out = append(out, fmt.Sprintf("%s on %s", s, strings.Join(nodes, ", ")))
		}
	}
	if len(w.Needs) > 0 {
		out = append(out, "unknown without "+strings.Join(w.Needs, ", "))
	}
	if w.Gate {
		out = append(out, "while it is unknown the node is not called ready")
	}
	return out
}
