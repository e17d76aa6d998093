package paste

import (
	"strconv"
	"strings"

	"gdsproof/internal/facts"
)

// nvfsStats knows the lines of the driver's statistics.
func nvfsStats(s string) bool {
	t := strings.TrimLeft(s, " \t")
	switch {
	case strings.HasPrefix(t, "NVFS statistics"), strings.HasPrefix(t, "NVFS Driver"), strings.HasPrefix(t, "Mellanox PeerDirect Supported:"),
		strings.HasPrefix(t, "GDS Version:"), strings.HasPrefix(t, "IO stats:"), strings.HasPrefix(t, "Active Shadow-Buffer"), strings.HasPrefix(t, "Active Process:"),
		strings.HasPrefix(t, "Logging level:"):
		return true
	case strings.HasPrefix(t, "GPU ") && strings.Contains(t, "uuid:"):
		return true
	}
	label, rest, ok := strings.Cut(t, ":")
	if !ok || !strings.Contains(rest, "=") {
		return false
	}
	switch strings.TrimSpace(label) {
	case "Reads", "Writes", "Sparse Reads", "Mmap", "Bar1-map", "Bar1-Map", "Error", "Ops", "Batches":
		return true
	}
	return false
}

// gdscheck knows the lines that only gdscheck's report has.
func gdscheck(s string) bool {
	t := strings.TrimLeft(s, " \t-=")
	switch {
	case strings.HasPrefix(t, "GDS release version"), strings.HasPrefix(t, "nvidia_fs version"), strings.HasPrefix(t, "libcufile version"),
		strings.HasPrefix(t, "nvidia_fs minimum version"), strings.HasPrefix(t, "CUFILE CONFIGURATION"), strings.HasPrefix(t, "DRIVER CONFIGURATION"), strings.HasPrefix(t, "ENVIRONMENT"),
		strings.HasPrefix(t, "GPU INFO"), strings.HasPrefix(t, "PLATFORM INFO"), strings.HasPrefix(t, "Platform verification"), strings.HasPrefix(t, "GPU index "),
		strings.HasPrefix(t, "Found ACS enabled"), strings.HasPrefix(t, "Nvidia Driver Info Status"), strings.HasPrefix(t, "Cuda Driver Version Installed"):
		return true
	case strings.HasPrefix(t, "IOMMU:"), strings.HasPrefix(t, "IOMMU :"):
		return true
	case strings.HasPrefix(t, "properties.") || strings.HasPrefix(t, "fs.") || strings.HasPrefix(t, "execution."):
		return strings.Contains(t, ":")
	}
	return facts.IsGDSCheckRow(t)
}

// gdscheckMore takes what stands between: rows that are not known yet, rules, and the reason behind an error.
func gdscheckMore(s string) bool {
	t := strings.TrimSpace(s)
	return t == "" || strings.Trim(t, "=-…. ") == "" || strings.Contains(t, ":") || strings.HasPrefix(t, "GPUDirect Storage not supported") || strings.HasPrefix(t, "Invalid argument") ||
		strings.HasPrefix(t, "Total GPUS supported") || strings.HasPrefix(t, "cannot open scsi") || strings.HasPrefix(t, "use_mq not") || strings.HasPrefix(t, "Platform does not have") || strings.HasPrefix(t, "WARN: GDS") ||
		strings.HasPrefix(t, "nvidia-fs driver is not") || strings.HasPrefix(t, "found invalid log directory")
}

// lnetNet knows a listing of interfaces, and the lines that a grep leaves of one.
func lnetNet(s string) bool {
	t := strings.TrimLeft(s, " \t")
	switch {
	case t == "net:", strings.HasPrefix(t, "- net type:"), strings.HasPrefix(t, "net type:"), strings.HasPrefix(t, "local NI(s):"):
		return true
	case strings.HasPrefix(t, "- nid:") || strings.HasPrefix(t, "nid:"):
		return strings.Contains(t, "@")
	case strings.HasPrefix(t, "send_count:"), strings.HasPrefix(t, "recv_count:"):
		return true
	case strings.HasPrefix(t, "show:"), strings.HasPrefix(t, "- net:"):
		return false
	}
	return strings.Contains(t, "LNet stack down") || strings.Contains(t, "cannot get networks") || strings.Contains(t, "opening /dev/lnet failed")
}

func systemctl(s string) bool {
	t := strings.TrimLeft(s, " \t")
	switch {
	case strings.HasPrefix(t, "● "), strings.HasPrefix(t, "○ "), strings.HasPrefix(t, "× "), strings.HasPrefix(t, "* ") && strings.Contains(t, ".service"):
		return true
	case strings.HasPrefix(t, "Loaded: ") && hasAny(t, "loaded", "not-found", "masked"), strings.HasPrefix(t, "Active: ") && hasAny(t, "active", "failed", "activating"):
		return true
	case strings.HasPrefix(t, "LoadState="), strings.HasPrefix(t, "ActiveState="), strings.HasPrefix(t, "Id=") && hasAny(t, ".service", ".mount"):
		return true
	}
	return strings.HasPrefix(t, "Unit ") && strings.Contains(t, "could not be found")
}

// kernelLog knows the lines of dmesg and of the journal's kernel part.
func kernelLog(s string) bool {
	if kernelLine.MatchString(s) {
		return true
	}
	m := syslogLine.FindStringSubmatch(s)
	return m != nil && m[1] == "kernel" || prefixed(s, "LNetError: ", "LustreError: ", "nvidia-fs: ", "nvidia_fs: ", "nvidia-fs:", "NVRM: ") || prefixed(s, "LNet: ", "Lustre: ") && strings.Contains(s, ":0:(")
}

func moduleHead(s string) bool {
	f := strings.Fields(s)
	return len(f) >= 3 && f[0] == "Module" && f[1] == "Size" && f[2] == "Used"
}

// isModuleRow goes by the size too: the kernel counts modules in pages. Numbers in a table of anything else seldom do.
func isModuleRow(s string) bool {
	m := moduleRow.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	size, err := strconv.Atoi(m[2])
	return err == nil && size >= 4096 && size%4096 == 0
}

// isFstab tells a line of fstab from one of /proc/mounts, which begins its options with rw or ro and has none that
// are for mount and systemd alone.
func isFstab(s string) bool {
	f := strings.Fields(s)
	if len(f) < 4 {
		return false
	}
	if hasAny(f[0], "UUID=", "LABEL=") || f[1] == "none" || f[1] == "swap" {
		return true
	}
	if hasAny(f[3], "_netdev", "x-systemd.", "defaults", "noauto", "nofail") {
		return true
	}
	return !strings.HasPrefix(f[3], "rw") && !strings.HasPrefix(f[3], "ro")
}

// fstabLustre knows a line of a Lustre mount that lacks its last two fields, as people write it.
func fstabLustre(s string) bool {
	f := strings.Fields(s)
	return len(f) >= 4 && len(f) < 6 && strings.Contains(f[0], ":/") && strings.HasPrefix(f[1], "/") && f[2] == "lustre" && isFstab(s)
}

// lctlParam knows "osc.x-OST0000-osc-ffff….import=".
func lctlParam(s string) bool {
	k, _, ok := strings.Cut(s, "=")
	return ok && strings.Count(k, ".") >= 2 && prefixed(k, "osc.", "mdc.", "mgc.", "llite.") && !strings.ContainsAny(k, " \t")
}
