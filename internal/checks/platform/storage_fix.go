package platform

import (
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

// storageNeeds are the facts by which the fix of a storage without a direct path is chosen.
func storageNeeds(more ...facts.Need) []facts.Need {
	return append(toolNeeds(more...), facts.Asked.Must(), facts.Mounts.Want(), facts.KernelModules.Want(), facts.Storage.Want(), facts.ConfigureUnit.Want(),
		facts.Question.Want(), facts.EFAQuestion.Want())
}

// hooks are the functions that a storage module has to offer to nvidia-fs, by the row of the report. Without it in the
// kernel's table of symbols the module that is loaded was built without GDS.
var hooks = map[string]string{
	"DDN EXAScaler": "lustre_v1_register_nvfs_dma_ops", "NVMe": "nvme_v[12]_register_nvfs_dma_ops", "NFS": "rpcrdma_register_nvfs_dma_ops",
	"BeeGFS": "beegfs_v1_register_nvfs_dma_ops", "IBM Spectrum Scale": "ibm_scale_v1_register_nvfs_dma_ops", "ScaTeFS": "scatefs_register_nvfs_dma_ops",
}

func offers(row string) string {
	return "sudo grep -E '" + hooks[row] + "' /proc/kallsyms   # no line: the loaded module was built without hooks for GDS"
}

const (
	loadedFirst = "lsmod | grep nvidia_fs"
	listed      = "cat " + facts.NVFSProc + "/modules   # while a GDS program runs: the storage that has registered"
)

// storageFix is what to do first about a storage without a direct path, by its kind.
func storageFix(v check.View) []check.Fix {
	look := func(text string, commands ...string) []check.Fix {
		return []check.Fix{{Text: text, Commands: append(commands, gdscheck(v)), Changes: "nothing", Undo: "none needed"}}
	}
	want := check.Get(v, facts.RowsInQuestion)
	row := ""
	if len(want.Rows) > 0 {
		row = want.Rows[0]
	}
	switch row {
	case "":
		return look("say which file system is meant (--fs): a direct path for one says nothing of another", "gdsproof check --fs DIR", loadedFirst)
	case "DDN EXAScaler":
		return lustreFix(v, look)
	case "NVMe":
		return look("nvidia-fs serves local NVMe only through an nvme module with hooks: that of NVIDIA's DOCA or MLNX_OFED, installed with --with-nvmf --enable-gds, in the initramfs too (update-initramfs -u), and a reboot; XFS, or ext4 with data=ordered, on a disk or a RAID0, not on device mapper. Or leave nvidia-fs away: PCI P2PDMA needs properties.use_pci_p2pdma (and block.nvme.use_pci_p2pdma from GDS 1.16 on), kernel 6.2, and NVIDIA's static BAR1 setting",
			loadedFirst, "modinfo -n nvme", offers(row), listed)
	case "NFS":
		text := "GDS over NFS needs RDMA, and an rpcrdma module with hooks: the NFS vendor's client, or mlnx-nfsrdma of NVIDIA's DOCA"
		if m, ok := inQuestion(v, "nfs", "nfs4"); ok && !strings.Contains(m.Options, "proto=rdma") {
			text = m.Dir + " is mounted without proto=rdma, and goes over TCP: mount it with proto=rdma; " + text
		}
		return look(text, "grep ' nfs' /proc/mounts | grep -c proto=rdma", "modinfo -n rpcrdma", offers(row), listed, "sudo dmesg | grep -i -E 'nvfs|symbol_get'")
	case "WekaFS":
		return look("on WekaFS cuFile drives the network card itself: the node needs RDMA-capable cards that WekaFS uses in its RDMA mode, nvidia_peermem, and their IPv4 addresses in properties.rdma_dev_addr_list of cufile.json; with CUDA 13.1 WekaFS fails, so use a later one",
			"ls /sys/class/infiniband", "lsmod | grep nvidia_peermem || sudo modprobe nvidia_peermem", "grep -n rdma_dev_addr_list /etc/cufile.json", "ip -br -4 address")
	case "IBM Spectrum Scale":
		return look("Spectrum Scale has GDS switched on for itself (verbsRdma, verbsPorts and verbsGPUDirectStorage), and needs RDMA-capable cards, whose IPv4 addresses properties.rdma_dev_addr_list of cufile.json has to name",
			"sudo /usr/lpp/mmfs/bin/mmlsconfig | grep -i verbs", "ls /sys/class/infiniband", "grep -n rdma_dev_addr_list /etc/cufile.json", offers(row), listed)
	case "BeeGFS":
		return look("BeeGFS's client module has to be built with nvidia-fs (NVFS_INCLUDE_PATH and NVIDIA_INCLUDE_PATH in its buildArgs), and to reach its servers by RDMA",
			loadedFirst, "grep -n buildArgs /etc/beegfs/beegfs-client-autobuild.conf", offers(row), listed)
	case "VIRTIOFS":
		return look("virtiofs has no hooks for nvidia-fs: PCI P2PDMA is its only direct path (properties.use_pci_p2pdma, GDS 1.16 or later, set up by the host)", "grep -n use_pci_p2pdma /etc/cufile.json")
	case "ScaTeFS":
		return look("ScaTeFS's client module has to offer hooks, and nvidia-fs has to be 2.25.6 or later", loadedFirst, offers(row), listed)
	}
	return look("see whether nvidia-fs is loaded and which storage has registered with it", loadedFirst, listed)
}

// lustreFix asks in order for what is not known to hold: nvidia-fs loaded, Lustre mounted, the set-up with its option
// for GDS. Where all of them hold, libcufile does not see what the kernel has.
func lustreFix(v check.View, look func(string, ...string) []check.Fix) []check.Fix {
	var holds, ask, commands []string
	judge := func(yes bool, fact, question, command string) {
		if yes {
			holds = append(holds, fact)
			return
		}
		ask, commands = append(ask, question), append(commands, command)
	}
	mods := check.Maybe(v, facts.KernelModules)
	_, loaded := mods.V.Get("nvidia_fs")
	judge(mods.OK && loaded, "nvidia-fs is loaded", "whether nvidia-fs is loaded", loadedFirst)
	m, mounted := inQuestion(v, "lustre")
	dir := check.Get(v, facts.Asked).FS
	if dir == "" {
		dir = "/fsx"
	}
	judge(mounted, orElse(m.Dir, dir)+" is mounted", "whether the file system is mounted", "df -hT "+check.ShellWord(dir))
	if over, _ := applies.LustreOverEFA(v); over == check.Yes {
		u := check.Maybe(v, facts.ConfigureUnit)
		has, _ := u.V.Has(facts.GDSFlag)
		judge(u.OK && has, "the client is set up with "+facts.GDSFlag, "whether the client was set up with "+facts.GDSFlag, "systemctl cat "+facts.ConfigureUnitName+" | grep ExecStart")
	}
	s := check.Maybe(v, facts.Storage)
	registered := s.OK && s.V.Has("lnet")
	judge(registered, "lnet has registered with nvidia-fs", "whether lnet offers its hooks and registers", offers("DDN EXAScaler"))
	if !registered {
		commands = append(commands, listed)
	}
	if len(ask) == 0 {
		return look(strings.Join(holds, ", ")+": so libcufile does not see what the kernel has. Look where the programs run (a sandbox can hide "+facts.NVFSProc+"/modules), and end programs that have held the driver open since before Lustre was mounted",
			listed, "sudo fuser -v /dev/nvidia-fs0")
	}
	text := "see in this order " + strings.Join(ask, ", ")
	if len(holds) > 0 {
		text += " (" + strings.Join(holds, ", ") + ")"
	}
	return look(text+"; then look again", commands...)
}

// inQuestion is the mount that is asked about, or the first one of a type.
func inQuestion(v check.View, types ...string) (facts.Mount, bool) {
	t := check.Maybe(v, facts.Mounts)
	if !t.OK {
		return facts.Mount{}, false
	}
	if fs := check.Get(v, facts.Asked).FS; fs != "" {
		m, ok := t.V.At(fs)
		for _, typ := range types {
			if ok && m.Type == typ {
				return m, true
			}
		}
		return facts.Mount{}, false
	}
	for _, typ := range types {
		if l := t.V.OfType(typ); len(l) > 0 {
			return l[0], true
		}
	}
	return facts.Mount{}, false
}
