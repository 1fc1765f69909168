package capi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/ipx"
	"github.com/parley-go/parley/runtime/transport/mem"
	"github.com/parley-go/parley/runtime/transport/tcp"
	"github.com/parley-go/parley/runtime/transport/udp"
)

// dialLimit is how long Connect waits for the other end.
const dialLimit = 10 * time.Second

// linkText is a link as callers name it: KIND:ADDRESS {options}.
type linkText struct {
	text, kind, address string
	o                   *Params
	most                int    // peers of a server, unless the options say how many
	channel             string // whose link it is, of several channels; may be empty
}

func parseLink(text string) (l linkText, err error) {
	l.text = text
	head, options := text, ""
	if i := strings.IndexByte(text, '{'); i >= 0 {
		head, options = text[:i], text[i:]
	}
	l.kind, l.address, _ = strings.Cut(strings.TrimSpace(head), ":")
	if l.o, err = ParseParams(options); err != nil {
		return l, err
	}
	if l.o.Has("channel") {
		l.channel = l.o.Text("channel", 256)
	}
	return l, l.o.Err()
}

// joint is what a machine has one link for at most: a peer and one of several channels, or the only one.
type joint struct {
	peer    fsm.Peer
	channel string
}

// joint is that of a link to a peer. Without the option `channel` it is of the channel with which peers come and go.
func (m *Machine) joint(peer fsm.Peer, channel string) joint {
	if channel == "" && len(m.info.Channels) > 0 {
		channel = m.info.Channels[m.info.News].Name
	}
	return joint{peer, channel}
}

func (l linkText) unknown() error {
	more := ""
	for _, kind := range kinds() {
		more += kind + ":, "
	}
	return fmt.Errorf("%q: a link begins with %stcp:, udp: or ipx:, or is own", l.text, more)
}

// Connect gives the machine a link to a peer:
//
//	tcp:HOST:PORT          a connection that is made now
//	udp:LOCAL>HOST:PORT    a socket of one's own at LOCAL, such as 0.0.0.0:0, and the peer's
//	                       address; ",HOST:PORT" for more of them
//	udp:LOCAL              the same, with the peers that send something
//	ipx:HOST:PORT/SOCKET   a network of DOSBox's kind, by its server; SOCKET in hexadecimal
//	own                    frames are carried by the program, in order and without loss: events Frame, and Deliver
//	own:datagrams          the same, but the program promises nothing
//
// and those of RegisterLayer. Of a protocol with several channels the option `channel` says whose link it is, as in
// `udp:0.0.0.0:0>host:7001 {channel: "places"}`; a peer is there when it has one for each channel that loses
// nothing. A link of several peers gives them numbers from peer on. Options
// stand behind it in braces: see socketOptions.
//
// The error says so if the peer has a link already, or if there is no peer of this number.
func (m *Machine) Connect(peer fsm.Peer, link string) error {
	if err := m.known(peer); err != nil {
		return err
	}
	t, err := parseLink(link)
	if err != nil {
		return err
	}
	if t.kind == "own" {
		return m.connectOwn(peer, t)
	}
	ctx, cancel := context.WithTimeout(m.life, dialLimit)
	defer cancel()
	l, err := t.dial(ctx)
	if err != nil {
		return m.stopped(err)
	}
	return m.join(m.joint(peer, t.channel), l)
}

// known refuses peers that the specification does not have, before anything is done for them.
func (m *Machine) known(peer fsm.Peer) error {
	parties := fsm.Peer(m.info.Parties)
	if parties == 0 {
		parties = fsm.DefaultParties
	}
	if peer < 0 || peer >= parties {
		return fmt.Errorf("there is no peer %d: they have the numbers 0 to %d", peer, parties-1)
	}
	return nil
}

// join gives the driver a link and waits until it has taken it.
func (m *Machine) join(at joint, l transport.Link) error {
	m.joining.Lock()
	defer m.joining.Unlock()
	return m.joinLocked(at, l)
}

func (m *Machine) joinLocked(at joint, l transport.Link) (err error) {
	m.mu.Lock()
	before := m.links[at]
	m.links[at], m.verdict = l, nil
	m.mu.Unlock()
	if at.channel == "" {
		err = m.d.Attach(at.peer, l)
	} else {
		err = m.d.AttachOn(at.peer, at.channel, l)
	}
	if err == nil { // what the driver says of the link, it says before it answers this
		err = m.stopped(m.d.Read(m.life, func(fsm.Commander) {}))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		err = m.verdict
	}
	if err != nil {
		m.links[at] = before
	}
	return err
}

// address is that of a peer, empty if it has none.
func (m *Machine) address(peer fsm.Peer) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.own[peer] != nil {
		return ""
	}
	news := m.joint(peer, "").channel
	for at, l := range m.links {
		if l == nil || at.channel != news || !at.reaches(peer, l) {
			continue
		}
		if a := l.RemoteAddr(int(peer - at.peer)); a != nil {
			return a.String()
		}
	}
	return ""
}

// reaches reports whether a link leads to a peer.
func (at joint) reaches(peer fsm.Peer, l transport.Link) bool {
	return peer >= at.peer && peer < at.peer+fsm.Peer(max(l.Properties().Peers, 1))
}

// dial opens the link.
func (t linkText) dial(ctx context.Context) (transport.Link, error) {
	l, _, err := t.open(ctx)
	return l, err
}

// open is dial, and says whether the link lets strangers in.
func (t linkText) open(ctx context.Context) (l transport.Link, server bool, err error) {
	inner, wrap := layered(t.kind)
	switch inner {
	case "tcp":
		if err = t.tried(wrap, false); err == nil {
			l, err = tcp.Dial(ctx, "tcp", t.address, tcp.Config{})
		}
	case "udp":
		l, server, err = t.socket(wrap == nil)
	case "ipx":
		l, err = t.tunnel(ctx)
	default:
		return nil, false, t.unknown()
	}
	switch {
	case err != nil:
		return nil, false, err
	case wrap != nil:
		l, err = wrap(ctx, l, server, t.o)
	}
	if bad := t.o.End(); bad != nil {
		if err == nil {
			l.Abort()
		}
		return nil, false, bad
	}
	return l, server, err
}

// socketOptions are those of links over datagrams: `peers` is the most peers at a time, `silence`
// after how many milliseconds without a datagram one is lost; `even`, which is as said unless it is
// given, sends nobody who has come by himself more bytes than he has sent.
func (t linkText) socketOptions(even bool) (limits udp.Limits) {
	limits.MaxPeers = t.most
	if t.o.Has("peers") {
		limits.MaxPeers = int(t.o.Int("peers", 1, 1024))
	}
	if t.o.Has("silence") {
		limits.Silence = time.Duration(t.o.Int("silence", 1, 1<<31)) * time.Millisecond
	}
	if limits.Even = even; t.o.Has("even") {
		limits.Even = t.o.Bool("even")
	}
	return limits
}

// socket opens a UDP socket. Besides socketOptions it takes `broadcast` and `hear`, addresses, and
// `cookie`, as in udp.Config. server says that no peer is configured. Strangers whose address is proved
// neither by a cookie nor by the layer above, which bare says is missing, get `even` limits.
func (t linkText) socket(bare bool) (l transport.Link, server bool, err error) {
	local, peers, some := strings.Cut(t.address, ">")
	cookie := t.o.Has("cookie") && t.o.Bool("cookie")
	cfg := udp.Config{Limits: t.socketOptions(bare && !some && !cookie), Cookie: cookie}
	if some {
		cfg.Peers = strings.Split(peers, ",")
	}
	if t.o.Has("broadcast") {
		cfg.Broadcast = []string{t.o.Text("broadcast", 256)}
	}
	if t.o.Has("hear") {
		cfg.Hear = t.o.Text("hear", 256)
	}
	if t.o.err != nil {
		return nil, false, t.o.err
	}
	u, err := udp.Open("udp", local, cfg)
	if err != nil {
		return nil, false, err
	}
	return u, !some, nil
}

// tunnel joins an IPX network.
func (t linkText) tunnel(ctx context.Context) (transport.Link, error) {
	server, socket, ok := strings.Cut(t.address, "/")
	var number uint16
	if _, err := fmt.Sscanf(socket, "%x", &number); !ok || err != nil {
		return nil, fmt.Errorf("%q: want ipx:HOST:PORT/SOCKET", t.text)
	}
	l, err := ipx.Dial(ctx, "udp", server, ipx.Config{Socket: number, Limits: t.socketOptions(false)})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Disconnect closes the link to a peer, and waits until the machine has heard of it.
func (m *Machine) Disconnect(peer fsm.Peer) error {
	if err := m.known(peer); err != nil {
		return err
	}
	if !m.linked(peer) {
		return fmt.Errorf("peer %d has no link", peer)
	}
	if err := m.d.Detach(peer); err != nil {
		return m.stopped(err)
	}
	return m.stopped(m.d.Read(m.life, func(fsm.Commander) {}))
}

// linked reports whether a peer has been given a link.
func (m *Machine) linked(peer fsm.Peer) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at, l := range m.links {
		if l != nil && at.reaches(peer, l) {
			return true
		}
	}
	return false
}

// unlink forgets the links to a peer, unless they have others.
func (m *Machine) unlink(peer fsm.Peer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at, l := range m.links {
		if at.peer == peer && l != nil && l.Properties().Peers == 0 {
			delete(m.links, at)
		}
	}
}

// ownQueue bounds what the program has delivered and the machine not yet taken, in bytes.
const ownQueue = 1 << 20

// connectOwn gives the machine a link whose other end is the program.
func (m *Machine) connectOwn(peer fsm.Peer, t linkText) error {
	if err := t.o.End(); err != nil {
		return err
	}
	if len(m.info.Channels) > 0 {
		return fmt.Errorf("%s has several channels, and a frame that the program carries does not say which is its: "+
			"give each a link of the library, with the option channel", m.info.Protocol)
	}
	inside, outside := mem.Pair(mem.Config{Queue: ownQueue})
	var l transport.Link = inside
	switch t.address {
	case "":
	case "datagrams":
		l = weak{inside}
	default:
		return t.unknown()
	}
	m.joining.Lock() // so that nothing is delivered to a link that is not taken in the end
	defer m.joining.Unlock()
	m.mu.Lock()
	before := m.own[peer]
	m.own[peer] = outside
	m.mu.Unlock()
	err := m.joinLocked(m.joint(peer, ""), l)
	if err != nil {
		outside.Abort()
		m.mu.Lock()
		m.own[peer] = before
		m.mu.Unlock()
		return err
	}
	go m.carry(peer, outside)
	return nil
}

// carry makes events of the frames for a peer.
func (m *Machine) carry(peer fsm.Peer, outside transport.Link) {
	buf := make([]byte, m.info.MaxFrame+1)
	for {
		got, err := outside.Receive(buf)
		if err != nil {
			outside.Abort()
			m.mu.Lock()
			if m.own[peer] == outside {
				delete(m.own, peer)
			}
			m.mu.Unlock()
			return
		}
		m.put(Event{Kind: Frame, Peer: peer, Data: append([]byte(nil), buf[:got.N]...)})
	}
}

// weak is a link that promises nothing.
type weak struct{ transport.Link }

func (w weak) Properties() transport.Properties {
	p := w.Link.Properties()
	p.Ordered, p.Reliable, p.Duplicating = false, false, true
	return p
}

// Deliver gives the machine a frame that came from a peer over an own link.
func (m *Machine) Deliver(peer fsm.Peer, frame []byte) error {
	m.joining.Lock()
	defer m.joining.Unlock()
	m.mu.Lock()
	l := m.own[peer]
	m.mu.Unlock()
	if l == nil {
		return fmt.Errorf("the link to peer %d is none of one's own", peer)
	}
	return errors.Join(l.Send(0, frame), l.Flush())
}
