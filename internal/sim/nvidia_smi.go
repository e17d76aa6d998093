package sim

import (
	"fmt"
	"strings"
)

// board is what nvidia-smi tells of a model beyond its name.
type board struct {
	architecture string
	memoryMiB    int
	power        float64
}

var boards = map[string]board{
	"NVIDIA H200":           {"Hopper", 143771, 700},
	"NVIDIA H100 80GB HBM3": {"Hopper", 81559, 700},
	"NVIDIA B200":           {"Blackwell", 183359, 1000},
	"NVIDIA L40S":           {"Ada Lovelace", 46068, 350},
}

// nvidiaSMI answers nvidia-smi -q: the sections that a check may ask for, idle GPUs.
func (n *node) nvidiaSMI() answer {
	if !n.nvDrv.loaded {
		return answer{out: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n\n", exit: 9}
	}
	var b strings.Builder
	row := func(depth int, key string, value any) {
		fmt.Fprintf(&b, "%s%-*s : %v\n", strings.Repeat("    ", depth), 50-4*depth, key, value)
	}
	b.WriteString("\n==============NVSMI LOG==============\n\n")
	row(0, "Timestamp", clock(1500).Format("Mon Jan _2 15:04:05 2006"))
	row(0, "Driver Version", n.nvDrv.version)
	row(0, "CUDA Version", n.kit.cuda)
	b.WriteString("\n")
	row(0, "Attached GPUs", len(n.gpus))
	for i, g := range n.gpus {
		m := boards[g.model]
		fmt.Fprintf(&b, "GPU 0000%s\n", strings.ToUpper(g.addr))
		row(1, "Product Name", g.model)
		row(1, "Product Brand", "NVIDIA")
		row(1, "Product Architecture", m.architecture)
		row(1, "Display Mode", "Disabled")
		row(1, "Persistence Mode", "Enabled")
		row(1, "Addressing Mode", onOff(n.nvDrv.open, "HMM", "None"))
		b.WriteString("    MIG Mode\n")
		mig := onOff(m.architecture == "Ada Lovelace", "N/A", "Disabled")
		row(2, "Current", mig)
		row(2, "Pending", mig)
		row(1, "GPU UUID", "GPU-"+g.uuid)
		row(1, "Minor Number", i)
		row(1, "MultiGPU Board", "No")
		row(1, "GPU C2C Mode", "Disabled")
		b.WriteString("    GPU Virtualization Mode\n")
		row(2, "Virtualization Mode", "Pass-Through")
		row(1, "GPU Recovery Action", "None")
		b.WriteString("    PCI\n")
		row(2, "Bus", "0x"+strings.ToUpper(g.addr[5:7]))
		row(2, "Device Id", fmt.Sprintf("0x%04X10DE", g.device))
		row(2, "Bus Id", "0000"+strings.ToUpper(g.addr))
		b.WriteString("    FB Memory Usage\n")
		row(2, "Total", fmt.Sprintf("%d MiB", m.memoryMiB))
		row(2, "Used", "4 MiB")
		b.WriteString("    BAR1 Memory Usage\n")
		row(2, "Total", fmt.Sprintf("%d MiB", n.barMiB))
		row(2, "Used", "2 MiB")
		row(2, "Free", fmt.Sprintf("%d MiB", n.barMiB-2))
		row(1, "Compute Mode", "Default")
		b.WriteString("    ECC Mode\n")
		row(2, "Current", "Enabled")
		row(2, "Pending", "Enabled")
		b.WriteString("    Remapped Rows\n")
		row(2, "Correctable Error", 0)
		row(2, "Uncorrectable Error", 0)
		row(2, "Pending", "No")
		row(2, "Remapping Failure Occurred", "No")
		b.WriteString("    GPU Power Readings\n")
		row(2, "Current Power Limit", fmt.Sprintf("%.2f W", m.power))
		row(1, "Processes", "None")
		b.WriteString("\n")
	}
	return answer{out: b.String()}
}
