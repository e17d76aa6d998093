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
