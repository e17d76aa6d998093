package facts

import "strings"

// platform takes a line of PLATFORM INFO, and those about the machine and its GPUs as a whole; it tells the section.
func (r *gdsReader) platform(line, low string) (GDSSection, bool) {
	value := func(label string) (string, bool) {
		rest, ok := strings.CutPrefix(low, label)
		if !ok {
			return "", false
		}
		rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t"), ":")
		return strings.TrimSpace(line[len(line)-len(rest):]), ok
	}
	if v, ok := value("iommu"); ok {
		r.out.IOMMUText, r.out.IOMMU = v, gdsIOMMU(v)
		return GDSPlatform, true
	}
	if v, ok := value("nvidia driver info status"); ok {
		r.out.DriverStatus = v
		return GDSPlatform, true
	}
	if v, ok := value("cuda driver version installed"); ok {
		r.out.CudaDriver = v
		return GDSPlatform, true
	}
	if v, ok := value("platform"); ok {
		return r.machine(v, lowerASCII(v))
	}
	if _, ok := value("arch"); ok {
		return r.machine(line, low)
	}
	last := func() string { f := strings.Fields(line); return f[len(f)-1] }
	switch {
	case strings.HasPrefix(low, "found acs enabled"):
		bridge := last()
		if !strings.Contains(bridge, ":") {
			return "", false
		}
		r.out.ACS = append(r.out.ACS, bridge)
	case strings.HasPrefix(low, "warn:") && strings.Contains(low, "iommu"):
		r.out.Warnings = append(r.out.Warnings, line)
	case strings.HasPrefix(low, "platform does not have any supported gpu"):
		r.out.NoGPU = true
		return GDSGPUInfo, true
	case strings.HasPrefix(low, "total gpus supported on this platform"):
		r.out.GPUTotal = optInt(last())
		return GDSGPUInfo, true
	case gdsNoise(low):
	default:
		return "", false
	}
	return GDSPlatform, true
}

// gdsNoise are lines of healthy machines that libcufile writes between those of the report.
func gdsNoise(low string) bool {
	return strings.HasPrefix(low, "cannot open scsi_mod path") || strings.HasPrefix(low, "use_mq not detected in scsi") ||
		strings.HasPrefix(low, "acs not enabled in gpu paths")
}

// machine reads "x86_64" of the version lines, and "<product>, Arch: x86_64(Linux 6.8.0)" of the platform's. The
// product is left out where the firmware has no name for it; a product's name may have a comma.
func (r *gdsReader) machine(v, low string) (GDSSection, bool) {
	i := strings.LastIndex(low, "arch:")
	if i < 0 {
		if v == "" || strings.ContainsAny(v, " \t") {
			return "", false
		}
		r.out.Machine = v
		return GDSVersions, true
	}
	r.out.Product = strings.TrimRight(strings.TrimSpace(v[:i]), ", ")
	arch := strings.TrimSpace(v[i+len("arch:"):])
	r.out.Arch, r.out.Kernel, _ = strings.Cut(arch, "(")
	r.out.Kernel = strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(r.out.Kernel), ")"), "Linux ")
	r.out.Arch = strings.TrimSpace(r.out.Arch)
	return GDSPlatform, true
}

// verification reads the last lines. "Platform verification error :" goes on in the next line.
func (r *gdsReader) verification(line, low string) bool {
	switch {
	case strings.Contains(low, "platform verification succeeded"):
		r.end(line, true)
	case strings.Contains(low, "platform verification failed"):
		r.end(line, false)
	case strings.Contains(low, "platform verification error"):
		r.end(line, false)
		_, reason, _ := strings.Cut(line, ":")
		r.out.Reason = strings.TrimSpace(reason)
		r.failed = r.out.Reason == ""
	case low == "platform is not supported by cufile", low == "cufile initialization failed", strings.HasPrefix(low, "platform has been denied for gds"),
		strings.HasPrefix(low, "platform cpu architecture not supported"):
		if !r.out.Ended() {
			r.end(line, false)
		}
		if r.out.Reason == "" {
			r.out.Reason = line
		}
		r.failed = false
	default:
		return false
	}
	return true
}

func (r *gdsReader) end(line string, good bool) {
	r.out.VerifiedOK, r.out.VerifiedLine = Some(good), line
	r.over = good // a failure goes on
}
