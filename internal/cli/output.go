package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"gdsproof/internal/host"
	"gdsproof/internal/render"
	"gdsproof/internal/report"
)

// sink is one asked-for output.
type sink struct {
	format string
	file   string // "" is stdout
}

// sinks reads the -o flags: text on stdout if nothing else goes there.
func (g *globals) sinks() ([]sink, error) {
	var out []sink
	stdout := 0
	for _, o := range g.outputs {
		format, file, named := strings.Cut(o, "=")
		switch format {
		case "text", "json":
		default:
			return nil, usagef("--output %q: there are text and json", format)
		}
		if named && file == "" {
			return nil, usagef("--output %q: no file name behind the =", o)
		}
		if !named {
			stdout++
		}
		out = append(out, sink{format, file})
	}
	if stdout > 1 {
		return nil, usagef("--output: only one format can go to stdout; give the others a file (json=FILE)")
	}
	if stdout == 0 {
		out = append(out, sink{format: "text"})
	}
	return out, nil
}

// writeTimeout is how long the writing of results to files may take; the file may lie on a slow file system.
const writeTimeout = 10 * time.Second

// write prints a report to every sink.
func (a *app) write(ctx context.Context, r *report.Report, sinks []sink) error {
	ctx, cancel := context.WithTimeout(ctx, min(writeTimeout, max(a.g.timeout, time.Second)))
	defer cancel()
	for _, s := range sinks {
		var b bytes.Buffer
		var err error
		switch s.format {
		case "json":
			err = render.JSON(&b, r)
		default:
			err = render.Text(&b, r, render.TextOptions{Color: s.file == "" && a.g.colored(a.stdout), Verbose: a.g.verbose, Quiet: a.g.quiet})
		}
		if err != nil {
			return fmt.Errorf("write the %s result: %w", s.format, err)
		}
		if s.file == "" {
			_, err = io.Copy(a.stdout, &b)
		} else {
			err = host.WriteFile(ctx, s.file, b.Bytes())
		}
		if err != nil {
			return fmt.Errorf("write the %s result: %w", s.format, err)
		}
	}
	return nil
}
