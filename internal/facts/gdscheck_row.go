package facts

import (
	"slices"
	"strings"
)

// GDSRow is a line of the driver configuration: "NVMe : nvfs, compat", "--rdma library : Not Loaded (…)".
type GDSRow struct {
	Name   string // as printed, with its leading dashes
	Value  string
	Tokens []string // of a comma list; nil where the value is a phrase (up to 1.15, and the rows with dashes)
}

// gdsNegative are single words that name no path.
var gdsNegative = []string{"unsupported", "disabled", "none", "no", "off", "false", "unknown", "error", "failed"}

// Path tells whether this storage has a path other than through the CPU. It cannot be told of a value that is a
// phrase of its own, or that the text shortened.
func (r GDSRow) Path() Answer {
	switch v := strings.ToLower(r.Value); {
	case v == "supported":
		return Yes
	case slices.Contains(gdsNegative, v):
		return No
	}
	if len(r.Tokens) == 0 {
		return CannotTell
	}
	if r.Has("p2pdma") && !r.Has("nvfs") && !strings.Contains(r.Value, "Supported") && networked(r.Name) {
		return No // P2PDMA is of local NVMe: over a network it carries nothing
	}
	for _, t := range r.Tokens {
		if t != "compat" && !slices.Contains(gdsNegative, t) {
			return Yes
		}
	}
	return No // "compat" alone repeats that the fallback is allowed
}

// Direct tells whether the value promises a direct path: Supported, or a token other than compat.
func (r GDSRow) Direct() bool { return r.Path() == Yes }

// Has tells whether a token is in the list: nvfs, p2pdma, dmabuf, nvidia_peermem, c2c, compat.
func (r GDSRow) Has(token string) bool { return slices.Contains(r.Tokens, token) }

// gdsRows are the rows that any release was seen to print, by their key. It is the name in lower case without
// dashes; a name of the betas stands for today's.
var gdsRows = map[string]string{
	"nvme p2pdma": "", "nvme": "", "nvmeof": "", "scsi": "", "scaleflux csd": "", "fsx lustre": "", "nvmesh": "",
	"ddn exascaler": "", "ibm spectrum scale": "", "nfs": "", "beegfs": "", "scatefs": "", "virtiofs": "", "wekafs": "",
	"userspace rdma": "", "mellanox peerdirect": "", "dmabuf support": "", "dcconnection": "",
	"rdma library": "", "rdma devices": "", "rdma_device_status": "",
	"lustre": "ddn exascaler", "gpfs": "ibm spectrum scale", "mofed peer direct": "mellanox peerdirect",
}

func gdsRowKey(name string) string {
	key := strings.ToLower(strings.Join(strings.Fields(strings.TrimLeft(name, "-–— \t")), " "))
	if now := gdsRows[key]; now != "" {
		return now
	}
	return key
}

// gdsRow reads "name : value". Inside the section any value of a known row counts, and any name with a value that
// rows have; elsewhere both must be known, for "NFS : mounted" is a line of many texts.
func gdsRow(line string, inside bool) (GDSRow, bool) {
	name, value, ok := strings.Cut(line, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || name == "" || len(name) > 40 || value == "" {
		return GDSRow{}, false
	}
	_, known := gdsRows[gdsRowKey(name)]
	tokens, usual := gdsRowValue(value)
	if !(inside && (known || usual) || known && usual) {
		return GDSRow{}, false
	}
	return GDSRow{Name: name, Value: value, Tokens: tokens}, true
}

var gdsTokens = []string{"p2pdma", "nvfs", "dmabuf", "nvidia_peermem", "c2c", "compat"}

// gdsRowValue splits a list of tokens, and tells whether a value is one that rows were seen to have. A list counts
// as one if any of its words is known, so that a new word beside them is kept.
func gdsRowValue(v string) (tokens []string, usual bool) {
	low := strings.ToLower(v)
	switch low {
	case "supported", "unsupported", "enabled", "disabled", "configured", "not configured":
		return nil, true
	}
	if strings.HasPrefix(low, "loaded (") || strings.HasPrefix(low, "not loaded (") || strings.HasPrefix(low, "up:") && strings.Contains(low, "down:") {
		return nil, true
	}
	for t := range strings.SplitSeq(low, ",") {
		t = strings.TrimSpace(t)
		if t == "" || strings.Trim(t, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			return nil, false
		}
		tokens = append(tokens, t)
		usual = usual || slices.Contains(gdsTokens, t)
	}
	if !usual {
		return nil, false
	}
	return tokens, true
}

// gdsSetting reads a line of the configuration. Some keys have no blank before the colon.
func gdsSetting(line string) (GDSSetting, bool) {
	key, value, ok := strings.Cut(line, ":")
	key = strings.TrimSpace(key)
	if !ok || !strings.Contains(key, ".") || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789_.") != "" {
		return GDSSetting{}, false
	}
	section, _, _ := strings.Cut(key, ".")
	if !slices.Contains(gdsFamilies, section) {
		return GDSSetting{}, false
	}
	return GDSSetting{key, strings.Join(strings.Fields(value), " ")}, true
}

var gdsFamilies = []string{"properties", "fs", "profile", "miscellaneous", "execution", "block", "sparse", "logging", "denylist", "blacklist"}

// gdsVariable reads a line of the environment: "CUFILE_LOGGING_LEVEL : TRACE".
func gdsVariable(line string) (GDSSetting, bool) {
	name, value, ok := strings.Cut(line, ":")
	name = strings.TrimSpace(name)
	if !ok || !strings.HasPrefix(name, "CUFILE_") || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return GDSSetting{}, false
	}
	return GDSSetting{name, strings.TrimSpace(value)}, true
}

// networked are the rows of file systems that nvidia-fs, or their own RDMA, serves.
func networked(row string) bool {
	low := strings.ToLower(row)
	for _, n := range []string{"lustre", "exascaler", "nfs", "gpfs", "spectrum", "beegfs", "scatefs", "virtiofs"} {
		if strings.Contains(low, n) {
			return true
		}
	}
	return false
}

// IsGDSCheckRow tells a line that, by itself, only gdscheck's driver configuration has.
func IsGDSCheckRow(line string) bool {
	_, ok := gdsRow(line, false)
	return ok
}
