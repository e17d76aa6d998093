package proof

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
)

// look is a snapshot of what counts I/O: the driver's statistics, LNet's messages on every net, the EFA devices.
func (r *Runner) look(ctx context.Context) {
	r.step++
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second) // the look behind a run that was stopped still tells
	defer cancel()
	add := func(it evidence.Item) {
		it.Step, it.Place = r.step, evidence.Host
		r.items = append(r.items, it)
	}
	add(r.M.Read(ctx, facts.NVFSProc+"/stats", true))
	if r.Plan.Lustre {
		add(r.M.Run(ctx, host.Command{Argv: strings.Fields(facts.LNetSource)}))
		if it := r.counters(ctx); it.State != evidence.NotCollected {
			add(it)
		}
	}
}

// idle looks again after a moment in which nothing of ours was at work: what moved is somebody else's.
func (r *Runner) idle(ctx context.Context) {
	r.Say("idle: is anybody else at work?")
	select {
	case <-ctx.Done():
	case <-time.After(r.Plan.Pause):
	}
	r.look(ctx)
	r.record.Phases[r.step] = facts.PhaseIdle
}

const rdmaDir = "/sys/class/infiniband"

// counters folds the EFA devices' port counters into one item, a counter a line.
func (r *Runner) counters(ctx context.Context) evidence.Item {
	out := evidence.Item{Source: facts.EFACountersSource, Form: evidence.Whole, State: evidence.NotCollected}
	list := r.M.List(ctx, rdmaDir, false)
	var b bytes.Buffer
	for _, dev := range facts.ListedNames(list.Out) {
		dir := path.Join(rdmaDir, dev, "ports/1/hw_counters")
		for _, name := range facts.ListedNames(r.M.List(ctx, dir, false).Out) {
			it := r.M.Read(ctx, path.Join(dir, name), false)
			if it.OK() {
				fmt.Fprintf(&b, "%s %s=%s\n", dev, name, strings.TrimSpace(string(it.Out)))
			}
		}
	}
	if b.Len() > 0 {
		out.State, out.Out = evidence.Present, b.Bytes()
	}
	return out
}
