package cli

import "io"

// resultWriter is stdout. It keeps the first error: cobra's help, fmt and others drop it, and a result that could not
// be written is an internal error of every verb. A stdout that was closed by the caller (>&-) is not seen here: Go's
// runtime opens /dev/null in its place before the program begins, and nothing tells it from the caller's own.
type resultWriter struct {
	w   io.Writer
	err error
}

func (r *resultWriter) Write(b []byte) (int, error) {
	n, err := r.w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if r.err == nil {
		r.err = err
	}
	return n, err
}
