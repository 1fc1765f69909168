package driver

import (
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
	"github.com/parley-go/parley/runtime/transport"
)

// slot is a link in use by a driver.
type slot struct {
	link    transport.Link
	batched transport.Batched // link, if it brings several frames at once
	polled  transport.Polled  // link, if it can be asked what has come
	props   transport.Properties
	confirm func(peer int)
	first   fsm.Peer // the machine's number of the link's peer 0
	channel int      // of several
	peers   []peerState
	open    bool
	taken   atomic.Bool // the owner has taken it into use, whatever became of it since
	dirty   bool        // something was sent and not flushed
	out     []byte      // what was sent on a stream and not given to the link

	split *transport.Splitter // for a stream
	frame []byte              // for datagrams

	failed   error         // sending has failed for good: the link is lost now
	broken   error         // sending has failed: the link is lost when receiving ends, or at brokenAt
	brokenAt time.Duration // see broken

	pumped bool        // a goroutine of its own receives
	resume chan []byte // gives that goroutine its buffer back

	armed   time.Duration // the time given to Interrupt, of noTime
	unclear bool          // somebody else may have called Interrupt
}

// noTime is the deadline of what has none.
const noTime = time.Duration(1<<63 - 1)

// newSlot makes a slot of a link for a channel, whose frames have the length that size says and at most so many bytes.
func newSlot(size func([]byte) (int, error), most, buffer int, first fsm.Peer, channel int, link transport.Link) *slot {
	p := link.Properties()
	s := &slot{link: link, props: p, first: first, channel: channel, peers: make([]peerState, max(p.Peers, 1)),
		unclear: true, confirm: guard(size, link)}
	s.batched, _ = link.(transport.Batched)
	if l, ok := link.(transport.Polled); ok && l.Polls() {
		s.polled = l
	}
	if p.Stream {
		s.split = transport.NewSplitter(size, most, buffer)
	} else {
		s.frame = make([]byte, most+1) // one more, to see that a frame is too long
	}
	return s
}

// space is where the next bytes are to be put.
func (s *slot) space() []byte {
	if s.split != nil {
		return s.split.Space()
	}
	return s.frame
}

// arm makes Receive return at the given time or earlier. Deadlines mostly move
// away while frames come; then the old one stands, and is corrected when it comes.
func (s *slot) arm(epoch time.Time, at time.Duration) {
	if !s.unclear && s.armed <= at {
		return
	}
	s.unclear, s.armed = false, at
	if at == noTime {
		s.link.Interrupt(time.Time{})
		return
	}
	s.link.Interrupt(epoch.Add(at))
}

// find returns the link with which a peer comes and goes, and its place there.
func (d *Driver[R]) find(peer fsm.Peer) (*slot, int) { return d.findOn(peer, d.info.News) }

// findOn returns the link to a peer for a channel.
func (d *Driver[R]) findOn(peer fsm.Peer, channel int) (*slot, int) {
	for _, s := range d.slots {
		if i := int(peer - s.first); s.open && s.channel == channel && i >= 0 && i < len(s.peers) {
			return s, i
		}
	}
	return nil, 0
}

// attach takes a link into use. The machine is not told yet, see announce.
func (d *Driver[R]) attach(s *slot) {
	if other, _ := d.findOn(s.first, s.channel); other != nil || d.stopping.Load() {
		e := d.core.newError(BadLink, s.first, fsm.NoTransition)
		e.Cause = errPeerTaken
		if d.stopping.Load() {
			e.Cause = ErrStopped
		}
		s.link.Abort()
		d.core.report(e)
		return
	}
	s.open = true
	s.taken.Store(true)
	d.slots = append(d.slots, s)
	if s.props.Peers == 0 {
		s.peers[0].up = true
		if s.channel == d.info.News {
			d.core.links.up(s.first)
		}
	}
}

// announce tells the machine of a link that was taken into use: of its one peer, or of those that are
// up by now, such as the configured ones of a datagram link. What comes from the program after it
// finds them up.
func (d *Driver[R]) announce(s *slot) {
	if s.props.Peers == 0 {
		d.joined(s)
		return
	}
	l, ok := s.link.(transport.Newsy)
	for ok && s.open && !d.stopping.Load() {
		var got transport.Arrival
		if got, ok = l.News(); ok {
			d.arrived(d.now(), s, got, nil)
		}
	}
}

func (d *Driver[R]) peerUp(now time.Duration, s *slot, i int) {
	if s.channel != d.info.News {
		s.peers[i] = peerState{up: true, told: true, heard: now, since: now}
		return
	}
	s.peers[i] = peerState{up: true, told: true, heard: now, since: now}
	d.core.LinkUp(now, s.first+fsm.Peer(i), ends(s.link.LocalAddr(), s.link.RemoteAddr(i)))
}

func ends(local, remote net.Addr) string {
	text := func(a net.Addr) string {
		if a == nil {
			return "?"
		}
		return a.String()
	}
	return text(local) + trace.EndsSeparator + text(remote)
}

// closePeer ends a peer. A link of several gives its place away, and announces it anew when it is
// heard again. A link of one peer is closed in the background,
// within its linger time.
func (d *Driver[R]) closePeer(s *slot, i int) {
	s.peers[i].up = false
	if len(d.info.Channels) > 0 && s.channel == d.info.News {
		d.closeBeside(s, i)
	}
	if s.props.Peers > 0 {
		if l, ok := s.link.(interface{ Drop(peer int) }); ok && s.open {
			l.Drop(i) // otherwise it would keep its place for as long as it sends anything
		}
		return
	}
	if !s.open {
		return
	}
	d.closeSlot(s, false)
}

func (d *Driver[R]) closeSlot(s *slot, abort bool) {
	s.open = false
	if s.dirty && !abort {
		s.flush(0) // a failure now changes nothing any more
	}
	d.leaving.Go(func() {
		if abort {
			s.link.Abort()
			return
		}
		s.link.Close()
	})
}

// loseSlot tells the machine that a link is gone with all its peers.
func (d *Driver[R]) loseSlot(now time.Duration, s *slot, why error, abort bool) {
	if !s.open {
		return
	}
	d.closeSlot(s, abort)
	if s.channel != d.info.News {
		d.loseBeside(now, s, why)
		return
	}
	for i := range s.peers {
		if s.peers[i].up {
			if len(d.info.Channels) > 0 {
				d.closeBeside(s, i)
			}
			s.peers[i].up = false
			d.core.LinkLost(now, s.first+fsm.Peer(i), why)
		}
	}
}

// tidy forgets links that are closed.
func (d *Driver[R]) tidy() {
	kept := d.slots[:0]
	for _, s := range d.slots {
		if s.open {
			kept = append(kept, s)
		}
	}
	clear(d.slots[len(kept):])
	d.slots = kept
	d.lead.tidy()
}

// carrier is a driver as its core sees it.
type carrier[R fsm.Runner] Driver[R]

// Send implements [Carrier].
func (k *carrier[R]) Send(peer fsm.Peer, frame []byte) error {
	d := (*Driver[R])(k)
	if peer == fsm.Broadcast {
		err := error(transport.ErrNoPeer)
		for _, s := range d.slots {
			if s.open {
				err = s.send(transport.All, frame)
			}
		}
		return err
	}
	s, i := d.find(peer)
	if s == nil {
		return ErrNoLink
	}
	if p := &s.peers[i]; !p.up && (p.told || s.props.Peers == 0) {
		return transport.ErrNoPeer // it was lost, or closed
	} // that of a link of several peers may be up and not announced: the link knows
	err := s.send(i, frame)
	if s.props.Peers > 0 && !s.peers[i].told && errors.Is(err, transport.ErrNoPeer) {
		return errNotUp
	}
	return err
}

// maxOut is how many bytes of small frames are gathered for a stream before
// they are given to the link in one piece.
const maxOut = 16 << 10

func (s *slot) send(to int, frame []byte) error {
	if s.failed != nil || s.broken != nil {
		return transport.ErrClosed
	}
	s.dirty = true
	if s.split == nil {
		err := s.link.Send(to, frame)
		if s.props.Reliable {
			s.failed = err // otherwise the machine is prepared for a loss
		}
		return err
	}
	if len(s.out)+len(frame) > maxOut {
		s.handOver()
	}
	s.out = append(s.out, frame...)
	return s.failed
}

// handOver gives the link what was gathered.
func (s *slot) handOver() {
	if len(s.out) > 0 && s.failed == nil {
		s.failed = s.link.Send(0, s.out)
	}
	s.out = s.out[:0]
}

// flush makes what was sent leave, and notes if it cannot.
func (s *slot) flush(now time.Duration) {
	s.dirty = false
	s.handOver()
	if s.failed != nil || s.broken != nil {
		return
	}
	err := s.link.Flush()
	if errors.Is(err, transport.ErrQueueFull) {
		s.failed = err
	} else if err != nil {
		s.broken, s.brokenAt = err, now+lastWords
	}
}

// Close implements [Carrier].
func (k *carrier[R]) Close(peer fsm.Peer, why *Error) error {
	d := (*Driver[R])(k)
	if peer == fsm.Broadcast {
		for _, s := range d.slots {
			if s.open {
				for i := range s.peers {
					s.peers[i].up = false
				}
				d.closeSlot(s, false)
			}
		}
		return nil
	}
	s, i := d.find(peer)
	if s == nil {
		return ErrNoLink
	}
	d.closePeer(s, i)
	return nil
}
