package facts

import (
	"sort"
	"sync"

	"gdsproof/internal/evidence"
	"gdsproof/internal/profile"
)

// Key names one fact. Sources are the probes (package collect) that a live node is asked for it.
type Key[T any] struct {
	Name    string
	Sources []string
	build   func(*In) Known[T]
}

// Need says that a check needs a fact: must have it, or would like it.
type Need struct {
	Name     string
	Optional bool
	Sources  []string
	resolve  func(*Table, evidence.Place) (ok bool, why, need string, from []int)
}

// Must: without this fact the check is not judged.
func (k Key[T]) Must() Need {
	return Need{Name: k.Name, Sources: k.Sources, resolve: func(t *Table, p evidence.Place) (bool, string, string, []int) {
		v := Get(t, p, k)
		return v.OK, v.Why, v.Need, v.From
	}}
}

// Want: the check is judged without it too.
func (k Key[T]) Want() Need {
	n := k.Must()
	n.Optional = true
	return n
}

// Resolve tells whether the fact is known at a place.
func (n Need) Resolve(t *Table, p evidence.Place) (ok bool, why, need string, from []int) {
	return n.resolve(t, p)
}

var (
	namesMu sync.Mutex
	names   = map[string]bool{}
)

// Define makes a key. Facts that are built from other facts name those facts' sources too.
func Define[T any](name string, sources []string, build func(*In) Known[T]) Key[T] {
	namesMu.Lock()
	defer namesMu.Unlock()
	if names[name] {
		panic("facts: key defined twice: " + name)
	}
	names[name] = true
	return Key[T]{Name: name, Sources: sources, build: build}
}

// Sources joins the sources of facts that another is built from.
func Sources(lists ...[]string) []string {
	seen := map[string]bool{}
	var out []string
	for _, l := range lists {
		for _, s := range l {
			if !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	sort.Strings(out)
	return out
}

// Table holds the facts of one set, built when first asked for.
type Table struct {
	Set     *evidence.Set
	Profile *profile.Profile
	memo    map[string]any
}

// NewTable makes the facts of a set, judged by a profile.
func NewTable(set *evidence.Set, p *profile.Profile) *Table {
	return &Table{Set: set, Profile: p, memo: map[string]any{}}
}

// Get returns a fact at a place.
func Get[T any](t *Table, p evidence.Place, k Key[T]) Known[T] {
	id := string(p) + "\x00" + k.Name
	if v, ok := t.memo[id]; ok {
		return v.(Known[T])
	}
	in := &In{t: t, place: p}
	v := k.build(in)
	if v.From == nil {
		v.From = in.from
	}
	t.memo[id] = v
	return v
}

// In is what a fact is built from.
type In struct {
	t     *Table
	place evidence.Place
	from  []int
	noted map[int]bool // those of from

	worst     *evidence.Item
	worstName string
	asked     bool
}

// Item returns the item of a source, or nil if nobody looked. It is remembered as evidence of the fact.
func (in *In) Item(source string) *evidence.Item {
	i := in.t.Set.Find(in.place, source)
	var it *evidence.Item
	if i >= 0 {
		it = &in.t.Set.Items[i]
		in.note(i)
	}
	if !in.asked || rank(it) > rank(in.worst) {
		in.worst, in.worstName, in.asked = it, source, true
	}
	return it
}

func (in *In) note(i int) {
	if in.noted[i] {
		return
	}
	if in.noted == nil {
		in.noted = map[int]bool{}
	}
	in.noted[i] = true
	in.from = append(in.from, i)
}

// Prefix returns the items whose source begins with prefix.
func (in *In) Prefix(prefix string) []*evidence.Item {
	var out []*evidence.Item
	for _, i := range in.t.Set.Prefix(in.place, prefix) {
		in.note(i)
		out = append(out, &in.t.Set.Items[i])
	}
	return out
}

// Profile is the profile that the node is judged by.
func (in *In) Profile() *profile.Profile { return in.t.Profile }

// Unknown makes an unknown fact whose reason is that of the most telling item asked for.
func Unknown[T any](in *In) Known[T] {
	why, need := missing(in.worstName, in.worst)
	return Known[T]{Why: why, Need: need}
}

// Because makes an unknown fact with a reason of its own.
func Because[T any](why, need string) Known[T] { return Known[T]{Why: why, Need: need} }

// Have makes a known fact.
func Have[T any](v T) Known[T] { return Known[T]{V: v, OK: true} }

// Use returns another fact as a part of this one; its evidence becomes this one's.
func Use[T any](in *In, k Key[T]) Known[T] {
	v := Get(in.t, in.place, k)
	for _, i := range v.From {
		in.note(i)
	}
	return v
}
