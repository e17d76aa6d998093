package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gdsproof/internal/evidence"
)

// smiQuery prints nvidia-smi -q for some GPUs, with the sections whose labels are like others'.
func smiQuery(gpus int) string {
	var b strings.Builder
	b.WriteString("\n==============NVSMI LOG==============\n\n")
	row := func(depth int, key, value string) {
		fmt.Fprintf(&b, "%-*s : %s\n", 55, strings.Repeat("    ", depth)+key, value)
	}
	head := func(depth int, key string) { b.WriteString(strings.Repeat("    ", depth) + key + "\n") }
	row(0, "Timestamp", "Sat Feb  8 01:02:03 2031")
	row(0, "Driver Version", "601.22.07")
	row(0, "CUDA Version", "14.1")
	b.WriteString("\n")
	row(0, "Attached GPUs", fmt.Sprint(gpus))
	for i := range gpus {
		fmt.Fprintf(&b, "GPU 0000%04X:%X1:00.0\n", i, 4+i)
		row(1, "Product Name", "NVIDIA Z9")
		row(1, "Product Architecture", "Later")
		row(1, "Persistence Mode", "Enabled")
		row(1, "Addressing Mode", "HMM")
		head(1, "MIG Mode")
		row(2, "Current", "Disabled")
		row(2, "Pending", "Enabled")
		head(1, "Driver Model")
		row(2, "Current", "N/A")
		row(1, "GPU UUID", fmt.Sprintf("GPU-%08x-1", i))
		row(1, "Minor Number", fmt.Sprint(i))
		row(1, "GPU Recovery Action", "None")
		head(1, "PCI")
		row(2, "Bus Id", fmt.Sprintf("0000%04X:%X1:00.0", i, 4+i))
		head(1, "FB Memory Usage")
		row(2, "Total", "99000 MiB")
		head(1, "BAR1 Memory Usage")
		row(2, "Total", "131072 MiB")
		row(2, "Used", "5 MiB")
		head(1, "Conf Compute Protected Memory Usage")
		row(2, "Total", "0 MiB")
		row(1, "Compute Mode", "Exclusive_Process")
		head(1, "ECC Mode")
		row(2, "Current", "Enabled")
		row(2, "Pending", "Disabled")
		head(1, "Remapped Rows")
		row(2, "Pending", "No")
		row(2, "Remapping Failure Occurred", "Yes")
		head(1, "Processes")
		row(2, "GPU instance ID", "N/A")
		row(2, "Process ID", "4711")
		b.WriteString("\n")
	}
	return b.String()
}

func TestSMIQuery(t *testing.T) {
	text := smiQuery(2)
	want := SMIReport{Driver: "601.22.07", CUDA: "14.1", Attached: Some(2)}
	for i, bus := range []string{"0000:41:00.0", "0001:51:00.0"} {
		want.GPUs = append(want.GPUs, SMIGPU{BusID: bus, Name: "NVIDIA Z9", UUID: fmt.Sprintf("GPU-%08x-1", i), Architecture: "Later", Minor: Some(i), Persistence: "Enabled",
			Addressing: "HMM", MIG: "Disabled", ComputeMode: "Exclusive_Process", RecoveryAction: "None", ECC: "Enabled", BAR1MiB: Some(uint64(131072)),
			MemoryMiB: Some(uint64(99000)), RemapPending: "No", RemapFailed: "Yes", Busy: Some(true)})
	}
	if got := ParseSMI([]byte(text)); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	for name, b := range disfigured(text) {
		if got := ParseSMI(b); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for i := range text {
		got := ParseSMI([]byte(text[:i]))
		if err := lnetAgrees("smi", reflect.ValueOf(smiSaid(got, want)), reflect.ValueOf(want)); err != nil {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}

// smiSaid fills what a cut report does not say from the whole one: what is left to differ is wrong.
func smiSaid(part, whole SMIReport) SMIReport {
	part.Trouble, part.Cut = whole.Trouble, whole.Cut
	fill := func(p, w reflect.Value) {
		for i := range p.NumField() {
			if p.Field(i).Kind() == reflect.String && p.Field(i).Len() == 0 {
				p.Field(i).Set(w.Field(i))
			}
		}
	}
	fill(reflect.ValueOf(&part).Elem(), reflect.ValueOf(whole))
	for i := range part.GPUs {
		fill(reflect.ValueOf(&part.GPUs[i]).Elem(), reflect.ValueOf(whole.GPUs[i]))
	}
	return part
}

func TestSMITrouble(t *testing.T) {
	for _, text := range []string{"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n",
		"Failed to initialize NVML: Driver/library version mismatch\n", "No devices were found\n"} {
		if r := ParseSMI([]byte(text)); r.Trouble != strings.TrimSpace(text) || len(r.GPUs) > 0 {
			t.Errorf("%+v", r)
		}
		k := Get(platformTable(t, map[string]string{SMISource: text}), evidence.Host, SMI)
		if !k.OK || k.V.Trouble == "" {
			t.Errorf("%+v", k)
		}
	}
	if k := Get(platformTable(t, map[string]string{SMISource: "no such words\n"}), evidence.Host, SMI); k.OK {
		t.Errorf("%+v", k)
	}
	if k := Get(platformTable(t, nil), evidence.Host, SMI); k.OK || k.Why == "" {
		t.Errorf("%+v", k)
	}
	idle := strings.Replace(smiQuery(1), "Processes\n", "Processes                    : None\n", 1)
	if r := ParseSMI([]byte(idle[:strings.Index(idle, "        GPU instance")])); r.GPUs[0].Busy != Some(false) {
		t.Errorf("%+v", r.GPUs[0])
	}
}

func TestSMIList(t *testing.T) {
	text := "GPU 0: NVIDIA Z9 80GB (UUID: GPU-12ab-34)\n  MIG 1g.10gb     Device  0: (UUID: MIG-aa-1)\n  MIG 1g.10gb     Device  1: (UUID: MIG-aa-2)\nGPU 1: NVIDIA Z9 80GB (UUID: GPU-56cd-78)\n"
	want := []SMIListed{{0, "NVIDIA Z9 80GB", "GPU-12ab-34", []string{"MIG-aa-1", "MIG-aa-2"}}, {1, "NVIDIA Z9 80GB", "GPU-56cd-78", nil}}
	if got, cut := ParseSMIList([]byte(text)); !reflect.DeepEqual(got, want) || cut {
		t.Errorf("%+v, %v", got, cut)
	}
	for name, b := range disfigured(text) {
		if got, _ := ParseSMIList(b); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for i := range text {
		got, cut := ParseSMIList([]byte(text[:i]))
		for j, g := range got {
			if g.UUID != want[j].UUID || !beginning(g.MIG, want[j].MIG) {
				t.Errorf("cut at %d: %+v", i, g)
			}
		}
		if atEnd := text[i] == '\n' || i == 0 || text[i-1] == '\n'; cut == atEnd && strings.TrimSpace(text[strings.LastIndexByte(text[:i], '\n')+1:i]) != "" {
			t.Errorf("cut at %d: %v", i, cut)
		}
	}
}

const smiTopo = "\t\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n" +
	"GPU0\t X \tNV12\tPIX\tSYS\t0-23,48-71\t0\t\tN/A\n" +
	"GPU1\tNV12\t X \tSYS\tPXB\t24-47,72-95\t1\t\tN/A\n" +
	"NIC0\tPIX\tSYS\t X \tNODE\t\t\t\t\n" +
	"NIC1\tSYS\tPXB\tNODE\t X \t\t\t\t\n\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n\nNIC Legend:\n\n  NIC0: rdmap7s0\n  NIC1: mlx5_4\n"

func TestSMITopo(t *testing.T) {
	want := ParseSMITopo([]byte(smiTopo))
	if len(want.Devices) != 4 || len(want.Rows) != 4 || want.NICs["NIC0"] != "rdmap7s0" || want.NICs["NIC1"] != "mlx5_4" || len(want.NICs) != 2 || want.Cut {
		t.Fatalf("%+v", want)
	}
	for _, c := range [][3]string{{"GPU0", "GPU1", "NV12"}, {"GPU0", "NIC1", "SYS"}, {"NIC1", "GPU1", "PXB"}, {"GPU0", "GPU0", "X"}} {
		if got, ok := want.Link(c[0], c[1]); got != c[2] || !ok {
			t.Errorf("%v: %q", c, got)
		}
	}
	if _, ok := want.Link("GPU0", "GPU7"); ok {
		t.Error("a link to nothing")
	}
	if r := want.Rows[1]; r.CPUs != "24-47,72-95" || r.NUMA != "1" || want.Rows[2].CPUs != "" {
		t.Errorf("%+v", want.Rows)
	}
	for name, b := range disfigured(smiTopo) {
		if got := ParseSMITopo(b); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := ParseSMITopo([]byte(strings.ReplaceAll(smiTopo, "\x1b", ""))); !reflect.DeepEqual(got, want) {
		t.Errorf("without the escape bytes: %+v", got)
	}
	for i := range smiTopo {
		got := ParseSMITopo([]byte(smiTopo[:i]))
		if !beginning(got.Rows, want.Rows) || len(got.Devices) > 0 && !reflect.DeepEqual(got.Devices, want.Devices) {
			t.Fatalf("cut at %d: %+v", i, got)
		}
		for n, v := range got.NICs {
			if want.NICs[n] != v {
				t.Fatalf("cut at %d: %s is %s", i, n, v)
			}
		}
	}
	if odd := ParseSMITopo([]byte(strings.Replace(smiTopo, "PIX\tSYS\t0-23", "???\tSYS\t0-23", 1))); len(odd.Rows) != 3 {
		t.Errorf("a row with an unknown word: %+v", odd.Rows)
	}
	one := ParseSMITopo([]byte("\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-7\tN/A\t\tN/A\n"))
	if len(one.Rows) != 1 || one.Rows[0].NUMA != "N/A" || one.Rows[0].CPUs != "0-7" {
		t.Errorf("%+v", one)
	}
}

func TestSMICaptures(t *testing.T) {
	read := 0
	for name, b := range capturedFiles(t, "nodes") {
		switch filepath.Base(name) {
		case "nvidia-smi-q.txt":
			r := ParseSMI(b)
			if r.Driver != "595.71.05" || r.CUDA != "13.2" || r.Attached != Some(len(r.GPUs)) || len(r.GPUs) != 4 {
				t.Errorf("%s: %+v", name, r)
			}
			for _, g := range r.GPUs {
				if g.Name != "NVIDIA L40S" || g.BAR1MiB != Some(uint64(65536)) || g.ComputeMode != "Default" || g.Persistence != "Enabled" || g.MIG != "N/A" || g.RecoveryAction != "None" || g.BusID == "" {
					t.Errorf("%s: %+v", name, g)
				}
			}
			read++
		case "nvidia-smi-topo-m.txt":
			topo := ParseSMITopo(b)
			if l, ok := topo.Link("GPU0", "GPU3"); l != "NODE" || !ok || len(topo.Rows) != 4 || topo.Rows[2].NUMA != "0" {
				t.Errorf("%s: %+v", name, topo)
			}
			read++
		}
	}
	if read < 4 {
		t.Errorf("%d files of %s", read, os.Getenv("GDSPROOF_CAPTURES"))
	}
}

func FuzzSMI(f *testing.F) {
	f.Add([]byte(smiQuery(2)))
	f.Add([]byte(smiTopo))
	f.Add([]byte("GPU 0: NVIDIA Z9 (UUID: GPU-1)\n"))
	for name, b := range capturedFiles(f, "nodes") {
		if strings.Contains(name, "nvidia-smi") {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, g := range ParseSMI(b).GPUs {
			if id, ok := pciAddress(g.BusID); !ok || id != g.BusID {
				t.Fatalf("%+v", g)
			}
		}
		topo := ParseSMITopo(b)
		for _, r := range topo.Rows {
			for _, d := range topo.Devices {
				if !smiLink.MatchString(r.Links[d]) {
					t.Fatalf("%+v", r)
				}
			}
		}
		for list, _ := ParseSMIList(b); len(list) > 0; list = list[1:] {
			if list[0].UUID == "" || list[0].Name == "" {
				t.Fatalf("%+v", list[0])
			}
		}
	})
}

func BenchmarkSMI(b *testing.B) {
	text := []byte(smiQuery(8))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if r := ParseSMI(text); len(r.GPUs) != 8 {
			b.Fatal(len(r.GPUs))
		}
	}
}
