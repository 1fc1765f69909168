package capture

import (
	"net/netip"
	"slices"
)

// lostKey is what is known of packets that could not be read. Ports are 0 where they are not known.
type lostKey struct {
	pairKey
	reason string
}

// unread notes a packet that could not be read and may be of some connection.
func (t *table) unread(s segment, reason string) {
	if !s.src.IsValid() {
		return
	}
	k := lostKey{keyOf(s), reason}
	if t.lost[k] == nil {
		t.lost[k] = &Skip{Reason: reason, First: t.number}
	}
	t.lost[k].Packets++
}

// leave notes packets that may have carried bytes of a connection and were not used.
func (c *Conn) leave(s Skip) {
	i := slices.IndexFunc(c.LeftOut, func(x Skip) bool { return x.Reason == s.Reason })
	if i < 0 {
		c.LeftOut = append(c.LeftOut, s)
		return
	}
	x := &c.LeftOut[i]
	x.Packets, x.First = x.Packets+s.Packets, min(x.First, s.First)
}

// attribute gives the packets that could not be read to the connections that they may be of: those between the
// same hosts, at the same ports if the packet shows them.
func (t *table) attribute() {
	for i := range t.cap.Conns {
		c := &t.cap.Conns[i]
		s := segment{proto: protoTCP, src: c.Client, dst: c.Server}
		if c.Proto == "udp" {
			s.proto = protoUDP
		}
		hosts := s
		hosts.src, hosts.dst = netip.AddrPortFrom(c.Client.Addr(), 0), netip.AddrPortFrom(c.Server.Addr(), 0)
		pairs := slices.Compact([]pairKey{keyOf(s), keyOf(hosts)}) // the same for a connection between two ports 0
		for _, pair := range pairs {
			for _, reason := range []unusable{fragment, badHeader} {
				if x := t.lost[lostKey{pair, string(reason)}]; x != nil {
					c.leave(*x)
				}
			}
		}
		slices.SortFunc(c.LeftOut, func(a, b Skip) int { return a.First - b.First })
	}
}
