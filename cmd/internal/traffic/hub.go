package traffic

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/replay"
)

// A server of several clients is one machine. What it tells one of them may have its reason in what another one said,
// so one run has to explain what it says to all of them: each conversation alone explains the client, and all
// together the server.

// Hub is the result for a server over all conversations that it has in a capture.
type Hub struct {
	Address   netip.AddrPort
	Recording *replay.Recording
	Side      *replay.Side
	Conns     []*Conn

	numbers []int // those of the clients, by conversation
}

// seat is where a check has a role that speaks with all others: its number, and what the others are.
type seat struct {
	role   *model.Machine
	number int
	others []*model.Machine // by number; nil at the role's own
}

// seats lists in what places the checks of a protocol have a role of which there is one, beside others.
func seats(p *model.Protocol) (list []seat) {
	if p.Parties <= 2 {
		return nil
	}
	for _, check := range p.Checks {
		all := slices.DeleteFunc(slices.Clone(check.Instances), func(x *model.Instance) bool { return x.Monitor })
		for i, x := range all {
			alone := !slices.ContainsFunc(all, func(y *model.Instance) bool { return y != x && y.Role == x.Role })
			known := slices.ContainsFunc(list, func(s seat) bool { return s.role.Name == x.Role.Name && s.number == i })
			if !alone || known || x.Role.External || len(all) < 2 {
				continue
			}
			s := seat{role: roleOf(p, x), number: i}
			for _, y := range all {
				s.others = append(s.others, roleOf(p, y))
			}
			s.others[i] = nil
			list = append(list, s)
		}
	}
	return list
}

// roleOf is the role of an instance as the protocol has it, without the constants of the check.
func roleOf(p *model.Protocol, x *model.Instance) *model.Machine {
	return p.Roles[slices.IndexFunc(p.Roles, func(m *model.Machine) bool { return m.Name == x.Role.Name })]
}

// client is the number of the client that comes as the k-th, from 0, and its role. Clients beyond those of the check
// are as its last one.
func (s *seat) client(k int) (number int, role *model.Machine) {
	if number = k; number >= s.number {
		number++
	}
	last := len(s.others) - 1
	if last == s.number {
		last--
	}
	return number, s.others[min(number, last)]
}

// hubs explains each server of which some conversation alone is no run by all of its conversations.
func (r *Report) hubs(ctx context.Context, p *model.Protocol, o Options) error {
	places := seats(p)
	if len(places) == 0 {
		return nil
	}
	of := map[netip.AddrPort][]*Conn{}
	var order []netip.AddrPort
	for _, c := range r.Conns {
		if of[c.Server] == nil {
			order = append(order, c.Server)
		}
		of[c.Server] = append(of[c.Server], c)
	}
	for _, at := range order {
		h := &Hub{Address: at, Conns: of[at]}
		if !h.needed() {
			continue
		}
		for i := range places {
			if err := h.explain(ctx, p, &places[i], o); err != nil {
				return err
			}
		}
		if h.Side == nil {
			continue
		}
		for i, c := range h.Conns {
			if err := h.client(ctx, i, o); err != nil {
				return err
			}
			c.Sides = c.Sides[:1]
		}
		r.Hubs = append(r.Hubs, h)
	}
	return nil
}

// needed reports whether a server has a conversation that is no run by itself, and all of them are whole.
func (h *Hub) needed() bool {
	needed := false
	for _, c := range h.Conns {
		s := c.Sides[1]
		if c.Recording.Fault != nil || c.half >= 0 || s.External {
			return false
		}
		needed = needed || !s.Accepted && s.Refusal == nil
	}
	return needed
}

// explain looks for one run of the server, which has a place in a check, and keeps it if it explains more than
// another one.
func (h *Hub) explain(ctx context.Context, p *model.Protocol, at *seat, o Options) error {
	n := len(h.Conns)
	last, _ := at.client(n - 1)
	parties := max(last, at.number) + 1
	if parties > p.Parties || n*len(p.Channels()) > replay.MostLanes {
		return nil
	}
	names := slices.Repeat([]string{""}, parties)
	names[at.number] = replay.SideNames[1]
	var peers []replay.Peer
	var numbers []int
	for k, c := range h.Conns {
		number, role := at.client(k)
		names[number] = fmt.Sprintf("client %d", number)
		peers = append(peers, replay.Peer{Number: number, Role: role.Name, Since: c.First, Chunks: c.chunks})
		numbers = append(numbers, number)
	}
	rec := replay.Around(p, &interp.Strings{}, names, at.number, at.role.Name, peers, h.Conns[0].datagrams...)
	if rec.Fault != nil {
		return nil
	}
	s, err := replay.Explain(ctx, rec, at.number, []*model.Machine{at.role}, o.Search)
	if err != nil {
		return err
	}
	if h.Side == nil || s.Accepted && !h.Side.Accepted || !h.Side.Accepted && s.Sent > h.Side.Sent {
		h.Recording, h.Side, h.numbers = rec, s, numbers
	}
	return nil
}

// client explains a client by the number that it has at the server, if it is no run without it.
func (h *Hub) client(ctx context.Context, i int, o Options) error {
	c := h.Conns[i]
	if c.Sides[0].Accepted || c.Sides[0].Refusal != nil {
		return nil
	}
	hub := h.Side.Side
	peer := replay.Peer{Number: h.numbers[i], Role: c.Sides[0].Role, Since: c.First, Chunks: c.chunks}
	names := slices.Clone(h.Recording.Names)
	names[peer.Number] = replay.SideNames[0]
	rec := replay.Around(c.Recording.Protocol, &interp.Strings{}, names, hub, h.Side.Role, []replay.Peer{peer},
		c.datagrams...)
	rec.Since, rec.Rest, rec.Raw = nil, c.Recording.Rest, c.Recording.Raw
	s, err := replay.Explain(ctx, rec, peer.Number, replay.Ours(rec.Protocol), o.Search)
	if err == nil && s.Accepted {
		c.Recording, c.Sides[0] = rec, s
	}
	return err
}

// partial reports whether a server that is not explained may have had other clients: the capture shows only one.
func (h *Hub) partial() bool { return !h.Side.Accepted && len(h.Conns) == 1 }

// text says what was found.
func (h *Hub) text(w io.Writer, steps bool) {
	var who []string
	for i, c := range h.Conns {
		who = append(who, fmt.Sprintf("client %d is %s", h.numbers[i], c.Client))
	}
	fmt.Fprintf(w, "  %s with %s: %s\n", h.Address, diag.Counted(len(h.Conns), "client"), strings.Join(who, ", "))
	sideText(w, &Conn{Recording: h.Recording, channels: h.Conns[0].channels}, h.Side, steps)
	if !h.Side.Accepted {
		fmt.Fprintln(w, "    if it had clients that are not in the capture, what they said may be the reason")
	}
}
