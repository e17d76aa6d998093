package experiment

import (
	"fmt"

	"gdsproof/internal/check"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "io-moved",
	Title:  "The load moved bytes",
	Why:    "Only bytes that were moved can show which way they took. gdsio's exit status does not tell: it is 0 also after a failed open of the driver.",
	Source: source,
	Step:   4,
	Needs:  []facts.Need{facts.Runs.Must()},
	Fix: []check.Fix{{
		Text:     "look the words of the error up",
		Commands: []string{"gdsproof explain 'file register error: GPUDirect Storage not supported on current file'"},
		Changes:  "nothing",
		Undo:     "none needed",
	}},
	Judge: func(v check.View) []check.Finding {
		var failed, odd, short []string
		moved, ops := 0, map[string]uint64{}
		for _, r := range check.Get(v, facts.Runs) {
			switch {
			case r.Phase == facts.PhaseStrict || r.Phase == facts.PhaseWhy: // the strict witness speaks of them
			case r.Failed != "":
				failed = append(failed, r.Failed)
			case r.Moved():
				moved++
				ops[r.Op] += r.Bytes.V
				if r.Phase != "" && r.Asked.V > 0 && r.Bytes.V*10 < r.Asked.V*9 {
					short = append(short, r.Line)
				}
			default:
				odd = append(odd, r.Line)
			}
		}
		switch {
		case len(failed) > 0 && moved == 0:
			return []check.Finding{check.With(check.Fail("no run moved a byte: %s", failed[0]), quotes(failed)...)}
		case len(failed) > 0:
			return []check.Finding{check.With(check.Fail("%d of %d runs failed: %s", len(failed), len(failed)+moved+len(odd), failed[0]), quotes(failed)...)}
		case moved == 0:
			return []check.Finding{check.With(check.NotKnown("the result lines as they were printed", "the result lines do not agree with themselves, or are cut"), quotes(odd)...)}
		}
		if len(short) > 0 { // threads stop when the first one ends, which costs a few percent
			return []check.Finding{check.With(check.Warn("%d of %d runs moved less than 90 %% of what they were asked for", len(short), moved), quotes(short)...)}
		}
		said := fmt.Sprintf("%s read, %s written", size(ops["read"]), size(ops["write"]))
		if n := ops[""]; n > 0 {
			said = size(n) + " in runs of which the direction is not told"
			if ops["read"]+ops["write"] > 0 {
				said = fmt.Sprintf("%s read, %s written, %s", size(ops["read"]), size(ops["write"]), said)
			}
		}
		return []check.Finding{check.Pass("%d runs: %s", moved, said)}
	},
})

func quotes(lines []string) []check.Evidence {
	var out []check.Evidence
	for i, l := range lines {
		if i == 4 {
			break
		}
		out = append(out, check.Quote(facts.GdsioSource, l))
	}
	return out
}
