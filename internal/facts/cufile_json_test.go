package facts

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// around puts a value or more into a file that sets one key besides: "ok" of a case means that libcufile then used
// 2048 for it.
func around(s string) string {
	return `{"zzz":` + s + `,"properties":{"max_direct_io_size_kb":2048}}`
}

const (
	cufileOK   = "ok"
	cufileBad  = "refused"
	cufileDies = "dies"
)

const props2048 = `{"properties":{"max_direct_io_size_kb":2048}}`

// cufileMeasured are forms that libcufile 1.15.1 was given, with what it made of them.
var cufileMeasured = map[string]string{
	props2048: cufileOK,
	`{"properties":{"max_direct_io_size_kb":4096,"max_direct_io_size_kb":2048}}`: cufileOK,
	`{"properties":{"max_direct_io_size_kb":2048,}}`:                             cufileBad,
	`{"properties":{"max_direct_io_size_kb":2048,"rdma_dev_addr_list":["x",]}}`:  cufileBad,
	`{"properties":{"max_direct_io_size_kb":2048,"rdma_dev_addr_list":[,]}}`:     cufileBad,
	`{"properties":{"max_direct_io_size_kb":2048,,"force_compat_mode":true}}`:    cufileBad,
	`{,"properties":{}}`: cufileBad,
	`{"properties":{"max_direct_io_size_kb":2048 "force_compat_mode":true}}`: cufileBad,
	"\xef\xbb\xbf" + props2048:         cufileBad,
	"# x\n" + props2048:                cufileBad,
	"{# x\n" + props2048[1:]:           cufileBad,
	"":                                 cufileBad,
	" \n":                              cufileBad,
	"// x\n":                           cufileBad,
	"/* x */\n":                        cufileBad,
	"// x\n" + props2048:               cufileOK,
	"// x\r" + props2048:               cufileOK,
	"/**/" + props2048:                 cufileOK,
	"/*/" + props2048:                  cufileBad,
	"/* a * b ** /* c **/" + props2048: cufileOK,
	"/* " + props2048:                  cufileBad,
	`{"properties"/*b*/:{"max_direct_io_size_kb":2048}}`:                cufileBad,
	`{"properties":/*a*/{"max_direct_io_size_kb":/*c*/2048/*d*/}/*e*/}`: cufileOK,
	props2048 + "// x":              cufileOK,
	props2048 + " /* x":             cufileOK,
	props2048 + " /":                cufileOK,
	props2048 + " # x":              cufileOK,
	props2048 + " garbage":          cufileOK,
	props2048 + "}":                 cufileOK,
	props2048 + `{"properties":[]}`: cufileOK,
	props2048 + "\x00":              cufileOK,
	props2048[:len(props2048)-1]:    cufileBad,
	`{"properties":{ / "max_direct_io_size_kb":2048}}`:                               cufileBad,
	"{\"properties\":{\"max_direct_io_size_kb\":2048, // x\n \"nvtx\":1}}":           cufileOK,
	"{\"properties\":{\"max_direct_io_size_kb\":2048 // x\n, \"nvtx\":1}}":           cufileOK,
	"{\"properties\":{\"max_direct_io_size_kb\":2048, // x\n }}":                     cufileBad,
	`{"properties":{"max_direct_io_size_kb":2048 /*x*/ 5 "force_compat_mode":true}}`: cufileOK,
	`{"properties":{"max_direct_io_size_kb":2048 /*x*/ "force_compat_mode":true}}`:   cufileBad,
	`{"properties":{"max_direct_io_size_kb":2048},"":1,}`:                            cufileOK,
	around("[ // x\n ]"):              cufileBad,
	around("[ // x\n 1 /* y */, 2 ]"): cufileOK,
	around("{ /* x */ }"):             cufileOK,
	"// \xe9\n" + props2048:           cufileOK,
	around("\"\xe9\""):                cufileOK,
	around("\"a\tb\""):                cufileOK,
	around("\"a\nb\""):                cufileOK,
	around("\"a\x00b\""):              cufileOK,
	"{\"properties\":\x00{}}":         cufileBad,
	"{\f" + props2048[1:]:             cufileBad,
	"{\v" + props2048[1:]:             cufileBad,
	"{\u00a0" + props2048[1:]:         cufileBad,
	"{\r" + props2048[1:]:             cufileOK,
	`{'properties':{}}`:               cufileBad,
	around(`'a'`):                     cufileBad,
	`{properties:{}}`:                 cufileBad,
	`{1:2,"properties":{}}`:           cufileBad,
	`[1]`:                             cufileDies,
	`"x"`:                             cufileDies,
	`1`:                               cufileDies,
	`true`:                            cufileDies,
	`{"properties":{"max_direct_io_size_kb":}}`:          cufileBad,
	`{"properties":{"max_direct_io_size_kb" 2048}}`:      cufileBad,
	`{"properties"={"max_direct_io_size_kb":2048}}`:      cufileBad,
	`{"propertie\u0073":{"max_direct_io_size_kb":2048}}`: cufileOK,
	`{"properties":[]}`:                                  cufileDies,
	`{"properties":"x"}`:                                 cufileDies,
	`{"fs":[1]}`:                                         cufileDies,
	`{"fs":{"lustre":1}}`:                                cufileDies,
	`{"fs":{"generic":[]}}`:                              cufileDies,
	`{"logging":"INFO"}`:                                 cufileDies,
	`{"denylist":"x"}`:                                   cufileDies,
	`{"fs":{"lustre":{"mount_table":{"/x":{"rdma_dev_addr_list":"1"}}}}}`: cufileBad,
	`{"fs":{"lustre":{"mount_table":{"/x":[]}}}}`:                         cufileBad,
	`{"fs":{"lustre":{"mount_table":{"/x":"y"}}}}`:                        cufileBad,
	`{"properties":{"rdma_dev_addr_list":["1.2.3.4",5]}}`:                 cufileBad,
	`{"properties":{"posix_pool_slab_size_kb":[4.0,1024,16384]}}`:         cufileBad,
	around(strings.Repeat("[", 999) + strings.Repeat("]", 999)):           cufileOK,
	around(strings.Repeat("[", 1000) + strings.Repeat("]", 1000)):         cufileDies,
	"{\x00\"\x00p\x00": cufileBad, // UTF-16
}

func TestCufileJSONMeasured(t *testing.T) {
	for value, want := range map[string]string{
		"010": cufileOK, "08": cufileOK, "0x10": cufileBad, "+5": cufileBad, "-0": cufileOK, "-1": cufileOK, "1.": cufileOK, "1.0": cufileOK, ".5": cufileBad,
		"1e3": cufileOK, "1E3": cufileOK, "1e": cufileBad, "1e+": cufileBad, "-": cufileOK, "--1": cufileBad, "1-2": cufileBad, "1e+3": cufileOK, "00": cufileOK,
		"1_000": cufileBad, "NaN": cufileBad, "Infinity": cufileBad, "-Infinity": cufileBad, "18446744073709551616": cufileOK, "99999999999999999999999": cufileOK,
		"1e400": cufileBad, "True": cufileBad, "TRUE": cufileBad, "tru": cufileBad, "nul": cufileBad, "truex": cufileBad, "true1": cufileBad, "null": cufileOK,
		`"a\"\\\/\b\f\n\r\t\u0041"`: cufileOK, `"a\x"`: cufileBad, `"a\'b"`: cufileBad, `"\u12"`: cufileBad, `"\uZZZZ"`: cufileBad, `"\ud800"`: cufileBad,
		`"\udc00"`: cufileOK, `"\ud83d\ude00"`: cufileOK, `"\ud800x"`: cufileBad, `"\u0000"`: cufileOK, `"abc\"`: cufileBad, `"abc`: cufileBad, "[]": cufileOK,
	} {
		cufileCheck(t, around(value), want)
	}
	for text, want := range cufileMeasured {
		cufileCheck(t, text, want)
	}
	// Accepted, and none of the keys is read.
	for _, text := range []string{"null", "[]", "{}", `{"properties":null}`, `{"fs":null}`, `{"Properties":{"max_direct_io_size_kb":2048}}`,
		`{"properties.max_direct_io_size_kb":2048}`, `{"block":"x"}`, `{"fs":{"zzz":"x"}}`,
		`{"properties":{"max_direct_io_size_kb":2048,"max_direct_io_size_kb":null}}`, `{"properties":{"max_direct_io_size_kb":2048},"properties":null}`,
		`{"properties":{"max_direct_io_size_kb":2048},"properties":{"force_compat_mode":true}}`} {
		c := ParseCufileJSON([]byte(text))
		if s, ok := c.Get("properties.max_direct_io_size_kb"); !c.Accepted || ok && s.Known {
			t.Errorf("%s: %+v", text, c)
		}
	}
}

func cufileCheck(t *testing.T, text, want string) {
	t.Helper()
	c := ParseCufileJSON([]byte(text))
	got := cufileBad
	s, ok := c.Get("properties.max_direct_io_size_kb")
	switch {
	case c.Accepted && ok && s.Value == "2048":
		got = cufileOK
	case c.Dies:
		got = cufileDies
	case c.Accepted:
		got = "without the value"
	}
	if got != want || c.Accepted == (c.Reason != "") || c.Accepted == (c.Line > 0) {
		t.Errorf("%.80q: %s (line %d: %s), want %s", text, got, c.Line, c.Reason, want)
	}
}

// Each key was tried with these values: the outcomes depend on its kind alone, but for limits.
func TestCufileJSONTypes(t *testing.T) {
	values := []string{"true", "1", "0", "5", "-1", `"true"`, `"5"`, `"abc"`, "1.5", "2.0", "null", "[]", "{}", "[5]", `["/x"]`, "4294967296", "18446744073709551616"}
	const no, none = "refused", "absent"
	outcomes := map[CufileKind][]string{
		CufileBool:    {"true", no, no, no, no, no, no, no, no, no, none, no, no, no, no, no, no},
		CufileUint:    {"1", "1", "0", "5", no, no, no, no, "1", "2", none, no, no, no, no, "4294967296", no},
		CufileUint32:  {"1", "1", "0", "5", no, no, no, no, "1", "2", none, no, no, no, no, "dies", no},
		CufileString:  {no, no, no, no, no, "true", "5", "abc", no, no, none, no, no, no, no, no, no},
		CufileUints:   {no, no, no, no, no, no, no, no, no, no, none, none, no, "5", no, no, no},
		CufileStrings: {no, no, no, no, no, no, no, no, no, no, none, "", no, no, "/x", no, no},
		CufileMounts:  {no, no, no, no, no, no, no, no, no, no, none, no, "", no, no, no, no},
	}
	for _, key := range CufileKeys {
		for i, value := range values {
			text := value
			for parts := strings.Split(key.Name, "."); len(parts) > 0; parts = parts[:len(parts)-1] {
				text = fmt.Sprintf("{%q:%s}", parts[len(parts)-1], text)
			}
			c := ParseCufileJSON([]byte(text))
			got := no
			if s, ok := c.Get(key.Name); c.Accepted && ok && s.Known {
				got = s.Value
			} else if c.Accepted {
				got = none
			} else if c.Dies {
				got = "dies"
			}
			if want := outcomes[key.Kind][i]; got != want {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		}
	}
	for _, name := range []string{"zzz.unknown", "properties.no_such_key", "properties.max_batch_io_size", "logging.max_file_size_mb"} {
		section, key, _ := strings.Cut(name, ".")
		for _, value := range values {
			c := ParseCufileJSON([]byte(fmt.Sprintf(`{%q:{%q:%s}}`, section, key, value)))
			if s, ok := c.Get(name); !c.Accepted || s.Known || ok != (value != "null" && value != "{}") {
				t.Errorf("%s = %s: %+v", name, value, c)
			}
		}
	}
}

func TestCufileJSONReasons(t *testing.T) {
	for text, want := range map[string]string{
		"{\n \"properties\": {\n  \"force_compat_mode\": true,\n }\n}": "4: a comma before }",
		"{\"a\": [1,\n]}":          "2: a comma before ], or a comment in an empty list",
		"{\"a\": [ // x\n]}":       "2: a comma before ], or a comment in an empty list",
		"\xef\xbb\xbf{}":           "1: a byte order mark where a value belongs",
		"{\n# note\n}":             "2: #, which begins no comment here",
		"":                         "1: the text ends where a value belongs",
		"{\"a\":1":                 "1: the text ends where a comma or } belongs",
		"{\"a\"/*x*/:1}":           `1: a comment where a colon behind the name "a" belongs`,
		"{'a':1}":                  "1: ' where a name in quotes, or } belongs",
		"{\"a\":1\n\"b\":2}":       "2: a string where a comma or } belongs",
		"{\"a\":/*":                "1: a comment without an end",
		"{\"a\":\"b}\n":            "1: a string without an end",
		"{\"a\":1e}":               "1: 1e is no number",
		"{\"fs\":\n{\"nfs\":\n7}}": "2: fs.nfs is not an object",
		"{\"properties\":{\n\n\"use_poll_mode\":1}}": "3: properties.use_poll_mode has the wrong type: 1",
		"[5]": "1: the first value is not an object",
	} {
		c := ParseCufileJSON([]byte(text))
		got := fmt.Sprintf("%d: %s", c.Line, c.Reason)
		if !strings.HasPrefix(got, want) || c.Accepted {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestCufileJSONSettings(t *testing.T) {
	c := ParseCufileJSON([]byte(`// site file
{ "logging": { "level" : "WARN" },
  "properties": { "allow_compat_mode": false, "rdma_dev_addr_list": [ "10.1.2.3", "10.1.2.4" ], "io_batchsize": 64.9,
     "posix_pool_slab_size_kb": [ 4, 512 ], "force_comapt_mode": true },
  "fs": { "lustre": { "posix_gds_min_kb": 16, "mount_table": { "/a.b/c": {"rdma_dev_addr_list": []}, "/d": null } } },
  "block": { "nvme": { "use_pci_p2pdma": true } },
  "denylist": { "mounts": [ "/scratch" ], "x.y": [1, 2] } }`))
	want := []CufileSetting{
		{"logging.level", "WARN", nil, true, 2},
		{"properties.allow_compat_mode", "false", nil, true, 3},
		{"properties.rdma_dev_addr_list", "10.1.2.3 10.1.2.4", []string{"10.1.2.3", "10.1.2.4"}, true, 3},
		{"properties.io_batchsize", "64", nil, true, 3},
		{"properties.posix_pool_slab_size_kb", "4 512", []string{"4", "512"}, true, 4},
		{"properties.force_comapt_mode", "true", nil, false, 4},
		{"fs.lustre.posix_gds_min_kb", "16", nil, true, 5},
		{"fs.lustre.mount_table", "/a.b/c /d", []string{"/a.b/c", "/d"}, true, 5},
		{"block.nvme.use_pci_p2pdma", "true", nil, false, 6},
		{"denylist.mounts", "/scratch", []string{"/scratch"}, true, 7},
		{`denylist."x.y"`, "[1, 2]", nil, false, 7},
	}
	if !c.Accepted || !reflect.DeepEqual(c.Settings, want) || c.Doubts != nil {
		t.Errorf("%+v", c)
	}
	limits := ParseCufileJSON([]byte("{\"properties\":{\"max_direct_io_size_kb\":100,\n\"io_batchsize\":257,\"per_buffer_cache_size_kb\":0,\"rdma_peer_type\":\"peer\"," +
		"\"poll_mode_max_size_kb\":5,\"max_batch_io_timeout_msecs\":1001,\"max_device_cache_size_kb\":6,\"max_device_pinned_mem_size_kb\":63},\"execution\":{\"max_io_queue_depth\":0}}"))
	if len(limits.Doubts) != 9 || !limits.Accepted || limits.Doubts[0].Line != 1 || limits.Doubts[1].Line != 2 || limits.Doubts[1].Why != "must be from 1 to 256" {
		t.Errorf("%+v", limits)
	}
}

// What was cut is refused, or it is the beginning of the settings.
func TestCufileJSONCut(t *testing.T) {
	text := "// c\n" + `{"properties": {"allow_compat_mode": false, "io_batchsize": 128}, "fs": {"lustre": {"posix_gds_min_kb": 16}}} // end`
	end := strings.LastIndex(text, "}") + 1
	for i := range text {
		if c := ParseCufileJSON([]byte(text[:i])); c.Accepted != (i >= end) {
			t.Errorf("cut at %d of %d: %+v", i, end, c)
		}
	}
}

func FuzzCufileJSON(f *testing.F) {
	for text := range cufileMeasured {
		f.Add([]byte(text))
	}
	for name, b := range capturedFiles(f, "nodes") {
		if strings.HasSuffix(name, ".json") {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := ParseCufileJSON(b)
		if c.Accepted == (c.Reason != "") || c.Dies && c.Accepted || !c.Accepted && (c.Line < 1 || c.Line > 1+strings.Count(string(b), "\n")) {
			t.Fatalf("%+v", c)
		}
		line := 0
		for _, s := range c.Settings {
			if s.Known && s.Name == "" || s.Line < 1 {
				t.Fatalf("%+v", s)
			}
			line = max(line, s.Line)
		}
		if line > 1+strings.Count(string(b), "\n") {
			t.Fatalf("line %d", line)
		}
		// What comes behind the first value is not looked at.
		if more := ParseCufileJSON(append(append([]byte(nil), b...), "\n}] /* x"...)); c.Accepted && (!more.Accepted || !reflect.DeepEqual(more.Settings, c.Settings)) {
			t.Fatalf("%+v, with more behind it %+v", c, more)
		}
	})
}

func BenchmarkCufileJSON(b *testing.B) {
	var s strings.Builder
	s.WriteString("{")
	for _, section := range []string{"a", "b", "c", "d"} {
		fmt.Fprintf(&s, "%q: { // %s\n", section, section)
		for i := range 50 {
			fmt.Fprintf(&s, "  \"key_%d\": [1, 2, %d], // a comment\n", i, i)
		}
		s.WriteString("\"last\": true },\n")
	}
	s.WriteString(`"properties": {"allow_compat_mode": true}}`)
	text := []byte(s.String())
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if c := ParseCufileJSON(text); !c.Accepted {
			b.Fatal(c.Reason)
		}
	}
}
