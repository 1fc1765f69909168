package node

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parley-go/parley/examples/cluster/internal/store"
	"github.com/parley-go/parley/examples/cluster/machines/tenure"
	"github.com/parley-go/parley/examples/internal/doors"
	"github.com/parley-go/parley/runtime/transport/tcp"
)

// visitor is somebody who has connected and said what they want.
type visitor struct {
	conn *net.TCPConn
	from netip.Addr // the address, as limits know it
	join tenure.JoinMessage
	done func() // frees the place; to be called when the connection is over
}

// maxFrame is the longest frame that is read at the door.
const maxFrame = 512

// accept lets in who connects, until ctx ends or the listener fails.
func (n *Node) accept(ctx context.Context, listener *net.TCPListener) error {
	for pause := time.Millisecond; ; {
		conn, err := listener.AcceptTCP()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if errors.Is(err, net.ErrClosed) {
				return err
			}
			select { // file descriptors have run out, or such: those that are there play on, and some will end
			case <-time.After(pause):
				pause = min(2*pause, time.Second)
			case <-ctx.Done():
			}
			continue
		}
		pause = time.Millisecond
		if free, ok := n.places.take(conn.RemoteAddr()); ok {
			go n.door(ctx, conn, free)
		} else {
			n.Turned.Add(1)
			conn.Close()
		}
	}
}

// door asks a visitor what they want.
func (n *Node) door(ctx context.Context, conn *net.TCPConn, free func()) {
	v := visitor{conn: conn, from: address(conn.RemoteAddr()), done: free}
	ctx, cancel := context.WithTimeout(ctx, n.cfg.Handshake)
	defer cancel()
	_ = conn.SetDeadline(time.Now().Add(n.cfg.Handshake))
	m, err := ReadFrame(conn)
	game := store.Game{Kind: m.Join.Kind, Name: m.Join.Game.String()}
	who := m.Join.Who.String()
	if err != nil || m.Kind != tenure.MessageJoin || store.CheckName(game.Name) != nil ||
		who != "" && store.CheckName(who) != nil {
		n.Turned.Add(1)
		v.refuse(nil)
		return
	}
	v.join = m.Join
	if !n.admit(ctx, game, v) {
		n.send(ctx, game, v)
	}
}

// admit lets the visitor in, if the game is here or comes here.
func (n *Node) admit(ctx context.Context, game store.Game, v visitor) bool {
	if game.Kind == tenure.KindMatch && !n.has(game) {
		return false // relays are found by subject
	}
	it := n.find(game)
	if it == nil {
		return false
	}
	it.mu.Lock()
	defer it.mu.Unlock()
	out := n.ask(ctx, it, v.join.Epoch, v.from)
	switch {
	case out.here:
	case out.owner != 0:
		n.moved(ctx, v, out)
		return true
	case out.limited:
		n.later(v)
		return true
	default:
		return false
	}
	n.Joins.Add(1)
	if who := v.join.Who.String(); who != "" {
		n.presence.came(who, game)
		free := v.done
		v.done = func() { n.presence.left(who); free() }
	}
	_ = v.conn.SetDeadline(time.Time{})
	it.serves.join(v, out.epoch)
	return true
}

// ask asks for a game on behalf of an address, and begins to serve it if it comes here. The caller has the item's lock.
func (n *Node) ask(ctx context.Context, it *item, known tenure.Epoch, by netip.Addr) outcome {
	if it.gone {
		return outcome{}
	}
	s := n.current.Load()
	out := it.ask(ctx, n.st, known, func() bool { return n.mayBegin(ctx, it, by) })
	if !out.here {
		if it.serves == nil {
			n.forget(it)
		}
		return out
	}
	if s == nil || !s.good() || s.id != tenure.Id(it.claim.Machine.Me) {
		it.fence() // it has come too late
		n.forget(it)
		return outcome{}
	}
	if it.serves == nil {
		n.Taken.Add(1)
		it.since, it.idle = time.Now(), time.Now()
		it.serves = n.begin(it.game, out.epoch)
	}
	return out
}

func (n *Node) begin(game store.Game, epoch tenure.Epoch) service {
	if game.Kind == tenure.KindMatch {
		return newRelay(n, game, epoch)
	}
	return newRoom(n)
}

// send sends a visitor to where the game is, or will be.
func (n *Node) send(ctx context.Context, game store.Game, v visitor) {
	for range attempts {
		p, ok := n.place(ctx, game, v)
		if !ok || p.Limited {
			break
		}
		if p.Address == n.here && p.Owner == n.id() {
			if n.admit(ctx, game, v) {
				return
			}
			continue
		}
		n.sendTo(v, p)
		return
	}
	n.later(v)
}

// later tells a visitor that nobody knows just now.
func (n *Node) later(v visitor) {
	n.Laters.Add(1)
	v.refuse(&tenure.Message{Kind: tenure.MessageLater})
}

func (n *Node) id() tenure.Id {
	if s := n.current.Load(); s != nil {
		return s.id
	}
	return 0
}

// moved tells a visitor who has the game.
func (n *Node) moved(ctx context.Context, v visitor, out outcome) {
	address, ok := n.st.Where(ctx, out.owner)
	if !ok {
		n.later(v)
		return
	}
	n.sendTo(v, place{Address: address, Owner: out.owner, Epoch: out.epoch})
}

// sendTo tells a visitor to ask there.
func (n *Node) sendTo(v visitor, p place) {
	there, ok := tenure.NewAddress(p.Address)
	if !ok { // a server whose address is too long for the message
		n.later(v)
		return
	}
	n.Moves.Add(1)
	v.refuse(&tenure.Message{Kind: tenure.MessageMoved,
		Moved: tenure.MovedMessage{Owner: p.Owner, Epoch: p.Epoch, There: there}})
}

// refuse answers a visitor, if there is something to say, and lets them go.
func (v visitor) refuse(m *tenure.Message) {
	if m != nil {
		_ = v.answer(m)
	}
	v.conn.Close()
	v.done()
}

// answer writes a frame.
func (v visitor) answer(m *tenure.Message) error {
	frame, err := tenure.AppendMessage(nil, m)
	if err != nil {
		return err
	}
	_ = v.conn.SetWriteDeadline(time.Now().Add(time.Second))
	defer v.conn.SetWriteDeadline(time.Time{})
	_, err = v.conn.Write(frame)
	return err
}

// here tells a visitor that the game is here, and returns the link over which it goes on.
func (v visitor) here(epoch tenure.Epoch, leads bool) (*tcp.Link, error) {
	m := tenure.Message{Kind: tenure.MessageHere, Here: tenure.HereMessage{Epoch: epoch, Leads: leads}}
	if err := v.answer(&m); err != nil {
		return nil, err
	}
	return tcp.New(v.conn, tcp.Config{Linger: 50 * time.Millisecond}), nil // a game that moves does not wait
}

// ReadFrame reads a frame of the door, and no byte of what follows it.
func ReadFrame(r io.Reader) (m tenure.Message, err error) {
	var buf [maxFrame]byte
	if _, err := io.ReadFull(r, buf[:2]); err != nil {
		return m, err
	}
	size := int(binary.BigEndian.Uint16(buf[:]))
	if size < 2 || size > maxFrame {
		return m, tenure.DecodeMessage(buf[:2], &m)
	}
	if _, err := io.ReadFull(r, buf[2:size]); err != nil {
		return m, err
	}
	return m, tenure.DecodeMessage(buf[:size], &m)
}

// place says where a game is. It is the answer to a question that goes to any server that has room.
type place struct {
	Address string       `json:"address"`
	Owner   tenure.Id    `json:"owner"`
	Epoch   tenure.Epoch `json:"epoch"`
	Limited bool         `json:"limited,omitempty"` // nowhere: who wants it has begun too many
}

// question asks for a server for a game.
type question struct {
	Name  string       `json:"name"`
	Epoch tenure.Epoch `json:"epoch"`
	From  netip.Addr   `json:"from"` // who wants it
}

// maxAsked is how many questions of others a server answers at a time. To those beyond it says that it does not know,
// and their player is told to come later.
const maxAsked = 64

func (n *Node) subject(kind tenure.Kind) string { return n.st.Subject("serve." + kind.String()) }

// offer answers the questions of other servers, for the kinds of games that are served here.
func (n *Node) offer() (stop func(), err error) {
	busy := make(chan struct{}, maxAsked)
	var subs []*nats.Subscription
	stop = func() {
		for _, s := range subs {
			_ = s.Unsubscribe()
		}
	}
	for kind, most := range map[tenure.Kind]int{tenure.KindLobby: n.cfg.Lobbies, tenure.KindMatch: n.cfg.Matches} {
		if most < 0 {
			continue
		}
		s, err := n.st.Conn().QueueSubscribe(n.subject(kind), "servers", func(m *nats.Msg) {
			select {
			case busy <- struct{}{}:
				go func() {
					defer func() { <-busy }()
					n.answerQuestion(kind, m)
				}()
			default:
				n.Busy.Add(1)
				_ = m.Respond([]byte("{}"))
			}
		})
		if err != nil {
			stop()
			return nil, err
		}
		_ = s.SetPendingLimits(1024, 1<<20) // beyond that questions are lost, and asked again
		subs = append(subs, s)
	}
	return stop, n.st.Conn().FlushTimeout(5 * time.Second)
}

func (n *Node) answerQuestion(kind tenure.Kind, m *nats.Msg) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*n.st.Patience())
	defer cancel()
	var q question
	var p place
	if json.Unmarshal(m.Data, &q) == nil && store.CheckName(q.Name) == nil && q.From.IsValid() {
		if it := n.find(store.Game{Kind: kind, Name: q.Name}); it != nil {
			it.mu.Lock()
			out := n.ask(ctx, it, q.Epoch, doors.Customer(q.From))
			it.mu.Unlock()
			p.Limited = out.limited
			if out.here {
				p = place{Address: n.here, Owner: n.id(), Epoch: out.epoch}
			} else if address, ok := n.st.Where(ctx, out.owner); out.owner != 0 && ok {
				p = place{Address: address, Owner: out.owner, Epoch: out.epoch}
			}
		}
	}
	b, _ := json.Marshal(p)
	_ = m.Respond(b)
}

// place asks the others.
func (n *Node) place(ctx context.Context, game store.Game, v visitor) (p place, ok bool) {
	b, err := json.Marshal(question{Name: game.Name, Epoch: v.join.Epoch, From: v.from})
	if err != nil {
		return p, false
	}
	ctx, cancel := context.WithTimeout(ctx, 2*n.st.Patience())
	defer cancel()
	m, err := n.st.Conn().RequestWithContext(ctx, n.subject(game.Kind), b)
	if err != nil || json.Unmarshal(m.Data, &p) != nil {
		return p, false
	}
	return p, p.Address != ""
}
