package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gdsproof/internal/check"
	"gdsproof/internal/checks"
	"gdsproof/internal/render"
	"gdsproof/internal/report"
)

func (a *app) fixCommand() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "fix [CHECK...]",
		Short: "Print the plan that mends what check finds: commands to paste, in order; it changes nothing itself",
		Long: "fix looks at the node as check does and prints the plan that mends what is red or yellow: the commands in order, what\n" +
			"each changes and how to undo it, what needs a reboot or a remount, and the check that shows that it worked.\n" +
			"With names of checks it prints their part alone. It changes nothing itself.",
		RunE:              func(c *cobra.Command, args []string) error { return a.fix(c.Context(), f, args) },
		ValidArgsFunction: completeChecks,
	}
	c.Flags().StringVar(&f.fs, "fs", "", "the file system in question, by its mount point or a folder on it")
	return c
}

// plan is what fix prints as JSON.
type plan struct {
	SchemaVersion string     `json:"schema_version"`
	Simulated     bool       `json:"simulated"`
	Outcome       string     `json:"outcome"`
	Steps         []planStep `json:"steps"`
	Reboot        bool       `json:"reboot"`  // a step restarts the node
	Remount       bool       `json:"remount"` // a step unmounts and mounts the file system
	Waiting       []string   `json:"waiting"` // checks whose findings wait for the steps
}

type planStep struct {
	Check     string       `json:"check"`
	Status    string       `json:"status"`
	Summary   string       `json:"summary"`
	Fix       []report.Fix `json:"fix"` // the first is to be tried first
	ShownBy   string       `json:"shown_by"`
	AlsoMends []string     `json:"also_mends"`
}

func (a *app) fix(ctx context.Context, f checkFlags, ids []string) error {
	sinks, err := a.g.sinks()
	if err != nil {
		return err
	}
	if len(sinks) != 1 || sinks[0].file != "" {
		return usagef("fix: --output text or json, without a file")
	}
	for _, id := range ids {
		if check.ByID(id) == nil {
			return usagef("no check %q: see gdsproof check --help", id)
		}
	}
	r, err := a.examine(ctx, f, checks.Passive())
	if err != nil {
		return err
	}
	p := makePlan(r, ids, f.fs)
	a.code = exitCode(endingOf(r), a.g.exitStyle, a.g.failOnWarn)
	if sinks[0].format == "json" {
		return render.Document(a.stdout, p)
	}
	return printPlan(a.stdout, r, p, ids, f.fs)
}

// shown adds the file system that was asked about: without it the check may look at another one.
func shown(command, fs string) string {
	if fs == "" {
		return command
	}
	return command + " --fs " + check.ShellQuote(fs)
}

// uses tells whether a command of a step's first fix has a word.
func (p plan) uses(word string) bool {
	for _, s := range p.Steps {
		for _, c := range s.Fix[0].Commands {
			if strings.Contains(c, word) {
				return true
			}
		}
	}
	return false
}

// wanted: without names, every check is.
func wanted(ids []string, id string) bool { return len(ids) == 0 || slices.Contains(ids, id) }

// makePlan orders the steps as the findings are: causes before what follows from them, red before yellow. A fix
// that an earlier step has already is not repeated.
func makePlan(r *report.Report, ids []string, fs string) plan {
	p := plan{SchemaVersion: report.SchemaVersion, Simulated: r.Node.Simulated, Outcome: string(r.Verdict.Outcome), Steps: []planStep{}, Waiting: []string{}}
	by := map[string]int{} // first command of a fix -> step
	for _, status := range []report.Status{report.Fail, report.Warn} {
		for i := range r.Findings {
			f := &r.Findings[i]
			if f.Status != status || !wanted(ids, f.Check) || len(f.Fix) == 0 {
				continue
			}
			key := f.Fix[0].Text + strings.Join(f.Fix[0].Commands, "\n")
			if at, ok := by[key]; ok {
				if p.Steps[at].Check != f.Check {
					p.Steps[at].AlsoMends = append(p.Steps[at].AlsoMends, f.Check)
				}
				continue
			}
			by[key] = len(p.Steps)
			p.Steps = append(p.Steps, planStep{Check: f.Check, Status: string(f.Status), Summary: f.Summary, Fix: f.Fix, ShownBy: shown("gdsproof check --only "+f.Check, fs), AlsoMends: []string{}})
			for _, c := range f.Fix[0].Commands {
				p.Reboot = p.Reboot || strings.Contains(c, "reboot")
				p.Remount = p.Remount || strings.Contains(c, "umount")
			}
			// The set-up of the network takes effect for a mounted file system with a new mount only.
			p.Remount = p.Remount || strings.Contains(f.Fix[0].Changes, "unmounted and mounted again")
			p.Reboot = p.Reboot || strings.Contains(f.Fix[0].Changes, "takes effect with the next boot")
		}
	}
	p.keep(r, ids, fs)
	for i := range r.Findings {
		if f := &r.Findings[i]; f.BlockedBy != "" && wanted(ids, f.Check) {
			p.Waiting = append(p.Waiting, f.Check)
		}
	}
	return p
}

// keep adds what keeps a module that an earlier step loads by insmod: it is gone after a reboot, and the plan is whole
// only with it.
func (p *plan) keep(r *report.Report, ids []string, fs string) {
	const id = "nvidia-fs-persistent"
	if !p.uses("insmod ") || len(ids) > 0 && !slices.Contains(ids, id) {
		return
	}
	for _, s := range p.Steps {
		if s.Check == id {
			return
		}
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Check == id {
			p.Steps = append(p.Steps, planStep{Check: id, Status: string(f.Status), Summary: "what insmod loads is gone after a reboot", Fix: check.ByID(id).Fix, ShownBy: shown("gdsproof check --only "+id, fs), AlsoMends: []string{}})
			return
		}
	}
}

func printPlan(w io.Writer, r *report.Report, p plan, ids []string, fs string) error {
	var b strings.Builder
	one := func(s string) string { return strings.Join(strings.Fields(render.Clean(s)), " ") }
	if p.Simulated {
		fmt.Fprintf(&b, "SIMULATED  %s: the plan is for a simulated node\n", one(r.Node.Name))
	}
	if len(p.Steps) == 0 {
		open := unsaid(r, ids)
		switch {
		case r.Verdict.Outcome == report.NotApplicable:
			fmt.Fprintf(&b, "Nothing to mend: %s\n", one(r.Verdict.Summary))
		case len(p.Waiting) > 0:
			fmt.Fprintf(&b, "%s: waits for %s; run gdsproof fix for the whole plan\n", strings.Join(p.Waiting, ", "), blockers(r, p.Waiting))
		case r.Verdict.Outcome == report.UnknownResult && len(ids) == 0:
			fmt.Fprintf(&b, "Nothing is known to be wrong, but not everything is known: %s\n", one(r.Verdict.Summary))
		case len(open) > 0:
			b.WriteString("Nothing is known to be wrong, but not everything is known:\n")
			for _, s := range open {
				fmt.Fprintf(&b, "   %s\n", one(s))
			}
		default:
			b.WriteString("Nothing to mend.\n")
		}
	}
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "\n%d. %s (%s): %s\n", i+1, s.Check, s.Status, one(s.Summary))
		for j, x := range s.Fix {
			lead := ""
			if j > 0 {
				lead = "if that does not do: "
			}
			fmt.Fprintf(&b, "   %s%s\n", lead, one(x.Text))
			for _, c := range x.Commands {
				fmt.Fprintf(&b, "       %s\n", strings.ReplaceAll(render.Clean(c), "\n", " ")) // to be pasted: no blank is dropped
			}
			fmt.Fprintf(&b, "   changes: %s\n   undo: %s\n", one(x.Changes), one(x.Undo))
		}
		if len(s.AlsoMends) > 0 {
			fmt.Fprintf(&b, "   also mends: %s\n", strings.Join(s.AlsoMends, ", "))
		}
		fmt.Fprintf(&b, "   shown by: %s\n", s.ShownBy)
	}
	if len(p.Steps) > 0 {
		b.WriteString("\nThen:\n")
		if p.uses("reboot") && len(p.Steps) > 1 {
			b.WriteString("   one reboot does for all steps: leave it for the end\n")
		}
		if p.Reboot {
			b.WriteString("   the node has to be rebooted for a part of this to take effect\n")
		}
		if p.Remount {
			b.WriteString("   a mounted Lustre file system has to be unmounted and mounted again\n")
		}
		if len(p.Waiting) > 0 {
			fmt.Fprintf(&b, "   these are known only after that: %s\n", strings.Join(p.Waiting, ", "))
		}
		fmt.Fprintf(&b, "   %s\n", one(shown("gdsproof check", fs)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// unsaid tells of the checks that were asked for and could not be told, and what would tell.
func unsaid(r *report.Report, ids []string) []string {
	var out []string
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Status == report.Unknown && wanted(ids, f.Check) {
			text := f.Check + ": " + f.Summary
			if f.Needed != "" {
				text += "; needed: " + string(f.Needed)
			}
			out = append(out, text)
		}
	}
	return out
}

// blockers names the failed checks that the waiting ones wait for.
func blockers(r *report.Report, waiting []string) string {
	var out []string
	seen := map[string]bool{}
	for i := range r.Findings {
		if by := string(r.Findings[i].BlockedBy); by != "" && !seen[by] && slices.Contains(waiting, r.Findings[i].Check) {
			seen[by] = true
			out = append(out, by)
		}
	}
	return strings.Join(out, ", ")
}
