package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"gdsproof/internal/evidence"
)

// Act is a change to the machine that somebody asked for. It is made in a child, as a look that may block is, and
// whoever asks for it writes it into the ledger before.
type Act struct {
	Op    string   `json:"op"`
	Path  string   `json:"path"`            // absolute
	Names []string `json:"names,omitempty"` // of files in the folder
	Size  uint64   `json:"size,omitempty"`
	Text  string   `json:"text,omitempty"`
}

// What an Act can do.
const (
	ActMkdir   = "mkdir"   // a folder that must not be there yet, for this user alone
	ActCreate  = "create"  // files in a folder that must not be there yet, with room for Size
	ActDiscard = "discard" // the named files, if they are there
	ActRemove  = "remove"  // the same, and the folder if nothing else is in it
	ActWrite   = "write"   // Text into a file that is there
	ActPut     = "put"     // a new file with Text
)

// Actor is a machine that can be changed.
type Actor interface {
	Host
	// Do makes one change. Present: it is made.
	Do(ctx context.Context, a Act) evidence.Item
	// Scratch is a private folder on a local disk, which goes away with the machine's Close.
	Scratch() string
}

// ActSource is the source of an act's item.
func ActSource(a Act) string { return "act " + a.Op + " " + a.Path }

// Do makes a change in a child.
func (l *Live) Do(ctx context.Context, a Act) evidence.Item {
	if l.root != "/" {
		return evidence.Item{Source: ActSource(a), Form: evidence.Whole, Place: evidence.Host, State: evidence.NotCollected, Err: []byte("nothing is changed below a root")}
	}
	return l.ask(ctx, question{Op: "act", Path: a.Path, Act: &a, Wait: true})[0]
}

// Scratch is the folder in which commands run.
func (l *Live) Scratch() string { return l.folder() }

// lookAct does it, in this very process.
func lookAct(a Act) evidence.Item {
	err := act(a)
	if err == nil {
		return okItem([]byte("done"))
	}
	return failItem(err)
}

func act(a Act) error {
	switch a.Op {
	case ActMkdir:
		return os.Mkdir(a.Path, 0o700)
	case ActWrite:
		f, err := os.OpenFile(a.Path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString(a.Text)
		return errors.Join(err, f.Close())
	case ActPut:
		f, err := os.OpenFile(a.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteString(a.Text)
		return errors.Join(err, f.Close())
	case ActCreate, ActRemove, ActDiscard:
		return inFolder(a)
	}
	return fmt.Errorf("no act %q", a.Op)
}

// inFolder works below the folder alone: a name cannot lead out of it, and neither can a link that somebody put there.
func inFolder(a Act) error {
	fi, err := os.Lstat(a.Path)
	if errors.Is(err, fs.ErrNotExist) && a.Op != ActCreate {
		return nil
	}
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return &os.PathError{Op: a.Op, Path: a.Path, Err: unix.ENOTDIR}
	}
	root, err := os.OpenRoot(a.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, n := range a.Names {
		if a.Op != ActCreate {
			if err := root.Remove(n); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			continue
		}
		if err := create(root, n, a.Size); err != nil {
			return err
		}
	}
	if a.Op == ActRemove {
		return os.Remove(a.Path) // fails, and says so, where something else is in it
	}
	return nil
}

// create makes a file that was not there, with its room where the file system can give it at once. An existing file is
// never touched.
func create(root *os.Root, name string, size uint64) error {
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = again(func() error { return unix.Fallocate(int(f.Fd()), 0, 0, int64(size)) })
	switch {
	case size == 0:
		err = nil
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL):
		err = f.Truncate(int64(size))
	case err != nil:
		err = &os.PathError{Op: "make room for", Path: filepath.Join(root.Name(), name), Err: err}
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = root.Remove(name)
	}
	return err
}
