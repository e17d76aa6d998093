package evidence

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSavedSetIsTheSame(t *testing.T) {
	at, exit := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), 3
	set := &Set{Kind: Live, Boot: "b", Now: &at, Items: []Item{
		{Source: "/proc/modules", Form: Whole, Place: Host, State: Present, Out: []byte("text\n"), At: &at},
		{Source: "dmesg", Form: Filtered, Filter: []string{"lnet"}, Place: Inside, Step: 2, State: Failed, Exit: &exit, Err: []byte("why"), Truncated: true},
		{Source: "bytes", Form: Embedded, Place: Host, State: Present, Out: []byte{0xff, 0, 1}, Err: []byte{0xfe}},
		{Source: "open /dev/nvidia-fs0", Form: Whole, Place: Host, State: TimedOut, Errno: "EIO", Stuck: 77, Origin: "/root/dev/nvidia-fs0"},
	}}
	b, err := set.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "set.json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	back, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(set, back); d != "" {
		t.Error(d)
	}
	if err := os.WriteFile(file, b[:len(b)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); err == nil {
		t.Error("half a file is read as a set")
	}
}

func TestSet(t *testing.T) {
	set := &Set{Items: []Item{{Source: "a", Place: Host}, {Source: "b", Place: Host, State: NotCollected}, {Source: "a", Place: Inside}}}
	if set.Find(Host, "b") != 1 || set.Find(Inside, "a") != 2 || set.Find(Inside, "b") != -1 {
		t.Error("an item is found at another place, or not at its own")
	}
	less := set.Without(0)
	if less.Find(Host, "a") != -1 || len(less.Items) != 2 || len(set.Items) != 3 {
		t.Errorf("%+v, %+v", less.Items, set.Items)
	}
	for st, ok := range map[State]bool{Present: true, Absent: false, Denied: false, TimedOut: false, Failed: false, NotCollected: false} {
		if i := (&Item{State: st, Form: Whole}); i.OK() != ok || i.Complete() != ok {
			t.Errorf("%s", st)
		}
	}
	if (&Item{State: Present, Form: Filtered}).Complete() || (&Item{State: Present, Form: Whole, Truncated: true}).Complete() || (*Item)(nil).OK() {
		t.Error("a filtered, cut or missing item is complete")
	}
}
