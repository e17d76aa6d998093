package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// writeWord, after ChildVerb, makes the child write its input to the file in the next word.
const writeWord = "write"

// WriteFile writes a file in a child, since the place that a user names for a result may be on the very file system
// that hangs. It returns when the file is written, or an error at the deadline; the child is then left behind.
func WriteFile(ctx context.Context, path string, b []byte) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var said bytes.Buffer
	c := exec.Command(self, ChildVerb, writeWord, path)
	c.Stdin, c.Stderr = bytes.NewReader(b), &said
	c.Env = []string{"GOMAXPROCS=2"}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }() // may never return
	select {
	case err = <-done:
	case <-ctx.Done():
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		return fmt.Errorf("write %s: not done in time", path)
	}
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		return errors.New(strings.TrimSpace(said.String()))
	}
	return err
}

// writeChild is the body of the child: the whole of the input is had before the file is touched.
func writeChild(path string) int {
	b, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = os.WriteFile(path, b, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
