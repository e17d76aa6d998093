package host

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// notStarted is a launcher's report: the command did not start.
type notStarted struct {
	Errno int    `json:"errno"`
	Msg   string `json:"msg"`
	// Signal ended the command of a guard.
	Signal int `json:"signal,omitempty"`
}

// launch becomes the command. It is done in a child because a program may lie on the file system that hangs
// (CUDA and its tools often are on a shared one): execve would hang then, and with it the process that forks,
// which waits for the new program to be loaded and lets nobody else fork meanwhile.
func launch(argv []string) int { return start(argv, fdReport) }

// launchEngine becomes a command that tells of itself on 3 and listens on 4. They come as 5 and 6; the lock keeps
// being held under another number.
func launchEngine(argv []string) int {
	report, err := unix.FcntlInt(fdReport, unix.F_DUPFD_CLOEXEC, 16)
	if err != nil {
		return 127
	}
	if _, err := unix.FcntlInt(fdLock, unix.F_DUPFD, 32); err != nil {
		return 127
	}
	for from, to := range map[int]int{5: 3, 6: 4} {
		if err := unix.Dup3(from, to, 0); err != nil {
			return 127
		}
		unix.CloseOnExec(from)
	}
	return start(argv, report)
}

// fdLock is where a launcher has its lock.
const fdLock = 4

func start(argv []string, fdReport int) int {
	unix.CloseOnExec(fdReport)
	path, err := lookPath(argv[0])
	if err == nil {
		err = syscall.Exec(path, argv, os.Environ())
	}
	return notStartedAs(err, fdReport)
}

// lookPath finds a program as the clean PATH would; the caller's PATH may lack the sbin folders.
func lookPath(name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, d := range filepath.SplitList(cleanPath) {
		p := filepath.Join(d, name)
		if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o111 != 0 {
			return p, nil
		}
	}
	return "", syscall.ENOENT
}
