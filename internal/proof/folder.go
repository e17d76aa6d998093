package proof

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
	"gdsproof/internal/ledger"
)

// FolderPrefix begins the names of test folders.
const FolderPrefix = ".gdsproof-"

// folder is where the test files are. It is in the ledger before it is on the disk.
type folder struct {
	path   string
	names  []string
	effect ledger.Effect
	made   bool
}

// cleanTime is how long clean-up may take, whatever became of the rest.
const cleanTime = 30 * time.Second

// prepare makes the folder and the files of the first phases, and turns the driver's counting on where that was asked.
func (r *Runner) prepare(ctx context.Context) error {
	p := &r.Plan
	if p.IOStats {
		if err := r.countIO(ctx); err != nil { // the others speak all the same
			r.leftOut("io-stats", err.Error())
		}
	}
	f := &r.folder
	f.path = path.Join(p.Dir, FolderPrefix+ledger.NewID())
	f.names = fileNames("gds", p.GPUs)
	if p.Strict {
		f.names = append(f.names, "strict")
	}
	f.names = append(f.names, fileNames("all", p.All)...)
	if r.Book != nil {
		var err error
		if f.effect, err = r.Book.Write(ledger.Effect{Kind: ledger.EffectFolder, Path: f.path, Names: f.names}); err != nil {
			return err
		}
	}
	if it := r.M.Do(ctx, host.Act{Op: host.ActMkdir, Path: f.path}); !it.OK() {
		if it.State == evidence.TimedOut || it.Stuck != 0 {
			f.made = true // it may be there yet
		} else if r.Book != nil {
			_ = r.Book.Done(f.effect)
		}
		return fmt.Errorf("make a folder for test files: %s", words(it))
	}
	f.made = true
	return r.create(ctx, fileNames("gds", p.GPUs), p.Size)
}

func (r *Runner) create(ctx context.Context, names []string, size uint64) error {
	if it := r.M.Do(ctx, host.Act{Op: host.ActCreate, Path: r.folder.path, Names: names, Size: size}); !it.OK() {
		return fmt.Errorf("make test files: %s", words(it))
	}
	return nil
}

// discard removes files that are not needed any more; a failure shows at the clean-up.
func (r *Runner) discard(names []string) {
	ctx, cancel := context.WithTimeout(context.Background(), cleanTime)
	defer cancel()
	r.M.Do(ctx, host.Act{Op: host.ActDiscard, Path: r.folder.path, Names: names})
}

func words(it evidence.Item) string {
	w := strings.TrimSpace(string(it.Err))
	if w == "" {
		w = string(it.State)
	}
	return w
}

const rwStats = "/sys/module/nvidia_fs/parameters/rw_stats_enabled"

// ioStats is the driver's switch for counting successful I/O.
func (r *Runner) ioStats(ctx context.Context) ledger.Switch {
	ctx = context.WithoutCancel(ctx) // it has to be put back after an interruption too
	return ledger.Switch{Name: "io-stats", Want: "1",
		Read: func() (string, error) {
			it := r.M.Read(ctx, rwStats, true)
			if !it.OK() {
				return "", errors.New(words(it))
			}
			return strings.TrimSpace(string(it.Out)), nil
		},
		Set: func(v string) error {
			if it := r.M.Do(ctx, host.Act{Op: host.ActWrite, Path: rwStats, Text: v + "\n"}); !it.OK() {
				return errors.New(words(it))
			}
			return nil
		}}
}

// countIO turns the driver's counting on, until the clean-up.
func (r *Runner) countIO(ctx context.Context) error {
	s := r.ioStats(ctx)
	if r.Book == nil {
		before, err := s.Read()
		if err == nil {
			err = s.Set(s.Want)
		}
		if err != nil {
			return fmt.Errorf("turn IO stats on: %w", err)
		}
		r.release = func() error { return s.Set(before) }
		return nil
	}
	before, release, err := r.Book.Hold(s)
	if err != nil {
		return fmt.Errorf("turn IO stats on: %w", err)
	}
	r.Say("IO stats of nvidia-fs are on until the end of the experiment (before: %s)", before)
	r.release = release
	return nil
}

// cleanup undoes everything, also after an interruption: it has a time of its own.
func (r *Runner) cleanup() {
	ctx, cancel := context.WithTimeout(context.Background(), cleanTime)
	defer cancel()
	if r.release != nil {
		if err := r.release(); err != nil {
			r.clean.Left = append(r.clean.Left, "IO stats are still on: "+err.Error())
		} else {
			r.clean.Removed = append(r.clean.Removed, "IO stats put back")
		}
	}
	if r.folder.made {
		it := r.M.Do(ctx, host.Act{Op: host.ActRemove, Path: r.folder.path, Names: r.folder.names})
		if it.OK() {
			r.clean.Removed = append(r.clean.Removed, r.folder.path)
			if r.Book != nil {
				_ = r.Book.Done(r.folder.effect)
			}
		} else {
			r.clean.Left = append(r.clean.Left, r.folder.path+": "+words(it))
		}
	}
	r.foreign(ctx)
}

// earlier undoes what runs of this node left that died. Nothing else is touched.
func (r *Runner) earlier(ctx context.Context) {
	if r.Book == nil {
		return
	}
	for _, e := range r.Book.Orphans() {
		if e.Kind != ledger.EffectFolder || !strings.HasPrefix(path.Base(e.Path), FolderPrefix) {
			continue
		}
		it := r.M.Do(ctx, host.Act{Op: host.ActRemove, Path: e.Path, Names: e.Names})
		if it.OK() {
			_ = r.Book.Done(e)
			r.clean.Earlier = append(r.clean.Earlier, e.Path)
			continue
		}
		r.clean.Left = append(r.clean.Left, e.Path+" of a run of "+e.Since.Format(time.RFC3339)+": "+words(it))
	}
	if done, err := r.Book.Settle(r.ioStats(ctx)); err == nil && done {
		r.clean.Earlier = append(r.clean.Earlier, "IO stats")
	}
}

// foreign lists test folders that are not ours: another node may be at work in them.
func (r *Runner) foreign(ctx context.Context) {
	if r.Plan.Dir == "" || r.Plan.CannotStart != "" {
		return
	}
	for _, n := range facts.ListedNames(r.M.List(ctx, r.Plan.Dir, true).Out) {
		if strings.HasPrefix(n, FolderPrefix) && path.Join(r.Plan.Dir, n) != r.folder.path {
			r.clean.Foreign = append(r.clean.Foreign, n)
		}
	}
}
