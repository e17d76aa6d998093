package platform

import (
	"fmt"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "platform-gpus",
	Title:  "Every GPU supports GDS by the platform report",
	Why:    "A GPU without GDS is served through the CPU, while the others are not: a job is as slow as its slowest GPU.",
	Source: "NVIDIA GDS Installation and Troubleshooting Guide; gdscheck of releases 0.9 to 1.17",
	Step:   3,
	Gate:   true,
	Examples: map[string]string{
		"p5en":                 "pass",
		"g6e":                  "pass",
		"p5en,gpu-unsupported": "fail",
		"laptop":               "skip",
	},
	After:   []string{"gpu-driver", "cufile-library", "cufile-config/" + refusedFile, "platform-verification"},
	Needs:   applies.GPUNeeds(toolNeeds(facts.Platform.Must(), facts.InstanceType.Want(), facts.Container.Want(), facts.NVIDIADriver.Want(), facts.CufileConfig.Want(), facts.Rules.Must())...),
	Applies: applies.OnGPUNode,
	Fix:     []check.Fix{bundle},
	Judge: func(v check.View) []check.Finding {
		f := gpus(v)
		f.Fix = vendor(v)
		return []check.Finding{f}
	},
})

func gpus(v check.View) check.Finding {
	p := check.Get(v, facts.Platform)
	var bad, unclear []string
	for _, g := range p.GPUs {
		name := fmt.Sprintf("GPU %d %s", g.Index, g.Name)
		switch g.Supports {
		case facts.No:
			bad = append(bad, name+" ("+g.Why+")")
		case facts.CannotTell:
			unclear = append(unclear, name)
		}
	}
	n := len(p.GPUs)
	whole := p.Whole(facts.GDSGPUInfo) && !p.Partial
	text := fmt.Sprintf("%d GPU lines", n)
	want, whose := expected(v)
	switch {
	case p.NoGPU:
		return check.With(check.Fail("the platform has no GPU that GDS supports"), quote(p, "Platform does not have any supported GPU!"))
	case len(bad) > 0:
		return check.With(check.Fail("%d of %d GPUs do not support GDS: %s", len(bad), n, check.List(bad, 4)), quote(p, check.List(bad, 4)))
	case len(unclear) > 0:
		return check.With(check.NotKnown(wantWhole, "%d of %d GPU lines do not say whether they support GDS", len(unclear), n), quote(p, check.List(unclear, 3)))
	case !whole:
		return check.With(check.NotKnown(wantWhole, "%d GPUs support GDS in the part of the report that was seen", n), quote(p, text))
	case n == 0:
		return check.With(check.Fail("the report lists no GPU"), quote(p, "GPU INFO is empty"))
	case n < want && inPart(v):
		return check.With(check.Pass("all %d GPUs that are visible here support GDS (the node has %d)", n, want), quote(p, text))
	case n < want && hole(p.GPUs):
		return check.With(check.NotKnown(wantWhole, "%d GPUs support GDS; the lines skip an index, so one may have been lost on its way (%s)", n, whose), quote(p, text))
	case n < want:
		return check.With(check.Fail("%d GPUs support GDS and %s", n, whose), quote(p, text))
	}
	return check.With(check.Pass("all %d GPUs support GDS", n), quote(p, p.GPUs[0].Line))
}

// hole tells that the lines leave out an index: gdscheck counts the GPUs that it finds without one.
func hole(gpus []facts.GDSGPU) bool {
	most := -1
	for _, g := range gpus {
		most = max(most, g.Index)
	}
	return most >= len(gpus)
}

// expected is how many GPUs there should be: those that the driver holds, else those of the instance type.
func expected(v check.View) (int, string) {
	if d := check.Maybe(v, facts.NVIDIADriver); d.OK && d.V.GPUs.OK {
		return len(d.V.GPUs.V), fmt.Sprintf("the driver holds %d", len(d.V.GPUs.V))
	}
	if t := check.Maybe(v, facts.InstanceType); t.OK {
		if i, ok := check.Get(v, facts.Rules).Instance(t.V); ok {
			return i.GPUs, fmt.Sprintf("a %s has %d", t.V, i.GPUs)
		}
	}
	return 0, ""
}

// inPart: a job, a container or a shell sees a part of the GPUs. Slurm's jobs have CUDA_VISIBLE_DEVICES, and so has
// what is started from them.
func inPart(v check.View) bool {
	if c := check.Maybe(v, facts.Container); c.OK && c.V != "" {
		return true
	}
	c := check.Maybe(v, facts.CufileConfig)
	for _, name := range []string{"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"} {
		if val, ok := c.V.Variable(name); c.OK && ok && val != "all" {
			return true
		}
	}
	return false
}
