package facts

// LNetStats is what "lnetctl stats show" prints: totals over all nets, so it cannot tell EFA from TCP. It comes
// through the ioctl of all versions, also from 2.16 on, and has no resend and local_ or remote_ counters before
// 2.12. Lengths are bytes.
type LNetStats struct {
	MsgsAlloc, MsgsMax, RstAlloc, Errors                      Opt[uint64]
	SendCount, RecvCount, RouteCount, DropCount               Opt[uint64]
	SendLength, RecvLength, RouteLength, DropLength           Opt[uint64]
	ResendCount, ResponseTimeoutCount                         Opt[uint64]
	LocalInterruptCount, LocalDroppedCount, LocalAbortedCount Opt[uint64]
	LocalNoRouteCount, LocalTimeoutCount, LocalErrorCount     Opt[uint64]
	RemoteDroppedCount, RemoteErrorCount, RemoteTimeoutCount  Opt[uint64]
	NetworkTimeoutCount                                       Opt[uint64]
	Cut                                                       bool // something is missing at the end, or lnetctl ended with an error
}

// field finds the counter of a label as lnetctl spells it (liblnetconfig.c, lustre_lnet_show_stats).
func (t *LNetStats) field(name string) *Opt[uint64] {
	switch name {
	case "msgs_alloc":
		return &t.MsgsAlloc
	case "msgs_max":
		return &t.MsgsMax
	case "rst_alloc":
		return &t.RstAlloc
	case "errors":
		return &t.Errors
	case "send_count":
		return &t.SendCount
	case "recv_count":
		return &t.RecvCount
	case "route_count":
		return &t.RouteCount
	case "drop_count":
		return &t.DropCount
	case "send_length":
		return &t.SendLength
	case "recv_length":
		return &t.RecvLength
	case "route_length":
		return &t.RouteLength
	case "drop_length":
		return &t.DropLength
	case "resend_count":
		return &t.ResendCount
	case "response_timeout_count":
		return &t.ResponseTimeoutCount
	case "local_interrupt_count":
		return &t.LocalInterruptCount
	case "local_dropped_count":
		return &t.LocalDroppedCount
	case "local_aborted_count":
		return &t.LocalAbortedCount
	case "local_no_route_count":
		return &t.LocalNoRouteCount
	case "local_timeout_count":
		return &t.LocalTimeoutCount
	case "local_error_count":
		return &t.LocalErrorCount
	case "remote_dropped_count":
		return &t.RemoteDroppedCount
	case "remote_error_count":
		return &t.RemoteErrorCount
	case "remote_timeout_count":
		return &t.RemoteTimeoutCount
	case "network_timeout_count":
		return &t.NetworkTimeoutCount
	}
	return nil
}

// ParseLNetStats reads what "lnetctl stats show" printed.
func ParseLNetStats(out, stderr []byte, exit *int) (LNetStats, LNetProblem) {
	text := string(out)
	var t LNetStats
	found, foreign := false, false
	for s := newLNetScan(text); s.next(); {
		switch s.label {
		case lnetNID, lnetNetType, lnetPrimaryNID: // an interface counts with the same labels
			foreign = true
		case lnetMsgsAlloc:
			foreign = false
		}
		if f := t.field(s.name); f != nil && !foreign {
			lnetSetUint(&s, f)
			found = found || f.OK
		}
	}
	t.Cut = lnetOpenEnd(text) || exit != nil && *exit != 0
	if !found {
		return t, lnetDiagnose(text, string(stderr), exit)
	}
	return t, LNetProblem{State: LNetAnswered}
}
