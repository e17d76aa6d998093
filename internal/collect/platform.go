package collect

import (
	"context"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
)

func init() {
	register(Probe{"cufile-config", "/etc/cufile.json, the file that CUFILE_ENV_PATH_JSON names, and the caller's CUFILE_*, CUDA_* and NVIDIA_*", cufileConfigProbe})
	register(Probe{"nvidia-smi", "nvidia-smi -q", func(ctx context.Context, g *Gatherer) {
		// Without the persistence daemon it initialises each GPU first, which takes seconds a GPU.
		g.Add(g.Host.Run(ctx, host.Command{Name: facts.SMISource, Argv: []string{"nvidia-smi", "-q"}, Timeout: 30 * time.Second, MaxOut: 4 << 20}))
	}})
	register(Probe{"iommu", "/sys/class/iommu, /sys/kernel/iommu_groups with the groups' types, /proc/cmdline", iommuProbe})
}

// CallerEnvironment is what of the caller's environment a command of the node gets, and so libcufile in it. It is
// this process's own on a simulated node too: the simulated libcufile runs for the same caller.
func (g *Gatherer) CallerEnvironment() evidence.Item {
	return callerEnvironment(os.Environ())
}

func callerEnvironment(env []string) evidence.Item {
	kept := host.Environ(host.EnvCaller, env)[len(host.Environ(host.EnvClean, nil)):]
	out := evidence.Item{Source: facts.CallerEnvironment, Form: evidence.Whole, State: evidence.Present}
	var b strings.Builder
	slices.Sort(kept) // the order of an environment means nothing, and two runs are compared
	for _, kv := range kept {
		k, v, _ := strings.Cut(kv, "=")
		if secret(k) {
			v = "(not kept)"
		}
		b.WriteString(k + "=" + strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(v) + "\n")
	}
	out.Out = []byte(b.String())
	return out
}

// secret tells the variables of these families whose values are nobody's business: NVIDIA_API_KEY is one.
func secret(name string) bool {
	for _, w := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"} {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

// cufileConfigProbe reads both files: libcufile reads the named one over /etc/cufile.json. The named one may lie on
// any file system, so it is read in a child.
func cufileConfigProbe(ctx context.Context, g *Gatherer) {
	env := g.CallerEnvironment()
	g.Add(env)
	g.namedPaths(ctx, g.Read(ctx, facts.CufileEtc))
	for line := range strings.Lines(string(env.Out)) {
		p, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), facts.CufilePathEnv+"=")
		if ok && path.IsAbs(p) && p != facts.CufileEtc {
			g.namedPaths(ctx, g.ReadSlow(ctx, p))
		}
	}
}

// mostNamedPaths bounds the looks: each is a child, since a path may lie on a file system that hangs.
const mostNamedPaths = 8

// namedPaths looks whether what a cufile.json names is there: libcufile refuses the whole file for one that is not.
// The named file of a simulated node's caller lies on the real machine, and so would these.
func (g *Gatherer) namedPaths(ctx context.Context, it evidence.Item) {
	if host.Simulated(g.Host) || !it.Complete() {
		return
	}
	named := facts.ParseCufileJSON(it.Out).NamedPaths()
	for _, s := range named[:min(len(named), mostNamedPaths)] {
		g.Add(g.Host.Statfs(ctx, s.Value))
	}
}

// mostIOMMUGroups bounds the reading of types: a machine has one group for each few PCI devices.
const mostIOMMUGroups = 2048

func iommuProbe(ctx context.Context, g *Gatherer) {
	g.Add(g.Host.List(ctx, facts.IOMMUClass, false))
	groups := g.Host.List(ctx, facts.IOMMUGroups, false)
	g.Add(groups)
	var types []Named
	named := facts.ListedNames(groups.Out)
	for _, n := range named[:min(len(named), mostIOMMUGroups)] {
		types = append(types, Named{n, g.Host.Read(ctx, path.Join(facts.IOMMUGroups, n, "type"), false)})
	}
	if len(types) > 0 {
		g.Fold(facts.IOMMUGroupTypes, groups, types)
	}
	g.Read(ctx, facts.CmdlineSource)
}
