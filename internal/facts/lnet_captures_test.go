package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// lnetCaptures says what each published output must give: how lnetctl answered and, of "net show", how many
// interfaces of which LND. Files are known by the number that begins their name.
var lnetCaptures = map[string]struct {
	command string // "net", "peer", "stats", "nis"; "" for a transcript of several commands
	onErr   bool   // it was printed on stderr
	state   LNetState
	nis     map[string]int
	down    int // interfaces that say so
}{
	"01": {command: "net", nis: map[string]int{"lo": 1, "tcp": 1, "efa": 2}},
	"02": {command: "net", nis: map[string]int{"lo": 1, "tcp": 1, "efa": 2}},
	"03": {command: "net", nis: map[string]int{"lo": 1, "tcp": 1, "efa": 2}},
	"04": {command: "net", nis: map[string]int{"lo": 1, "tcp": 1, "efa": 2}},
	"05": {command: "net", nis: map[string]int{"lo": 1, "tcp": 1, "efa": 2}},
	"06": {command: "net", nis: map[string]int{"lo": 1, "tcp": 1, "efa": 1}},
	"10": {command: "net", nis: map[string]int{"lo": 1, "tcp": 2}},
	"12": {command: "net", nis: map[string]int{"lo": 1, "o2ib": 2}},
	"13": {command: "net", nis: map[string]int{"lo": 1, "tcp": 1}},
	"14": {command: "net", nis: map[string]int{"lo": 1, "tcp": 1}},
	"15": {command: "net", nis: map[string]int{"lo": 1, "tcp": 1, "o2ib": 2}, down: 1},
	"17": {command: "net", nis: map[string]int{"lo": 1, "tcp": 2}},
	"19": {command: "net", nis: map[string]int{"lo": 1, "o2ib": 8}},
	"20": {command: "net", nis: map[string]int{"o2ib": 3}},
	"22": {command: "net", nis: map[string]int{"lo": 1, "o2ib": 1}},
	"30": {command: "net", nis: map[string]int{"lo": 1, "tcp": 1}},
	"50": {command: "net", nis: map[string]int{"lo": 1, "tcp": 1, "efa": 2}, down: 1},
	"51": {command: "net", nis: map[string]int{"lo": 1, "tcp": 1}},
	"52": {command: "net", nis: map[string]int{"lo": 1, "tcp": 1, "efa": 16}},
	"60": {command: "net", nis: map[string]int{"lo": 1, "tcp": 1, "efa": 2}},
	"61": {command: "net", nis: map[string]int{"lo": 1, "tcp": 1, "efa": 1}},
	"62": {command: "net", nis: map[string]int{"lo": 1, "tcp": 2}, down: 1},

	"11": {command: "net", onErr: true, state: LNetNotConfigured},
	"42": {command: "net", onErr: true, state: LNetDenied},
	"44": {command: "net", onErr: true, state: LNetNotLoaded},
	"45": {command: "net", onErr: true, state: LNetNetUnknown},
	"48": {command: "net", onErr: true, state: LNetNetAbsent},
	"49": {command: "net", onErr: true, state: LNetNetUnknown},

	"39": {}, "40": {}, "41": {}, "46": {},
	"90": {command: "peer"}, "91": {command: "peer"}, "92": {command: "stats"}, "93": {command: "nis"},
}

func lnetCaptureFiles(t *testing.T) map[string]string {
	dir := os.Getenv("GDSPROOF_CAPTURES")
	if dir == "" {
		t.Skip("GDSPROOF_CAPTURES is not set: it names a folder of published outputs that are not part of this repository")
	}
	files, err := filepath.Glob(filepath.Join(dir, "lnetctl", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s/lnetctl: %v", dir, err)
	}
	out := map[string]string{}
	number := regexp.MustCompile(`^(?:[A-Z]+-)?(\d\d)-`)
	for _, f := range files {
		if m := number.FindStringSubmatch(filepath.Base(f)); m != nil {
			out[m[1]] = f
		} else if filepath.Base(f) != "INDEX.md" {
			t.Errorf("%s: no expectation for it", f)
		}
	}
	return out
}

func TestLNetCaptures(t *testing.T) {
	files := lnetCaptureFiles(t)
	for number := range lnetCaptures {
		if files[number] == "" {
			t.Errorf("capture %s is not there", number)
		}
	}
	for number, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, ok := lnetCaptures[number]
			if !ok {
				t.Fatal("no expectation for it")
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			switch want.command {
			case "net":
				if want.onErr {
					if l, p := ParseLNet(nil, text, nil); p.State != want.state || len(l.NIs) > 0 {
						t.Errorf("%+v, want %s", p, want.state)
					}
					return
				}
				l, p := ParseLNet(text, nil, nil)
				got, down := map[string]int{}, 0
				for _, ni := range l.NIs {
					got[ni.LND()]++
					if ni.Status == Some("down") {
						down++
					} else if ni.Status != Some("up") {
						t.Errorf("%s: status %+v", ni.NID, ni.Status)
					}
				}
				if !p.OK() || l.Cut || l.Next != 0 || l.Orphans != 0 || fmt.Sprint(got) != fmt.Sprint(want.nis) || down != want.down {
					t.Errorf("%+v: %v, %d down, cut %v, next %d, orphans %d; want %+v", p, got, down, l.Cut, l.Next, l.Orphans, want)
				}
				lnetOracle(t, text, lnetFlat(l))
			case "peer":
				peers, p := ParseLNetPeers(text, nil, nil)
				if cut := number == "90"; !p.OK() || peers.Cut != cut {
					t.Errorf("%+v, cut %v", p, peers.Cut)
				}
				flat := lnetFlatPeers(peers)
				if number == "91" { // the same below another name
					ping := map[string]string{}
					for path, v := range flat {
						ping["ping"+strings.TrimPrefix(path, "peer")] = v
					}
					flat = ping
				}
				lnetOracle(t, text, flat)
			case "stats":
				stats, p := ParseLNetStats(text, nil, nil)
				if !p.OK() || stats.Cut {
					t.Errorf("%+v, cut %v", p, stats.Cut)
				}
				flat := map[string]string{}
				for _, line := range strings.Split(string(text), "\n") {
					name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
					if f := stats.field(name); f != nil && f.OK {
						flat["statistics/"+name] = fmt.Sprint(f.V)
					}
				}
				lnetOracle(t, text, flat)
			case "nis":
				c, p := ParseLNetCredits(text, nil, nil)
				if rows := strings.Count(string(text), "@"); !p.OK() || c.Cut || len(c.Rows) != rows || rows == 0 {
					t.Errorf("%+v: %d rows of %d", p, len(c.Rows), rows)
				}
				for _, r := range c.Rows {
					if sent, ok := r.Sent(); !ok || sent != (r.Net == "efa") {
						t.Errorf("%+v: sent %v %v", r, sent, ok)
					}
				}
			default:
				lnetTranscript(t, string(text))
			}
		})
	}
}

// lnetTranscript reads "$ command", then lines that begin with [stdout] or [stderr], then [exit n].
func lnetTranscript(t *testing.T, text string) {
	wants := map[string]LNetState{
		"net show":            LNetNotLoaded,
		"net show -v":         LNetNotLoaded,
		"net show --net tcp":  LNetNotLoaded,
		"net show -v4":        LNetBadOption,
		"net show --net o2ib": LNetEmpty,
		"peer show":           LNetNotLoaded,
		"stats show":          LNetNotLoaded,
		"global show":         LNetNotLoaded,
		"--version":           LNetUnreadable,
	}
	blocks := strings.Split(text, "$ lnetctl ")[1:]
	if len(blocks) == 0 {
		t.Error("no command in it")
	}
	for _, block := range blocks {
		var command, out, errs string
		var status *int
		for i, line := range strings.Split(strings.TrimSpace(block), "\n") {
			switch {
			case i == 0:
				command = line
			case strings.HasPrefix(line, "[stdout] "):
				out += line[len("[stdout] "):] + "\n"
			case strings.HasPrefix(line, "[stderr] "):
				errs += line[len("[stderr] "):] + "\n"
			case strings.HasPrefix(line, "[exit "):
				n, err := strconv.Atoi(strings.Trim(line, "[exit ]"))
				if err != nil {
					t.Fatal(err)
				}
				status = &n
			}
		}
		if status == nil {
			t.Fatalf("%s: no exit status", command)
		}
		want := wants[command]
		if command == "net show --net efa" { // two versions, two answers
			want = LNetNotLoaded
			if *status == 255 {
				want = LNetNetUnknown
			}
		}
		var p LNetProblem
		switch strings.Fields(command)[0] {
		case "peer":
			_, p = ParseLNetPeers([]byte(out), []byte(errs), status)
		case "stats":
			_, p = ParseLNetStats([]byte(out), []byte(errs), status)
		case "global":
			_, p = ParseLNetGlobal([]byte(out), []byte(errs), status)
		default:
			_, p = ParseLNet([]byte(out), []byte(errs), status)
		}
		if p.State != want {
			t.Errorf("%s: %+v, want %q", command, p, want)
		}
	}
}

// lnetIgnored are the labels that nobody asks for.
var lnetIgnored = regexp.MustCompile(`/(tcp bonding|peercredits_hiw|map_on_demand|concurrent_sends|fmr_pool_size|fmr_flush_trigger|fmr_cache|ntx)$`)

// lnetOracle compares with what a YAML library finds in a whole document: all of it must have been read, with
// the same values, and nothing else.
func lnetOracle(t *testing.T, text []byte, got map[string]string) {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				walk(path+"/"+k, e)
			}
		case []any:
			for i, e := range v {
				walk(path+"/"+strconv.Itoa(i), e)
			}
		case nil: // "lnd tunables:" of lo
		default:
			want[strings.TrimPrefix(path, "/")] = fmt.Sprint(v)
		}
	}
	walk("", doc)
	if len(want) == 0 {
		t.Error("the oracle finds nothing")
	}
	for path, v := range want {
		if g, ok := got[path]; (!ok || g != v) && !lnetIgnored.MatchString(path) {
			t.Errorf("%s: got %q, the oracle finds %q", path, g, v)
		}
	}
	for path, g := range got {
		if _, ok := want[path]; !ok {
			t.Errorf("%s: got %q, the oracle finds nothing", path, g)
		}
	}
}
