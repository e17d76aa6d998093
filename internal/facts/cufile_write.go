package facts

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// StrictCufile writes a copy of cuFile's configuration with compat mode off. The texts are those that libcufile reads,
// that with the least weight first; one that it refuses is an error, since the copy would then say something else.
func StrictCufile(texts ...[]byte) ([]byte, error) {
	root := map[string]any{}
	for _, t := range texts {
		if c := ParseCufileJSON(t); !c.Accepted {
			return nil, fmt.Errorf("line %d: %s", c.Line, c.Reason)
		}
		p := cufileParser{text: string(t)}
		var n cufileNode
		if p.value(&n); n.kind == cufileObject {
			overlay(root, n)
		}
	}
	section, _ := root["properties"].(map[string]any)
	if section == nil {
		section = map[string]any{}
		root["properties"] = section
	}
	section["allow_compat_mode"], section["force_compat_mode"] = false, false
	return json.MarshalIndent(root, "", "  ")
}

// overlay lays the members of an object over those that are there, object by object.
func overlay(to map[string]any, n cufileNode) {
	for _, m := range n.members {
		if m.node.kind == cufileNull {
			continue // as if the key were not there
		}
		if m.node.kind == cufileObject {
			inner := map[string]any{} // of two members with one name the last counts, whole
			if had, ok := to[m.name].(map[string]any); ok && !twice(n, m.name) {
				inner = had
			}
			overlay(inner, m.node)
			to[m.name] = inner
			continue
		}
		to[m.name] = m.node.plain()
	}
}

func twice(n cufileNode, name string) bool {
	k := 0
	for _, m := range n.members {
		if m.name == name {
			k++
		}
	}
	return k > 1
}

// plain is a value as encoding/json writes it.
func (n cufileNode) plain() any {
	switch n.kind {
	case cufileTrue, cufileFalse:
		return n.kind == cufileTrue
	case cufileText:
		return n.text
	case cufileList:
		out := []any{}
		for _, v := range n.list {
			out = append(out, v.plain())
		}
		return out
	case cufileObject:
		m := map[string]any{}
		overlay(m, n)
		return m
	case cufileNumber:
		if n.whole {
			s := strconv.FormatUint(n.n, 10)
			if n.neg {
				s = "-" + s
			}
			return json.Number(s)
		}
		return n.real
	}
	return nil
}
