// Package checks brings all checks together. A new folder of checks is added to the imports; a new check in a
// folder needs no other edit than its own file.
package checks

import (
	"gdsproof/internal/check"
	_ "gdsproof/internal/checks/driver"     // step 1
	_ "gdsproof/internal/checks/efa"        // step 2
	_ "gdsproof/internal/checks/experiment" // step 4
	_ "gdsproof/internal/checks/platform"   // step 3
)

// All returns every check in the order in which they are judged.
func All() []*check.Check { return check.All() }

// Passive are the checks that a look alone can answer: steps 1 to 3. Step 4 judges I/O that was done.
func Passive() []*check.Check {
	var out []*check.Check
	for _, c := range check.All() {
		if c.Step <= 3 {
			out = append(out, c)
		}
	}
	return out
}
