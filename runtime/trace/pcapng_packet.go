package trace

import (
	"encoding/binary"
	"time"
	"unicode/utf8"
)

// This file lays out the bytes: blocks of the pcapng format (in little-endian order, which the head
// declares) and the headers of Ethernet, IP, TCP and UDP (big-endian as on every wire).

const (
	protoTCP = 6
	protoUDP = 17

	flagFIN = 0x01
	flagSYN = 0x02
	flagRST = 0x04
	flagPSH = 0x08
	flagACK = 0x10
)

const (
	ethernetSize = 14
	tcpSize      = 20
	synSize      = 24 // with the option for the segment size
	udpSize      = 8

	pcapSnapLen  = 1 << 18
	pcapTCPSpace = 65535 // window offered
)

// Blocks and options of pcapng.
const (
	blockSection   = 0x0a0d0d0a
	blockInterface = 1
	blockPacket    = 6

	optEnd         = 0
	optComment     = 1
	optApplication = 4 // of a section
	optName        = 2 // of an interface
	optResolution  = 9 // of an interface
	optFlags       = 2 // of a packet
)

// appendPcapHead appends the section header and the one interface: Ethernet, times in nanoseconds.
func appendPcapHead(b []byte, comment string) []byte {
	le := binary.LittleEndian
	start := len(b)
	b = appendBlock(b, blockSection)
	b = le.AppendUint32(b, 0x1a2b3c4d)
	b = le.AppendUint16(le.AppendUint16(b, 1), 0) // version 1.0
	b = le.AppendUint64(b, ^uint64(0))            // length of the section: not told
	b = appendOption(b, optApplication, "Parley")
	b = appendOption(b, optComment, comment)
	b = endBlock(b, start)

	start = len(b)
	b = appendBlock(b, blockInterface)
	b = le.AppendUint16(le.AppendUint16(b, 1), 0) // Ethernet
	b = le.AppendUint32(b, pcapSnapLen)
	b = appendOption(b, optName, "parley")
	b = appendOption(b, optResolution, "\x09")
	return endBlock(b, start)
}

// appendBlock begins a block; endBlock fills in the length that it leaves out.
func appendBlock(b []byte, kind uint32) []byte {
	b = binary.LittleEndian.AppendUint32(b, kind)
	return append(b, 0, 0, 0, 0)
}

// endBlock ends the options and the block that begins at start.
func endBlock(b []byte, start int) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, optEnd)
	n := uint32(len(b) - start + 4)
	b = le.AppendUint32(b, n)
	le.PutUint32(b[start+4:], n)
	return b
}

// appendOption appends a text option, nothing for an empty one. The format wants UTF-8 without NUL,
// in 16 bits of length.
func appendOption(b []byte, code uint16, text string) []byte {
	if text == "" {
		return b
	}
	le := binary.LittleEndian
	b = le.AppendUint16(b, code)
	at := len(b)
	b = le.AppendUint16(b, 0)
	for _, r := range text { // yields utf8.RuneError for what is not UTF-8
		if r == 0 {
			r = utf8.RuneError
		}
		if len(b)-at > maxPcapComment {
			b = utf8.AppendRune(b, '…')
			break
		}
		b = utf8.AppendRune(b, r)
	}
	le.PutUint16(b[at:], uint16(len(b)-at-2))
	return pad4(b)
}

func pad4(b []byte) []byte {
	for len(b)%4 != 0 { // blocks and the buffer begin at multiples of four
		b = append(b, 0)
	}
	return b
}

// packet adds a packet to the buffer.
func (p *PcapNG) packet(dir PcapDir, t time.Time, proto, flags uint8, payload []byte, comment string) {
	le := binary.LittleEndian
	b := p.file.buf
	start := len(b)
	b = appendBlock(b, blockPacket)
	b = le.AppendUint32(b, 0) // interface
	ns := pcapTime(t)
	b = le.AppendUint32(le.AppendUint32(b, uint32(ns>>32)), uint32(ns))
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	at := len(b)
	b = p.appendPacket(b, dir, proto, flags, payload)
	le.PutUint32(b[at-8:], uint32(len(b)-at))
	le.PutUint32(b[at-4:], uint32(len(b)-at))
	b = pad4(b)
	direction := uint32(2) // outbound
	if dir == PcapReceived {
		direction = 1
	}
	b = le.AppendUint16(le.AppendUint16(b, optFlags), 4)
	b = le.AppendUint32(b, direction)
	b = appendOption(b, optComment, comment)
	p.file.buf = endBlock(b, start)
}

// pcapTime returns nanoseconds since 1970. The format has no times before that, Go none after 2262
// in this unit.
func pcapTime(t time.Time) uint64 {
	if s := t.Unix(); s < 0 || s > 1<<63/1_000_000_000-1 {
		return 0
	}
	return uint64(t.UnixNano())
}

// appendPacket appends the packet from the Ethernet header on.
func (p *PcapNG) appendPacket(b []byte, dir PcapDir, proto, flags uint8, payload []byte) []byte {
	be := binary.BigEndian
	src, dst := p.ends[dir], p.ends[1-dir]
	b = append(b, 2, 0, 0, 0, 0, 2-byte(dir)) // locally administered addresses: 1 here, 2 there
	b = append(b, 2, 0, 0, 0, 0, 1+byte(dir))
	size := udpSize
	if proto == protoTCP {
		size = tcpSize
		if flags&flagSYN != 0 {
			size = synSize
		}
	}
	size += len(payload)
	// sum begins with the pseudo header that TCP and UDP checksums cover.
	sum := uint64(proto) + uint64(size)
	if src.Addr().Is4() {
		b = be.AppendUint16(b, 0x0800)
		b = p.appendIPv4(b, dir, proto, size)
		sum = addUp(sum, b[len(b)-8:])
	} else {
		b = be.AppendUint16(b, 0x86dd)
		b = be.AppendUint32(b, 6<<28)
		b = be.AppendUint16(b, uint16(size))
		b = append(b, proto, 64)
		from, to := src.Addr().As16(), dst.Addr().As16()
		b = append(append(b, from[:]...), to[:]...)
		sum = addUp(sum, b[len(b)-32:])
	}
	at := len(b)
	b = be.AppendUint16(be.AppendUint16(b, src.Port()), dst.Port())
	if proto == protoUDP {
		b = be.AppendUint32(b, uint32(size)<<16)
	} else {
		b = p.appendTCP(b, dir, flags)
	}
	b = append(b, payload...)
	check := fold(addUp(sum, b[at:]))
	if proto == protoTCP {
		be.PutUint16(b[at+16:], check)
		return b
	}
	if check == 0 { // on UDP, 0 says that there is no checksum
		check = 0xffff
	}
	be.PutUint16(b[at+6:], check)
	return b
}

func (p *PcapNG) appendIPv4(b []byte, dir PcapDir, proto uint8, size int) []byte {
	be := binary.BigEndian
	at := len(b)
	p.ip[dir]++
	b = append(b, 0x45, 0)
	b = be.AppendUint16(b, uint16(20+size))
	b = be.AppendUint16(b, p.ip[dir])
	b = append(b, 0x40, 0, 64, proto, 0, 0) // not to be fragmented
	from, to := p.ends[dir].Addr().As4(), p.ends[1-dir].Addr().As4()
	b = append(append(b, from[:]...), to[:]...)
	be.PutUint16(b[at+10:], fold(addUp(0, b[at:])))
	return b
}

// appendTCP appends the TCP header after the ports, with checksum 0.
func (p *PcapNG) appendTCP(b []byte, dir PcapDir, flags uint8) []byte {
	be := binary.BigEndian
	b = be.AppendUint32(b, p.seq[dir])
	ack := uint32(0)
	if flags&flagACK != 0 {
		ack = p.seq[1-dir]
	}
	b = be.AppendUint32(b, ack)
	words := byte(tcpSize / 4)
	if flags&flagSYN != 0 {
		words = synSize / 4
	}
	b = append(b, words<<4, flags)
	b = be.AppendUint16(b, pcapTCPSpace)
	b = append(b, 0, 0, 0, 0)
	if flags&flagSYN != 0 {
		b = append(b, 2, 4) // the largest segment
		b = be.AppendUint16(b, pcapSegment)
	}
	return b
}

// addUp adds 16-bit words to a checksum; only the last piece of a packet may have odd length.
func addUp(sum uint64, b []byte) uint64 {
	for ; len(b) >= 4; b = b[4:] {
		sum += uint64(binary.BigEndian.Uint32(b))
	}
	if len(b) >= 2 {
		sum += uint64(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		sum += uint64(b[0]) << 8
	}
	return sum
}

// fold makes the checksum of a sum.
func fold(sum uint64) uint16 {
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
