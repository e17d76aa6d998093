package host

import (
	"encoding/json"
	"errors"
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
}

// launch becomes the command. It is done in a child because a program may lie on the file system that hangs
// (CUDA and its tools often are on a shared one): execve would hang then, and with it the process that forks,
// which waits for the new program to be loaded and lets nobody else fork meanwhile.
func launch(argv []string) int {
	unix.CloseOnExec(fdReport)
	path, err := lookPath(argv[0])
	if err == nil {
		err = syscall.Exec(path, argv, os.Environ())
	}
	r := notStarted{Msg: err.Error()}
	var no syscall.Errno
	if errors.As(err, &no) {
		r.Errno = int(no)
	}
	_ = json.NewEncoder(os.NewFile(fdReport, "report")).Encode(r)
	return 127
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
