package efa

import (
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

// mountAnew names the file system by hand; mountBy takes fstab's line where there is one.
func mountAnew(dir string) check.Fix {
	dir = check.ShellWord(dir)
	return check.Fix{
		Text:     "mount the file system; the address in the command is named with @tcp also where the data goes over EFA",
		Commands: []string{"sudo mkdir -p " + dir, "sudo mount -t lustre -o relatime,flock FILE_SYSTEM_DNS_NAME@tcp:/MOUNT_NAME " + dir},
		Changes:  "mounts the file system",
		Undo:     "sudo umount " + dir,
	}
}

func mountBy(v check.View, fs string) check.Fix {
	if f := check.Maybe(v, facts.FstabNow); f.OK {
		for _, r := range f.V.Rows {
			if r.Type == "lustre" && (fs == "" || fs == r.File || strings.HasPrefix(fs, strings.TrimRight(r.File, "/")+"/")) {
				dir := check.ShellWord(r.File)
				return check.Fix{Text: "mount what fstab names", Commands: []string{"sudo mount " + dir}, Changes: "mounts the file system", Undo: "sudo umount " + dir}
			}
		}
	}
	if fs == "" {
		fs = "/fsx"
	}
	return mountAnew(fs)
}

var _ = check.Register(check.Check{
	ID:     "lustre-mounted",
	Title:  "The file system is mounted as Lustre",
	Why:    "GDS over EFA is asked for on a mounted Lustre file system; a folder in its place is a slow disk.",
	Source: "AWS FSx for Lustre User Guide; mount.lustre(8)",
	Step:   2,
	Gate:   true,
	Examples: map[string]string{
		"p5en":                    "pass",
		"p5en,lustre-not-mounted": "fail",
		"laptop":                  "skip",
	},
	After:   []string{"lustre-client"},
	Needs:   applies.LustreNeeds(facts.Mounts.Must(), facts.Asked.Must(), facts.FstabNow.Want()),
	Applies: applies.WithLustre,
	Fix:     []check.Fix{mountAnew("/fsx")},
	Judge: func(v check.View) []check.Finding {
		t, asked := check.Get(v, facts.Mounts), check.Get(v, facts.Asked)
		list := t.OfType("lustre")
		if asked.FS != "" {
			m, ok := t.At(asked.FS)
			if ok && m.Type == "autofs" {
				return []check.Finding{waits(m)}
			}
			if m.Type != "lustre" && t.Cut {
				return cutTable("no Lustre mount holds " + asked.FS)
			}
			if !ok || m.Type != "lustre" {
				what := "nothing is"
				if ok {
					what = m.Dir + " (" + m.Type + ") is"
				}
				f := check.With(check.Fail("%s is not on a Lustre mount: %s mounted there", asked.FS, what), check.Quote(facts.MountinfoSource, "no lustre mount holds "+asked.FS))
				f.Fix = []check.Fix{mountBy(v, asked.FS)}
				return []check.Finding{f}
			}
			list = []facts.Mount{m}
		}
		if len(list) == 0 && t.Cut {
			return cutTable("no Lustre file system is mounted")
		}
		if len(list) == 0 {
			if row, ok := fstabRow(v); ok {
				if m, found := t.At(row.File); found && m.Type == "autofs" && m.Dir == strings.TrimRight(row.File, "/") {
					return []check.Finding{waits(m)}
				}
			}
			f := check.With(check.Fail("no Lustre file system is mounted"), check.Quote(facts.MountinfoSource, "no line of type lustre"))
			f.Fix = []check.Fix{mountBy(v, "")}
			return []check.Finding{f}
		}
		var out []check.Finding
		for _, m := range list {
			f := check.Pass("%s is %s (an address with @tcp is how the file system is named, not the way that data takes)", m.Dir, m.Source)
			if !strings.Contains(m.Source, "@tcp") {
				f.Summary = m.Dir + " is " + m.Source
			}
			if m.Options != "" && !hasOption(m.Options, "flock") && !hasOption(m.Options, "localflock") {
				f.Summary += "; mounted without flock, which programs that lock files want"
			}
			f.Subject = m.Dir
			if len(list) == 1 {
				f.Subject = ""
			}
			out = append(out, check.With(f, check.Quote(facts.MountinfoSource, m.Source+" "+m.Dir+" "+m.Type+" "+m.Options)))
		}
		return out
	},
})

func cutTable(what string) []check.Finding {
	return []check.Finding{check.NotKnown("the whole of "+facts.MountinfoSource, "%s in the part of the mount table that was seen", what)}
}

// waits: an automount point mounts at the first access, which looking must not be.
func waits(m facts.Mount) check.Finding {
	f := check.NotKnown("ls "+m.Dir+", which mounts it; then look again", "an automount on %s waits for its first access", m.Dir)
	return check.With(f, check.Quote(facts.MountinfoSource, m.Source+" "+m.Dir+" "+m.Type))
}

func hasOption(options, want string) bool {
	for _, o := range strings.Split(options, ",") {
		if o == want {
			return true
		}
	}
	return false
}

func fstabRow(v check.View) (facts.FstabRow, bool) {
	if f := check.Maybe(v, facts.FstabNow); f.OK {
		for _, r := range f.V.Rows {
			if r.Type == "lustre" {
				return r, true
			}
		}
	}
	return facts.FstabRow{}, false
}
