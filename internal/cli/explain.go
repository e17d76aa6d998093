package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"gdsproof/internal/explain"
	"gdsproof/internal/render"
	"gdsproof/internal/report"
)

func (a *app) explainCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "explain [WORD|FILE|-]...",
		Short: "What does this word, number or line mean? Cause, remedy and source; whole logs too",
		Long: "explain answers what a check, an error number, a line of cufile.log or dmesg, a row of gdscheck, a counter, a key of\n" +
			"cufile.json, a variable, or an option or field of gdsio means, with cause, remedy and source.\n" +
			"Without a word it lists the topics. A file, or text on stdin (- or a pipe), is searched line by line and folded by\n" +
			"message, process and day, the most telling line first. A word that is known is never taken for a file: write ./NAME.",
		Example: "  gdsproof explain 5027\n  gdsproof explain running in compatible mode\n  gdsproof explain cufile.log\n  sudo dmesg -T | gdsproof explain",
		RunE: func(c *cobra.Command, args []string) error {
			words, help, err := dashWords(c, args)
			if err != nil {
				return err
			}
			if help {
				return c.Help()
			}
			return a.explain(c.Context(), words)
		},
		DisableFlagParsing: true, // see dashWords
		ValidArgsFunction:  completeChecks,
	}
	return c
}

// dashWords parses the flags and leaves words that begin with a dash: -22 is a result of cuFile, -x an option of
// gdsio, --DmaBuf a row of gdscheck. Where both are possible (-o) it is the flag; behind -- all are words.
func dashWords(c *cobra.Command, args []string) (words []string, help bool, err error) {
	var flags []string
	for i := 0; i < len(args); i++ {
		w := args[i]
		if w == "--" {
			words = append(words, args[i+1:]...)
			break
		}
		if !strings.HasPrefix(w, "-") || w == "-" {
			words = append(words, w)
			continue
		}
		name, _, valued := strings.Cut(strings.TrimLeft(w, "-"), "=")
		f := c.Flag(name)
		if !strings.HasPrefix(w, "--") && name != "" {
			f = c.Flags().ShorthandLookup(name[:1])
			if f == nil {
				f = c.InheritedFlags().ShorthandLookup(name[:1])
			}
			valued = len(w) > 2
		}
		if f == nil && (!strings.HasPrefix(w, "--") || strings.ToLower(w) != w || strings.ContainsAny(w, "_ ")) {
			words = append(words, w)
			continue
		}
		flags = append(flags, w)
		if f != nil && f.NoOptDefVal == "" && !valued && i+1 < len(args) {
			i++
			flags = append(flags, args[i])
		}
	}
	c.DisableFlagParsing = false
	if err := c.ParseFlags(flags); err != nil {
		return nil, false, usageError{err}
	}
	help, err = c.Flags().GetBool("help")
	return words, help, err
}

// explained is what explain prints as JSON.
type explained struct {
	SchemaVersion string          `json:"schema_version"`
	Words         []explainedWord `json:"words"`
	Logs          []explain.Log   `json:"logs"`
	Topics        []explain.Topic `json:"topics"`
}

type explainedWord struct {
	Query       string               `json:"query"`
	Known       bool                 `json:"known"`
	Rows        []explain.Row        `json:"rows"`
	Checks      []explain.CheckWords `json:"checks"`
	Suggestions []string             `json:"suggestions"`
	Note        string               `json:"note,omitempty"` // why it is not known
}

func (a *app) explain(ctx context.Context, args []string) error {
	if err := a.g.check(); err != nil {
		return err
	}
	sinks, err := a.g.sinks()
	if err != nil {
		return err
	}
	if len(sinks) != 1 || sinks[0].file != "" {
		return usagef("explain: --output text or json, without a file")
	}
	for _, w := range args {
		if strings.TrimSpace(w) == "" { // an unset variable of a script
			return usagef("explain: an empty word")
		}
	}
	rules, err := a.rules(ctx)
	if err != nil {
		return err
	}
	base, err := explain.New(rules)
	if err != nil {
		return err
	}
	out := explained{SchemaVersion: report.SchemaVersion, Words: []explainedWord{}, Logs: []explain.Log{}, Topics: []explain.Topic{}}
	bad := out.fill(ctx, a, base, args)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if sinks[0].format == "json" {
		err = render.Document(a.stdout, out)
	} else {
		_, err = io.WriteString(a.stdout, explainText(out, a.g.verbose, a.g.quiet))
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if bad != nil {
		return usageError{bad}
	}
	a.code = exitCode(out.ending(), a.g.exitStyle, a.g.failOnWarn)
	return nil
}

// fill answers the arguments. The error is of the first file that cannot be read; the others are answered still.
func (o *explained) fill(ctx context.Context, a *app, base *explain.Base, args []string) (bad error) {
	log := func(name string, open func() (io.ReadCloser, error)) {
		l, err := foldLog(ctx, base, name, open)
		switch {
		case err == nil:
			o.Logs = append(o.Logs, l)
		case bad == nil:
			bad = fmt.Errorf("read %s: %w", name, err)
		}
	}
	stdin := func() (io.ReadCloser, error) { return io.NopCloser(a.stdin), nil }
	if len(args) == 0 {
		if piped(a.stdin) {
			log("stdin", stdin)
		}
		if bad == nil && (len(o.Logs) == 0 || o.Logs[0].Lines == 0) {
			o.Logs, o.Topics = []explain.Log{}, base.Topics()
		}
		return bad
	}
	// A line or a name of several words need not be quoted.
	if all := base.Lookup(strings.Join(args, " ")); len(args) > 1 && (all.How == explain.ByName || all.How == explain.ByLine || all.How == explain.ByPart) {
		o.Words = append(o.Words, wordOf(all))
		return nil
	}
	read := false
	for _, w := range args {
		if w == "-" {
			if !read {
				log("stdin", stdin)
			}
			read = true // a pipe can be read once
			continue
		}
		answer := base.Lookup(w)
		if isPath := strings.HasPrefix(w, "./") || strings.HasPrefix(w, "../"); isPath || answer.How != explain.ByName && (w[:min(1, len(w))] == "/" || isFile(w)) {
			log(w, func() (io.ReadCloser, error) { return os.Open(w) })
			continue
		}
		if strings.Trim(w, " :=,") != "" {
			o.Words = append(o.Words, wordOf(answer))
		}
	}
	return bad
}

func wordOf(x explain.Answer) explainedWord {
	w := explainedWord{Query: render.Clean(x.Query), Known: x.Known(), Rows: []explain.Row{}, Checks: []explain.CheckWords{}, Suggestions: append([]string{}, x.Suggestions...), Note: x.Note}
	for _, e := range x.Entries {
		w.Rows = append(w.Rows, explain.RowOf(e))
	}
	for _, c := range x.Checks {
		w.Checks = append(w.Checks, explain.WordsOf(c))
	}
	return w
}

// foldLog reads a log to its end. A file or a pipe may hang: the reading is left alone when the run is interrupted.
func foldLog(ctx context.Context, base *explain.Base, name string, open func() (io.ReadCloser, error)) (explain.Log, error) {
	type end struct {
		log explain.Log
		err error
	}
	done := make(chan end, 1)
	go func() {
		f := base.NewFold()
		r, err := open()
		if err == nil {
			err = f.Read(r)
			_ = r.Close()
		}
		done <- end{f.Result(name), plain(err)}
	}()
	select {
	case e := <-done:
		for i := range e.log.Sections {
			cleanLines(e.log.Sections[i].Lines)
		}
		cleanLines(e.log.Unknown)
		return e.log, e.err
	case <-ctx.Done():
		return base.NewFold().Result(name), ctx.Err()
	}
}

// plain is the reason of a failed open or read without the path, which is printed before it.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func cleanLines(lines []explain.Line) {
	for i := range lines {
		lines[i].Text = strings.Join(strings.Fields(render.Clean(lines[i].Text)), " ")
		lines[i].First, lines[i].Last = render.Clean(lines[i].First), render.Clean(lines[i].Last)
	}
}

// piped tells whether stdin is a pipe or a file: a terminal and /dev/null are asked nothing.
func piped(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return r != nil
	}
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice == 0
}

func isFile(name string) bool {
	fi, err := os.Stat(name)
	return err == nil && !fi.IsDir()
}

// ending: unknown if a word is, or if a log holds nothing that is known.
func (o *explained) ending() ending {
	for _, w := range o.Words {
		if !w.Known {
			return unknown
		}
	}
	for _, l := range o.Logs {
		if !l.Explained() {
			return unknown
		}
	}
	return success
}
