package collect

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
)

func init() {
	register(Probe{"cufile-library", "ldconfig -p and the folders where programs find libcufile; the CUDA installs of /usr/local", cufileLibraryProbe})
}

// cufileLibraryProbe lists every libcufile that a program of this user could load.
func cufileLibraryProbe(ctx context.Context, g *Gatherer) {
	g.Add(libraries(ctx, g.Host, os.Getenv))
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
	g.Add(loaders(ctx, g.Host))
}

// loaders tells which of glibc's program loaders are there. Without one neither libcufile nor NVIDIA's tools run: an
// image of musl has none.
func loaders(ctx context.Context, h host.Host) evidence.Item {
	out := evidence.Item{Source: facts.LoaderSource, Form: evidence.Whole, State: evidence.Present}
	for _, p := range facts.Loaders {
		switch st := h.Stat(ctx, p); {
		case st.OK():
			out.Out = append(out.Out, p+"\n"...)
		case st.State != evidence.Absent:
			out.Truncated = true
		}
	}
	return out
}

// libraries looks where the dynamic loader does, in its order: LD_LIBRARY_PATH, the loader's cache; then where only
// programs look that know CUDA's folders, and those of a Python environment.
func libraries(ctx context.Context, h host.Host, env func(string) string) evidence.Item {
	out := evidence.Item{Source: facts.CufileLibrariesSource, Form: evidence.Whole, Place: evidence.Host, State: evidence.Present}
	var b strings.Builder
	way := links{h: h, seen: map[string]string{}}
	seen := map[string]bool{}
	add := func(p, why string) {
		file, ok := way.file(ctx, p)
		if !ok || seen[file] {
			return // the links to one file are one library
		}
		seen[file] = true
		fmt.Fprintf(&b, "%s: file=%s by=%s\n", p, path.Base(file), why)
	}
	for _, d := range strings.Split(env("LD_LIBRARY_PATH"), ":") {
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
	var dirs []string
	for _, home := range cudaHomes(ctx, h) {
		dirs = append(dirs, home+"/lib64", home+"/targets/x86_64-linux/lib", home+"/targets/sbsa-linux/lib")
	}
	dirs = append(dirs, "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64")
	for _, d := range dirs {
		add(path.Join(d, "libcufile.so.0"), "folder")
	}
	for _, d := range wheels(ctx, h, env) {
		add(path.Join(d, "libcufile.so.0"), "python")
	}
	out.Out = []byte(b.String())
	if cache.State != evidence.Present {
		out.Err = fmt.Appendf(nil, "ldconfig -p: %s", cache.State)
	}
	return out
}

// links finds the file behind a path, as the kernel would: by following each link in the way.
type links struct {
	h    host.Host
	seen map[string]string // path -> what it is a link to, "" if it is none; "-" if it is not there
}

func (l links) target(ctx context.Context, p string) (to string, there bool) {
	to, known := l.seen[p]
	if !known {
		if st := l.h.Stat(ctx, p); st.OK() {
			to = strings.Trim(facts.ParseStat(st.Out)["target"], `"`)
		} else {
			to = "-"
		}
		l.seen[p] = to
	}
	return to, to != "-"
}

// mostLinks is the kernel's own limit on links in a path.
const mostLinks = 40

func (l links) file(ctx context.Context, p string) (string, bool) {
	done, rest := "", strings.Split(strings.Trim(path.Clean(p), "/"), "/")
	for followed := 0; len(rest) > 0; {
		at := path.Join("/", done, rest[0])
		to, there := l.target(ctx, at)
		switch {
		case !there || followed > mostLinks:
			return "", false
		case to == "":
			done, rest = at, rest[1:]
		default:
			if !path.IsAbs(to) {
				to = path.Join(path.Dir(at), to)
			}
			followed++
			done, rest = "", append(strings.Split(strings.Trim(path.Clean(to), "/"), "/"), rest[1:]...)
		}
	}
	return done, true
}
