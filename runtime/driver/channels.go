package driver

import (
	"cmp"
	"fmt"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// Links of a protocol with several channels. A peer comes and goes with one of them, see fsm.Info.News; the others are
// beside it.

// joined tells the machine of a link of one peer, when the peer has a link for each reliable channel.
func (d *Driver[R]) joined(s *slot) {
	if len(d.info.Channels) == 0 {
		d.peerUp(d.now(), s, 0)
		return
	}
	main, i := d.find(s.first)
	if main == nil || main.props.Peers > 0 || main.peers[i].told {
		return
	}
	if d.whole(s.first) {
		d.peerUp(d.now(), main, i)
	}
}

// whole reports whether a peer has a link for each reliable channel.
func (d *Driver[R]) whole(peer fsm.Peer) bool {
	for k := range d.info.Channels {
		if s, _ := d.findOn(peer, k); s == nil && d.info.Channels[k].Reliable {
			return false
		}
	}
	return true
}

// silent reports whether nothing is to be received from a link yet: it is of one peer that has not come up, and
// what it brings may not be lost.
func (d *Driver[R]) silent(s *slot) bool {
	if len(d.info.Channels) == 0 || !d.info.Channels[s.channel].Reliable || s.props.Peers > 0 {
		return false
	}
	main, i := d.find(s.first)
	return main == nil || !main.peers[i].told
}

// heard notes that a peer was heard over a link beside the one with which it comes and goes, and reports whether the
// machine may hear it.
func (d *Driver[R]) heard(now time.Duration, peer fsm.Peer) bool {
	main, i := d.find(peer)
	if main == nil || !main.peers[i].up || !main.peers[i].told {
		return false
	}
	main.peers[i].heard = now
	return true
}

// closeBeside closes the other links of a peer, whose own is s.
func (d *Driver[R]) closeBeside(s *slot, i int) {
	peer := s.first + fsm.Peer(i)
	for k := range d.info.Channels {
		if other, j := d.findOn(peer, k); other != nil && other != s {
			d.closePeer(other, j)
		}
	}
}

// loseBeside ends the peers of a link that has ended, which is beside others of theirs.
func (d *Driver[R]) loseBeside(now time.Duration, s *slot, why error) {
	for j := range s.peers {
		up := s.peers[j].up
		s.peers[j].up = false
		peer := s.first + fsm.Peer(j)
		main, i := d.find(peer)
		if !up || main == nil || !main.peers[i].up {
			continue
		}
		told := main.peers[i].told
		if d.closePeer(main, i); told {
			d.core.LinkLost(now, peer, why)
		}
	}
}

// toAll sends a frame over all links for a channel.
func (k *carrier[R]) toAll(channel int, frame []byte) error {
	err, found := error(transport.ErrNoPeer), false // nobody is there
	for _, s := range k.slots {
		switch {
		case s.open && s.channel == channel:
			err, found = s.send(transport.All, frame), true
		case s.open && s.channel == k.info.News && !found:
			err = ErrNoChannel
		}
	}
	return err
}

// mostOn is the largest frame of a channel in bytes.
func mostOn(info *fsm.Info, channel int) int {
	if len(info.Channels) == 0 {
		return info.MaxFrame
	}
	return cmp.Or(info.Channels[channel].MaxFrame, info.MaxFrame)
}

// tells returns why a runner cannot be run over the channels of its protocol, nil if it can.
func tells(r fsm.Runner) error {
	info := r.Info()
	if _, ok := r.(fsm.Channeled); ok || len(info.Channels) == 0 {
		return nil
	}
	return fmt.Errorf("%s.%s has several channels, and %T does not tell them apart: a runner that wraps another must "+
		"implement fsm.Channeled, as the generated one does", info.Protocol, info.Role, r)
}

// channelOf is the place of the channel of a message, by its number.
func (c *Core[R]) channelOf(message uint16) int {
	if c.several == nil {
		return 0
	}
	return int(c.info.ChannelOf[message])
}

// SendOn implements [ChannelCarrier].
func (k *carrier[R]) SendOn(peer fsm.Peer, channel int, frame []byte) error {
	d := (*Driver[R])(k)
	if channel == d.info.News && peer != fsm.Broadcast {
		return k.Send(peer, frame)
	}
	if peer == fsm.Broadcast {
		return k.toAll(channel, frame)
	}
	s, i := d.findOn(peer, channel)
	switch main, at := d.find(peer); {
	case main == nil:
		return ErrNoLink
	case !main.peers[at].up:
		return transport.ErrNoPeer // it was lost, or closed
	case s == nil:
		return ErrNoChannel
	}
	return s.send(i, frame)
}
