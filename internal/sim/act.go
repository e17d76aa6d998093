package sim

import (
	"context"
	"path"
	"strings"

	"gdsproof/internal/evidence"
	"gdsproof/internal/host"
)

var _ host.Actor = (*Host)(nil)

// scratch is the private folder of a simulated node.
const scratch = "/run/gdsproof/simulated"

// Scratch is a folder that is nowhere.
func (h *Host) Scratch() string { return scratch }

// Do makes a change to the model.
func (h *Host) Do(_ context.Context, a host.Act) evidence.Item {
	h.mu.Lock()
	defer h.mu.Unlock()
	src := host.ActSource(a)
	failed := func(errno, words string) evidence.Item {
		it := item(src, evidence.Failed, a.Op+" "+a.Path+": "+words)
		it.Errno = errno
		return it
	}
	switch a.Op {
	case host.ActMkdir:
		if dir := path.Dir(a.Path); dir != h.mount() && !strings.HasPrefix(dir, h.mount()+"/") || h.mount() == "" {
			return absent(src, "mkdir", a.Path)
		}
		h.made[a.Path] = true
	case host.ActCreate:
		if !h.made[a.Path] {
			return absent(src, "open", a.Path)
		}
	case host.ActDiscard:
	case host.ActRemove:
		delete(h.made, a.Path)
	case host.ActWrite:
		if a.Path != rwStatsPath || !h.n.nvfs.loaded {
			return absent(src, "open", a.Path)
		}
		h.n.nvfs.rwStats = strings.TrimSpace(a.Text) == "1"
	case host.ActPut:
		if !strings.HasPrefix(a.Path, scratch+"/") {
			return failed("EACCES", "permission denied")
		}
		h.put[a.Path] = a.Text
	}
	return item(src, evidence.Present, "done")
}

func (h *Host) written(p string) (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text, ok := h.put[p]
	return text, ok
}

// folders lists what somebody made below a folder.
func (h *Host) folders(dir string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for _, d := range sortedKeys(h.made) {
		if path.Dir(d) == dir {
			b.WriteString(path.Base(d) + "/\n")
		}
	}
	return b.String()
}
