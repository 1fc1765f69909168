package trace

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"
)

// PcapDir is the direction of a packet, seen from the endpoint that writes the file.
type PcapDir uint8

const (
	PcapSent     PcapDir = iota // by the local endpoint
	PcapReceived                // by the remote endpoint
)

// PcapMeta describes one link whose traffic goes into a packet capture.
type PcapMeta struct {
	// Proto is "tcp" for links that carry a stream and "udp" for datagrams, whatever really carries
	// them.
	Proto string
	// Local and Remote are the ends. What is missing, as on a link within one process, is made up:
	// an address from the ranges for documentation, port 49152 here or 49153 there. A dissector
	// finds its protocol by the port.
	Local, Remote netip.AddrPort
	// Accepted tells that the remote end opened the TCP connection; otherwise the local end did.
	Accepted bool
	// Comment, of the first link alone, is the comment of the file.
	Comment string
}

// PcapNG writes what one endpoint sends and receives as a pcapng file that packet analysers open:
// every frame in a made-up Ethernet, IP and TCP or UDP packet with right lengths, numbers and
// checksums and with a comment. It is for reading, with the dissector of the protocol; the record
// to run again is what [Writer] writes.
//
// The file begins with NewPcapNG. Each call writes its packets in one Write, so a file that ends
// early ends between two calls or inside the last. When a Write fails, that error is kept and
// returned by every later call on every link of the file, and nothing more is written. No method
// keeps its arguments; none allocates once the buffer has grown. Not safe for concurrent use.
type PcapNG struct {
	file *pcapFile
	udp  bool
	// client is the side that opens TCP connections; sides are indexed by PcapDir.
	client PcapDir
	ends   [2]netip.AddrPort
	ip     [2]uint16 // identification numbers of IPv4
	// The present TCP connection: how many there have been, the next sequence number of each side,
	// up to where the other side has acknowledged, and who has sent a FIN.
	opens  uint32
	open   bool
	seq    [2]uint32
	acked  [2]uint32
	closed [2]bool
}

// pcapFile is the state that the links of one file share.
type pcapFile struct {
	w   io.Writer
	buf []byte
	err error
}

// The longest comment written; what is beyond is cut.
const maxPcapComment = 8 << 10

// pcapSegment is the most payload in one TCP packet, pcapWindow how much may be unacknowledged
// before the receiver acknowledges by a packet of its own. Both keep within a window without
// scaling.
const (
	pcapSegment = 16 << 10
	pcapWindow  = 32 << 10
)

// ErrPcapClosed is returned for a frame on a TCP link after its sender has closed or either side
// has reset it.
var ErrPcapClosed = errors.New("packet capture: the link is closed")

// NewPcapNG writes the head of a file to w and returns its first link. It fails if meta is not
// possible or w fails.
func NewPcapNG(w io.Writer, meta PcapMeta) (*PcapNG, error) {
	f := &pcapFile{w: w}
	p, err := f.link(meta)
	if err != nil {
		return nil, err
	}
	f.buf = appendPcapHead(f.buf[:0], meta.Comment)
	if err := f.flush(); err != nil {
		return nil, err
	}
	return p, nil
}

// Link returns another link of the same file, for an endpoint with several peers. Their ends should
// differ.
func (p *PcapNG) Link(meta PcapMeta) (*PcapNG, error) { return p.file.link(meta) }

// Err returns the error that ended the file, nil if there was none.
func (p *PcapNG) Err() error { return p.file.err }

func (f *pcapFile) link(meta PcapMeta) (*PcapNG, error) {
	if meta.Proto != "tcp" && meta.Proto != "udp" {
		return nil, fmt.Errorf("packet capture: protocol %q; tcp and udp can be written", meta.Proto)
	}
	local, remote := meta.Local, meta.Remote
	six := local.Addr().Unmap().Is6() || remote.Addr().Unmap().Is6()
	p := &PcapNG{file: f, udp: meta.Proto == "udp",
		ends: [2]netip.AddrPort{madeUp(local, six, 1), madeUp(remote, six, 2)}}
	if meta.Accepted {
		p.client = PcapReceived
	}
	if p.ends[0].Addr().Is4() != p.ends[1].Addr().Is4() {
		return nil, fmt.Errorf("packet capture: %v and %v are of different IP versions", local, remote)
	}
	if p.ends[0] == p.ends[1] {
		return nil, fmt.Errorf("packet capture: %v at both ends; a reader could not tell the directions", local)
	}
	return p, nil
}

// madeUp completes an end. Number n tells local (1) from remote (2).
func madeUp(end netip.AddrPort, six bool, n byte) netip.AddrPort {
	addr, port := end.Addr().Unmap().WithZone(""), end.Port()
	if !addr.IsValid() && six {
		addr = netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 15: n})
	} else if !addr.IsValid() {
		addr = netip.AddrFrom4([4]byte{192, 0, 2, n})
	}
	if port == 0 {
		port = 49151 + uint16(n)
	}
	return netip.AddrPortFrom(addr, port)
}

// Open writes the three packets of a TCP handshake, the comment at the first. On a link that is
// open already, and for UDP, it writes nothing. A closed link can be opened again.
func (p *PcapNG) Open(t time.Time, comment string) error {
	if p.file.err != nil || p.udp || p.open {
		return p.file.err
	}
	p.handshake(t, comment)
	return p.file.flush()
}

func (p *PcapNG) handshake(t time.Time, comment string) {
	client, server := p.client, 1-p.client
	p.opens++
	p.open, p.closed = true, [2]bool{}
	// Every connection begins at another number, so that a reader tells it from the one before on
	// the same ports.
	p.seq[client], p.seq[server] = p.opens<<28, p.opens<<28|1<<27
	p.acked = p.seq
	p.tcp(client, t, flagSYN, nil, comment)
	p.seq[client]++
	p.tcp(server, t, flagSYN|flagACK, nil, "")
	p.seq[server]++
	p.tcp(client, t, flagACK, nil, "")
}

// Frame writes one frame with its comment. A TCP link that is not open is opened first; a frame
// without bytes is nothing on TCP and an empty datagram on UDP. It fails, without harm to the file,
// with ErrPcapClosed, or if a datagram is longer than UDP can carry.
func (p *PcapNG) Frame(dir PcapDir, t time.Time, payload []byte, comment string) error {
	dir &= 1
	switch {
	case p.file.err != nil:
		return p.file.err
	case p.udp:
		return p.datagram(dir, t, payload, comment)
	case len(payload) == 0:
		return nil
	case !p.open && p.opens > 0, p.open && p.closed[dir]:
		return ErrPcapClosed
	case !p.open:
		p.handshake(t, "")
	}
	for len(payload) > 0 {
		n := min(len(payload), pcapSegment)
		flags := uint8(flagACK)
		if n == len(payload) {
			flags |= flagPSH
		}
		p.tcp(dir, t, flags, payload[:n], comment)
		p.seq[dir] += uint32(n)
		payload, comment = payload[n:], ""
		if p.seq[dir]-p.acked[dir] >= pcapWindow {
			p.tcp(1-dir, t, flagACK, nil, "")
		}
	}
	return p.file.flush()
}

func (p *PcapNG) datagram(dir PcapDir, t time.Time, payload []byte, comment string) error {
	most := 65535 - 8
	if p.ends[0].Addr().Is4() {
		most -= 20
	}
	if len(payload) > most {
		return fmt.Errorf("packet capture: a datagram of %d bytes; UDP carries %d", len(payload), most)
	}
	p.packet(dir, t, protoUDP, 0, payload, comment)
	return p.file.flush()
}

// Close writes that dir sends no more on an open TCP link: a FIN and the other side's
// acknowledgement. When both sides have closed, the link is closed. Otherwise, and for UDP, it
// writes nothing.
func (p *PcapNG) Close(dir PcapDir, t time.Time, comment string) error {
	dir &= 1
	if p.file.err != nil || !p.open || p.closed[dir] {
		return p.file.err
	}
	p.tcp(dir, t, flagFIN|flagACK, nil, comment)
	p.seq[dir]++
	p.tcp(1-dir, t, flagACK, nil, "")
	p.closed[dir] = true
	p.open = !p.closed[1-dir]
	return p.file.flush()
}

// Reset writes that dir broke an open TCP link off. Otherwise, and for UDP, it writes nothing.
func (p *PcapNG) Reset(dir PcapDir, t time.Time, comment string) error {
	dir &= 1
	if p.file.err != nil || !p.open {
		return p.file.err
	}
	p.tcp(dir, t, flagRST|flagACK, nil, comment)
	p.open = false
	return p.file.flush()
}

// tcp adds one TCP packet. Unless it begins the connection it acknowledges all the other side has sent.
func (p *PcapNG) tcp(dir PcapDir, t time.Time, flags uint8, payload []byte, comment string) {
	p.packet(dir, t, protoTCP, flags, payload, comment)
	if flags&flagACK != 0 {
		p.acked[1-dir] = p.seq[1-dir]
	}
}

// flush writes the packets in the buffer.
func (f *pcapFile) flush() error {
	n, err := f.w.Write(f.buf)
	if err == nil && n < len(f.buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		f.err = fmt.Errorf("packet capture ended: %w", err)
	}
	f.buf = f.buf[:0]
	return f.err
}
