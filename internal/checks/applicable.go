package checks

import (
	"gdsproof/internal/checks/driver"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
)

// NotApplicable says why GDS cannot be asked for at all on this machine, or "".
func NotApplicable(t *facts.Table) string {
	return driver.NoGPU(facts.Get(t, evidence.Host, facts.PCIBus), facts.Get(t, evidence.Host, facts.NVIDIADriver))
}
