package host

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// fdGuarded is the pipe that ends when the program that asked does.
const fdGuarded = 5

// guard runs a program and ends as it does. When descriptor 5 ends before that, nobody is left to want the program: the
// whole group is killed. The lock of its kind (4) stays with the guard.
func guard(argv []string) int {
	for _, fd := range []int{fdReport, fdLock, fdGuarded} {
		unix.CloseOnExec(fd)
	}
	path, err := lookPath(argv[0])
	c := exec.Command(path, argv[1:]...)
	c.Args[0] = argv[0]
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return notStartedAs(err, fdReport)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(fdGuarded, "control"))
		_ = syscall.Kill(0, syscall.SIGKILL)
	}()
	_ = c.Wait()
	ws, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		// Told, and not imitated: Go's runtime has a use of its own for some.
		tellParent(fdReport, notStarted{Signal: int(ws.Signal())})
		return 128 + int(ws.Signal())
	}
	return c.ProcessState.ExitCode()
}

// notStartedAs writes the report of a program that did not start.
func notStartedAs(err error, fd int) int {
	r := notStarted{Msg: err.Error()}
	var no syscall.Errno
	if errors.As(err, &no) {
		r.Errno = int(no)
	}
	tellParent(fd, r)
	return 127
}

func tellParent(fd int, r notStarted) {
	_ = json.NewEncoder(os.NewFile(uintptr(fd), "report")).Encode(r)
}
