package render

import (
	"encoding/json"
	"io"

	"gdsproof/internal/report"
)

// JSON prints one document.
func JSON(w io.Writer, r *report.Report) error {
	r.Normalise()
	return Document(w, r)
}

// Document prints any of this program's documents as JSON.
func Document(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}
