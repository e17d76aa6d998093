package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gdsproof/internal/evidence"
	"gdsproof/internal/ledger"
)

// tree makes files and links; a text that begins with "->" is a link's target.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for p, text := range files {
		p = filepath.Join(root, p)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(text, "->"); ok {
			err = os.Symlink(to, p)
		} else {
			err = os.WriteFile(p, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestRoot(t *testing.T) {
	soon(t)
	root := tree(t, map[string]string{
		"proc/version":                        "theirs",
		"etc/real file":                       "theirs",
		"etc/absolute":                        "->/etc/real file",
		"etc/chain":                           "->/etc/absolute",
		"etc/escape":                          "->../../../../../../../etc/real file",
		"etc/loop":                            "->/etc/loop",
		"etc/gone":                            "->/etc/passwd",
		"etc/folder":                          "->/sys/devices",
		"sys/devices/pci0/net/eth0/mtu":       "9001",
		"sys/class/net/eth0":                  "->../../devices/pci0/net/eth0",
		"sys/devices/pci0/net/eth0/device":    "->../..",
		"sys/devices/pci0/net/eth0/subsystem": "->../../../../class/net",
	})
	l, err := NewLive(root)
	if err != nil {
		t.Fatal(err)
	}
	l.locks = ledger.Dir(t.TempDir())
	t.Cleanup(l.Close)
	ctx := context.Background()
	for _, mayBlock := range []bool{false, true} {
		for p, c := range map[string]struct {
			state        evidence.State
			text, origin string
		}{
			"/proc/version":                   {evidence.Present, "theirs", "/proc/version"},
			"/etc/real file":                  {evidence.Present, "theirs", "/etc/real file"},
			"/etc/absolute":                   {evidence.Present, "theirs", "/etc/real file"},
			"/etc/chain":                      {evidence.Present, "theirs", "/etc/real file"},
			"/etc/escape":                     {evidence.Present, "theirs", "/etc/real file"},
			"/../../etc/real file":            {evidence.Present, "theirs", "/etc/real file"},
			"/etc/gone":                       {evidence.Absent, "no such file", "/etc/passwd"},
			"/etc/shadow":                     {evidence.Absent, "no such file", "/etc/shadow"},
			"/etc/loop":                       {evidence.Failed, "too many levels", "/etc/loop"},
			"/sys/class/net/eth0/mtu":         {evidence.Present, "9001", "/sys/devices/pci0/net/eth0/mtu"},
			"/etc/folder/pci0/net/eth0/mtu":   {evidence.Present, "9001", "/sys/devices/pci0/net/eth0/mtu"},
			"/sys/class/net/eth0/device/none": {evidence.Absent, "no such file", "/sys/devices/pci0/none"},
		} {
			it := l.Read(ctx, p, mayBlock)
			want(t, it, c.state, c.text)
			if it.Source != p || it.Origin != root+c.origin {
				t.Errorf("%s: source %q, origin %q", p, it.Source, it.Origin)
			}
		}
		it := l.List(ctx, "/sys/class/net/eth0/subsystem", mayBlock)
		want(t, it, evidence.Present, "eth0@\n")
		if it.Source != "list /sys/class/net/eth0/subsystem" || it.Origin != root+"/sys/class/net" {
			t.Errorf("got %+v", it)
		}
	}
	it := l.Stat(ctx, "/etc/folder")
	want(t, it, evidence.Present, "type=link", `target="/sys/devices"`)
	if it.Origin != root+"/etc/folder" {
		t.Errorf("stat: origin %q", it.Origin)
	}
	want(t, l.Stat(ctx, "/etc/folder/pci0"), evidence.Present, "type=directory")
	it = l.Statfs(ctx, "/etc")
	want(t, it, evidence.Present)
	if it.Source != "statfs /etc" || it.Origin != root+"/etc" {
		t.Errorf("statfs: %+v", it)
	}
	its := l.Hold(ctx, []string{"/etc/absolute"}, "/proc/version")
	want(t, its[1], evidence.Present, "theirs")
	if its[0].Source != "open /etc/absolute" || its[0].Origin != root+"/etc/real file" || its[1].Source != "held /proc/version" {
		t.Errorf("hold: %+v", its)
	}
	want(t, l.Run(ctx, Command{Argv: []string{"true"}}), evidence.NotCollected, "would speak of this machine")
}

func TestRootMustBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	_ = os.WriteFile(file, nil, 0o600)
	for _, root := range []string{"/no/such/root", file} {
		if l, err := NewLive(root); err == nil {
			l.Close()
			t.Errorf("%s is no root", root)
		}
	}
	dir := t.TempDir()
	_ = os.Mkdir(dir+"/etc", 0o700)
	_ = os.WriteFile(dir+"/etc/x", []byte("x"), 0o600)
	_ = os.Symlink(dir, dir+"/top")
	t.Chdir(dir)
	for _, root := range []string{".", "top", dir + "/top/"} { // a child stands elsewhere
		l, err := NewLive(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, mayBlock := range []bool{false, true} {
			want(t, l.Read(context.Background(), "/etc/x", mayBlock), evidence.Present, "x")
		}
		l.Close()
	}
}

const someMounts = `24 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
25 24 0:22 / /proc rw - proc proc rw
26 24 0:23 / /sys rw - sysfs sysfs rw
30 24 0:40 / /fsx rw,flock - lustre 10.0.0.1@efa:/fsx rw
31 24 0:41 / /my\040dir rw master:3 propagate_from:2 - fuse.sshfs x rw
32 24 0:42 / /net rw - autofs x rw
33 24 0:43 / /scratch rw - nfs4 x rw
34 33 0:44 / /scratch rw - tmpfs x rw
broken line
35 24 0:44 / /cut
`

func TestRemote(t *testing.T) {
	var m mounts
	set := func() { m.table, m.read = parseMounts([]byte(someMounts)), time.Now().Add(time.Hour) }
	set()
	if got, ok := m.typeAt("/my dir"); !ok || got != "fuse.sshfs" {
		t.Errorf("/my dir: %q", got)
	}
	root := tree(t, map[string]string{
		"a":              "->/fsx/data",
		"far":            "->" + "/net/home",
		"sub/up":         "->../a/deep",
		"cufile.json":    "->/fsx/admin/cufile.json",
		"near":           "text",
		"image/fsx/file": "",
	})
	for p, want := range map[string]string{
		"/fsx":                         "/fsx",
		"/fsx/a/b":                     "/fsx",
		"/fsxy":                        "",
		"/my dir/x":                    "/my dir",
		"/net/somewhere":               "/net",
		"/scratch/x":                   "",
		"/proc/version":                "",
		"/proc/self/mountinfo":         "",
		"/proc/1/root/fsx":             "/proc/1/root",
		"/proc/1/task/1/cwd/x":         "/proc/1/task/1/cwd",
		"/proc/1/fd":                   "",
		"/proc/1/fd/3":                 "/proc/1/fd/3",
		"/proc/1/maps":                 "",
		root + "/near":                 "",
		root + "/a/file":               "/fsx",
		root + "/sub/up":               "/fsx",
		root + "/far":                  "/net",
		root + "/cufile.json":          "/fsx",
		root + "/sub/../../../fsx/x/y": "",
	} {
		if got := m.remote("/", p, true); got != want {
			t.Errorf("remote %s: %q, want %q", p, got, want)
		}
	}
	if got := m.remote("/", root+"/cufile.json", false); got != "" {
		t.Errorf("the link itself is near: %q", got)
	}
	if got := m.remote("/fsx/image", "/etc/x", true); got != "/fsx" {
		t.Errorf("a root on a mount: %q", got)
	}
	if got := m.remote(root+"/image", "/fsx/file", true); got != "" {
		t.Errorf("the root's own /fsx is near: %q", got)
	}
}

func TestKind(t *testing.T) {
	for _, c := range []struct {
		q      question
		remote string
		want   string
		shared bool
	}{
		{question{Op: "read", Path: "/proc/driver/nvidia-fs/stats"}, "", "proc-driver-nvidia-fs", true},
		{question{Op: "list", Path: "/proc/driver/nvidia-fs/peers/x"}, "", "proc-driver-nvidia-fs", true},
		{question{Op: "read", Path: "/proc/modules"}, "", "proc-modules", true},
		{question{Op: "read", Path: "/proc/12/maps"}, "", "read /proc/12/maps", false},
		{question{Op: "open", Path: "/dev/nvidia-fs12"}, "", "open /dev/nvidia-fs", true},
		{question{Op: "open", Path: "/dev/nvidia0"}, "", "open /dev/nvidia", true},
		{question{Op: "hold", Path: "/proc/driver/nvidia-fs/modules", Paths: []string{"/dev/nvidia-fs3"}}, "", "open /dev/nvidia-fs", true},
		{question{Op: "statfs", Path: "/fsx/a"}, "/fsx", "on /fsx", true},
		{question{Op: "read", Path: "/fsx/b"}, "/fsx", "on /fsx", true},
		{question{Op: "read", Path: "/var/log/x"}, "", "read /var/log/x", false},
		{question{Op: "read", Path: "/proc/1/root/etc/x"}, "/proc/1/root", "in /proc/1/root", false},
		{question{Op: "read", Path: "/proc/modules", Root: "/image"}, "", "in /image proc-modules", true},
	} {
		if c.q.Root == "" {
			c.q.Root = "/"
		}
		if got, shared := kind(c.q, c.remote); got != c.want || shared != c.shared {
			t.Errorf("%+v on %q: %q %t", c.q, c.remote, got, shared)
		}
	}
}
