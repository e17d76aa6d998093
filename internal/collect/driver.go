package collect

import (
	"bytes"
	"context"
	"path"
	"strings"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
)

func init() {
	register(Probe{"identity", "host name, kernel, boot, firmware's product name, signs of a container", func(ctx context.Context, g *Gatherer) {
		for _, p := range []string{facts.HostnameSource, facts.KernelSource, facts.BootIDSource, facts.ProductSource, facts.VendorSource, facts.InitSource} {
			g.Read(ctx, p)
		}
		for _, p := range []string{"/.dockerenv", "/run/.containerenv", "/run/systemd/container"} {
			g.Add(g.Host.Stat(ctx, p))
		}
	}})
	register(Probe{"modules", "/proc/modules", func(ctx context.Context, g *Gatherer) { g.Read(ctx, "/proc/modules") }})
	register(Probe{"mounts", "/proc/self/mountinfo", func(ctx context.Context, g *Gatherer) { g.Read(ctx, facts.MountinfoSource) }})
	register(Probe{"pci", "uevent and numa_node of every PCI device", pciProbe})
	register(Probe{"kernel-log", "dmesg and journalctl -k -b, the lines of GPU, storage and network drivers", kernelLogProbe})
	register(Probe{"nvidia-driver", "/proc/driver/nvidia, /sys/module/nvidia/version, modinfo nvidia", func(ctx context.Context, g *Gatherer) {
		g.ReadSlow(ctx, "/proc/driver/nvidia/version")
		g.Add(g.Host.List(ctx, "/proc/driver/nvidia/gpus", true))
		g.Read(ctx, "/sys/module/nvidia/version")
		g.Add(g.Host.Run(ctx, host.Command{Argv: []string{"modinfo", "nvidia"}}))
	}})
	register(Probe{"nvidia-fs-proc", "the files of /proc/driver/nvidia-fs", func(ctx context.Context, g *Gatherer) {
		// Not "modules": it takes a lock that an open or close holds while a storage module unregisters, and
		// on an idle host it means nothing. It is read while nodes are held open (nvidia-fs-devices).
		for _, f := range []string{"version", "devcount", "stats", "peer_distance", "bridges"} {
			g.ReadSlow(ctx, facts.NVFSProc+"/"+f)
		}
	}})
	register(Probe{"nvidia-fs-sysfs", "/sys/module/nvidia_fs: version and parameters", func(ctx context.Context, g *Gatherer) {
		g.Read(ctx, facts.NVFSModule+"/version")
		foldDir(ctx, g, facts.NVFSModule+"/parameters", facts.NVFSModule+"/parameters/*")
	}})
	register(Probe{"nvidia-fs-devices", "/dev/nvidia-fs*: what they are; opened all at once, and /proc/driver/nvidia-fs/modules read meanwhile", devicesProbe})
	register(Probe{"nvidia-fs-modinfo", "modinfo nvidia_fs", func(ctx context.Context, g *Gatherer) {
		g.Add(g.Host.Run(ctx, host.Command{Argv: []string{"modinfo", "nvidia_fs"}}))
	}})
	register(Probe{"gdscheck", "gdscheck -p, from /usr/local/cuda/gds/tools or the newest /usr/local/cuda-*; else the same report from the log of libcufile, opened once in a child", gdscheckProbe})
}

// foldDir reads every file of a flat folder into one item.
func foldDir(ctx context.Context, g *Gatherer, dir, source string) {
	list := g.Host.List(ctx, dir, false)
	var files []Named
	for _, n := range names(list) {
		files = append(files, Named{n, g.Host.Read(ctx, path.Join(dir, n), false)})
	}
	g.Fold(source, list, files)
}

// names are the plain files of a listing.
func names(list evidence.Item) []string {
	var out []string
	for line := range strings.Lines(string(list.Out)) {
		if n := strings.TrimSpace(line); n != "" && !strings.HasSuffix(n, "/") {
			out = append(out, strings.TrimSuffix(n, "@"))
		}
	}
	return out
}

func pciProbe(ctx context.Context, g *Gatherer) {
	const dir = "/sys/bus/pci/devices"
	list := g.Host.List(ctx, dir, false)
	out := list
	out.Source = facts.PCISource
	if list.OK() {
		var b strings.Builder
		for _, n := range facts.ListedNames(list.Out) {
			ev := g.Host.Read(ctx, path.Join(dir, n, "uevent"), false)
			if !ev.OK() {
				out.Truncated = true
				continue
			}
			b.WriteString(n + " " + strings.Join(strings.Fields(string(ev.Out)), " "))
			if numa := g.Host.Read(ctx, path.Join(dir, n, "numa_node"), false); numa.OK() {
				b.WriteString(" NUMA_NODE=" + strings.TrimSpace(string(numa.Out)))
			}
			b.WriteByte('\n')
		}
		out.Out = []byte(b.String())
	}
	g.Add(out)
}

// kernelWords choose the lines of the kernel log that any check or signature can speak of. "linux version" tells
// that a log begins with the boot.
var kernelWords = []string{"linux version", "nvidia", "nvfs", "nvrm", "peer_devs", "pdevinfo", "pci_device index", "device table", "lnet", "lustre", "kefalnd",
	" efa", "efa:", "efa_", "@efa", "-efa-", "ptlrpc", "ksocklnd", "libcfs", "xid", "iommu", "dmar", " acs", "command line:", "symbol_get", "deregister funtion", "rdmap", "hung task", "blocked for more than",
	"kernel bug", "va_start=", "rpcrdma", "nvme", "osc:", "mdc:", "ldlm", "llite"}

func kernelLogProbe(ctx context.Context, g *Gatherer) {
	const most = 8 << 20
	g.Add(g.Host.Run(ctx, host.Command{Argv: []string{"dmesg"}, MaxOut: most, Keep: kernelWords}))
	g.Add(g.Host.Run(ctx, host.Command{Name: facts.JournalSource, Argv: []string{"journalctl", "-k", "-b", "--no-pager", "-q", "-o", "short-monotonic"}, MaxOut: most, Keep: kernelWords}))
}

// devicesProbe opens the nodes as libcufile does. Opening makes the driver take references on the storage
// modules for that moment, and the close can wait a second or more in Lustre: so it is one child, once.
func devicesProbe(ctx context.Context, g *Gatherer) {
	list := g.Host.List(ctx, "/dev", false)
	var nodes []string
	var kept []string
	for line := range strings.Lines(string(list.Out)) {
		n := strings.TrimSpace(line)
		if !strings.HasPrefix(n, "nvidia") {
			continue
		}
		kept = append(kept, n)
		if strings.HasPrefix(n, "nvidia-fs") && !strings.HasSuffix(n, "/") {
			nodes = append(nodes, "/dev/"+strings.TrimSuffix(n, "@"))
		}
	}
	if list.OK() { // the rest of /dev is nobody's business
		list.Out = []byte(strings.Join(kept, "\n"))
		if len(kept) > 0 {
			list.Out = append(list.Out, '\n')
		}
	}
	g.Add(list)
	var chars []string
	for _, n := range nodes {
		st := g.Host.Stat(ctx, n)
		g.Add(st)
		// A FIFO or a plain file in a node's place is not opened: the stat alone settles it.
		if st.OK() && facts.ParseStat(st.Out)["type"] == "char" {
			chars = append(chars, n)
		}
	}
	if len(chars) > 0 {
		g.Add(g.Host.Hold(ctx, chars, facts.NVFSProc+"/modules")...)
	}
}

// gdscheckProbe runs the first gdscheck that is there: the owner's choice of CUDA first, else the newest.
func gdscheckProbe(ctx context.Context, g *Gatherer) {
	tool := FindGDSTool(ctx, g.Host, "gdscheck")
	if tool == "" {
		g.Add(evidence.Item{Source: facts.GDSCheckSource, Form: evidence.Whole, State: evidence.Absent,
			Err: []byte("gdscheck is neither in /usr/local/cuda/gds/tools nor in /usr/local/cuda-*/gds/tools")})
		cufileReport(ctx, g)
		return
	}
	it := g.Host.Run(ctx, host.Command{Name: facts.GDSCheckSource, Argv: []string{tool, "-p"}, Env: host.EnvCaller, Timeout: 20 * time.Second})
	g.Add(it)
	// One that does not start, or crashes, leaves libcufile itself to be asked.
	if !it.OK() || !bytes.Contains(it.Out, []byte("INFO")) {
		cufileReport(ctx, g)
	}
}

// FindGDSTool finds one of NVIDIA's GDS tools.
func FindGDSTool(ctx context.Context, h host.Host, name string) string {
	for _, d := range cudaHomes(ctx, h) {
		p := d + "/gds/tools/" + name
		if st := h.Stat(ctx, p); st.OK() {
			return p
		}
	}
	return ""
}

// cudaHomes are the folders where CUDA may be: the owner's choice, then by version, newest first.
func cudaHomes(ctx context.Context, h host.Host) []string {
	homes := []string{"/usr/local/cuda"}
	list := h.List(ctx, "/usr/local", false)
	var versions []string
	for _, n := range facts.ListedNames(list.Out) {
		if v, ok := strings.CutPrefix(n, "cuda-"); ok {
			versions = append(versions, v)
		}
	}
	facts.SortVersions(versions)
	for i := len(versions) - 1; i >= 0; i-- {
		homes = append(homes, "/usr/local/cuda-"+versions[i])
	}
	return homes
}
