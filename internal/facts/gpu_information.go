package facts

import "strings"

// GPUInformation is /proc/driver/nvidia/gpus/<address>/information: "label: value" lines.
type GPUInformation struct{ Model, UUID string }

// ParseGPUInformation reads it. A driver that does not know the UUID prints question marks.
func ParseGPUInformation(b []byte) GPUInformation {
	var g GPUInformation
	for line, whole := range rawLines(b) {
		label, v, ok := strings.Cut(line, ":")
		if !ok || !whole {
			continue
		}
		switch v = strings.TrimSpace(v); strings.TrimSpace(label) {
		case "Model":
			g.Model = v
		case "GPU UUID":
			if !strings.Contains(v, "?") {
				g.UUID = v
			}
		}
	}
	return g
}
