package capture

import (
	"errors"
	"slices"
	"time"
)

// table holds every conversation of the file while it is read.
type table struct {
	opts  Options
	cap   *Capture
	conns []*conn
	// newest is the latest conversation of each pair of addresses: ports are used again.
	newest map[pairKey]*conn
	skips  map[string]int // reason → index in cap.Skipped
	// lost are packets that could not be read, and whose addresses could.
	lost map[lostKey]*Skip
	// undone are events that did not happen, as later packets show.
	undone []int
	// known counts packets whose link type was known, badLink is the first other one's error.
	known   int
	badLink error
	// The packet at hand, for the events it causes.
	now     time.Time
	number  int
	comment string
}

// pairKey names both ends of a conversation, the smaller first, so that both directions find it.
type pairKey struct {
	proto uint8
	a, b  endpoint
}

// conn is one conversation in progress. Its halves and Conn's directions are indexed by sender: 0
// client, 1 server.
type conn struct {
	index  int
	client endpoint
	half   [2]half
	opened bool
	// reset is the RST that ended it, nil if none did; again is a SYN that may begin another one.
	reset *reset
	again *opening
	kept  int // payload bytes delivered or waiting
}

func newTable(opts Options) *table {
	return &table{opts: opts, cap: &Capture{}, newest: map[pairKey]*conn{}, skips: map[string]int{},
		lost: map[lostKey]*Skip{}}
}

// packet takes in one packet. Only a limit is an error; a packet that cannot be used is counted.
func (t *table) packet(pkt *rawPacket) error {
	t.now, t.number, t.comment = pkt.time, pkt.number, pkt.comment
	s, err := parsePacket(pkt.link, pkt.data)
	var link linkError
	if errors.As(err, &link) {
		if t.badLink == nil {
			t.badLink = err
		}
	} else {
		t.known++
	}
	if err != nil {
		t.skip(err.Error())
		t.unread(s, err.Error())
		return nil
	}
	if !t.wanted(s) {
		return nil
	}
	if s.proto == protoUDP {
		return t.datagram(s)
	}
	return t.tcpSegment(s)
}

// checkLinks reports a file of which nothing can be read because of where it was captured.
func (t *table) checkLinks() error {
	if t.badLink != nil && t.known == 0 {
		return errors.New("packet 1: " + t.badLink.Error())
	}
	return nil
}

func (t *table) wanted(s segment) bool {
	ports := t.opts.Ports
	return len(ports) == 0 || slices.Contains(ports, s.src.Port()) || slices.Contains(ports, s.dst.Port())
}

func (t *table) skip(reason string) { t.skipAt(reason, t.number, 1) }

// skipAt counts packets that were not used; first is the number of the first of them.
func (t *table) skipAt(reason string, first, packets int) {
	i, ok := t.skips[reason]
	if !ok {
		i = len(t.cap.Skipped)
		t.skips[reason] = i
		t.cap.Skipped = append(t.cap.Skipped, Skip{Reason: reason, First: first})
	}
	s := &t.cap.Skipped[i]
	s.Packets, s.First = s.Packets+packets, min(s.First, first)
}

// lookup finds the newest conversation of a segment's pair, nil when there is none.
func (t *table) lookup(s segment) *conn { return t.newest[keyOf(s)] }

func keyOf(s segment) pairKey {
	a, b := s.src, s.dst
	if a.Compare(b) > 0 {
		a, b = b, a
	}
	return pairKey{s.proto, a, b}
}

// begin adds a conversation. sure says that a SYN or SYN-ACK shows who the client is.
func (t *table) begin(s segment, client endpoint, sure bool) (*conn, error) {
	if len(t.conns) == t.opts.MaxConns {
		return nil, &LimitError{Packet: t.number, What: "connections", Option: "MaxConns",
			Limit: int64(t.opts.MaxConns)}
	}
	server := s.dst
	if client == s.dst {
		server = s.src
	}
	name := "tcp"
	if s.proto == protoUDP {
		name = "udp"
	}
	c := &conn{index: len(t.conns), client: client}
	t.conns = append(t.conns, c)
	t.newest[keyOf(s)] = c
	t.cap.Conns = append(t.cap.Conns, Conn{Proto: name, Client: client, Server: server, Handshake: sure,
		First: t.number})
	return c, nil
}

// guessClient names the client of a conversation whose beginning is not in the file (see Conn.Client).
func (t *table) guessClient(s segment) endpoint {
	known := func(e endpoint) bool { return slices.Contains(t.opts.Ports, e.Port()) }
	switch {
	case known(s.dst) && !known(s.src):
		return s.src
	case known(s.src) && !known(s.dst):
		return s.dst
	case s.dst.Port() > s.src.Port():
		return s.dst
	}
	return s.src
}

// side tells who sent a segment: 0 the client, 1 the server.
func (c *conn) side(s segment) int {
	if s.src == c.client {
		return 0
	}
	return 1
}

// direction returns the counters of one side of a conversation.
func (t *table) direction(c *conn, side int) *Direction {
	if side == 0 {
		return &t.cap.Conns[c.index].FromClient
	}
	return &t.cap.Conns[c.index].FromServer
}

// count notes a packet of a conversation.
func (t *table) count(c *conn, side int) {
	t.cap.Conns[c.index].Last = t.number
	t.direction(c, side).Packets++
}

// emit appends an event of the packet at hand; the caller sets what else belongs to the kind.
func (t *table) emit(c *conn, side int, kind Kind, e Event) {
	e.Time, e.Packet, e.Conn, e.FromClient, e.Kind = t.now, t.number, c.index, side == 0, kind
	if e.Carrier == 0 {
		e.Carrier, e.Comment = t.number, t.comment
	}
	t.cap.Events = append(t.cap.Events, e)
}

// keep notes that n more payload bytes of a conversation stay in memory.
func (t *table) keep(c *conn, n int) error {
	if n > t.opts.MaxConnBytes-c.kept {
		return &LimitError{Packet: t.number, What: "payload bytes in one connection", Option: "MaxConnBytes",
			Limit: int64(t.opts.MaxConnBytes)}
	}
	c.kept += n
	return nil
}

// datagram takes in a UDP datagram: readable at once, whole or not at all.
func (t *table) datagram(s segment) error {
	c := t.lookup(s)
	if c == nil {
		var err error
		if c, err = t.begin(s, t.guessClient(s), false); err != nil {
			return err
		}
	}
	side := c.side(s)
	t.count(c, side)
	if err := t.keep(c, len(s.payload)); err != nil {
		return err
	}
	if !c.opened {
		c.opened = true
		t.emit(c, side, Open, Event{})
	}
	payload := append([]byte{}, s.payload...)
	if s.cut > 0 {
		d := t.direction(c, side)
		d.Gaps, d.Lost = d.Gaps+1, d.Lost+s.cut
		t.emit(c, side, Gap, Event{Data: payload, Lost: uint32(s.cut), Why: whyCut})
		return nil
	}
	t.direction(c, side).Bytes += len(payload)
	t.emit(c, side, Data, Event{Data: payload})
	return nil
}
