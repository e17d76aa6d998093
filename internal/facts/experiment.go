package facts

import (
	"encoding/json"

	"gdsproof/internal/evidence"
)

// ExperimentSource is the item that tells of an experiment of our own: what was planned, and which step was what.
const ExperimentSource = "gdsproof experiment"

// Phases of an experiment, as steps are named by them.
const (
	PhaseIdle    = "idle" // two looks with nothing of ours in between
	PhaseWrite   = "write"
	PhaseRead    = "read"
	PhaseControl = "control"
	PhaseAll     = "all-gpus"
	PhaseStrict  = "strict"
	PhaseWhy     = "why"
)

// ExperimentPlan is what an experiment was to do.
type ExperimentPlan struct {
	Engine  string         `json:"engine"`
	FS      string         `json:"fs"`
	Dir     string         `json:"dir"`
	Size    uint64         `json:"size_bytes"`
	IOSize  uint64         `json:"io_size_bytes"`
	Threads int            `json:"threads"`
	GPUs    []LoadGPU      `json:"gpus"`
	From    int            `json:"from_step"` // the first step of the experiment; those before are the check's
	Phases  map[int]string `json:"phases"`    // of steps in which something was done
	// CannotStart is why no I/O was tried at all.
	CannotStart string `json:"cannot_start,omitempty"`
	// LeftOut are phases that were not made, and why.
	LeftOut map[string]string `json:"left_out,omitempty"`
	// Stopped is why the rest was not done.
	Stopped string `json:"stopped,omitempty"`
}

// LoadGPU is a GPU as loads name it.
type LoadGPU struct {
	Index int    `json:"index"` // in the order of the PCI bus
	UUID  string `json:"uuid,omitempty"`
	PCI   string `json:"pci,omitempty"`
}

// Item makes the plan an item of the set.
func (p ExperimentPlan) Item() evidence.Item {
	b, _ := json.Marshal(p) // strings and numbers: cannot fail
	return evidence.Item{Source: ExperimentSource, Form: evidence.Whole, Place: evidence.Host, State: evidence.Present, Out: b}
}

// Experiment is the experiment that the evidence comes from, if it comes from one.
var Experiment = Define("experiment", nil, func(in *In) Known[ExperimentPlan] {
	var p ExperimentPlan
	it := in.Last(ExperimentSource)
	if !it.OK() {
		return Because[ExperimentPlan]("no experiment was made", "gdsproof prove --fs DIR")
	}
	if err := json.Unmarshal(it.Out, &p); err != nil {
		return Because[ExperimentPlan]("the experiment's own record cannot be read: "+err.Error(), "gdsproof prove --fs DIR")
	}
	return Have(p)
})

// CleanupSource tells what became of the test files and switches.
const CleanupSource = "gdsproof clean-up"

// CleanupReport is what the clean-up did.
type CleanupReport struct {
	Removed []string `json:"removed"`
	Left    []string `json:"left"`    // with the reason
	Foreign []string `json:"foreign"` // test folders of other runs or nodes, which are not touched
	Earlier []string `json:"earlier"` // put in order for a run that had died
}

// Item makes the report an item of the set.
func (c CleanupReport) Item(step int) evidence.Item {
	b, _ := json.Marshal(c)
	return evidence.Item{Source: CleanupSource, Form: evidence.Whole, Place: evidence.Host, State: evidence.Present, Out: b, Step: step}
}

// Cleanup is what the experiment left behind.
var Cleanup = Define("clean-up", nil, func(in *In) Known[CleanupReport] {
	var c CleanupReport
	it := in.Last(CleanupSource)
	if !it.OK() {
		return Because[CleanupReport]("nothing was cleaned up", "gdsproof prove --fs DIR")
	}
	if err := json.Unmarshal(it.Out, &c); err != nil {
		return Because[CleanupReport]("the clean-up's own record cannot be read: "+err.Error(), "gdsproof prove --fs DIR")
	}
	return Have(c)
})
