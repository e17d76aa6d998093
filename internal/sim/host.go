package sim

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gdsproof/internal/evidence"
	"gdsproof/internal/host"
)

// Host is a simulated machine.
type Host struct {
	n     *node
	files map[string]string
	links map[string]string
	dirs  map[string]map[string]bool // folder -> names, "/" behind a folder's, "@" behind a link's
	looks atomic.Int64               // at LNet's interfaces

	mu   sync.Mutex        // guards the node's counters, and what follows
	made map[string]bool   // folders that somebody made, with their files
	put  map[string]string // files that somebody wrote, by name
}

var _ host.Host = (*Host)(nil)

// New builds a simulated machine from "NAME[,FAULT…]".
func New(spec string) (*Host, error) {
	n, err := parse(spec)
	if err != nil {
		return nil, err
	}
	h := &Host{n: n, files: n.files(), links: n.links(), dirs: map[string]map[string]bool{}, made: map[string]bool{}, put: map[string]string{}}
	h.callersFile()
	for p := range h.links {
		if h.resolve(p) == p { // what lies below a link is reached through it
			h.link(p + "@")
		}
	}
	for _, d := range n.emptyDirs() {
		h.link(d + "/.")
		delete(h.dirs[d], ".")
	}
	for p := range h.files {
		h.link(p)
	}
	for i := range n.devNodes() {
		h.link(fmt.Sprintf("/dev/nvidia-fs%d", i))
	}
	h.link("/dev/null")
	return h, nil
}

// Simulated tells that nothing here is a machine: what waits for one to move on need not.
func (h *Host) Simulated() bool { return true }

// Name is the node's name with its faults.
func (h *Host) Name() string { return h.n.name }

func (n *node) devNodes() int {
	if !n.nvfs.loaded || n.nvfs.noNodes {
		return 0
	}
	return n.nvfs.nodes
}

// resolve follows links to folders in the way to a file; the last part is not followed. What lies below a device of
// /sys/class/infiniband has the link's own path: "" tells that it is in no listing.
func (h *Host) resolve(p string) string {
	for d := path.Dir(p); d != "/" && d != "."; d = path.Dir(d) {
		to, ok := h.links[d]
		switch {
		case !ok:
		case strings.HasPrefix(d, rdmaDir):
			return ""
		default:
			return h.resolve(path.Join(path.Dir(d), to) + p[len(d):])
		}
	}
	return p
}

// follow resolves the last part too.
func (h *Host) follow(p string) string {
	p = h.resolve(p)
	for range 8 {
		to, ok := h.links[p]
		if !ok {
			break
		}
		p = h.resolve(path.Join(path.Dir(p), to))
	}
	return p
}

func (h *Host) link(p string) {
	name := path.Base(p)
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		if h.dirs[dir] == nil {
			h.dirs[dir] = map[string]bool{}
		}
		h.dirs[dir][name] = true
		if dir == "/" {
			return
		}
		name = path.Base(dir) + "/"
	}
}

func item(source string, st evidence.State, out string) evidence.Item {
	it := evidence.Item{Source: source, Form: evidence.Whole, Place: evidence.Host, State: st}
	if st == evidence.Present {
		it.Out = []byte(out)
	} else {
		it.Err = []byte(out)
	}
	return it
}

func absent(source, op, p string) evidence.Item {
	it := item(source, evidence.Absent, op+" "+p+": no such file or directory")
	it.Errno = "ENOENT"
	return it
}

func (h *Host) Read(_ context.Context, p string, _ bool) evidence.Item {
	if text, ok := h.moves(p); ok {
		return item(p, evidence.Present, text)
	}
	if text, ok := h.written(p); ok {
		return item(p, evidence.Present, text)
	}
	if text, ok := h.files[h.follow(p)]; ok {
		return item(p, evidence.Present, text)
	}
	return absent(p, "open", p)
}

func (h *Host) node(p string) bool {
	var i int
	n, err := fmt.Sscanf(p, "/dev/nvidia-fs%d", &i)
	return n == 1 && err == nil && i < h.n.devNodes()
}

func (h *Host) Stat(_ context.Context, p string) evidence.Item {
	src := evidence.StatSource(p)
	if h.node(p) {
		var i int
		_, _ = fmt.Sscanf(p, "/dev/nvidia-fs%d", &i)
		return item(src, evidence.Present, fmt.Sprintf("type=char mode=0666 uid=0 gid=0 size=0 mtime=0 rdev=506:%d", i))
	}
	real := h.resolve(p)
	if real == "" {
		real = p
	}
	if to, ok := h.links[real]; ok {
		return item(src, evidence.Present, fmt.Sprintf("type=link mode=0777 uid=0 gid=0 size=0 mtime=0 target=%q", to))
	}
	if text, ok := h.files[real]; ok {
		return item(src, evidence.Present, fmt.Sprintf("type=file mode=0644 uid=0 gid=0 size=%d mtime=0", len(text)))
	}
	if h.dirs[real] != nil {
		return item(src, evidence.Present, "type=directory mode=0755 uid=0 gid=0 size=0 mtime=0")
	}
	return absent(src, "stat", p)
}

func (h *Host) Open(_ context.Context, p string) evidence.Item {
	src := evidence.OpenSource(p)
	if !h.node(p) {
		return absent(src, "open", p)
	}
	if h.n.nvfs.stuck {
		it := item(src, evidence.Failed, "open "+p+": no such device or address")
		it.Errno = "ENXIO"
		return it
	}
	return item(src, evidence.Present, "ok")
}

func (h *Host) Hold(ctx context.Context, paths []string, read string) []evidence.Item {
	var out []evidence.Item
	opened := false
	for _, p := range paths {
		it := h.Open(ctx, p)
		opened = opened || it.OK()
		out = append(out, it)
	}
	src := evidence.HeldSource(read)
	if !opened {
		return append(out, item(src, evidence.NotCollected, "no device node could be opened, so the list would mean nothing"))
	}
	if strings.HasSuffix(read, "/nvidia-fs/modules") {
		return append(out, item(src, evidence.Present, h.n.registered()))
	}
	it := h.Read(ctx, read, true)
	it.Source = src
	return append(out, it)
}

// Statfs: a look at a file system whose servers are silent does not come back before its deadline.
func (h *Host) Statfs(_ context.Context, p string) evidence.Item {
	src := evidence.StatfsSource(p)
	n := h.n
	switch {
	case !n.mounted() || p != n.fs.dir:
		return absent(src, "statfs", p)
	case n.fs.silent:
		return item(src, evidence.TimedOut, "statfs "+p+": no answer within 5s")
	}
	return item(src, evidence.Present, n.statfs())
}

func (h *Host) List(_ context.Context, dir string, _ bool) evidence.Item {
	src := evidence.ListSource(dir)
	if names, ok := h.counters(dir); ok {
		return item(src, evidence.Present, strings.Join(names, "\n")+"\n")
	}
	if dir == h.mount() && dir != "" {
		return item(src, evidence.Present, h.folders(dir))
	}
	m := h.dirs[h.follow(dir)]
	if m == nil {
		return absent(src, "open", dir)
	}
	if len(m) == 0 {
		return item(src, evidence.Present, "")
	}
	return item(src, evidence.Present, strings.Join(sortedKeys(m), "\n")+"\n")
}

func (h *Host) Run(_ context.Context, c host.Command) evidence.Item {
	src := c.Source()
	look := 0
	if strings.Join(c.Argv, " ") == "lnetctl net show -v 4" {
		look = int(h.looks.Add(1)) - 1
	}
	answer, ok := h.start(c, host.EnvOf(c, os.Environ()), look)
	if !ok {
		it := item(src, evidence.Absent, c.Argv[0]+": command not found")
		it.Errno = "ENOENT"
		return it
	}
	it := item(src, evidence.Present, answer.out)
	if words := strings.Join(c.Argv, " "); words != src {
		it.Origin = words
	}
	it.Err = []byte(answer.err)
	it.Exit = &answer.exit
	if len(c.Keep) > 0 {
		it.Form, it.Filter = evidence.Filtered, c.Keep
		it.Out = keep(answer.out, c.Keep)
	}
	return it
}

// start runs what moves bytes here, and the rest from the model.
func (h *Host) start(c host.Command, env []string, look int) (answer, bool) {
	switch program := path.Base(c.Argv[0]); {
	case program == "gdsio" && h.n.kit.release != "" && !h.n.kit.noTools:
		return h.gdsio(c, env), true
	case len(c.Argv) == 3 && c.Argv[1] == "__load":
		return h.engine(c, env), true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.Argv[0] == "lnetctl" {
		h.n.others()
	}
	return h.n.run(c.Argv, env, look)
}

// keep leaves the first line, the last one, and those that hold a wanted word, as a live machine's look does: what
// the words do not let through no judgement sees here either.
func keep(out string, words []string) []byte {
	lines := strings.SplitAfter(strings.TrimSuffix(out, "\n"), "\n")
	var b strings.Builder
	for i, l := range lines {
		low := strings.ToLower(l)
		if i == 0 || i == len(lines)-1 || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) }) {
			b.WriteString(l)
		}
	}
	if strings.HasSuffix(out, "\n") {
		b.WriteString("\n")
	}
	return []byte(b.String())
}
