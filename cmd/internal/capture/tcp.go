package capture

import (
	"bytes"
	"net/netip"
	"slices"
	"time"
)

type endpoint = netip.AddrPort

// Reasons in Event.Why.
const (
	whyCut   = "the capture's snap length cut the packet"
	whyAcked = "the receiver acknowledged bytes that are not in the file"
	whyFull  = "too much waits behind bytes that are not in the file"
	whyEnd   = "the bytes did not come before the end of the file"
	whyReset = "the connection was reset before the bytes came"
)

const (
	// What may wait behind a hole before the hole is declared a gap.
	maxHeldSegments = 1024
	maxHeldBytes    = 4 << 20
)

// held is a segment that waits for earlier bytes.
type held struct {
	seq     uint32
	data    []byte
	cut     int
	carrier int
	comment string
}

func (h held) end() uint32 { return h.seq + uint32(len(h.data)+h.cut) }

// half is everything that one side has sent so far.
type half struct {
	// next is the sequence number of the next byte to become readable, once started.
	started bool
	next    uint32
	// isn is the number of the SYN, if one was seen.
	hasISN bool
	isn    uint32
	// acked is the furthest byte the other side has acknowledged.
	hasAck bool
	acked  uint32
	// edge is the furthest number up to which the other side has announced room, widest its largest window.
	hasEdge bool
	edge    uint32
	widest  int
	// scale is the shift of the windows that this side announces; scales: its SYN named one.
	scales bool
	scale  int
	// past are the last pieces that became readable, the oldest first.
	past []held
	// waiting is ordered by seq; bytes counts what is in it.
	waiting []held
	bytes   int
	// fin is the number of the FIN, if one was seen; closed tells that it was reached.
	hasFIN bool
	fin    uint32
	finAt  time.Time
	finNo  int
	finTxt string
	closed bool
}

// tcpSegment takes in one TCP segment: handshake, acknowledgement, bytes, FIN, RST, in the order in
// which they count.
func (t *table) tcpSegment(s segment) error {
	c, err := t.tcpConn(s)
	if c == nil || err != nil {
		return err
	}
	return t.segment(c, s)
}

// segment takes in a segment of a connection.
func (t *table) segment(c *conn, s segment) error {
	side := c.side(s)
	t.count(c, side)
	h := &c.half[side]
	if s.syn {
		if !h.hasISN {
			h.hasISN, h.isn, h.scales, h.scale = true, s.seq, s.scales, s.scale
			if !h.started {
				h.started, h.next = true, s.seq+1
			}
		}
		if s.seq != h.isn {
			t.skip(skipSYN)
			return nil
		}
		s.seq++ // the SYN takes the first number, data may follow in the same packet
	}
	if s.rst {
		t.tcpReset(c, side, s)
		return nil
	}
	if h.started && !h.fits(s.seq) {
		t.skip(skipOutside)
		return nil
	}
	t.wentOn(c, side, s)
	if !h.started {
		h.started, h.next = true, s.seq
	}
	if !c.opened && (!s.syn || s.ackFlag) {
		c.opened = true
		t.emit(c, side, Open, Event{})
	}
	if s.ackFlag {
		if t.acknowledge(c, 1-side, s.ack) {
			c.announce(side, s)
		}
	}
	return t.bytes(c, side, s)
}

// tcpConn finds the connection of a segment or begins one. A SYN begins a new one on a used pair
// unless it repeats the SYN of the present one or is the other half of a simultaneous open. Where one
// stands, that is known only when the SYN is answered: until then there is none (nil).
func (t *table) tcpConn(s segment) (*conn, error) {
	c := t.lookup(s)
	switch {
	case s.syn && !s.ackFlag:
		if c != nil {
			h := &c.half[c.side(s)]
			repeated := h.hasISN && h.isn == s.seq && c.reset == nil
			simultaneous := !h.hasISN && !c.opened && c.reset == nil
			if repeated || simultaneous {
				return c, nil
			}
			if c.opened {
				c.knock(t, s)
				return nil, nil
			}
		}
		return t.begin(s, s.src, true)
	case c != nil:
		return t.reopen(c, s)
	case s.syn:
		return t.begin(s, s.dst, true)
	}
	return t.begin(s, t.guessClient(s), false)
}

// acknowledge notes what the other side has confirmed of a half. Where that goes beyond a hole, the
// receiver has the bytes and only the file lacks them. It reports whether the number can be one of the half.
func (t *table) acknowledge(c *conn, side int, ack uint32) bool {
	h := &c.half[side]
	if !h.started {
		h.started, h.next = true, ack // the file begins in the middle; this is where the half stands
	}
	if !h.fits(ack) {
		return false
	}
	if !h.hasAck || ahead(ack, h.acked) > 0 {
		h.hasAck, h.acked = true, ack
	}
	t.settle(c, side)
	return true
}

// bytes takes in the payload and FIN of a segment.
func (t *table) bytes(c *conn, side int, s segment) error {
	h, d := &c.half[side], t.direction(c, side)
	wire := len(s.payload) + s.cut
	first, last := ahead(s.seq, h.next), ahead(s.seq+uint32(wire), h.next)
	if h.closed && wire > 0 && ahead(s.seq+uint32(wire), h.fin) > 0 {
		t.skip(skipFIN)
		t.cap.Conns[c.index].leave(Skip{skipFIN, 1, t.number})
		return nil
	}
	// Of several FINs the first counts: one that is far ahead may be no part of the stream.
	if s.fin && !h.closed && last >= 0 && (!h.hasFIN || ahead(s.seq+uint32(wire), h.fin) < 0) {
		h.hasFIN, h.fin = true, s.seq+uint32(wire)
		h.finAt, h.finNo, h.finTxt = t.now, t.number, t.comment
	}
	if len(s.payload) > 1 { // a single byte may be a probe of the window, with anything in it
		t.compare(c, side, s.seq, s.payload)
	}
	if wire > 0 && last <= 0 {
		d.Repeated, d.RepeatedBytes = d.Repeated+1, d.RepeatedBytes+wire
	} else if wire > 0 {
		if err := t.keep(c, len(s.payload)); err != nil {
			return err
		}
		if first > 0 {
			d.Early++
		}
		h.hold(held{seq: s.seq, data: bytes.Clone(s.payload), cut: s.cut, carrier: t.number, comment: t.comment})
	}
	t.settle(c, side)
	if len(h.waiting) > maxHeldSegments || h.bytes > maxHeldBytes {
		t.gap(c, side, h.waiting[0].seq, whyFull)
		t.settle(c, side)
	}
	return nil
}

// hold puts a segment in its place; of several with the same number the first captured stays first.
func (h *half) hold(x held) {
	i, _ := slices.BinarySearchFunc(h.waiting, x, func(a, b held) int {
		if d := ahead(a.seq, b.seq); d != 0 {
			return d
		}
		return -1
	})
	h.waiting = slices.Insert(h.waiting, i, x)
	h.bytes += len(x.data)
}

// settle delivers all that has become readable, steps over holes the receiver is known to have had
// filled, and closes the half when its FIN is reached.
func (t *table) settle(c *conn, side int) {
	h := &c.half[side]
	for len(h.waiting) > 0 {
		x := h.waiting[0]
		if ahead(x.seq, h.next) > 0 {
			if !h.hasAck || ahead(h.acked, x.seq) < 0 {
				break
			}
			t.gap(c, side, x.seq, whyAcked)
		}
		h.waiting = h.waiting[1:]
		h.bytes -= len(x.data)
		t.deliver(c, side, x)
	}
	if !h.hasFIN || h.closed || len(h.waiting) > 0 {
		return
	}
	if ahead(h.fin, h.next) > 0 && h.hasAck && ahead(h.acked, h.fin) >= 0 {
		t.gap(c, side, h.fin, whyAcked)
	}
	if h.fin == h.next {
		h.closed, h.next = true, h.next+1
		t.direction(c, side).Closed = true
		t.emit(c, side, Close, Event{Carrier: h.finNo, Comment: h.finTxt})
	}
}

// mostPast is with how many pieces at least a segment is compared that was sent again.
const mostPast = 256

// skipOther is why a segment is left out that was sent again with other bytes: nobody knows which the receiver took.
const skipOther = "sent again with other bytes, and the first copy counts"

// compare holds a segment against what became readable of the same bytes.
func (t *table) compare(c *conn, side int, seq uint32, data []byte) {
	h := &c.half[side]
	if ahead(seq, h.next) >= 0 && len(h.waiting) == 0 {
		return // nothing of it has been there
	}
	for i := range len(h.past) + len(h.waiting) {
		var x *held
		if i < len(h.past) {
			x = &h.past[i]
		} else {
			x = &h.waiting[i-len(h.past)]
		}
		from, mine := ahead(seq, x.seq), data
		if from < 0 {
			mine, from = mine[min(-from, len(mine)):], 0
		}
		if from >= len(x.data) || len(mine) == 0 {
			continue
		}
		n := min(len(x.data)-from, len(mine))
		if !bytes.Equal(x.data[from:from+n], mine[:n]) {
			t.skip(skipOther)
			t.cap.Conns[c.index].leave(Skip{skipOther, 1, t.number})
			return
		}
	}
}

// deliver hands out the part of a segment that is not yet known; the first copy of a byte counts.
func (t *table) deliver(c *conn, side int, x held) {
	h, d := &c.half[side], t.direction(c, side)
	old := -ahead(x.seq, h.next)
	if ahead(x.end(), h.next) <= 0 {
		d.Repeated, d.RepeatedBytes = d.Repeated+1, d.RepeatedBytes+len(x.data)+x.cut
		c.kept -= len(x.data)
		return
	}
	d.RepeatedBytes += old
	end := x.end()
	data := x.data[min(old, len(x.data)):]
	if len(data) > 0 {
		h.next += uint32(len(data))
		d.Bytes += len(data)
		t.emit(c, side, Data, Event{Data: data, Carrier: x.carrier, Comment: x.comment})
		h.past = append(h.past, held{seq: h.next - uint32(len(data)), data: data})
		if len(h.past) > 2*mostPast {
			h.past = append(h.past[:0], h.past[mostPast:]...)
		}
	}
	if ahead(end, h.next) > 0 {
		t.gap(c, side, end, whyCut)
	}
}

// gap reports the bytes from next up to to as missing and steps over them.
func (t *table) gap(c *conn, side int, to uint32, why string) {
	h, d := &c.half[side], t.direction(c, side)
	lost := ahead(to, h.next)
	d.Gaps, d.Lost = d.Gaps+1, d.Lost+lost
	t.emit(c, side, Gap, Event{Lost: uint32(lost), Why: why})
	h.next = to
}

// abandon ends a half: it reports what was acknowledged and never seen, and gives up the bytes that
// still wait.
func (t *table) abandon(c *conn, side int, why string) {
	h := &c.half[side]
	if len(h.waiting) > 0 {
		t.gap(c, side, h.waiting[0].seq, why)
		t.direction(c, side).Unread += h.bytes
		h.waiting, h.bytes = nil, 0
	}
	if h.hasAck && !h.closed && ahead(h.acked, h.next) > 0 {
		t.gap(c, side, h.acked, whyAcked)
	}
}

// finish closes the books at the end of the file: connections stay open, holes become gaps. Bytes
// behind a hole were not readable, unless the file has only this direction, so that no
// acknowledgement could show that they were.
func (t *table) finish() {
	t.comment = "" // what follows is no doing of the last packet
	for _, c := range t.conns {
		why := whyEnd
		if c.reset != nil {
			t.cap.Conns[c.index].Reset, why = true, whyReset
		}
		t.ignoreKnock(c)
		for side := range c.half {
			h := &c.half[side]
			oneSided := t.direction(c, 1-side).Packets == 0
			for oneSided && len(h.waiting) > 0 {
				t.gap(c, side, h.waiting[0].seq, why)
				t.settle(c, side)
			}
			t.abandon(c, side, why)
		}
	}
	t.undo()
	t.attribute()
	slices.SortFunc(t.cap.Skipped, func(a, b Skip) int { return a.First - b.First })
}
