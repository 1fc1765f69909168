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
	sum := uint64(0)
	for ; len(b) > 1; b = b[2:] {
		sum += uint64(b[0])<<8 | uint64(b[1])
	}
	if len(b) > 0 {
		sum += uint64(b[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return sum ^ 0xffff
}

// XorBytes XORs b with the bytes of key, which has at least as many.
func XorBytes(b, key []byte) {
	for i := range b {
		b[i] ^= key[i]
	}
}
