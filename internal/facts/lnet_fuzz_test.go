package facts

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// slow is far above what a linear reader needs for a megabyte, also on a busy machine.
const slow = 5 * time.Second

func timed(do func()) time.Duration {
	start := time.Now()
	do()
	return time.Since(start)
}

// lnetFuzz cuts a text anywhere: no parser may panic, nor read from a part what the whole does not say.
func lnetFuzz(f *testing.F, parsers ...string) {
	for _, text := range lnetTexts {
		f.Add([]byte(text), uint16(len(text)/2))
	}
	if dir := os.Getenv("GDSPROOF_CAPTURES"); dir != "" {
		files, _ := filepath.Glob(filepath.Join(dir, "lnetctl", "*"))
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b, uint16(len(b)/3))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, at uint16) {
		cut := min(int(at), len(text))
		// up, down, True and False are taken at the very end of a text too: in what lnetctl prints they are
		// complete, in nonsense like "upx" they are not.
		for _, w := range []string{"up", "down", "True", "False"} {
			if bytes.HasSuffix(text[:cut], []byte(w)) {
				cut -= len(w)
			}
		}
		for _, p := range parsers {
			lnetCheckCut(t, p, text, cut)
		}
	})
}

func FuzzLNet(f *testing.F)             { lnetFuzz(f, "net") }
func FuzzLNetPeers(f *testing.F)        { lnetFuzz(f, "peer") }
func FuzzLNetStats(f *testing.F)        { lnetFuzz(f, "stats", "global") }
func FuzzLNetUDSP(f *testing.F)         { lnetFuzz(f, "udsp") }
func FuzzLNetCredits(f *testing.F)      { lnetFuzz(f, "nis") }
func FuzzLNetCounterLines(f *testing.F) { lnetFuzz(f, "counters") }

func FuzzLNetProblem(f *testing.F) {
	f.Add([]byte("net show: show networks\n"), []byte("show: invalid option -- '4'\n"), 0)
	f.Add([]byte(""), []byte("show:\n    - net:\n          errno: -100\n          descr: \"cannot get networks: Network is down\"\n"), 156)
	f.Add([]byte(lnet212), []byte("\u0130\u0130\u0130 permission denied"), -1)
	f.Fuzz(func(t *testing.T, out, stderr []byte, status int) {
		ended := &status
		if status < 0 {
			ended = nil
		}
		l, p := ParseLNet(out, stderr, ended)
		if p.State == "" || p.OK() != (len(l.Nets)+len(l.NIs) > 0) {
			t.Errorf("%+v of %+v", p, l)
		}
	})
}
