package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Dir is a folder that holds locks; empty if there is no place for them.
type Dir string

// RunDir is the folder for things that a reboot ends: locks of children. Every run of a user must find the
// same one, or it would not see a child that an earlier run left behind. So neither TMPDIR (which differs
// between a login and a batch job, and may lie on the very file system that hangs) nor XDG_RUNTIME_DIR (which
// goes away at logout, with the child still there) has a say.
func RunDir() (Dir, error) {
	uid := os.Geteuid()
	own := "gdsproof-" + strconv.Itoa(uid)
	tries := []string{filepath.Join("/tmp", own), filepath.Join("/var/tmp", own)}
	if uid == 0 {
		tries = append([]string{"/run/gdsproof"}, tries...)
	}
	return firstOwn(tries, uid)
}

// firstOwn is the first folder of the list that can be had; the error is that of the place we want most.
func firstOwn(tries []string, uid int) (Dir, error) {
	var first error
	for _, d := range tries {
		err := own(d, uid)
		if err == nil {
			return Dir(d), nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

// own makes dir with mode 0700 or accepts it if nobody else can write there: the temporary folder is open to
// all, and a folder or link that somebody else put there is a trap.
func own(dir string, uid int) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	switch {
	case !ok || !fi.IsDir():
		return fmt.Errorf("use %s: not a folder", dir)
	case int(st.Uid) != uid:
		return fmt.Errorf("use %s: it belongs to user %d", dir, st.Uid)
	case fi.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("use %s: others can write there (mode %04o)", dir, fi.Mode().Perm())
	}
	return nil
}
