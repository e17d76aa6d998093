package cli_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"gdsproof/internal/cli"
)

// full takes so many bytes and then no more, as a disk does.
type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.left {
		n := f.left
		f.left = 0
		return n, errors.New("no space left on device")
	}
	f.left -= len(b)
	return len(b), nil
}

// TestResultNotWritten: of every verb a result that could not be written is an internal error, in every style.
func TestResultNotWritten(t *testing.T) {
	for _, verb := range []string{"version", "version -o json", "--help", "help explain", "help", "sim", "sim list", "sim list -o json", "explain", "explain 5027",
		"explain -o json 5027", "explain frobnicate", "explain --help", "check --node sim:p5en", "check --node sim:p5en -o json", "fix --node sim:p5en", "completion bash", "completion"} {
		for _, room := range []int{0, 10} {
			for style, want := range map[string]int{"native": 70, "nagios": 3, "npd": 2, "slurm": 0, "zero": 70} {
				var errs strings.Builder
				got := cli.Main(append(strings.Fields(verb), "--exit-style="+style), strings.NewReader(""), &full{room}, &errs)
				if got != want || !strings.Contains(errs.String(), "no space left on device") {
					t.Errorf("%s, %s, room for %d bytes: status %d, want %d: %s", verb, style, room, got, want, errs.String())
				}
			}
		}
		if got := cli.Main(strings.Fields(verb), strings.NewReader(""), io.Discard, io.Discard); got == 70 {
			t.Errorf("%s: status %d with room enough", verb, got)
		}
	}
}
