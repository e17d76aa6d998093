package paste

import (
	"slices"
	"testing"

	"gdsproof/internal/facts"
)

// TestUnnamedUnit: properties of a unit that nothing names are not taken for the EFA service's.
func TestUnnamedUnit(t *testing.T) {
	const props = "Result=exit-code\nLoadState=loaded\nActiveState=failed\nSubState=failed\n"
	unit := facts.UnitSource(facts.ConfigureUnitName)
	for text, want := range map[string]bool{
		props: false,
		"$ systemctl show configure-efa-fsx-lustre-client -p Result,LoadState,ActiveState,SubState\n" + props: true,
		"Id=configure-efa-fsx-lustre-client.service\n" + props:                                                true,
	} {
		set, _ := readOne(text)
		if got := slices.Contains(sources(set), unit); got != want || len(set.Items) == 0 {
			t.Errorf("%q: %q", text, sources(set))
		}
	}
}

// TestRemote: which machine a command line runs on.
func TestRemote(t *testing.T) {
	for text, want := range map[string]remote{
		"ssh gpu-1 cat /proc/driver/nvidia-fs/stats":    {host: "gpu-1", is: true},
		"ssh -i k.pem -p 22 me@gpu-1.example.org lsmod": {host: "gpu-1", is: true},
		"ssh gpu-1":                                            {host: "gpu-1", is: true, login: true},
		"for h in a b; do ssh $h lsmod; done":                  {is: true},
		"srun -N1 -w gpu-8 gdsio -x 0":                         {host: "gpu-8", is: true},
		"srun --nodelist=gpu-8 -n 8 gdsio -x 0":                {host: "gpu-8", is: true},
		"srun -N1 --gres=gpu:8 gdsio -x 0":                     {is: true},
		"pdsh -w gpu-[1-8] lsmod":                              {is: true},
		"kubectl exec -n ns -it pod-1 -- cat /etc/cufile.json": {host: "pod-1", is: true},
		"kubectl get pods":                                     {},
		"mpirun -np 8 gdsio -x 0":                              {},
		"mpirun -np 8 --host gpu-3 gdsio -x 0":                 {host: "gpu-3", is: true},
		"docker run img gdsio -x 0":                            {},
		"cat /etc/ssh/sshd_config":                             {},
		"ssh localhost lsmod":                                  {},
		"ls -l ssh":                                            {},
	} {
		got := remoteOf(text)
		got.rest = 0
		if got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

// TestWrites: where an output went, and whether the terminal shows any of it.
func TestWrites(t *testing.T) {
	for text, want := range map[string]struct {
		files  []string
		silent bool
		behind bool
	}{
		"gdsio -x 0 > /tmp/w_$i.log 2>&1 &":         {[]string{"/tmp/w_$i.log"}, true, true},
		"gdsio -x 0 2>&1 | tee /tmp/l":              {[]string{"/tmp/l"}, false, false},
		"gdsio -x 0 2>/dev/null":                    {nil, false, false},
		"gdsio -x 0 >/dev/null 2>&1":                {nil, true, false},
		"gdsio -x 0 &> l && cat l":                  {[]string{"l"}, true, false},
		"echo 1 | sudo tee /sys/module/x":           {nil, false, false},
		"awk '$1 > 5 {print}' f":                    {nil, false, false},
		"for i in 0 1; do gdsio > l$i & done; wait": {[]string{"l$i"}, true, false},
	} {
		files, silent := writes(text)
		if !slices.Equal(files, want.files) || silent != want.silent || background(text) != want.behind {
			t.Errorf("%s: %q %v %v", text, files, silent, background(text))
		}
	}
	for _, p := range [][2]string{{"/tmp/w_$i.log", "/tmp/w_*.log"}, {"/tmp/w_3.log", "/tmp/w_*.log"}, {"l", "/tmp/l"}, {"/tmp/l", "/tmp/l"}} {
		if !sameFile(p[0], p[1]) {
			t.Errorf("%q", p)
		}
	}
	if sameFile("/tmp/a.log", "/tmp/b.log") || sameFile("/a/l", "/b/l") {
		t.Error("two files are taken for one")
	}
}
