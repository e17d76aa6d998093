package platform

import (
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
	Needs:   applies.GPUNeeds(facts.Platform.Must()),
	Applies: applies.OnGPUNode,
	Fix:     []check.Fix{bundle},
	Judge: func(v check.View) []check.Finding {
		p := check.Get(v, facts.Platform)
		switch {
		case !p.VerifiedOK.OK:
			return []check.Finding{check.NotKnown(wantWhole, "the report's last line, the verification, was not seen")}
		case !p.VerifiedOK.V:
			reason := p.Reason
			if reason == "" {
				reason = "no reason given"
			}
			return []check.Finding{check.With(check.Fail("the platform verification failed: %s", reason), quote(p, p.VerifiedLine))}
		}
		return []check.Finding{check.With(check.Pass("the platform verification succeeded"), quote(p, p.VerifiedLine))}
	},
})
