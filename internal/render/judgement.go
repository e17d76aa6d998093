package render

import (
	"fmt"
	"strings"

	"gdsproof/internal/report"
)

// judgementRow is a row of the guide's table of judgements.
type judgementRow struct {
	check                         string
	what, normal, meaning, action string
}

// judgementRows are the rows in the guide's order. What only an experiment sees is not looked at by a check.
var judgementRows = []judgementRow{
	{"nvidia-fs-loaded", "nvidia_fs in the module list", "listed", "no GDS driver", "load or build it (step 1)"},
	{"nvidia-fs-version", "NVFS Driver(version)", "minimum version or later", "version too low", "build it from source (step 1)"},
	{"lnet-efa-count", "@efa interfaces of LNet", "the baseline count", "FSx uses EFA not at all, or in part", "setup.sh --optimized-for-gds (step 2)"},
	{"platform-storage", "gdscheck, row of the file system", "a direct token (nvfs)", "no GDS path for it", "driver, mount, --optimized-for-gds (step 3)"},
	{"platform-gpus", "gdscheck, all GPUs", "supports GDS", "trouble with some GPUs", "nvidia-smi, then a bundle for the vendor"},
	{"platform-verification", "gdscheck, last line", "Platform verification succeeded", "the platform inspection failed", "a bundle for the vendor"},
	{"io-driver-registered", "Mmap/Bar1-map after a GDS run", "rise", "it ran in compat mode, through the CPU", "turn compat mode off and find the cause"},
	{"io-driver-reads", "Sparse Reads after a GDS read", "rise", "reads did not take the GDS path", "turn compat mode off and find the cause"},
	{"io-wire-efa", "EFA send/recv counts after a GDS run", "some rise greatly (all with all GPUs)", "traffic did not go over EFA", "step 2"},
	{"platform-ignored", "Unsupported, Disabled, false", "listed as normal", "nothing", "none"},
}

// judgement prints the guide's table: found, normal, what it means when abnormal, what to do.
func (t *text) judgement(r *report.Report) {
	rows := [][]string{{"check", "found", "normal", "meaning when abnormal", "action"}}
	for _, j := range judgementRows {
		found := "not looked at"
		for _, want := range []report.Status{report.Fail, report.Warn, report.Unknown, report.Pass, report.Skip} {
			hit := false
			for i := range r.Findings {
				if f := &r.Findings[i]; f.Check == j.check && f.Status == want {
					found, hit = string(f.Status)+": "+line(f.Summary), true
					break
				}
			}
			if hit {
				break
			}
		}
		if len([]rune(found)) > 60 {
			found = string([]rune(found)[:59]) + "…"
		}
		rows = append(rows, []string{j.what, found, j.normal, j.meaning, j.action})
	}
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	t.linef("\n%s", t.p.bold("The judgements in sum"))
	for n, row := range rows {
		var b strings.Builder
		for i, c := range row {
			fmt.Fprintf(&b, "  %s%s", c, strings.Repeat(" ", width[i]-len([]rune(c))))
		}
		s := strings.TrimRight(b.String(), " ")
		if n == 0 {
			s = t.p.dim(s)
		}
		t.linef("%s", s)
	}
}
