package proof

import (
	"context"
	"path"
	"slices"

	"gdsproof/internal/facts"
	"gdsproof/internal/host"
)

const gpuDir = "/proc/driver/nvidia/gpus"

// GPUs lists the node's GPUs in the order of the PCI bus, which is that of CUDA_DEVICE_ORDER=PCI_BUS_ID.
func GPUs(ctx context.Context, h host.Host) []facts.LoadGPU {
	list := facts.ListedNames(h.List(ctx, gpuDir, false).Out)
	slices.Sort(list)
	var out []facts.LoadGPU
	for i, addr := range list {
		it := h.Read(ctx, path.Join(gpuDir, addr, "information"), true)
		out = append(out, facts.LoadGPU{Index: i, PCI: addr, UUID: facts.ParseGPUInformation(it.Out).UUID})
	}
	return out
}
