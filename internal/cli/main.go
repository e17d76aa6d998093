// Package cli has one file a verb. It alone knows flags and exit statuses.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"gdsproof/internal/cufile"
	"gdsproof/internal/host"
	"gdsproof/internal/load"
)

// app is one run of the program.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	g              globals
	code           int

	progressMu    sync.Mutex
	progressShown bool
}

// usageError is a mistake of the caller: exit status 2.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, a ...any) error { return usageError{fmt.Errorf(format, a...)} }

// Main runs the program and returns its exit status.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	if len(args) > 0 && args[0] == cufile.ReportVerb {
		return cufile.ReportMain(args[1:])
	}
	if len(args) > 0 && args[0] == load.ChildVerb {
		return load.ChildMain(args[1:])
	}
	if len(args) > 0 && args[0] == host.ChildVerb {
		return host.ChildMain()
	}
	out := &resultWriter{w: stdout}
	a := &app{stdin: stdin, stdout: out, stderr: stderr}
	style := styleOf(args)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// The first signal asks for an orderly end; from then on the next one has its usual effect.
	context.AfterFunc(ctx, stop)
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(stderr, "gdsproof: internal error: %v\n%s", r, debug.Stack())
			code = exitCode(internalError, style, false)
		}
	}()
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var ue usageError
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "gdsproof: interrupted")
		return exitCode(interrupted, style, false)
	case out.err != nil:
		fmt.Fprintf(stderr, "gdsproof: write the result: %v\n", out.err)
		return exitCode(internalError, style, false)
	case errors.As(err, &ue):
		fmt.Fprintf(stderr, "gdsproof: %v\n", err)
		return exitCode(badUsage, style, false)
	case err != nil:
		fmt.Fprintf(stderr, "gdsproof: %v\n", err)
		return exitCode(internalError, style, false)
	}
	return a.code
}

// styleOf reads --exit-style before the flags are parsed, since a typing error elsewhere must already end in
// that style.
func styleOf(args []string) string {
	style := "native"
	for i, s := range args {
		if v, ok := strings.CutPrefix(s, "--exit-style="); ok {
			style = v
		} else if s == "--exit-style" && i+1 < len(args) {
			style = args[i+1]
		} else if s == "--" {
			break
		}
	}
	return style
}

func (a *app) root() *cobra.Command {
	c := &cobra.Command{
		Use:   "gdsproof",
		Short: "Prove, or refute, that GPUDirect Storage carries this node's file I/O",
		Long: "gdsproof proves, or refutes, that GPUDirect Storage (GDS) carries a GPU node's file I/O, first of all over EFA on\n" +
			"Amazon FSx for Lustre, and says what to do when it does not.",
		SilenceErrors: true, SilenceUsage: true,
	}
	c.SetOut(a.stdout)
	c.SetErr(a.stderr)
	c.SetIn(a.stdin)
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	c.SetHelpTemplate(c.HelpTemplate() + "\n" + exitHelp())
	a.g.register(c.PersistentFlags())
	c.SetHelpCommand(helpCommand())
	c.AddCommand(a.checkCommand(), a.explainCommand(), a.fixCommand(), a.proveCommand(), a.readCommand(), a.simCommand(), a.versionCommand())
	c.InitDefaultCompletionCmd()
	for _, sub := range c.Commands() {
		if sub.Name() == "completion" {
			sub.Args = noArgs // of a shell that is not there cobra prints the help and ends well
			sub.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
	c.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef("no verb %q: see gdsproof --help", args[0])
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return c
}

// noArgs is cobra.NoArgs as a usage error.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments: %q", c.CommandPath(), args[0])
	}
	return nil
}
