package sim

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gdsproof/internal/host"
)

func run(t *testing.T, spec string, argv ...string) string {
	t.Helper()
	h, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	it := h.Run(context.Background(), host.Command{Argv: argv})
	if !it.OK() {
		t.Fatalf("%s on %s: %s", strings.Join(argv, " "), spec, it.Err)
	}
	return string(it.Out)
}

// TestGuideNode: p6-b200 prints the numbers of the guide's node before the experiment.
func TestGuideNode(t *testing.T) {
	h, err := New("p6-b200")
	if err != nil {
		t.Fatal(err)
	}
	stats := string(h.Read(context.Background(), "/proc/driver/nvidia-fs/stats", true).Out)
	for _, want := range []string{"GDS Version: 1.19.1.25 \n", "NVFS Driver(version: 2.30.2)\n", "IO stats: Disabled, peer IO stats: Disabled\n",
		": n=0 io=0 holes=0 pages=0 \n", ": n=4 ok=4 err=0 munmap=4\n", ": n=4 ok=4 err=0 free=4 callbacks=0 active=0 delay-frees=0\n"} {
		if !strings.Contains(stats, want) {
			t.Errorf("no %q in\n%s", want, stats)
		}
	}
	tool := run(t, "p6-b200", "/usr/local/cuda/gds/tools/gdscheck", "-p")
	for _, want := range []string{" GDS release version: 1.17.0.44\n", "nvidia_fs minimum version: 2.12\n", " DDN EXAScaler      : nvfs, compat\n",
		"GPU index 7 NVIDIA B200 bar:1 bar size (MiB):262144 supports GDS, IOMMU State: Disabled\n", "Installed:  13020\n", "(Linux 7.0.0-1013-aws)\n"} {
		if !strings.Contains(tool, want) {
			t.Errorf("no %q in\n%s", want, tool)
		}
	}
	net := run(t, "p6-b200", "lnetctl", "net", "show", "-v", "4")
	_, efa, _ := strings.Cut(net, "net type: efa")
	var got []string
	for _, m := range regexp.MustCompile(`send_count: (\d+)\n +recv_count: (\d+)`).FindAllStringSubmatch(efa, -1) {
		got = append(got, m[1]+"/"+m[2])
	}
	if want := "53/53 53/53 53/53 52/52 2063/4111 2062/4110 14/14 14/14"; strings.Join(got, " ") != want {
		t.Errorf("counts %v, want %s", got, want)
	}
}

// TestAddresses: an EFA address is the tcp address's tail, the device's bus in decimal, and its function; the device
// has the bus in its name.
func TestAddresses(t *testing.T) {
	for spec, want := range map[string][]string{
		"p5en":                     {"115.10.85.0@efa", "rdmap85s0", "115.10.163.0@efa", "rdmap163s0"},
		"p5":                       {"22.131.79.0@efa", "rdmap79s0", "22.131.201.0@efa", "rdmap201s0"},
		"g6e":                      {"74.205.54.0@efa", "efa_0", "74.205.161.0@efa", "efa_1"},
		"p5en,efa-service-not-gds": {"115.10.85.0@efa", "115.10.87.0@efa"},
	} {
		out := run(t, spec, "lnetctl", "net", "show", "-v", "4")
		for _, w := range want {
			if !strings.Contains(out, w+"\n") {
				t.Errorf("%s: no %s", spec, w)
			}
		}
		if spec == "p5en,efa-service-not-gds" && (strings.Count(out, "@efa") != 8 || strings.Contains(out, "rdmap86s0")) {
			t.Errorf("%s: not one device of two:\n%s", spec, out)
		}
	}
}

var number = regexp.MustCompile(`\d+`)

// labels are a listing's lines, their numbers and values taken out: what is left is its form.
func labels(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		label, _, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		out = append(out, number.ReplaceAllString(label, "N"))
	}
	return out
}

// TestFormOfLNet: the listing has the labels of a real one, in their order and indentation, for an interface of each
// net.
func TestFormOfLNet(t *testing.T) {
	root := os.Getenv("GDSPROOF_CAPTURES")
	if root == "" {
		t.Skip("GDSPROOF_CAPTURES is not set: no real listing to compare with")
	}
	real, err := os.ReadFile(filepath.Join(root, "lnetctl", "01-efa2-tcp-lo-v4-2.15.6-idle.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got, want := labels(run(t, "g6e", "lnetctl", "net", "show", "-v", "4")), labels(string(real))
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLinks: a device's entry is a link, and so are the way from it to the PCI function and on to the driver.
func TestLinks(t *testing.T) {
	h, err := New("p6-b200")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	list := string(h.List(ctx, "/sys/class/infiniband", false).Out)
	for _, want := range []string{"rdmap84s0@\n", "mlx5_1@\n"} {
		if !strings.Contains(list, want) {
			t.Errorf("no %q in %q", want, list)
		}
	}
	for path, target := range map[string]string{
		"/sys/class/infiniband/rdmap84s0/device":        "../../../0000:54:00.0",
		"/sys/class/infiniband/rdmap84s0/device/driver": "../../../../bus/pci/drivers/efa",
		"/sys/class/infiniband/mlx5_0/device/driver":    "../../../../bus/pci/drivers/mlx5_core",
	} {
		if st := string(h.Stat(ctx, path).Out); !strings.HasPrefix(st, "type=link ") || !strings.HasSuffix(st, fmt.Sprintf(" target=%q", target)) {
			t.Errorf("%s: %s", path, st)
		}
	}
}

// TestKeep: the simulated look at a log drops what a live one drops.
func TestKeep(t *testing.T) {
	got := string(keep("first\nLNet: kept\ndropped\nlast\n", []string{"lnet"}))
	if want := "first\nLNet: kept\nlast\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestOnlyWhatIsAsked: systemctl show prints the properties that were asked for, in its own order, and exits with 0
// for a unit that is not there.
func TestOnlyWhatIsAsked(t *testing.T) {
	got := run(t, "laptop", "systemctl", "show", unit, "-p", "LoadState,Id,ExecStart,ExecMainExitTimestampMonotonic")
	if want := "ExecMainExitTimestampMonotonic=0\nId=" + unit + "\nLoadState=not-found\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
