package facts

import (
	"strconv"
	"strings"
)

// cufileMeanings are libcufile's own words for its results (cufile.h): tools and cufile.log print these where they print
// no number.
var cufileMeanings = []struct {
	words string
	code  int64
}{
	{"nvidia-fs driver is not loaded", 5001}, {"invalid property", 5002}, {"property range error", 5003},
	{"nvidia-fs driver version mismatch", 5004}, {"nvidia-fs driver version read error", 5005}, {"driver shutdown in progress", 5006},
	{"gpudirect storage not supported on current platform", 5007}, {"gpudirect storage not supported on current file", 5008},
	{"gpudirect storage not supported on current gpu", 5009}, {"nvidia-fs driver ioctl error", 5010}, {"cuda driver api error", 5011},
	{"invalid device pointer", 5012}, {"invalid pointer memory type", 5013}, {"pointer range exceeds allocated address range", 5014},
	{"cuda context mismatch", 5015}, {"access beyond maximum pinned size", 5016}, {"access beyond mapped size", 5017},
	{"unsupported file type", 5018}, {"unsupported file open flags", 5019}, {"fd direct io not set", 5020}, {"invalid arguments", 5022},
	{"device pointer already registered", 5023}, {"device pointer lookup failure", 5024}, {"driver or file access error", 5025},
	{"driver is already open", 5026}, {"file descriptor is not registered", 5027}, {"file descriptor is already registered", 5028},
	{"gpu device not found", 5029}, {"internal error", 5030}, {"failed to obtain new file descriptor", 5031},
	{"nvfs driver initialization error", 5033}, {"gpudirect storage disabled by config on current file", 5034},
}

// cufileCode reads a result that is given as a number or in words, with anything behind it. more tells that the text
// goes on or was complete, so that a number at its very end was not cut.
func cufileCode(s string, more bool) Opt[int64] {
	s = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(lowerASCII(s)), "cufile:"))
	n := len(s) - len(strings.TrimLeft(strings.TrimPrefix(s, "-"), "0123456789"))
	if n > 0 && s != "-" && (n < len(s) || more) {
		if v, err := strconv.ParseInt(s[:n], 10, 64); err == nil && (n == len(s) || !isWordByte(s[n])) {
			return Some(v)
		}
	}
	for _, w := range cufileMeanings {
		if rest, ok := strings.CutPrefix(s, w.words); ok && (rest == "" || !isWordByte(rest[0])) {
			return Some(w.code)
		}
	}
	return Opt[int64]{}
}

func isWordByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
