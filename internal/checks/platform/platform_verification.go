package platform

import (
	"fmt"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "platform-verification",
	Title:  "The platform verification succeeded",
	Why:    "When it fails, libcufile's driver does not open. That it succeeds is no proof: it did so with every storage Unsupported.",
	Source: "NVIDIA GDS Installation and Troubleshooting Guide; gdscheck of releases 0.9 to 1.17",
	Step:   3,
	Gate:   true,
	Examples: map[string]string{
		"p5en":                 "pass",
		"p5en,platform-failed": "fail",
		"laptop":               "skip",
	},
	// Where compat mode is not allowed, libcufile does not open without nvidia-fs.
	After:   []string{"gpu-driver", "nvidia-fs-loaded", "cufile-library", "cufile-config/" + refusedFile},
	Needs:   applies.GPUNeeds(toolNeeds(facts.Platform.Want(), facts.DriverOpen.Want())...),
	Applies: applies.OnGPUNode,
	Fix:     []check.Fix{bundle},
	Judge: func(v check.View) []check.Finding {
		known, open := check.Maybe(v, facts.Platform), check.Maybe(v, facts.DriverOpen)
		p := known.V
		if open.OK && open.V.Loaded && open.V.Open != nil && *open.V.Open != 0 {
			return []check.Finding{notOpened(open.V, p)}
		}
		if !known.OK {
			return []check.Finding{check.NotKnown(wantWhole, "%s", known.Why)}
		}
		switch {
		case !p.VerifiedOK.OK:
			return []check.Finding{check.NotKnown(wantWhole, "the report's last line, the verification, was not seen")}
		case !p.VerifiedOK.V:
			reason := p.Reason
			if reason == "" {
				reason = "no reason given"
			}
			f := check.With(check.Fail("the platform verification failed: %s", reason), quote(p, p.VerifiedLine))
			f.Fix = vendor(v)
			return []check.Finding{mended(f, reason)}
		}
		return []check.Finding{check.With(check.Pass("the platform verification succeeded"), quote(p, p.VerifiedLine))}
	},
})

// notOpened is of libcufile itself, opened where gdscheck gave no report. No program of this environment gets further.
func notOpened(o facts.CufileOpen, p facts.PlatformReport) check.Finding {
	number := fmt.Sprintf("error %d", *o.Open)
	if o.CUDA != 0 {
		number += fmt.Sprintf(" with CUDA error %d", o.CUDA)
	}
	f := check.With(check.Fail("libcufile's driver does not open: %s", number), check.Quote(facts.CufileOpenSource, number))
	if p.VerifiedLine != "" {
		f = check.With(f, quote(p, p.VerifiedLine))
	}
	if noise := strings.TrimSpace(o.Noise); noise != "" {
		f = check.With(f, check.Quote(facts.CufileOpenSource, noise))
	}
	f.Fix = []check.Fix{{Text: "see what the number means; then look at the configuration, and at whether this user sees the GPUs",
		Commands: []string{fmt.Sprintf("gdsproof explain -- %d", *o.Open), "gdsproof check --only cufile-config,gpu-driver", "nvidia-smi -L"}, Changes: "nothing", Undo: "none needed"}}
	return f
}

// mended gives a verification that tells its reason the fix of that reason.
func mended(f check.Finding, reason string) check.Finding {
	look := func(text string, commands ...string) check.Finding {
		f.Fix = []check.Fix{{Text: text, Commands: commands, Changes: "nothing", Undo: "none needed"}}
		return f
	}
	switch low := strings.ToLower(reason); {
	case strings.Contains(low, "invalid argument"):
		return look("libcufile refuses its configuration: see which line of which file", "gdsproof check --only cufile-config", "gdsproof explain cufile-config")
	case strings.Contains(low, "log directory") || strings.Contains(low, "logging.dir"):
		return look("make the folder that logging.dir of cufile.json names, or take the key out", "grep -n -A3 logging /etc/cufile.json")
	case strings.Contains(low, "nvidia-fs") || strings.Contains(low, "nvidia_fs"):
		return look("load nvidia-fs", "gdsproof fix nvidia-fs-loaded")
	}
	return f
}
