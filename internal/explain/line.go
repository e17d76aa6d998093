package explain

import "bytes"

// stamped is what stands before the message of a line. The slices lie in the line.
type stamped struct {
	stamp []byte // as printed
	day   []byte // its date, where it has one
	pid   uint64 // of cufile.log
	level byte   // first letter of cufile.log's level, 0 of another line
	text  []byte // the rest, where phrases are looked for
}

// readStamp takes the front of a line apart:
//
//	30-11-2026 09:07:09:50 [pid=491 tid=491] ERROR  cufio-drv:846 nvidia-fs.ko driver not loaded
//	[Sat Nov 28 06:12:23 2026] LNet: …      [  938.521077] LNet: …      Nov 28 06:12:23 host kernel: LNet: …
//
// Whatever stands before the date of cufile.log (blanks, quotes of a mail, the rank of a launcher) is passed over.
func readStamp(line []byte) stamped {
	at := 0
	for at < len(line) && line[at] == ' ' {
		at++
	}
	if !cufileDate(line[at:]) {
		at = -1
		if i := bytes.Index(line, []byte(" [pid=")); i >= 0 {
			// The milliseconds are not padded, so the date is looked for and not counted back to.
			for j := max(0, i-25); j <= i-20; j++ {
				if cufileDate(line[j:]) {
					at = j
					break
				}
			}
		}
	}
	if at >= 0 {
		if s, ok := cufileStamp(line[at:]); ok {
			return s
		}
	}
	return kernelStamp(line)
}

// cufileDate tells whether "DD-MM-YYYY HH:MM:SS:" begins here.
func cufileDate(b []byte) bool {
	return len(b) > 24 && b[2] == '-' && b[5] == '-' && b[10] == ' ' && b[13] == ':' && b[16] == ':' && b[19] == ':' &&
		digit(b[0]) && digit(b[1]) && digit(b[9])
}

func cufileStamp(b []byte) (s stamped, ok bool) {
	i := 20
	for i < len(b) && digit(b[i]) {
		i++
	}
	s.stamp, s.day = b[:i], b[:10]
	if !bytes.HasPrefix(b[i:], []byte(" [pid=")) {
		return s, false
	}
	i += len(" [pid=")
	for ; i < len(b) && digit(b[i]); i++ {
		s.pid = s.pid*10 + uint64(b[i]-'0')
	}
	end := bytes.IndexByte(b[i:], ']')
	if end < 0 || end > 40 {
		return s, false
	}
	i += end + 1
	for i < len(b) && b[i] == ' ' {
		i++
	}
	s.text = b[i:]
	if i < len(b) {
		s.level = b[i]
	}
	return s, true
}

// kernelStamp knows the stamps of dmesg and of the journal by their shape alone.
func kernelStamp(line []byte) stamped {
	s := stamped{text: line}
	b := bytes.TrimLeft(line, " \t>\"'`|")
	if len(b) > 3 && b[0] == '<' { // priority of syslog
		if i := bytes.IndexByte(b[:min(5, len(b))], '>'); i > 0 {
			b = b[i+1:]
		}
	}
	if len(b) > 2 && b[0] == '[' {
		end := bytes.IndexByte(b[:min(len(b), 40)], ']')
		if end < 0 {
			return s
		}
		in := bytes.TrimSpace(b[1:end])
		if len(in) < 3 || !digit(in[0]) && in[0] != '+' && !bytes.ContainsRune(in, ':') {
			return s
		}
		s.stamp = in
		// Sat Nov 28 06:12:23 2026, or Nov28 06:12
		if len(in) == 24 && in[13] == ':' {
			s.day = in[4:10]
		} else if len(in) > 8 && in[len(in)-3] == ':' {
			s.day = in[:len(in)-6]
		}
		return s
	}
	switch {
	case len(b) > 16 && b[3] == ' ' && b[9] == ':' && b[12] == ':' && digit(b[7]): // Nov 28 06:12:23
		s.stamp, s.day = b[:15], b[:6]
	case len(b) > 20 && b[4] == '-' && b[7] == '-' && b[10] == 'T' && digit(b[0]): // 2026-11-28T06:12:23
		s.stamp, s.day = b[:19], b[:10]
	}
	return s
}

func digit(c byte) bool { return c-'0' < 10 }

// stripEscapes copies a line without the colours of a terminal.
func stripEscapes(dst, line []byte) []byte {
	dst = dst[:0]
	for i := 0; i < len(line); i++ {
		if line[i] != 0x1b {
			dst = append(dst, line[i])
			continue
		}
		if i+1 < len(line) && line[i+1] == '[' {
			for i += 2; i < len(line) && (line[i] < 0x40 || line[i] > 0x7e); i++ {
			}
		}
	}
	return dst
}

// place is the kind of line that a stamp makes it.
func (s *stamped) place() place {
	switch {
	case s.level != 0:
		return stampCufile
	case len(s.stamp) > 0:
		return stampKernel
	}
	t := bytes.TrimLeft(s.text, " \t>|")
	if len(t) > 6 && (hasAt(t, 0, []byte("cufio")) || hasAt(t, 0, []byte("curdma"))) { // quoted without its stamp
		return stampCufile | stampNone
	}
	return stampNone
}

// before tells whether a stamp is earlier than another one of the same day. Runs of digits are compared as numbers:
// cufile.log does not pad its milliseconds.
func before(a, b []byte) bool {
	switch {
	case len(a) == 0 || len(b) == 0 || a[0] == '+' || b[0] == '+': // +0.000031 is since the line before
		return false
	case len(a) == len(b):
		return bytes.Compare(a, b) < 0
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if digit(a[i]) && digit(b[j]) {
			m, n := i, j
			for m < len(a) && digit(a[m]) {
				m++
			}
			for n < len(b) && digit(b[n]) {
				n++
			}
			if m-i != n-j {
				return m-i < n-j
			}
			if c := bytes.Compare(a[i:m], b[j:n]); c != 0 {
				return c < 0
			}
			i, j = m, n
			continue
		}
		if a[i] != b[j] {
			return false // of another form
		}
		i++
		j++
	}
	return false
}
