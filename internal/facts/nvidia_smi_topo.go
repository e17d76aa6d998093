package facts

import (
	"regexp"
	"strings"
)

// SMIListed is a line of nvidia-smi -L.
type SMIListed struct {
	Index int
	Name  string
	UUID  string
	MIG   []string // UUIDs of its MIG devices
}

var (
	smiListGPU = regexp.MustCompile(`^GPU (\d{1,4}): (.+) \(UUID: (GPU-[0-9A-Za-z-]+)\)$`)
	smiListMIG = regexp.MustCompile(`^MIG .*\(UUID: (MIG-[0-9A-Za-z/-]+)\)$`)
)

// ParseSMIList reads nvidia-smi -L. Cut tells that the text ends within a line that may have been one more.
func ParseSMIList(b []byte) (list []SMIListed, cut bool) {
	for raw, whole := range rawLines(b) {
		line := strings.Join(strings.Fields(raw), " ")
		if !whole {
			cut = line != "" && !strings.HasSuffix(line, ")")
		}
		if m := smiListGPU.FindStringSubmatch(line); m != nil {
			list = append(list, SMIListed{Index: optInt(m[1]).V, Name: m[2], UUID: m[3]})
		} else if m := smiListMIG.FindStringSubmatch(line); m != nil && len(list) > 0 {
			last := &list[len(list)-1]
			last.MIG = append(last.MIG, m[1])
		}
	}
	return list, cut
}

// SMITopo is the matrix of nvidia-smi topo -m: how far two devices are from one another.
type SMITopo struct {
	Devices []string // of the matrix, in its order: GPU0, …, NIC0, …
	Rows    []SMITopoRow
	NICs    map[string]string // the legend: NIC0 -> mlx5_0
	Cut     bool
}

// SMITopoRow is a device's row.
type SMITopoRow struct {
	Device string
	Links  map[string]string // to each device: X (itself), NV18, PIX, PXB, PHB, NODE, SYS
	CPUs   string            // "0-47,96-143"; "" where it is not printed, as for NICs
	NUMA   string            // "0", "0-1", "N/A"
}

// Link is how far two devices are from one another.
func (t SMITopo) Link(a, b string) (string, bool) {
	for _, r := range t.Rows {
		if r.Device == a {
			l, ok := r.Links[b]
			return l, ok
		}
	}
	return "", false
}

var (
	smiEscape = regexp.MustCompile(`\x1b\[[0-9;]*m|^\[[0-9;]+m|\[0m$`) // a paste loses the escape byte
	smiDevice = regexp.MustCompile(`^(GPU|NIC)\d+$|^(mlx|rdma|efa|ib|bnxt)[0-9a-z_]*$`)
	smiLink   = regexp.MustCompile(`^(X|SYS|NODE|PHB|PXB|PIX|NV\d+)$`)
)

// ParseSMITopo reads the matrix by words: its columns are tabs, and a heading spans two of them.
func ParseSMITopo(b []byte) SMITopo {
	t := SMITopo{NICs: map[string]string{}}
	var tail []string
	for raw, whole := range rawLines(b) {
		line := smiEscape.ReplaceAllString(strings.TrimSpace(raw), "")
		words := strings.Fields(smiEscape.ReplaceAllString(line, ""))
		if len(words) == 0 {
			continue
		}
		if !whole {
			t.Cut = true
			break
		}
		if name, value, ok := strings.Cut(strings.Join(words, " "), ":"); ok && strings.HasPrefix(name, "NIC") && smiDevice.MatchString(name) {
			t.NICs[name] = strings.TrimSpace(value)
			continue
		}
		if !smiDevice.MatchString(words[0]) {
			continue
		}
		n := 0
		for n < len(words) && smiDevice.MatchString(words[n]) {
			n++
		}
		if len(t.Devices) == 0 && (n > 1 || n == len(words) || !smiLink.MatchString(words[1])) {
			t.Devices, tail = words[:n], words[n:]
			continue
		}
		t.row(words, strings.Join(tail, " "))
	}
	return t
}

func (t *SMITopo) row(words []string, tail string) {
	links := words[1:]
	if len(links) < len(t.Devices) || len(t.Devices) == 0 {
		return
	}
	r := SMITopoRow{Device: words[0], Links: map[string]string{}}
	for i, d := range t.Devices {
		if !smiLink.MatchString(links[i]) {
			return
		}
		r.Links[d] = links[i]
	}
	rest := links[len(t.Devices):]
	if strings.HasPrefix(tail, "CPU Affinity NUMA Affinity") && len(rest) >= 2 {
		r.CPUs, r.NUMA = rest[0], rest[1]
	}
	t.Rows = append(t.Rows, r)
}
