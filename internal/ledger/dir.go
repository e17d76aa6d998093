// Package ledger keeps what must outlive a process: the locks that children hold while they may be stuck.
package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// RunDir is the folder for things that a reboot ends: locks of children. Root has /run/gdsproof; others have
// their runtime folder, else one of their own in the temporary folder.
func RunDir() (string, error) {
	var tries []string
	uid := os.Geteuid()
	if uid == 0 {
		tries = append(tries, "/run/gdsproof")
	} else if d := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(d) {
		tries = append(tries, filepath.Join(d, "gdsproof"))
	}
	tries = append(tries, filepath.Join(os.TempDir(), "gdsproof-"+strconv.Itoa(uid)))
	var first error
	for _, d := range tries {
		err := private(d, uid)
		if err == nil {
			return d, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

// private makes dir with mode 0700 or accepts it if it is ours alone: the temporary folder is open to all, and
// a folder that somebody else made there is a trap.
func private(dir string, uid int) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || !fi.IsDir() || int(st.Uid) != uid || fi.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("use %s: not a folder that belongs to this user alone", dir)
	}
	return nil
}
