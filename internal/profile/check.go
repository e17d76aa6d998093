package profile

import (
	"fmt"
	"strings"
	"time"
)

// check finds rows that would be dead or that lie about where they come from: a typing error in a profile must
// not silently switch a judgement off.
func (p *Profile) check() error {
	for _, m := range p.Minimums {
		if m.What == "" || m.For == "" || m.Version == "" {
			return fmt.Errorf("minimums: a row needs what, for and version: %+v", m)
		}
		if err := versionOK(string(m.Version)); err != nil {
			return fmt.Errorf("minimums %s for %s: %w", m.What, m.For, err)
		}
		if err := m.ok("minimums " + m.What); err != nil {
			return err
		}
	}
	for _, k := range p.KnownBad {
		if k.ID == "" || k.What == "" || k.Below == "" || k.Text == "" {
			return fmt.Errorf("known_bad: a row needs id, what, below and text: %+v", k)
		}
		if k.When != "" && k.When != "multi-domain" {
			return fmt.Errorf("known_bad %s: when: %q is no condition", k.ID, k.When)
		}
		for _, v := range []string{string(k.From), string(k.Below)} {
			if v != "" {
				if err := versionOK(v); err != nil {
					return fmt.Errorf("known_bad %s: %w", k.ID, err)
				}
			}
		}
		if err := k.ok("known_bad " + k.ID); err != nil {
			return err
		}
	}
	for _, i := range p.Instances {
		if i.Type == "" || i.GPUs < 0 || i.EFA < 0 {
			return fmt.Errorf("instances: a row needs a type and counts that are not negative: %+v", i)
		}
		if i.GDS && i.NIGDS == 0 {
			return fmt.Errorf("instances %s: gds is true and ni_gds is not given", i.Type)
		}
		if err := i.ok("instances " + i.Type); err != nil {
			return err
		}
	}
	for _, s := range p.Signatures {
		if s.ID == "" || len(s.Match) == 0 || s.Meaning == "" {
			return fmt.Errorf("signatures: a row needs id, match and meaning: %+v", s)
		}
		for _, m := range s.Match {
			if strings.TrimSpace(m) == "" {
				return fmt.Errorf("signatures %s: an empty match fits every line", s.ID)
			}
		}
		if s.Level != "info" && s.Level != "warn" && s.Level != "fail" {
			return fmt.Errorf("signatures %s: level: %q is none of info, warn, fail", s.ID, s.Level)
		}
		if s.Weight < 0 || s.Weight > maxWeight {
			return fmt.Errorf("signatures %s: weight: %d is not in 1 to %d", s.ID, s.Weight, maxWeight)
		}
		if err := s.ok("signatures " + s.ID); err != nil {
			return err
		}
	}
	for _, k := range p.Knowledge {
		if err := k.check(); err != nil {
			return err
		}
	}
	return nil
}

func (o Origin) ok(row string) error {
	if strings.TrimSpace(o.Source) == "" {
		return fmt.Errorf("%s: no source", row)
	}
	if _, err := time.Parse("2006-01-02", o.Date); err != nil {
		return fmt.Errorf("%s: date: %q is not of the form 2006-01-02", row, o.Date)
	}
	return nil
}

func versionOK(v string) error {
	for _, part := range strings.Split(v, ".") {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return fmt.Errorf("version: %q is not numbers with dots (quote it in the file)", v)
		}
	}
	return nil
}
