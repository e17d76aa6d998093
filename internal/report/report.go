// Package report has the types of a result, as people and programs get it. It imports nothing of ours; its JSON
// names are a contract.
package report

import (
	"encoding/json"
	"time"
)

// SchemaVersion changes when a field is removed or changes its meaning; new fields do not change it.
const SchemaVersion = "1"

// Status is how one finding came out.
type Status string

const (
	Pass    Status = "pass"
	Warn    Status = "warn"
	Fail    Status = "fail"
	Unknown Status = "unknown" // Needed says what would make it known
	Skip    Status = "skip"    // does not apply here
)

// Outcome is the answer of a whole run.
type Outcome string

const (
	Ready         Outcome = "ready"
	NotReady      Outcome = "not-ready"
	UnknownResult Outcome = "unknown"
	NotApplicable Outcome = "not-applicable"
	Proven        Outcome = "proven"
	Refuted       Outcome = "refuted"
	Mixed         Outcome = "mixed"
	Contradicted  Outcome = "contradicted"
	Unproven      Outcome = "unproven"
)

// Report is one run on one node.
type Report struct {
	SchemaVersion   string    `json:"schema_version"`
	Tool            Tool      `json:"tool"`
	Node            Node      `json:"node"`
	Started         time.Time `json:"started"`
	DurationSeconds float64   `json:"duration_seconds"`
	Verdict         Verdict   `json:"verdict"`
	Findings        []Finding `json:"findings"`
	// Inputs are the texts that pasted evidence was read from, part by part.
	Inputs []Input `json:"inputs,omitempty"`
	Facts  Facts   `json:"facts"`
	// Experiment: the findings are of one; its text is short.
	Experiment bool `json:"-"`
}

// Facts is no part of the stable schema.
type Facts map[string]any

// Input is a part of a text that was read, and what it was taken for.
type Input struct {
	Name       string `json:"name"`
	FirstLine  int    `json:"first_line"`
	LastLine   int    `json:"last_line"`
	Recognised bool   `json:"recognised"`
	What       string `json:"what,omitempty"`
	Words      string `json:"words,omitempty"` // how a part begins that was not recognised
}

// Tool is the program that made the report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Node is the machine that the report speaks of. An unknown value has no key.
type Node struct {
	Source       string `json:"source"` // live, sim, bundle, pasted
	Simulated    bool   `json:"simulated"`
	Name         string `json:"name,omitempty"` // of a simulated node, with its faults
	Hostname     string `json:"hostname,omitempty"`
	InstanceType string `json:"instance_type,omitempty"`
	Kernel       string `json:"kernel,omitempty"`
}

// Verdict is the answer, and what to do first.
type Verdict struct {
	Outcome     Outcome   `json:"outcome"`
	Reads       Outcome   `json:"reads,omitempty"`
	Writes      Outcome   `json:"writes,omitempty"`
	Summary     string    `json:"summary"`
	FirstAction *Action   `json:"first_action,omitempty"`
	Witnesses   []Witness `json:"witnesses"`
	// Spoken: a witness spoke of the path, whatever the outcome.
	Spoken bool `json:"-"`
}

// Action is the first thing to do.
type Action struct {
	Check    string   `json:"check"`
	Text     string   `json:"text"`
	Commands []string `json:"commands"`
}

// Witness is one testimony.
type Witness struct {
	Name      string            `json:"name"`
	Direction string            `json:"direction"`
	Phase     string            `json:"phase"`
	Says      string            `json:"says"`
	Summary   string            `json:"summary"`
	Numbers   map[string]uint64 `json:"numbers"`
	// WouldSpeakIf is what would let a silent witness speak.
	WouldSpeakIf string `json:"would_speak_if,omitempty"`
}

// Finding is the judgement of one check on one subject. Check, subject and place are its identity.
type Finding struct {
	Check     string     `json:"check"`
	Subject   string     `json:"subject"` // "" is the node as a whole
	Place     string     `json:"place"`
	Step      int        `json:"step"`
	Status    Status     `json:"status"`
	Summary   string     `json:"summary"`
	Evidence  []Evidence `json:"evidence"`
	Why       string     `json:"why"`
	Fix       []Fix      `json:"fix"`
	BlockedBy Nullable   `json:"blocked_by"` // the failed check that has to be mended first
	Needed    Nullable   `json:"needed"`     // what would make an unknown known
}

// Evidence is where a finding was seen, and the words.
type Evidence struct {
	Source string `json:"source"`
	Text   string `json:"text"`
}

// Fix is one way to mend a fault: what to type, what that changes, how to take it back.
type Fix struct {
	Text     string   `json:"text"`
	Commands []string `json:"commands"`
	Changes  string   `json:"changes"`
	Undo     string   `json:"undo"`
}

// Nullable is a string whose empty value is null.
type Nullable string

func (n Nullable) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(n))
}

func (n *Nullable) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*n = ""
	if s != nil {
		*n = Nullable(*s)
	}
	return nil
}

// Normalise replaces nil lists by empty ones: a list is never null in JSON.
func (r *Report) Normalise() {
	if r.SchemaVersion == "" {
		r.SchemaVersion = SchemaVersion
	}
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	if r.Facts == nil {
		r.Facts = Facts{}
	}
	if r.Verdict.Witnesses == nil {
		r.Verdict.Witnesses = []Witness{}
	}
	for i := range r.Verdict.Witnesses {
		if r.Verdict.Witnesses[i].Numbers == nil {
			r.Verdict.Witnesses[i].Numbers = map[string]uint64{}
		}
	}
	if a := r.Verdict.FirstAction; a != nil && a.Commands == nil {
		a.Commands = []string{}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Evidence == nil {
			f.Evidence = []Evidence{}
		}
		if f.Fix == nil {
			f.Fix = []Fix{}
		}
		for j := range f.Fix {
			if f.Fix[j].Commands == nil {
				f.Fix[j].Commands = []string{}
			}
		}
	}
}

// Count counts findings by status.
func (r *Report) Count(s Status) int {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].Status == s {
			n++
		}
	}
	return n
}
