// Package ipx carries frames over IPX: [Dial] joins a network of DOSBox's
// kind, which puts each IPX packet into a UDP datagram, and [Listen] is the
// server of such a network. A DOS game and a program with a [Link] meet there.
// Package raw, below this one, does the same on a real Ethernet.
//
// It knows the header of IPX and no protocol above it: a frame is what follows
// the header. Start from [Dial].
package ipx

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Node is the address of a computer within a network, as on its Ethernet card.
type Node [6]byte

// Broadcast is everybody in the network.
var Broadcast = Node{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}

// String returns n as 12 hexadecimal digits.
func (n Node) String() string { return strings.ToUpper(hex.EncodeToString(n[:])) }

// Address is a network, a node in it and a socket of that node. It is a net.Addr.
type Address struct {
	Net    uint32
	Node   Node
	Socket uint16
}

// Network returns "ipx".
func (a Address) Network() string { return "ipx" }

// String returns a as NET.NODE.SOCKET in hexadecimal, as in 00000001.020304050607.869C.
func (a Address) String() string { return fmt.Sprintf("%08X.%s.%04X", a.Net, a.Node, a.Socket) }

// Origin is what counts as one address at a link's door: the node. It is an address of IPv6 that
// nobody has.
func (a Address) Origin() netip.Addr {
	b := [16]byte{0: 0xFF}
	copy(b[10:], a.Node[:])
	return netip.AddrFrom16(b)
}

// ParseAddress reads what String writes.
func ParseAddress(s string) (a Address, err error) {
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return a, fmt.Errorf("IPX address %q: want NET.NODE.SOCKET in hexadecimal, "+
			"such as 00000001.020304050607.869C", s)
	}
	network, err1 := strconv.ParseUint(parts[0], 16, 32)
	node, err2 := hex.DecodeString(parts[1])
	socket, err3 := strconv.ParseUint(parts[2], 16, 16)
	if err := errors.Join(err1, err2, err3); err != nil {
		return a, fmt.Errorf("IPX address %q: %w", s, err)
	}
	if len(node) != len(a.Node) {
		return a, fmt.Errorf("IPX address %q: the node has %d bytes, not 6", s, len(node))
	}
	a.Net, a.Socket = uint32(network), uint16(socket)
	copy(a.Node[:], node)
	return a, nil
}

// HeaderSize is the length of the header in bytes.
const HeaderSize = 30

// Header is that of an IPX packet. There is no checksum: it is written as
// FFFF, which means none, and not looked at.
type Header struct {
	// Length is that of the packet in bytes, with the header.
	Length uint16
	// Control counts the routers that a packet has passed.
	Control byte
	// Type is the type of the packet: 0 unknown, 4 exchange, 20 (0x14) to pass routers as broadcast.
	Type     byte
	Dst, Src Address
}

// Append appends the 30 bytes of h.
func (h *Header) Append(b []byte) []byte {
	b = append(b, 0xFF, 0xFF)
	b = binary.BigEndian.AppendUint16(b, h.Length)
	b = append(b, h.Control, h.Type)
	return appendAddress(appendAddress(b, h.Dst), h.Src)
}

func appendAddress(b []byte, a Address) []byte {
	b = binary.BigEndian.AppendUint32(b, a.Net)
	b = append(b, a.Node[:]...)
	return binary.BigEndian.AppendUint16(b, a.Socket)
}

// Parse reads a packet. The length in the header is what counts: Ethernet pads
// short packets. The payload lies in b.
func Parse(b []byte) (h Header, payload []byte, err error) {
	if len(b) < HeaderSize {
		return h, nil, fmt.Errorf("IPX packet of %d bytes; the header alone has %d", len(b), HeaderSize)
	}
	h.Length = binary.BigEndian.Uint16(b[2:])
	if h.Length < HeaderSize || int(h.Length) > len(b) {
		return h, nil, fmt.Errorf("IPX packet says that it has %d bytes; it has %d", h.Length, len(b))
	}
	h.Control, h.Type = b[4], b[5]
	h.Dst, h.Src = address(b[6:]), address(b[18:])
	return h, b[HeaderSize:h.Length], nil
}

func address(b []byte) Address {
	a := Address{Net: binary.BigEndian.Uint32(b), Socket: binary.BigEndian.Uint16(b[10:])}
	copy(a.Node[:], b[4:])
	return a
}

// echoSocket is where DOSBox's networks register and ping.
const echoSocket = 2
