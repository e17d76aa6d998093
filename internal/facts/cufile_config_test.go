package facts

import (
	"testing"

	"gdsproof/internal/evidence"
	"gdsproof/internal/profile"
)

// platformTable is a table over items of these sources; text "-" is a source that was looked for and is not there.
func platformTable(t *testing.T, items map[string]string) *Table {
	t.Helper()
	set := &evidence.Set{Kind: evidence.Live}
	for source, text := range items {
		it := evidence.Item{Source: source, Form: evidence.Whole, Place: evidence.Host, State: evidence.Present, Out: []byte(text)}
		if text == "-" {
			it.State, it.Out = evidence.Absent, nil
		}
		set.Items = append(set.Items, it)
	}
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	return NewTable(set, p)
}

func TestCufileEffective(t *testing.T) {
	const key = "properties.allow_compat_mode"
	file := func(v string) string { return `{"properties":{"allow_compat_mode":` + v + `}}` }
	for name, c := range map[string]struct {
		items map[string]string
		api   string
		want  CufileValue
	}{
		"nothing anywhere": {map[string]string{CallerEnvironment: "", CufileEtc: "-"}, "", CufileValue{"true", CufileFromBuiltIn, true, ""}},
		"the file":         {map[string]string{CallerEnvironment: "", CufileEtc: file("false")}, "", CufileValue{"false", CufileEtc, true, ""}},
		"file without the key, environment not seen": {map[string]string{CufileEtc: "{}"}, "", CufileValue{"true", CufileFromBuiltIn, false, ""}},
		"the program":                  {map[string]string{CallerEnvironment: "CUFILE_ALLOW_COMPAT_MODE=true\n", CufileEtc: file("true")}, "false", CufileValue{"false", CufileFromAPI, true, ""}},
		"a variable":                   {map[string]string{CallerEnvironment: "CUFILE_ALLOW_COMPAT_MODE=FALSE\n", CufileEtc: file("true")}, "", CufileValue{"false", "CUFILE_ALLOW_COMPAT_MODE", true, ""}},
		"a variable that says nothing": {map[string]string{CallerEnvironment: "CUFILE_ALLOW_COMPAT_MODE=bogus\n", CufileEtc: file("true")}, "", CufileValue{"true", CufileEtc, true, "CUFILE_ALLOW_COMPAT_MODE=bogus"}},
		"a variable that another release may hear":    {map[string]string{CallerEnvironment: "CUFILE_ALLOW_COMPAT_MODE=0\n", CufileEtc: file("true")}, "", CufileValue{"true", CufileEtc, false, "CUFILE_ALLOW_COMPAT_MODE=0"}},
		"a variable that would change nothing":        {map[string]string{CallerEnvironment: "CUFILE_ALLOW_COMPAT_MODE=1\n", CufileEtc: file("true")}, "", CufileValue{"true", CufileEtc, true, "CUFILE_ALLOW_COMPAT_MODE=1"}},
		"the named file":                              {map[string]string{CallerEnvironment: "CUFILE_ENV_PATH_JSON=/a/b.json\n", "/a/b.json": file("false"), CufileEtc: file("true")}, "", CufileValue{"false", "/a/b.json", true, ""}},
		"the named file is silent, the other is not":  {map[string]string{CallerEnvironment: "CUFILE_ENV_PATH_JSON=/a/b.json\n", "/a/b.json": "{}", CufileEtc: file("false")}, "", CufileValue{"false", CufileEtc, true, ""}},
		"the named file is not there":                 {map[string]string{CallerEnvironment: "CUFILE_ENV_PATH_JSON=/a/b.json\n", "/a/b.json": "-", CufileEtc: file("false")}, "", CufileValue{"false", CufileEtc, true, ""}},
		"the named file was not looked at":            {map[string]string{CallerEnvironment: "CUFILE_ENV_PATH_JSON=/a/b.json\n", CufileEtc: file("false")}, "", CufileValue{"false", CufileEtc, false, ""}},
		"the named file is somewhere":                 {map[string]string{CallerEnvironment: "CUFILE_ENV_PATH_JSON=b.json\n", CufileEtc: "-"}, "", CufileValue{"true", CufileFromBuiltIn, false, ""}},
		"null is as if the key were not there":        {map[string]string{CallerEnvironment: "", CufileEtc: file("null")}, "", CufileValue{"true", CufileFromBuiltIn, true, ""}},
		"the name of another variable is no variable": {map[string]string{CallerEnvironment: "XCUFILE_ALLOW_COMPAT_MODE=false\n", CufileEtc: "-"}, "", CufileValue{"true", CufileFromBuiltIn, true, ""}},
	} {
		k := Get(platformTable(t, c.items), evidence.Host, CufileConfig)
		if !k.OK {
			t.Errorf("%s: %s", name, k.Why)
			continue
		}
		if got, ok := k.V.Effective(key, c.api); got != c.want || !ok {
			t.Errorf("%s: %+v %v, want %+v", name, got, ok, c.want)
		}
		if f, refused := k.V.Refused(); refused {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestCufileConfigOtherKeys(t *testing.T) {
	k := Get(platformTable(t, map[string]string{CallerEnvironment: "CUFILE_LOGGING_LEVEL=info\nCUFILE_ENV_PATH_JSON=\n", CufileEtc: `{"logging":{"level":"INFO"},"denylist":{"filesystems":["lustre"]},"zzz":{"q":7}}`}), evidence.Host, CufileConfig)
	if v, _ := k.V.Effective("logging.level", ""); v.Value != "ERROR" || v.Origin != "CUFILE_LOGGING_LEVEL" {
		t.Errorf("a level that is none leaves the built-in one: %+v", v)
	}
	if v, ok := k.V.Effective("denylist.filesystems", ""); v.Value != "lustre" || !ok {
		t.Errorf("%+v", v)
	}
	if v, ok := k.V.Effective("zzz.q", ""); v.Value != "7" || !ok {
		t.Errorf("an unknown key: %+v", v)
	}
	if v, ok := k.V.Effective("zzz.no", ""); ok {
		t.Errorf("a key of nobody: %+v", v)
	}
	if k.V.Named != nil {
		t.Errorf("an empty name names a file: %+v", k.V.Named)
	}
}

func TestCufileConfigUnknown(t *testing.T) {
	if k := Get(platformTable(t, nil), evidence.Host, CufileConfig); k.OK || k.Why == "" {
		t.Errorf("%+v", k)
	}
	k := Get(platformTable(t, map[string]string{CallerEnvironment: "", CufileEtc: `{"a":1,}`}), evidence.Host, CufileConfig)
	if f, refused := k.V.Refused(); !refused || f.Path != CufileEtc || f.JSON.Reason != "a comma before }" {
		t.Errorf("%+v, %v", f, refused)
	}
	tbl := platformTable(t, map[string]string{CallerEnvironment: "", CufileEtc: `{"a":1,`})
	for i := range tbl.Set.Items {
		tbl.Set.Items[i].Truncated = tbl.Set.Items[i].Source == CufileEtc
	}
	k = Get(tbl, evidence.Host, CufileConfig)
	if _, refused := k.V.Refused(); refused || k.V.Etc.Read || k.V.Etc.Why == "" {
		t.Errorf("a file that was not read whole counts as refused: %+v", k.V.Etc)
	}
	if v, _ := k.V.Effective("properties.allow_compat_mode", ""); v.Sure {
		t.Errorf("%+v", v)
	}
}

// libcufile refuses a whole file for a folder in it that is not there; one that nobody looked for says nothing.
func TestCufileNamedPaths(t *testing.T) {
	const text = `{
 "logging": {"dir": "/var/log/cufile"},
 "denylist": {"mounts": ["/a", "/b"]}
}`
	for name, c := range map[string]struct {
		looks map[string]string
		why   string
		line  int
	}{
		"all there":      {map[string]string{"statfs /var/log/cufile": "type=0x1", "statfs /a": "type=0x1", "statfs /b": "type=0x1"}, "", 0},
		"nobody looked":  {nil, "", 0},
		"a folder":       {map[string]string{"statfs /var/log/cufile": "-", "statfs /a": "type=0x1"}, "logging.dir names /var/log/cufile, which is not there", 2},
		"a list's entry": {map[string]string{"statfs /var/log/cufile": "type=0x1", "statfs /b": "-"}, "denylist.mounts names /b, which is not there", 3},
	} {
		items := map[string]string{CallerEnvironment: "", CufileEtc: text}
		for k, v := range c.looks {
			items[k] = v
		}
		k := Get(platformTable(t, items), evidence.Host, CufileConfig)
		f, refused := k.V.Refused()
		if refused != (c.why != "") || f.JSON.Reason != c.why || f.JSON.Line != c.line {
			t.Errorf("%s: %v %q line %d", name, refused, f.JSON.Reason, f.JSON.Line)
		}
	}
}

// The two tables of values differ in six keys, and these are the tell of a file that was not read.
func TestCufileTables(t *testing.T) {
	differ, seen := 0, map[string]bool{}
	for _, k := range CufileKeys {
		if seen[k.Name] {
			t.Errorf("%s comes twice", k.Name)
		}
		seen[k.Name] = true
		if k.BuiltIn != "" && k.Stock != "" && k.BuiltIn != k.Stock {
			differ++
		}
		if k.Kind == CufileAny {
			t.Errorf("%s has no kind", k.Name)
		}
	}
	if differ != 6 {
		t.Errorf("%d keys differ", differ)
	}
}
