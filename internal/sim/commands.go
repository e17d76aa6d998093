package sim

import (
	"fmt"
	"path"
	"strings"
)

type answer struct {
	out, err string
	exit     int
}

// run answers as the program of that name would, in this environment. look counts the runs so far: some answers change
// with time.
func (n *node) run(argv, env []string, look int) (answer, bool) {
	program, args := path.Base(argv[0]), argv[1:]
	tools := n.fs != nil // Lustre's, which are there without its modules too
	switch {
	case program == "dmesg":
		return answer{out: n.dmesg()}, true
	case program == "journalctl":
		return n.journalctl(args), true
	case program == "systemctl":
		return n.systemctl(args), true
	case program == "modinfo" && len(args) == 1:
		return n.modinfo(args[0]), true
	case program == "gdscheck" && n.kit.release != "" && !n.kit.noTools && len(args) == 1 && args[0] == "-p":
		return n.gdscheck(argv[0], env), true
	case len(args) == 2 && args[0] == "__cufile-report": // this program itself, which stands in for gdscheck
		return n.cufileOpen(args[1], env), true
	case program == "ldconfig" && len(args) == 1 && args[0] == "-p":
		return answer{out: n.ldconfig()}, true
	case program == "nvidia-smi" && len(n.gpus) > 0 && len(args) == 1 && args[0] == "-q":
		return n.nvidiaSMI(), true
	case program == "lnetctl" && tools:
		return n.lnetctl(args, look), true
	case program == "lctl" && tools:
		return n.lctl(args), true
	case program == "lfs" && tools:
		return n.lfs(args), true
	}
	return answer{}, false
}

// modinfo tells of the file that a modprobe would load.
func (n *node) modinfo(name string) answer {
	dkms, vermagic := "/lib/modules/"+n.kernel+"/updates/dkms/", n.kernel+" SMP mod_unload modversions "
	lustre, tail := "/lib/modules/"+n.kernel+"/updates/kernel/", [2]string{"retpoline", "Y"}
	if n.client.staging {
		lustre, tail = "/lib/modules/"+n.kernel+"/kernel/drivers/staging/lustrefsx/", [2]string{"staging", "Y"}
	}
	client := n.fs != nil && !n.client.noModules
	var rows [][2]string
	switch {
	case name == "nvidia_fs" && n.nvfs.installed:
		rows = [][2]string{{"filename", dkms + "nvidia-fs.ko"}, {"description", "NVIDIA GPUDirect Storage"}, {"license", "GPL v2"}, {"version", n.nvfs.version}, {"depends", "nvidia"}}
	case name == "nvidia" && n.nvDrv.loaded:
		rows = [][2]string{{"filename", dkms + "nvidia.ko"}, {"version", n.nvDrv.version}, {"license", onOff(n.nvDrv.open, "Dual MIT/GPL", "NVIDIA")}}
	case name == "efa" && n.efa.version != "":
		rows = [][2]string{{"filename", dkms + "efa.ko.zst"}, {"version", n.efa.version}, {"license", "Dual BSD/GPL"}, {"description", "Elastic Fabric Adapter (EFA)"},
			{"author", "Amazon.com, Inc. or its affiliates"}, {"alias", "pci:v00001D0Fd0000EFA3sv*sd*bc*sc*i*"}, {"depends", "ib_core,ib_uverbs"}}
	case name == "lustre" && client:
		rows = [][2]string{{"filename", lustre + "fs/lustre.ko"}, {"license", "GPL"}, {"version", n.client.version}, {"description", "Lustre Client File System"},
			{"author", "OpenSFS, Inc. <http://www.lustre.org/>"}, {"alias", "fs-lustre"}, {"depends", "obdclass,ptlrpc,lnet,libcfs,lmv,lov,mdc"}, tail}
	case name == "kefalnd" && client:
		rows = [][2]string{{"filename", lustre + "net/kefalnd.ko"}, {"license", "GPL"}, {"version", n.client.kefalnd}, {"description", "EFA LNet Network Driver"},
			{"author", "Amazon.com, Inc. or its affiliates"}, {"softdep", "pre: efa"}, {"depends", "lnet,libcfs,ib_core"}, tail}
	default:
		return answer{err: "modinfo: ERROR: Module " + name + " not found.\n", exit: 1}
	}
	var b strings.Builder
	for _, r := range append(rows, [2]string{"name", name}, [2]string{"vermagic", vermagic}) {
		fmt.Fprintf(&b, "%-16s%s\n", r[0]+":", r[1])
	}
	return answer{out: b.String()}
}
