package paste

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"gdsproof/internal/evidence"
	"gdsproof/internal/facts"
)

// at is the place that a block is of.
func (b *block) at() evidence.Place {
	if b.place == "" {
		return evidence.Host
	}
	return b.place
}

// marks tells a command whose place in time matters although nothing that it printed is read: it wrote a file that is
// shown later, waited for others, or changed what counters mean.
func (c *command) marks() bool {
	return len(c.files) > 0 || waits.MatchString(c.text) || facts.BetweenLooks(c.text).Any()
}

// typedItem is what facts see of such a command.
func (b *block) typedItem(it evidence.Item) []evidence.Item {
	if !facts.BetweenLooks(b.cmd.text).Any() {
		return nil
	}
	it.Source, it.Out = facts.TypedSource, []byte(b.cmd.text+"\n")
	return []evidence.Item{it}
}

// whenMade moves what was printed from a file to the time at which the file was written, where the text shows the
// command that wrote it. A run that comes from a file of which that is not known may be of any time: it stands alone.
func whenMade(all []placed) {
	looks := map[*command]bool{}
	for _, p := range all {
		if p.b.counters() && len(p.b.typed.shows()) > 0 {
			looks[p.b.typed] = true
		}
	}
	for i := range all {
		b := all[i].b
		if w := b.typed.columns(); len(w) == 2 {
			if _, to, ok := writtenAt(all, i, w[:1]); ok {
				all[i].left = to
			}
			if _, to, ok := writtenAt(all, i, w[1:]); ok {
				all[i].step = to
			}
			continue
		}
		files := b.typed.shows()
		if len(files) == 0 || b.event || b.typed.silent || !b.run() && !b.counters() {
			continue
		}
		from, to, ok := writtenAt(all, i, files)
		switch {
		case ok:
			all[i].step, all[i].since = to, 0
			if from < to {
				all[i].since = from
			}
		case looks[b.typed] && hasRuns(all, b.typed):
			// A whole log: its own parts are in order, and nothing else is known.
			all[i].series = logSeries + all[i].series + " " + b.typed.text
		case b.run():
			all[i].series = logSeries + all[i].series + " " + b.typed.text
		}
	}
}

// logSeries begins the series of what was printed from a file of which nobody knows when it was written.
const logSeries = evidence.Alone + "log "

// columns are the files that paste sets side by side.
func (c *command) columns() []string {
	if c == nil || c.program() != "paste" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.argv[1:]), func(s string) bool { return strings.HasPrefix(s, "-") })
}

func hasRuns(all []placed, c *command) bool {
	return slices.ContainsFunc(all, func(p placed) bool { return p.b.typed == c && p.b.run() })
}

// run tells lines that a load printed.
func (b *block) run() bool {
	return b.f != nil && b.f.source != nil && len(b.lines) > 0 && (b.f.name == "gdsio" || b.f.name == "dd")
}

// writtenAt finds the commands before a block that wrote the files, and the steps between which they ran.
func writtenAt(all []placed, at int, files []string) (from, to int, ok bool) {
	me := all[at]
	last := map[string]int{} // by the file as it was written: a later run writes it anew
	for k, p := range all {
		if !p.b.event || p.b.name != me.b.name || p.step >= me.step || p.b.at() != me.b.at() {
			continue
		}
		for _, f := range p.b.cmd.files {
			if slices.ContainsFunc(files, func(s string) bool { return sameFile(f, s) }) {
				if was, seen := last[f]; !seen || all[was].step < p.step {
					last[f] = k
				}
			}
		}
	}
	for _, k := range last {
		p := all[k]
		end := p.step
		if background(p.b.cmd.text) {
			end = me.step
			for _, w := range all {
				if w.b.event && w.b.name == me.b.name && w.step > p.step && w.step < end && waits.MatchString(w.b.cmd.text) {
					end = w.step
				}
			}
		}
		if !ok || p.step < from {
			from = p.step
		}
		to, ok = max(to, end), true
	}
	return from, to, ok
}

var starred = regexp.MustCompile(`\$\{\w+\}|\$\w+|\{[^}]*\}|\[[^\]]*\]|\?`)

// sameFile compares a file as it was written with one as it was shown: /tmp/w_$i.log and /tmp/w_*.log are one.
func sameFile(written, shown string) bool {
	a, b := starred.ReplaceAllString(written, "*"), starred.ReplaceAllString(shown, "*")
	match := func(a, b string) bool {
		x, _ := path.Match(a, b)
		y, _ := path.Match(b, a)
		return a == b || x || y
	}
	if path.IsAbs(a) != path.IsAbs(b) { // one of them was named from within its folder
		a, b = path.Base(a), path.Base(b)
	}
	return match(path.Clean(a), path.Clean(b))
}
