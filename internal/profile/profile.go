// Package profile is what a node is measured by: minimum and known-bad versions, instance types, known log
// lines. It is data with a source and a date in every row, built in, and replaced row by row by the user's file.
package profile

import (
	_ "embed"
	"fmt"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
)

// DefaultPath is the file that is laid over the built-in data when no other is named, if it is there.
const DefaultPath = "/etc/gdsproof/profile.yaml"

//go:embed profile.yaml
var builtin []byte

//go:embed signatures.yaml
var builtinSignatures []byte

// Profile is the whole of the data.
type Profile struct {
	Minimums   []Minimum   `yaml:"minimums"`
	KnownBad   []KnownBad  `yaml:"known_bad"`
	Instances  []Instance  `yaml:"instances"`
	Signatures []Signature `yaml:"signatures"`
	Knowledge  []Entry     `yaml:"knowledge"` // of the user's file; Entries has the built-in ones too
}

// Origin is where a row comes from.
type Origin struct {
	Source string `yaml:"source"`
	Date   string `yaml:"date"`
}

// Minimum is the least version of a thing, for a use.
type Minimum struct {
	What    string  `yaml:"what"` // nvidia-fs, efa, lustre-client, kefalnd
	For     string  `yaml:"for"`  // fsx-lustre, open-kernel-modules, or an instance family
	Version Version `yaml:"version"`
	Origin  `yaml:",inline"`
}

// Version is a version as text. YAML takes an unquoted 2.30 for the number 2.3, so such a one is refused.
type Version string

// UnmarshalYAML gets the text of the node as it stands in the file.
func (v *Version) UnmarshalYAML(b []byte) error {
	s := strings.TrimSpace(string(b))
	if unquoted := strings.Trim(s, `"'`); unquoted != s {
		*v = Version(unquoted)
		return nil
	}
	if strings.Count(s, ".") < 2 {
		return fmt.Errorf("version %s: quote it, YAML takes it for a number", s)
	}
	*v = Version(s)
	return nil
}

// KnownBad is a range of versions with a known fault: From <= version < Below.
type KnownBad struct {
	ID     string  `yaml:"id"`
	What   string  `yaml:"what"`
	From   Version `yaml:"from,omitempty"`
	Below  Version `yaml:"below"`
	When   string  `yaml:"when,omitempty"` // multi-domain: only hosts whose PCI devices are in several domains
	Text   string  `yaml:"text"`
	Fix    string  `yaml:"fix"`
	Origin `yaml:",inline"`
}

// Instance is an instance type.
type Instance struct {
	Type      string `yaml:"type"`
	GPUs      int    `yaml:"gpus"`
	GPU       string `yaml:"gpu"`
	EFA       int    `yaml:"efa"`
	NIDefault int    `yaml:"ni_default"`          // LNet NIs that the set-up adds without --optimized-for-gds
	NIGDS     int    `yaml:"ni_gds,omitempty"`    // with it; 0 where GDS over EFA is not offered
	GDS       bool   `yaml:"gds"`                 // AWS offers Lustre GDS over EFA on it
	PeerDevs  int    `yaml:"peer_devs,omitempty"` // NVFS_MAX_PEER_DEVS that AWS asks for
	Gbps      int    `yaml:"gbps"`
	Origin    `yaml:",inline"`
}

// Signature is a known line of the kernel log.
type Signature struct {
	ID      string   `yaml:"id"`
	Match   []string `yaml:"match"`            // all of them, case-insensitive
	Not     []string `yaml:"not,omitempty"`    // none of them
	Check   string   `yaml:"check,omitempty"`  // the check that judges it; kernel-log if empty
	Level   string   `yaml:"level"`            // info, warn, fail
	Weight  int      `yaml:"weight,omitempty"` // see Entry; from the level if it is 0
	Meaning string   `yaml:"meaning"`
	Remedy  string   `yaml:"remedy"`
	Origin  `yaml:",inline"`
}

// Load returns the built-in data with the rows of a file laid over it; an empty path is no file.
func Load(path string) (*Profile, error) {
	p, err := parse("built-in profile", builtin)
	if err != nil {
		return nil, err
	}
	s, err := parse("built-in signatures", builtinSignatures)
	if err != nil {
		return nil, err
	}
	p.overlay(s)
	if path == "" {
		return p, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return p.With(path, b)
}

// With lays the rows of a file's text over the profile.
func (p *Profile) With(name string, b []byte) (*Profile, error) {
	over, err := parse(name, b)
	if err != nil {
		return nil, err
	}
	p.overlay(over)
	return p, nil
}

func parse(name string, b []byte) (*Profile, error) {
	var p Profile
	if len(strings.TrimSpace(string(b))) == 0 {
		return &p, nil
	}
	if err := yaml.UnmarshalWithOptions(b, &p, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return &p, nil
}

// overlay replaces rows of the same key and appends the others.
func (p *Profile) overlay(o *Profile) {
	p.Minimums = merge(p.Minimums, o.Minimums, func(r Minimum) string { return r.What + " for " + r.For })
	p.KnownBad = merge(p.KnownBad, o.KnownBad, func(r KnownBad) string { return r.ID })
	p.Instances = merge(p.Instances, o.Instances, func(r Instance) string { return r.Type })
	p.Signatures = merge(p.Signatures, o.Signatures, func(r Signature) string { return r.ID })
	p.Knowledge = merge(p.Knowledge, o.Knowledge, func(r Entry) string { return r.ID })
}

func merge[T any](base, over []T, key func(T) string) []T {
	out := append([]T(nil), base...)
	for _, o := range over {
		found := false
		for i := range out {
			if key(out[i]) == key(o) {
				out[i], found = o, true
			}
		}
		if !found {
			out = append(out, o)
		}
	}
	return out
}

// Minimum returns the least version of a thing for a use.
func (p *Profile) Minimum(what, use string) (Minimum, bool) {
	for _, m := range p.Minimums {
		if m.What == what && m.For == use {
			return m, true
		}
	}
	return Minimum{}, false
}

// Instance returns the row of an instance type.
func (p *Profile) Instance(typ string) (Instance, bool) {
	for _, i := range p.Instances {
		if i.Type == typ {
			return i, true
		}
	}
	return Instance{}, false
}
