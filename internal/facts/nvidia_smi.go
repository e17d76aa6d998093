package facts

import (
	"strconv"
	"strings"
)

// SMIReport is what nvidia-smi -q says. "" and an Opt that is not OK mean that it does not say; "N/A" is kept, since
// it is an answer: this GPU has no such thing.
type SMIReport struct {
	Driver   string // 580.95.05
	CUDA     string // 13.0: the newest CUDA that the driver can run
	Attached Opt[int]
	GPUs     []SMIGPU
	Trouble  string // nvidia-smi's own words where it could not answer
	Cut      bool   // the text ends within a line
}

// SMIGPU is one GPU.
type SMIGPU struct {
	BusID          string // 0000:53:00.0, as the PCI bus and nvidia-fs write it
	Name           string
	UUID           string
	Architecture   string
	Minor          Opt[int]
	Persistence    string // Enabled, Disabled
	Addressing     string // HMM, ATS, None
	MIG            string // Enabled, Disabled, N/A
	ComputeMode    string // Default, Exclusive_Process, Prohibited
	C2C            string
	Virtualization string
	RecoveryAction string // None, or what the GPU needs: Reset, Reboot, Drain P2P, …
	ECC            string
	BAR1MiB        Opt[uint64]
	MemoryMiB      Opt[uint64]
	RemapPending   string // Yes, No
	RemapFailed    string
	Busy           Opt[bool] // a process is listed; false: "Processes : None"
	Cut            bool      // the text ends in it
}

// ParseSMI reads nvidia-smi -q. Several sections have a "Current" or a "Total": the last line without a value tells
// the section. Indentation is not needed, for pastes lose it.
func ParseSMI(b []byte) SMIReport {
	var r SMIReport
	section := ""
	for raw, whole := range rawLines(b) {
		line := strings.TrimSpace(raw)
		if line == "" {
			continue
		}
		r.Cut = r.Cut || !whole
		if !whole {
			break // a value that was shortened is another one
		}
		if bus, ok := strings.CutPrefix(line, "GPU "); ok {
			if id, ok := pciAddress(strings.TrimSuffix(strings.TrimSpace(bus), ":")); ok {
				r.GPUs = append(r.GPUs, SMIGPU{BusID: id})
				section = ""
				continue
			}
		}
		key, value, ok := smiSplit(line)
		switch {
		case !ok && smiTrouble(line):
			r.Trouble = line
		case !ok:
			section = line
		case len(r.GPUs) == 0:
			r.set(key, value)
		default:
			r.GPUs[len(r.GPUs)-1].set(section, key, value)
		}
	}
	if r.Cut && len(r.GPUs) > 0 {
		r.GPUs[len(r.GPUs)-1].Cut = true
	}
	return r
}

// smiSplit cuts at a colon with a blank before it; a PCI address has colons too.
func smiSplit(line string) (key, value string, ok bool) {
	for i := 1; i < len(line); i++ {
		if line[i] == ':' && (line[i-1] == ' ' || line[i-1] == '\t') {
			return strings.Join(strings.Fields(line[:i]), " "), strings.TrimSpace(line[i+1:]), true
		}
	}
	return "", "", false
}

// smiTrouble tells nvidia-smi's complaints.
func smiTrouble(line string) bool {
	for _, s := range []string{"NVIDIA-SMI has failed", "Failed to initialize NVML", "No devices were found", "couldn't communicate with the NVIDIA driver",
		"Unable to determine the device handle"} {
		if strings.Contains(line, s) {
			return true
		}
	}
	return false
}

func (r *SMIReport) set(key, value string) {
	switch key {
	case "Driver Version":
		r.Driver = value
	case "CUDA Version":
		r.CUDA = value
	case "Attached GPUs":
		r.Attached = optInt(value)
	}
}

func (g *SMIGPU) set(section, key, value string) {
	switch key {
	case "Product Name":
		g.Name = value
	case "Product Architecture":
		g.Architecture = value
	case "GPU UUID":
		g.UUID = value
	case "Minor Number":
		g.Minor = optInt(value)
	case "Persistence Mode":
		g.Persistence = value
	case "Addressing Mode":
		g.Addressing = value
	case "Compute Mode":
		g.ComputeMode = value
	case "GPU C2C Mode":
		g.C2C = value
	case "Virtualization Mode":
		g.Virtualization = value
	case "GPU Recovery Action":
		g.RecoveryAction = value
	case "Remapping Failure Occurred":
		g.RemapFailed = value
	case "Processes":
		if value == "None" {
			g.Busy = Some(false)
		}
	case "Process ID":
		g.Busy = Some(true)
	case "Current":
		switch section {
		case "MIG Mode":
			g.MIG = value
		case "ECC Mode", "Ecc Mode": // the second up to driver 520
			g.ECC = value
		}
	case "Pending":
		if section == "Remapped Rows" {
			g.RemapPending = value
		}
	case "Total":
		switch section {
		case "BAR1 Memory Usage":
			g.BAR1MiB = smiMiB(value)
		case "FB Memory Usage":
			g.MemoryMiB = smiMiB(value)
		}
	}
}

// smiMiB reads "131072 MiB".
func smiMiB(s string) Opt[uint64] {
	n, unit, _ := strings.Cut(s, " ")
	v, err := strconv.ParseUint(n, 10, 64)
	return Opt[uint64]{V: v, OK: err == nil && strings.TrimSpace(unit) == "MiB"}
}

// pciAddress writes an address as the kernel does: nvidia-smi prints eight digits of the domain, in capitals.
func pciAddress(s string) (string, bool) {
	domain, rest, ok := strings.Cut(strings.ToLower(s), ":")
	if !ok || len(rest) != len("53:00.0") || rest[2] != ':' || rest[5] != '.' || len(domain) < 4 || len(domain) > 8 {
		return "", false
	}
	if strings.Trim(domain+rest[:2]+rest[3:5]+rest[6:], "0123456789abcdef") != "" {
		return "", false
	}
	domain = strings.TrimLeft(domain[:len(domain)-4], "0") + domain[len(domain)-4:]
	return domain + ":" + rest, true
}

// SMISource is the source of nvidia-smi's report.
const SMISource = "nvidia-smi -q"

// SMI is what nvidia-smi says of the GPUs.
var SMI = Define("nvidia-smi", []string{"nvidia-smi"}, func(in *In) Known[SMIReport] {
	it := in.Item(SMISource)
	if it == nil || !it.OK() {
		return Unknown[SMIReport](in)
	}
	r := ParseSMI(it.Out)
	if r.Trouble == "" {
		r.Trouble = ParseSMI(append(append([]byte(nil), it.Err...), '\n')).Trouble
	}
	if r.Driver == "" && len(r.GPUs) == 0 && r.Trouble == "" {
		return Unknown[SMIReport](in)
	}
	r.Cut = r.Cut || it.Truncated
	return Have(r)
})
