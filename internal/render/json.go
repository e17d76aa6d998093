package render

import (
	"encoding/json"
	"io"

	"gdsproof/internal/report"
)

// JSON prints one document.
func JSON(w io.Writer, r *report.Report) error {
	r.Normalise()
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}
