package sim

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"gdsproof/internal/host"
)

// configured is the node as a program with this environment finds it: the file that CUFILE_ENV_PATH_JSON names may have
// been written for this very run. The node is locked until the second result is called.
func (h *Host) configured(env []string) (*node, func()) {
	h.mu.Lock()
	c := *h.n
	for _, kv := range env {
		p, ok := strings.CutPrefix(kv, "CUFILE_ENV_PATH_JSON=")
		text, put := h.put[p]
		if !ok || !put {
			continue
		}
		named, accepted := flat([]byte(text))
		c.cufile.named = named
		c.cufile.broken = c.cufile.broken || !accepted
	}
	c.strict = c.effective("properties.allow_compat_mode", "true", env) == "false" && c.effective("properties.force_compat_mode", "false", env) == "false"
	return &c, h.mu.Unlock
}

// engine is gdsproof's own engine on this node: what its process would tell on descriptor 3.
func (h *Host) engine(c host.Command, env []string) answer {
	var asked struct {
		Engine string `json:"engine"`
		Op     string `json:"op"`
		Dir    string `json:"dir"`
		Name   string `json:"name"`
		GPU    struct {
			Index int `json:"index"`
		} `json:"gpu"`
		CPU     bool   `json:"cpu"`
		Strict  bool   `json:"strict"`
		Verify  bool   `json:"verify"`
		Threads uint64 `json:"threads"`
		Size    uint64 `json:"size_bytes"`
		IOSize  uint64 `json:"io_size_bytes"`
	}
	if err := json.Unmarshal([]byte(c.Argv[2]), &asked); err != nil {
		return answer{err: err.Error() + "\n", exit: 2}
	}
	n, unlock := h.configured(env)
	defer unlock()
	j := job{op: asked.Op, cpu: asked.CPU, strict: n.strict, gpu: asked.GPU.Index, threads: asked.Threads, size: asked.Size, io: max(1, asked.IOSize), env: env}
	res := map[string]any{"end": "done"}
	tell := func(kind string, body any) {
		b, err := json.Marshal(map[string]any{"v": 1, "kind": kind, "body": body})
		if err == nil && c.Events != nil {
			c.Events(b)
		}
	}
	failed := func(words string, code int) answer {
		res["end"], res["error"], res["code"] = "error", words, code
		tell("result", res)
		tell("done", nil)
		return answer{}
	}
	if !h.made[asked.Dir] {
		return failed("open "+path.Join(asked.Dir, asked.Name)+": no such file or directory", 2)
	}
	if j.gpu >= len(h.n.gpus) {
		return failed("no such GPU", 101)
	}
	w := n.wayOf(j)
	h.log(env, n, j, w)
	if w.err != "" {
		return failed(fmt.Sprintf("%s (%d)", w.err, w.code), w.code)
	}
	h.n.carry(j, w)
	seconds := float64(j.size) / (1 << 30) / 3.2
	res["bytes"], res["ops"], res["seconds"] = j.size, j.blocks(), seconds
	res["latency"] = map[string]float64{"p50_usec": 1180, "p99_usec": 2410, "max_usec": 6920}
	res["cpu_seconds"] = seconds * 0.18
	if j.cpu || !w.direct {
		res["cpu_seconds"] = seconds * 0.94
	}
	if !j.cpu {
		stats := map[string]uint64{"total": j.blocks(), "nvfs": 0, "p2p": 0, "posix": j.blocks()}
		if w.direct {
			stats["nvfs"], stats["posix"] = j.blocks(), 0
		}
		res["stats"] = stats
		res["effective"] = map[string]string{"allow_compat_mode": n.effective("properties.allow_compat_mode", "true", env), "force_compat_mode": n.effective("properties.force_compat_mode", "false", env)}
		res["versions"] = map[string]string{"libcufile": n.kit.release}
	}
	if asked.Verify && j.op == "read" {
		v := map[string]any{"bytes": j.size, "wrong_bytes": 0, "how": onOff(j.cpu, "through the CPU", "on the GPU")}
		if n.stale && !j.cpu {
			v["wrong_bytes"], v["first_wrong_offset"] = j.io, j.io*3
		}
		res["verified"] = v
	}
	tell("progress", map[string]any{"gpu": j.gpu, "op": j.op, "bytes": j.size, "of": j.size})
	tell("result", res)
	tell("done", nil)
	return answer{}
}

// log writes what libcufile logs of a run, if it was told where and at which level.
func (h *Host) log(env []string, n *node, j job, w way) {
	file, level := "", "ERROR"
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "CUFILE_LOGFILE_PATH="); ok {
			file = v
		}
		if v, ok := strings.CutPrefix(kv, "CUFILE_LOGGING_LEVEL="); ok {
			level = v
		}
	}
	if file == "" || j.cpu || n.cufile.broken {
		return
	}
	var lines []string
	if level == "INFO" || level == "TRACE" {
		lines, _ = n.report(env, true)
	}
	text := ""
	if len(lines) > 0 {
		text = cufileLog(lines)
	}
	say := func(level, where, words string) {
		text += fmt.Sprintf(" 24-11-2026 16:40:09:61 [pid=4711 tid=4711] %-6s %s %s\n", level, where, words)
	}
	switch w.code {
	case 5001:
		say("ERROR", "cufio-drv:846", "nvidia-fs.ko driver not loaded")
	case 5008:
		say("ERROR", "cufio:296", "cuFileHandleRegister GDS not supported or disabled by config, using cuFile posix read/write with compat mode enabled")
	}
	if w.lane == "no driver" {
		say("NOTICE", "cufio-drv:851", "running in compatible mode")
	}
	if w.lane == "file" && !w.registered {
		say("WARN", "cufio-fs:441", "EXT4 or XFS or other: mount path of the file does not register with nvidia-fs")
		say("NOTICE", "cufio:1036", "cuFileHandleRegister GDS not supported or disabled by config, using cuFile posix read/write with compat mode enabled")
	}
	if level == "TRACE" && w.err == "" {
		verb := onOff(j.op == "read", "Read", "Write")
		for i := range min(j.blocks(), 64) {
			say("DEBUG", "cufio:1870", "cuFile"+verb+" invoked")
			say("DEBUG", "cufio-px-pool:455", fmt.Sprintf("%s path taken with ODIRECT fd: 37 offset: %d", onOff(w.direct, "gds", "posix"), i*j.io))
			say("TRACE", "cufio-stats:77", fmt.Sprintf("%s : Updating stats devPtr: 0x7f1200000000 p2p mode: 0 compat: %s size: %d", j.op, onOff(w.direct, "0", "1"), j.io))
			say("DEBUG", "cufio:1912", "cuFile"+verb+" done")
		}
	}
	h.put[file] += text
}
