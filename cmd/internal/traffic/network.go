package traffic

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/parley-go/parley/cmd/internal/capture"
	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/runtime/transport/book"
)

// Host is the result for one host of a capture of a broadcast protocol.
type Host struct {
	*replay.Host
	Address netip.AddrPort
	// Parts are the results for the host's programs, one after the other; nil for what was not looked
	// at.
	Parts []*replay.Side
	// Foreign: not even its first frame is of the protocol's roles, and it writes what they do not, so
	// that it is another program. Unasked: others were asked for. It is environment then.
	Foreign, Unasked bool
}

// Network is the result for a capture of a broadcast protocol.
type Network struct {
	*replay.Network
	Hosts []*Host
	// First and Last are packets.
	First, Last int
}

// ours are the hosts that were to be explained.
func (n *Network) ours() (list []*Host) {
	for _, h := range n.Hosts {
		if !h.Foreign && !h.Unasked {
			list = append(list, h)
		}
	}
	return list
}

// Cut reports whether the capture lacks the beginning of the host's first program.
func (h *Host) Cut() bool { return h.Host.Parts[0].First > 1 }

// accepted reports whether each host that is of the protocol does what the specification says.
func (n *Network) accepted() bool {
	ours := n.ours()
	for _, h := range ours {
		for _, s := range h.Parts {
			if s == nil || !s.Accepted {
				return false
			}
		}
	}
	return len(ours) > 0
}

// unknown reports whether the verdict is open: everything that was looked at is explained, or would
// be if the search had gone on, or the capture lacks the beginning of what is not.
func (n *Network) unknown() bool {
	open := false
	for _, h := range n.ours() {
		for i, s := range h.Parts {
			if s != nil && !s.Accepted && !s.Exhausted && h.Host.Parts[i].First <= 1 {
				return false
			}
			open = open || s == nil || !s.Accepted
		}
	}
	return open
}

// addressing is the form of UDP addresses in the frames of peers.
var addressing = replay.Addressing{
	Size: book.IPv4.Size,
	Is:   func(key string) bool { _, ok := book.IPv4.Get([]byte(key)); return ok },
	Text: func(key string) string { return address(key).String() },
}

func address(key string) netip.AddrPort {
	a, _ := book.IPv4.Get([]byte(key))
	return a
}

func key(a netip.AddrPort) string {
	b := make([]byte, book.IPv4.Size)
	book.IPv4.Put(b, a)
	return string(b)
}

// datagrams are the datagrams of a capture over IPv4. Where nobody sends from, and the address is one
// that broadcasts have, everybody is meant.
func datagrams(c *capture.Capture) (list []replay.Datagram, first, last int) {
	senders := map[netip.AddrPort]bool{}
	ends := func(e *capture.Event) (from, to netip.AddrPort) {
		k := &c.Conns[e.Conn]
		if e.FromClient {
			return k.Client, k.Server
		}
		return k.Server, k.Client
	}
	for i := range c.Events {
		from, _ := ends(&c.Events[i])
		senders[from] = true
	}
	for i := range c.Events {
		e := &c.Events[i]
		from, to := ends(e)
		if c.Conns[e.Conn].Proto != "udp" || e.Kind != capture.Data && e.Kind != capture.Gap || !from.Addr().Is4() {
			continue
		}
		if book.IsGreeting(e.Data) {
			continue // of the links, not of the protocol
		}
		d := replay.Datagram{Time: e.Time, Packet: e.Packet, From: key(from), To: key(to), Data: e.Data}
		if !senders[to] && everybody(to.Addr()) {
			d.To = ""
		}
		if first == 0 {
			first = e.Packet
		}
		last = e.Packet
		list = append(list, d)
	}
	return list, first, last
}

// everybody reports whether an address looks like one of a broadcast: the length of the network's
// mask is in no capture.
func everybody(a netip.Addr) bool { return a.IsMulticast() || a.As4()[3] == 255 }

// network holds a capture of a broadcast protocol against it.
func (r *Report) network(ctx context.Context, p *model.Protocol, c *capture.Capture, o Options) error {
	list, first, last := datagrams(c)
	if len(list) == 0 {
		return fmt.Errorf("%s: no UDP datagram over IPv4 in it%s%s", r.File, ports(o.Ports), skipped(c))
	}
	keys, err := replay.Addresses(p, list, addressing)
	if err != nil {
		return fmt.Errorf("%s: %w", r.File, err)
	}
	// Values are as long as there are parties, and most searches are for few.
	small, diags := compile.Load(p.Files[0], compile.Options{Consts: o.Consts, Parties: max(len(keys), 2)})
	if small == nil {
		return fmt.Errorf("%s for %d parties: %v", r.Spec, len(keys), diags.Errors()[0])
	}
	n := &Network{Network: replay.NewNetwork(small, list, keys, addressing), First: first, Last: last}
	r.Network = n
	for _, h := range n.Network.Hosts {
		n.Hosts = append(n.Hosts, &Host{Host: h, Address: address(keys[h.Number])})
	}
	asked, err := n.asked(r.File, o.Hosts)
	if err != nil {
		return err
	}
	for _, h := range n.Hosts {
		h.Unasked = asked != nil && !slices.Contains(asked, h)
		for _, part := range h.Host.Parts {
			if h.Unasked || h.Foreign || !part.Begun() {
				h.Parts = append(h.Parts, nil)
				continue
			}
			s, err := n.Explain(ctx, part, replay.Ours(small), o.Search)
			if err != nil {
				return err
			}
			h.Parts = append(h.Parts, s)
			if s.Sent == 0 && len(h.Parts) == 1 && asked == nil && n.Alien(h.Host) >= 0 {
				h.Foreign = true
			}
		}
	}
	return nil
}

// asked are the hosts that somebody wants explained, nil for all.
func (n *Network) asked(file string, want []netip.AddrPort) (list []*Host, err error) {
	for _, a := range want {
		i := slices.IndexFunc(n.Hosts, func(h *Host) bool { return h.Address == a })
		if i < 0 {
			var there []string
			for _, h := range n.Hosts {
				there = append(there, h.Address.String())
			}
			if len(there) == 0 {
				return nil, fmt.Errorf("%s: %v sends no frame of %s in it, and nobody else does", file, a,
					n.Protocol.Name)
			}
			return nil, fmt.Errorf("%s: %v sends no frame of %s in it; those who do are %s", file, a, n.Protocol.Name,
				strings.Join(there, ", "))
		}
		list = append(list, n.Hosts[i])
	}
	return list, nil
}
