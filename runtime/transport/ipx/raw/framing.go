package raw

import (
	"encoding/binary"

	"github.com/parley-go/parley/runtime/transport/ipx"
)

// Framing is one of the ways to put IPX into an Ethernet frame.
type Framing uint8

// The framings. All computers of a network must use the same.
const (
	// EthernetII has type 8137 after the addresses.
	EthernetII Framing = iota
	// Raw8023 has the length after the addresses, then IPX at once; it is told by IPX's missing
	// checksum, FFFF.
	Raw8023
	// LLC has the length, then 802.2's E0 E0 03.
	LLC
	// SNAP has the length, then AA AA 03 00 00 00 81 37.
	SNAP
	framings
)

// String returns the usual name.
func (f Framing) String() string {
	if f < framings {
		return [...]string{"Ethernet II", "raw 802.3", "802.2", "SNAP"}[f]
	}
	return "invalid"
}

// prefix has, by framing, the bytes between the length and IPX.
var prefix = [framings][]byte{Raw8023: {}, LLC: {0xE0, 0xE0, 0x03}, SNAP: {0xAA, 0xAA, 0x03, 0, 0, 0, 0x81, 0x37}}

// overhead is the number of bytes that a framing takes from the frame's payload.
func (f Framing) overhead() int { return len(prefix[f]) }

const (
	etherHeader = 14 // two addresses, and a type or length
	etherType   = 0x8137
	maxLength   = 1500 // what is larger is a type
	minFrame    = 60   // shorter frames are padded
)

// appendFrame appends a whole frame. In those with a length, that is made
// even, as Novell's drivers do.
func (f Framing) appendFrame(b []byte, dst, src ipx.Node, packet []byte) []byte {
	start := len(b)
	b = append(append(b, dst[:]...), src[:]...)
	if f == EthernetII {
		b = binary.BigEndian.AppendUint16(b, etherType)
		b = append(b, packet...)
	} else {
		n := len(prefix[f]) + len(packet)
		b = binary.BigEndian.AppendUint16(b, uint16(n+n%2))
		b = append(append(b, prefix[f]...), packet...)
		if n%2 == 1 {
			b = append(b, 0)
		}
	}
	for len(b)-start < minFrame {
		b = append(b, 0)
	}
	return b
}

// open returns the packet in a frame, perhaps with padding behind it, and the
// framing; framings if there is none.
func open(frame []byte) ([]byte, Framing) {
	if len(frame) < etherHeader+2 {
		return nil, framings
	}
	kind, rest := int(binary.BigEndian.Uint16(frame[12:])), frame[etherHeader:]
	if kind == etherType {
		return rest, EthernetII
	}
	if kind > maxLength || kind > len(rest) {
		return nil, framings
	}
	rest = rest[:kind]
	if len(rest) >= 2 && rest[0] == 0xFF && rest[1] == 0xFF {
		return rest, Raw8023
	}
	for _, f := range []Framing{LLC, SNAP} {
		if n := len(prefix[f]); len(rest) >= n && string(rest[:n]) == string(prefix[f]) {
			return rest[n:], f
		}
	}
	return nil, framings
}
