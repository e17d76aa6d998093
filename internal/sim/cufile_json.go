package sim

import (
	"fmt"
	"slices"
	"strings"
)

// cufileJSON is /etc/cufile.json: the file of the CUDA package with what somebody changed in it.
type cufileJSON struct {
	set    map[string]string // "properties.force_compat_mode": "true", as JSON
	named  map[string]string // of the file that CUFILE_ENV_PATH_JSON names, which goes over the other one
	broken bool              // an edit left a comma behind the last key of an object, which jsoncpp refuses
}

// entry is a key of the file with its value as JSON, and the comment above it.
type entry struct{ path, value, comment string }

// stock are the keys that the package's file sets, in the order of its sections.
func (n *node) stock() []entry {
	all := []entry{
		{"logging.level", `"ERROR"`, "one of NOTICE, ERROR, WARN, INFO, DEBUG and TRACE; without a \"dir\" the log goes to the current folder"},
		{"profile.nvtx", "false", "marks for NVIDIA's profiler"},
		{"profile.cufile_stats", "0", "statistics of the library, 0 (off) to 3"},
		{"execution.max_io_queue_depth", "128", "requests that may wait for a thread"},
		{"execution.max_io_threads", "4", "threads of the pool, for each GPU"},
		{"execution.parallel_io", "true", "split large requests over the threads"},
		{"execution.min_io_threshold_size_kb", "8192", "smaller ones are not split"},
		{"execution.max_request_parallelism", "4", ""},
		{"properties.max_direct_io_size_kb", "16384", "the largest piece handed to nvidia-fs; a multiple of 64"},
		{"properties.max_device_cache_size_kb", "131072", "bounce buffers in a GPU's memory"},
		{"properties.per_buffer_cache_size_kb", "1024", ""},
		{"properties.max_device_pinned_mem_size_kb", "33554432", "how much of a GPU's memory may be registered"},
		{"properties.posix_pool_slab_size_kb", "[ 4, 1024, 16384 ]", "bounce buffers in the host's memory, for compat mode"},
		{"properties.posix_pool_slab_count", "[ 128, 64, 64 ]", ""},
		{"properties.use_poll_mode", "false", "poll for the end of small requests"},
		{"properties.poll_mode_max_size_kb", "4", ""},
		{"properties.use_pci_p2pdma", "false", "the kernel's own way to NVMe, without nvidia-fs"},
		{"properties.allow_compat_mode", "true", "what cannot take GDS may go through the CPU"},
		{"properties.gds_rdma_write_support", "true", "writes to distributed file systems take GDS"},
		{"properties.io_batchsize", "128", ""},
		{"properties.io_priority", `"default"`, "default, low, med or high"},
		{"properties.rdma_dev_addr_list", "[ ]", "addresses of network cards, for storage that cuFile reaches by RDMA from user space"},
		{"properties.rdma_load_balancing_policy", `"RoundRobin"`, ""},
		{"properties.rdma_dynamic_routing", "false", ""},
		{"properties.rdma_dynamic_routing_order", `[ "GPU_MEM_NVLINKS", "GPU_MEM", "SYS_MEM", "P2P" ]`, ""},
		{"fs.generic.posix_unaligned_writes", "false", "true: writes that are not aligned go through the CPU"},
		{"fs.lustre.posix_gds_min_kb", "0", "smaller requests go through the CPU"},
		{"fs.beegfs.posix_gds_min_kb", "0", ""},
		{"fs.weka.rdma_write_support", "false", ""},
		{"fs.gpfs.gds_write_support", "false", ""},
		{"fs.gpfs.gds_async_support", "true", ""},
		{"denylist.drivers", "[ ]", "GDS is not used with these"},
		{"denylist.devices", "[ ]", ""},
		{"denylist.mounts", "[ ]", ""},
		{"denylist.filesystems", "[ ]", ""},
		{"miscellaneous.api_check_aggressive", "false", "checks for developers"},
	}
	if versionAbove(n.kit.release, 1, 16) { // gone there
		all = slices.DeleteFunc(all, func(e entry) bool { return e.path == "profile.nvtx" })
	}
	return all
}

// cufileText prints the file: comments, and a key that the package's file has not behind those of its section.
func (n *node) cufileText() string {
	all := n.stock()
	for _, key := range sortedKeys(n.cufile.set) {
		i := slices.IndexFunc(all, func(e entry) bool { return e.path == key })
		if i >= 0 {
			all[i].value = n.cufile.set[key]
			continue
		}
		section, _, _ := strings.Cut(key, ".")
		last := 0
		for i, e := range all {
			if strings.HasPrefix(e.path, section+".") {
				last = i
			}
		}
		all = slices.Insert(all, last+1, entry{path: key, value: n.cufile.set[key]})
	}
	var b strings.Builder
	b.WriteString("{\n    // Another file of this kind can be named: export CUFILE_ENV_PATH_JSON=/path/to/cufile.json\n")
	n.object(&b, all, 1)
	b.WriteString("}\n")
	return b.String()
}

// object prints the keys of an object, whose paths begin behind depth-1 dots.
func (n *node) object(b *strings.Builder, list []entry, depth int) {
	indent := strings.Repeat("    ", depth)
	for len(list) > 0 {
		e := list[0]
		words := strings.Split(e.path, ".")[depth-1:]
		same := 1
		if len(words) > 1 {
			prefix := strings.Join(strings.Split(e.path, ".")[:depth], ".") + "."
			for same < len(list) && strings.HasPrefix(list[same].path, prefix) {
				same++
			}
		}
		comma := onOff(same < len(list) || n.cufile.broken && e.path == "execution.max_request_parallelism", ",", "")
		if len(words) > 1 {
			fmt.Fprintf(b, "%s%q: {\n", indent, words[0])
			n.object(b, list[:same], depth+1)
			fmt.Fprintf(b, "%s}%s\n", indent, comma)
		} else {
			if e.comment != "" {
				fmt.Fprintf(b, "%s// %s\n", indent, e.comment)
			}
			fmt.Fprintf(b, "%s%q: %s%s\n", indent, words[0], e.value, comma)
		}
		list = list[same:]
	}
}

// shown is a line of the report's CUFILE CONFIGURATION, in the order in which releases print it.
type shown struct {
	name    string
	key     string // in the file where that differs
	builtIn string // what the library uses where neither the file nor the environment says anything
	from    int    // minor release, 0: all
	to      int    // the last one, 0: until today
	tight   bool   // no blank before the colon
}

var shownKeys = []shown{
	{name: "properties.use_pci_p2pdma", from: 13},
	{name: "properties.use_compat_mode", key: "properties.allow_compat_mode"},
	{name: "properties.force_compat_mode", builtIn: "false"},
	{name: "properties.gds_rdma_write_support"},
	{name: "properties.use_poll_mode"},
	{name: "properties.poll_mode_max_size_kb"},
	{name: "properties.max_batch_io_size", key: "properties.io_batchsize"},
	{name: "properties.max_batch_io_timeout_msecs", builtIn: "5"},
	{name: "properties.max_direct_io_size_kb"},
	{name: "properties.max_device_cache_size_kb"},
	{name: "properties.per_buffer_cache_size_kb", from: 14},
	{name: "properties.max_device_pinned_mem_size_kb"},
	{name: "properties.posix_pool_slab_size_kb"},
	{name: "properties.posix_pool_slab_count"},
	{name: "properties.gpu_bounce_buffer_slab_size_kb", builtIn: "[ 1024, 8192, 16384, 65536 ]", from: 17},
	{name: "properties.gpu_bounce_buffer_slab_count", builtIn: "[ 128, 8, 4, 2 ]", from: 17},
	{name: "properties.rdma_peer_affinity_policy", key: "properties.rdma_load_balancing_policy"},
	{name: "properties.rdma_dynamic_routing"},
	{name: "fs.generic.posix_unaligned_writes"},
	{name: "fs.lustre.posix_gds_min_kb", tight: true},
	{name: "fs.lustre.use_pci_p2pdma", builtIn: "false", from: 16},
	{name: "fs.beegfs.posix_gds_min_kb", tight: true},
	{name: "fs.beegfs.use_pci_p2pdma", builtIn: "false", from: 16},
	{name: "fs.scatefs.posix_gds_min_kb", builtIn: "0", from: 14, tight: true},
	{name: "fs.scatefs.use_pci_p2pdma", builtIn: "false", from: 16},
	{name: "fs.weka.rdma_write_support", tight: true},
	{name: "fs.nfs.use_pci_p2pdma", builtIn: "false", from: 16},
	{name: "fs.gpfs.gds_write_support", tight: true},
	{name: "fs.gpfs.gds_async_support", tight: true},
	{name: "fs.gpfs.use_pci_p2pdma", builtIn: "false", from: 16},
	{name: "fs.virtiofs.use_pci_p2pdma", builtIn: "false", from: 16},
	{name: "profile.nvtx", to: 15},
	{name: "profile.cufile_stats"},
	{name: "miscellaneous.api_check_aggressive"},
	{name: "miscellaneous.enable_static_routing", builtIn: "false", from: 17},
	{name: "miscellaneous.static_routing_filepath", builtIn: "/etc/topology.json", from: 17},
	{name: "execution.max_io_threads"},
	{name: "execution.max_io_queue_depth"},
	{name: "execution.parallel_io"},
	{name: "execution.min_io_threshold_size_kb"},
	{name: "execution.max_request_parallelism"},
	{name: "properties.force_odirect_mode", builtIn: "false"},
	{name: "properties.prefer_iouring", builtIn: "false"},
	{name: "block.raid.use_pci_p2pdma", builtIn: "false", from: 16},
	{name: "block.nvme.use_pci_p2pdma", builtIn: "false", from: 16},
	{name: "block.nvmeof.use_pci_p2pdma", builtIn: "false", from: 16},
}

// switches are the variables that go over the file. libcufile takes the words true and false in any case, and passes
// over every other one without a word.
var switches = map[string]string{
	"properties.allow_compat_mode": "CUFILE_ALLOW_COMPAT_MODE",
	"properties.force_compat_mode": "CUFILE_FORCE_COMPAT_MODE",
	"properties.use_pci_p2pdma":    "CUFILE_USE_PCIP2PDMA",
}

// effective is the value that libcufile uses for a program with this environment; lists are printed as the report
// does, with a blank behind each number.
func (n *node) effective(key, otherwise string, env []string) string {
	if name := switches[key]; name != "" {
		for _, kv := range env {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				if v = strings.ToLower(v); v == "true" || v == "false" {
					return v
				}
			}
		}
	}
	value, ok := n.cufile.named[key]
	if !ok {
		value, ok = n.cufile.set[key]
	}
	if !ok {
		value = otherwise
		for _, e := range n.stock() {
			if e.path == key {
				value = e.value
			}
		}
	}
	if list, ok := strings.CutPrefix(value, "["); ok {
		return strings.TrimLeft(strings.NewReplacer(",", "", "]", "").Replace(list), " ")
	}
	value = strings.Trim(value, `"`)
	if key == "properties.rdma_dynamic_routing" { // printed as a number
		return onOff(value == "true", "1", "0")
	}
	return value
}

// configuration are the lines of the report, without the title.
func (n *node) configuration(env []string) []string {
	var out []string
	for _, s := range shownKeys {
		if s.from > 0 && !versionAbove(n.kit.release, 1, s.from) || s.to > 0 && versionAbove(n.kit.release, 1, s.to+1) {
			continue
		}
		key := s.key
		if key == "" {
			key = s.name
		}
		out = append(out, s.name+onOff(s.tight, ": ", " : ")+n.effective(key, s.builtIn, env))
	}
	return out
}
