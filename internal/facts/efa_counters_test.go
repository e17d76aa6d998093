package facts

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
)

var counterNames = []string{"tx_bytes", "rx_bytes", "rdma_read_resp_bytes", "retrans_timeout_events"}

// counterLayouts are one reading in every layout.
func counterLayouts() map[string]string {
	out := map[string]string{}
	for d, dev := range []string{"efa_0", "rdmap97s0"} {
		heading := map[string]string{"heading": "=== " + dev + " ===\n", "rdma -p": "link " + dev + "/1\n", "rdma": "link " + dev + "/1 "}
		for how, h := range heading {
			out[how] += h
		}
		for i, name := range counterNames {
			v := 4400120*i + 17*d
			path := "/sys/class/infiniband/" + dev + "/ports/1/hw_counters/" + name
			for how, line := range map[string]string{
				"slash":    fmt.Sprintf("%s/%s=%d\n", dev, name, v),
				"blank":    fmt.Sprintf("%s %s=%d\n", dev, name, v),
				"spaced":   fmt.Sprintf("%s %s = %d\n", dev, name, v),
				"colon":    fmt.Sprintf("%s %s: %d\n", dev, name, v),
				"grep":     fmt.Sprintf("%s:%d\n", path, v),
				"devices":  fmt.Sprintf("/sys/devices/pci0000:60/0000:61:00.0/infiniband/%s/ports/1/hw_counters/%s:%d\n", dev, name, v),
				"relative": fmt.Sprintf("%s/ports/1/hw_counters/%s:%d\n", dev, name, v),
				"head":     fmt.Sprintf("==> %s <==\n%d\n\n", path, v),
				"heading":  fmt.Sprintf("%s: %d\n", name, v),
				"rdma":     fmt.Sprintf("%s %d ", name, v),
				"rdma -p":  fmt.Sprintf("    %s %d\n", name, v),
			} {
				out[how] += line
			}
		}
		out["rdma"] += "\n"
	}
	return out
}

func countersWanted() map[string]map[string]uint64 {
	want := map[string]map[string]uint64{"efa_0": {}, "rdmap97s0": {}}
	for i, n := range counterNames {
		want["efa_0"][n], want["rdmap97s0"][n] = uint64(4400120*i), uint64(4400120*i+17)
	}
	return want
}

func TestEFACountersLayouts(t *testing.T) {
	for how, text := range counterLayouts() {
		texts := disfigured(text)
		texts["as is"] = []byte(text)
		for pasted, b := range texts {
			got := ParseEFACounters(b)
			if !reflect.DeepEqual(got.Port, countersWanted()) || len(got.Device) > 0 || got.Cut || got.Repeated {
				t.Errorf("%s, %s: %+v", how, pasted, got)
			}
		}
	}
}

func TestEFACounters(t *testing.T) {
	for text, want := range map[string]EFACounters{
		"efa_0 create_ah_err=3\nefa_0/hw_counters/mmap_err:1\n": {Device: map[string]map[string]uint64{"efa_0": {"create_ah_err": 3, "mmap_err": 1}}},
		"mlx5_0/rx_bytes=5\nibp9s0f0 recv_wrs=4\neth0 mtu = 9001\nefa_1 rx_bytes=6\n": {
			Port: map[string]map[string]uint64{"efa_1": {"rx_bytes": 6}}},
		"rail7 rx_bytes=5\nrail7 recv_wrs=2\n":                       {Port: map[string]map[string]uint64{"rail7": {"rx_bytes": 5, "recv_wrs": 2}}},
		"efa_0 rx_bytes=93,637,093,060\n":                            {Port: map[string]map[string]uint64{"efa_0": {"rx_bytes": 93637093060}}},
		"efa_0 rx_bytes=93,63\nefa_0 tx_bytes=\n":                    {},
		"efa_0 rx_bytes=12…\nefa_0 tx_bytes=-1\n":                    {},
		"efa_0 rx_bytes=18446744073709551616\n":                      {},
		"efa_0 rx_bytes=18446744073709551615\n":                      {Port: map[string]map[string]uint64{"efa_0": {"rx_bytes": 1<<64 - 1}}},
		"efa_0 rx_bytes=12":                                          {Cut: true},
		"efa_0 rx_bytes=12\nefa_0 rx_bytes=12\n":                     {Port: map[string]map[string]uint64{"efa_0": {"rx_bytes": 12}}},
		"efa_0 rx_bytes=12\nefa_0 rx_bytes=14\n":                     {Port: map[string]map[string]uint64{"efa_0": {"rx_bytes": 12}}, Repeated: true},
		"efa_0 rx2_bytes=1\nefa_0 2rx=1\nefa_0 RX=1\nefa_0 rx-b=1\n": {Port: map[string]map[string]uint64{"efa_0": {"rx2_bytes": 1}}},
		"rx_bytes: 12\n":                                             {},
		"efa_0\nNIC statistics:\n   rx_bytes: 12\n":                  {},
	} {
		if want.Port == nil {
			want.Port = map[string]map[string]uint64{}
		}
		if want.Device == nil {
			want.Device = map[string]map[string]uint64{}
		}
		if got := ParseEFACounters([]byte(text)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestEFACountersAddFile(t *testing.T) {
	var c EFACounters
	const port = "/sys/class/infiniband/rdmap97s0/ports/1/hw_counters/"
	for path, ok := range map[string]bool{
		port + "rx_bytes": true,
		"/sys/class/infiniband/rdmap97s0/hw_counters/cmds_err": true,
		"/sys/class/infiniband/rdmap97s0/node_type":            false,
	} {
		if got := c.AddFile(path, []byte("71\n")); got != ok {
			t.Errorf("AddFile(%s) = %v, want %v", path, got, ok)
		}
	}
	if c.AddFile(port+"tx_bytes", []byte("Invalid argument\n")) || c.AddFile(port+"tx_bytes", nil) {
		t.Error("a value that is no number was taken")
	}
	want := EFACounters{Port: map[string]map[string]uint64{"rdmap97s0": {"rx_bytes": 71}}, Device: map[string]map[string]uint64{"rdmap97s0": {"cmds_err": 71}}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, want %+v", c, want)
	}
}

func countersFromCut(t *testing.T, cut, whole EFACounters) {
	t.Helper()
	for dev, m := range cut.Port {
		for name, v := range m {
			if w, ok := whole.Port[dev][name]; !ok || w != v {
				t.Fatalf("cut says %s/%s=%d, whole %d %v", dev, name, v, w, ok)
			}
		}
	}
}

func TestEFACountersCutAnywhere(t *testing.T) {
	for _, text := range counterLayouts() {
		whole := ParseEFACounters([]byte(text))
		for i := range text {
			countersFromCut(t, ParseEFACounters([]byte(text[:i])), whole)
		}
	}
}

func TestEFACountersCaptures(t *testing.T) {
	b := capturedFiles(t, "lustre")["efa-port-hw_counters-two-devices.txt"]
	got := ParseEFACounters(b)
	total := 0
	for m := range maps.Values(got.Port) {
		total += len(m)
	}
	if total != strings.Count(string(b), "=") || len(got.Port) != 2 || len(got.Device) != 0 || got.Repeated {
		t.Errorf("%d counters of %d devices", total, len(got.Port))
	}
	if a, b := got.Port["efa_0"], got.Port["efa_1"]; a["retrans_timeout_events"] != 1011 || b["retrans_timeout_events"] != 1832 || a["rdma_read_resp_bytes"] != 294072877056 {
		t.Errorf("efa_0 %v\nefa_1 %v", a, b)
	}
	for i := range b {
		countersFromCut(t, ParseEFACounters(b[:i]), got)
	}
	for name, b := range capturedFiles(t, "nodes/003-fsx-efa-bulk-write-retransmissions") {
		if !strings.HasPrefix(name, "efa-hw_counters") {
			continue
		}
		total := 0
		for m := range maps.Values(ParseEFACounters(b).Port) {
			total += len(m)
		}
		if want := strings.Count("\n"+string(b), "\nefa_"); total != want || want == 0 {
			t.Errorf("%s: %d counters, want %d", name, total, want)
		}
	}
}

func FuzzEFACounters(f *testing.F) {
	for _, text := range counterLayouts() {
		f.Add([]byte(text))
	}
	f.Add(capturedFiles(f, "lustre")["efa-port-hw_counters-two-devices.txt"])
	f.Fuzz(func(t *testing.T, b []byte) {
		whole := ParseEFACounters(b)
		for dev, m := range whole.Port {
			if len(m) == 0 || strings.HasPrefix(dev, "mlx5_") {
				t.Fatalf("device %q with %v", dev, m)
			}
		}
		countersFromCut(t, ParseEFACounters(b[:len(b)/2]), whole)
	})
}

func BenchmarkParseEFACounters(b *testing.B) {
	text := []byte(strings.Repeat(counterLayouts()["grep"], 20))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ParseEFACounters(text)
	}
}
