package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"gdsproof/internal/cufile"
	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
)

func init() {
	register(Probe{"cufile-library", "ldconfig -p and the folders where programs find libcufile; the CUDA installs of /usr/local", cufileLibraryProbe})
}

// cufileLibraryProbe lists every libcufile that a program of this user could load.
func cufileLibraryProbe(ctx context.Context, g *Gatherer) {
	g.Add(libraries(ctx, g.Host, os.Getenv("LD_LIBRARY_PATH")))
	list := g.Host.List(ctx, "/usr/local", false)
	if list.OK() {
		var kept []string
		for line := range strings.Lines(string(list.Out)) {
			n := strings.TrimSpace(line)
			if !strings.HasPrefix(n, "cuda") {
				continue
			}
			if strings.HasSuffix(n, "@") {
				st := g.Host.Stat(ctx, path.Join("/usr/local", strings.TrimSuffix(n, "@")))
				n = strings.TrimSuffix(n, "@") + " -> " + strings.Trim(facts.ParseStat(st.Out)["target"], `"`)
			}
			kept = append(kept, strings.TrimSuffix(n, "/")+"\n")
		}
		list.Out = []byte(strings.Join(kept, ""))
	}
	list.Source = facts.CUDAInstallsSource
	g.Add(list)
}

// libraries looks where the dynamic loader does, in its order: LD_LIBRARY_PATH, the loader's cache; then where only
// programs look that know CUDA's folders.
func libraries(ctx context.Context, h host.Host, ldPath string) evidence.Item {
	out := evidence.Item{Source: facts.CufileLibrariesSource, Form: evidence.Whole, Place: evidence.Host, State: evidence.Present}
	var b strings.Builder
	seen := map[string]bool{}
	add := func(p, why string) {
		if seen[p] {
			return
		}
		st := h.Stat(ctx, p)
		if !st.OK() {
			return
		}
		seen[p] = true
		target := strings.Trim(facts.ParseStat(st.Out)["target"], `"`)
		fmt.Fprintf(&b, "%s: file=%s by=%s\n", p, path.Base(orElse(target, p)), why)
	}
	for _, d := range strings.Split(ldPath, ":") {
		if path.IsAbs(d) {
			add(path.Join(d, "libcufile.so.0"), "LD_LIBRARY_PATH")
		}
	}
	cache := h.Run(ctx, host.Command{Argv: []string{"ldconfig", "-p"}, Keep: []string{"libcufile.so.0"}})
	for line := range strings.Lines(string(cache.Out)) {
		if name, p, ok := strings.Cut(line, "=>"); ok && strings.Contains(name, "libcufile.so.0") {
			add(strings.TrimSpace(p), "ldconfig")
		}
	}
	dirs := []string{"/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib", "/usr/local/cuda/targets/sbsa-linux/lib"}
	list := h.List(ctx, "/usr/local", false)
	for line := range strings.Lines(string(list.Out)) {
		if n := strings.TrimRight(strings.TrimSpace(line), "/@"); strings.HasPrefix(n, "cuda-") {
			dirs = append(dirs, "/usr/local/"+n+"/lib64", "/usr/local/"+n+"/targets/x86_64-linux/lib", "/usr/local/"+n+"/targets/sbsa-linux/lib")
		}
	}
	dirs = append(dirs, "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64")
	for _, d := range dirs {
		add(path.Join(d, "libcufile.so.0"), "folder")
	}
	out.Out = []byte(b.String())
	if cache.State != evidence.Present {
		out.Err = fmt.Appendf(nil, "ldconfig -p: %s", cache.State)
	}
	return out
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// cufileReport opens libcufile's driver once in a child, at the log level at which it writes the whole platform
// report. It stands in for gdscheck where the tools are not installed, as in most containers.
func cufileReport(ctx context.Context, g *Gatherer) {
	libs := libraries(ctx, g.Host, os.Getenv("LD_LIBRARY_PATH"))
	lib := ""
	for line := range strings.Lines(string(libs.Out)) {
		lib, _, _ = strings.Cut(line, ": ")
		break
	}
	if lib == "" {
		g.Add(evidence.Item{Source: facts.CufileLogSource, Form: evidence.Whole, State: evidence.Absent, Err: []byte("no libcufile is found, so there is no report through its log either")})
		return
	}
	self, err := os.Executable()
	if err != nil {
		g.Add(evidence.Item{Source: facts.CufileLogSource, Form: evidence.Whole, State: evidence.Failed, Err: []byte(err.Error())})
		return
	}
	it := g.Host.Run(ctx, host.Command{Name: facts.CufileOpenSource, Argv: []string{self, cufile.ReportVerb, lib}, Env: host.EnvCaller, Timeout: 20 * time.Second, MaxOut: 4 << 20})
	g.Add(splitReport(it)...)
}

// splitReport makes of the child's document the open's result and the library's log, an item each.
func splitReport(it evidence.Item) []evidence.Item {
	log := it
	log.Source, log.Form, log.Origin = facts.CufileLogSource, evidence.Whole, "of "+facts.CufileOpenSource
	if !it.OK() {
		log.Out = nil
		return []evidence.Item{it, log}
	}
	var r cufile.Report
	err := json.Unmarshal(it.Out, &r)
	if err != nil {
		it.State = evidence.Failed
		it.Err = fmt.Appendf(it.Err, "\nthe child that opened libcufile left no report")
		if it.Exit != nil {
			it.Err = fmt.Appendf(it.Err, " (exit status %d)", *it.Exit)
		}
		log.State, log.Out, log.Err = it.State, nil, it.Err
		return []evidence.Item{it, log}
	}
	log.Out, log.Err, log.Exit = []byte(r.Log), []byte(r.Noise), nil
	r.Log = ""
	it.Out, err = json.Marshal(r)
	if err != nil {
		it.State, it.Err = evidence.Failed, []byte(err.Error())
	}
	return []evidence.Item{it, log}
}
