package facts

import (
	"reflect"
	"strings"
	"testing"
)

const modinfoTwo = `filename:       /lib/modules/6.8.0-1031-aws/updates/dkms/efa.ko.zst
version:        3.2.1g
license:        Dual BSD/GPL
description:    Elastic Fabric Adapter (EFA)
author:         Amazon.com, Inc. or its affiliates
srcversion:     1A2B3C4D5E6F708192A3B4C
alias:          pci:v00001D0Fd0000EFA3sv*sd*bc*sc*i*
depends:        ib_core,ib_uverbs
retpoline:      Y
name:           efa
vermagic:       6.8.0-1031-aws SMP preempt mod_unload modversions
sig_id:         PKCS#7
signer:         DKMS module signing key
sig_key:        0A:1B:2C
sig_hashalgo:   sha512
signature:      5D:33:AA:01:
		77:C0:12:FE
filename:       /lib/modules/6.8.0-1031-aws/extra/nvidia-fs.ko
description:    NVIDIA GPUDirect Storage
license:        GPL v2
version:        2.26.9
depends:
name:           nvidia_fs
vermagic:       6.8.0-1031-aws SMP preempt mod_unload modversions
parm:           max_devices:uint
parm:           nvfs_max_devices:number of character devices: to expose
`

const modinfoMissing = "modinfo: ERROR: Module kefalnd not found.\n"

// ethtool's answer has a version line too, and it is none of the module above it.
const modinfoGrepped = `$ modinfo lustre efa | grep -E '^(filename|version)'
filename:       /lib/modules/6.1.9/kernel/drivers/staging/lustrefsx/lustre/llite/lustre.ko.xz
version:        2.15.7
filename:       (builtin)
version:        2.9.0a
$ ethtool -i ens5 | head -2
driver: ena
version: 2.13.3g
version: 2.14.0
`

func TestParseModinfo(t *testing.T) {
	got := ParseModinfo([]byte(modinfoTwo + modinfoMissing))
	want := Modinfo{
		Modules: []ModuleFile{{
			Filename: "/lib/modules/6.8.0-1031-aws/updates/dkms/efa.ko.zst", Name: "efa", Version: "3.2.1g",
			License: "Dual BSD/GPL", Description: "Elastic Fabric Adapter (EFA)", SrcVersion: "1A2B3C4D5E6F708192A3B4C",
			Vermagic: "6.8.0-1031-aws SMP preempt mod_unload modversions", Depends: Some([]string{"ib_core", "ib_uverbs"}),
		}, {
			Filename: "/lib/modules/6.8.0-1031-aws/extra/nvidia-fs.ko", Name: "nvidia_fs", Version: "2.26.9",
			License: "GPL v2", Description: "NVIDIA GPUDirect Storage", Depends: Some([]string{}),
			Vermagic: "6.8.0-1031-aws SMP preempt mod_unload modversions",
			Parms:    []Parm{{"max_devices", "uint"}, {"nvfs_max_devices", "number of character devices: to expose"}},
		}},
		Missing: []string{"kefalnd"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if m, ok := got.Of("nvidia-fs"); !ok || m.Version != "2.26.9" || m.Kernel() != "6.8.0-1031-aws" {
		t.Errorf("Of(nvidia-fs) = %+v %v", m, ok)
	}
	if !got.NotFound("kefalnd") || got.NotFound("efa") {
		t.Errorf("NotFound: %v, want kefalnd alone", got.Missing)
	}
	for how, text := range disfigured(modinfoTwo + modinfoMissing) {
		if got := ParseModinfo(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v\nwant %+v", how, got, want)
		}
	}
}

func TestParseModinfoGrepped(t *testing.T) {
	got := ParseModinfo([]byte(modinfoGrepped))
	if m, ok := got.Of("lustre"); !ok || m.Version != "2.15.7" || m.Depends.OK {
		t.Errorf("lustre = %+v %v", m, ok)
	}
	if len(got.Modules) != 4 || got.Modules[1].Version != "2.9.0a" || got.Modules[2].Name != "" {
		t.Errorf("modules = %+v, want lustre, a builtin and two versions that are of no module", got.Modules)
	}
}

func TestParseModinfoComplaints(t *testing.T) {
	for text, want := range map[string]Modinfo{
		modinfoMissing: {Missing: []string{"kefalnd"}},
		"modinfo: ERROR: Module kefalnd not found.":            {Missing: []string{"kefalnd"}},
		"modinfo: ERROR: Module kefalnd not fou":               {Cut: true},
		"ERROR: modinfo: could not find module lustre\n":       {Missing: []string{"lustre"}},
		"ERROR: modinfo: could not find module lus":            {Cut: true},
		"modinfo: module 'lnet' not found\n":                   {Missing: []string{"lnet"}},
		"bash: modinfo: command not found\n":                   {},
		"modinfo: ERROR: missing module or filename.\n":        {Errors: []string{"modinfo: ERROR: missing module or filename."}},
		"version:  2.28.4":                                     {Cut: true},
		"Version: 2\nsrc-version: 1\n9: x\ndriver: 5\n":        {},
		"sig_key2: A\nname: a\nname: b\n":                      {Modules: []ModuleFile{{Name: "a"}, {Name: "b"}}},
		"filename: /x/a-b.ko\nname: a_b\n":                     {Modules: []ModuleFile{{Filename: "/x/a-b.ko", Name: "a_b"}}},
		"license: GPL\n":                                       {Modules: []ModuleFile{{License: "GPL"}}},
		"staging: Y\nintree: Y\ndepends: lnet\n":               {Modules: []ModuleFile{{Staging: true, Depends: Some([]string{"lnet"})}}},
		"":                                                     {},
		"Module                  Size  Used by\nefa 1 0\n":     {},
		"version: 3.0.0g\nsrcversion: AB12\nvermagic: 6.1 x\n": {Modules: []ModuleFile{{Version: "3.0.0g", SrcVersion: "AB12", Vermagic: "6.1 x"}}},
	} {
		if got := ParseModinfo([]byte(text)); !reflect.DeepEqual(got, want) {
			t.Errorf("ParseModinfo(%q) = %+v, want %+v", text, got, want)
		}
	}
}

func TestParseModinfoField(t *testing.T) {
	got := ParseModinfoField([]byte("2.26.9\nmodinfo: ERROR: Module x not found.\n\nGPL v2\n2.1"))
	if want := []string{"2.26.9", "GPL v2"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// modinfoFromCut fails if a cut text says what the whole text does not.
func modinfoFromCut(t *testing.T, cut, whole Modinfo) {
	t.Helper()
	if len(cut.Modules) > len(whole.Modules) || len(cut.Missing) > len(whole.Missing) {
		t.Fatalf("cut says more: %+v", cut)
	}
	for i, c := range cut.Modules {
		w := whole.Modules[i]
		for _, f := range [][2]string{
			{c.Filename, w.Filename}, {c.Version, w.Version}, {c.License, w.License}, {c.SrcVersion, w.SrcVersion}, {c.Vermagic, w.Vermagic},
			{c.Description, w.Description},
		} {
			if f[0] != "" && f[0] != f[1] {
				t.Fatalf("module %d: cut says %q, whole %q", i, f[0], f[1])
			}
		}
		if c.Name != "" && c.Filename == "" && c.Name != w.Name || c.Filename == "" && w.Filename != "" {
			t.Fatalf("module %d: cut is %q, whole %q", i, c.Name, w.Name)
		}
		if c.Depends.OK && !reflect.DeepEqual(c.Depends, w.Depends) || c.Staging && !w.Staging {
			t.Fatalf("module %d: cut says %+v, whole %+v", i, c, w)
		}
	}
	for i, n := range cut.Missing {
		if n != whole.Missing[i] {
			t.Fatalf("cut misses %q, whole %q", n, whole.Missing[i])
		}
	}
}

func TestModinfoCutAnywhere(t *testing.T) {
	text := []byte(modinfoTwo + modinfoMissing + modinfoGrepped)
	whole := ParseModinfo(text)
	for i := range text {
		modinfoFromCut(t, ParseModinfo(text[:i]), whole)
	}
}

func TestModinfoCaptures(t *testing.T) {
	for name, b := range capturedFiles(t, "nvidia-fs-driver") {
		if !strings.Contains(name, "modinfo") {
			continue
		}
		m := ParseModinfo(b)
		switch {
		case strings.HasSuffix(name, "modinfo-F-version"):
			if got := ParseModinfoField(b); !reflect.DeepEqual(got, []string{"2.28.4"}) || len(m.Modules) != 0 {
				t.Errorf("%s: fields %q, modules %+v", name, got, m.Modules)
			}
		case strings.HasSuffix(name, "modinfo.absent"):
			if !m.NotFound("nvidia_fs_x") || len(m.Modules) != 0 {
				t.Errorf("%s: %+v", name, m)
			}
		case strings.HasSuffix(name, "loaded-not-installed"):
			if !m.NotFound("nvidia-fs") || len(m.Modules) != 0 {
				t.Errorf("%s: %+v", name, m)
			}
		default:
			fs, ok := m.Of("nvidia_fs")
			parms := strings.Count(string(b), "parm:")
			if !ok || fs.Version != "2.28.4" || fs.Kernel() != "6.1.0-57-amd64" || len(fs.Parms) != parms || !fs.Depends.OK ||
				fs.License != "GPL v2" || len(m.Modules) != 1 || m.Cut {
				t.Errorf("%s: %+v", name, m)
			}
			if linked := len(fs.Depends.V) == 0; linked != strings.Contains(name, "no-symbol-version") {
				t.Errorf("%s: depends %q", name, fs.Depends.V)
			}
		}
		for i := range b {
			modinfoFromCut(t, ParseModinfo(b[:i]), m)
		}
	}
}

func FuzzModinfo(f *testing.F) {
	f.Add([]byte(modinfoTwo))
	f.Add([]byte(modinfoMissing + modinfoGrepped))
	for name, b := range capturedFiles(f, "nvidia-fs-driver") {
		if strings.Contains(name, "modinfo") {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		whole := ParseModinfo(b)
		for _, m := range whole.Modules {
			if m.Name == "" && m.Version == "" && m.Filename == "" && m.Vermagic == "" && m.License == "" &&
				m.SrcVersion == "" && !m.Depends.OK && m.Parms == nil {
				t.Fatalf("a module of which nothing is known: %+v", m)
			}
		}
		if n := len(b) / 2; n > 0 {
			modinfoFromCut(t, ParseModinfo(b[:n]), whole)
		}
		ParseModinfoField(b)
	})
}

func BenchmarkParseModinfo(b *testing.B) {
	text := []byte(modinfoTwo)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ParseModinfo(text)
	}
}
