package facts

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// lnetAgrees tells where a part says anything that the whole does not: an Opt that is there must hold the same,
// a list must be the beginning of the whole's. Words that are complete at the end of a text are let be.
func lnetAgrees(path string, part, whole reflect.Value) error {
	switch part.Kind() {
	case reflect.Struct:
		if ok := part.FieldByName("OK"); ok.IsValid() && part.FieldByName("V").IsValid() {
			if ok.Bool() && !reflect.DeepEqual(part.Interface(), whole.Interface()) {
				return fmt.Errorf("%s: %+v, whole %+v", path, part, whole)
			}
			return nil
		}
		for i := range part.NumField() {
			name := part.Type().Field(i).Name
			if name == "Cut" || name == "Next" || name == "Orphans" {
				continue
			}
			if err := lnetAgrees(path+"."+name, part.Field(i), whole.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Slice:
		if part.Len() > whole.Len() {
			return fmt.Errorf("%s: %+v, whole %+v", path, part, whole)
		}
		for i := range part.Len() {
			if err := lnetAgrees(fmt.Sprintf("%s[%d]", path, i), part.Index(i), whole.Index(i)); err != nil {
				return err
			}
		}
	default:
		if !reflect.DeepEqual(part.Interface(), whole.Interface()) {
			return fmt.Errorf("%s: %v, whole %v", path, part, whole)
		}
	}
	return nil
}

// lnetParsers are all parsers of this source, by the output that they read.
var lnetParsers = map[string]func(text []byte) any{
	"net":      func(b []byte) any { l, _ := ParseLNet(b, nil, nil); return l },
	"peer":     func(b []byte) any { l, _ := ParseLNetPeers(b, nil, nil); return l },
	"stats":    func(b []byte) any { l, _ := ParseLNetStats(b, nil, nil); return l },
	"udsp":     func(b []byte) any { l, _ := ParseLNetUDSP(b, nil, nil); return l },
	"nis":      func(b []byte) any { l, _ := ParseLNetCredits(b, nil, nil); return l },
	"global":   func(b []byte) any { l, _ := ParseLNetGlobal(b, nil, nil); return l },
	"counters": func(b []byte) any { return ParseLNetCounterLines(b) },
}

// lnetCheckCut reads the beginnings of a text and compares them with what is read of the whole.
func lnetCheckCut(t *testing.T, parser string, text []byte, cuts ...int) {
	t.Helper()
	parse := lnetParsers[parser]
	whole := reflect.ValueOf(parse(text))
	for _, at := range cuts {
		if err := lnetAgrees(parser, reflect.ValueOf(parse(text[:at])), whole); err != nil {
			t.Errorf("cut at %d, behind %q: %v", at, text[max(0, at-30):at], err)
		}
	}
}

var lnetTexts = map[string]string{
	"2.15 -v 4": lnetPrinter{verbose: 4}.print(lnetNode(2)),
	"2.15":      lnetPrinter{}.print(lnetNode(2)),
	"2.16 -v 2": lnetPrinter{netlink: true, verbose: 2}.print(lnetNode(2)),
	"2.10":      lnet210,
	"2.12":      lnet212,
	"one line":  strings.Join(strings.Fields(lnetPrinter{verbose: 4}.print(lnetNode(2))), " "),
	"peer":      lnetPeerFixture,
	"stats":     lnetStatsFixture,
	"udsp":      lnetUDSPFixture,
	"nis":       lnetNISFixture,
}

func TestLNetCutAtEveryByte(t *testing.T) {
	for name, text := range lnetTexts {
		for _, text := range []string{text, strings.ReplaceAll(text, "\n", "\r\n")} {
			t.Run(name, func(t *testing.T) {
				for parser := range lnetParsers {
					step := 11 // of a text that is not the parser's own
					if strings.HasPrefix(name, parser) || parser == "net" {
						step = 1
					}
					var cuts []int
					for at := 0; at < len(text); at += step {
						cuts = append(cuts, at)
					}
					lnetCheckCut(t, parser, []byte(text), cuts...)
				}
			})
		}
	}
}

// A cut inside a line is always told, one between two lines where the interfaces before show what is missing.
func TestLNetCutIsTold(t *testing.T) {
	text := lnetPrinter{verbose: 4}.print(lnetNode(2))
	second := strings.Index(text, "- net type: tcp") // from here on there is an interface to compare with
	quiet := map[int]bool{len(text): true}
	for _, ni := range lnetNode(2) { // between two whole interfaces nothing shows
		at := strings.Index(text, "- nid: "+ni.NID)
		at += strings.Index(text[at:], "CPT: ")
		at += strings.Index(text[at:], "]\"") + 2
		quiet[at], quiet[at+1] = true, true
		for p := at + 1; p < len(text) && text[p] == ' '; p++ {
			quiet[p+1] = true
		}
	}
	for at := second; at <= len(text); at++ {
		l, _ := ParseLNet([]byte(text[:at]), nil, nil)
		if !l.Cut && !quiet[at] {
			t.Errorf("cut at %d, behind %q: not told", at, text[at-20:at])
		}
		if n := len(l.NIs); l.Cut && n > 1 {
			for _, ni := range l.NIs[:n-1] {
				if ni.Cut {
					t.Errorf("cut at %d: %s is whole", at, ni.NID)
				}
			}
		}
	}
	if l, _ := ParseLNet([]byte(text), nil, nil); l.Cut || l.NIs[len(l.NIs)-1].Cut {
		t.Error("the whole text is taken for cut")
	}
	plain := lnetPrinter{}.print(lnetNode(2))
	named := strings.LastIndex(plain, "          status")
	if l, _ := ParseLNet([]byte(plain[:named]), nil, nil); len(l.NIs) != 4 || !l.Cut || !l.NIs[3].Cut {
		t.Errorf("cut behind a name: %+v", l)
	}
	number := "- nid: 1.2.80.0@efa\n  send_count: 217"
	l, _ := ParseLNet([]byte(number), nil, nil)
	if l.NIs[0].Stats.Send.OK || !l.NIs[0].Cut || !l.Cut {
		t.Errorf("a number at the end: %+v", l)
	}
	if l, _ = ParseLNet([]byte(number+"\n"), nil, nil); l.NIs[0].Stats.Send != Some[uint64](217) || l.Cut {
		t.Errorf("a number and a line break: %+v", l)
	}
}

func TestLNetTime(t *testing.T) {
	// Each of these would take minutes if a byte were looked at again and again.
	for name, text := range map[string]string{
		"colons":      strings.Repeat(":", 1<<20),
		"nids":        strings.Repeat("nid:nid:", 1<<17),
		"indented":    strings.Repeat(" ", 1<<19) + strings.Repeat("a:b", 1<<18),
		"quotes":      strings.Repeat("CPT: \" ", 1<<17),
		"tags":        "descr: " + strings.Repeat("! ", 1<<19),
		"commas":      "send_count: " + strings.Repeat("1,", 1<<19),
		"squeezed":    strings.Repeat("put:1 ", 1<<17),
		"one line":    strings.Repeat("put: 1 ", 1<<17),
		"empty lines": strings.Repeat("\n", 1<<20),
		"dashes":      strings.Repeat("- ", 1<<19),
	} {
		for parser, parse := range lnetParsers {
			if d := timed(func() { parse([]byte(text)) }); d > slow {
				t.Errorf("%s: %s took %v", parser, name, d)
			}
		}
	}
}
