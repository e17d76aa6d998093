package facts

// LNetGlobal is what "lnetctl global show" prints of interest: without discovery a client never learns that its
// servers have EFA interfaces. Through the ioctl also from 2.16 on.
type LNetGlobal struct {
	Discovery          Opt[int64] // 1: on
	HealthSensitivity  Opt[int64]
	TransactionTimeout Opt[int64] // seconds
	RetryCount         Opt[int64]
}

// ParseLNetGlobal reads what "lnetctl global show" printed.
func ParseLNetGlobal(out, stderr []byte, exit *int) (LNetGlobal, LNetProblem) {
	text := string(out)
	var g LNetGlobal
	for s := newLNetScan(text); s.next(); {
		switch s.name {
		case "discovery":
			lnetSetInt(&s, &g.Discovery)
		case "health_sensitivity":
			lnetSetInt(&s, &g.HealthSensitivity)
		case "transaction_timeout":
			lnetSetInt(&s, &g.TransactionTimeout)
		case "retry_count":
			lnetSetInt(&s, &g.RetryCount)
		}
	}
	if g == (LNetGlobal{}) {
		return g, lnetDiagnose(text, string(stderr), exit)
	}
	return g, LNetProblem{State: LNetAnswered}
}
