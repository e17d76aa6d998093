package cli

import (
	"fmt"
	"strconv"

	"gdsproof/internal/evidence"
	"gdsproof/internal/explain"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

// couldNotMove says what the error number means for which no byte could be moved, and what mends it.
func couldNotMove(base *explain.Base, t *facts.Table, fs string, r *report.Report) {
	if r.Verdict.Outcome != report.NotReady {
		return
	}
	code := int64(0)
	for _, x := range facts.Get(t, evidence.Host, facts.LoadResults).V {
		if x.Code != nil && code == 0 {
			code = *x.Code
		}
	}
	row, ok := errorNumber(base, code)
	if !ok {
		return
	}
	r.Verdict.Summary += fmt.Sprintf(" (%s)", row.Meaning)
	action := &report.Action{Check: "io-moved", Text: row.Remedy, Commands: []string{fmt.Sprintf("gdsproof explain %d", code)}}
	mt, _ := facts.Get(t, evidence.Host, facts.Mounts).V.At(fs)
	switch {
	case (code == 5027 || code == 5030) && (mt.Type == "tmpfs" || mt.Type == "ramfs" || mt.Type == "overlay"):
		action.Text = fmt.Sprintf("%s is %s, which has no block device: libcufile until 1.15 cannot use it; take a folder on another file system", fs, mt.Type)
	case code == 5027 || code == 5030:
		// Without udev's database libcufile knows no file's file system; compat mode does not help against that.
		r.Verdict.Summary += ": /run/udev has no entry for the device of " + fs
		action.Text = "let libcufile see udev's database: mount the host's /run/udev into the container, read-only; on a host without udev, see device " + mt.Device
		action.Commands = []string{"ls /run/udev/data/b" + mt.Device, "docker run -v /run/udev:/run/udev:ro …", "srun --container-mounts=/run/udev:/run/udev:ro …"}
	case r.Verdict.FirstAction != nil && r.Verdict.FirstAction.Check != "io-moved":
		return // a finding says more
	}
	r.Verdict.FirstAction = action
}

// errorNumber is what is known of an error number of cuFile.
func errorNumber(base *explain.Base, code int64) (explain.Row, bool) {
	if code == 0 {
		return explain.Row{}, false
	}
	for _, e := range base.Lookup(strconv.FormatInt(code, 10)).Entries {
		return explain.RowOf(e), true
	}
	return explain.Row{}, false
}
