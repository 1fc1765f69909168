package capture

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/gopacket/gopacket/layers"
)

// The headers are taken apart here and not with the library's layers: the reassembly needs the
// declared length beside the captured one (a snap length cuts packets), a TCP segment with odd
// options still carries its bytes, and no decoder for what a port number suggests may run on a
// game's payload.

const (
	protoTCP = 6
	protoUDP = 17
)

// segment is the part of a TCP segment or UDP datagram that reassembly needs.
type segment struct {
	proto    uint8
	src, dst netip.AddrPort
	payload  []byte
	// cut counts the payload bytes that were on the wire and are not in the file.
	cut int
	// TCP only.
	seq, ack               uint32
	syn, fin, rst, ackFlag bool
	window                 uint16
	// scale is the window scale that a SYN names, a shift; scales: it names one.
	scales bool
	scale  int
}

// unusable is the reason why a packet is skipped; it is no error of the file.
type unusable string

func (u unusable) Error() string { return string(u) }

const (
	notIP       unusable = "neither IPv4 nor IPv6"
	notTCPorUDP unusable = "neither TCP nor UDP"
	fragment    unusable = "fragment of an IP packet (fragments are not put together)"
	badHeader   unusable = "header cut off or damaged"
)

const (
	etherIPv4  = 0x0800
	etherIPv6  = 0x86dd
	etherVLAN  = 0x8100
	etherQinQ  = 0x88a8
	etherQinQ2 = 0x9100
)

// linkError is the reason why a packet of an unknown link type is skipped.
type linkError layers.LinkType

func (e linkError) Error() string {
	return fmt.Sprintf("link type %d (%s) is not known here; capture on Ethernet, loopback or \"any\"",
		uint16(e), layers.LinkType(e))
}

// parsePacket finds the TCP segment or UDP datagram in a packet. The error is an unusable or a
// linkError; the segment then has the addresses and the protocol if the packet shows them, and ports
// of 0 if it does not show those.
func parsePacket(link layers.LinkType, data []byte) (segment, error) {
	ip, err := skipLink(link, data)
	if err != nil {
		return segment{}, err
	}
	if len(ip) == 0 {
		return segment{}, badHeader
	}
	switch ip[0] >> 4 {
	case 4:
		return parseIPv4(ip)
	case 6:
		return parseIPv6(ip)
	}
	return segment{}, notIP
}

// skipLink returns the IP packet inside a link-layer frame.
func skipLink(link layers.LinkType, data []byte) ([]byte, error) {
	switch link {
	case layers.LinkTypeEthernet:
		return skipEtherType(data, 12)
	case layers.LinkTypeLinuxSLL:
		return skipEtherType(data, 14)
	case layers.LinkTypeLinuxSLL2:
		if len(data) < 20 {
			return nil, badHeader
		}
		return ipOfEtherType(binary.BigEndian.Uint16(data), data[20:])
	case layers.LinkTypeNull, layers.LinkTypeLoop:
		// Four bytes of address family in the byte order of whichever machine captured. The IP
		// version says the same and does not depend on the system's numbers for the families.
		if len(data) < 4 {
			return nil, badHeader
		}
		return data[4:], nil
	case layers.LinkTypeRaw, 12, 14, layers.LinkTypeIPv4, layers.LinkTypeIPv6:
		return data, nil
	}
	return nil, linkError(link)
}

// skipEtherType reads the type at offset at and steps over VLAN tags.
func skipEtherType(data []byte, at int) ([]byte, error) {
	for range 4 {
		if len(data) < at+2 {
			return nil, badHeader
		}
		typ := binary.BigEndian.Uint16(data[at:])
		switch typ {
		case etherVLAN, etherQinQ, etherQinQ2:
			at += 4
		default:
			return ipOfEtherType(typ, data[at+2:])
		}
	}
	return nil, notIP
}

func ipOfEtherType(typ uint16, rest []byte) ([]byte, error) {
	if typ == etherIPv4 || typ == etherIPv6 {
		return rest, nil
	}
	return nil, notIP
}

func parseIPv4(ip []byte) (segment, error) {
	if len(ip) < 20 {
		return segment{}, badHeader
	}
	header, total := int(ip[0]&15)*4, int(binary.BigEndian.Uint16(ip[2:]))
	if total == 0 {
		total = len(ip) // left to the network card to fill in
	}
	if header < 20 || header > total || header > len(ip) {
		return segment{}, badHeader
	}
	src, dst := netip.AddrFrom4([4]byte(ip[12:16])), netip.AddrFrom4([4]byte(ip[16:20]))
	if at := binary.BigEndian.Uint16(ip[6:]) & 0x3fff; at != 0 {
		return part(ip[9], src, dst, ip[header:], at&0x1fff == 0), fragment
	}
	return parseTransport(ip[9], src, dst, ip[header:], total-header)
}

func parseIPv6(ip []byte) (segment, error) {
	if len(ip) < 40 {
		return segment{}, badHeader
	}
	next, rest, total := ip[6], ip[40:], int(binary.BigEndian.Uint16(ip[4:]))
	if total == 0 {
		total = len(rest)
	}
	src, dst := netip.AddrFrom16([16]byte(ip[8:24])), netip.AddrFrom16([16]byte(ip[24:40]))
	for range 8 { // more extension headers than this nobody sends
		var size int
		switch next {
		case 0, 43, 60, 135: // hop by hop, routing, destination options, mobility
			if len(rest) >= 2 {
				size = int(rest[1])*8 + 8
			}
		case 51: // authentication
			if len(rest) >= 2 {
				size = int(rest[1])*4 + 8
			}
		case 44:
			if len(rest) < 8 {
				return segment{}, badHeader
			}
			return part(rest[0], src, dst, rest[8:], binary.BigEndian.Uint16(rest[2:])>>3 == 0), fragment
		default:
			return parseTransport(next, src, dst, rest, total)
		}
		if size == 0 || size > len(rest) || size > total {
			return segment{}, badHeader
		}
		next, rest, total = rest[0], rest[size:], total-size
	}
	return segment{}, badHeader
}

// parseTransport reads a TCP or UDP header at the start of data; wire is the length the IP header
// declares for it, more than len(data) where the capture cut the packet, less where the link padded
// it.
func parseTransport(proto uint8, src, dst netip.Addr, data []byte, wire int) (segment, error) {
	if len(data) > wire {
		data = data[:wire]
	}
	if proto != protoTCP && proto != protoUDP {
		return segment{}, notTCPorUDP
	}
	s := part(proto, src, dst, data, true)
	if len(data) < 8 {
		return s, badHeader
	}
	header := 8
	if proto == protoTCP {
		if len(data) < 20 {
			return s, badHeader
		}
		header = int(data[12]>>4) * 4
		s.seq, s.ack = binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
		flags := data[13]
		s.fin, s.syn, s.rst, s.ackFlag = flags&1 != 0, flags&2 != 0, flags&4 != 0, flags&16 != 0
		s.window = binary.BigEndian.Uint16(data[14:])
	} else if n := int(binary.BigEndian.Uint16(data[4:])); n != 0 {
		if n < 8 || n > wire {
			return s, badHeader
		}
		wire = n
		data = data[:min(n, len(data))]
	}
	if header > len(data) || proto == protoTCP && header < 20 {
		return s, badHeader
	}
	if s.syn {
		s.scales, s.scale = windowScale(data[20:header])
	}
	s.payload, s.cut = data[header:], wire-len(data)
	return s, nil
}

// part is what is known of a packet before its header is read: the addresses, and the ports where the
// data begins with them.
func part(proto uint8, src, dst netip.Addr, data []byte, begins bool) segment {
	var from, to uint16
	if begins && len(data) >= 4 && (proto == protoTCP || proto == protoUDP) {
		from, to = binary.BigEndian.Uint16(data), binary.BigEndian.Uint16(data[2:])
	}
	return segment{proto: proto, src: netip.AddrPortFrom(src.Unmap(), from), dst: netip.AddrPortFrom(dst.Unmap(), to)}
}

// windowScale finds the window scale among the options of a SYN (RFC 7323).
func windowScale(options []byte) (is bool, shift int) {
	for len(options) > 0 && options[0] != 0 {
		if options[0] == 1 { // padding
			options = options[1:]
			continue
		}
		if len(options) < 2 || options[1] < 2 || int(options[1]) > len(options) {
			return false, 0
		}
		if options[0] == 3 && options[1] == 3 {
			return true, int(options[2])
		}
		options = options[options[1]:]
	}
	return false, 0
}
