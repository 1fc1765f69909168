package ipx

import (
	"net/netip"
	"slices"
	"time"

	"github.com/parley-go/parley/runtime/transport/internal/door"
)

// handle deals with one datagram. What is to be relayed waits until serve is called.
func (s *Server) handle(now time.Time, b []byte, from netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, _, err := Parse(b)
	if err != nil {
		s.stats.Malformed++
		return
	}
	if h.Dst.Socket == echoSocket && h.Dst.Node == (Node{}) {
		s.register(now, from)
		return
	}
	i, ok := s.sender(now, from, h.Src.Node)
	if !ok {
		return
	}
	c := &s.clients[i]
	if h.Dst.Node == s.node {
		c.heard = now // the answer to a ping
		return
	}
	if !s.take(now, c, int(h.Length)) {
		s.stats.Limited++
		s.notes.Bite("FrameRate or ByteRate", "packets of the client are dropped", from.String)
		return
	}
	if !s.waiting.Put(c.from, packet{from, h.Dst.Node}, b[:h.Length]) {
		s.stats.Displaced++
		s.notes.Bite("Waiting", "packets of the address that sends most are lost", from.String)
	}
}

// serve relays up to n packets that wait, and reports whether more do.
func (s *Server) serve(n int) (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		p, b, ok := s.waiting.Take()
		if !ok {
			return false
		}
		if i, ok := s.byAddr[p.sender]; ok {
			s.relay(b, p.dst, i)
		}
	}
	return !s.waiting.Empty()
}

// register answers a request for a node. With plain nodes the asker is a
// client from then on; otherwise nothing is remembered but whom to ping once.
func (s *Server) register(now time.Time, from netip.AddrPort) {
	node := s.nodeOf(from)
	if s.cfg.PlainNodes {
		if _, ok := s.admit(now, from, node, false); !ok {
			return
		}
	}
	if len(s.asked) < maxAsked && !slices.Contains(s.asked, from) {
		s.asked = append(s.asked, from)
	}
	s.stats.Registered++
	h := Header{Length: HeaderSize, Dst: Address{Node: node, Socket: echoSocket},
		Src: Address{Net: 1, Node: s.node, Socket: echoSocket}}
	s.send(h.Append(make([]byte, 0, HeaderSize)), from)
}

// sender finds the client that a packet comes from; who uses the node that
// belongs to its address has shown that it has received it.
func (s *Server) sender(now time.Time, from netip.AddrPort, src Node) (int, bool) {
	i, ok := s.byAddr[from]
	if ok && s.clients[i].node == src {
		s.clients[i].heard = now
		if s.half.Len() > 0 {
			s.half.Remove(from)
		}
		return i, true
	}
	if ok || s.cfg.PlainNodes || src != s.nodeOf(from) {
		s.stats.Strangers++
		return 0, false
	}
	return s.admit(now, from, src, true)
}

// admit gives a client a place, if the door lets it in. One that has not proved its address is
// half-open.
func (s *Server) admit(now time.Time, from netip.AddrPort, node Node, proved bool) (int, bool) {
	if i, ok := s.byAddr[from]; ok {
		s.clients[i].heard = now
		return i, true
	}
	oldest, _, giving := s.half.Oldest()
	if _, taken := s.byNode[node]; taken || len(s.clients) >= s.cfg.MaxClients && !giving {
		s.stats.Full++
		s.notes.Bite("MaxClients", "clients are turned away", from.String)
		return 0, false
	}
	if !s.enter(now, from) {
		return 0, false
	}
	if len(s.clients) >= s.cfg.MaxClients {
		s.stats.Evicted++
		s.notes.Bite("MaxClients", "half-open clients give way to newcomers", from.String)
		s.remove(s.byAddr[oldest])
	}
	if !proved {
		s.half.Add(from, now.Sub(s.began))
	}
	i := len(s.clients)
	s.clients = append(s.clients, client{addr: from, from: door.Origin(from.Addr()), node: node, heard: now, since: now,
		frames: float64(s.cfg.FrameRate), bytes: float64(s.cfg.ByteRate)})
	s.byAddr[from], s.byNode[node] = i, i
	return i, true
}

// enter asks the door whether a client may come in.
func (s *Server) enter(now time.Time, from netip.AddrPort) bool {
	if s.began.IsZero() {
		s.began = now
	}
	limit := ""
	switch s.door.Enter(door.Origin(from.Addr()), now.Sub(s.began)) {
	case door.In:
		return true
	case door.Crowded:
		s.stats.Crowded++
		limit = "PerAddress"
	case door.Hasty:
		s.stats.Hasty++
		limit = "AddressRate"
	default:
		s.stats.Flooded++
		limit = "AcceptRate"
	}
	s.notes.Bite(limit, "clients are turned away", from.String)
	return false
}

// take notes a packet of a client; it reports whether it is within the limits.
func (s *Server) take(now time.Time, c *client, size int) bool {
	if passed := now.Sub(c.since).Seconds(); passed > 0 {
		c.frames = min(c.frames+passed*float64(s.cfg.FrameRate), float64(s.cfg.FrameRate))
		c.bytes = min(c.bytes+passed*float64(s.cfg.ByteRate), float64(s.cfg.ByteRate))
		c.since = now
	}
	if s.cfg.FrameRate > 0 {
		if c.frames < 1 {
			return false
		}
		c.frames--
	}
	if s.cfg.ByteRate > 0 {
		if c.bytes < float64(size) {
			return false
		}
		c.bytes -= float64(size)
	}
	return true
}

// relay sends a packet on: to everybody but its sender if the node begins with
// four bytes FF, as DOSBox has it, else to the client with that node.
func (s *Server) relay(b []byte, dst Node, sender int) {
	if [4]byte(dst[:4]) != [4]byte{0xFF, 0xFF, 0xFF, 0xFF} {
		i, ok := s.byNode[dst]
		if !ok {
			s.stats.Unknown++
			return
		}
		s.stats.Relayed++
		s.send(b, s.clients[i].addr)
		return
	}
	for i := range s.clients {
		if i != sender {
			s.stats.Relayed++
			s.send(b, s.clients[i].addr)
		}
	}
}

// sweep pings who is silent, and takes away the places of those that do not answer.
func (s *Server) sweep(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ping := Header{Length: HeaderSize, Dst: Address{Node: Broadcast, Socket: echoSocket},
		Src: Address{Net: 1, Node: s.node, Socket: echoSocket}}
	b := ping.Append(make([]byte, 0, HeaderSize))
	for _, a := range s.asked {
		if _, ok := s.byAddr[a]; !ok || s.cfg.PlainNodes {
			s.send(b, a)
		}
	}
	s.asked = s.asked[:0]
	for {
		a, since, ok := s.half.Oldest()
		if !ok || s.cfg.HalfOpen < 0 || now.Sub(s.began) < since+s.cfg.HalfOpen {
			break
		}
		s.stats.Expired++
		s.notes.Bite("HalfOpen", "clients lose their places", a.String)
		s.remove(s.byAddr[a])
	}
	for i := 0; i < len(s.clients); i++ {
		c := &s.clients[i]
		switch silent := now.Sub(c.heard); {
		case silent >= s.cfg.Silence:
			s.stats.Silent++
			s.notes.Bite("Silence", "clients lose their places", c.addr.String)
			s.remove(i)
			i--
		case silent >= s.cfg.Silence/2:
			s.send(b, c.addr)
		}
	}
}

// remove takes away a place; the last client moves there.
func (s *Server) remove(i int) {
	c, last := s.clients[i], len(s.clients)-1
	s.door.Leave(c.from)
	s.half.Remove(c.addr)
	delete(s.byAddr, c.addr)
	delete(s.byNode, c.node)
	if i != last {
		s.clients[i] = s.clients[last]
		s.byAddr[s.clients[i].addr], s.byNode[s.clients[i].node] = i, i
	}
	s.clients = s.clients[:last]
}
