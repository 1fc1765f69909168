package relay

import (
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/parley-go/parley/examples/remote"
	"github.com/parley-go/parley/machines/events"
)

// A datagram travels in texts, the only events of Parsec that carry what one likes. Each is said by a sign, and what is
// said is base64 of a head and a part of the datagram.
const (
	sign    = "*"
	headLen = 7
	partLen = 179 // so that a text has at most 251 bytes
	parts   = 8
	// longest is the longest datagram.
	longest = parts * partLen
)

// head says what a part is of.
type head struct {
	to       uint8  // slot
	at, from uint16 // ports of the receiver and the sender
	id       uint8  // of the datagram
	n, last  uint8  // which part this is, and which is the last
}

// texts are the events that bring a datagram.
func texts(h head, frame []byte) (list []events.Message) {
	h.last = uint8(max(len(frame)-1, 0) / partLen)
	for h.n = 0; h.n <= h.last; h.n++ {
		part := frame[int(h.n)*partLen : min((int(h.n)+1)*partLen, len(frame))]
		b := binary.BigEndian.AppendUint16([]byte{h.to}, h.at)
		b = append(binary.BigEndian.AppendUint16(b, h.from), h.id, h.n<<4|h.last)
		list = append(list, remote.Text(sign, base64.RawStdEncoding.EncodeToString(append(b, part...))))
	}
	return list
}

// parse takes a text apart; false if it is somebody's talk.
func parse(m *events.Message) (h head, part []byte, ok bool) {
	if m.Kind != events.MessageSendText {
		return h, nil, false
	}
	who, what, _ := strings.Cut(m.SendText.Text.String(), " ")
	b, err := base64.RawStdEncoding.DecodeString(what)
	if who != sign || err != nil || len(b) < headLen {
		return h, nil, false
	}
	h = head{to: b[0], at: binary.BigEndian.Uint16(b[1:]), from: binary.BigEndian.Uint16(b[3:]), id: b[5],
		n: b[6] >> 4, last: b[6] & 15}
	part = b[headLen:]
	whole := h.n < h.last && len(part) == partLen || h.n == h.last && len(part) <= partLen
	return h, part, whole && h.last < parts
}

// pieces puts the datagrams of one player together. A part that is missing makes its datagram lost.
type pieces struct {
	head  // of the part that came last
	frame []byte
}

// add takes the next part, and returns the datagram if it is whole.
func (p *pieces) add(h head, part []byte) (frame []byte, ok bool) {
	next := p.head
	next.n++
	switch {
	case h.n == 0:
		p.frame = p.frame[:0]
	case len(p.frame) == 0 || h != next:
		p.frame = p.frame[:0]
		return nil, false
	}
	p.head, p.frame = h, append(p.frame, part...)
	return p.frame, h.n == h.last
}
