// Package collect fills an evidence set from a machine: which files, commands and device nodes a fact needs. A
// probe is a name that facts list among their sources; what it looks at is written here and nowhere else.
package collect

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/host"
)

// Probe is one look at a machine, made of as many items as it needs. Probes run side by side, so one must not
// wait for what another finds.
type Probe struct {
	Name  string
	About string // what is read, for the documentation
	Run   func(ctx context.Context, g *Gatherer)
}

// Gatherer is a probe's view of the machine and the place for what it finds.
type Gatherer struct {
	Host  host.Host
	Place evidence.Place
	FS    string // the file system in question, "" if none was named
	items []evidence.Item
}

// pause is how long to wait between two looks; a simulated machine's clock need not be waited for.
func (g *Gatherer) pause(d time.Duration) time.Duration {
	if host.Simulated(g.Host) {
		return 0
	}
	return d
}

// Add keeps items.
func (g *Gatherer) Add(its ...evidence.Item) {
	for i := range its {
		its[i].Place = g.Place
	}
	g.items = append(g.items, its...)
}

// Read reads a file that cannot block, and keeps it.
func (g *Gatherer) Read(ctx context.Context, path string) evidence.Item {
	it := g.Host.Read(ctx, path, false)
	g.Add(it)
	return it
}

// ReadSlow reads a file that may block, and keeps it.
func (g *Gatherer) ReadSlow(ctx context.Context, path string) evidence.Item {
	it := g.Host.Read(ctx, path, true)
	g.Add(it)
	return it
}

// Fold keeps many small files as one item: "name: text" a line.
func (g *Gatherer) Fold(source string, list evidence.Item, files []Named) {
	g.Add(fold(source, list, files))
}

// Named is a small file under the name that it has in a folded item.
type Named struct {
	Name string
	Item evidence.Item
}

func fold(source string, list evidence.Item, files []Named) evidence.Item {
	out := list
	out.Source = source
	if !list.OK() {
		return out
	}
	var b, bad strings.Builder
	for _, f := range files {
		if f.Item.OK() {
			fmt.Fprintf(&b, "%s: %s\n", f.Name, strings.Join(strings.Fields(string(f.Item.Out)), " "))
			continue
		}
		out.Truncated = true
		fmt.Fprintf(&bad, "%s: %s %s\n", f.Name, f.Item.State, f.Item.Err)
	}
	out.Out, out.Err = []byte(b.String()), []byte(bad.String())
	return out
}

var probes = map[string]Probe{}

func register(p Probe) {
	if _, ok := probes[p.Name]; ok {
		panic("collect: probe registered twice: " + p.Name)
	}
	probes[p.Name] = p
}

// Probes returns all probes by name.
func Probes() []Probe {
	var out []Probe
	for _, p := range probes {
		out = append(out, p)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Collect runs the named probes side by side and joins what they find, in the order of the names. A probe that
// has not come back when the time is over is left alone; its sources count as not looked at.
func Collect(ctx context.Context, h host.Host, fs string, names []string) []evidence.Item {
	type result struct {
		i     int
		items []evidence.Item
	}
	names = unique(names)
	results := make([][]evidence.Item, len(names))
	ch := make(chan result, len(names))
	var wg sync.WaitGroup
	for i, n := range names {
		p, ok := probes[n]
		if !ok {
			panic("collect: no such probe: " + n)
		}
		wg.Go(func() {
			g := &Gatherer{Host: h, Place: evidence.Host, FS: fs}
			p.Run(ctx, g)
			ch <- result{i, g.items}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	left := len(names)
	// A look that obeys its deadline comes back shortly after it; the grace is for joining the child.
	var late <-chan time.Time
	over := ctx.Done()
	for left > 0 {
		select {
		case r := <-ch:
			results[r.i] = r.items
			left--
		case <-over:
			over = nil
			late = time.After(time.Second)
		case <-late:
			left = 0
		}
	}
	var out []evidence.Item
	for _, r := range results {
		out = append(out, r...)
	}
	return out
}

func unique(names []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	sort.Strings(out)
	return out
}
