package facts

import (
	"io"
	"time"
)

// GDSLogReport is the report that libcufile wrote into its log when a process opened the driver, at level INFO or
// lower. A machine without the GDS tools, as most containers are, can be inspected by it.
type GDSLogReport struct {
	GDSReport
	PID   int
	Began time.Time // in the log's own time: see CufileLogEntry
	Open  bool      // the log has no end of it: the process is at it, died, or the log was cut
}

// mostCufileReports bounds how many reports can be under way at a time: the processes of a job begin together, and
// one that died has no end.
const mostCufileReports = 4096

// ParseGDSCheckInLog returns the last report of a log, that is the one that began last. A log holds reports of many
// processes and days, also interleaved; a process that opens the driver again writes another. ok is false where the
// log has none: its level is ERROR by default.
func ParseGDSCheckInLog(r io.Reader) (out GDSLogReport, ok bool, err error) {
	var last *cufileReport
	under := map[int]*cufileReport{} // way, by process
	for e, err := range ScanCufileLog(r) {
		if err != nil {
			return GDSLogReport{}, false, err
		}
		if e.Level == "" || e.Level == "DEBUG" || e.Level == "TRACE" {
			continue // they stand between the lines of the report
		}
		c := under[e.PID]
		if c != nil && !c.closed(e) && c.line(e.Message, !e.Cut) {
			continue
		}
		if !cufileReportBegins(e.Message, !e.Cut) {
			continue
		}
		c = &cufileReport{pid: e.PID, began: e.Time}
		c.line(e.Message, !e.Cut)
		if len(under) >= mostCufileReports {
			clear(under)
		}
		under[e.PID], last = c, c
	}
	if last == nil {
		return GDSLogReport{}, false, nil
	}
	rep := last.finish()
	return GDSLogReport{GDSReport: rep, PID: last.pid, Began: last.began, Open: !rep.Ended()}, true, nil
}

type cufileReport struct {
	gdsReader
	pid   int
	began time.Time
}

// closed tells that an entry cannot be of this report any more. A report is written within a second; process
// numbers come back.
func (c *cufileReport) closed(e CufileLogEntry) bool {
	return c.over || e.Time.Before(c.began.Add(-time.Minute)) || e.Time.After(c.began.Add(time.Hour))
}

// cufileReportBegins: with the version, with the first title where a release prints no versions, and with any title
// where the log itself begins in the middle.
func cufileReportBegins(message string, whole bool) bool {
	low := lowerASCII(message)
	if v := gdsVersions(message, low, whole); len(v) > 0 {
		return true
	}
	_, title := gdsTitle(low)
	return title && whole
}
