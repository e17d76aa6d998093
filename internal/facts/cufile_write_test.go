package facts

import (
	"strings"
	"testing"
)

func TestStrictCufile(t *testing.T) {
	etc := `{ // the package's
  "logging": {"level": "ERROR"}, "properties": {"allow_compat_mode": true, "force_compat_mode": true, "max_direct_io_size_kb": 016384, "posix_pool_slab_size_kb": [ 4, 1024 ] /* x */},
  "fs": {"lustre": {"posix_gds_min_kb": 8, "mount_table": {"/a.b": {"rdma_dev_addr_list": ["1.2.3.4"]}}}, "gpfs": null}
} and what stands behind`
	named := `{"properties": {"allow_compat_mode": true, "rdma_peer_type": "dmabuf"}, "fs": {"lustre": {"posix_gds_min_kb": 0}}}`
	b, err := StrictCufile([]byte(etc), []byte(named))
	if err != nil {
		t.Fatal(err)
	}
	c := ParseCufileJSON(b)
	if !c.Accepted {
		t.Fatalf("%s is refused: line %d, %s", b, c.Line, c.Reason)
	}
	for name, want := range map[string]string{"properties.allow_compat_mode": "false", "properties.force_compat_mode": "false", "properties.max_direct_io_size_kb": "16384",
		"properties.posix_pool_slab_size_kb": "4 1024", "properties.rdma_peer_type": "dmabuf", "fs.lustre.posix_gds_min_kb": "0", "fs.lustre.mount_table": "/a.b", "logging.level": "ERROR"} {
		if s, ok := c.Get(name); !ok || s.Value != want {
			t.Errorf("%s: %q %v, want %q in %s", name, s.Value, ok, want, b)
		}
	}
	if !strings.Contains(string(b), `"1.2.3.4"`) {
		t.Errorf("the address is gone: %s", b)
	}
	if b, err := StrictCufile(); err != nil || !strings.Contains(string(b), `"allow_compat_mode": false`) {
		t.Errorf("%s, %v", b, err)
	}
	if _, err := StrictCufile([]byte(`{"a":1,}`)); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a refused file is copied: %v", err)
	}
}

// A copy of whatever libcufile takes is taken too, and says compat mode off.
func FuzzStrictCufile(f *testing.F) {
	for _, s := range []string{`{}`, `null`, `{"properties":{"allow_compat_mode":true,"max_direct_io_size_kb":016384}}`, `{"fs":{"lustre":{"mount_table":{"/a.b":{"rdma_dev_addr_list":["1.2.3.4"]}}}},"denylist":{"drivers":["x"]}} tail`,
		`{"properties":{},"properties":{"io_batchsize":128.9}}`, "{\"logging\":{\"dir\":\"a\tb\\u00e9\xe9\"}}", `{"a":-1,"b":1e3,"c":[],"d":[1,true,null,{"e":"f"}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		out, err := StrictCufile(b)
		if err != nil {
			return
		}
		c := ParseCufileJSON(out)
		if !c.Accepted {
			t.Fatalf("%q becomes %s, which is refused: line %d, %s", b, out, c.Line, c.Reason)
		}
		for _, k := range []string{"properties.allow_compat_mode", "properties.force_compat_mode"} {
			if s, ok := c.Get(k); !ok || s.Value != "false" {
				t.Fatalf("%q becomes %s: %s is %q", b, out, k, s.Value)
			}
		}
	})
}

func TestParseGPUInformation(t *testing.T) {
	g := ParseGPUInformation([]byte("Model: \t\t NVIDIA H200\nIRQ:   \t\t 41\nGPU UUID: \t GPU-2005483d-8d30-e28f-16ed-5c38c18acefe\nBus Location: \t 0000:00:06.0\n"))
	if g.Model != "NVIDIA H200" || g.UUID != "GPU-2005483d-8d30-e28f-16ed-5c38c18acefe" {
		t.Errorf("%+v", g)
	}
	if g := ParseGPUInformation([]byte("Model: \t\t Unknown\nGPU UUID: \t GPU-????????-????-????-????-????????????\n")); g.UUID != "" {
		t.Errorf("%+v", g)
	}
	if g := ParseGPUInformation([]byte("GPU UUID: \t GPU-2005483d-8d")); g.UUID != "" {
		t.Errorf("of a cut line: %+v", g)
	}
}

func FuzzGPUInformation(f *testing.F) {
	f.Add([]byte("Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-2005483d\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if g := ParseGPUInformation(b); strings.ContainsAny(g.UUID+g.Model, "\n") {
			t.Fatalf("%+v", g)
		}
	})
}
