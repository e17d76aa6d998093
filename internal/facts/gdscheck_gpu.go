package facts

import (
	"strconv"
	"strings"
)

// GDSGPU is a line of GPU INFO. Its forms, oldest first:
//
//	GPU Index: 0 bar:1 bar size (MB):32768
//	GPU index 0 Quadro P1000 bar:1 bar size (MiB):256 supports GDS
//	GPU index 0 NVIDIA H200 bar:1 bar size (MiB):262144 supports GDS, IOMMU State: Disabled
//	GPU index 0 NVIDIA GH200 144G HBM3e bar:disabled bar size (MiB):N/A supports GDS, IOMMU State: …
//	GPU index 0 NVIDIA H200: Model Not Supported
//	GPU 0 Quadro K1200 does not have supported architecture, has 5 requires >= 6
type GDSGPU struct {
	Index    int
	Name     string // "" in the oldest form
	Supports Answer // it is Yes for GeForce cards too, which nvidia-fs then refuses
	Why      string // the words that deny it
	// BAR is false where the GPU has no BAR1 because it needs none (C2C machines).
	BAR    Opt[bool]
	BARMiB Opt[uint64]
	// IOMMU is true for "Pass-through or Enabled".
	IOMMU     Opt[bool]
	IOMMUText string
	Line      string
}

// gdsGPU reads such a line. Other lines begin with "GPU 0" too (nvidia-smi -L, gds_stats): they have none of the
// marks.
func gdsGPU(line string) (GDSGPU, bool) {
	low := lowerASCII(line)
	rest, ok := strings.CutPrefix(low, "gpu")
	if !ok {
		return GDSGPU{}, false
	}
	rest = strings.TrimLeft(rest, " \t")
	rest, said := strings.CutPrefix(rest, "index")
	rest = strings.TrimLeft(rest, " \t:")
	digits := 0
	for digits < len(rest) && '0' <= rest[digits] && rest[digits] <= '9' {
		digits++
	}
	n, err := strconv.Atoi(rest[:digits])
	if err != nil || n > 1023 {
		return GDSGPU{}, false
	}
	low = rest[digits:]
	if low != "" && low[0] != ' ' && low[0] != '\t' {
		return GDSGPU{}, false
	}
	text := line[len(line)-len(low):]
	g := GDSGPU{Index: n, Line: line}
	g.name(text, low)
	if v, ok := gdsAfter(low, "bar size (mib):", "bar size (mb):"); ok {
		if mib, err := strconv.ParseUint(v, 10, 64); err == nil {
			g.BARMiB = Some(mib)
		}
	}
	if v, ok := gdsAfter(low, " bar:"); ok {
		switch v {
		case "1":
			g.BAR = Some(true)
		case "disabled", "0":
			g.BAR = Some(false)
		}
	}
	g.support(text, low)
	if i := strings.Index(low, "iommu state:"); i >= 0 {
		g.IOMMUText = strings.TrimSpace(text[i+len("iommu state:"):])
		g.IOMMU = gdsIOMMU(g.IOMMUText)
	}
	marked := g.Supports != CannotTell || strings.Contains(low, "bar size (") || strings.Contains(low, "gds")
	return g, marked || said
}

func (g *GDSGPU) name(text, low string) {
	end := len(text)
	for _, mark := range []string{" bar:", ": ", " does not", " supports gds", " is not"} {
		if i := strings.Index(low, mark); i >= 0 && i < end {
			end = i
		}
	}
	g.Name = strings.TrimSpace(text[:end])
}

func (g *GDSGPU) support(text, low string) {
	for _, no := range []string{"not supported", "does not have supported architecture", "does not support", "unsupported"} {
		if i := strings.Index(low, no); i >= 0 {
			g.Supports = No
			if g.Name != "" {
				_, text, _ = strings.Cut(text, g.Name)
			}
			g.Why = strings.TrimLeft(text, ": \t")
			return
		}
	}
	if strings.Contains(low, "supports gds") {
		g.Supports = Yes
	}
}

// gdsIOMMU reads the state of the IOMMU in either of its two places. On and pass-through are one word.
func gdsIOMMU(s string) Opt[bool] {
	switch low := lowerASCII(s); {
	case low == "disabled":
		return Some(false)
	case strings.HasPrefix(low, "pass-through"), low == "enabled":
		return Some(true)
	}
	return Opt[bool]{}
}

// gdsAfter returns the word behind the first of the labels that is there, without the comma that may follow it.
func gdsAfter(low string, labels ...string) (string, bool) {
	for _, l := range labels {
		if i := strings.Index(low, l); i >= 0 {
			if f := strings.Fields(low[i+len(l):]); len(f) > 0 {
				return strings.TrimSuffix(f[0], ","), true
			}
		}
	}
	return "", false
}
