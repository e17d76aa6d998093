package collect

import (
	"context"
	"path"
	"strings"

	"gdsproof/internal/facts"
	"gdsproof/internal/host"
)

// wheels are the folders of libcufile in the Python environments that the caller uses or that images commonly have:
// NVIDIA's wheels put it into nvidia/cufile/lib (CUDA 12) or nvidia/cu13/lib of the packages' folder, conda into its own
// lib. PyTorch finds it there through its run path, before and beside all that the loader knows, and no other program does.
func wheels(ctx context.Context, h host.Host, env func(string) string) []string {
	var out []string
	for _, conda := range []string{env("CONDA_PREFIX"), "/opt/conda"} {
		if path.IsAbs(conda) {
			out = append(out, path.Join(conda, "lib"))
		}
	}
	prefixes := []string{env("VIRTUAL_ENV"), env("CONDA_PREFIX"), "/opt/conda", "/opt/venv", "/usr/local", "/usr"}
	if home := env("HOME"); home != "" {
		prefixes = append(prefixes, path.Join(home, ".local"))
	}
	for _, prefix := range prefixes {
		if !path.IsAbs(prefix) {
			continue
		}
		lib := path.Join(prefix, "lib")
		for _, python := range facts.ListedNames(h.List(ctx, lib, false).Out) {
			if !strings.HasPrefix(python, "python3") {
				continue
			}
			for _, packages := range []string{"site-packages", "dist-packages"} {
				nvidia := path.Join(lib, python, packages, "nvidia")
				for _, n := range facts.ListedNames(h.List(ctx, nvidia, false).Out) {
					if release, ok := strings.CutPrefix(n, "cu"); n == "cufile" || ok && release != "" && strings.Trim(release, "0123456789") == "" {
						out = append(out, path.Join(nvidia, n, "lib"))
					}
				}
			}
		}
	}
	return out
}
