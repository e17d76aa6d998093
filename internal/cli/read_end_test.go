package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// TestReadEnds: what nobody writes to its end is named, and read gives up on it.
func TestReadEnds(t *testing.T) {
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	a := &app{stdin: r, stdout: &resultWriter{w: io.Discard}, stderr: io.Discard}
	a.g.timeout = 50 * time.Millisecond
	_, err := a.texts(context.Background(), []string{"-"})
	if _, usage := err.(usageError); !usage || !strings.Contains(err.Error(), "stdin") {
		t.Errorf("%v", err)
	}
}

// TestManyLines: a text of blank lines alone costs no more than its own size.
func TestManyLines(t *testing.T) {
	began := time.Now()
	readTexts(t, builtIn(t), given(string(bytes.Repeat([]byte("\n"), 8<<20))))
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("%s", d)
	}
}

// TestLostLine: a line that was lost in the middle makes no red; what is lost at both counts' expense does.
func TestLostLine(t *testing.T) {
	text := guideText(t)
	gpu := "GPU index 3 NVIDIA B200 bar:1 bar size (MiB):262144 supports GDS"
	last := "GPU index 7 NVIDIA B200 bar:1 bar size (MiB):262144 supports GDS"
	at, end := strings.Index(text, gpu), strings.Index(text, last)
	if at < 0 || end < 0 {
		t.Fatal("the guide's report is another")
	}
	without := func(i int) string { return text[:i] + text[i+strings.IndexByte(text[i:], '\n')+1:] }
	for name, tc := range map[string]struct{ text, alarms string }{
		"a GPU in the middle": {without(at), ""},
		"the last GPU":        {without(end), "platform-gpus"},
		"an interface":        {without(strings.Index(text, "        - nid: 9.1.83.0@efa")), ""},
	} {
		if got := alarms(readTexts(t, builtIn(t), given(tc.text))); got != tc.alarms {
			t.Errorf("%s: red or yellow: %q, want %q", name, got, tc.alarms)
		}
	}
}
