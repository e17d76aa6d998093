package load

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"gdsproof/internal/facts"
)

// Descriptors of an engine's process.
const (
	fdEvents  = 3
	fdControl = 4
)

// reporter writes events.
type reporter struct {
	mu   sync.Mutex
	w    io.Writer
	last time.Time
	// begin is closed when a job that waits may go on.
	begin chan struct{}
}

func (r *reporter) send(kind string, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		return
	}
	line, err := json.Marshal(Event{V: 1, Kind: kind, Body: b})
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = r.w.Write(append(line, '\n'))
}

// progress is sent a few times a second.
func (r *reporter) progress(p Progress) {
	r.mu.Lock()
	now := time.Now()
	wait := now.Sub(r.last) < 200*time.Millisecond
	if !wait {
		r.last = now
	}
	r.mu.Unlock()
	if !wait {
		r.send("progress", p)
	}
}

// ChildMain is an engine's process: one job, told of on descriptor 3. It ends when descriptor 4 does, since then the
// program that asked is gone.
func ChildMain(args []string) int {
	events, control := os.NewFile(fdEvents, "events"), os.NewFile(fdControl, "control")
	if len(args) != 1 || events == nil || control == nil || !open(fdEvents) || !open(fdControl) {
		fmt.Fprintln(os.Stderr, "this is a part of gdsproof prove and does nothing alone")
		return 2
	}
	syscall.CloseOnExec(fdEvents)
	syscall.CloseOnExec(fdControl)
	r := &reporter{w: events, begin: make(chan struct{})}
	go func() {
		var b [16]byte
		if n, _ := control.Read(b[:]); n > 0 {
			close(r.begin)
		}
		_, _ = io.Copy(io.Discard, control)
		os.Exit(3)
	}()
	var job facts.LoadJob
	if err := json.Unmarshal([]byte(args[0]), &job); err != nil {
		fmt.Fprintln(os.Stderr, "the job cannot be read:", err)
		return 2
	}
	r.send("hello", map[string]any{"engine": job.Engine, "pid": os.Getpid()})
	res := facts.LoadResult{Job: job, End: facts.EndError}
	began, spent := time.Now(), cpu()
	do := engines[job.Engine]
	if do == nil {
		res.Error = "this gdsproof has no engine " + job.Engine
	} else {
		do(job, r, &res)
	}
	if res.Seconds == 0 {
		res.Seconds = time.Since(began).Seconds()
	}
	if res.CPUSeconds == nil {
		s := cpu() - spent
		res.CPUSeconds = &s
	}
	r.send("result", res)
	r.send("done", nil)
	return 0
}

// engines are the bodies of the engines' processes.
var engines = map[string]func(facts.LoadJob, *reporter, *facts.LoadResult){"posix": posix, "cufile": cufileEngine}

func open(fd int) bool {
	var st syscall.Stat_t
	return syscall.Fstat(fd, &st) == nil
}

// cpu is the time that this process has spent, user and system.
func cpu() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
