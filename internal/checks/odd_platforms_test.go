package checks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

// TestOddPlatforms are reports and configurations that are easily misjudged, each on an otherwise sound node.
func TestOddPlatforms(t *testing.T) {
	printed := ""
	for _, it := range look(t, "p5en").Items {
		if it.Source == "gdscheck -p" {
			printed = string(it.Out)
		}
	}
	swap := func(from, to string) *evidence.Item {
		if !strings.Contains(printed, from) {
			t.Fatalf("the report has no %q", from)
		}
		return text(strings.ReplaceAll(printed, from, to))
	}
	unset := ""
	for line := range strings.Lines(printed) {
		for _, k := range facts.CufileKeys {
			if k.BuiltIn != "" && strings.HasPrefix(strings.TrimSpace(line), k.Name+" :") {
				line = " " + k.Name + " : " + k.BuiltIn + "\n"
			}
		}
		unset += line
	}
	oneGPU := func() *evidence.Item {
		var b strings.Builder
		for line := range strings.Lines(printed) {
			if strings.Contains(line, "GPU index ") && !strings.Contains(line, "GPU index 0 ") {
				continue
			}
			b.WriteString(line)
		}
		return text(b.String())
	}
	none := state(evidence.Absent, "ENOENT", "")
	force := `{"properties":{"force_compat_mode":true}}`
	open := func(answer string) change {
		return change{"gdscheck -p": none, facts.CufileOpenSource: text(answer)}
	}
	builtIn := func(c change) change {
		c["gdscheck -p"] = none
		return c
	}
	for name, c := range map[string]struct {
		change change
		id     string
		want   report.Status
		says   string // in a summary or in a command of the fix
	}{
		"one of eight GPUs":                       {change{"gdscheck -p": oneGPU()}, "platform-gpus", report.Fail, "1 GPUs support GDS"},
		"one of eight, by CUDA_VISIBLE_DEVICES":   {change{"gdscheck -p": oneGPU(), facts.CallerEnvironment: text("CUDA_VISIBLE_DEVICES=0\n")}, "platform-gpus", report.Pass, "visible here"},
		"one of eight, and all asked for":         {change{"gdscheck -p": oneGPU(), facts.CallerEnvironment: text("NVIDIA_VISIBLE_DEVICES=all\n")}, "platform-gpus", report.Fail, "1 GPUs support GDS"},
		"P2PDMA is no path for Lustre":            {change{"gdscheck -p": swap("DDN EXAScaler      : Supported", "DDN EXAScaler      : p2pdma")}, "platform-storage", report.Fail, "p2pdma"},
		"the driver does not open":                {open(`{"library":"libcufile.so.0","loaded":true,"open":5011,"cuda":100}`), "platform-verification", report.Fail, "error 5011 with CUDA error 100"},
		"the number can be asked for":             {open(`{"library":"libcufile.so.0","loaded":true,"open":-22}`), "platform-verification", report.Fail, "gdsproof explain -- -22"},
		"it opens and no report is there":         {open(`{"library":"libcufile.so.0","loaded":true,"open":0}`), "platform-verification", report.Unknown, ""},
		"the fix is of the named file":            {builtIn(change{facts.CallerEnvironment: text("CUFILE_ENV_PATH_JSON=/data/mine.json\n"), "/data/mine.json": text(force)}), "cufile-config", report.Fail, "sudoedit /data/mine.json"},
		"the fix is of the named file, with care": {builtIn(change{facts.CallerEnvironment: text("CUFILE_ENV_PATH_JSON=/data/my own.json\n"), "/data/my own.json": text(force)}), "cufile-config", report.Fail, "sudoedit '/data/my own.json'"},
		"a refused file is named too":             {change{facts.CallerEnvironment: text("CUFILE_ENV_PATH_JSON=/data/mine.json\n"), "/data/mine.json": text("{"), "gdscheck -p": none}, "cufile-config", report.Fail, "sudoedit /data/mine.json"},
		"a refused file, and a verified report":   {change{facts.CufileEtc: text("{")}, "cufile-config", report.Unknown, "and yet the platform verification succeeded"},
		"a denylist of the named file":            {change{facts.CallerEnvironment: text("CUFILE_ENV_PATH_JSON=/data/mine.json\n"), "/data/mine.json": text(`{"denylist":{"filesystems":["lustre"]}}`)}, "cufile-config", report.Fail, "the denylist of /data/mine.json"},
		"a denied mount with a slash":             {change{facts.CufileEtc: text(`{"denylist":{"mounts":["/fsx/"]}}`)}, "cufile-config", report.Fail, "denylist.mounts: /fsx/"},
		"a file that sets other keys is read":     {builtIn(change{facts.CufileEtc: text(`{"properties":{"allow_compat_mode":true}}`)}), "cufile-config", report.Pass, "GDS is allowed"},
		"a file that is not there":                {builtIn(change{facts.CufileEtc: none, facts.CallerEnvironment: text("")}), "cufile-config", report.Warn, "cp --no-clobber"},
		"a file that is there and denied":         {change{"gdscheck -p": text(unset), facts.CufileEtc: state(evidence.Denied, "EACCES", "permission denied")}, "cufile-config", report.Warn, "chmod a+r"},
		"the same values, the file not looked at": {change{"gdscheck -p": text(unset), facts.CufileEtc: nil}, "cufile-config", report.Warn, "no cufile.json is read"},
		"the same values, and the file is read":   {change{"gdscheck -p": text(unset)}, "cufile-config", report.Pass, "GDS is allowed"},
		"a file that is not to be read":           {builtIn(change{facts.CufileEtc: state(evidence.Denied, "EACCES", "permission denied")}), "cufile-config", report.Unknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			fs := of(judge(t, with(t, "p5en", c.change)), c.id)
			if len(fs) == 0 || worst(fs, c.id) != c.want {
				t.Fatalf("want %s: %+v", c.want, fs)
			}
			said := ""
			for _, f := range fs {
				said += f.Summary + "\n"
				for _, x := range f.Fix {
					said += strings.Join(x.Commands, "\n") + "\n"
				}
			}
			if !strings.Contains(said, c.says) {
				t.Errorf("%q is not in:\n%s", c.says, said)
			}
		})
	}
}

// TestIOMMUCommand: the last word of the kernel's command line counts, so the fix takes the former ones out and puts
// its own behind, whatever quotes the file has. The file is a shell's, and is read by one here.
func TestIOMMUCommand(t *testing.T) {
	var script []string
	for _, f := range of(judge(t, look(t, "p5en,iommu-on")), "platform-iommu") {
		for _, c := range f.Fix[0].Commands {
			if strings.Contains(c, "sed ") || strings.HasPrefix(c, "echo ") {
				script = append(script, strings.ReplaceAll(strings.ReplaceAll(c, "sudo ", ""), "/etc/default/grub", "grub"))
			}
		}
	}
	if len(script) != 2 {
		t.Fatalf("%q", script)
	}
	for file, want := range map[string]string{
		"GRUB_CMDLINE_LINUX_DEFAULT=\"quiet iommu=pt\"\nGRUB_CMDLINE_LINUX=\"intel_iommu=on console=ttyS0\"\nGRUB_TIMEOUT=\"0\"\n": "quiet| console=ttyS0 amd_iommu=off intel_iommu=off|0",
		"GRUB_CMDLINE_LINUX=''\n":                     "| amd_iommu=off intel_iommu=off|",
		"GRUB_CMDLINE_LINUX=\n":                       "| amd_iommu=off intel_iommu=off|",
		"GRUB_CMDLINE_LINUX=\"a iommu=pt\"  # note\n": "|a amd_iommu=off intel_iommu=off|",
		"GRUB_CMDLINE_LINUX='iommu=pt,strict b'\n":    "| b amd_iommu=off intel_iommu=off|",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "grub"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		sh := exec.Command("sh", "-c", strings.Join(script, "\n")+" >/dev/null; . ./grub; echo \"$GRUB_CMDLINE_LINUX_DEFAULT|$GRUB_CMDLINE_LINUX|$GRUB_TIMEOUT\"")
		sh.Dir = dir
		if out, err := sh.CombinedOutput(); err != nil || string(out) != want+"\n" {
			t.Errorf("%q gives %q, want %q (%v)", file, out, want, err)
		}
	}
}
