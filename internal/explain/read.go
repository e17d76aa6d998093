package explain

import (
	"bytes"
	"errors"
	"io"
)

// Read folds all lines of a reader, in the memory of one block.
func (f *Fold) Read(r io.Reader) error {
	r = asUTF8(r)
	buf := make([]byte, blockSize)
	n := 0            // bytes in buf that are not read yet
	skipping := false // the rest of a line that was too long
	for empty := 0; ; {
		m, err := r.Read(buf[n:])
		if m == 0 && err == nil {
			if empty++; empty > 100 {
				return io.ErrNoProgress
			}
			continue
		}
		empty = 0
		n += m
		data := buf[:n]
		for {
			end := bytes.IndexByte(data, '\n')
			if end < 0 {
				break
			}
			if !skipping {
				f.cut(data[:end])
			}
			skipping = false
			data = data[end+1:]
		}
		if skipping {
			data = data[:0]
		} else if len(data) >= maxLine {
			f.Long++
			f.Line(data[:maxLine])
			data, skipping = data[:0], true
		}
		n = copy(buf, data)
		if err != nil {
			if n > 0 {
				f.cut(buf[:n])
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// cut is Line with what is beyond the longest line left away.
func (f *Fold) cut(line []byte) {
	if len(line) > maxLine {
		f.Long++
		line = line[:maxLine]
	}
	f.Line(line)
}
