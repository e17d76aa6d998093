package load

import "encoding/binary"

// The pattern depends on the offset in the file and the run's seed, so that no block can stand for another, nor for
// one of an earlier run. The same arithmetic can be done on a GPU.

// word is the pattern's 64-bit word at an index of the file: splitmix64 of the index, and the seed over it.
func word(index, seed uint64) uint64 {
	z := index + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31 ^ seed
}

// Fill writes the pattern of an offset into a buffer. Offset and length are multiples of eight.
func Fill(buf []byte, offset, seed uint64) {
	for i := 0; i+8 <= len(buf); i += 8 {
		binary.LittleEndian.PutUint64(buf[i:], word((offset+uint64(i))/8, seed))
	}
}

// Compare counts the bytes of words that differ from the pattern, and finds the first one's offset in the file.
func Compare(buf []byte, offset, seed uint64) (wrong uint64, first uint64) {
	for i := 0; i+8 <= len(buf); i += 8 {
		if binary.LittleEndian.Uint64(buf[i:]) != word((offset+uint64(i))/8, seed) {
			if wrong == 0 {
				first = offset + uint64(i)
			}
			wrong += 8
		}
	}
	return wrong, first
}

// Poison is what buffers hold before each read: no word of it is the pattern's but by an accident of 1 in 2^64.
func Poison(buf []byte) {
	for i := range buf {
		buf[i] = 0xa5
	}
}
