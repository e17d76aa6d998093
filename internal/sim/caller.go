package sim

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"strings"
	"time"

	"gdsproof/internal/host"
)

// callersFile takes in the cufile.json that the caller's environment names. The caller's variables count on a
// simulated node as on a live one, and so does the file behind this one; it lies on the real machine.
func (h *Host) callersFile() {
	p := os.Getenv("CUFILE_ENV_PATH_JSON")
	if !path.IsAbs(p) || h.files[p] != "" || p == "/etc/cufile.json" {
		return
	}
	l, err := host.NewLive("/")
	if err != nil {
		return
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	it := l.Read(ctx, p, true)
	if !it.OK() {
		return // libcufile passes over a file that is not there in silence
	}
	h.files[p] = string(it.Out)
	h.n.cufile.named = flat(it.Out)
}

// flat are the plain values of a cufile.json by their whole names. The simulated library takes JSON with comments at
// the end of lines; what is odd in a file, the product's own reader judges.
func flat(b []byte) map[string]string {
	var lines []string
	for line := range strings.Lines(string(b)) {
		if i := strings.Index(line, "//"); i >= 0 {
			line = line[:i] + "\n"
		}
		lines = append(lines, line)
	}
	var root map[string]json.RawMessage
	if json.Unmarshal([]byte(strings.Join(lines, "")), &root) != nil {
		return nil
	}
	out := map[string]string{}
	var walk func(prefix string, raw json.RawMessage)
	walk = func(prefix string, raw json.RawMessage) {
		var inner map[string]json.RawMessage
		if json.Unmarshal(raw, &inner) != nil {
			out[prefix] = string(raw)
			return
		}
		for k, v := range inner {
			walk(prefix+"."+k, v)
		}
	}
	for k, v := range root {
		walk(k, v)
	}
	return out
}
