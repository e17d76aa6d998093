package collect

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
	"gdsproof/internal/host"
)

func init() {
	register(Probe{"lnet", "lnetctl net show -v 4, once more a second later if messages were dropped; peer show, udsp show, global show", lnetProbe})
	register(Probe{"efa-devices", "the driver and PCI device of everything in /sys/class/infiniband", efaDevicesProbe})
	register(Probe{"efa-driver", "/sys/module/efa/version, modinfo efa", func(ctx context.Context, g *Gatherer) {
		g.Read(ctx, facts.EFAModuleVersion)
		g.Add(g.Host.Run(ctx, host.Command{Argv: []string{"modinfo", "efa"}}))
	}})
	register(Probe{"lustre-client", "modinfo lustre, modinfo kefalnd, /sys/fs/lustre/version, lfs --version", func(ctx context.Context, g *Gatherer) {
		g.Read(ctx, facts.LustreVersionFile)
		g.Read(ctx, facts.KefalndVersionFile)
		for _, m := range []string{"lustre", "kefalnd"} {
			g.Add(g.Host.Run(ctx, host.Command{Argv: []string{"modinfo", m}}))
		}
		g.Add(g.Host.Run(ctx, host.Command{Argv: []string{"lfs", "--version"}}))
	}})
	register(Probe{"efa-service", "systemctl show and the journal of configure-efa-fsx-lustre-client.service", func(ctx context.Context, g *Gatherer) {
		g.Add(g.Host.Run(ctx, showUnit(facts.ConfigureUnitName)))
		g.Add(g.Host.Run(ctx, host.Command{Name: facts.ConfigureJournal, Argv: []string{"journalctl", "-u", facts.ConfigureUnitName, "-b", "--no-pager", "-q", "-o", "short-iso"}, MaxOut: 1 << 20}))
	}})
	register(Probe{"mount-units", "systemctl show of the Lustre mounts' units", mountUnitsProbe})
	register(Probe{"fstab", "/etc/fstab", func(ctx context.Context, g *Gatherer) { g.Read(ctx, "/etc/fstab") }})
	register(Probe{"lustre-answers", "lctl get_param of the connections' state, then statfs and lfs df of each Lustre mount, in children with a deadline", lustreAnswersProbe})
}

// unitProperties is everything that any judgement reads; one call gives them all and exits with 0 always.
const unitProperties = "Id,LoadState,ActiveState,SubState,Result,UnitFileState,Type,RemainAfterExit,ExecMainCode,ExecMainStatus," +
	"ExecMainExitTimestamp,ExecMainExitTimestampMonotonic,ActiveEnterTimestamp,ActiveEnterTimestampMonotonic,ExecStart,Requires,After,FragmentPath,SourcePath,What,Where,Options"

func showUnit(unit string) host.Command {
	return host.Command{Name: facts.UnitSource(unit), Argv: []string{"systemctl", "show", unit, "-p", unitProperties}}
}

// lnetProbe: the verbosity must be a word of its own; "-v4" prints a help text and exits with 0.
func lnetProbe(ctx context.Context, g *Gatherer) {
	show := host.Command{Argv: strings.Fields(facts.LNetSource)}
	first := g.Host.Run(ctx, show)
	g.Add(first)
	for _, s := range []string{facts.LNetPeerSource, facts.LNetUDSPSource, facts.LNetGlobalSource} {
		g.Add(g.Host.Run(ctx, host.Command{Argv: strings.Fields(s), MaxOut: 4 << 20}))
	}
	if !first.OK() {
		return
	}
	// A total of dropped messages says nothing of now; only whether it rises does.
	net, problem := facts.ParseLNet(first.Out, first.Err, first.Exit)
	dropped := false
	for _, ni := range net.Of("efa") {
		dropped = dropped || ni.Stats.Drop.Or(0) > 0
	}
	if !problem.OK() || !dropped {
		return
	}
	select {
	case <-ctx.Done():
		return
	case <-time.After(g.pause(time.Second)):
	}
	second := g.Host.Run(ctx, show)
	second.Step = 1
	g.Add(second)
}

// efaDevicesProbe: a device's name tells nothing; its driver does. p6 nodes have ConnectX functions beside EFA.
func efaDevicesProbe(ctx context.Context, g *Gatherer) {
	const dir = "/sys/class/infiniband"
	list := g.Host.List(ctx, dir, false)
	var files []Named
	for _, n := range facts.ListedNames(list.Out) {
		drv, dev := g.Host.Stat(ctx, path.Join(dir, n, "device/driver")), g.Host.Stat(ctx, path.Join(dir, n, "device"))
		it := drv
		if drv.OK() {
			it.Out = fmt.Appendf(nil, "driver=%s device=%s", linkBase(drv), linkBase(dev))
		} else if drv.State == evidence.Absent {
			it.State, it.Out = evidence.Present, fmt.Appendf(nil, "device=%s", linkBase(dev)) // no driver is bound
		}
		files = append(files, Named{n, it})
	}
	g.Fold(facts.EFADevicesSource, list, files)
}

// linkBase is the last part of a link's target.
func linkBase(st evidence.Item) string {
	t := strings.Trim(facts.ParseStat(st.Out)["target"], `"`)
	if t == "" {
		return ""
	}
	return path.Base(t)
}

// lustreDirs are the mount points in question: that of --fs, else every Lustre mount.
func lustreDirs(ctx context.Context, g *Gatherer) []string {
	mi := g.Host.Read(ctx, facts.MountinfoSource, false)
	t := facts.ParseMountinfo(mi.Out)
	if g.FS != "" {
		if m, ok := t.At(g.FS); ok && m.Type == "lustre" {
			return []string{m.Dir}
		}
	}
	var out []string
	for _, m := range t.OfType("lustre") {
		out = append(out, m.Dir)
	}
	return out
}

func mountUnitsProbe(ctx context.Context, g *Gatherer) {
	for _, d := range lustreDirs(ctx, g) {
		g.Add(g.Host.Run(ctx, showUnit(facts.MountUnit(d))))
	}
}

// lustreAnswersProbe asks first what cannot block: the state of the client's connections. With one that is not up
// the file system is not touched, since every look at it would hang.
func lustreAnswersProbe(ctx context.Context, g *Gatherer) {
	dirs := lustreDirs(ctx, g)
	if len(dirs) == 0 {
		return
	}
	im := g.Host.Run(ctx, host.Command{Name: facts.ImportsSource, Argv: []string{"lctl", "get_param", "osc.*.ost_server_uuid", "mdc.*.mds_server_uuid"}, MaxOut: 4 << 20})
	g.Add(im)
	bad := ""
	mine := facts.FSNames(facts.ParseMountinfo(g.Host.Read(ctx, facts.MountinfoSource, false).Out), g.FS)
	for _, i := range facts.ParseLctlParams(im.Out).Imports() {
		if mine.Has(i.Target) && facts.ImportDown(i) {
			bad = i.Target + " is " + i.State
			break
		}
	}
	for _, d := range dirs {
		if bad != "" {
			for _, s := range []string{evidence.StatfsSource(d), facts.LfsDfSource(d)} {
				g.Add(evidence.Item{Source: s, Form: evidence.Whole, State: evidence.NotCollected, Err: []byte("not tried: the connection to " + bad + ", and a look at the file system would hang")})
			}
			continue
		}
		st := g.Host.Statfs(ctx, d)
		g.Add(st)
		if st.State == evidence.TimedOut {
			continue // a second look would hang beside the first
		}
		g.Add(g.Host.Run(ctx, host.Command{Argv: []string{"lfs", "df", d}}))
	}
}
