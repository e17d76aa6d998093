package paste

import (
	"regexp"
	"strings"
)

var (
	// stamp is the time that kubectl logs --timestamps, docker logs -t and journalctl -o cat with a pipe put before each line.
	stamp = regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)(?: |$)`)
	// hostPrefix is what pdsh, clush and dsh put before each line; taskPrefix what srun --label does.
	hostPrefix = regexp.MustCompile(`^([A-Za-z][\w-]*(?:\.[\w-]+)*|\d+\.\d+\.\d+\.\d+): ?`)
	taskPrefix = regexp.MustCompile(`^ {0,3}(\d{1,5}): ?`)
)

// unprefix takes off what launchers put before every line of a run of lines: times, names of machines, numbers of
// tasks. Lines of several machines that came mixed are put together by machine.
func unprefix(ls []line) {
	unstamp(ls)
	tasks(ls, func(s string) (string, string) {
		m := taskPrefix.FindStringSubmatch(s)
		if m == nil {
			return "", s
		}
		return "process " + m[1], s[len(m[0]):]
	})
	tasks(ls, func(s string) (string, string) {
		m := hostPrefix.FindStringSubmatch(s)
		if m == nil || !machineLike(m[1]) || strings.HasPrefix(s[len(m[0]):], "/") {
			return "", s
		}
		return hostName(m[1]), s[len(m[0]):]
	})
}

// unstamp takes times off runs of lines that all have one. The lines of a journal keep theirs: the machine's name that
// stands behind is the same in all of them.
func unstamp(ls []line) {
	for i := 0; i < len(ls); {
		j, second, journal := i, map[string]int{}, 0
		for j < len(ls) && stamp.MatchString(ls[j].text) {
			if m := syslogLine.FindStringSubmatch(ls[j].text); m != nil {
				journal++
				second[strings.Fields(ls[j].text)[1]]++
			}
			j++
		}
		most := 0
		for _, n := range second {
			most = max(most, n)
		}
		if n := j - i; n >= 3 && most*2 < n {
			for k := i; k < j; k++ {
				ls[k].text = ls[k].text[len(stamp.FindString(ls[k].text)):]
			}
		}
		i = max(j, i+1)
	}
}

// tasks finds runs of lines with names before them. They are taken off where each name comes often, or where what is
// behind them is an output that is known and the line as it stands is not.
func tasks(ls []line, cut func(string) (name, rest string)) {
	for i := 0; i < len(ls); {
		name, _ := cut(ls[i].text)
		if name == "" {
			i++
			continue
		}
		j := i
		names := map[string]int{}
		var order []string
		known := 0
		for ; j < len(ls); j++ {
			n, rest := cut(ls[j].text)
			if n == "" {
				break
			}
			if names[n] == 0 {
				order = append(order, n)
			}
			names[n]++
			if known < 3 && (formatOf(rest) != nil && formatOf(ls[j].text) == nil && !rdmaName.MatchString(rest) || strings.HasPrefix(rest, "IoType:")) {
				known++
			}
		}
		often := (j-i)/len(names) >= 3 && len(names) <= 1024
		if known > 0 && (often || known >= min(3, j-i)) {
			by := map[string][]line{}
			for k := i; k < j; k++ {
				l := ls[k]
				l.rank, l.text = cut(l.text)
				by[l.rank] = append(by[l.rank], l)
			}
			k := i
			for _, n := range order {
				k += copy(ls[k:j], by[n])
			}
		}
		i = j
	}
}

// formatOf is the format that a line alone tells.
func formatOf(text string) *format {
	if text == "" {
		return nil
	}
	for _, f := range formats {
		if f.is(text) {
			return f
		}
	}
	return nil
}
