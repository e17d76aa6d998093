package cli

import (
	"bytes"
	"encoding/json"
	"io"

	"gdsproof/internal/evidence"
	"gdsproof/internal/explain"
	"gdsproof/internal/profile"
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
func tellingLine(log []byte) (line, meaning, remedy string) {
	p, err := profile.Load("")
	if err != nil {
		return "", "", ""
	}
	base, err := explain.New(p)
	if err != nil {
		return "", "", ""
	}
	fold := base.NewFold()
	if fold.Read(bytes.NewReader(log)) != nil {
		return "", "", ""
	}
	x := firstKnown(fold.Result("cufile.log"))
	if x == nil || len(x.Rows) == 0 {
		return "", "", ""
	}
	row := x.Rows[0]
	return x.Text, row.Meaning, row.Remedy
}
