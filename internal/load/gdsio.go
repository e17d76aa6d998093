package load

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
)

// Gdsio is NVIDIA's load generator. Its exit status is no testimony: a failed open of the driver exits 0.
type Gdsio struct {
	Path string
	M    host.Actor
}

// Name is the engine's.
func (Gdsio) Name() string { return "gdsio" }

// Do runs gdsio once.
func (g Gdsio) Do(ctx context.Context, job facts.LoadJob, s Settings, _ func(Progress)) []evidence.Item {
	argv := g.argv(job)
	set := environment(job, s, g.M.Scratch())
	it := g.M.Run(ctx, host.Command{Name: facts.GdsioSource, Argv: argv, Env: host.EnvCaller, Set: set, Timeout: seconds(job.Deadline), MaxOut: 256 << 10, Guard: true})
	said := string(it.Out)
	if len(it.Err) > 0 {
		said += string(it.Err)
		if !strings.HasSuffix(said, "\n") {
			said += "\n"
		}
	}
	// The command stands above its output, as in a shell: it tells what the line does not.
	typed := strings.Join(argv, " ")
	if s.JSON != "" {
		typed = facts.CufilePathEnv + "=" + s.JSON + " " + typed
	}
	it.Out = []byte("$ " + typed + "\n" + said)
	words := it.Err
	it.Err, it.Origin = nil, ""
	parsed := facts.ParseGdsio([]byte(said))
	if it.State == evidence.Present && len(parsed.Runs)+len(parsed.Errors) > 0 {
		return []evidence.Item{it}
	}
	job.Engine = g.Name()
	r := facts.LoadResult{Job: job, End: facts.EndError}
	switch {
	case it.Stuck != 0:
		r.End, r.Error = facts.EndStuck, fmt.Sprintf("gdsio (process %d) hangs and cannot be ended", it.Stuck)
	case it.State == evidence.TimedOut:
		r.End, r.Error = facts.EndKilled, "gdsio did not end in time"
	case it.State == evidence.Failed && strings.Contains(string(words), "ended by signal"):
		r.End, r.Error = facts.EndCrashed, "gdsio: "+lastLine(words)
	case it.State != evidence.Present:
		r.Error = "gdsio did not run: " + firstWords([]byte(said))
	case it.Exit != nil && *it.Exit != 0:
		r.End, r.Error = facts.EndCrashed, fmt.Sprintf("gdsio ended with status %d and printed no result: %s", *it.Exit, firstWords([]byte(said)))
	default:
		r.Error = "gdsio ended with status 0 and printed no result: " + firstWords([]byte(said))
	}
	it.State = evidence.Present // it is the record of what was printed; the result tells how it ended
	return []evidence.Item{it, r.Item(0)}
}

func (g Gdsio) argv(job facts.LoadJob) []string {
	kind, how := "0", "0"
	if job.Op == "write" {
		kind = "1"
	}
	if job.CPU {
		how = "1"
	}
	return []string{g.Path, "-f", path.Join(job.Dir, job.Name), "-d", strconv.Itoa(job.GPU.Index), "-w", strconv.Itoa(job.Threads),
		"-s", gdsioSize(job.Size), "-i", gdsioSize(job.IOSize), "-x", how, "-I", kind}
}

func lastLine(b []byte) string {
	s := strings.TrimSpace(string(b))
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// gdsioSize writes a size as gdsio reads it: a bare number is bytes.
func gdsioSize(n uint64) string {
	for _, u := range []struct {
		name string
		by   uint64
	}{{"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}} {
		if n >= u.by && n%u.by == 0 {
			return strconv.FormatUint(n/u.by, 10) + u.name
		}
	}
	return strconv.FormatUint(n, 10)
}
