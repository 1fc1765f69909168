// Package capture reads pcap and pcapng files and tells, in order, what each TCP connection and UDP
// conversation in them carried: opened, these bytes became readable, closed. Tools that hold a
// recorded run against a spec start here.
//
// It knows link, IP, TCP and UDP headers and nothing of any protocol above them: where a frame
// begins inside the bytes is for the caller. It never trusts the file: damage is reported with the
// number of the packet, every length is checked, and all it keeps is bounded by Options.
//
// What a capture can and cannot say. The order of the events is the order in which the bytes passed
// the capture point. An endpoint reads them at some later moment that no capture shows, so between
// the two directions only "read after captured" is certain. Checksums are not verified: captures of
// a machine's own traffic routinely hold packets whose checksum the hardware was still to fill in.
// Packets that cannot be used (fragments, other protocols, damaged headers, segments that their
// receiver does not take) are counted in Capture.Skipped; those that may have carried bytes of a
// connection are in its Conn.LeftOut, too.
//
// Start with Read, then walk Capture.Events.
package capture

import (
	"fmt"
	"io"
	"net/netip"
	"time"
)

// Kind says what an Event shows.
type Kind uint8

const (
	// Open: the connection stands. For TCP it is seen in the answer to the SYN, or, where that is
	// not in the file, in the first later packet; for UDP in the first datagram. A refused TCP
	// connection has a Reset and no Open.
	Open Kind = iota
	// Data: the next bytes of a TCP direction, or one whole UDP datagram (possibly empty).
	Data
	// Close: the sender will send nothing more (FIN); the other direction may go on.
	Close
	// Reset: the sender broke the connection off (RST) and reads no more. Bytes of the other side that were
	// on their way may follow. An RST that the receiver does not take is none: one with another number than
	// it waits for, or one whose sender goes on.
	Reset
	// Gap: Event.Lost bytes of this direction are not in the file; Event.Why says how that is known.
	Gap
)

// String returns the name of the kind in lower case, or kind(n) for a value that is none.
func (k Kind) String() string {
	names := [...]string{"open", "data", "close", "reset", "gap"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Event is one piece of what a capture shows, in the order the bytes became readable on the wire.
type Event struct {
	// Time and Packet (1-based number in the file) are those of the packet that made the event
	// happen. A segment that had to wait for an earlier one became readable with that one, so
	// Packet never decreases from event to event.
	Time   time.Time
	Packet int
	// Carrier is the packet that holds the bytes; it differs from Packet only when segments came
	// out of order.
	Carrier int
	// Conn is the index in Capture.Conns.
	Conn int
	// FromClient tells whose bytes, FIN, RST or gap this is; for Open, whose packet shows it.
	FromClient bool
	Kind       Kind
	// Data holds the bytes of a Data event. In a Gap that stands for a UDP datagram cut by the
	// capture's snap length it holds the part that was kept.
	Data []byte
	// Lost counts the missing bytes and Why gives the reason, both for Gap alone.
	Lost uint32
	Why  string
	// Comment is the comment of packet Carrier (pcapng only), several joined by newlines.
	Comment string
}

// Direction counts what one side of a connection sent.
type Direction struct {
	Packets int
	// Bytes counts the payload delivered in Data events.
	Bytes int
	// Repeated counts packets that brought nothing but bytes already seen, and RepeatedBytes those
	// bytes, including the old part of packets that also brought new ones.
	Repeated      int
	RepeatedBytes int
	// Early counts packets whose bytes had to wait for others; Gaps and Lost the holes and their bytes.
	Early int
	Gaps  int
	Lost  int
	// Unread counts bytes that were in the file but never became readable: behind a hole that
	// nobody filled.
	Unread int
	// Closed tells that a FIN was reached.
	Closed bool
}

// Conn is one TCP connection or one UDP conversation (all datagrams between two address and port
// pairs).
type Conn struct {
	// Proto is "tcp" or "udp".
	Proto string
	// Client opened the connection. With a SYN or SYN-ACK in the file that is certain (Handshake).
	// Without, in this order: the side whose own port is not in Options.Ports while the other's is;
	// the side with the higher port; the sender of the first packet.
	Client, Server netip.AddrPort
	Handshake      bool
	// First and Last are the numbers of its first and last packet.
	First, Last            int
	FromClient, FromServer Direction
	// Reset tells that an RST ended the connection.
	Reset bool
	// LeftOut are packets that may have carried bytes of this connection and were not used, by reason in
	// the order of their first. What a receiver does not take either is not among them.
	LeftOut []Skip
}

// Ended tells whether the file shows the end of the connection: both FINs or an RST. A capture that
// was stopped earlier is no sign of a closed connection. UDP conversations have no end.
func (c *Conn) Ended() bool { return c.Reset || c.FromClient.Closed && c.FromServer.Closed }

// Skip counts packets that were not used, for one reason.
type Skip struct {
	Reason  string
	Packets int
	// First is the number of the first such packet.
	First int
}

// Capture is the result of Read.
type Capture struct {
	// Format is "pcap" or "pcapng".
	Format string
	// Packets counts the packets read, used or not.
	Packets int
	Conns   []Conn
	Events  []Event
	// Skipped is ordered by first occurrence. Packets that Options.Ports leaves out are not in it.
	Skipped []Skip
}

// Limits that apply where Options has zero.
const (
	DefaultMaxPackets   = 1 << 21
	DefaultMaxConns     = 4096
	DefaultMaxConnBytes = 64 << 20
	DefaultMaxFileBytes = 1 << 30
)

// Options selects and bounds what Read takes in. The zero value takes everything up to the default
// limits.
type Options struct {
	// Ports, when not empty, keeps the connections that have one of these ports on either side.
	Ports []uint16
	// MaxPackets bounds the packets read, MaxConns the connections kept, MaxConnBytes the payload
	// bytes kept per connection (both directions together), MaxFileBytes the bytes of the file.
	// Zero stands for the default.
	MaxPackets   int
	MaxConns     int
	MaxConnBytes int
	MaxFileBytes int64
}

// LimitError says that a file holds more than Options allows.
type LimitError struct {
	// Packet is the number of the packet that went beyond the limit.
	Packet int
	// What is counted, and the Option that raises the limit.
	What, Option string
	Limit        int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("packet %d: more than %d %s; raise %s or take a smaller capture", e.Packet, e.Limit,
		e.What, e.Option)
}

func (o Options) withDefaults() Options {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&o.MaxPackets, DefaultMaxPackets)
	def(&o.MaxConns, DefaultMaxConns)
	def(&o.MaxConnBytes, DefaultMaxConnBytes)
	if o.MaxFileBytes <= 0 {
		o.MaxFileBytes = DefaultMaxFileBytes
	}
	return o
}

// Read takes in a whole pcap or pcapng file. Errors name the packet they occurred at: a file that
// is no capture, is cut off or damaged, has a link type that is not known here, or exceeds a limit
// (*LimitError). The Capture is never nil: with an error it holds everything up to the packet that
// failed, which for a capture that was cut off while it was being written is all there is.
func Read(r io.Reader, opts Options) (*Capture, error) {
	t := newTable(opts.withDefaults())
	err := readAll(r, t)
	t.finish()
	return t.cap, err
}

// readAll feeds every packet of the file to the table until the end or the first error.
func readAll(r io.Reader, t *table) error {
	src, err := openFile(r, t.opts.MaxFileBytes)
	if err != nil {
		return err
	}
	t.cap.Format = src.format
	var pkt rawPacket
	for {
		err := src.next(t.cap.Packets+1, &pkt)
		if err == io.EOF { // a clean end; a file that is cut off gives another error, which may wrap this one
			return t.checkLinks()
		}
		if err != nil {
			return err
		}
		if t.cap.Packets == t.opts.MaxPackets {
			return &LimitError{Packet: pkt.number, What: "packets", Option: "MaxPackets",
				Limit: int64(t.opts.MaxPackets)}
		}
		t.cap.Packets = pkt.number
		if err := t.packet(&pkt); err != nil {
			return err
		}
	}
}
