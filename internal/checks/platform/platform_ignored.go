package platform

import (
	"fmt"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

// ignored are the lines of the report that look like trouble and are none, by the name before their colon: why.
// Those of user-space RDMA do matter where cuFile itself drives the network card: WekaFS and Spectrum Scale.
var ignored = map[string]string{
	"userspace rdma":                     "cuFile drives a network card itself only for WekaFS, Spectrum Scale and some NFS; Lustre's kernel client drives EFA",
	"mofed peer direct":                  "a feature of Mellanox cards; EFA has none",
	"mellanox peerdirect":                "a feature of Mellanox cards; EFA has none",
	"dmabuf support":                     "a way of user-space RDMA",
	"rdma library":                       "of user-space RDMA; it does not mean that EFA is absent",
	"rdma devices":                       "of user-space RDMA; it does not mean that EFA is absent",
	"rdma_device_status":                 "of user-space RDMA; it does not mean that EFA is absent",
	"properties.use_pci_p2pdma":          "the kernel's own way without nvidia-fs; here nvidia-fs is used",
	"fs.lustre.use_pci_p2pdma":           "the kernel's own way without nvidia-fs; here nvidia-fs is used",
	"properties.force_compat_mode":       "false is right: true would send everything through the CPU",
	"properties.use_poll_mode":           "completion by interrupt, the default",
	"fs.generic.posix_unaligned_writes":  "unaligned writes take GDS through a bounce buffer, the default",
	"miscellaneous.api_check_aggressive": "a check for developers",
	"properties.force_odirect_mode":      "files that are not opened for direct I/O stay so, the default",
	"properties.prefer_iouring":          "the default",
	"properties.rdma_dynamic_routing":    "of user-space RDMA",
	"profile.nvtx":                       "a profiler's marks",
	"profile.cufile_stats":               "libcufile's own statistics are off, the default",
}

// userSpace are the rows of user-space RDMA.
var userSpace = map[string]bool{"userspace rdma": true, "mellanox peerdirect": true, "mofed peer direct": true, "dmabuf support": true, "rdma library": true,
	"rdma devices": true, "rdma_device_status": true}

var _ = check.Register(check.Check{
	ID:     "platform-ignored",
	Title:  "Which Unsupported, Disabled and false lines of the report are normal",
	Why:    "The report holds many lines that look like trouble and speak of storage or network cards that this node does not use.",
	Source: "NVIDIA GDS Installation and Troubleshooting Guide; the guide's section on reading gdscheck",
	Step:   3,
	Examples: map[string]string{
		"p5en":    "pass",
		"p6-b200": "pass",
		"laptop":  "skip",
	},
	After:   []string{"cufile-library", "cufile-config/" + refusedFile, "platform-verification"},
	Needs:   applies.GPUNeeds(facts.Platform.Must(), facts.RowsInQuestion.Must()),
	Applies: applies.OnGPUNode,
	Fix:     []check.Fix{{Text: "nothing has to be done", Changes: "nothing", Undo: "none needed"}},
	Judge: func(v check.View) []check.Finding {
		p, q := check.Get(v, facts.Platform), check.Get(v, facts.RowsInQuestion)
		if len(p.Rows)+len(p.Config) == 0 {
			return []check.Finding{check.NotKnown(wantWhole, "the report has neither rows nor settings in the part that was seen")}
		}
		wanted := map[string]bool{}
		rdma := false
		for _, r := range q.Rows {
			wanted[strings.ToLower(r)] = true
			rdma = rdma || r == "WekaFS" || r == "IBM Spectrum Scale"
		}
		var ev []check.Evidence
		var news, matter []string
		normal := 0
		for _, r := range p.Rows {
			key := strings.ToLower(strings.TrimLeft(r.Name, "- "))
			why, listed := ignored[key]
			switch {
			case wanted[key] || r.Direct() || good(r.Value):
			case rdma && userSpace[key]:
				matter = append(matter, r.Name+" : "+r.Value)
			case listed:
				normal++
				ev = append(ev, quote(p, r.Name+" : "+r.Value+" | normal: "+why))
			case strings.HasPrefix(r.Name, "-"):
				news = append(news, r.Name+" : "+r.Value)
			default:
				normal++
				ev = append(ev, quote(p, r.Name+" : "+r.Value+" | normal: storage that is not asked about here"))
			}
		}
		for _, s := range p.Config {
			if s.Value != "false" && s.Value != "0" {
				continue
			}
			if rdma && s.Name == "fs.weka.rdma_write_support" && wanted["wekafs"] {
				matter = append(matter, s.Name+" : "+s.Value)
			} else if why, ok := ignored[s.Name]; ok {
				normal++
				ev = append(ev, quote(p, s.Name+" : "+s.Value+" | normal: "+why))
			} else if strings.HasPrefix(s.Name, "fs.") || strings.HasPrefix(s.Name, "block.") {
				normal++
				ev = append(ev, quote(p, s.Name+" : "+s.Value+" | normal: a setting of other storage, or the default"))
			}
		}
		news = append(news, p.Strange...)
		f := check.Pass("%d lines with Unsupported, Disabled, Not loaded or false are normal here", normal)
		if len(matter) > 0 {
			f.Summary += fmt.Sprintf("; %d matter here, for %s: %s", len(matter), q.What, check.List(matter, 6))
		}
		if len(news) > 0 {
			f.Summary += fmt.Sprintf("; %d lines are on no list of this tool: %s", len(news), check.List(news, 3))
		}
		return []check.Finding{check.With(f, ev...)}
	},
})

// good values are no trouble on the face of it.
func good(value string) bool {
	switch strings.ToLower(strings.Fields(value + " -")[0]) {
	case "supported", "enabled", "loaded", "configured":
		return true
	case "up:":
		return !strings.HasPrefix(strings.Join(strings.Fields(value), " "), "Up: 0 ")
	}
	return false
}
