package check

import (
	"fmt"
	"sort"
	"strings"
)

var registry = map[string]*Check{}

// Register adds a check. It panics on what a test of the registry would find anyway.
func Register(c Check) *Check {
	if registry[c.ID] != nil {
		panic("check registered twice: " + c.ID)
	}
	if c.ID == "" || c.Title == "" || c.Judge == nil {
		panic(fmt.Sprintf("check %q: needs an ID, a title and a judgement", c.ID))
	}
	registry[c.ID] = &c
	return &c
}

// Cause is the check of an entry of After: "gpu-driver" of "gpu-driver/modules".
func Cause(after string) string {
	id, _, _ := strings.Cut(after, "/")
	return id
}

// ByID returns a check, or nil.
func ByID(id string) *Check { return registry[id] }

// All returns all checks in the order in which they are judged and shown: by step, and within and across steps
// every check behind the ones that it comes After; else by name.
func All() []*Check {
	ids := make([]string, 0, len(registry))
	for id := range registry {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool {
		a, b := registry[ids[i]], registry[ids[j]]
		if a.Step != b.Step {
			return a.Step < b.Step
		}
		if len(a.After) == 0 != (len(b.After) == 0) {
			return len(a.After) == 0
		}
		return a.ID < b.ID
	})
	var out []*Check
	state := map[string]int{}
	var visit func(id string)
	visit = func(id string) {
		c := registry[id]
		if c == nil || state[id] == 2 {
			return // an unregistered cause is found by a test
		}
		if state[id] == 1 {
			panic("checks come after each other in a circle: " + id)
		}
		state[id] = 1
		for _, a := range c.After {
			visit(Cause(a))
		}
		state[id] = 2
		out = append(out, c)
	}
	for _, id := range ids {
		visit(id)
	}
	return out
}

// WithCauses adds to checks those that they come After, in the order of All: whether a finding waits for another
// is known only when that one was judged, asked for or not.
func WithCauses(selected []*Check) []*Check {
	want := map[string]bool{}
	var add func(c *Check)
	add = func(c *Check) {
		if c == nil || want[c.ID] {
			return
		}
		want[c.ID] = true
		for _, a := range c.After {
			add(registry[Cause(a)])
		}
	}
	for _, c := range selected {
		add(c)
	}
	var out []*Check
	for _, c := range All() {
		if want[c.ID] {
			out = append(out, c)
		}
	}
	return out
}

// Only keeps the findings of the given checks.
func Only(selected []*Check, findings []Finding) []Finding {
	want := map[string]bool{}
	for _, c := range selected {
		want[c.ID] = true
	}
	var out []Finding
	for _, f := range findings {
		if want[f.Check] {
			out = append(out, f)
		}
	}
	return out
}
