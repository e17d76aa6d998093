package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits runs gdsproof as the script's exec does and compares the exit status: exits STATUS ARGS… . What it printed is
// there for stdout and stderr, and kept as stdout.txt and stderr.txt.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits STATUS ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec("gdsproof", args[1:]...); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			ts.Fatalf("gdsproof %s: %v", strings.Join(args[1:], " "), err)
		}
		got = ended.ExitCode()
	}
	out, errs := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	if got != want {
		ts.Fatalf("gdsproof %s: exit status %d, want %d", strings.Join(args[1:], " "), got, want)
	}
	ts.Check(os.WriteFile(ts.MkAbs("stdout.txt"), []byte(out), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs("stderr.txt"), []byte(errs), 0o644))
}
