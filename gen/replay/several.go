package replay

import (
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// Peer is what passed between one party and the one with which all others speak: its number, the name of its role,
// and the chunks, in which 0 is the peer and 1 the other. Since is the number of the packet with which it came, and
// Left that of the one by which it was known that the other had heard that the peer had gone; 0 if it is not.
type Peer struct {
	Number      int
	Role        string
	Since, Left int
	Chunks      []Chunk
}

// Around is [Between] of a party and several peers at a time, each over connections of its own. The numbers of packets
// say in which order all of it was seen. Names are those of all parties, and hub is the number of the one, whose role
// has a name. The end of what a peer sends is in the order of its frames, too, for the other hears of it.
func Around(p *model.Protocol, strs *interp.Strings, names []string, hub int, role string, peers []Peer,
	datagrams ...bool) *Recording {
	all := &Recording{Protocol: p, Strings: strs, Names: names, Datagrams: datagrams[p.News()],
		Since: slices.Repeat([]int{-1}, len(names))}
	for _, x := range peers {
		party := [2]int{x.Number, hub}
		r := Between(p, strs, [2]string{x.Role, role}, x.Chunks, datagrams...)
		if f := r.Fault; f != nil && (all.Fault == nil || f.Packet < all.Fault.Packet) {
			f.From = party[f.From]
			all.Fault = f
		}
		for _, f := range r.Frames {
			f.From, f.To = party[f.From], party[f.To]
			all.Frames = append(all.Frames, f)
		}
		if e := r.Ends[0]; e.Kind != Data && !all.Datagrams {
			all.Frames = append(all.Frames, Frame{From: x.Number, To: hub, Channel: p.News(), Time: e.Time,
				Packet: e.Packet, Ends: true})
		}
	}
	slices.SortStableFunc(all.Frames, func(a, b Frame) int { return a.Packet - b.Packet })
	before := func(packet int) (n int) {
		for n < len(all.Frames) && all.Frames[n].Packet < packet {
			n++
		}
		return n
	}
	for _, x := range peers {
		all.Since[x.Number] = before(x.Since)
		if x.Left == 0 {
			continue
		}
		for k := range all.Frames {
			if f := &all.Frames[k]; f.Ends && f.From == x.Number {
				f.Heard = before(x.Left)
			}
		}
	}
	return all
}
