// Package witness is pure: it hears the facts of windows and gives testimony, and Decide turns all testimony into one
// verdict. The same code judges an experiment, pasted outputs, a watched program and a fleet.
package witness

import "gdsproof/internal/facts"

// Says is what a witness says.
type Says string

const (
	GDS    Says = "gds"    // the I/O took nvidia-fs
	P2PDMA Says = "p2pdma" // it took PCI P2PDMA: direct, without nvidia-fs
	Compat Says = "compat" // it went through the CPU
	Mixed  Says = "mixed"  // a part of it went through the CPU
	EFA    Says = "efa"    // the messages went over EFA
	TCP    Says = "tcp"    // they went over TCP
	Still  Says = "still"  // nothing moved
	Moved  Says = "moved"  // something moved, which does not tell the path: buffers were registered
	OK     Says = "ok"
	Failed Says = "failed"
	Silent Says = "silent" // it could not speak; WouldSpeakIf says what would let it
)

// Names of the witnesses.
const (
	Library = "library"
	Driver  = "driver"
	Wire    = "wire"
	Strict  = "strict"
	Control = "control"
	Data    = "data"
	Errors  = "errors" // of the driver or the run: never decides a path, but shows that I/O failed
)

// Directions. Both is of what cannot be parted.
const (
	Reads  = "reads"
	Writes = "writes"
	Both   = "both"
)

// Testimony is what one witness says of one direction in one phase.
type Testimony struct {
	Witness, Direction, Phase string
	Says                      Says
	Summary, WouldSpeakIf     string
	Numbers                   map[string]uint64
	Evidence                  []Quote
}

// Quote is a piece of evidence.
type Quote struct{ Source, Text string }

// witnesses hear in this order, which is the order in which they are shown.
var witnesses = []func(*hearing){libraryHears, driverHears, wireHears, strictHears, controlHears, dataHears}

// hearing is one run through the facts of a place.
type hearing struct {
	in  *facts.In
	out []Testimony
}

func fact[T any](h *hearing, k facts.Key[T]) facts.Known[T] { return facts.Use(h.in, k) }

func (h *hearing) say(t Testimony) { h.out = append(h.out, t) }

// Heard is what all witnesses say. It is a fact like others, so that findings and verdict are two views of one
// judgement.
var Heard = facts.Define("testimony", nil, func(in *facts.In) facts.Known[[]Testimony] {
	h := &hearing{in: in}
	for _, w := range witnesses {
		w(h)
	}
	return facts.Have(h.out)
})

// direction names a run's direction.
func direction(op string) string {
	switch op {
	case "read":
		return Reads
	case "write":
		return Writes
	}
	return Both
}

// quote names the items that a testimony rests on.
func (h *hearing) quote(items ...int) []Quote {
	var out []Quote
	for _, i := range items {
		source, origin := h.in.Origin(i)
		out = append(out, Quote{source, origin})
	}
	return out
}
