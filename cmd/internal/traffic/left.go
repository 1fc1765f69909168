package traffic

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/parley-go/parley/cmd/internal/capture"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/replay"
)

// Packets that are left out are always told. Those that may have carried bytes of what was explained keep a
// capture from being accepted: the run that was found may not be the one that took place.

// lacking are the packets that may have carried bytes of the explained connections and were left out.
func (r *Report) lacking() (list []capture.Skip) {
	if r.Network != nil {
		for i := range r.Capture.Conns {
			c := &r.Capture.Conns[i]
			ours := func(h *Host) bool { return h.Address == c.Client || h.Address == c.Server }
			if c.Proto == "udp" && slices.ContainsFunc(r.Network.ours(), ours) {
				list = append(list, c.LeftOut...)
			}
		}
	}
	for _, c := range r.Conns {
		list = append(list, c.lacking()...)
	}
	return list
}

// lacking are the packets that may have carried bytes of the connection, in any channel, and were left out.
func (c *Conn) lacking() []capture.Skip {
	list := c.LeftOut
	for _, b := range c.Beside {
		list = append(list[:len(list):len(list)], b.LeftOut...)
	}
	return list
}

// leftOutText says which packets of the file were not used.
func (r *Report) leftOutText(w io.Writer) {
	for _, k := range r.Capture.Skipped {
		fmt.Fprintf(w, "  left out: %s\n", skipText(k))
	}
}

// skipped says which packets could not be used and why, behind another sentence.
func skipped(c *capture.Capture) string {
	s := ""
	for _, k := range c.Skipped {
		s += "; left out: " + skipText(k)
	}
	return s
}

func skipText(k capture.Skip) string {
	return fmt.Sprintf("%s (%s, first is packet %d)", diag.Counted(k.Packets, "packet"), k.Reason, k.First)
}

// half is the side of which alone the capture has packets; -1 if it has of both.
func (g *talk) half() int {
	var packets [2]int
	for i, c := range g.conns {
		of := [2]int{c.FromClient.Packets, c.FromServer.Packets}
		if g.turned[i] {
			of[0], of[1] = of[1], of[0]
		}
		packets[0], packets[1] = packets[0]+of[0], packets[1]+of[1]
	}
	switch {
	case packets[0] == 0:
		return 1
	case packets[1] == 0:
		return 0
	}
	return -1
}

// complete looks, where the capture has one direction alone, for a run of that side that reads frames which are not
// in the capture.
func (c *Conn) complete(ctx context.Context, p *model.Protocol, o replay.Options) error {
	if c.half < 0 || c.Sides[c.half].Accepted || c.Sides[c.half].External {
		return nil
	}
	o.Unseen = true
	s, err := replay.Explain(ctx, c.Recording, c.half, replay.Ours(p), o)
	if err != nil {
		return err
	}
	c.open = true
	if s.Accepted || s.Sent > c.Sides[c.half].Sent {
		c.Sides[c.half] = s
	}
	return nil
}

// halfText says what is known of a connection of which the capture has one direction.
func (c *Conn) halfText(w io.Writer) {
	if c.half < 0 || c.Recording.Fault != nil {
		return
	}
	who, other := replay.SideNames[c.half], replay.SideNames[1-c.half]
	fmt.Fprintf(w, "  the capture has packets of the %s alone", who)
	switch s := c.Sides[c.half]; {
	case !c.open:
		fmt.Fprintf(w, ": what it sent needs none of the %s\n", other)
	case s.Accepted:
		fmt.Fprintf(w, ": what it sent is a run if the %s sent %s that it lacks\n", other,
			diag.Counted(s.Unseen, "frame"))
	default:
		fmt.Fprintf(w, ", and no run was found of what it sent, with frames of the %s whose values are in it\n", other)
	}
}

// lossText says what a network did that loses and copies.
func lossText(w io.Writer, rec *replay.Recording, s *replay.Side) {
	list := func(frames []int) string {
		text := ""
		for i, f := range frames {
			if i == 3 {
				return text + fmt.Sprintf(" and %d more", len(frames)-i)
			}
			if i > 0 {
				text += ", "
			}
			text += fmt.Sprintf("packet %d, %s", rec.Frames[f].Packet, rec.Text(f))
		}
		return text
	}
	if len(s.Missed) > 0 {
		fmt.Fprintf(w, "    lost on the way to it: %s\n", list(s.Missed))
	}
	if len(s.Copied) > 0 {
		fmt.Fprintf(w, "    copied by the network, and not sent again: %s\n", list(s.Copied))
	}
	if s.Unsent > 0 && s.Accepted {
		fmt.Fprintf(w, "    sent, and not in the capture: %s, lost before it or behind its end\n",
			diag.Counted(s.Unsent, "frame"))
	}
}

// explained reports whether both sides are runs as far as was looked.
func (c *Conn) explained() bool {
	return !slices.ContainsFunc(c.Sides, func(s *replay.Side) bool { return !s.Accepted })
}

// missingText is the verdict on a capture that lacks something of a connection, and has a run otherwise.
func (r *Report) missingText() string {
	for _, c := range r.Conns {
		switch {
		case c.open && c.lacks():
			return fmt.Sprintf("verdict: INCOMPLETE, the capture has one direction alone of %s %s → %s\n", c.Proto,
				c.Client, c.Server)
		case c.lacks() && c.Recording.Fault == nil && len(c.lacking()) == 0:
			return fmt.Sprintf("verdict: INCOMPLETE, the capture lacks the beginning of %s %s → %s: what it has is no "+
				"run by itself\n", c.Proto, c.Client, c.Server)
		case c.lacks() && !c.explained():
			return fmt.Sprintf("verdict: INCOMPLETE, the capture lacks bytes of %s %s → %s, and what follows is no "+
				"run without them\n", c.Proto, c.Client, c.Server)
		case c.lacks():
			return fmt.Sprintf("verdict: INCOMPLETE, the capture lacks bytes of %s %s → %s from packet %d on; what "+
				"came before is a run of %s\n", c.Proto, c.Client, c.Server, c.Recording.Fault.Packet, r.protocol.Name)
		}
	}
	for _, h := range r.Hubs {
		if h.partial() && !h.Side.Exhausted {
			return fmt.Sprintf("verdict: INCOMPLETE, the capture has one client of %s, which may serve "+
				"several, and what it says to that one is no run by itself\n", h.Address)
		}
	}
	return ""
}

// lackingText is the verdict on a capture whose run is known but for packets that were left out.
func (r *Report) lackingText() string {
	k := r.lacking()[0]
	for _, x := range r.lacking() {
		if x.First < k.First {
			k = x
		}
	}
	return fmt.Sprintf("verdict: INCOMPLETE, what could be read is a run of %s, but packets that may belong to it "+
		"were left out; the first is packet %d (%s)\n", r.protocol.Name, k.First, k.Reason)
}

func skipsJSON(list []capture.Skip) (out []jsonSkip) {
	for _, k := range list {
		out = append(out, jsonSkip{k.Reason, k.Packets, k.First})
	}
	return out
}
