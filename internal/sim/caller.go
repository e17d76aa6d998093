package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path"
	"regexp"
	"strconv"
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
	named, ok := flat(it.Out)
	h.n.cufile.named = named
	like := map[string]string{}
	for _, s := range shownKeys {
		if s.builtIn != "" {
			like[s.name] = s.builtIn
		}
	}
	for _, e := range h.n.stock() {
		like[e.path] = e.value
	}
	for key, v := range named {
		if is, known := like[key]; known && kindOf(v) != kindOf(is) && !strings.HasPrefix(is, "/") {
			ok = false // a value of another type refuses the whole file
		}
	}
	h.n.cufile.broken = h.n.cufile.broken || !ok
}

// flat are the plain values of a cufile.json by their whole names, and whether the library takes the file. It takes
// comments of both kinds anywhere, zeros before numbers, numbers with a point, and anything behind the object; it
// refuses what else is no JSON.
func flat(b []byte) (map[string]string, bool) {
	var root map[string]json.RawMessage
	text := leadingZeros.ReplaceAll(uncommented(b), []byte("$1$2"))
	if json.NewDecoder(bytes.NewReader(text)).Decode(&root) != nil {
		return nil, false
	}
	out := map[string]string{}
	var walk func(prefix string, raw json.RawMessage)
	walk = func(prefix string, raw json.RawMessage) {
		var inner map[string]json.RawMessage
		if json.Unmarshal(raw, &inner) != nil {
			out[prefix] = whole(string(raw))
			return
		}
		for k, v := range inner {
			walk(prefix+"."+k, v)
		}
	}
	for k, v := range root {
		walk(k, v)
	}
	return out, true
}

var leadingZeros = regexp.MustCompile(`([:\[,]\s*)0+([0-9])`)

// whole cuts a number to its whole part, as the library does: 1e3 is 1000.
func whole(v string) string {
	if f, err := strconv.ParseFloat(v, 64); err == nil && f >= 0 && f < 1<<53 {
		return strconv.FormatUint(uint64(f), 10)
	}
	return v
}

// kindOf is the type of a JSON value: its first byte tells.
func kindOf(v string) string {
	switch {
	case v == "true" || v == "false":
		return "switch"
	case strings.HasPrefix(v, "["):
		return "list"
	case strings.HasPrefix(v, `"`):
		return "text"
	case strings.HasPrefix(v, "-"):
		return "negative"
	}
	return "number"
}

// uncommented takes comments out, outside of strings.
func uncommented(b []byte) []byte {
	var out []byte
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '"':
			j := i + 1
			for j < len(b) && b[j] != '"' {
				if b[j] == '\\' {
					j++
				}
				j++
			}
			out = append(out, b[i:min(j+1, len(b))]...)
			i = j
		case bytes.HasPrefix(b[i:], []byte("//")):
			for i < len(b) && b[i] != '\n' {
				i++
			}
			out = append(out, '\n')
		case bytes.HasPrefix(b[i:], []byte("/*")):
			n := bytes.Index(b[i+2:], []byte("*/"))
			if n < 0 {
				return out
			}
			i += n + 3
			out = append(out, ' ')
		default:
			out = append(out, b[i])
		}
	}
	return out
}
