package checks_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gdsproof/internal/check"
	"gdsproof/internal/checks"
	"gdsproof/internal/collect"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/profile"
	"gdsproof/internal/report"
	"gdsproof/internal/sim"
)

// builtIn is read once: reading it takes longer than a judgement of a whole node.
var builtIn = sync.OnceValues(func() (*profile.Profile, error) { return profile.Load(os.DevNull) })

func rules(t testing.TB) *profile.Profile {
	t.Helper()
	p, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// look fills a set from a simulated node with everything that any check needs.
func look(t testing.TB, spec string) *evidence.Set {
	t.Helper()
	h, err := sim.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range collect.Probes() {
		names = append(names, p.Name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	items := collect.Collect(ctx, h, "/fsx", names)
	return &evidence.Set{Kind: evidence.Sim, Simulated: true, Items: append([]evidence.Item{facts.Options{}.Item()}, items...)}
}

func judge(t testing.TB, set *evidence.Set) []check.Finding {
	t.Helper()
	return check.Run(checks.Passive(), facts.NewTable(set, rules(t)), evidence.Host)
}

// worst is the worst status of a check's findings.
func worst(fs []check.Finding, id string) report.Status {
	order := []report.Status{report.Fail, report.Warn, report.Unknown, report.Pass, report.Skip}
	for _, s := range order {
		for _, f := range fs {
			if f.Check == id && f.Status == s {
				return s
			}
		}
	}
	return ""
}

// alarms are the checks with a red or yellow finding.
func alarms(fs []check.Finding) []string {
	var out []string
	for _, f := range fs {
		if (f.Status == report.Fail || f.Status == report.Warn) && !slices.Contains(out, f.Check) {
			out = append(out, f.Check)
		}
	}
	return out
}

func TestRegistry(t *testing.T) {
	probes := map[string]bool{}
	for _, p := range collect.Probes() {
		probes[p.Name] = true
		if p.About == "" {
			t.Errorf("probe %s says not what it reads", p.Name)
		}
	}
	files := map[string]bool{}
	for _, pattern := range []string{"*/*.go"} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			files[strings.TrimSuffix(filepath.Base(f), ".go")] = true
		}
	}
	for _, c := range checks.All() {
		if !files[strings.ReplaceAll(c.ID, "-", "_")] {
			t.Errorf("%s: no file of its name", c.ID)
		}
		if strings.HasSuffix(c.Title, ".") || c.Why == "" || c.Source == "" || c.Step < 1 || c.Step > 5 {
			t.Errorf("%s: title, why, source or step: %+v", c.ID, c)
		}
		if len(c.Fix) == 0 {
			t.Errorf("%s: no fix", c.ID)
		}
		for _, f := range c.Fix {
			if f.Text == "" || f.Changes == "" || f.Undo == "" {
				t.Errorf("%s: a fix says not what it does, changes or how it is undone: %+v", c.ID, f)
			}
		}
		for _, a := range c.After {
			if check.ByID(check.Cause(a)) == nil {
				t.Errorf("%s comes after %s, which is no check", c.ID, a)
			}
		}
		for _, n := range c.Needs {
			for _, s := range n.Sources {
				if !probes[s] {
					t.Errorf("%s: fact %s comes from %s, which is no probe", c.ID, n.Name, s)
				}
			}
		}
		var good, bad bool
		for _, want := range c.Examples {
			good = good || want == "pass"
			bad = bad || want == "fail" || want == "warn"
		}
		if c.Step == 4 {
			continue // they judge I/O that was done: see TestExperimentChecks
		}
		if !good {
			t.Errorf("%s: no example passes", c.ID)
		}
		if !bad && !withoutFault[c.ID] {
			t.Errorf("%s: no example fails: can it?", c.ID)
		}
	}
}

// withoutFault are checks whose fault no simulated node has yet; their red is shown in tests of their own.
// platform-nvidia-fs repeats what nvidia-fs-loaded and nvidia-fs-version say, and waits for them; platform-ignored is
// information.
var withoutFault = map[string]bool{"nvidia-fs-registered-storage": true, "platform-nvidia-fs": true, "platform-ignored": true}

func TestExamples(t *testing.T) {
	nodes := map[string][]check.Finding{}
	for _, c := range checks.All() {
		for spec, want := range c.Examples {
			if nodes[spec] == nil {
				nodes[spec] = judge(t, look(t, spec))
			}
			if got := worst(nodes[spec], c.ID); string(got) != want {
				t.Errorf("%s on %s: %s, want %s", c.ID, spec, got, want)
			}
		}
	}
}

func shapesWithGPU() []string { return []string{"p5en", "p5", "p6-b200", "g6e"} }

// always are the warnings of a healthy shape: AWS does not offer Lustre GDS on every type with EFA.
var always = map[string][]string{"g6e": {"instance-gds"}}

// refused tells that a shape does not have what a fault breaks: see TestRefused.
func refused(shape string, f sim.Fault) bool {
	return shape == "g6e" && f.Needs == "gds" || shape == "p6-b200" && f.Needs == "proprietary"
}

// seen is the check of steps 1 to 3 that names a fault; "" where the node stays ready, also for what an experiment
// alone can see.
func seen(f sim.Fault) string {
	if strings.HasPrefix(f.Check, "io-") {
		return ""
	}
	return f.Check
}

// TestFaults: each fault alone gives its own finding and no other red or yellow one.
func TestFaults(t *testing.T) {
	for _, shape := range shapesWithGPU() {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			if got := alarms(judge(t, look(t, shape))); !slices.Equal(got, always[shape]) {
				t.Errorf("healthy %s: alarms of %v", shape, got)
			}
			for _, f := range sim.Faults() {
				if refused(shape, f) {
					continue
				}
				fs := judge(t, look(t, shape+","+f.Name))
				want := slices.Clone(always[shape])
				if seen(f) != "" {
					want = append(want, f.Check)
				}
				got := alarms(fs)
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("%s,%s: alarms of %v, want %v", shape, f.Name, got, want)
				}
				v := check.Verdict(checks.Passive(), fs, "")
				if v.FirstAction == nil && seen(f) != "" || v.FirstAction != nil && v.FirstAction.Check != f.Check && !slices.Contains(always[shape], v.FirstAction.Check) {
					t.Errorf("%s,%s: first action %+v", shape, f.Name, v.FirstAction)
				}
			}
		})
	}
}

// TestRefused: a node that does not have what a fault breaks refuses it, by the names of both.
func TestRefused(t *testing.T) {
	specs := []string{"g6e,efa-service-not-gds", "p6-b200,gpu-driver-proprietary"}
	for _, f := range sim.Faults() {
		specs = append(specs, "laptop,"+f.Name)
	}
	for _, spec := range specs {
		node, fault, _ := strings.Cut(spec, ",")
		if _, err := sim.New(spec); err == nil || !strings.Contains(err.Error(), node) || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// TestPairs: of two faults both are named, or one waits for the other.
func TestPairs(t *testing.T) {
	all := sim.Faults()
	for _, shape := range shapesWithGPU() {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			pairs := 0
			for i, f := range all {
				for _, g := range all[i+1:] {
					if refused(shape, f) || refused(shape, g) || underRace && (i+len(g.Name))%16 != 0 {
						continue
					}
					spec := shape + "," + f.Name + "," + g.Name
					if _, err := sim.New(spec); err != nil {
						if !strings.Contains(err.Error(), f.Name) || !strings.Contains(err.Error(), g.Name) {
							t.Errorf("%s is refused without naming both: %v", spec, err)
						}
						continue
					}
					pairs++
					fs := judge(t, look(t, spec))
					for _, want := range []string{seen(f), seen(g)} {
						named := want == ""
						for _, x := range fs {
							named = named || x.Check == want && (x.Status == report.Fail || x.Status == report.Warn || x.BlockedBy != "")
						}
						if !named {
							t.Errorf("%s: %s is neither named nor blocked", spec, want)
						}
					}
					for _, a := range alarms(fs) {
						if a != f.Check && a != g.Check && !slices.Contains(always[shape], a) {
							t.Errorf("%s: alarm of %s", spec, a)
						}
					}
				}
			}
			if pairs < 5 && !underRace {
				t.Errorf("%s: only %d pairs can be together", shape, pairs)
			}
		})
	}
}

// ownEvidence are findings that wait for a failed cause on a node, and that stand on evidence of their own once the
// cause is not known: nodes that refuse to open do so whatever the module list says, a service has failed whatever
// it failed on, an LNet with tcp alone has no efa net whether or not the service is seen, and a driver that is held
// open and does not list lnet serves no Lustre whether or not the module is loaded. The platform report is evidence of
// its own too: of what libcufile found, whatever it found it for.
var ownEvidence = map[string][]string{
	"p5en,nvidia-fs-stuck-unloading": {"nvidia-fs-devices"},
	"p5en,nvidia-fs-missing":         {"platform-nvidia-fs", "platform-storage"},
	"p5en,nvidia-fs-devices-missing": {"platform-storage"},
	"p5en,cufile-json-broken":        {"platform-verification"},
	"p5en,efa-none-attached":         {"efa-service"},
	"p5en,efa-driver-old":            {"efa-service"},
	"p5en,lustre-client-missing":     {"efa-service", "lustre-mounted", "nvidia-fs-registered-storage"},
	"p5en,efa-service-missing":       {"lnet-efa-net"},
	"p5en,efa-service-failed":        {"lnet-efa-net"},
}

// TestNobodyLooked: an item that was not collected, or whose look failed, never turns a finding red or yellow.
func TestNobodyLooked(t *testing.T) {
	specs := append(shapesWithGPU(), "laptop")
	for _, f := range sim.Faults() {
		specs = append(specs, "p5en,"+f.Name)
	}
	if underRace {
		specs = specs[:2]
	}
	for _, spec := range specs {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			set := look(t, spec)
			base := alarms(judge(t, set))
			for i := range set.Items {
				src := set.Items[i].Source
				if src == facts.OptionsSource {
					continue
				}
				compare := func(how string, s *evidence.Set) {
					for _, a := range alarms(judge(t, s)) {
						if !slices.Contains(base, a) && !slices.Contains(ownEvidence[spec], a) {
							t.Errorf("%s, %s %s: %s turns red or yellow", spec, src, how, a)
						}
					}
				}
				compare("taken out", set.Without(i))
				for _, st := range []evidence.State{evidence.NotCollected, evidence.Denied, evidence.TimedOut, evidence.Failed} {
					c := *set
					c.Items = slices.Clone(set.Items)
					it := c.Items[i]
					it.State, it.Out, it.Err, it.Exit = st, nil, []byte(string(st)), nil // what did not run has no exit status
					// An open that is refused is what nvidia-fs-devices is about.
					if strings.HasPrefix(src, "open /dev/nvidia-fs") && (st == evidence.Denied || st == evidence.Failed) {
						continue
					}
					// A mount that does not answer, or with an error, is what lustre-answers is about.
					if (src == "statfs /fsx" || src == "lfs df /fsx") && (st == evidence.TimedOut || st == evidence.Failed) {
						continue
					}
					c.Items[i] = it
					compare(string(st), &c)
				}
				if out := set.Items[i].Out; len(out) > 1 {
					c := *set
					c.Items = slices.Clone(set.Items)
					c.Items[i].Out, c.Items[i].Truncated = out[:len(out)/2], true
					compare("cut in half", &c)
				}
			}
		})
	}
}
