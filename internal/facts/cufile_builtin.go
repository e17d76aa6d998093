package facts

// CufileKind is what type libcufile wants of a value.
type CufileKind byte

// The kinds, as libcufile 1.15.1 accepts them. An unsigned number may be written as true, 1.9 or 1e3 (it is cut to
// 1, 1 and 1000), while a switch must be true or false: 1 and "true" are refused. null is as if the key were not there.
const (
	CufileAny     CufileKind = iota // not read by this release, or not known: anything is accepted
	CufileBool                      // true, false
	CufileUint                      // up to 2^64-1
	CufileUint32                    // libcufile ends the process on 2^32 and more
	CufileString                    //
	CufileUints                     // a list of whole numbers
	CufileStrings                   // a list of strings
	CufileMounts                    // mount_table: path -> {"rdma_dev_addr_list": [strings]}
)

// CufileKey is a key of cufile.json.
type CufileKey struct {
	Name    string
	Kind    CufileKind
	BuiltIn string // what libcufile uses where no file sets the key, "" if it does not print it
	Stock   string // what the file of the package sets, "" if it does not
	Shown   string // its name in gdscheck's report where that differs
	Env     string // the variable that beats the file
}

// CufileKeys are the keys that libcufile 1.15.1 reads. Kinds: each key was tried with 17 values. Built-in values: the
// report that libcufile wrote to its log on a machine without any cufile.json. Stock values: the file of CUDA 13.0.
// Six of them differ, and these six are the tell of BuiltIn.
//
// The switches' variables have a say only with the words true and false (of any case): 1, 0, yes, no, on, off are
// passed over without a word. That was seen of the three that allow, force and choose a path; the fourth is taken to
// be like them.
var CufileKeys = []CufileKey{
	{Name: "logging.dir", Kind: CufileString},
	{Name: "logging.level", Kind: CufileString, BuiltIn: "ERROR", Stock: "ERROR", Env: "CUFILE_LOGGING_LEVEL"},
	{Name: "profile.nvtx", Kind: CufileBool, BuiltIn: "false", Stock: "false"},
	{Name: "profile.cufile_stats", Kind: CufileUint32, BuiltIn: "0", Stock: "0"},
	{Name: "execution.max_io_queue_depth", Kind: CufileUint32, BuiltIn: "128", Stock: "128"},
	{Name: "execution.max_io_threads", Kind: CufileUint32, BuiltIn: "0", Stock: "4"},
	{Name: "execution.parallel_io", Kind: CufileBool, BuiltIn: "false", Stock: "true"},
	{Name: "execution.min_io_threshold_size_kb", Kind: CufileUint32, BuiltIn: "1024", Stock: "8192"},
	{Name: "execution.max_request_parallelism", Kind: CufileUint32, BuiltIn: "0", Stock: "4"},
	{Name: "properties.max_direct_io_size_kb", Kind: CufileUint, BuiltIn: "1024", Stock: "16384"},
	{Name: "properties.max_device_cache_size_kb", Kind: CufileUint, BuiltIn: "131072", Stock: "131072"},
	{Name: "properties.per_buffer_cache_size_kb", Kind: CufileUint, BuiltIn: "1024", Stock: "1024"},
	{Name: "properties.max_device_pinned_mem_size_kb", Kind: CufileUint, BuiltIn: "18014398509481980", Stock: "33554432"},
	{Name: "properties.posix_pool_slab_size_kb", Kind: CufileUints, BuiltIn: "4 1024 16384", Stock: "4 1024 16384"},
	{Name: "properties.posix_pool_slab_count", Kind: CufileUints, BuiltIn: "128 64 64", Stock: "128 64 64"},
	{Name: "properties.use_poll_mode", Kind: CufileBool, BuiltIn: "false", Stock: "false"},
	{Name: "properties.poll_mode_max_size_kb", Kind: CufileUint, BuiltIn: "4", Stock: "4"},
	{Name: "properties.use_pci_p2pdma", Kind: CufileBool, BuiltIn: "false", Stock: "false", Env: "CUFILE_USE_PCIP2PDMA"},
	{Name: "properties.allow_compat_mode", Kind: CufileBool, BuiltIn: "true", Stock: "true", Shown: "properties.use_compat_mode", Env: "CUFILE_ALLOW_COMPAT_MODE"},
	{Name: "properties.force_compat_mode", Kind: CufileBool, BuiltIn: "false", Env: "CUFILE_FORCE_COMPAT_MODE"},
	{Name: "properties.gds_rdma_write_support", Kind: CufileBool, BuiltIn: "true", Stock: "true"},
	{Name: "properties.io_batchsize", Kind: CufileUint, BuiltIn: "128", Stock: "128", Shown: "properties.max_batch_io_size"},
	{Name: "properties.max_batch_io_timeout_msecs", Kind: CufileUint, BuiltIn: "5"},
	{Name: "properties.io_priority", Kind: CufileString, Stock: "default"},
	{Name: "properties.rdma_dev_addr_list", Kind: CufileStrings, BuiltIn: ""},
	{Name: "properties.rdma_load_balancing_policy", Kind: CufileString, BuiltIn: "RoundRobin", Stock: "RoundRobin", Shown: "properties.rdma_peer_affinity_policy"},
	{Name: "properties.rdma_dynamic_routing", Kind: CufileBool, BuiltIn: "false", Stock: "false"},
	{Name: "properties.rdma_dynamic_routing_order", Kind: CufileStrings, Stock: "GPU_MEM_NVLINKS GPU_MEM SYS_MEM P2P"},
	{Name: "properties.rdma_dc_key", Kind: CufileString},
	{Name: "properties.rdma_access_mask", Kind: CufileString},
	{Name: "properties.rdma_peer_type", Kind: CufileString},
	{Name: "properties.force_odirect_mode", Kind: CufileBool, BuiltIn: "false"},
	{Name: "properties.prefer_iouring", Kind: CufileBool, BuiltIn: "false"},
	{Name: "properties.allow_system_memory", Kind: CufileBool},
	{Name: "fs.generic.posix_unaligned_writes", Kind: CufileBool, BuiltIn: "false", Stock: "false"},
	{Name: "fs.lustre.posix_gds_min_kb", Kind: CufileUint32, BuiltIn: "0", Stock: "0"},
	{Name: "fs.lustre.rdma_dev_addr_list", Kind: CufileStrings},
	{Name: "fs.lustre.mount_table", Kind: CufileMounts},
	{Name: "fs.beegfs.posix_gds_min_kb", Kind: CufileUint32, BuiltIn: "0", Stock: "0"},
	{Name: "fs.scatefs.posix_gds_min_kb", Kind: CufileUint32, BuiltIn: "0"},
	{Name: "fs.nfs.rdma_dev_addr_list", Kind: CufileStrings},
	{Name: "fs.nfs.mount_table", Kind: CufileMounts},
	{Name: "fs.weka.rdma_write_support", Kind: CufileBool, BuiltIn: "false", Stock: "false"},
	{Name: "fs.weka.rdma_dev_addr_list", Kind: CufileStrings},
	{Name: "fs.gpfs.gds_write_support", Kind: CufileBool, BuiltIn: "false", Stock: "false"},
	{Name: "fs.gpfs.gds_async_support", Kind: CufileBool, BuiltIn: "true", Stock: "true"},
	{Name: "denylist.drivers", Kind: CufileStrings},
	{Name: "denylist.devices", Kind: CufileStrings},
	{Name: "denylist.mounts", Kind: CufileStrings},
	{Name: "denylist.filesystems", Kind: CufileStrings},
	{Name: "miscellaneous.api_check_aggressive", Kind: CufileBool, BuiltIn: "false", Stock: "false"},
	{Name: "miscellaneous.skip_topology_detection", Kind: CufileBool, Env: "CUFILE_SKIP_TOPOLOGY_DETECTION"},
	{Name: "miscellaneous.stream_memops_bypass", Kind: CufileBool},
}

// cufileSections are the objects whose other types end the process: jsoncpp throws and nobody catches. A section
// that libcufile does not read (block, of 1.16) may be anything.
var cufileSections = []string{"logging", "profile", "execution", "properties", "fs", "fs.generic", "fs.lustre", "fs.beegfs", "fs.scatefs",
	"fs.nfs", "fs.weka", "fs.gpfs", "denylist", "miscellaneous"}

// CufileKeyOf finds a key.
func CufileKeyOf(name string) (CufileKey, bool) {
	for _, k := range CufileKeys {
		if k.Name == name {
			return k, true
		}
	}
	return CufileKey{}, false
}

// BuiltIn tells whether the report shows libcufile's built-in values where the packaged file has others: then no
// cufile.json set any of these keys. Either none was read, or one that names only other keys (a file of
// {"properties": {"allow_compat_mode": true}} looks the same). known is false where the report lacks the two keys
// that every release prints.
func (r GDSReport) BuiltIn() (yes, known bool) {
	seen := 0
	for _, k := range CufileKeys {
		if k.BuiltIn == k.Stock || k.BuiltIn == "" || k.Stock == "" {
			continue
		}
		v, ok := r.Setting(k.Name)
		switch {
		case !ok:
			continue
		case v != k.BuiltIn:
			return false, true
		}
		seen++
	}
	return seen >= 2, seen >= 2
}
