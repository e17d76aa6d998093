package paste

import (
	"regexp"
	"strconv"
	"strings"
)

// numbered: "  12  text", "12: text", "12 | text", as editors and cat -n print.
var numbered = regexp.MustCompile(`^\s*(\d+)(?:\t|[:|)] ?| \| |  ?)(.*)$`)

// undress takes off what stands before every line alike: bullets, and the numbers of lines.
func undress(ls []line) {
	full, bullets, counted := 0, 0, 0
	last := -1
	for _, l := range ls {
		if strings.TrimSpace(l.text) == "" {
			continue
		}
		full++
		if strings.HasPrefix(strings.TrimSpace(l.text), "• ") {
			bullets++
		}
		if m := numbered.FindStringSubmatch(l.text); m != nil {
			n, err := strconv.Atoi(m[1])
			if err == nil && (last < 0 || n > last && n <= last+3) {
				counted++
			}
			last = n
		}
	}
	if full < 4 {
		return
	}
	for i := range ls {
		switch {
		case bullets*10 >= full*9:
			ls[i].text = strings.TrimPrefix(strings.TrimLeft(ls[i].text, " \t"), "• ")
		case counted*10 >= full*9:
			if m := numbered.FindStringSubmatch(ls[i].text); m != nil {
				ls[i].text = m[2]
			}
		}
	}
}
