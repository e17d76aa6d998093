package explain

import (
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// asUTF8 reads a text of Windows as UTF-8: PowerShell's > writes UTF-16 with a byte order mark. Without a mark it is
// known by the NUL behind (or before) each of the first letters. A mark of UTF-8 is left away.
func asUTF8(r io.Reader) io.Reader {
	var head [8]byte
	n, err := io.ReadFull(r, head[:])
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // the next Read says so again
	}
	h := head[:n]
	rest := &pushedBack{h, r, err}
	switch {
	case n >= 2 && h[0] == 0xff && h[1] == 0xfe:
		rest.head = h[2:]
		return &utf16Reader{r: rest}
	case n >= 2 && h[0] == 0xfe && h[1] == 0xff:
		rest.head = h[2:]
		return &utf16Reader{r: rest, bigEndian: true}
	case n == len(head) && everyOther(h, 1):
		return &utf16Reader{r: rest}
	case n == len(head) && everyOther(h, 0):
		return &utf16Reader{r: rest, bigEndian: true}
	case n >= 3 && h[0] == 0xef && h[1] == 0xbb && h[2] == 0xbf:
		rest.head = h[3:]
	}
	return rest
}

// everyOther tells whether the bytes at from, from+2, … are NUL and the others are not.
func everyOther(b []byte, from int) bool {
	for i, c := range b {
		if (c == 0) != (i%2 == from) {
			return false
		}
	}
	return true
}

// pushedBack gives back what was read to look at it. The error came behind that.
type pushedBack struct {
	head []byte
	r    io.Reader
	err  error
}

func (p *pushedBack) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	if p.err != nil {
		return 0, p.err
	}
	return p.r.Read(b)
}

// utf16Reader decodes as it reads. What is no character becomes U+FFFD.
type utf16Reader struct {
	r         io.Reader
	bigEndian bool
	in        [4096]byte
	have      int // bytes in in
	high      rune
	out       []byte
	left      []byte // of out, not yet taken
	err       error
}

func (u *utf16Reader) Read(b []byte) (int, error) {
	for len(u.left) == 0 && u.err == nil {
		var n int
		n, u.err = u.r.Read(u.in[u.have:])
		u.have += n
		u.decode()
		if n == 0 {
			break
		}
	}
	n := copy(b, u.left)
	u.left = u.left[n:]
	if n == 0 {
		return 0, u.err
	}
	return n, nil
}

func (u *utf16Reader) decode() {
	u.out = u.out[:0]
	i := 0
	for ; i+1 < u.have; i += 2 {
		c := rune(u.in[i]) | rune(u.in[i+1])<<8
		if u.bigEndian {
			c = rune(u.in[i+1]) | rune(u.in[i])<<8
		}
		if u.high != 0 {
			full := utf16.DecodeRune(u.high, c)
			u.high = 0
			u.out = utf8.AppendRune(u.out, full)
			if full != utf8.RuneError {
				continue
			}
		}
		if c >= 0xd800 && c < 0xdc00 {
			u.high = c
			continue
		}
		u.out = utf8.AppendRune(u.out, c)
	}
	u.have = copy(u.in[:], u.in[i:u.have])
	u.left = u.out
}
