package trace

import (
	"errors"
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
	meta  PcapMeta
	start time.Time
	file  *PcapNG
	links []capturedLink // in the order of their coming up
	err   error          // the first error of the file
}

type capturedLink struct {
	peer fsm.Peer
	p    *PcapNG
}

// NewCapture returns a capture to w. The ends that meta does not name are
// those the driver sees when a link comes up. If w has a method Flush() error,
// like a bufio.Writer, it is called when the driver flushes its records.
func NewCapture(w io.Writer, meta PcapMeta) *Capture {
	return &Capture{w: w, meta: meta}
}

// Begin implements [Sink].
func (c *Capture) Begin(h Header) {
	c.start = h.Time
	if c.meta.Comment == "" {
		c.meta.Comment = strings.TrimSpace(h.Protocol + "." + h.Role + " " + h.Instance)
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
		if p := c.link(s.Peer, string(s.Note)); p != nil {
			c.note(p.Open(t, s.Name))
		}
	case Message:
		comment := s.Name
		if len(s.Problem) > 0 {
			comment = s.Code.String() + " in state " + s.Before + ": " + string(s.Problem)
		}
		if p := c.link(s.Peer, ""); p != nil && !s.Again {
			c.note(p.Frame(PcapReceived, t, s.Frame, comment))
		}
	case Malformed:
		if p := c.link(s.Peer, ""); p != nil {
			c.note(p.Frame(PcapReceived, t, s.Frame, "malformed: "+string(s.Problem)))
		}
	}
	for i := range s.Effects {
		c.effect(t, s.Name, &s.Effects[i])
	}
	if s.Kind == Lost {
		if p := c.find(s.Peer); p != nil {
			c.note(p.Close(PcapReceived, t, string(s.Note)))
			c.note(p.Close(PcapSent, t, ""))
		}
	}
}

func (c *Capture) effect(t time.Time, name string, e *Effect) {
	if e.Kind != fsm.Close && (e.Kind != fsm.Send || len(e.Frame) == 0) {
		return
	}
	for _, l := range c.links {
		if e.Peer != l.peer && e.Peer != fsm.Broadcast {
			continue
		}
		if e.Kind == fsm.Close {
			c.note(l.p.Close(PcapSent, t, name))
		} else {
			c.note(l.p.Frame(PcapSent, t, e.Frame, name))
		}
	}
}

func (c *Capture) find(peer fsm.Peer) *PcapNG {
	for _, l := range c.links {
		if l.peer == peer {
			return l.p
		}
	}
	return nil
}

// link returns the capture's link for a peer, made when it is first needed.
func (c *Capture) link(peer fsm.Peer, ends string) *PcapNG {
	if p := c.find(peer); p != nil {
		return p
	}
	meta := c.meta
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
	c.links = append(c.links, capturedLink{peer, p})
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
