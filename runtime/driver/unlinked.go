package driver

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/parley-go/parley/runtime/fsm"
)

// ErrNoLink is wrapped by the Cause of an [Error] of kind NoLink.
var ErrNoLink = errors.New("there is no link")

// errNotUp says that the peer of a link of several has not come up yet: it was neither configured nor
// heard, or has not answered a handshake.
var errNotUp = fmt.Errorf("%w that has come up", ErrNoLink)

// linkage is what a core knows of the link to one peer.
type linkage uint8

const (
	neverUp  linkage = iota
	reported         // never up, and that was said
	wasUp            // it is up or was: a frame that cannot be sent is the network's doing
)

// links remembers which peers ever had a link, by their numbers: so that a message to a lost peer,
// which protocols may well send, is told from one to a peer that the program has given no link.
type links struct {
	list     []linkage
	restored bool // the machine had links before, nobody knows which
}

func (l *links) set(peer fsm.Peer, to linkage) {
	if missing := int(peer) + 1 - len(l.list); missing > 0 {
		l.list = append(l.list, make([]linkage, missing)...)
	}
	l.list[peer] = to
}

// up notes that a peer has a link.
func (l *links) up(peer fsm.Peer) {
	if peer >= 0 {
		l.set(peer, wasUp)
	}
}

// news reports whether it is still to be said that a peer never had a link, and notes that it was.
func (l *links) news(peer fsm.Peer) bool {
	if peer < 0 || l.restored || int(peer) < len(l.list) && l.list[peer] != neverUp {
		return false
	}
	l.set(peer, reported)
	return true
}

// text names the peers that have or had a link.
func (l *links) text() string {
	const most = 8
	text, n := "", 0
	for peer, is := range l.list {
		if is != wasUp {
			continue
		}
		switch n++; {
		case n == 1:
			text = strconv.Itoa(peer)
		case n <= most:
			text += ", " + strconv.Itoa(peer)
		default:
			return "peers with a link so far: " + text + " and more"
		}
	}
	if n == 0 {
		return "no peer has had a link so far"
	}
	return "peers with a link so far: " + text
}

// unlinked reports an effect, a frame or a close, for a peer that never had a link, once for each
// peer.
func (c *Core[R]) unlinked(i int, peer fsm.Peer, transition uint16, why error) {
	if !errors.Is(why, ErrNoLink) || !c.links.news(peer) {
		return
	}
	e := c.newError(NoLink, peer, transition)
	e.Event = string(c.m.AppendEffect(nil, i))
	e.Cause = fmt.Errorf("%w to peer %d; %s", why, peer, c.links.text())
	c.report(e)
}
