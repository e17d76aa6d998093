package facts

import (
	"bytes"
	"fmt"
	"testing"
)

func bench(b *testing.B, text []byte, parse func([]byte)) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		parse(text)
	}
}

func BenchmarkModules(b *testing.B) {
	var t bytes.Buffer
	for i := range 200 {
		fmt.Fprintf(&t, "module_%d %d %d user_a,user_b, Live 0xffffffffc0%06x (OE)\n", i, 4096*i, i, i)
	}
	bench(b, t.Bytes(), func(x []byte) { ParseModules(x) })
}

func BenchmarkNVFSStats(b *testing.B) {
	bench(b, []byte(statsOn), func(x []byte) { ParseNVFSStats(x) })
}

func BenchmarkPeerDistance(b *testing.B) {
	t := bytes.NewBufferString("gpu\t\tpeer\t\tpeerrank\tp2pdist\tlink\tgen\tnuma\tnp2p\tclass\n")
	for g := range 8 {
		for p := range 80 {
			fmt.Fprintf(t, "0000:%02x:00.0 \t0000:%02x:00.0 \t0x00030050\t0x0003\t0x10\t0x05\t0x00\t%d\tnetwork\n", 0x50+g, p, p*g)
		}
	}
	bench(b, t.Bytes(), func(x []byte) { ParsePeerDistance(x) })
}

func BenchmarkKernelLog(b *testing.B) {
	var t bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&t, "[%12.6f] LNet: Added LNI 10.1.%d.%d@efa [32/512/0/200]\n", float64(i)*0.31, i/256, i%256)
	}
	bench(b, t.Bytes(), func(x []byte) { ParseKernelLog(x) })
}

func BenchmarkKernelLogHits(b *testing.B) {
	var t bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&t, "[%12.6f] LNet: Added LNI 10.1.%d.%d@efa [32/512/0/200]\n", float64(i)*0.31, i/256, i%256)
	}
	log, sigs := ParseKernelLog(t.Bytes()), table().Profile.Signatures
	bench(b, t.Bytes(), func([]byte) { log.Hits(sigs) })
}

func BenchmarkPCIEvents(b *testing.B) {
	var t bytes.Buffer
	for i := range 150 {
		fmt.Fprintf(&t, "0000:%02x:00.0 DRIVER=nvme PCI_CLASS=10802 PCI_ID=1D0F:CD01 PCI_SUBSYS_ID=1D0F:0000 PCI_SLOT_NAME=0000:%02x:00.0 NUMA_NODE=1\n", i, i)
	}
	bench(b, t.Bytes(), func(x []byte) { ParsePCIEvents(x) })
}

func BenchmarkMountinfo(b *testing.B) {
	var t bytes.Buffer
	for i := range 100 {
		fmt.Fprintf(&t, "%d 29 0:%d / /run/user/%d rw,nosuid,nodev,relatime shared:%d - tmpfs tmpfs rw,size=6.5g,mode=700\n", i+30, i+30, i, i)
	}
	bench(b, t.Bytes(), func(x []byte) { ParseMountinfo(x) })
}
