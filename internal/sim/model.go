// Package sim is a simulated GPU node: a small model of driver, network, GPUs and file system, with faults, that
// answers the same files and commands as a live one. It prints from the programs' own formats; nothing of it is
// shared with the parsers.
package sim

import (
	"fmt"
	"sort"
	"strings"
)

// node is the model. A fault changes it; files and commands are printed from it.
type node struct {
	name     string
	text     string
	instance string // "" if no cloud machine
	vendor   string
	product  string
	hostname string
	kernel   string

	gpus  []gpu
	pci   []function // all but GPUs
	nvDrv struct {
		loaded  bool
		version string
		open    bool
	}
	nvfs    nvfs
	mods    []string // modules that nothing here speaks of: "name size refs usedby"
	klog    []string // without stamps
	bootCfg map[string]string
	efa     efaDriver
	client  client
	setup   setup
	lnet    lnet
	fs      *fileSystem // nil: the node has nothing of Lustre
	kit     toolkit
	cufile  cufileJSON
	barMiB  int      // size of a GPU's BAR1
	iommu   bool     // on, and translating
	acs     []string // PCI bridges with Access Control Services on
	denied  bool     // libcufile does not support the platform
	noHooks bool     // libcufile does not see which storage modules registered

	silentCompat bool // every file falls back to the CPU, which no look at the node tells

	// What only an experiment shows.
	registeredCompat bool   // buffers are registered, and the I/O goes through the CPU all the same
	efaBlocked       bool   // nothing passes over EFA
	wireFlat         bool   // LNet's counters do not move
	idleDevice       string // carries nothing
	dense            bool   // files do not look sparse
	gdsioErrorGPU    int    // gdsio fails on this one; 0: on none
	stale            bool   // a read gives something else than what was written
	busy             bool   // another job uses the file system
	strict           bool   // of a run: compat mode is off

	moved moving
}

type gpu struct {
	addr, uuid, model string
	device            uint16
	numa              int
	unsupported       bool // by libcufile
}

type function struct {
	addr           string
	vendor, device uint16
	class          uint32
	driver         string
	numa           int
}

type nvfs struct {
	loaded    bool
	stuck     bool // half unloaded after a kernel BUG
	installed bool // below /lib/modules
	version   string
	gds       string // GDS version it was built with
	maxPeers  int
	nodes     int
	noNodes   bool
	rwStats   bool
	reads     map[string]uint64
	writes    map[string]uint64
	errors    map[string]uint64
	mmap      uint64
}

func (n *node) hasClass(c uint32) (out []function) {
	for _, f := range n.pci {
		if f.class == c {
			out = append(out, f)
		}
	}
	return out
}

// peers are the functions that nvidia-fs puts into its table: Ethernet, InfiniBand, NVMe, in this order, until
// the table is full.
func (n *node) peers() []function {
	all := append(append(n.hasClass(0x020000), n.hasClass(0x020700)...), n.hasClass(0x010802)...)
	if len(all) > n.nvfs.maxPeers {
		all = all[:n.nvfs.maxPeers]
	}
	return all
}

// loadMessages is what nvidia-fs 2.24.2 and later print at load.
func (n *node) loadMessages() []string {
	out := []string{
		"nvidia_fs: Initializing nvfs driver module",
		"nvidia_fs: registered correctly with major number 506",
	}
	if versionAbove(n.nvfs.version, 2, 24) {
		out = append(out, fmt.Sprintf("max_peer_devs : %d and max_pci_depth : 16", n.nvfs.maxPeers))
	}
	total := 0
	for _, c := range []uint32{0x020000, 0x020700, 0x010802} {
		k := len(n.hasClass(c))
		total += k
		if k >= n.nvfs.maxPeers {
			out = append(out, fmt.Sprintf("nvidia-fs:devices from class type :0x%x exceeds device table limits", c))
		}
	}
	if total > n.nvfs.maxPeers {
		out = append(out, "nvidia-fs:hash index full for pdevinfo 0000:f1:00.0", "nvidia-fs:pci_device index table already full")
	}
	return out
}

func versionAbove(v string, major, minor int) bool {
	var a, b int
	_, _ = fmt.Sscanf(v, "%d.%d", &a, &b)
	return a > major || a == major && b >= minor
}

// Fault is one way to break a node.
type Fault struct {
	Name  string
	Text  string
	Check string // the check that must name it; "" when the node stays ready
	Needs string // what a node must have: gpu, efa, gds, proprietary (GPUs that work with the proprietary modules)
	apply func(*node)
	// not: faults that cannot be together with this one, and why.
	not map[string]string
}

var faults = map[string]Fault{}

func fault(f Fault) {
	faults[f.Name] = f
}

// Faults returns all faults by name.
func Faults() []Fault {
	var out []Fault
	for _, f := range faults {
		out = append(out, f)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Shape is a kind of node.
type Shape struct{ Name, Text string }

// Shapes returns all kinds of nodes by name.
func Shapes() []Shape {
	var out []Shape
	for name, build := range shapes {
		out = append(out, Shape{name, build().text})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// parse builds a node from "p5en,nvidia-fs-missing".
func parse(spec string) (*node, error) {
	words := strings.Split(spec, ",")
	build, ok := shapes[words[0]]
	if !ok {
		return nil, fmt.Errorf("no simulated node %q: there are %s (see gdsproof sim list)", words[0], join(Shapes(), func(s Shape) string { return s.Name }))
	}
	n := build()
	n.name = spec
	var given []Fault
	for _, w := range words[1:] {
		f, ok := faults[w]
		if !ok {
			return nil, fmt.Errorf("no fault %q: see gdsproof sim list", w)
		}
		if lack := n.lacks(f.Needs); lack != "" {
			return nil, fmt.Errorf("fault %s: the node %s %s", w, words[0], lack)
		}
		for _, g := range given {
			if g.Name == f.Name {
				return nil, fmt.Errorf("fault %s is given twice", w)
			}
			if why := g.not[f.Name] + f.not[g.Name]; why != "" {
				return nil, fmt.Errorf("faults %s and %s cannot be together: %s", g.Name, f.Name, why)
			}
		}
		given = append(given, f)
	}
	for _, f := range given {
		f.apply(n)
	}
	return n, nil
}

// lacks says why a node does not have what a fault needs, or "".
func (n *node) lacks(need string) string {
	switch {
	case (need == "gpu" || need == "proprietary") && len(n.gpus) == 0:
		return "has no GPU"
	case need == "proprietary" && boards[n.gpus[0].model].architecture == "Blackwell":
		return "has GPUs that work with the open kernel modules alone"
	case (need == "efa" || need == "gds") && n.fs == nil:
		return "has no Lustre client over EFA"
	case need == "gds" && !n.setup.gds:
		return "is of a type for which AWS does not offer Lustre GDS"
	}
	return ""
}

func join[T any](list []T, name func(T) string) string {
	var s []string
	for _, x := range list {
		s = append(s, name(x))
	}
	return strings.Join(s, ", ")
}
