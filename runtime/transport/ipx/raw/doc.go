// Package raw carries IPX on a real Ethernet: whole frames through an
// AF_PACKET socket of Linux, which needs root or CAP_NET_RAW. On other systems
// [Open] says that there is none.
//
// It knows the four ways to put IPX into an Ethernet frame and nothing above
// IPX; that is the business of package ipx. It uses the syscall package alone,
// so a program that links it gets no dependency. Start from [Open].
package raw

import (
	"fmt"
	"net"

	"github.com/parley-go/parley/runtime/transport/internal/dgram"
	"github.com/parley-go/parley/runtime/transport/ipx"
)

// Config describes a link on an Ethernet. Socket and Framing must be right.
type Config struct {
	ipx.Config
	// Framing is how packets are put into frames; others are not received,
	// for each framing is a network of its own. The zero value is EthernetII.
	Framing Framing
	// Net is the number of the network, 0 if it has none.
	Net uint32
	// Node is this end's node, zero for the address of the network card.
	// Another one is heard only by broadcast on a real card, since the card is
	// not made to listen to everything.
	Node ipx.Node
	// SameHost hears what other programs of this computer send on the same
	// card; they must have a Node or Socket of their own. The kernel hides it otherwise.
	SameHost bool
}

// Link is one IPX socket on an Ethernet. It is a [transport.Link] whose peers
// are the other sockets that are configured or heard.
type Link struct {
	*dgram.Link[ipx.Address]
	address ipx.Address
	ping    func() error
}

// Address is the link's own address.
func (l *Link) Address() ipx.Address { return l.address }

// LocalAddr returns the link's own address, an ipx.Address.
func (l *Link) LocalAddr() net.Addr { return l.Link.LocalAddr() }

// RemoteAddr returns the address of a peer that is up or configured, by its number from 0; nil if there
// is none.
func (l *Link) RemoteAddr(peer int) net.Addr { return l.Link.RemoteAddr(peer) }

// PeerAddr is RemoteAddr as an Address, which can be compared; false if there is no such peer.
func (l *Link) PeerAddr(peer int) (ipx.Address, bool) { return l.Link.PeerAddr(peer) }

// Add configures a peer, or finds it, and returns its number. It fails if all places are taken.
func (l *Link) Add(a ipx.Address) (int, error) { return l.Link.Add(a) }

// Drop ends a peer; Receive announces its loss. If it is heard again it comes up again.
func (l *Link) Drop(peer int) { l.Link.Drop(peer) }

// Stats returns what the link has counted so far.
func (l *Link) Stats() ipx.Stats { return l.Link.Stats() }

// Ping asks everybody in the network to answer; Config.OnEcho is told who does.
// Links of this module and DOSBox's do; other IPX stacks need not.
func (l *Link) Ping() error { return l.ping() }

// frameLimit fills in and checks MaxFrame for an Ethernet whose frames hold mtu bytes.
func frameLimit(cfg *Config, mtu int) error {
	most := mtu - cfg.Framing.overhead() - ipx.HeaderSize
	if cfg.MaxFrame <= 0 {
		cfg.MaxFrame = min(ipx.DefaultMaxFrame, most)
	}
	if cfg.MaxFrame > most {
		return fmt.Errorf("frames of %d bytes do not fit: with framing %v and an MTU of %d the most is %d; "+
			"choose a smaller MaxFrame, or a card with a larger MTU", cfg.MaxFrame, cfg.Framing, mtu, most)
	}
	return nil
}
