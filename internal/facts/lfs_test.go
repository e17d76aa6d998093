package facts

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const (
	lfsDfText = `UUID                       bytes        Used   Available Use% Mounted on
qrstbcde-MDT0000_UUID      274.9G        3.1G      271.7G   2% /fsx[MDT:0]
qrstbcde-OST0000_UUID        9.0T        2.2T        6.8T  25% /fsx[OST:0]
qrstbcde-OST0001_UUID: inactive device
qrstbcde-OST0002_UUID      : Resource temporarily unavailable
OST0003             : Connection timed out
qrstbcde-OST001f_UUID        9.0T        2.1T        6.9T  24% /fsx[OST:31] DR

filesystem_summary:         18.0T        4.3T       13.7T  25% /fsx

UUID                       bytes        Used   Available Use% Mounted on
scratchy-OST0000_UUID        1.1T       11.0G        1.1T   1% /my data[OST:0]

filesystem summary:          1.1T       11.0G        1.1T   1% /my data
`
	stripePlain = `/fsx/gds/one file
lmm_stripe_count:  4
lmm_stripe_size:   4194304
lmm_pattern:       raid0
lmm_layout_gen:    0
lmm_stripe_offset: 2
	obdidx		 objid		 objid		 group
	     2	         81234	      0x13d52	             0
	     7	         81255	      0x13d67	             0

/fsx/dir
stripe_count:  -1 stripe_size:   1048576 pattern:       raid0 stripe_offset: -1

/fsx/none has no stripe info
`
	stripePFL = `/fsx/big
  lcm_layout_gen:    3
  lcm_mirror_count:  1
  lcm_entry_count:   2
    lcme_id:             1
    lcme_mirror_id:      0
    lcme_flags:          init
    lcme_extent.e_start: 0
    lcme_extent.e_end:   209715200
      lmm_stripe_count:  2
      lmm_stripe_size:   2097152
      lmm_pattern:       raid0
      lmm_layout_gen:    0
      lmm_stripe_offset: 5
      lmm_objects:
      - 0: { l_ost_idx: 5, l_fid: [0x100050000:0x2:0x0] }

    lcme_id:             2
    lcme_mirror_id:      0
    lcme_flags:          0
    lcme_extent.e_start: 209715200
    lcme_extent.e_end:   EOF
      lmm_stripe_count:  12
      lmm_stripe_size:   4194304
      lmm_pattern:       raid0
      lmm_layout_gen:    0
      lmm_stripe_offset: -1
`
)

func TestParseLfsDf(t *testing.T) {
	want := LfsDf{
		Targets: []LfsTarget{
			{UUID: "qrstbcde-MDT0000_UUID", Kind: "MDT", Index: Some(0), Mount: "/fsx", Size: "274.9G", Used: "3.1G", Avail: "271.7G", Use: "2%"},
			{UUID: "qrstbcde-OST0000_UUID", Kind: "OST", Index: Some(0), Mount: "/fsx", Size: "9.0T", Used: "2.2T", Avail: "6.8T", Use: "25%"},
			{UUID: "qrstbcde-OST0001_UUID", Kind: "OST", Index: Some(1), Fault: "inactive device"},
			{UUID: "qrstbcde-OST0002_UUID", Kind: "OST", Index: Some(2), Fault: "Resource temporarily unavailable"},
			{UUID: "OST0003", Kind: "OST", Index: Some(3), Fault: "Connection timed out"},
			{UUID: "qrstbcde-OST001f_UUID", Kind: "OST", Index: Some(31), Mount: "/fsx", Size: "9.0T", Used: "2.1T", Avail: "6.9T", Use: "24%", Flags: "DR"},
			{UUID: "scratchy-OST0000_UUID", Kind: "OST", Index: Some(0), Mount: "/my data", Size: "1.1T", Used: "11.0G", Avail: "1.1T", Use: "1%"},
		},
		Summaries: []LfsTarget{
			{Mount: "/fsx", Size: "18.0T", Used: "4.3T", Avail: "13.7T", Use: "25%"},
			{Mount: "/my data", Size: "1.1T", Used: "11.0G", Avail: "1.1T", Use: "1%"},
		},
	}
	texts := disfigured(lfsDfText)
	texts["as is"] = []byte(lfsDfText)
	for how, b := range texts {
		if got := ParseLfsDf(b); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", how, got, want)
		}
	}
	if !want.Targets[2].Inactive() || want.Targets[3].Inactive() || want.Targets[1].Inactive() {
		t.Error("only OST0001 is inactive")
	}
	for text, want := range map[string]LfsDf{
		"lfs df: error: invalid path '/data': Inappropriate ioctl\n": {Errors: []string{"lfs df: error: invalid path '/data': Inappropriate ioctl"}},
		"q-OST0001_UUID : inactive dev":                              {Cut: true},
		"q-OST0001_UUID 9.0T 2.2T 6.8T 25% /fsx[OST:1":               {Cut: true},
		"q-OST0001_UUID 9.0T 2.2T 6.8T 25% /fsx\n":                   {},
		"filesystem_summary: 9.0T 2.2T 6.8T 25% /fs":                 {Cut: true},
		"LustreError: q-OST0001: a line of the kernel\n":             {},
		"172.16.9.20@tcp:/q 54T 8.3T 45T 16% /fsx\n":                 {},
	} {
		if got := ParseLfsDf([]byte(text)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestParseLfsStripe(t *testing.T) {
	want := LfsStripe{Layouts: []LfsLayout{
		{Path: "/fsx/gds/one file", Parts: []LfsPart{{Count: Some(4), Size: Some[uint64](4194304), Pattern: "raid0", Offset: Some(2)}}},
		{Path: "/fsx/dir", Parts: []LfsPart{{Count: Some(-1), Size: Some[uint64](1048576), Pattern: "raid0", Offset: Some(-1)}}},
		{Path: "/fsx/none", None: true},
		{Path: "/fsx/big", Entries: Some(2), Parts: []LfsPart{
			{Start: Some[uint64](0), End: Some[uint64](209715200), Flags: "init", Count: Some(2), Size: Some[uint64](2097152), Pattern: "raid0", Offset: Some(5)},
			{Start: Some[uint64](209715200), ToEOF: true, Flags: "0", Count: Some(12), Size: Some[uint64](4194304), Pattern: "raid0", Offset: Some(-1)},
		}},
	}}
	texts := disfigured(stripePlain + stripePFL)
	texts["as is"] = []byte(stripePlain + stripePFL)
	for how, b := range texts {
		if got := ParseLfsStripe(b); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", how, got, want)
		}
	}
	big := want.Layouts[3]
	for offset, count := range map[uint64]int{0: 2, 209715199: 2, 209715200: 12, 1 << 50: 12} {
		if p, ok := big.At(offset); !ok || p.Count != Some(count) {
			t.Errorf("at %d: %+v %v, want %d stripes", offset, p, ok, count)
		}
	}
	if p, ok := want.Layouts[0].At(1 << 40); !ok || p.Count != Some(4) {
		t.Errorf("a plain layout at 1T: %+v %v", p, ok)
	}
	if p, ok := want.Layouts[2].At(0); ok {
		t.Errorf("a file without a layout at 0: %+v", p)
	}
	for text, want := range map[string]LfsStripe{
		"stripe_count:  4294967295\n":                {Layouts: []LfsLayout{{Parts: []LfsPart{{Count: Some(-1)}}}}},
		"stripe_count:8 stripe_size:1048576\n":       {Layouts: []LfsLayout{{Parts: []LfsPart{{Count: Some(8), Size: Some[uint64](1048576)}}}}},
		"lmm_stripe_count: 1\nlmm_stripe_count: 2\n": {Layouts: []LfsLayout{{Parts: []LfsPart{{Count: Some(1)}}}, {Parts: []LfsPart{{Count: Some(2)}}}}},
		"lmm_stripe_count: 1\nlmm_stripe_size: 10":   {Cut: true, Layouts: []LfsLayout{{Parts: []LfsPart{{Count: Some(1)}}}}},
		"/bin/sh: 1: lfs: not found\n":               {},
	} {
		if got := ParseLfsStripe([]byte(text)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func lfsFromCut(t *testing.T, text []byte) {
	t.Helper()
	df, stripe := ParseLfsDf(text), ParseLfsStripe(text)
	for i := range text {
		c := ParseLfsDf(text[:i])
		if len(c.Targets) > len(df.Targets) || len(c.Summaries) > len(df.Summaries) || !slices.Equal(c.Summaries, df.Summaries[:len(c.Summaries)]) {
			t.Fatalf("cut at %d says more: %+v", i, c)
		}
		for j, x := range c.Targets {
			w := df.Targets[j]
			if x.Flags == "" || strings.HasPrefix(w.Flags, x.Flags) {
				x.Flags = w.Flags
			}
			if x != w {
				t.Fatalf("cut at %d says %+v, whole %+v", i, x, w)
			}
		}
		for j, l := range ParseLfsStripe(text[:i]).Layouts {
			w := stripe.Layouts[j]
			if l.Path != w.Path || l.None != w.None || len(l.Parts) > len(w.Parts) || l.Entries.OK && l.Entries != w.Entries {
				t.Fatalf("cut at %d says %+v, whole %+v", i, l, w)
			}
			for k, p := range l.Parts {
				w := w.Parts[k]
				if p.Count.OK && p.Count != w.Count || p.Size.OK && p.Size != w.Size || p.Start.OK && p.Start != w.Start || p.End.OK && p.End != w.End ||
					p.ToEOF && !w.ToEOF || p.Pattern != "" && p.Pattern != w.Pattern || p.Offset.OK && p.Offset != w.Offset {
					t.Fatalf("cut at %d says %+v, whole %+v", i, p, w)
				}
			}
		}
	}
}

func TestLfsCutAnywhere(t *testing.T) {
	lfsFromCut(t, []byte(lfsDfText))
	lfsFromCut(t, []byte(stripePlain+stripePFL))
}

func TestLfsCaptures(t *testing.T) {
	files := capturedFiles(t, "lustre")
	all := map[string][]byte{"lustre": files["lfs-df-h.txt"]}
	for name, b := range capturedFiles(t, "nodes") {
		if strings.HasSuffix(name, "lfs-df-h.txt") {
			all[name] = b
		}
	}
	for name, b := range all {
		df := ParseLfsDf(b)
		kinds := map[string]int{}
		for _, x := range df.Targets {
			kinds[x.Kind]++
			if x.Mount != "/mnt/lustre" || x.Fault != "" || x.Flags != "" || x.Size == "" {
				t.Errorf("%s: %+v", name, x)
			}
		}
		if kinds["MDT"] != 4 || kinds["OST"] != 6 || len(df.Summaries) != 1 || df.Summaries[0].Size != "27.0T" || len(df.Errors) > 0 {
			t.Errorf("%s: %v, %+v", name, kinds, df.Summaries)
		}
		lfsFromCut(t, b)
	}
	b := files["lfs-getstripe-root-default-pfl.txt"]
	s := ParseLfsStripe(b)
	if len(s.Layouts) != 1 || s.Layouts[0].Entries != Some(4) || len(s.Layouts[0].Parts) != 4 {
		t.Fatalf("%+v", s)
	}
	for i, count := range []int{1, 8, 16, 32} {
		p := s.Layouts[0].Parts[i]
		if p.Count != Some(count) || p.Size != Some[uint64](1<<20) || p.Offset != Some(-1) || p.Pattern != "raid0" || p.ToEOF != (i == 3) {
			t.Errorf("part %d: %+v", i, p)
		}
	}
	lfsFromCut(t, b)
}

func FuzzLfs(f *testing.F) {
	f.Add([]byte(lfsDfText))
	f.Add([]byte(stripePlain + stripePFL))
	captures := capturedFiles(f, "lustre")
	f.Add(captures["lfs-df-h.txt"])
	f.Add(captures["lfs-getstripe-root-default-pfl.txt"])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, x := range ParseLfsDf(b).Targets {
			if x.Kind != "OST" && x.Kind != "MDT" || !x.Index.OK || x.UUID == "" || (x.Fault == "") == (x.Size == "") {
				t.Fatalf("%+v", x)
			}
		}
		for _, l := range ParseLfsStripe(b).Layouts {
			if len(l.Parts) == 0 && !l.None && !l.Entries.OK {
				t.Fatalf("a layout that says nothing: %+v", l)
			}
		}
	})
}

func BenchmarkParseLfs(b *testing.B) {
	df, stripe := []byte(strings.Repeat(lfsDfText, 10)), []byte(strings.Repeat(stripePFL, 10))
	b.SetBytes(int64(len(df) + len(stripe)))
	for b.Loop() {
		ParseLfsDf(df)
		ParseLfsStripe(stripe)
	}
}
