package host

import (
	"bufio"
	"io"
)

// maxEvent bounds a line of events.
const maxEvent = 1 << 20

// eachLine hands on what a program tells, line by line. One that is too long ends the listening, but not the reading:
// the program must not wait for us.
func eachLine(r io.Reader, tell func([]byte)) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxEvent)
	for sc.Scan() {
		tell(sc.Bytes())
	}
	_, _ = io.Copy(io.Discard, r)
}
