package facts

import (
	"math"
	"strconv"
	"strings"
)

// GdsioCommand is a command line of gdsio. What a shell variable, a job file or an option left out decides is not known.
type GdsioCommand struct {
	Op               string // "read", "write", "" if it is not told
	Random           bool
	XferNumber       Opt[int] // -x
	GDS, CPU         bool     // what it asks for, as in GdsioRun
	File             string   // -f, or the folder of -D; "" where it is not known or there are several
	JobFile          string   // gdsio FILE: everything is in that file
	GPU              Opt[int] // absent where there are several
	Threads          Opt[uint64]
	Size, IOSize     Opt[uint64] // bytes
	Seconds          Opt[uint64] // -T: goes on after Size was moved
	Env              map[string]string
	Verify           bool
	SkipRegister     bool
	UnalignedOffsets bool
}

// gdsioValued are the options that take a value, of any release.
const gdsioValued = "fDdnmwsoixBITkaMPO"

// ParseGdsioCommand reads a whole command line that runs gdsio: with any path, prompt, sudo, env, in a loop.
func ParseGdsioCommand(line string) (GdsioCommand, bool) {
	args, env, ok := commandOf(line, "gdsio")
	if !ok || len(args) == 0 {
		return GdsioCommand{}, false
	}
	c := GdsioCommand{Env: env}
	values := map[byte]string{}
	several := map[byte]bool{}
	known := false
	for i := 0; i < len(args); i++ {
		w := args[i]
		if len(w) < 2 || w[0] != '-' || w[1] == '-' {
			if i == 0 && strings.HasSuffix(w, ".gdsio") {
				c.JobFile, known = w, true
			}
			continue
		}
		for j := 1; j < len(w); j++ {
			o := w[j]
			if strings.IndexByte(gdsioValued, o) < 0 {
				switch o {
				case 'V':
					c.Verify, known = true, true
				case 'b':
					c.SkipRegister, known = true, true
				case 'U':
					c.UnalignedOffsets, known = true, true
				}
				continue
			}
			v := w[j+1:]
			if v == "" && i+1 < len(args) {
				i++
				v = args[i]
			}
			if old, twice := values[o]; twice && old != v {
				several[o] = true
			}
			values[o], known = v, true
			break
		}
	}
	if !known {
		return GdsioCommand{}, false // gdsio -h, and prose
	}
	value := func(o byte) string {
		if v := values[o]; !several[o] && !strings.ContainsAny(v, "$`<>*?") {
			return v
		}
		return ""
	}
	number := func(o byte) Opt[int] {
		if n, err := strconv.ParseUint(value(o), 10, 31); err == nil {
			return Some(int(n))
		}
		return Opt[int]{}
	}
	if n := number('I'); n.OK && n.V <= 3 {
		c.Op, c.Random = []string{"read", "write"}[n.V%2], n.V >= 2
	}
	if c.XferNumber = number('x'); c.XferNumber.OK {
		c.GDS, c.CPU = gdsioXfer(c.XferNumber.V)
	}
	if c.File = value('f'); c.File == "" && values['f'] == "" {
		c.File = value('D')
	}
	c.GPU = number('d')
	c.Threads, c.Seconds = gdsioSizeOf(value('w')), gdsioSizeOf(value('T'))
	c.Size, c.IOSize = gdsioSizeOf(value('s')), gdsioSizeOf(value('i'))
	return c, true
}

// gdsioSizeOf reads "1M"; a plain number is bytes.
func gdsioSizeOf(s string) Opt[uint64] {
	shift := 0
	if s != "" {
		if i := strings.IndexByte("KMGT", s[len(s)-1]&^0x20); i >= 0 {
			shift, s = 10*(i+1), s[:len(s)-1]
		}
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > math.MaxUint64>>shift {
		return Opt[uint64]{}
	}
	return Some(n << shift)
}
