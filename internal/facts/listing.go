package facts

import "strings"

// ListedNames are the names of a listing, a line each. Behind a folder's stands a "/", behind a link's an "@": what is a
// link on one machine is a folder on another, so neither is part of the name.
func ListedNames(b []byte) []string {
	var out []string
	for line := range strings.Lines(string(b)) {
		if n := strings.TrimRight(strings.TrimSpace(line), "/@"); n != "" {
			out = append(out, n)
		}
	}
	return out
}
