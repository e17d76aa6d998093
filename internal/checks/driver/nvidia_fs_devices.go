package driver

import (
	"fmt"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "nvidia-fs-devices",
	Title:  "The device nodes /dev/nvidia-fs* are there and this user can open them",
	Why:    "libcufile reaches the driver through these nodes; a node that is only visible, as in a container without the device permission, is worth nothing.",
	Source: "nvidia-fs source, nvfs-core.c (16 nodes, mode 0666); NVIDIA Container Toolkit's GDS discoverer",
	Step:   1,
	Examples: map[string]string{
		"p5en":                           "pass",
		"p5en,nvidia-fs-devices-missing": "fail",
		"p5en,nvidia-fs-missing":         "unknown",
		"laptop":                         "skip",
	},
	After:   []string{"nvidia-fs-loaded"},
	Needs:   applies.NVFSNeeds(facts.Driving.Must(), facts.Nodes.Must(), facts.ModuleFileOf.Want()),
	Applies: applies.NVFS,
	Fix:     []check.Fix{reload},
	Judge: func(v check.View) []check.Finding {
		d := check.Get(v, facts.Nodes)
		ev := []check.Evidence{check.Quote(facts.NVFSProc+"/devcount", "not known"), check.Quote("/dev", "no nvidia-fs node")}
		if d.Wanted.OK {
			ev[0].Text = fmt.Sprint(d.Wanted.V)
		}
		if len(d.Nodes) > 0 {
			ev[1].Text = fmt.Sprintf("%s to %s", d.Nodes[0].Path, d.Nodes[len(d.Nodes)-1].Path)
		}
		one := func(f check.Finding) []check.Finding {
			if mi := check.Maybe(v, facts.ModuleFileOf); mi.OK && mi.V.NotFound("nvidia_fs") && len(f.Fix) == 0 {
				f.Fix = []check.Fix{build} // modprobe would not bring it back
			}
			return []check.Finding{check.With(f, ev...)}
		}
		if len(d.Nodes) == 0 {
			if d.Wanted.OK && d.Wanted.V == 0 {
				return one(check.Fail("the driver makes no device nodes (devcount is 0)"))
			}
			if !d.Listed {
				return one(check.NotKnown("ls -l /dev/nvidia-fs*", "no list of /dev that would show the nodes"))
			}
			return one(check.Fail("no /dev/nvidia-fs* node although the driver should make %s", wanted(d)))
		}
		var hung, wrong, closed, unknown []facts.NVFSNode
		for _, n := range d.Nodes {
			switch {
			case n.Hung:
				hung = append(hung, n)
			case n.Type != "" && n.Type != "char":
				wrong = append(wrong, n)
			case n.Opened.OK && !n.Opened.V:
				closed = append(closed, n)
			case !n.Opened.OK:
				unknown = append(unknown, n)
			}
		}
		switch {
		case len(hung) > 0:
			return one(check.NotKnown("an answer of the driver: find out what holds it (dmesg)", "opening the nodes does not return: %s", hung[0].Why))
		case len(wrong) > 0:
			f := check.Fail("%s in the place of the device node", check.List(wrong, 3))
			f.Fix = []check.Fix{{Text: "remove what stands in the nodes' place and mount the host's nodes (a container mount with nofail leaves an empty file when the host has no node)",
				Commands: []string{"ls -l /dev/nvidia-fs*"}, Changes: "nothing", Undo: "none needed"}}
			return one(f)
		case len(closed) > 0:
			for i, n := range closed {
				if i < 3 {
					ev = append(ev, check.Quote("open "+n.Path, n.Why))
				}
			}
			return one(notOpened(closed, len(d.Nodes)))
		case d.Wanted.OK && len(d.Nodes) < d.Wanted.V && d.Listed:
			return one(check.Fail("%d of %d nodes are there; missing: %s", len(d.Nodes), d.Wanted.V, check.List(absent(d), 4)))
		case len(unknown) > 0:
			return one(check.NotKnown("an attempt to open them, by this tool on the node", "%d nodes are there; nobody tried to open them", len(d.Nodes)))
		}
		return one(check.Pass("%d nodes, all open", len(d.Nodes)))
	},
})

var reload = check.Fix{
	Text:     "reload the module, which makes the nodes anew",
	Commands: []string{"sudo modprobe -n nvidia_fs && sudo rmmod nvidia_fs && sudo modprobe nvidia_fs", "ls -l /dev/nvidia-fs*"},
	Changes:  "reloads nvidia_fs; running GDS programs must end first",
	Undo:     "none needed",
}

// absent names the nodes that are not there.
func absent(d facts.NVFSNodes) []string {
	have := map[string]bool{}
	for _, n := range d.Nodes {
		have[n.Path] = true
	}
	var out []string
	for i := range d.Wanted.V {
		if p := fmt.Sprintf("/dev/nvidia-fs%d", i); !have[p] {
			out = append(out, p)
		}
	}
	return out
}

func wanted(d facts.NVFSNodes) string {
	if d.Wanted.OK {
		return fmt.Sprint(d.Wanted.V)
	}
	return "16"
}

// notOpened tells the causes of a refused open apart: they have different cures.
func notOpened(closed []facts.NVFSNode, all int) check.Finding {
	errnos := map[string]int{}
	for _, n := range closed {
		errnos[n.Errno]++
	}
	f := check.Fail("%d of %d nodes do not open: %s", len(closed), all, check.List(closed, 2))
	fix := func(text string, cmds ...string) {
		f.Fix = append(f.Fix, check.Fix{Text: text, Commands: cmds, Changes: "who may open the nodes", Undo: "the former mode or flags"})
	}
	switch {
	case errnos["EPERM"] > 0:
		f.Summary += "; EPERM is a device cgroup: the container or job may see the node and not use it"
		fix("give the container the devices: NVIDIA_GDS=enabled with NVIDIA's container toolkit, or the launcher's device flag for every node")
	case errnos["EACCES"] > 0:
		if closed[0].Mode == "0666" {
			f.Summary += "; EACCES although the mode is 0666: the file system is mounted nodev, or SELinux or AppArmor refuses"
			fix("see how /dev is mounted here and what the security module refuses", "findmnt -T /dev/nvidia-fs0", "sudo dmesg | grep -i -E 'avc|apparmor'")
			break
		}
		f.Summary += "; EACCES is the node's mode: the driver makes it 0666"
		fix("give the nodes their mode back, and look for a udev rule that takes it", "sudo chmod 666 /dev/nvidia-fs*", "grep -rs nvidia-fs /etc/udev/rules.d /usr/lib/udev/rules.d")
	case errnos["ENXIO"] > 0, errnos["ENODEV"] > 0:
		f.Summary += "; ENXIO: no driver is behind the node (a node of an earlier load, with another major number)"
	case errnos["EOPNOTSUPP"] > 0:
		f.Summary += "; EOPNOTSUPP: the driver did not find the NVIDIA driver's symbols: load nvidia first"
		fix("load the NVIDIA driver, then reload nvidia-fs", "sudo modprobe nvidia", reload.Commands[0])
	}
	return f
}
