package paste

import (
	"strings"

	"gdsproof/internal/facts"
)

// cufileFormat is a cufile.json: a block of JSON, with libcufile's comments, that has one of its sections.
var cufileFormat = &format{name: "cufile.json", is: func(string) bool { return false }, ends: always2, source: jsonSource}

// jsonSource is the file's path, if the command names it.
func jsonSource(b *block) string {
	if b.cmd.program() == "cat" && len(b.cmd.argv) > 1 && strings.HasPrefix(b.cmd.argv[len(b.cmd.argv)-1], "/") {
		return b.cmd.argv[len(b.cmd.argv)-1]
	}
	return facts.CufileEtc
}

// cufileSections are the objects of which a cufile.json is made.
var cufileSections = []string{`"properties"`, `"logging"`, `"execution"`, `"fs"`, `"denylist"`, `"profile"`, `"mem_dev"`, `"blacklist"`}

// object follows the braces of a JSON text, past strings and comments.
type object struct {
	depth   int
	comment bool
	begun   bool
}

// line takes a line; done tells that the outermost brace was closed.
func (o *object) line(s string) (done bool) {
	inString := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case o.comment:
			if strings.HasPrefix(s[i:], "*/") {
				o.comment = false
				i++
			}
		case inString:
			if c == '\\' {
				i++
			} else if c == '"' {
				inString = false
			}
		case strings.HasPrefix(s[i:], "//"):
			return o.begun && o.depth == 0
		case strings.HasPrefix(s[i:], "/*"):
			o.comment = true
			i++
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			o.depth++
			o.begun = true
		case c == '}' || c == ']':
			o.depth--
		}
	}
	return o.begun && o.depth <= 0
}

// jsonAt finds a JSON object that begins at line i, and the line behind it. ok is false if none begins there; an
// object that the text does not close ends with it, cut.
func jsonAt(ls []line, i int) (end int, cut, ok bool) {
	if t := strings.TrimSpace(ls[i].text); !strings.HasPrefix(t, "{") || strings.HasPrefix(t, "{{") {
		return 0, false, false
	}
	var o object
	for j := i; j < len(ls); j++ {
		if j > i && commandLine(ls[j]) != nil {
			return j, true, true
		}
		if o.line(ls[j].text) {
			return j + 1, false, true
		}
	}
	return len(ls), true, true
}

// isCufile tells a cufile.json from any other object, by the sections it has at its outermost level.
func isCufile(ls []line) bool {
	var o object
	for _, l := range ls {
		if o.depth <= 1 {
			for _, s := range cufileSections {
				if strings.Contains(l.text, s) {
					return true
				}
			}
		}
		o.line(l.text)
	}
	return false
}
