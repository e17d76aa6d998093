package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"gdsproof/internal/evidence"
	"gdsproof/internal/explain"
	"gdsproof/internal/facts"
	"gdsproof/internal/report"
)

// lastProof is what is kept of a proof.
type lastProof struct {
	Report   *report.Report `json:"report"`
	Evidence *evidence.Set  `json:"evidence"`
}

func writeLast(w io.Writer, set *evidence.Set, r *report.Report) error {
	return json.NewEncoder(w).Encode(lastProof{r, set})
}

// tellingLine finds the line of a log that tells the most, and what the knowledge base says of it.
func tellingLine(base *explain.Base, log []byte) (line, meaning, remedy string) {
	fold := base.NewFold()
	if fold.Read(bytes.NewReader(log)) != nil {
		return "", "", ""
	}
	l := fold.Result("cufile.log")
	x := firstKnown(l)
	if x == nil || len(x.Rows) == 0 || x.Class != "decisive" && x.Class != "cause" {
		return "", "", ""
	}
	text := x.Text
	for e, err := range facts.ScanCufileLog(strings.NewReader(text)) {
		if err == nil && e.Level != "" {
			text = e.Message // without its stamp
		}
		break
	}
	row := x.Rows[0]
	return text, row.Meaning, row.Remedy
}
