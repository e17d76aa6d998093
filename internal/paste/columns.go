package paste

import (
	"fmt"
	"strings"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
)

// columns takes `paste before after` apart: the left column was taken before the runs that stand above it, the right
// one is of where it stands.
func columns(set *evidence.Set, lefts map[int]int) {
	for i := 0; i < len(set.Items); i++ {
		it := set.Items[i]
		if it.Source != facts.LNetCountsSource {
			continue
		}
		c := facts.ParseLNetCounterLines(it.Out)
		if len(c.Columns) != 2 {
			continue
		}
		left, right := it, it
		left.Out, right.Out = column(c.Columns[0]), column(c.Columns[1])
		if left.Step = lefts[i]; left.Step == 0 {
			theirLogs(set, it)
			left.Step = beforeRuns(set, it)
		}
		set.Items[i] = right
		set.Items = append(set.Items, left)
	}
}

func column(list []facts.LNetCounterLine) []byte {
	var b strings.Builder
	net := ""
	for _, l := range list {
		if l.Net != net {
			net = l.Net
			fmt.Fprintf(&b, "    - net type: %s\n", net)
		}
		if l.Send.OK {
			fmt.Fprintf(&b, "send_count: %d\n", l.Send.V)
		}
		if l.Recv.OK {
			fmt.Fprintf(&b, "recv_count: %d\n", l.Recv.V)
		}
	}
	return []byte(b.String())
}

// theirLogs orders the guide's own logs (/tmp/gds_r_0.log …) that are shown above its two columns: its sequence writes
// them between the two looks. Of any other log nobody knows when it was written.
func theirLogs(set *evidence.Set, at evidence.Item) {
	for i := range set.Items {
		it := &set.Items[i]
		if it.Source == facts.GdsioSource && it.Place == at.Place && it.Step < at.Step && it.Step/evidence.Epoch == at.Step/evidence.Epoch &&
			strings.HasPrefix(it.Series, logSeries+at.Series+" ") && strings.Contains(it.Series, "/gds_") {
			it.Series = at.Series
		}
	}
}

// beforeRuns is the step before the first run since the last look at the counters.
func beforeRuns(set *evidence.Set, at evidence.Item) int {
	last := at.Step / evidence.Epoch * evidence.Epoch
	for i := range set.Items {
		it := &set.Items[i]
		if it.Before(&at) && it.Series == at.Series && (it.Source == facts.LNetCountsSource || it.Source == facts.LNetSource) {
			last = max(last, it.Step)
		}
	}
	first := at.Step
	for i := range set.Items {
		it := &set.Items[i]
		if it.Series == at.Series && it.Source == facts.GdsioSource && it.Step > last && it.Step < first {
			first = it.Step
		}
	}
	return first - 1
}
