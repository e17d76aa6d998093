package checks_test

import (
	"strings"
	"testing"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

// TestChildOfLibcufile: a process that libcufile ends leaves its reason with the library's check. What tells nothing of
// the library leaves it alone.
func TestChildOfLibcufile(t *testing.T) {
	none := state(evidence.Absent, "ENOENT", "")
	exits := func(status int, words string) *evidence.Item {
		it := state(evidence.Failed, "", words+"\nthe child that opened libcufile left no report")
		it.Exit = &status
		return it
	}
	crash := exits(2, "SIGSEGV: segmentation violation\nPC=0x7f00 m=0 sigcode=1 addr=0x0\nsignal arrived during cgo execution")
	noStart := state(evidence.Absent, "ENOENT", "start /usr/local/cuda/gds/tools/gdscheck: no such file or directory")
	noStart.Origin = "/usr/local/cuda/gds/tools/gdscheck -p"
	stuck := state(evidence.Failed, "", "process 4711 was killed, is still there (state D) and was left behind")
	stuck.Stuck = 4711
	for name, c := range map[string]struct {
		change change
		want   report.Status
		says   string
	}{
		"Go caught a crash":               {change{facts.CufileOpenSource: crash}, report.Warn, "crashed in a process that did nothing but open its driver: SIGSEGV: segmentation violation"},
		"a crash on the library's thread": {change{facts.CufileOpenSource: state(evidence.Failed, "", "ended by signal 11 (segmentation fault)")}, report.Warn, "signal 11 (segmentation fault)"},
		"the same as a shell tells it":    {change{facts.CufileOpenSource: exits(139, "")}, report.Warn, "signal 11"},
		"an abort":                        {change{facts.CufileOpenSource: state(evidence.Failed, "", "terminate called\nended by signal 6 (aborted)")}, report.Warn, "crashed in a process that did nothing but open its driver: signal 6 (aborted)"},
		"killed from outside":             {change{facts.CufileOpenSource: state(evidence.Failed, "", "ended by signal 9 (killed)")}, report.Warn, "killed from outside (signal 9 (killed))"},
		"an exit within the library":      {change{facts.CufileOpenSource: exits(9, "")}, report.Warn, "ended a process that did nothing but open its driver: exit status 9"},
		"no libc":                         {change{facts.CufileOpenSource: exits(127, "gdsproof: error while loading shared libraries: libc.so.6: cannot open shared object file: No such file or directory")}, report.Fail, "libcufile cannot run there either"},
		"a loader without words":          {change{facts.CufileOpenSource: exits(127, "")}, report.Fail, "libcufile cannot run there either"},
		"no loader for the child":         {change{facts.CufileOpenSource: state(evidence.Absent, "ENOENT", "start /usr/bin/gdsproof: no such file or directory")}, report.Fail, "libcufile cannot run there either"},
		"no loader for gdscheck":          {change{"gdscheck -p": noStart, facts.LoaderSource: text(""), facts.CufileOpenSource: nil}, report.Fail, "glibc's loader is missing: libcufile cannot run here either"},
		"gdscheck of another system":      {change{"gdscheck -p": noStart, facts.CufileOpenSource: nil}, report.Warn, "gdscheck is there and does not start"},
		"musl, and no gdscheck":           {change{facts.LoaderSource: text(""), facts.CufileOpenSource: nil}, report.Warn, "glibc's loader is in none of its places"},
		"no cuFileDriverOpen in it":       {change{facts.CufileOpenSource: text(`{"library":"/opt/libcufile.so.0","loaded":true,"error":"undefined symbol: cuFileDriverOpen"}`)}, report.Fail, "/opt/libcufile.so.0 is not a libcufile that programs can use"},
		// cufile.json is named by its own check.
		"a file that ends every process": {change{facts.CufileOpenSource: state(evidence.Failed, "", "ended by signal 6 (aborted)"), facts.CufileEtc: text("[1]")}, report.Unknown, "as it does over what is in /etc/cufile.json"},
		// These tell nothing of libcufile.
		"not in time":               {change{facts.CufileOpenSource: state(evidence.TimedOut, "", "no end within 20s: killed")}, report.Pass, ""},
		"stuck in the kernel":       {change{facts.CufileOpenSource: stuck}, report.Pass, ""},
		"a child that could not be": {change{facts.CufileOpenSource: state(evidence.Failed, "", "the child that opens libcufile could not begin: permission denied")}, report.Pass, ""},
		"an older glibc":            {change{facts.CufileOpenSource: exits(1, "gdsproof: /lib/libc.so.6: version `GLIBC_2.34' not found")}, report.Pass, ""},
		"built without libcufile":   {change{facts.CufileOpenSource: state(evidence.NotCollected, "", "this gdsproof was built without libcufile")}, report.Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if _, told := c.change["gdscheck -p"]; !told {
				c.change["gdscheck -p"] = none
			}
			fs := of(judge(t, with(t, "p5en", c.change)), "cufile-library")
			if worst(fs, "cufile-library") != c.want || !strings.Contains(fs[0].Summary, c.says) {
				t.Errorf("want %s with %q: %+v", c.want, c.says, fs)
			}
			if len(fs[0].Fix) == 0 && (c.want == report.Warn || c.want == report.Fail) {
				t.Error("no fix")
			}
		})
	}
}
