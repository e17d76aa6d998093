package efa

import (
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

var _ = check.Register(check.Check{
	ID:     "fstab-order",
	Title:  "fstab mounts the file system after LNet over EFA is configured",
	Why:    "A file system that is mounted before the EFA interfaces are there connects over TCP and stays there.",
	Source: "AWS FSx for Lustre User Guide, Configuring EFA clients; systemd.mount(5)",
	Step:   2,
	Examples: map[string]string{
		"p5en":                "pass",
		"p5en,fstab-no-order": "warn",
		"laptop":              "skip",
	},
	Needs: applies.EFANeeds(facts.FstabNow.Must(), facts.Asked.Must()),
	Applies: func(v check.View) (check.Answer, string) {
		if a, why := applies.OverEFA(v); a != check.Yes {
			return a, why
		}
		if f := check.Maybe(v, facts.FstabNow); f.OK && !f.V.Cut && len(lustreRows(f.V, check.Maybe(v, facts.Asked).V.FS)) == 0 {
			return check.No, "no Lustre line in /etc/fstab: it is mounted by something else"
		}
		return check.Yes, ""
	},
	Fix: []check.Fix{{
		Text:     "give the line in /etc/fstab the options that order it behind the service: " + fstabLine("FILE_SYSTEM_DNS_NAME@tcp:/MOUNT_NAME", "/fsx"),
		Commands: []string{"sudoedit /etc/fstab", "sudo systemctl daemon-reload"},
		Changes:  "a line of /etc/fstab, and when the file system is mounted at boot",
		Undo:     "put the former line back",
	}},
	Judge: func(v check.View) []check.Finding {
		rows := lustreRows(check.Get(v, facts.FstabNow), check.Get(v, facts.Asked).FS)
		if len(rows) == 0 {
			return []check.Finding{check.NotKnown("the whole of /etc/fstab", "no Lustre line in the part of /etc/fstab that was seen")}
		}
		var out []check.Finding
		for _, r := range rows {
			f := order(r)
			f.Fix = []check.Fix{{Text: "let the line in /etc/fstab be: " + fstabLine(r.Spec, r.File), Commands: []string{"sudoedit /etc/fstab", "sudo systemctl daemon-reload"},
				Changes: "a line of /etc/fstab, and when the file system is mounted at boot", Undo: "put the former line back"}}
			if len(rows) > 1 {
				f.Subject = r.File
			}
			out = append(out, check.With(f, check.Quote("/etc/fstab", r.Spec+" "+r.File+" "+r.Type+" "+strings.Join(r.Options, ","))))
		}
		return out
	},
})

// fstabLine is AWS's line: ordered behind the service, and not mounted without it.
func fstabLine(spec, dir string) string {
	return spec + " " + dir + " lustre defaults,relatime,flock,_netdev,x-systemd.automount,x-systemd.requires=" + facts.ConfigureUnitName + ",x-systemd.after=" + facts.ConfigureUnitName + " 0 0"
}

// lustreRows are the Lustre lines, or of a named file system its own.
func lustreRows(f facts.Fstab, fs string) []facts.FstabRow {
	var all, named []facts.FstabRow
	for _, r := range f.Rows {
		if r.Type != "lustre" {
			continue
		}
		all = append(all, r)
		if fs == r.File || strings.HasPrefix(fs, strings.TrimRight(r.File, "/")+"/") {
			if len(named) > 0 && len(named[0].File) > len(r.File) {
				continue // the mount below it is the one
			}
			named = []facts.FstabRow{r}
		}
	}
	if fs != "" {
		return named
	}
	return all
}

func order(r facts.FstabRow) check.Finding {
	names := func(option string) bool {
		for _, u := range r.Values(option) {
			if u == facts.ConfigureUnitName || u == strings.TrimSuffix(facts.ConfigureUnitName, ".service") {
				return true
			}
		}
		return false
	}
	var lacks []string
	if !r.Has("_netdev") {
		lacks = append(lacks, "_netdev")
	}
	noauto := r.Has("noauto")
	if !r.Has("x-systemd.automount") && !noauto {
		lacks = append(lacks, "x-systemd.automount")
	}
	requires, after := names("x-systemd.requires"), names("x-systemd.after")
	switch {
	case r.Cut:
		return check.NotKnown("the whole line of /etc/fstab", "the line of %s was not seen to its end", r.File)
	case noauto && !r.Has("x-systemd.automount"):
		return check.Pass("%s is not mounted at boot (noauto)", r.File)
	case !requires && !after:
		return check.Warn("the line of %s is not ordered behind the service: at boot the mount can come before the EFA interfaces, and then goes over TCP", r.File)
	case len(lacks) > 0:
		return check.Warn("the line of %s lacks %s", r.File, strings.Join(lacks, " and "))
	case !requires:
		return check.Pass("%s is mounted after the service, also if that failed: it then falls back to TCP silently", r.File)
	}
	return check.Pass("%s is mounted after the service, and not without it", r.File)
}
