package host

import (
	"slices"
	"strings"
)

const cleanPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// callerKeeps are the prefixes of the caller's variables that decide what libcufile does.
var callerKeeps = []string{"CUFILE_", "CUDA_", "NVIDIA_", "LD_LIBRARY_PATH="}

// Environ is the environment of a command. LC_ALL=C makes messages the ones that are looked for. Without a
// home no file in one has a say.
func Environ(e Env, caller []string) []string {
	env := []string{"PATH=" + cleanPath, "LC_ALL=C", "HOME=/nonexistent"}
	if e != EnvCaller {
		return env
	}
	for _, kv := range caller {
		for _, p := range callerKeeps {
			if strings.HasPrefix(kv, p) {
				env = append(env, kv)
				break
			}
		}
	}
	return env
}

// with lays variables over an environment.
func with(env, set []string) []string {
	for _, kv := range set {
		key, _, keep := strings.Cut(kv, "=")
		env = slices.DeleteFunc(env, func(have string) bool { k, _, _ := strings.Cut(have, "="); return k == key })
		if keep {
			env = append(env, kv)
		}
	}
	return env
}

// EnvOf is the environment that a command gets, given the caller's.
func EnvOf(c Command, caller []string) []string { return with(Environ(c.Env, caller), c.Set) }
