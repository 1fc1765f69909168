package capture

import (
	"bytes"
	"slices"
)

// What a receiver takes (RFC 9293, section 3.10.7.4, and RFC 5961). A segment outside of the window
// that it has announced it drops. An RST it takes only with exactly the number that it waits for, and
// a SYN inside a connection it never takes. Where a capture cannot tell what the receiver did, what
// comes afterwards tells it: who sends on, or acknowledges later bytes, has not been reset.

const (
	// A TCP window is at most 2^30 bytes, so what claims to be further ahead is not of this stream.
	maxWindow = 1 << 30
	// The largest factor that a handshake can agree on, as a shift; it stands where the handshake is not
	// in the file.
	mostScale = 14
	// A window without a factor; at least so much may have been announced in a packet that the file lacks.
	plainWindow = 1<<16 - 1
)

// Reasons in Skip.Reason, of segments that the receiver does not take.
const (
	skipOutside = "TCP segment outside the window that its receiver has announced"
	skipReset   = "RST with another number than its receiver waits for"
	skipWentOn  = "RST after which both sides went on"
	skipSYN     = "SYN inside a connection that went on"
	skipFIN     = "TCP bytes after the FIN"
)

// reset is an RST that has ended a connection, unless what follows shows that it has not.
type reset struct {
	side   int
	number int
	event  int // its place among the events
	// sent and heard are the numbers behind all that its side had sent and been sent before.
	sent, heard uint32
}

// opening is a SYN on a used pair of addresses. It begins a new connection if somebody answers it, or
// goes on as only its sender would.
type opening struct {
	segment
	number  int
	packets int
}

// ahead tells how far seq lies before (negative) or after next.
func ahead(seq, next uint32) int { return int(int32(seq - next)) }

// fits reports whether a number can be of a stream, as far as its receiver has announced room for it. The
// announcement may be in a packet that the file lacks: so there may be twice as much.
func (h *half) fits(seq uint32) bool {
	reach := maxWindow
	if h.hasEdge {
		reach = min(max(ahead(h.edge, h.next), 0)+max(h.widest, plainWindow), maxWindow)
	}
	d := ahead(seq, h.next)
	return -maxWindow <= d && d <= reach
}

// announce notes up to where the sender of a segment takes bytes.
func (c *conn) announce(side int, s segment) {
	shift, h, other := 0, &c.half[side], &c.half[1-side]
	switch {
	case s.syn: // never scaled
	case !h.hasISN || !other.hasISN:
		shift = mostScale
	case h.scales && other.scales:
		shift = min(h.scale, mostScale)
	}
	size := int(s.window) << shift
	edge := s.ack + uint32(size)
	other.widest = max(other.widest, size)
	if !other.hasEdge || ahead(edge, other.edge) > 0 {
		other.hasEdge, other.edge = true, edge
	}
}

// furthest is the number behind all bytes of a half that are in the file so far.
func (h *half) furthest() uint32 {
	end := h.next
	for _, x := range h.waiting {
		if ahead(x.end(), end) > 0 {
			end = x.end()
		}
	}
	if h.hasFIN && ahead(h.fin+1, end) > 0 {
		end = h.fin + 1
	}
	return end
}

// takesReset reports whether the receiver may have waited for just the number of an RST: at the capture
// point that is anything from what it had acknowledged to what had come by.
func (c *conn) takesReset(side int, s segment) bool {
	h, other := &c.half[side], &c.half[1-side]
	if !h.started { // a refused connection
		return !s.ackFlag || !other.hasISN || ahead(s.ack, other.isn) > 0 && ahead(s.ack, other.next) <= 0
	}
	low, high := h.next, h.furthest()
	if h.hasAck {
		if ahead(h.acked, low) < 0 {
			low = h.acked
		}
		if ahead(h.acked, high) > 0 {
			high = h.acked
		}
	}
	return ahead(s.seq, low) >= 0 && ahead(s.seq, high) <= 0
}

// tcpReset takes in an RST.
func (t *table) tcpReset(c *conn, side int, s segment) {
	switch {
	case c.half[0].closed && c.half[1].closed, c.reset != nil:
		return // what has ended does not end again
	case !c.takesReset(side, s):
		t.skip(skipReset)
		return
	}
	if s.ackFlag && c.opened {
		t.acknowledge(c, 1-side, s.ack)
	}
	c.reset = &reset{side: side, number: t.number, event: len(t.cap.Events), sent: c.half[side].furthest(),
		heard: c.half[1-side].furthest()}
	t.emit(c, side, Reset, Event{})
}

// wentOn takes an RST back if its sender now sends what is new, or acknowledges what came later.
func (t *table) wentOn(c *conn, side int, s segment) {
	r := c.reset
	if r == nil || r.side != side {
		return
	}
	end := s.seq + uint32(len(s.payload)+s.cut)
	if s.fin {
		end++
	}
	h := &c.half[1-side]
	hears := s.ackFlag && h.started && ahead(s.ack, r.heard) > 0 && h.fits(s.ack)
	if ahead(end, r.sent) > 0 && !s.syn || hears {
		t.skipAt(skipWentOn, r.number, 1)
		t.undone = append(t.undone, r.event)
		c.reset = nil
	}
}

// undo takes the events out that did not happen.
func (t *table) undo() {
	if len(t.undone) == 0 {
		return
	}
	slices.Sort(t.undone)
	kept, from := t.cap.Events[:0], 0
	for _, i := range t.undone {
		kept = append(kept, t.cap.Events[from:i]...)
		from = i + 1
	}
	t.cap.Events = append(kept, t.cap.Events[from:]...)
}

// reopen looks whether a segment shows that a SYN inside a connection has begun a new one, which it then
// returns.
func (t *table) reopen(c *conn, s segment) (*conn, error) {
	o := c.again
	if o == nil {
		return c, nil
	}
	first := o.seq + 1
	answered := s.src == o.dst && s.ackFlag && (s.syn || s.rst) && ahead(s.ack, first) >= 0 &&
		ahead(s.ack, first+uint32(len(o.payload)+o.cut)) <= 0
	follows := s.src == o.src && !s.syn && !s.rst && s.seq == first && !c.half[c.side(s)].fits(first)
	if !answered && !follows {
		return c, nil
	}
	c.again = nil
	number := t.number
	t.number = o.number
	n, err := t.begin(o.segment, o.src, true)
	t.number = number
	if err != nil {
		return nil, err
	}
	return n, t.segment(n, o.segment)
}

// knock notes a SYN on a pair whose connection stands: that of a new one, or a stray one.
func (c *conn) knock(t *table, s segment) {
	if o := c.again; o != nil && o.seq == s.seq && o.src == s.src {
		o.packets++
		return
	}
	t.ignoreKnock(c)
	s.payload = bytes.Clone(s.payload)
	c.again = &opening{segment: s, number: t.number, packets: 1}
}

// ignoreKnock counts a SYN that nobody has answered.
func (t *table) ignoreKnock(c *conn) {
	if o := c.again; o != nil {
		t.skipAt(skipSYN, o.number, o.packets)
		c.again = nil
	}
}
