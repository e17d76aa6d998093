package cli_test

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"gdsproof/internal/cli"
)

// exits runs gdsproof in this process and compares the exit status: exits STATUS ARGS… . stdout and stderr are
// kept as files of these names.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits STATUS ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "$WORK", ts.Getenv("WORK"))
	}
	var out, errs bytes.Buffer
	got := cli.Main(args[1:], strings.NewReader(""), &out, &errs)
	if got != want {
		ts.Fatalf("gdsproof %s: exit status %d, want %d\nstdout:\n%s\nstderr:\n%s", strings.Join(args[1:], " "), got, want, out.String(), errs.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs("stdout.txt"), out.Bytes(), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs("stderr.txt"), errs.Bytes(), 0o644))
}
