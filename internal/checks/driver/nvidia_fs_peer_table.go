package driver

import (
	"regexp"
	"strconv"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

// loaded is what the driver prints when it is loaded; what it found on the bus then follows.
const loadedLine = "Initializing nvfs driver module"

var maxPeerDevs = regexp.MustCompile(`max_peer_devs ?: ?(\d+)`)

// manyEFA: with this many devices, each of which can bring a network function beside it, and NVMe disks, AWS
// asks for a larger table.
const manyEFA = 16

var _ = check.Register(check.Check{
	ID:     "nvidia-fs-peer-table",
	Title:  "The driver's table of peers holds every network and NVMe device",
	Why:    "A network interface that is missing from the table has no distance to any GPU: LNet chooses among interfaces blindly, and on p5en GDS was seen not to work at all.",
	Source: "nvidia-fs source, nvfs-pci.c; AWS FSx for Lustre User Guide (NVFS_MAX_PEER_DEVS=128, NVFS_MAX_PCI_DEPTH=16)",
	Step:   1,
	Examples: map[string]string{
		"p5en":                  "pass",
		"p5en,peer-table-small": "warn",
		"laptop":                "skip",
	},
	After:   []string{"nvidia-fs-loaded"},
	Needs:   applies.NVFSNeeds(facts.PCIBus.Want(), facts.Driving.Must(), facts.KLog.Want(), facts.Peers.Want(), facts.InstanceType.Want(), facts.Rules.Must()),
	Applies: applies.NVFS,
	Fix:     []check.Fix{build},
	Judge: func(v check.View) []check.Finding {
		log, peers, pci := check.Maybe(v, facts.KLog), check.Maybe(v, facts.Peers), check.Maybe(v, facts.PCIBus)
		load, sawLoad := facts.KernelLog{}, false
		if log.OK {
			// A table that overflowed before a rebuild says nothing of the module that is loaded now.
			if load, sawLoad = log.V.SinceLast(loadedLine); !sawLoad {
				load = log.V
			}
			mine := check.LogLines(load, check.Get(v, facts.Rules).Signatures, "nvidia-fs-peer-table")
			if len(mine) > 0 {
				return []check.Finding{check.With(check.Warn("the driver's device table was full when the module was loaded"), check.QuoteHits(log.V.Source, mine)...)}
			}
		}
		if peers.OK && pci.OK && pci.V.Complete {
			if len(peers.V) == 0 && len(pci.V.GPUs()) > 0 && len(pci.V.Peers()) > 0 {
				return []check.Finding{check.With(check.Warn("the driver's table is empty although %d GPUs and %d network and NVMe devices are on the bus: they came after the module was loaded",
					len(pci.V.GPUs()), len(pci.V.Peers())), check.Quote(facts.NVFSProc+"/peer_distance", "no rows"))}
			}
			if lost := gpusNotInTable(peers.V, pci.V); len(lost) > 0 {
				return []check.Finding{check.With(check.Warn("%d of %d GPUs are missing from the driver's table: %s; they came after the module was loaded", len(lost), len(pci.V.GPUs()), check.List(lost, 4)),
					check.Quote(facts.NVFSProc+"/peer_distance", "no row for "+check.List(lost, 4)))}
			}
			if lost := notInTable(peers.V, pci.V); len(lost) > 0 {
				return []check.Finding{check.With(check.Warn("%d of %d network and NVMe devices are missing from the driver's table: %s; it overflowed, or they came after the module was loaded",
					len(lost), len(pci.V.Peers()), check.List(lost, 4)), check.Quote(facts.NVFSProc+"/peer_distance", "no row for "+check.List(lost, 4)))}
			}
		}
		if sawLoad {
			for _, l := range load.Lines {
				m := maxPeerDevs.FindStringSubmatch(l.Text)
				if m == nil {
					continue
				}
				n, _ := strconv.Atoi(m[1]) // digits by the pattern; an absurd length gives a large number
				if want := tableWanted(v, pci); want > n {
					return []check.Finding{check.With(check.Warn("nvidia-fs was built for %d peers; AWS asks for %d on this node", n, want), check.Quote(log.V.Source, l.Text))}
				}
				return []check.Finding{check.With(check.Pass("built for %d peers, no overflow when it was loaded", n), check.Quote(log.V.Source, l.Text))}
			}
		}
		if peers.OK && len(peers.V) > 0 && pci.OK && pci.V.Complete {
			return []check.Finding{check.With(check.Pass("all %d network and NVMe devices are in the driver's table", len(pci.V.Peers())), check.Quote(facts.NVFSProc+"/peer_distance", "a row for each"))}
		}
		need := "the kernel log from the load of nvidia-fs on, or " + facts.NVFSProc + "/peer_distance and the PCI bus"
		if !log.OK && log.Need == facts.NeedRoot {
			need = facts.NeedRoot
		}
		return []check.Finding{check.NotKnown(need, "nothing looked at shows how large the driver's table is")}
	},
})

// tableWanted is the size that AWS asks for on this node, 0 where nobody asks.
func tableWanted(v check.View, pci facts.Known[facts.PCI]) int {
	if t := check.Maybe(v, facts.InstanceType); t.OK {
		if i, ok := check.Get(v, facts.Rules).Instance(t.V); ok && i.PeerDevs > 0 {
			return i.PeerDevs
		}
	}
	if pci.OK && len(pci.V.EFAs()) >= manyEFA {
		return 128
	}
	return 0
}

func gpusNotInTable(rows []facts.Peer, pci facts.PCI) []string {
	in := map[string]bool{}
	for _, r := range rows {
		in[r.GPU] = true
	}
	var lost []string
	for _, d := range pci.GPUs() {
		if len(pci.Peers()) > 0 && !in[d.Address] {
			lost = append(lost, d.Address)
		}
	}
	return lost
}

func notInTable(rows []facts.Peer, pci facts.PCI) []string {
	in := map[string]bool{}
	for _, r := range rows {
		in[r.Peer] = true
	}
	var lost []string
	for _, d := range pci.Peers() {
		if !in[d.Address] {
			lost = append(lost, d.Address)
		}
	}
	return lost
}
