package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

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

// write prints a report to every sink.
func (a *app) write(r *report.Report, sinks []sink) error {
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
			err = os.WriteFile(s.file, b.Bytes(), 0o644)
		}
		if err != nil {
			return fmt.Errorf("write the %s result: %w", s.format, err)
		}
	}
	return nil
}
