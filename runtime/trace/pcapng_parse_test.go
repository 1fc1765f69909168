package trace

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"
)

// parsedPacket is one packet as the test's own reader finds it.
type parsedPacket struct {
	time     time.Time
	dir      uint32
	comment  string
	src, dst netip.AddrPort
	proto    byte
	flags    byte
	seq, ack uint32
	payload  []byte
}

// parsePcapNG takes a file apart, verifying every length and checksum.
func parsePcapNG(t *testing.T, b []byte) (head []string, packets []parsedPacket) {
	t.Helper()
	le := binary.LittleEndian
	for n := 0; len(b) > 0; n++ {
		kind, size := le.Uint32(b), le.Uint32(b[4:])
		if size%4 != 0 || int(size) > len(b) || le.Uint32(b[size-4:]) != size {
			t.Fatalf("block %d: length %d before and %d after, %d bytes left", n, size, le.Uint32(b[size-4:]), len(b))
		}
		body := b[8 : size-4]
		b = b[size:]
		switch {
		case n == 0 && kind == 0x0a0d0d0a && le.Uint32(body) == 0x1a2b3c4d:
			head = append(head, optionsOf(t, body[16:])[1])
		case n == 1 && kind == 1 && le.Uint16(body) == 1:
			head = append(head, optionsOf(t, body[8:])[9])
		case n > 1 && kind == 6:
			length := le.Uint32(body[12:])
			p := parsedPacket{time: time.Unix(0, int64(uint64(le.Uint32(body[4:]))<<32|uint64(le.Uint32(body[8:]))))}
			opts := optionsOf(t, body[20+(length+3)/4*4:])
			p.dir, p.comment = le.Uint32([]byte(opts[2])), opts[1]
			parseHeaders(t, body[20:20+length], &p)
			packets = append(packets, p)
		default:
			t.Fatalf("block %d: type %#x", n, kind)
		}
	}
	return head, packets
}

func optionsOf(t *testing.T, b []byte) map[uint16]string {
	t.Helper()
	le, out := binary.LittleEndian, map[uint16]string{}
	for {
		code, n := le.Uint16(b), int(le.Uint16(b[2:]))
		if code == 0 {
			if len(b) != 4 || n != 0 {
				t.Fatalf("%d bytes at the end of the options", len(b))
			}
			return out
		}
		out[code] = string(b[4 : 4+n])
		b = b[4+(n+3)/4*4:]
	}
}

func parseHeaders(t *testing.T, b []byte, p *parsedPacket) {
	t.Helper()
	be := binary.BigEndian
	var pseudo []byte
	var from, to netip.Addr
	switch be.Uint16(b[12:]) {
	case 0x0800:
		ip := b[14:34]
		if int(be.Uint16(ip[2:])) != len(b)-14 || onesSum(ip) != 0xffff {
			t.Fatalf("IPv4 header %x in %d bytes", ip, len(b))
		}
		from, _ = netip.AddrFromSlice(ip[12:16])
		to, _ = netip.AddrFromSlice(ip[16:20])
		p.proto, pseudo, b = ip[9], append([]byte{}, ip[12:20]...), b[34:]
	case 0x86dd:
		ip := b[14:54]
		if int(be.Uint16(ip[4:])) != len(b)-54 {
			t.Fatalf("IPv6 length %d in %d bytes", be.Uint16(ip[4:]), len(b))
		}
		from, _ = netip.AddrFromSlice(ip[8:24])
		to, _ = netip.AddrFromSlice(ip[24:40])
		p.proto, pseudo, b = ip[6], append([]byte{}, ip[8:40]...), b[54:]
	default:
		t.Fatalf("ethernet type %x", b[12:14])
	}
	pseudo = be.AppendUint32(pseudo, uint32(len(b)))
	if got := onesSum(append(append(pseudo, 0, 0, 0, p.proto), b...)); got != 0xffff {
		t.Fatalf("checksum adds up to %#x", got)
	}
	p.src, p.dst = netip.AddrPortFrom(from, be.Uint16(b)), netip.AddrPortFrom(to, be.Uint16(b[2:]))
	if p.proto == 17 {
		if int(be.Uint16(b[4:])) != len(b) || be.Uint16(b[6:]) == 0 {
			t.Fatalf("UDP header %x of %d bytes", b[:8], len(b))
		}
		p.payload = b[8:]
		return
	}
	p.seq, p.ack, p.flags, p.payload = be.Uint32(b[4:]), be.Uint32(b[8:]), b[13], b[int(b[12]>>4)*4:]
}

// onesSum is the sum that a right checksum makes 0xffff, word by word with the carry put back at once.
func onesSum(b []byte) uint16 {
	sum := uint32(0)
	for i, x := range b {
		sum += uint32(x) << (8 * (1 - i%2))
		sum = sum&0xffff + sum>>16
	}
	return uint16(sum)
}
