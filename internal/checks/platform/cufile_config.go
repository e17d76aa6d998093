package platform

import (
	"fmt"
	"strconv"
	"strings"

	"gdsproof/internal/check"
	"gdsproof/internal/checks/applies"
	"gdsproof/internal/facts"
)

// edit changes a value in the file that has it: libcufile reads two, and an edit of the other one is in vain.
func edit(file, to string) check.Fix {
	word := check.ShellWord(file)
	return check.Fix{
		Text:     to + " in " + file + "; programs read it when they start. Then: gdsproof check --only cufile-config",
		Commands: []string{"sudo cp -p " + word + " " + word + ".before", "sudoedit " + word},
		Changes:  "cuFile's configuration for every program that reads this file and starts after it",
		Undo:     "sudo cp -p " + word + ".before " + word,
	}
}

// unset takes a variable out of the environment, which beats every file.
func unset(name string) check.Fix {
	return check.Fix{
		Text:     "take " + name + " out of the environment that programs start with: the shell's profile, the job's script, the container",
		Commands: []string{"unset " + name, "gdsproof check --only cufile-config"},
		Changes:  "what programs that start in this shell see",
		Undo:     "export " + name + "=true",
	}
}

// stockGDSMin is the size below which the documents of some releases send I/O of Lustre through the CPU; 4 KiB is one
// page and harms nothing.
const stockGDSMin = 4

// refusedFile is the subject of a file that keeps libcufile's driver from opening: there is no report then. What the
// other findings are about leaves the report whole.
const refusedFile = "file"

var _ = check.Register(check.Check{
	ID:     "cufile-config",
	Title:  "cuFile's configuration lets I/O take the GDS path",
	Why:    "One key, or one variable of the environment, sends everything through the CPU; and a file that does not parse keeps libcufile's driver from opening.",
	Source: "NVIDIA GDS Configuration Guide; libcufile 1.15.1, measured with each form of the file",
	Step:   3,
	Examples: map[string]string{
		"p5en":                    "pass",
		"p5en,compat-forced":      "fail",
		"p5en,cufile-json-broken": "fail",
		"p5en,rdma-write-off":     "warn",
		"laptop":                  "skip",
	},
	Needs:   applies.GPUNeeds(facts.CufileConfig.Want(), facts.Platform.Want(), facts.RowsInQuestion.Must(), facts.Asked.Must(), facts.Mounts.Want(), facts.CUDAHome.Want()),
	Applies: applies.OnGPUNode,
	Fix:     []check.Fix{edit(facts.CufileEtc, "change the value")},
	Judge: func(v check.View) []check.Finding {
		config, p := check.Maybe(v, facts.CufileConfig), check.Maybe(v, facts.Platform)
		if !config.OK && !p.OK {
			return []check.Finding{check.NotKnown(config.Need, "%s", config.Why)}
		}
		c := config.V // of a report alone nothing: what it prints is the effective value then
		if f, bad := c.Refused(); bad {
			line := check.Quote(f.Path, fmt.Sprintf("line %d: %s", f.JSON.Line, f.JSON.Reason))
			// Its driver opened all the same: for another environment, before an edit, or in a release that reads it.
			if p.OK && p.V.VerifiedOK.OK && p.V.VerifiedOK.V {
				u := check.NotKnown("gdscheck -p in the environment of the programs, now", "libcufile 1.15.1 refuses line %d of %s (%s), and yet the platform verification succeeded", f.JSON.Line, f.Path, f.JSON.Reason)
				u.Subject = refusedFile
				return []check.Finding{check.With(u, line, quote(p.V, p.V.VerifiedLine))}
			}
			fail := check.Fail("libcufile refuses %s: line %d, %s; its driver does not open (-22)", f.Path, f.JSON.Line, f.JSON.Reason)
			if f.JSON.Dies {
				fail.Summary = fmt.Sprintf("libcufile ends the process over %s: line %d, %s", f.Path, f.JSON.Line, f.JSON.Reason)
			}
			fail.Subject, fail.Fix = refusedFile, []check.Fix{edit(f.Path, fmt.Sprintf("mend line %d (%s)", f.JSON.Line, f.JSON.Reason))}
			return []check.Finding{check.With(fail, line)}
		}
		var out []check.Finding
		say := func(f check.Finding, subject string, val facts.CufileValue) {
			f.Subject = subject
			switch {
			case strings.HasPrefix(val.Origin, "CUFILE_"):
				f.Fix = []check.Fix{unset(val.Origin)}
			case strings.HasPrefix(val.Origin, "/"):
				f.Fix = []check.Fix{edit(val.Origin, wanted(subject))}
			}
			out = append(out, check.With(f, check.Quote(val.Origin, subject+": "+val.Value)))
		}
		unsure := ""
		get := func(name string) facts.CufileValue {
			val := value(c, p, name)
			if !val.Sure && unsure == "" {
				unsure = name
			}
			return val
		}
		if force := get("properties.force_compat_mode"); force.Value == "true" {
			say(check.Fail("force_compat_mode is true (%s): everything goes through the CPU", force.Origin), "properties.force_compat_mode", force)
		}
		if hit, val, origin, ok := denied(v, c); ok {
			say(check.Fail("the denylist of %s takes GDS from %s", origin, hit), val.Name, facts.CufileValue{Value: val.Value, Origin: origin})
		}
		if write := get("properties.gds_rdma_write_support"); write.Value == "false" {
			say(check.Warn("gds_rdma_write_support is false (%s): writes to file systems over RDMA go through the CPU", write.Origin), "properties.gds_rdma_write_support", write)
		}
		min := get("fs.lustre.posix_gds_min_kb")
		if n, err := strconv.ParseUint(min.Value, 10, 64); err == nil && n > stockGDSMin && isLustre(v) {
			say(check.Warn("fs.lustre.posix_gds_min_kb is %d (%s): smaller I/O to Lustre goes through the CPU", n, min.Origin), "fs.lustre.posix_gds_min_kb", min)
		}
		if f, never := unread(v, c, p); never {
			out = append(out, f)
		} else if f, gone := namesNothing(c); gone {
			out = append(out, f)
		}
		if len(out) > 0 {
			return out
		}
		allow, p2p := get("properties.allow_compat_mode"), get("properties.use_pci_p2pdma")
		if unsure != "" {
			return []check.Finding{check.NotKnown("the environment of the program and its cufile.json", "nothing in cuFile's configuration forbids GDS as far as it was seen; %s may be set elsewhere", unsure)}
		}
		text := "GDS is allowed"
		if allow.Value == "true" {
			text += "; compat mode is allowed too (" + allow.Origin + "), which is the default and why throughput proves nothing"
		} else {
			text += "; compat mode is not allowed (" + allow.Origin + "): what cannot take GDS fails instead of going through the CPU"
		}
		if p2p.Value == "false" {
			text += "; use_pci_p2pdma is false, which is right with nvidia-fs"
		}
		// The documents promise 1, yes and on; measured, libcufile hears true and false alone.
		if force := get("properties.force_compat_mode"); force.Ignored != "" {
			text += "; " + force.Ignored + " is passed over by libcufile 1.15.1, and another release may hear it"
		}
		return []check.Finding{check.With(check.Pass("%s", text), check.Quote(allow.Origin, "properties.allow_compat_mode: "+allow.Value), check.Quote(p2p.Origin, "properties.use_pci_p2pdma: "+p2p.Value))}
	},
})

// wanted is what to do with a key that keeps I/O from GDS.
func wanted(key string) string {
	switch key {
	case "properties.force_compat_mode":
		return "set force_compat_mode to false"
	case "properties.gds_rdma_write_support":
		return "set gds_rdma_write_support to true"
	case "fs.lustre.posix_gds_min_kb":
		return fmt.Sprintf("set posix_gds_min_kb to %d or less", stockGDSMin)
	}
	if strings.HasPrefix(key, "denylist.") {
		return "take the entry out of " + key
	}
	return "change " + key
}

// value is the effective value: what the report prints is what libcufile took; the files and variables tell where it
// comes from.
func value(c facts.CufileSetup, p facts.Known[facts.PlatformReport], name string) facts.CufileValue {
	val, ok := c.Effective(name, "")
	if !ok {
		val = facts.CufileValue{Origin: facts.CufileFromBuiltIn}
	}
	key, _ := facts.CufileKeyOf(name)
	shown := key.Shown
	if shown == "" {
		shown = name
	}
	if !p.OK {
		return val
	}
	printed, ok := p.V.Setting(shown)
	printed = word(key, printed)
	switch {
	case !ok: // a release that prints its configuration without the key has no such switch
		val.Sure = val.Sure || p.V.Whole(facts.GDSConfig) && !p.V.Partial
	case printed != val.Value || !c.EnvKnown && !c.Etc.Read:
		return facts.CufileValue{Value: printed, Origin: p.V.Source, Sure: true}
	default:
		val.Sure = true
	}
	return val
}

// word is a printed value as the file would have it: the betas print switches as 1 and 0, and some are so printed today.
func word(key facts.CufileKey, printed string) string {
	switch {
	case key.Kind == facts.CufileBool && printed == "1":
		return "true"
	case key.Kind == facts.CufileBool && printed == "0":
		return "false"
	}
	return strings.ToLower(printed)
}

// changed tells whether the report shows a value that is not the built-in one: then a file or a variable was read.
func changed(r facts.PlatformReport) bool {
	for _, k := range facts.CufileKeys {
		name := k.Name
		if k.Shown != "" {
			name = k.Shown
		}
		if printed, ok := r.Setting(name); ok && k.BuiltIn != "" && word(k, printed) != strings.ToLower(k.BuiltIn) {
			return true
		}
	}
	return false
}

func isLustre(v check.View) bool {
	return strings.HasPrefix(strings.ToLower(check.Get(v, facts.RowsInQuestion).What), "lustre")
}

// denied tells whether the denylist names the file system in question.
func denied(v check.View, c facts.CufileSetup) (what string, setting facts.CufileSetting, origin string, ok bool) {
	m := check.Maybe(v, facts.Mounts)
	if !m.OK {
		return "", facts.CufileSetting{}, "", false
	}
	var mounts []facts.Mount
	if fs := check.Get(v, facts.Asked).FS; fs != "" {
		if mt, found := m.V.At(fs); found {
			mounts = append(mounts, mt)
		}
	} else {
		mounts = m.V.OfType("lustre")
		for _, typ := range []string{"wekafs", "gpfs", "beegfs", "scatefs"} { // as RowsInQuestion names them: "wekafs on /mnt"
			if strings.HasPrefix(check.Get(v, facts.RowsInQuestion).What, typ) {
				mounts = m.V.OfType(typ)
			}
		}
	}
	lists := map[string]func(facts.Mount, string) bool{
		"denylist.filesystems": func(m facts.Mount, s string) bool { return m.Type == s },
		"denylist.mounts": func(m facts.Mount, s string) bool {
			s = strings.TrimRight(s, "/")
			return s != "" && (m.Dir == s || strings.HasPrefix(m.Dir, s+"/"))
		},
		"denylist.devices": func(m facts.Mount, s string) bool { return m.Source == s },
		"denylist.drivers": func(m facts.Mount, s string) bool { // Lustre registers with nvidia-fs as lnet
			return s == m.Type || m.Type == "lustre" && s == "lnet"
		},
	}
	for _, name := range []string{"denylist.filesystems", "denylist.mounts", "denylist.devices", "denylist.drivers"} {
		list, origin := denylist(c, name)
		for _, s := range list.List {
			for _, mt := range mounts {
				if s != "" && lists[name](mt, s) {
					list.Value = s
					return mt.Dir + " (" + name + ": " + s + ")", list, origin, true
				}
			}
		}
	}
	return "", facts.CufileSetting{}, "", false
}

// denylist is a list of the file that has it with more weight.
func denylist(c facts.CufileSetup, name string) (facts.CufileSetting, string) {
	files := []facts.CufileFile{c.Etc}
	if c.Named != nil {
		files = []facts.CufileFile{*c.Named, c.Etc}
	}
	for _, f := range files {
		if f.Read && f.JSON.Accepted {
			if s, ok := f.JSON.Get(name); ok {
				return s, f.Path
			}
		}
	}
	return facts.CufileSetting{Name: name}, ""
}
