package facts

import (
	"sort"
	"strconv"
	"strings"
)

// Version is a version as modules, drivers and clients print it: "2.28.4", "2:3:18" (nvidia-fs before 2.7),
// "3.0.0g" (the EFA driver's build letter), "2.15.6-1fsx12" (AWS's Lustre packages).
//
// How many parts were printed is kept, because some sources print fewer than there are:
// /proc/driver/nvidia-fs/version and gdscheck say 2.24 of a 2.24.3. A part that was not printed is not zero.
type Version struct {
	Text    string   // as printed, blanks around it taken off
	Parts   []uint32 // {2, 15, 6}: what is compared
	Release string   // "1fsx12": what follows the parts; never compared
}

// maxParts is more than any known source prints (GDS releases have four).
const maxParts = 8

// ParseVersion reads one version and nothing else. A letter behind a part is dropped, as AWS's set-up script does
// before it compares. A text that ends in a separator was cut and is refused, and so are dots mixed with colons:
// "1:2.15.6" is a Debian epoch, and its 1 is no part of the version.
func ParseVersion(s string) (Version, bool) {
	v := Version{Text: strings.TrimSpace(s)}
	rest := v.Text
	if len(rest) > 1 && (rest[0] == 'v' || rest[0] == 'V') {
		rest = rest[1:]
	}
	var sep byte
	for {
		n := 0
		for n < len(rest) && '0' <= rest[n] && rest[n] <= '9' {
			n++
		}
		p, err := strconv.ParseUint(rest[:n], 10, 32)
		if err != nil || len(v.Parts) == maxParts {
			return Version{}, false
		}
		v.Parts = append(v.Parts, uint32(p))
		rest = rest[n:]
		word := 0
		for word < len(rest) && isLetter(rest[word]) {
			word++
		}
		if word == len(rest) {
			return v, true
		}
		switch c := rest[word]; {
		case c == '.' || c == ':':
			if sep != 0 && c != sep {
				return Version{}, false
			}
			sep = c
			rest = rest[word+1:]
		case c == '-' || c == '_' || c == '+' || c == '~':
			return v.withRelease(rest[word+1:])
		case word > 0 && '0' <= c && c <= '9': // 2.16.0rc1
			return v.withRelease(rest)
		default:
			return Version{}, false
		}
	}
}

func (v Version) withRelease(s string) (Version, bool) {
	if s == "" || strings.ContainsAny(s, " \t,;()[]") {
		return Version{}, false
	}
	v.Release = s
	return v, true
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// Compare orders two versions by their parts. known is false where the shorter one is the beginning of the
// longer one: 2.30 may be the same release as 2.30.0, or as 2.30.4.
func (v Version) Compare(w Version) (order int, known bool) {
	for i := range min(len(v.Parts), len(w.Parts)) {
		switch a, b := v.Parts[i], w.Parts[i]; {
		case a < b:
			return -1, true
		case a > b:
			return 1, true
		}
	}
	return 0, len(v.Parts) == len(w.Parts) && len(v.Parts) > 0
}

// AtLeast tells whether v satisfies a minimum. A minimum's missing parts are zeros, for it is somebody's rule;
// v's missing parts may be anything. So 2.24 cannot be judged by 2.24.2, while it satisfies 2.24 and 2.24.0.
func (v Version) AtLeast(least Version) (yes, known bool) {
	if len(v.Parts) == 0 || len(least.Parts) == 0 {
		return false, false
	}
	if order, ok := v.Compare(least); ok {
		return order >= 0, true
	}
	if len(v.Parts) > len(least.Parts) {
		return true, true
	}
	for _, p := range least.Parts[len(v.Parts):] {
		if p != 0 {
			return false, false
		}
	}
	return true, true
}

func (v Version) String() string { return v.Text }

// SortVersions sorts the texts of versions upwards; what is no version comes first.
func SortVersions(texts []string) {
	sort.SliceStable(texts, func(i, j int) bool {
		a, okA := ParseVersion(texts[i])
		b, okB := ParseVersion(texts[j])
		if okA != okB {
			return okB
		}
		order, _ := a.Compare(b)
		if order == 0 {
			return len(a.Parts) < len(b.Parts)
		}
		return order < 0
	})
}
