package evidence

import (
	"encoding/json"
	"fmt"
	"os"
	"unicode/utf8"
)

// jsonItem is Item with readable text where the bytes are text.
type jsonItem struct {
	itemAlias
	Out     string `json:"out,omitempty"`
	Err     string `json:"err,omitempty"`
	OutData []byte `json:"out_base64,omitempty"`
	ErrData []byte `json:"err_base64,omitempty"`
}

type itemAlias Item

// MarshalJSON writes text as text, so that a saved set can be read and compared by people.
func (i Item) MarshalJSON() ([]byte, error) {
	j := jsonItem{itemAlias: itemAlias(i)}
	j.itemAlias.Out, j.itemAlias.Err = nil, nil
	if utf8.Valid(i.Out) {
		j.Out = string(i.Out)
	} else {
		j.OutData = i.Out
	}
	if utf8.Valid(i.Err) {
		j.Err = string(i.Err)
	} else {
		j.ErrData = i.Err
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (i *Item) UnmarshalJSON(b []byte) error {
	var j jsonItem
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*i = Item(j.itemAlias)
	i.Out, i.Err = j.OutData, j.ErrData
	if j.Out != "" {
		i.Out = []byte(j.Out)
	}
	if j.Err != "" {
		i.Err = []byte(j.Err)
	}
	return nil
}

// Bytes is the set as it is saved, unredacted.
func (s *Set) Bytes() ([]byte, error) {
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return nil, fmt.Errorf("write the evidence: %w", err)
	}
	return append(b, '\n'), nil
}

// Load reads a saved set.
func Load(path string) (*Set, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s Set
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("read the evidence %s: %w", path, err)
	}
	return &s, nil
}
