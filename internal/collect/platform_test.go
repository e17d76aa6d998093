package collect

import (
	"context"
	"path"
	"slices"
	"strings"
	"testing"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
)

// paper is a machine of a few files and commands.
type paper map[string]string

func (p paper) item(source, key string) evidence.Item {
	it := evidence.Item{Source: source, Form: evidence.Whole, State: evidence.Absent}
	if text, ok := p[key]; ok {
		it.State, it.Out = evidence.Present, []byte(text)
	}
	return it
}

func (p paper) Read(_ context.Context, path string, _ bool) evidence.Item { return p.item(path, path) }
func (p paper) Stat(_ context.Context, path string) evidence.Item {
	return p.item(evidence.StatSource(path), path)
}
func (p paper) Open(_ context.Context, path string) evidence.Item {
	return p.item(evidence.OpenSource(path), path)
}
func (p paper) Hold(context.Context, []string, string) []evidence.Item { return nil }
func (p paper) Statfs(_ context.Context, path string) evidence.Item {
	return p.item(evidence.StatfsSource(path), path)
}
func (p paper) Run(_ context.Context, c host.Command) evidence.Item {
	return p.item(c.Source(), c.Source())
}
func (p paper) List(_ context.Context, dir string, _ bool) evidence.Item {
	it := evidence.Item{Source: evidence.ListSource(dir), Form: evidence.Whole, State: evidence.Absent}
	seen := map[string]bool{}
	for name := range p {
		rest, ok := strings.CutPrefix(name, dir+"/")
		if !ok {
			continue
		}
		it.State = evidence.Present
		if child, _, deeper := strings.Cut(rest, "/"); deeper {
			seen[child+"/"] = true
		} else {
			seen[path.Base(name)] = true
		}
	}
	for _, n := range sorted(seen) {
		it.Out = append(it.Out, n+"\n"...)
	}
	return it
}

func sorted(m map[string]bool) []string {
	var out []string
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// gather runs probes and returns the facts' table of what they found.
func gather(h host.Host, probes ...string) *evidence.Set {
	return &evidence.Set{Items: Collect(context.Background(), h, "", probes)}
}

func source(t *testing.T, s *evidence.Set, name string) evidence.Item {
	t.Helper()
	i := s.Find(evidence.Host, name)
	if i < 0 {
		t.Fatalf("nobody looked at %s", name)
	}
	return s.Items[i]
}

func TestCallerEnvironment(t *testing.T) {
	it := callerEnvironment([]string{"HOME=/root", "PATH=/x", "CUFILE_LOGGING_LEVEL=INFO", "NVIDIA_API_KEY=hush", "LD_LIBRARY_PATH=/a:/b", "CUDA_VISIBLE_DEVICES=1\nCUFILE_ALLOW_COMPAT_MODE=false",
		"AWS_SECRET_ACCESS_KEY=hush", "LC_ALL=de", "LD_LIBRARY_PATH_OLD=/c"})
	want := "CUDA_VISIBLE_DEVICES=1\\nCUFILE_ALLOW_COMPAT_MODE=false\nCUFILE_LOGGING_LEVEL=INFO\nLD_LIBRARY_PATH=/a:/b\nNVIDIA_API_KEY=(not kept)\n"
	if string(it.Out) != want || !it.Complete() || it.Source != facts.CallerEnvironment {
		t.Errorf("%q, %+v", it.Out, it)
	}
	if it := callerEnvironment(nil); len(it.Out) != 0 || !it.Complete() {
		t.Errorf("no environment is a known one: %+v", it)
	}
}

func TestCufileConfigProbe(t *testing.T) {
	t.Setenv(facts.CufilePathEnv, "/opt/my.json")
	set := gather(paper{facts.CufileEtc: "{}", "/opt/my.json": "null"}, "cufile-config")
	if it := source(t, set, "/opt/my.json"); string(it.Out) != "null" {
		t.Errorf("%+v", it)
	}
	if it := source(t, set, facts.CallerEnvironment); !strings.Contains(string(it.Out), facts.CufilePathEnv+"=/opt/my.json\n") {
		t.Errorf("%+v", it)
	}
	if it := source(t, set, facts.CufileEtc); !it.Complete() {
		t.Errorf("%+v", it)
	}
	t.Setenv(facts.CufilePathEnv, "my.json")
	set = gather(paper{}, "cufile-config")
	if n := len(set.Items); n != 2 {
		t.Errorf("a relative path was read: %d items", n)
	}
	if it := source(t, set, facts.CufileEtc); it.State != evidence.Absent {
		t.Errorf("%+v", it)
	}
}

func TestCufileNamedPathsProbe(t *testing.T) {
	set := gather(paper{facts.CufileEtc: `{"logging":{"dir":"/var/log/cufile"},"denylist":{"mounts":["/a","b"]}}`, "/a": "type=0x1"}, "cufile-config")
	if it := source(t, set, evidence.StatfsSource("/var/log/cufile")); it.State != evidence.Absent {
		t.Errorf("%+v", it)
	}
	if it := source(t, set, evidence.StatfsSource("/a")); it.State != evidence.Present || len(set.Items) != 4 {
		t.Errorf("%+v, %d items", it, len(set.Items))
	}
}

func TestIOMMUProbe(t *testing.T) {
	set := gather(paper{"/sys/class/iommu/dmar0/x": "", facts.CmdlineSource: "iommu=pt\n", facts.IOMMUGroups + "/3/type": "DMA-FQ\n", facts.IOMMUGroups + "/12/type": "identity\n"}, "iommu")
	if it := source(t, set, facts.IOMMUGroupTypes); string(it.Out) != "12: identity\n3: DMA-FQ\n" || !it.Complete() {
		t.Errorf("%+v", it)
	}
	if it := source(t, set, evidence.ListSource(facts.IOMMUGroups)); string(it.Out) != "12/\n3/\n" {
		t.Errorf("%+v", it)
	}
	set = gather(paper{}, "iommu")
	if set.Find(evidence.Host, facts.IOMMUGroupTypes) >= 0 || len(set.Items) != 3 {
		t.Errorf("%+v", set.Items)
	}
	set = gather(paper{facts.IOMMUGroups + "/3/devices": ""}, "iommu")
	if it := source(t, set, facts.IOMMUGroupTypes); it.Complete() {
		t.Errorf("a type that could not be read: %+v", it)
	}
}

func TestSMIProbe(t *testing.T) {
	set := gather(paper{"nvidia-smi -q": "x\n"}, "nvidia-smi")
	if it := source(t, set, facts.SMISource); string(it.Out) != "x\n" {
		t.Errorf("%+v", it)
	}
}
