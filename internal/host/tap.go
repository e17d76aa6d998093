package host

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

// tap reads a stream up to a limit of kept bytes.
type tap struct {
	r     io.Reader
	limit int64
	keep  []string
	full  chan struct{} // closed at the limit

	mu   sync.Mutex
	buf  []byte
	last []byte // last line not kept
	cut  bool
}

func newTap(r io.Reader, limit int64, keep []string) *tap {
	return &tap{r: r, limit: limit, keep: keep, full: make(chan struct{})}
}

func (t *tap) take() ([]byte, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(append([]byte(nil), t.buf...), t.last...), t.cut
}

// read fills the tap until the stream ends or the limit is reached.
func (t *tap) read() {
	if len(t.keep) == 0 {
		t.readAll()
		return
	}
	t.readLines()
}

func (t *tap) readAll() {
	b := make([]byte, 32<<10)
	for {
		n, err := t.r.Read(b)
		if !t.add(b[:n]) || err != nil {
			return
		}
	}
}

// readLines keeps the first line, the last one and those that hold a wanted word: where a log begins and ends
// tells how far back its silence reaches.
func (t *tap) readLines() {
	r := bufio.NewReaderSize(t.r, 64<<10)
	first := true
	for {
		line, err := r.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		if len(line) > 0 {
			if first || t.wanted(line) {
				t.setLast(nil)
				if !t.add(line) {
					return
				}
			} else {
				t.setLast(line)
			}
			first = false
		}
		if err != nil && !long {
			return
		}
		for long { // the rest of an overlong line is dropped
			_, err = r.ReadSlice('\n')
			long = errors.Is(err, bufio.ErrBufferFull)
			if err == io.EOF {
				return
			}
		}
	}
}

func (t *tap) wanted(line []byte) bool {
	low := bytes.ToLower(line)
	for _, k := range t.keep {
		if bytes.Contains(low, []byte(k)) {
			return true
		}
	}
	return false
}

func (t *tap) setLast(line []byte) {
	t.mu.Lock()
	t.last = append(t.last[:0], line...)
	t.mu.Unlock()
}

// add keeps bytes and tells whether there is room for more.
func (t *tap) add(b []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	room := t.limit - int64(len(t.buf))
	if int64(len(b)) <= room {
		t.buf = append(t.buf, b...)
		return true
	}
	t.buf = append(t.buf, b[:room]...)
	t.cut = true
	close(t.full)
	return false
}
