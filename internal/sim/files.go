package sim

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
)

// files prints every file of the node. What is not in the map is not there.
func (n *node) files() map[string]string {
	f := map[string]string{
		"/proc/sys/kernel/hostname":          n.hostname + "\n",
		"/proc/sys/kernel/osrelease":         n.kernel + "\n",
		"/proc/sys/kernel/random/boot_id":    "7d3f0c52-9a61-4e0b-8a55-2f6f1f0a9c11\n",
		"/sys/class/dmi/id/product_name":     n.product + "\n",
		"/sys/class/dmi/id/sys_vendor":       n.vendor + "\n",
		"/proc/modules":                      n.procModules(),
		"/proc/self/mountinfo":               n.mountinfo(),
		"/usr/lib/modules-load.d/fwupd.conf": "msr\n",
		"/lib64/ld-linux-x86-64.so.2":        "\x7fELF",
	}
	for _, g := range n.gpus {
		n.function(f, function{addr: g.addr, vendor: 0x10de, device: g.device, class: 0x030200, driver: n.gpuDriver(), numa: g.numa})
		if n.nvDrv.loaded {
			f["/proc/driver/nvidia/gpus/"+g.addr+"/information"] = fmt.Sprintf("Model: \t\t %s\nIRQ:   \t\t 0\nGPU UUID: \t GPU-%s\nBus Type: \t PCIe\nBus Location: \t %s\nDevice Minor: \t 0\n", g.model, g.uuid, g.addr)
		}
	}
	for _, p := range n.pci {
		n.function(f, p)
	}
	if n.nvDrv.loaded {
		f["/sys/module/nvidia/version"] = n.nvDrv.version + "\n"
		kind := "NVIDIA UNIX x86_64 Kernel Module  " + n.nvDrv.version
		if n.nvDrv.open {
			kind = "NVIDIA UNIX Open Kernel Module for x86_64  " + n.nvDrv.version
		}
		f["/proc/driver/nvidia/version"] = "NVRM version: " + kind + "  Release Build  (builder@sim)  Tue Sep 23 10:11:16 UTC 2025\nGCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n"
	}
	n.nvfsFiles(f)
	n.lustreFiles(f)
	for file, text := range n.bootCfg {
		f[file] = text
	}
	f["/proc/cmdline"] = n.cmdline() + "\n"
	n.kitFiles(f)
	n.iommuFiles(f)
	return f
}

// cmdline is the kernel's command line.
func (n *node) cmdline() string {
	return "BOOT_IMAGE=/boot/vmlinuz-" + n.kernel + " root=PARTUUID=0 ro console=ttyS0" + onOff(n.iommu, " intel_iommu=on", "")
}

// kitFiles are CUDA's, and the configuration of its library. The link /usr/local/cuda leads to the same files.
func (n *node) kitFiles(f map[string]string) {
	if n.kit.release == "" {
		return
	}
	f["/etc/cufile.json"] = n.cufileText()
	f[n.kit.dir()+"/version.json"] = fmt.Sprintf("{ \"cuda\" : { \"name\" : \"CUDA SDK\", \"version\" : %q } }\n", n.kit.cuda+".1")
	if !n.kit.noTools {
		f[n.kit.dir()+"/gds/tools/gdscheck"] = "\x7fELF"
		f[n.kit.dir()+"/gds/tools/gdsio"] = "\x7fELF"
	}
	if !n.kit.noLibrary {
		f[n.kit.libraries()+"/"+n.kit.file()] = "\x7fELF"
	}
}

// iommuFiles are the groups of an IOMMU that is on: one for each function here.
func (n *node) iommuFiles(f map[string]string) {
	if !n.iommu {
		return
	}
	for i := range len(n.gpus) + len(n.pci) {
		f[fmt.Sprintf("/sys/kernel/iommu_groups/%d/type", i)] = "DMA-FQ\n"
	}
}

// emptyDirs are folders that are there with nothing in them: the kernel has these without an IOMMU too.
func (n *node) emptyDirs() []string {
	return []string{"/sys/class/iommu", "/sys/kernel/iommu_groups"}
}

// lustreFiles prints what the Lustre client, kefalnd and the efa driver show.
func (n *node) lustreFiles(f map[string]string) {
	f["/etc/fstab"] = n.fstab()
	if len(n.efaModules()) > 0 {
		f["/sys/module/efa/version"] = n.efa.version + "\n"
	}
	if n.lnetLoaded() {
		f["/sys/fs/lustre/version"] = n.client.version + "\n"
	}
	if n.configured() {
		f["/sys/module/kefalnd/version"] = n.client.kefalnd + "\n"
	}
}

const rdmaDir = "/sys/class/infiniband/"

// links are the links of /sys/class/infiniband: to the device, from it to the PCI function, from that to its driver;
// those of CUDA's folders and library; and the IOMMU's units.
func (n *node) links() map[string]string {
	m := map[string]string{}
	if n.kit.release != "" {
		if !n.kit.noLink {
			m["/usr/local/cuda"] = path.Base(n.kit.dir())
		}
		m[n.kit.dir()+"/lib64"] = "targets/x86_64-linux/lib"
		if !n.kit.noLibrary {
			m[n.kit.libraries()+"/libcufile.so.0"] = n.kit.file()
			m[n.kit.libraries()+"/libcufile.so"] = "libcufile.so.0"
		}
	}
	if n.iommu {
		for i := range 2 {
			m[fmt.Sprintf("/sys/class/iommu/dmar%d", i)] = fmt.Sprintf("../../devices/virtual/iommu/dmar%d", i)
		}
	}
	for _, d := range n.rdmas() {
		dir := rdmaDir + d.name
		m[dir] = "../../devices/pci" + d.pci[:7] + "/" + d.pci + "/infiniband/" + d.name
		m[dir+"/device"] = "../../../" + d.pci
		m[dir+"/device/driver"] = "../../../../bus/pci/drivers/" + d.driver
	}
	return m
}

func (n *node) gpuDriver() string {
	if n.nvDrv.loaded {
		return "nvidia"
	}
	return ""
}

// function prints a PCI function's uevent as the kernel does.
func (n *node) function(f map[string]string, p function) {
	dir := "/sys/bus/pci/devices/" + p.addr
	var b strings.Builder
	if p.driver != "" {
		fmt.Fprintf(&b, "DRIVER=%s\n", p.driver)
	}
	fmt.Fprintf(&b, "PCI_CLASS=%X\nPCI_ID=%04X:%04X\nPCI_SUBSYS_ID=%04X:0000\nPCI_SLOT_NAME=%s\n", p.class, p.vendor, p.device, p.vendor, p.addr)
	f[dir+"/uevent"] = b.String()
	f[dir+"/numa_node"] = fmt.Sprintf("%d\n", p.numa)
}

// procModules prints name, size, use count, users, state, address and taint.
func (n *node) procModules() string {
	var b strings.Builder
	row := func(s, taint string) {
		w := strings.Fields(s)
		users := w[3]
		if users != "-" {
			users += ","
		}
		fmt.Fprintf(&b, "%s %s %s %s Live 0x0000000000000000%s\n", w[0], w[1], w[2], users, taint)
	}
	if n.nvfs.loaded {
		if n.nvfs.stuck {
			b.WriteString("nvidia_fs 323584 -1 - Unloading 0x0000000000000000 (OE-)\n")
		} else {
			b.WriteString("nvidia_fs 323584 0 - Live 0x0000000000000000 (OE)\n")
		}
	}
	if n.nvDrv.loaded {
		taint, users := " (OE)", "nvidia_uvm,nvidia_modeset"
		if !n.nvDrv.open {
			taint = " (POE)"
		}
		if n.nvfs.loaded {
			users = "nvidia_fs," + users
		}
		row("nvidia_uvm 2166784 0 -", taint)
		row("nvidia_modeset 1810432 0 -", taint)
		row("nvidia 14393344 66 "+users, taint)
	}
	for _, m := range slices.Concat(n.lustreModules(), n.efaModules(), n.mods) {
		taint := ""
		switch kef := strings.HasPrefix(m, "kefalnd "); {
		case kef && n.client.staging:
			taint = " (C)"
		case kef, strings.HasPrefix(m, "efa ") && !n.client.staging:
			taint = " (OE)"
		}
		row(m, taint)
	}
	return b.String()
}

func (n *node) mountinfo() string {
	lines := []string{
		"24 30 0:22 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw",
		"25 30 0:23 / /sys rw,nosuid,nodev,noexec,relatime shared:6 - sysfs sysfs rw",
		"29 1 259:2 / / rw,relatime shared:1 - ext4 /dev/root rw,discard,errors=remount-ro",
		"31 29 0:26 / /run rw,nosuid,nodev shared:5 - tmpfs tmpfs rw,size=209715200k,mode=755",
	}
	return strings.Join(append(lines, n.mountLines()...), "\n") + "\n"
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func hexAddr(bus, i int) string {
	return fmt.Sprintf("0000:%02x:%02x.0", bus+i/16, i%16)
}
