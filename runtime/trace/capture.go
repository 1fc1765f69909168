package trace

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
)

// Capture is a [Sink] that writes a packet capture: every frame that came or
// went, with the name of the transition it belongs to as the packet's comment.
type Capture struct {
	w     io.Writer
	meta  []PcapMeta // by channel
	start time.Time
	file  *PcapNG
	links []capturedLink // in the order of their coming up
	err   error          // the first error of the file
}

type capturedLink struct {
	peer    fsm.Peer
	channel int
	p       *PcapNG
}

// NewCapture returns a capture to w. The ends that meta does not name are
// those the driver sees when a link comes up. If w has a method Flush() error,
// like a bufio.Writer, it is called when the driver flushes its records.
// Of a protocol with several channels meta is of the first, and beside are of the others in their order. A driver
// tells the ends of the link with which a peer comes and goes alone; those of the others are to be named.
func NewCapture(w io.Writer, meta PcapMeta, beside ...PcapMeta) *Capture {
	return &Capture{w: w, meta: append([]PcapMeta{meta}, beside...)}
}

// Begin implements [Sink].
func (c *Capture) Begin(h Header) {
	c.start = h.Time
	if c.meta[0].Comment == "" {
		c.meta[0].Comment = strings.TrimSpace(h.Protocol + "." + h.Role + " " + h.Instance)
	}
}

// Step implements [Sink].
func (c *Capture) Step(s *Step) {
	if c.err != nil {
		return
	}
	t := c.start.Add(s.At)
	switch s.Kind {
	case Up:
		if p := c.link(s.Peer, s.Channel, string(s.Note)); p != nil {
			c.note(p.Open(t, s.Name))
		}
	case Message:
		comment := s.Name
		if len(s.Problem) > 0 {
			comment = s.Code.String() + " in state " + s.Before + ": " + string(s.Problem)
		}
		if p := c.link(s.Peer, s.Channel, ""); p != nil && !s.Again {
			c.note(p.Frame(PcapReceived, t, s.Frame, comment))
		}
	case Malformed:
		if p := c.link(s.Peer, s.Channel, ""); p != nil {
			c.note(p.Frame(PcapReceived, t, s.Frame, "malformed: "+string(s.Problem)))
		}
	}
	for i := range s.Effects {
		c.effect(t, s.Name, &s.Effects[i])
	}
	if s.Kind == Lost {
		for _, l := range c.links {
			if l.peer == s.Peer {
				c.note(l.p.Close(PcapReceived, t, string(s.Note)))
				c.note(l.p.Close(PcapSent, t, ""))
			}
		}
	}
}

func (c *Capture) effect(t time.Time, name string, e *Effect) {
	if e.Kind != fsm.Close && (e.Kind != fsm.Send || len(e.Frame) == 0) {
		return
	}
	if e.Kind == fsm.Send && e.Channel > 0 && e.Peer != fsm.Broadcast {
		c.link(e.Peer, e.Channel, "") // what its link is to is known only from meta
	}
	for _, l := range c.links {
		switch {
		case e.Peer != l.peer && e.Peer != fsm.Broadcast:
		case e.Kind == fsm.Close:
			c.note(l.p.Close(PcapSent, t, name))
		case e.Channel == l.channel:
			c.note(l.p.Frame(PcapSent, t, e.Frame, name))
		}
	}
}

func (c *Capture) find(peer fsm.Peer, channel int) *PcapNG {
	for _, l := range c.links {
		if l.peer == peer && l.channel == channel {
			return l.p
		}
	}
	return nil
}

// link returns the capture's link of a channel to a peer, made when it is first needed.
func (c *Capture) link(peer fsm.Peer, channel int, ends string) *PcapNG {
	if p := c.find(peer, channel); p != nil {
		return p
	}
	if channel >= len(c.meta) {
		c.note(fmt.Errorf("there is a channel %d, and NewCapture was told of %d", channel, len(c.meta)))
		return nil
	}
	meta := c.meta[channel]
	local, remote, _ := strings.Cut(ends, EndsSeparator)
	if a, err := netip.ParseAddrPort(local); err == nil && !meta.Local.IsValid() {
		meta.Local = a
	}
	if a, err := netip.ParseAddrPort(remote); err == nil && !meta.Remote.IsValid() {
		meta.Remote = a
	}
	var p *PcapNG
	var err error
	if c.file == nil {
		p, err = NewPcapNG(c.w, meta)
		c.file = p
	} else {
		meta.Comment = ""
		p, err = c.file.Link(meta)
	}
	if err != nil {
		c.note(err)
		return nil
	}
	c.links = append(c.links, capturedLink{peer, channel, p})
	return p
}

// EndsSeparator stands between the two addresses, ours and the peer's, in the
// Note of an Up step.
const EndsSeparator = " > "

func (c *Capture) note(err error) {
	// A frame after the close is the link's business and no fault of the file.
	if err != nil && c.err == nil && !errors.Is(err, ErrPcapClosed) {
		c.err = err
	}
}

// Flush implements [Sink].
func (c *Capture) Flush() error {
	if f, ok := c.w.(interface{ Flush() error }); ok && c.err == nil {
		c.err = f.Flush()
	}
	return c.err
}
