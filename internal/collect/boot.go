package collect

import (
	"context"
	"fmt"
	"path"
	"strings"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
)

// Folders and files where something can say that a module is loaded at boot.
var (
	bootDirs = []string{
		"/etc/modules-load.d", "/run/modules-load.d", "/usr/lib/modules-load.d", "/lib/modules-load.d",
		"/etc/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d", "/etc/dracut.conf.d", "/usr/lib/dracut/dracut.conf.d",
		"/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system", "/run/systemd/system",
		"/var/lib/cloud/scripts/per-boot", "/etc/cron.d", "/etc/rc.local.d", "/etc/init.d",
	}
	bootFiles = []string{"/etc/modules", "/etc/initramfs-tools/modules", "/etc/dracut.conf", "/etc/rc.local", "/etc/rc.d/rc.local"}
)

func init() {
	register(Probe{"boot-config", "the lines that name nvidia-fs in modules-load.d, modprobe.d, initramfs lists, units and boot scripts", bootProbe})
}

// bootProbe keeps the lines that name nvidia-fs, and which of the units that do are enabled.
func bootProbe(ctx context.Context, g *Gatherer) {
	out := evidence.Item{Source: facts.BootSearchSource, Form: evidence.Whole, State: evidence.Present}
	var b, bad strings.Builder
	seen := map[string]bool{} // /lib and /usr/lib are often the same folder
	units := map[string]bool{}
	read := func(p string) {
		it := g.Host.Read(ctx, p, false)
		switch it.State {
		case evidence.Present:
			for line := range strings.Lines(string(it.Out)) {
				if strings.Contains(line, "nvidia-fs") || strings.Contains(line, "nvidia_fs") {
					text := fmt.Sprintf("%s: %s\n", p, strings.TrimSpace(line))
					if key := path.Base(path.Dir(p)) + "/" + path.Base(p) + line; !seen[key] {
						seen[key] = true
						b.WriteString(text)
						if strings.HasSuffix(p, ".service") {
							units[path.Base(p)] = true
						}
					}
				}
			}
		case evidence.Denied:
			out.Truncated = true
			fmt.Fprintf(&bad, "%s: permission denied\n", p)
		}
	}
	looked := false
	for _, d := range bootDirs {
		list := g.Host.List(ctx, d, false)
		switch list.State {
		case evidence.Present:
			looked = true
		case evidence.Denied:
			out.Truncated = true
			fmt.Fprintf(&bad, "%s: permission denied\n", d)
		}
		for _, n := range names(list) {
			read(path.Join(d, n))
		}
	}
	for _, f := range bootFiles {
		read(f)
	}
	// An enabled unit is linked from a .wants or .requires folder; units can also be linked from there alone.
	for _, d := range []string{"/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"} {
		for line := range strings.Lines(string(g.Host.List(ctx, d, false).Out)) {
			n := strings.TrimSpace(line)
			if !strings.HasSuffix(n, ".wants/") && !strings.HasSuffix(n, ".requires/") {
				continue
			}
			for _, u := range names(g.Host.List(ctx, path.Join(d, n), false)) {
				if units[u] {
					units[u] = false
					fmt.Fprintf(&b, "enabled %s: in %s\n", u, path.Join(d, strings.TrimSuffix(n, "/")))
				}
			}
		}
	}
	if !looked {
		out.State, out.Err = evidence.Absent, []byte("none of the folders of boot configuration is there")
		g.Add(out)
		return
	}
	out.Out, out.Err = []byte(b.String()), []byte(bad.String())
	g.Add(out)
}
