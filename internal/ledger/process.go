package ledger

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Process is what /proc/PID/stat tells. Reading it never waits for the process, even for one in
// uninterruptible sleep; maps and cmdline may, since they take the lock of its memory.
type Process struct {
	PID    int
	Name   string
	State  string // one letter, of the first thread
	Parent int
	Group  int
	Start  uint64 // clock ticks since boot
}

// ProcessOf looks a process up; false if there is none.
func ProcessOf(pid int) (Process, bool) {
	if pid <= 0 {
		return Process{}, false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Process{}, false
	}
	return parseStat(pid, string(b))
}

// parseStat reads the fields of proc_pid_stat(5). The name may hold blanks and parentheses, so the fields are
// counted from the last one.
func parseStat(pid int, s string) (Process, bool) {
	open, end := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
	if open < 0 || end < open {
		return Process{}, false
	}
	f := strings.Fields(s[end+1:])
	if len(f) < 20 {
		return Process{}, false
	}
	p := Process{PID: pid, Name: s[open+1 : end], State: f[0]}
	p.Parent, _ = strconv.Atoi(f[1])
	p.Group, _ = strconv.Atoi(f[2])
	p.Start, _ = strconv.ParseUint(f[19], 10, 64)
	return p, true
}

// Processes lists all processes that can be seen.
func Processes() []Process {
	var out []Process
	for _, pid := range numbers("/proc") {
		if p, ok := ProcessOf(pid); ok {
			out = append(out, p)
		}
	}
	return out
}

// State is the state letter of a process, "" if it has ended (a zombie is only waiting to be told so). The
// first thread may have ended while another one hangs: then that one's state counts.
func State(pid int) string {
	p, ok := ProcessOf(pid)
	if !ok {
		return ""
	}
	state := p.State
	for _, tid := range numbers(fmt.Sprintf("/proc/%d/task", pid)) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/stat", pid, tid))
		if err != nil {
			continue
		}
		t, ok := parseStat(tid, string(b))
		if ok && (t.State == "D" || ended(state)) {
			state = t.State
		}
	}
	if ended(state) {
		return ""
	}
	return state
}

func ended(state string) bool { return state == "Z" || state == "X" || state == "x" }

// Killed tells whether a process was sent SIGKILL and has not ended: the mark of one that cannot be.
func Killed(pid int) bool {
	if State(pid) == "" {
		return false
	}
	for _, tid := range numbers(fmt.Sprintf("/proc/%d/task", pid)) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, tid))
		if err == nil && pendingKill(b) {
			return true
		}
	}
	return false
}

// pendingKill reads SigPnd (of a thread) and ShdPnd (of the process) in /proc/PID/status; bit 8 is SIGKILL.
func pendingKill(status []byte) bool {
	sc := bufio.NewScanner(bytes.NewReader(status))
	for sc.Scan() {
		label, v, _ := strings.Cut(sc.Text(), ":")
		if label != "SigPnd" && label != "ShdPnd" {
			continue
		}
		if set, err := strconv.ParseUint(strings.TrimSpace(v), 16, 64); err == nil && set&(1<<8) != 0 {
			return true
		}
	}
	return false
}

// holding finds the processes that have a file's lock: /proc/PID/fdinfo shows a lock with each descriptor of
// the open file that took it, also with inherited ones. Only processes that we may look into are found. Those
// that were killed and stay come first, then the youngest.
func holding(path string) []int {
	type found struct {
		pid    int
		killed bool
		start  uint64
	}
	var best []found
	self := os.Getpid()
	for _, pid := range numbers("/proc") {
		if pid == self || !holds(pid, path) {
			continue
		}
		p, _ := ProcessOf(pid)
		f := found{pid, Killed(pid), p.Start}
		i := 0
		for i < len(best) && (best[i].killed && !f.killed || best[i].killed == f.killed && best[i].start >= f.start) {
			i++
		}
		best = append(best[:i], append([]found{f}, best[i:]...)...)
	}
	pids := make([]int, 0, len(best))
	for _, f := range best {
		pids = append(pids, f.pid)
	}
	return pids
}

func holds(pid int, path string) bool {
	for _, fd := range numbers(fmt.Sprintf("/proc/%d/fd", pid)) {
		to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
		if err != nil || filepath.Clean(to) != filepath.Clean(path) {
			continue
		}
		info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", pid, fd))
		if err == nil && bytes.Contains(info, []byte("FLOCK")) {
			return true
		}
	}
	return false
}

// numbers lists the entries of a folder of /proc whose names are numbers.
func numbers(dir string) []int {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	var out []int
	for _, n := range names {
		if v, err := strconv.Atoi(n); err == nil {
			out = append(out, v)
		}
	}
	return out
}
