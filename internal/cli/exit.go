package cli

import (
	"fmt"
	"strings"

	"gdsproof/internal/report"
)

// ending is what a run came to, in the order in which the first that applies decides the exit status.
type ending int

const (
	interrupted ending = iota
	internalError
	badUsage
	failure
	unknown
	warnings
	notApplicable
	success
)

// exitRow is a row of the exit table. Help, man page and tests are made from it.
type exitRow struct {
	End                              ending
	Words                            string
	Native, Nagios, NPD, Slurm, Zero int
}

// exitTable: with slurm, only a proven failure is non-zero, since a typing error must never drain a cluster.
var exitTable = []exitRow{
	{success, "ready, proven", 0, 0, 0, 0, 0},
	{warnings, "only warnings (native: 4 with --fail-on-warn)", 0, 1, 0, 0, 0},
	{failure, "not-ready, refuted, mixed", 1, 2, 1, 1, 0},
	{unknown, "unknown, unproven, contradicted", 3, 3, 2, 0, 0},
	{notApplicable, "not-applicable (no NVIDIA device on the PCI bus)", 3, 0, 0, 0, 0},
	{badUsage, "bad usage or configuration", 2, 3, 2, 0, 2},
	{internalError, "internal error", 70, 3, 2, 0, 70},
	{interrupted, "interrupted (after clean-up)", 130, 3, 2, 0, 130},
}

var exitStyles = []string{"native", "nagios", "npd", "slurm", "zero"}

// exitCode is the status of an ending in a style; an unknown style counts as native.
func exitCode(end ending, style string, failOnWarn bool) int {
	for _, r := range exitTable {
		if r.End != end {
			continue
		}
		switch style {
		case "nagios":
			return r.Nagios
		case "npd":
			return r.NPD
		case "slurm":
			return r.Slurm
		case "zero":
			return r.Zero
		}
		if end == warnings && failOnWarn {
			return 4
		}
		return r.Native
	}
	return 70
}

// endingOf tells what a report came to. A failed finding beside a proven path does not count as a failure.
func endingOf(r *report.Report) ending {
	switch r.Verdict.Outcome {
	case report.NotReady, report.Refuted, report.Mixed:
		return failure
	case report.UnknownResult, report.Unproven, report.Contradicted:
		return unknown
	case report.NotApplicable:
		return notApplicable
	}
	if r.Count(report.Warn) > 0 {
		return warnings
	}
	return success
}

func exitHelp() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Exit statuses by --exit-style:\n  %-50s %6s %6s %4s %5s %4s\n", "", "native", "nagios", "npd", "slurm", "zero")
	for _, r := range exitTable {
		fmt.Fprintf(&b, "  %-50s %6d %6d %4d %5d %4d\n", r.Words, r.Native, r.Nagios, r.NPD, r.Slurm, r.Zero)
	}
	return b.String()
}
