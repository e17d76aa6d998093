package facts

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// capturedFiles returns the real outputs below one folder of $GDSPROOF_CAPTURES, by their path in it. They are not
// part of the repository: several come from projects without a licence.
func capturedFiles(tb testing.TB, folder string) map[string][]byte {
	tb.Helper()
	root := os.Getenv("GDSPROOF_CAPTURES")
	if root == "" {
		if _, fuzz := tb.(*testing.F); fuzz {
			return nil
		}
		tb.Skip("GDSPROOF_CAPTURES is not set: no real outputs to read")
	}
	out := map[string][]byte{}
	dir := filepath.Join(root, folder)
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[rel] = b
		return err
	})
	if err != nil || len(out) == 0 {
		tb.Fatalf("read captures in %s: %d files, %v", dir, len(out), err)
	}
	return out
}

// disfigured are texts that say the same as text, as people paste it.
func disfigured(text string) map[string][]byte {
	lines := bytes.Split(bytes.TrimSuffix([]byte(text), []byte("\n")), []byte("\n"))
	join := func(f func([]byte) []byte) []byte {
		var out []byte
		for _, l := range lines {
			out = append(append(out, f(l)...), '\n')
		}
		return out
	}
	return map[string][]byte{
		"CRLF":   join(func(l []byte) []byte { return append(slices.Clone(l), '\r') }),
		"quoted": join(func(l []byte) []byte { return append([]byte("> "), l...) }),
		"deeper": join(func(l []byte) []byte { return append([]byte("> > "), l...) }),
		"tabs": join(func(l []byte) []byte {
			return bytes.ReplaceAll(l, []byte("  "), []byte("\t"))
		}),
		"squeezed": join(func(l []byte) []byte { return bytes.Join(bytes.Fields(l), []byte(" ")) }),
		"trailing": join(func(l []byte) []byte { return append(slices.Clone(l), "  "...) }),
	}
}

func TestRawLines(t *testing.T) {
	type line struct {
		text  string
		whole bool
	}
	for text, want := range map[string][]line{
		"":                  nil,
		"a\nb":              {{"a", true}, {"b", false}},
		"a\r\n\r\n":         {{"a", true}, {"", true}},
		"> a\n>   b\n>\n":   {{"a", true}, {"  b", true}, {"", true}},
		">> a\n> > b\n":     {{"a", true}, {"b", true}},
		"  a\n>b\n a > b\n": {{"  a", true}, {">b", true}, {" a > b", true}},
	} {
		var got []line
		for l, whole := range rawLines([]byte(text)) {
			got = append(got, line{l, whole})
		}
		if !slices.Equal(got, want) {
			t.Errorf("rawLines(%q) = %v, want %v", text, got, want)
		}
	}
}
