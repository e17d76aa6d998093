package facts

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"gdsproof/internal/evidence"
)

// NVFSNode is one /dev/nvidia-fsN: what it is and whether this user can open it.
type NVFSNode struct {
	Path   string
	Type   string // char, file, link, …; "" if nobody looked
	Mode   string
	Rdev   string
	Opened Opt[bool]
	Errno  string // of the open
	Why    string // words of an open that failed or hung
	Hung   bool
}

// NVFSNodes are the driver's device nodes.
type NVFSNodes struct {
	Wanted Opt[int] // devcount, as the driver says
	Nodes  []NVFSNode
	Listed bool // the folder was listed, so that a node that is not here is not there
}

// ParseStat reads the words of a stat probe.
func ParseStat(b []byte) map[string]string {
	m := map[string]string{}
	for _, w := range strings.Fields(string(b)) {
		if k, v, ok := strings.Cut(w, "="); ok {
			m[k] = v
		}
	}
	return m
}

// ParseLsDevices reads lines of ls -l that name nvidia-fs nodes.
func ParseLsDevices(b []byte) []NVFSNode {
	var out []NVFSNode
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 2 || !strings.HasSuffix(line, "\n") {
			continue
		}
		path := f[len(f)-1]
		if _, ok := nodeNumber(path); !ok || len(f[0]) < 10 {
			continue
		}
		n := NVFSNode{Path: path, Mode: f[0]}
		switch f[0][0] {
		case 'c':
			n.Type = "char"
		case '-':
			n.Type = "file"
		case 'l':
			n.Type = "link"
		case 'd':
			n.Type = "directory"
		default:
			continue
		}
		out = append(out, n)
	}
	sortNodes(out)
	return out
}

// nodeNumber is the N of /dev/nvidia-fsN.
func nodeNumber(path string) (int, bool) {
	s, ok := strings.CutPrefix(path, "/dev/nvidia-fs")
	if !ok || s == "" || len(s) > 4 {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == s
}

func sortNodes(n []NVFSNode) {
	sort.SliceStable(n, func(i, j int) bool {
		a, _ := nodeNumber(n[i].Path)
		b, _ := nodeNumber(n[j].Path)
		return a < b
	})
}

// ourOwn are errors of an open that speak of the program that looks and not of what it looks at: no file descriptors
// or memory left, or a child that could not be started (no errno at all).
var ourOwn = map[string]bool{"": true, "EMFILE": true, "ENFILE": true, "ENOMEM": true, "EAGAIN": true, "EINTR": true}

// Nodes are the driver's device nodes, how many there should be, and whether they open.
var Nodes = Define("nvidia-fs-nodes", []string{"nvidia-fs-devices", "nvidia-fs-proc"}, func(in *In) Known[NVFSNodes] {
	var d NVFSNodes
	if it := in.Item(NVFSProc + "/devcount"); it.OK() {
		if n, err := strconv.Atoi(strings.TrimSpace(string(it.Out))); err == nil && n >= 0 {
			d.Wanted = Some(n)
		}
	}
	if it := in.Item(evidence.ListSource("/dev")); it.OK() {
		d.Listed = it.Complete()
		for _, n := range ListedNames(it.Out) {
			p := "/dev/" + n
			if _, ok := nodeNumber(p); ok {
				d.Nodes = append(d.Nodes, NVFSNode{Path: p})
			}
		}
	} else if it := in.Item("ls -l /dev/nvidia-fs*"); it.OK() {
		d.Nodes = ParseLsDevices(it.Out)
		d.Listed = it.Complete()
	} else {
		return Unknown[NVFSNodes](in)
	}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		if it := in.Item(evidence.StatSource(n.Path)); it.OK() {
			s := ParseStat(it.Out)
			n.Type, n.Mode, n.Rdev = s["type"], s["mode"], s["rdev"]
		}
		switch it := in.Item(evidence.OpenSource(n.Path)); {
		case it == nil || it.State == evidence.NotCollected:
		case it.State == evidence.Present:
			n.Opened = Some(true)
		case it.State == evidence.TimedOut:
			n.Hung, n.Why = true, string(it.Err)
		case it.State == evidence.Failed && ourOwn[it.Errno]:
			n.Why = string(it.Err) // says nothing of the node
		default:
			n.Opened, n.Errno, n.Why = Some(false), it.Errno, string(it.Err)
		}
	}
	sortNodes(d.Nodes)
	return Have(d)
})

// Registered is the driver's list of storage modules that took its callbacks.
type Registered struct {
	Names []string
	// Held: it was read while a node was held open, the only time at which it says anything: an idle host
	// prints a placeholder for WekaFS alone.
	Held bool
	Text string
}

// Has tells whether a module is in the list.
func (r Registered) Has(name string) bool {
	for _, n := range r.Names {
		if n == name {
			return true
		}
	}
	return false
}

// ParseRegistered reads "lnet: (null)" lines; the text behind the colon is a version that nobody sets.
func ParseRegistered(b []byte) []string {
	var out []string
	for line := range strings.Lines(string(b)) {
		name, _, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if ok && moduleName(name) {
			out = append(out, name)
		}
	}
	return out
}

// Storage is the list of registered storage modules, as read while the nodes were held open if it was.
var Storage = Define("nvidia-fs-storage", []string{"nvidia-fs-devices", "nvidia-fs-proc"}, func(in *In) Known[Registered] {
	held := in.Item(evidence.HeldSource(NVFSProc + "/modules"))
	plain := in.Item(NVFSProc + "/modules")
	for _, it := range []*evidence.Item{held, plain} {
		if it.OK() {
			names := ParseRegistered(it.Out)
			// Somebody else holds a node open while a real module is in an idle list.
			others := false
			for _, n := range names {
				others = others || n != "wekafsio"
			}
			return Have(Registered{Names: names, Held: it == held || others, Text: strings.TrimSpace(string(it.Out))})
		}
	}
	return Unknown[Registered](in)
})

// Peer is a row of peer_distance: a GPU and a peer that the driver has in its table.
type Peer struct{ GPU, Peer, Class string }

// ParsePeerDistance reads the table by its header's words; the header has double TABs where the rows have one.
func ParsePeerDistance(b []byte) []Peer {
	var out []Peer
	class := -1
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) > 2 && f[0] == "gpu" && f[1] == "peer" {
			class = len(f) - 1
			continue
		}
		if len(f) < 3 || strings.Count(f[0], ":") != 2 || strings.Count(f[1], ":") != 2 || !strings.HasSuffix(line, "\n") {
			continue
		}
		p := Peer{GPU: strings.ToLower(f[0]), Peer: strings.ToLower(f[1])}
		if class > 0 && class < len(f) {
			p.Class = f[class]
		}
		out = append(out, p)
	}
	return out
}

// Peers are the peers in the driver's table.
var Peers = Define("nvidia-fs-peers", []string{"nvidia-fs-proc"}, func(in *In) Known[[]Peer] {
	it := in.Item(NVFSProc + "/peer_distance")
	if !it.Complete() {
		if it.OK() {
			return Because[[]Peer](it.Source+": not whole", "the whole of "+it.Source)
		}
		return Unknown[[]Peer](in)
	}
	return Have(ParsePeerDistance(it.Out))
})

// String names a node with what is wrong with it.
func (n NVFSNode) String() string {
	s := n.Path
	if n.Type != "" && n.Type != "char" {
		s += " is a " + n.Type
	}
	if n.Errno != "" {
		s += fmt.Sprintf(" (%s)", n.Errno)
	}
	return s
}
