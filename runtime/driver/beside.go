package driver

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// Whose says to which peer of a host's own link a peer of a link beside it belongs, by its address and
// a frame that came from there: -1 if that is nobody's, which is dropped. A token in the frame tells
// more than the address, which players behind one router share. The host's goroutine calls it, so it
// may use what handlers have written.
//
// Of a channel that loses nothing it is asked when somebody comes, with no frame (nil), and again with the first
// frame, and whenever somebody comes to the host's own link; -1 is then that it is not known yet. Nothing is dropped
// meanwhile.
type Whose func(from net.Addr, frame []byte) (peer int)

// nobody is the peer that stands for none.
const nobody = -1

// hostBeside is a link of a host beside its own, for one of several channels.
type hostBeside struct {
	link    transport.Link
	batched transport.Batched // link, if it brings several frames at once
	channel int
	whose   Whose
	confirm func(peer int)
	of      []int // by its peers: the peer of the host's own link
	tied    []int // by those: its peer
	buf     []byte
	resume  chan struct{} // what has come was handled
	dirty   bool
	size    func([]byte) (int, error)
	inlet   *inlet   // nil for a link that carries frames
	intakes []intake // by its peers: of their streams
	early   []*early // by its peers, of a channel that loses nothing: what waits; nil of others
}

// besides are the links of a host beside its own.
type besides struct {
	list    []*hostBeside
	leaving sync.WaitGroup
	lost    error // one of them is lost
}

// brought is what a link beside has brought.
type brought struct {
	by  *hostBeside
	got transport.Arrival
	err error
}

// Beside gives the host a link with several peers for one of several channels: for example a UDP
// socket, or a second tcp.Serve, beside the connections of tcp.Serve. The link belongs to the host from then
// on. Peers of the
// two links have nothing to do with each other until whose ties one to the other, when it is asked
// about the first frame from there. It is asked again after the machine was given up, and by whoever
// comes from another address. Before a peer is tied, what is sent to it in that channel is lost.
//
// Where the channel loses nothing, the machine of a peer begins when it has a link for each such channel, and what
// comes earlier over any of them waits, at most 64 KiB of each. The links of a peer end together. A nil whose
// stands for the peer that has waited longest, of those from the same host. Options.HandshakeLimit also says
// how long a peer may wait for its other links.
//
// It fails like Driver.AttachOn for a link that is too weak. Call it before Run.
func (h *Host[R, M]) Beside(channel string, link transport.Link, whose Whose) error {
	info := h.r.Info()
	k := slices.IndexFunc(info.Channels, func(c fsm.Channel) bool { return c.Name == channel })
	one := link.Properties()
	one.Peers = 0
	var err error
	switch {
	case h.started.Load():
		err = ErrRunning
	case k < 0:
		err = fmt.Errorf("%s.%s has no channel %q", info.Protocol, info.Role, channel)
	case k == info.News || h.over(k) != nil:
		err = fmt.Errorf("the host has a link for the channel %q already", channel)
	case link.Properties().Peers == 0:
		err = errors.New("beside its own link a host needs links with several peers")
	case one.Stream && !info.Channels[k].Reliable:
		err = fmt.Errorf("the channel %q loses messages: a host takes links of frames for it, no streams", channel)
	case whose == nil && !info.Channels[k].Reliable:
		err = errors.New("over a channel that loses messages only the program can say whose a frame is: " +
			"give Beside a function")
	default:
		err = suits(info, 0, k, one)
	}
	var in *inlet
	if err == nil && one.Stream {
		in, err = newInlet(h.r, h.o, link)
	}
	if err != nil {
		link.Abort()
		return err
	}
	b := &hostBeside{link: link, channel: k, whose: whose, confirm: guard(h.core.sizer(k), link),
		of: slices.Repeat([]int{nobody}, link.Properties().Peers), tied: slices.Repeat([]int{nobody}, len(h.sessions)),
		buf: make([]byte, mostOn(info, k)+1), resume: make(chan struct{}, 1)}
	b.batched, _ = link.(transport.Batched)
	b.size = h.core.sizer(k)
	if in != nil {
		b.inlet, b.buf, b.intakes = in, in.buf[in.max:], make([]intake, len(b.of))
	}
	if info.Channels[k].Reliable {
		b.early = make([]*early, len(b.of))
	}
	h.beside.list = append(h.beside.list, b)
	return nil
}

// over returns the link for a channel beside the host's own, nil if there is none.
func (h *Host[R, M]) over(channel int) *hostBeside {
	for _, b := range h.beside.list {
		if b.channel == channel {
			return b
		}
	}
	return nil
}

// beginBeside has a goroutine of its own receive from each link beside. It puts what comes into the
// mailbox, one piece at a time.
func (h *Host[R, M]) beginBeside() {
	for _, b := range h.beside.list {
		h.beside.leaving.Go(func() {
			b.link.Interrupt(time.Time{})
			for {
				got, err := b.link.Receive(b.buf)
				if errors.Is(err, transport.ErrInterrupted) {
					b.link.Interrupt(time.Time{})
					continue
				}
				select {
				case h.mailbox <- hosted[R]{brought: brought{b, got, err}}:
					h.link.Interrupt(longAgo)
				case <-h.done:
					return
				}
				if err != nil {
					return
				}
				select {
				case <-b.resume:
				case <-h.done:
					return
				}
			}
		})
	}
}

// endBeside closes the links beside, when the host is done.
func (h *Host[R, M]) endBeside() {
	for _, b := range h.beside.list {
		b.link.Close()
	}
	h.beside.leaving.Wait()
}

// flushBeside makes what was sent beside leave. What a link does not take is lost.
func (h *Host[R, M]) flushBeside() {
	for _, b := range h.beside.list {
		if b.dirty {
			b.dirty = false
			b.link.Flush()
		}
	}
}

// arrivedBeside handles what a link beside has brought, and what came together with it. The goroutine
// that receives waits meanwhile.
func (h *Host[R, M]) arrivedBeside(x brought) {
	b := x.by
	if x.err != nil {
		h.beside.lost = fmt.Errorf("the link of the channel %q is lost with all its peers: %w",
			h.r.Info().Channels[b.channel].Name, x.err)
		return
	}
	now, got := time.Since(h.epoch), x.got
	h.frameBeside(now, b, got)
	for n, ok := 0, b.batched != nil; ok && n < maxTogether && !h.stopping.Load(); n++ {
		if got, ok = b.batched.Next(b.buf); ok {
			h.frameBeside(now, b, got)
		}
	}
	b.resume <- struct{}{}
}

func (h *Host[R, M]) frameBeside(now time.Duration, b *hostBeside, got transport.Arrival) {
	if got.Peer < 0 || got.Peer >= len(b.of) {
		return
	}
	switch {
	case b.early == nil:
	case got.Kind == transport.PeerUp:
		h.besideComes(now, b, got.Peer)
		return
	case got.Kind == transport.PeerLost:
		h.besideEnds(now, b, got.Peer, got.Why)
		return
	default:
		h.besideBrings(now, b, got.Peer, got.N)
		return
	}
	if got.Kind != transport.Data {
		b.untie(b.of[got.Peer]) // somebody new, or silent there, which loses messages
		return
	}
	frame := b.buf[:got.N]
	if b.of[got.Peer] == nobody {
		peer := b.whose(b.link.RemoteAddr(got.Peer), frame)
		if peer < 0 || peer >= len(h.sessions) || h.sessions[peer] == nil {
			return
		}
		b.untie(peer) // it comes from another address now
		b.of[got.Peer], b.tied[peer] = peer, got.Peer
	}
	h.takesOn(now, h.sessions[b.of[got.Peer]], b, got.Peer, got.N)
}

// untie parts a peer of the host's own link from that of another one.
func (b *hostBeside) untie(peer int) {
	if peer == nobody || b.tied[peer] == nobody {
		return
	}
	b.of[b.tied[peer]], b.tied[peer] = nobody, nobody
}

// forgetBeside gives the places of a peer up on the links beside.
func (h *Host[R, M]) forgetBeside(peer int) {
	for _, b := range h.beside.list {
		other := b.tied[peer]
		b.untie(peer)
		if other == nobody {
			continue
		}
		if b.early != nil {
			b.early[other] = nil
		}
		if b.inlet != nil {
			b.inlet.release(&b.intakes[other])
		}
		b.drop(other)
	}
}

// SendOn implements [ChannelCarrier].
func (k *hostCarrier[R, M]) SendOn(peer fsm.Peer, channel int, frame []byte) error {
	h := (*Host[R, M])(k)
	b := h.over(channel)
	switch {
	case channel == h.r.Info().News:
		return k.Send(peer, frame)
	case b == nil:
		return ErrNoChannel
	case peer > 0:
		return ErrNoLink
	case !h.current.up || b.tied[h.current.peer] == nobody:
		return transport.ErrNoPeer // it is lost like a datagram
	}
	b.dirty = true
	err := b.link.Send(b.tied[h.current.peer], frame)
	if err != nil && b.early != nil && errors.Is(err, transport.ErrQueueFull) {
		k.full, k.current.up = true, false
	}
	return err
}
