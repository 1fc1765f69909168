package wire

import (
	"hash/adler32"
	"hash/crc32"
)

// Sum is a checksum of bytes.
type Sum uint8

const (
	CRC32    Sum = iota // of IEEE 802.3, as zlib computes it: 32 bits
	CRC32C              // of Castagnoli, as in SCTP and iSCSI: 32 bits
	Adler32             // of RFC 1950: 32 bits
	Internet            // of RFC 1071, as in IP: the complement of the one's complement sum, 16 bits
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Of returns the sum of bytes.
func (s Sum) Of(b []byte) uint64 {
	switch s {
	case CRC32:
		return uint64(crc32.ChecksumIEEE(b))
	case CRC32C:
		return uint64(crc32.Checksum(b, castagnoli))
	case Adler32:
		return uint64(adler32.Checksum(b))
	}
	return folded(halves(b)) ^ 0xffff
}

// Around returns the sum of bytes in which those of the sum itself, from at on, count as zeros. Before and behind b
// there are none of them.
func (s Sum) Around(b []byte, at int) uint64 {
	own := b[min(max(at, 0), len(b)):min(max(at+s.size(), 0), len(b))]
	if len(own) == 0 {
		return s.Of(b)
	}
	before, behind := b[:at], b[at+len(own):]
	switch s {
	case CRC32, CRC32C:
		table := crc32.IEEETable
		if s == CRC32C {
			table = castagnoli
		}
		c := crc32.Update(crc32.Update(0, table, before), table, zeros[:len(own)])
		return uint64(crc32.Update(c, table, behind))
	case Adler32:
		low, high := uint64(1), uint64(0)
		for i, c := range b {
			if i < at || i >= at+len(own) {
				low = (low + uint64(c)) % 65521
			}
			high = (high + low) % 65521
		}
		return high<<16 | low
	}
	last := folded(halves(behind))
	if at%2 == 1 { // its bytes are the other halves
		last = last>>8 | last<<8&0xffff
	}
	return folded(halves(before)+last) ^ 0xffff
}

// size returns how many bytes a sum has.
func (s Sum) size() int {
	if s == Internet {
		return 2
	}
	return 4
}

// halves is the sum of numbers of 16 bits.
func halves(b []byte) (sum uint64) {
	for ; len(b) > 1; b = b[2:] {
		sum += uint64(b[0])<<8 | uint64(b[1])
	}
	if len(b) > 0 {
		sum += uint64(b[0]) << 8
	}
	return sum
}

// folded is the one's complement sum of 16 bits.
func folded(sum uint64) uint64 {
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return sum
}

// XorBytes XORs b with the bytes of key, which has at least as many.
func XorBytes(b, key []byte) {
	for i := range b {
		b[i] ^= key[i]
	}
}
