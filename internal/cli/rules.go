package cli

import (
	"context"
	"errors"
	"strings"

	"gdsproof/internal/evidence"
	"gdsproof/internal/host"
	"gdsproof/internal/profile"
)

// rules reads the profile: the built-in one and over it the file that is named, else the default one if it is there.
// The file is read as everything on the machine is, for it may lie on a file system that hangs, or be a pipe.
func (a *app) rules(ctx context.Context) (*profile.Profile, error) {
	p, err := profile.Load("")
	if err != nil {
		return nil, err
	}
	path := a.g.profilePath
	if path == "" {
		path = profile.DefaultPath
	}
	ctx, cancel := context.WithTimeout(ctx, a.g.timeout/2)
	defer cancel()
	abs, err := absolute(path)
	if err != nil {
		return nil, usageError{err}
	}
	l, err := host.NewLive("/")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	it := l.Read(ctx, abs, false)
	switch {
	case it.State == evidence.Absent && a.g.profilePath == "":
		return p, nil
	case !it.OK():
		return nil, usageError{errors.New("read the profile " + path + ": " + strings.TrimSpace(string(it.Err)))}
	}
	p, err = p.With(path, it.Out)
	if err != nil {
		return nil, usageError{err}
	}
	return p, nil
}
