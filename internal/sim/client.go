package sim

import (
	"fmt"
	"path"
	"strings"
)

// client is AWS's Lustre client and LNet's EFA module.
type client struct {
	version, kefalnd string
	staging          bool // part of the distribution's kernel, as on Amazon Linux 2023
	noModules        bool // its modules are not there for the running kernel; its tools are
}

// fileSystem is FSx for Lustre, and how the node mounts it.
type fileSystem struct {
	dir, name string
	mgs       string // address of the management server
	net       string // first two octets of the servers' addresses
	osts      int
	efa       bool // created with EFA
	unmounted bool
	early     bool // mounted before the set-up ended
	silent    bool // no look at it comes back
	unordered bool // its line in fstab does not name the set-up's service
}

// server is one of the file system's servers: its tcp address and the PCI bus of its EFA device.
type server struct {
	addr string
	bus  int
}

// servers are one metadata server and one for each pair of object storage targets.
func (f *fileSystem) servers() []server {
	var out []server
	for i := range 1 + (f.osts+1)/2 {
		out = append(out, server{fmt.Sprintf("%s.%d.%d", f.net, 9+i%2, 41+i*29), 0x47})
	}
	return out
}

func (s server) efaNID() string {
	o := strings.Split(s.addr, ".")
	return fmt.Sprintf("%s.%s.%d.0@efa", o[2], o[3], s.bus)
}

// inner is the server's address in the service's own network.
func (s server) inner() string {
	o := strings.Split(s.addr, ".")
	return fmt.Sprintf("%s.%s.2%s.%s", o[0], o[1], o[2][:1], o[3])
}

func (f *fileSystem) source() string { return f.mgs + "@tcp:/" + f.name }

func (n *node) mounted() bool { return n.fs != nil && !n.fs.unmounted && !n.client.noModules }

// lnetLoaded: the set-up loads the modules once it has looked at the machine, and so does a mount.
func (n *node) lnetLoaded() bool { return n.configured() || n.mounted() }

// mountedAt: the automount is first touched some time after the set-up. A unit that requires a service that failed
// is not mounted at boot; somebody then mounted it by hand.
func (n *node) mountedAt() float64 {
	switch {
	case n.fs.early:
		return n.setup.at - 6.4
	case !n.configured():
		return 731.25
	case n.lnet.again > 0:
		return againAt + 60
	}
	return n.ended() + 48.5
}

func (n *node) lustreModules() []string {
	if !n.lnetLoaded() {
		return nil
	}
	kef := ""
	var out []string
	if n.configured() {
		kef = "kefalnd,"
		out = append(out, fmt.Sprintf("kefalnd 167936 %d -", max(1, len(n.interfaces(0)))))
	}
	return append(out, "lustre 1142784 85 -", "lmv 233472 1 lustre", "mdc 282624 1 lustre", "lov 356352 2 lustre", "osc 487424 6 lustre",
		"fld 45056 2 lmv", "fid 36864 4 osc,mdc,lmv,lustre", "ptlrpc 1564672 8 fld,osc,fid,lov,mdc,lmv,lustre", "ksocklnd 192512 1 -",
		"lnet 765952 12 osc,"+kef+"ksocklnd,ptlrpc,lustre", "libcfs 507904 12 fld,lnet,osc,fid,"+kef+"ptlrpc,lov,mdc,ksocklnd,lmv,lustre")
}

// efaModules: LNet takes a reference on the driver for each of its interfaces.
func (n *node) efaModules() []string {
	if len(n.efaFunctions()) == 0 {
		return nil
	}
	users, held := "-", 0
	if n.configured() {
		users, held = "kefalnd", len(n.interfaces(0))
	}
	return []string{fmt.Sprintf("efa 143360 %d %s", held, users), "ib_uverbs 200704 1 efa", "ib_core 516096 2 efa,ib_uverbs"}
}

// mountLines are the lines of mountinfo: the automount's, and below it that of what it mounted. Where nothing is
// mounted, the automount was stopped too.
func (n *node) mountLines() []string {
	if !n.mounted() {
		return nil
	}
	auto := "96 29 0:44 / " + n.fs.dir + " rw,relatime shared:71 - autofs systemd-1 rw,fd=58,pgrp=1,timeout=0,minproto=5,maxproto=5,direct,pipe_ino=21907"
	return []string{auto, "410 96 0:61 / " + n.fs.dir + " rw,relatime shared:220 - lustre " + n.fs.source() + " rw,checksum,flock,nouser_xattr,lruresize,lazystatfs,nouser_fid2path,verbose,encrypt"}
}

func (n *node) fstab() string {
	s := "LABEL=cloudimg-rootfs\t/\text4\tdiscard,errors=remount-ro\t0 1\n"
	if n.fs == nil {
		return s
	}
	order := ",x-systemd.requires=" + unit + ",x-systemd.after=" + unit
	if n.fs.unordered {
		order = ""
	}
	return s + "fs-0b7e51c49d2af8036.fsx.us-west-2.amazonaws.com@tcp:/" + n.fs.name + " " + n.fs.dir + " lustre defaults,relatime,flock,_netdev,x-systemd.automount" + order + " 0 0\n"
}

func (f *fileSystem) targets(kind string) []string {
	k := 1
	if kind == "OST" {
		k = f.osts
	}
	var out []string
	for i := range k {
		out = append(out, fmt.Sprintf("%s-%s%04x", f.name, kind, i))
	}
	return out
}

// lctl answers get_param by the names that a pattern matches.
func (n *node) lctl(args []string) answer {
	if len(args) == 0 || args[0] != "get_param" {
		return answer{err: "the simulated lctl knows get_param alone\n", exit: 1}
	}
	params := map[string]string{}
	if n.mounted() {
		for _, t := range n.fs.targets("OST") {
			params["osc."+t+"-osc-ffff9a31c0de4800.ost_server_uuid"] = t + "_UUID\tFULL"
		}
		for _, t := range n.fs.targets("MDT") {
			params["mdc."+t+"-mdc-ffff9a31c0de4800.mds_server_uuid"] = t + "_UUID\tFULL"
		}
	}
	var a answer
	for _, pattern := range args[1:] {
		found := false
		for _, name := range sortedKeys(params) {
			if ok, _ := path.Match(pattern, name); ok {
				found = true
				a.out += name + "=" + params[name] + "\n"
			}
		}
		if !found {
			a.err += "error: get_param: param_path '" + strings.ReplaceAll(pattern, ".", "/") + "': No such file or directory\n"
			a.exit = 2
		}
	}
	return a
}

// lfs answers --version, and df in blocks of 1 KiB.
func (n *node) lfs(args []string) answer {
	if len(args) == 1 && args[0] == "--version" {
		return answer{out: "lfs " + n.client.version + "\n"}
	}
	if len(args) != 2 || args[0] != "df" || !n.mounted() || args[1] != n.fs.dir {
		return answer{err: "lfs df: " + strings.Join(args, " ") + ": no such file system\n", exit: 22}
	}
	var b strings.Builder
	row := func(uuid string, size, used uint64, where string) {
		fmt.Fprintf(&b, "%-20s %11d %11d %11d %3d%% %s\n", uuid, size, used, size-used, 1+used*100/size, where)
	}
	fmt.Fprintf(&b, "%-20s %11s %11s %11s %4s %s\n", "UUID", "1K-blocks", "Used", "Available", "Use%", "Mounted on")
	for i, t := range n.fs.targets("MDT") {
		row(t+"_UUID", mdtSize, 12288, fmt.Sprintf("%s[MDT:%d]", n.fs.dir, i))
	}
	for i, t := range n.fs.targets("OST") {
		row(t+"_UUID", ostSize, ostUsed, fmt.Sprintf("%s[OST:%d]", n.fs.dir, i))
	}
	k := uint64(n.fs.osts)
	b.WriteString("\n")
	row("filesystem_summary:", k*ostSize, k*ostUsed, n.fs.dir)
	b.WriteString("\n")
	return answer{out: b.String()}
}

// Sizes in KiB.
const (
	mdtSize = 576_716_800
	ostSize = 4_865_392_640
	ostUsed = 21_495_808
)

// statfs is how the kernel answers for the mount.
func (n *node) statfs() string {
	blocks := uint64(n.fs.osts) * ostSize / 4
	free := uint64(n.fs.osts) * (ostSize - ostUsed) / 4
	return fmt.Sprintf("type=0xbd00bd0 bsize=4096 blocks=%d bfree=%d bavail=%d", blocks, free, free)
}
