package facts

import (
	"strings"
	"testing"
)

// TestCapturesCutAnywhere cuts every file of the driver's captures at every byte and gives it to every parser of
// step 1: people paste anything anywhere.
func TestCapturesCutAnywhere(t *testing.T) {
	rules := table().Profile.Signatures
	for _, sub := range []string{"nvidia-fs", "nvidia-fs-driver"} {
		for name, b := range capturedFiles(t, sub) {
			step := 1
			if len(b) > 8<<10 {
				step = 7 // the long ones at every seventh byte
			}
			for i := 0; i <= len(b); i += step {
				cut := b[:i]
				ParseModules(cut)
				ParseNVFSStats(cut)
				ParsePeerDistance(cut)
				ParseRegistered(cut)
				ParseLsDevices(cut)
				ParseNVFSProcVersion(cut)
				ParseModinfo(cut)
				ParseNVRM(cut)
				ParsePCIEvents(cut)
				ParseMountinfo(cut)
				ParseGDSCheck(cut)
				if strings.Contains(name, "dmesg") && i%16 == 0 {
					ParseKernelLog(cut).Hits(rules)
				}
			}
		}
	}
}
