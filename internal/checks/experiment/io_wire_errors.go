package experiment

import (
	"fmt"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

// wireErrors are the EFA counters whose rise tells of trouble between client and servers. They outlive a reboot, so
// only a rise counts. Single retransmitted packets are normal on a busy network; time-outs are not.
var wireErrors = []string{"retrans_timeout_events", "rx_drops", "rdma_read_wr_err", "rdma_write_wr_err", "impaired_remote_conn_events", "unresponsive_remote_events"}

var _ = check.Register(check.Check{
	ID:      "io-wire-errors",
	Title:   "No time-outs and drops on the wire during the I/O",
	Why:     "Under load an EFA path that loses packets stalls Lustre, while every static check stays green: only counters that rise show it.",
	Source:  source,
	Step:    4,
	Needs:   applies.LustreNeeds(facts.EFAWindows.Want(), facts.LNetWindows.Want()),
	Applies: applies.WithLustre,
	Fix: []check.Fix{{
		Text:     "stop the load, note the counters before and after, and see whether the security group lets all EFA traffic of its own group pass; then ask AWS with both readings",
		Commands: []string{"grep . /sys/class/infiniband/*/ports/1/hw_counters/{retrans_timeout_events,rx_drops,unresponsive_remote_events}", "sudo dmesg | grep -i -E 'lnet|kefalnd|lustre'"},
		Changes:  "nothing",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		hw, ln := check.Maybe(v, facts.EFAWindows), check.Maybe(v, facts.LNetWindows)
		var bad []string
		var ev []check.Evidence
		seen := false
		for _, w := range hw.V {
			if w.Broken != "" {
				continue
			}
			for _, name := range wireErrors {
				r := facts.EFARise(w, name)
				seen = seen || r.OK
				if r.OK && r.V > 0 {
					bad = append(bad, fmt.Sprintf("%s +%d", name, r.V))
					for dev, m := range w.After.Port {
						if m[name] > w.Before.Port[dev][name] {
							ev = append(ev, check.Quote(facts.EFACountersSource, fmt.Sprintf("%s %s: %d, then %d", dev, name, w.Before.Port[dev][name], m[name])))
						}
					}
				}
			}
		}
		for _, w := range ln.V {
			if w.Broken != "" {
				continue
			}
			for _, r := range w.Before.Against(w.After) {
				seen = seen || r.Drop.OK
				if facts.LNetLND(r.Net) == "efa" && r.Drop.V > 0 {
					bad = append(bad, fmt.Sprintf("drop_count of %s +%d", r.NID, r.Drop.V))
					ev = append(ev, check.Quote(facts.LNetSource, fmt.Sprintf("%s drop_count +%d", r.NID, r.Drop.V)))
				}
			}
		}
		switch {
		case len(bad) > 0:
			return []check.Finding{check.With(check.Warn("during the I/O: %s", strings.Join(bad, ", ")), sorted(ev)...)}
		case !seen:
			return []check.Finding{check.NotKnown("the EFA devices' hw_counters before and after the I/O", "%s", hw.Why)}
		}
		return []check.Finding{check.Pass("no time-out and no drop was counted")}
	},
})
