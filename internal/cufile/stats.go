package cufile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Counts are I/Os by the way they took, of one process over all its GPUs.
type Counts struct {
	Reads, Writes Paths
}

// Paths are I/Os of one direction.
type Paths struct{ Total, NVFS, P2P, POSIX, Errors uint64 }

// CUfileStatsLevel3_t of libcufile 1.15 and later: levels 1 and 2, then one block for each GPU.
const (
	statsVersion  = 1150
	l1ReadOps     = 0  // counter: ok, err
	l1WriteOps    = 16 //
	l3GPUs        = 1024
	l3First       = 1032
	l3Size        = 248
	l3Most        = 16
	gpuReads      = 16 + 4*8 // behind the uuid: bytes, bandwidth, utilisation, duration; then total, p2p, nvfs, posix, unaligned, dr, sparse, inline, err
	gpuWrites     = gpuReads + 9*8 + 4*8
	gpuReadErrors = gpuReads + 8*8
	gpuWriteErrs  = gpuWrites + 6*8
)

// parseL3 reads the structure, and refuses one whose numbers do not agree with each other: another release may have
// moved them.
func parseL3(b []byte, version int32) (Counts, error) {
	if version < statsVersion {
		return Counts{}, fmt.Errorf("libcufile %d.%d has no statistics of this kind (1.15 and later)", version/1000, version%1000/10)
	}
	if len(b) < l3First+l3Most*l3Size {
		return Counts{}, errors.New("the statistics are cut")
	}
	u := func(off int) uint64 { return binary.LittleEndian.Uint64(b[off:]) }
	n := binary.LittleEndian.Uint32(b[l3GPUs:])
	if n > l3Most {
		return Counts{}, fmt.Errorf("the statistics are of %d GPUs, and have room for %d: another layout", n, l3Most)
	}
	var c Counts
	for i := range int(n) {
		at := l3First + i*l3Size
		c.Reads.add(Paths{u(at + gpuReads), u(at + gpuReads + 16), u(at + gpuReads + 8), u(at + gpuReads + 24), u(at + gpuReadErrors)})
		c.Writes.add(Paths{u(at + gpuWrites), u(at + gpuWrites + 16), u(at + gpuWrites + 8), u(at + gpuWrites + 24), u(at + gpuWriteErrs)})
	}
	for _, p := range []struct {
		name string
		p    Paths
		ok   uint64
	}{{"reads", c.Reads, u(l1ReadOps)}, {"writes", c.Writes, u(l1WriteOps)}} {
		if p.p.NVFS+p.p.P2P+p.p.POSIX != p.p.Total {
			return Counts{}, fmt.Errorf("%d %s, and %d by their ways: another layout", p.p.Total, p.name, p.p.NVFS+p.p.P2P+p.p.POSIX)
		}
		if p.ok > 0 && p.p.Total == 0 {
			return Counts{}, fmt.Errorf("%d %s at level 1 and none at level 3: another layout", p.ok, p.name)
		}
	}
	return c, nil
}

func (p *Paths) add(q Paths) {
	p.Total, p.NVFS, p.P2P, p.POSIX, p.Errors = p.Total+q.Total, p.NVFS+q.NVFS, p.P2P+q.P2P, p.POSIX+q.POSIX, p.Errors+q.Errors
}
