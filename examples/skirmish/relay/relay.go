// Package relay makes a network of a gameserver of Parsec: players who can reach the server reach each other, whatever
// is between them. What one sends to another goes to the server as remote events, which it passes on to all.
//
// For the server the players are those of Parsec who watch: they have no ships. Events are sent once and may be lost,
// so what is behind a link is a stream of package carrier, as over UDP. The package knows no game. Start from [Join].
package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/remote"
	"github.com/parley-go/parley/examples/remote/pilot"
	"github.com/parley-go/parley/examples/skirmish/carrier"
	"github.com/parley-go/parley/machines/events"
	"github.com/parley-go/parley/machines/gameserver"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/play"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
)

// Config says where the server is, and who comes.
type Config struct {
	Lines, Packets string // host:port, over TCP and over UDP
	Name           string // at most 31 bytes of ASCII without blanks
	// OnWelcome is called when we are let in, before OnChange is told who is there, and then when others have come or
	// gone. They may be nil, and must not wait.
	OnWelcome func()
	OnChange  func(others [Players]Other)
}

// Players is how many there may be at a server.
const Players = len(gameserver.Client{}.Others)

// Other is another player; the name is "" where there is none.
type Other struct{ Name, IP string }

// Limits of what is kept. Who calls from elsewhere is one of few, so no player has all places at a door.
const (
	callers = 64       // at a door
	each    = 8        // of one player
	backlog = 64 << 10 // bytes that wait to be sent
	pace    = 100      // packets a second at most; the server takes 200
	alive   = time.Second
	grace   = 200 * time.Millisecond // until who is said to be gone is
)

// Node is a player at a gameserver.
type Node struct {
	s    *play.Session[*gameserver.ClientRunner]
	over chan struct{}

	mu     sync.Mutex
	ended  bool
	own    uint8
	others [Players]Other
	err    error
	lines  map[line]wire
	door   chan transport.Link
	parts  [Players]pieces
	id     uint8
	queue  []waiting
	bytes  int // of what waits
	wake   chan struct{}
}

// waiting is a datagram that is to be sent, or what is left of it.
type waiting struct {
	texts []events.Message
	bytes int
}

// line is what two ports of two players have between them; 0 is the port of a door.
type line struct {
	slot     uint8
	own, far uint16
}

// Join joins a gameserver, and returns when it has let us in.
func Join(ctx context.Context, cfg Config) (*Node, error) {
	name, ok := gameserver.NewName(cfg.Name)
	if !ok || cfg.Name == "" {
		return nil, fmt.Errorf("the name %q is not one for a gameserver", cfg.Name)
	}
	n := &Node{over: make(chan struct{}), lines: map[line]wire{}, wake: make(chan struct{}, 1)}
	r := gameserver.NewClientRunner()
	h := &gameserver.ClientHandlers{
		Welcome: func(w gameserver.ClientWelcomeReport) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.own = uint8(w.Slot)
			if cfg.OnWelcome != nil {
				cfg.OnWelcome()
			}
		},
		Refused: func(w gameserver.ClientRefusedReport) {
			n.fail(fmt.Errorf("the gameserver at %s does not let us in: %v", cfg.Lines, w.Why))
		},
		Lost: func() { n.fail(fmt.Errorf("the gameserver at %s is gone", cfg.Lines)) },
		Changed: func() {
			n.changed(&r.Machine)
			if _, others := n.Who(); cfg.OnChange != nil {
				cfg.OnChange(others)
			}
		},
		Happened: n.happened,
	}
	dial, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	os, _ := gameserver.NewSystem(strings.ToUpper(runtime.GOOS))
	s, err := pilot.Join(dial, cfg.Lines, cfg.Packets, r, h, play.Options{}, name, os)
	if err != nil {
		return nil, cmp.Or(n.Err(), err)
	}
	n.s = s
	go func() {
		<-s.Done()
		n.end()
	}()
	go n.send()
	return n, nil
}

// fail keeps the first reason why the session ends.
func (n *Node) fail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err == nil {
		n.err = err
	}
}

// end ends all that goes through the server.
func (n *Node) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, far := range n.lines {
		far.Abort()
	}
	n.ended = true
	close(n.over)
}

// Close leaves the server.
func (n *Node) Close() { n.s.Close() }

// Over is closed when the server is left or gone; Err says why.
func (n *Node) Over() <-chan struct{} { return n.over }

// Err is why the server is gone, nil if it is not or has been left.
func (n *Node) Err() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.err
}

// Who returns the own slot, and who is there, by slot.
func (n *Node) Who() (own int, others [Players]Other) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return int(n.own), n.others
}

// changed takes over who is there. What goes to somebody who has gone ends a little later: where several players have
// one address, all are said to be gone when one is, and then those who are there are named again.
func (n *Node) changed(m *gameserver.Client) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for slot := range m.Others {
		before := n.others[slot]
		n.others[slot] = Other{}
		if o := &m.Others[slot]; o.Present {
			n.others[slot] = Other{o.Value.Name.String(), o.Value.Ip.String()}
		} else if before.Name != "" {
			time.AfterFunc(grace, n.gone)
		}
	}
	n.name()
}

// name has lines that began before their player was named end with that player. What somebody sends may come before
// the line that names it.
func (n *Node) name() {
	for l, far := range n.lines {
		if far.who == "" {
			n.lines[l] = wire{far.Link, n.others[l.slot].Name}
		}
	}
}

// gone ends what goes to players who are not there any more, though others may have their slots.
func (n *Node) gone() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for l, far := range n.lines {
		if l.slot != n.own && n.others[l.slot].Name != far.who {
			far.Abort()
		}
	}
}

// happened takes events of others, in the goroutine of the session.
func (n *Node) happened(h gameserver.ClientHappenedReport) {
	owner := remote.ToAll
	if h.Slot.Present {
		owner = uint8(h.Slot.Value)
	}
	// What is malformed ends the list, and what was before it counts.
	_ = remote.Each(h.Events.Data[:h.Events.Len], owner, func(owner uint8, _ []byte, m *events.Message) {
		if head, part, ok := parse(m); ok && int(owner) < Players {
			n.part(owner, head, part)
		}
	})
}

// part takes a part of a datagram from a slot.
func (n *Node) part(slot uint8, h head, part []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if h.to != n.own || slot == n.own {
		return
	}
	if frame, ok := n.parts[slot].add(h, part); ok {
		n.deliver(line{slot, h.at, h.from}, frame)
	}
}

// deliver brings a datagram to the end of its line. Who calls a door has a line of its own from then on.
func (n *Node) deliver(l line, frame []byte) {
	far, ok := n.lines[l]
	if !ok {
		if far, ok = n.enter(l); !ok {
			return
		}
	}
	if far.Send(0, frame) == nil { // who does not take it has lost it
		far.Flush()
	}
}

// enter makes a line for who calls the door, if there is one and room.
func (n *Node) enter(l line) (far wire, ok bool) {
	if l.own != 0 || n.door == nil {
		return far, false
	}
	all, own := 0, 0
	for k := range n.lines {
		if k.own == 0 {
			all++
			if k.slot == l.slot {
				own++
			}
		}
	}
	if all >= callers || own >= each && l.slot != n.own {
		return far, false
	}
	near := n.begin(l)
	select {
	case n.door <- near:
		return n.lines[l], true
	default: // nobody lets anybody in
		near.Abort()
		delete(n.lines, l)
		return far, false
	}
}

// begin has what the program writes to a new line sent, until it ends the line, and returns the program's end.
func (n *Node) begin(l line) transport.Link {
	near, far := mem.Pair(mem.Config{MaxFrame: longest})
	n.lines[l] = wire{far, n.others[l.slot].Name}
	go func() {
		buf := make([]byte, longest)
		for {
			got, err := far.Receive(buf)
			if err != nil {
				break
			}
			n.put(l, buf[:got.N])
		}
		far.Abort()
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.lines[l].Link == far {
			delete(n.lines, l)
		}
	}()
	return end{near, address{n.own}, address{l.slot}}
}

// put sends a datagram through the server, or to ourselves.
func (n *Node) put(l line, frame []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if l.slot == n.own {
		n.deliver(line{n.own, l.far, l.own}, frame)
		return
	}
	if n.bytes+len(frame) > backlog {
		return // lost
	}
	n.id++
	n.queue = append(n.queue, waiting{texts(head{to: l.slot, at: l.far, from: l.own, id: n.id}, frame), len(frame)})
	n.bytes += len(frame)
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// send sends what waits: not more packets than the server takes, and one each second, so that it knows we are there.
func (n *Node) send() {
	var out remote.Outbox
	tick := time.NewTicker(time.Second / pace)
	defer tick.Stop()
	idle := time.NewTicker(alive)
	defer idle.Stop()
	for {
		select {
		case <-n.wake:
		case <-idle.C:
		case <-n.over:
			return
		}
		for more := true; more; {
			more = n.fill(&out)
			var list gameserver.Events
			b, _ := out.Flush(list.Data[:0], remote.MaxList, nil)
			list.Len = uint16(len(b))
			// It is refused for a moment after the beginning, and when all is over.
			n.s.Give(func(r *gameserver.ClientRunner) fsm.Result {
				return r.Tell(gameserver.Optional[gameserver.Ship]{}, list)
			})
			select {
			case <-tick.C:
			case <-n.over:
				return
			}
		}
	}
}

// fill takes as many texts as fit into a packet, and reports whether others wait.
func (n *Node) fill(out *remote.Outbox) (more bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.queue) > 0 {
		first := &n.queue[0]
		for len(first.texts) > 0 {
			if !out.Allowed(events.MessageSendText) || !out.Add(&first.texts[0]) {
				return true
			}
			first.texts = first.texts[1:]
		}
		n.bytes -= first.bytes
		n.queue = n.queue[1:]
	}
	n.queue = nil
	return false
}

// wire is the far end of what goes through the server, to the player of a name.
type wire struct {
	*mem.Link
	who string
}

// address is where a player is.
type address struct{ slot uint8 }

func (address) Network() string  { return "gameserver" }
func (a address) String() string { return fmt.Sprint("slot ", a.slot) }

// end is a link with the addresses of the players.
type end struct {
	transport.Link
	own, far address
}

func (e end) LocalAddr() net.Addr     { return e.own }
func (e end) RemoteAddr(int) net.Addr { return e.far }

var errOver = errors.New("the gameserver is gone")

// Dial calls the door of a player, who may be ourselves. It fails if nobody answers before ctx ends.
func (n *Node) Dial(ctx context.Context, slot int) (transport.Link, error) {
	if slot < 0 || slot >= Players {
		return nil, fmt.Errorf("there is no slot %d", slot)
	}
	n.mu.Lock()
	if n.ended {
		n.mu.Unlock()
		return nil, errOver
	}
	l := line{slot: uint8(slot)}
	for l.own == 0 || n.lines[l].Link != nil {
		l.own = uint16(rand.Uint32())
	}
	near := n.begin(l)
	n.mu.Unlock()
	return carrier.Call(ctx, near)
}

// Listen opens the own door. There is one at a time.
func (n *Node) Listen() (carrier.Door, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.ended:
		return nil, errOver
	case n.door != nil:
		return nil, errors.New("the door at the gameserver is open already")
	}
	d := &door{n: n, calls: make(chan transport.Link, callers), come: make(chan transport.Link),
		over: make(chan struct{})}
	n.door = d.calls
	go d.run()
	return d, nil
}

// door lets in who calls.
type door struct {
	n     *Node
	calls chan transport.Link // datagrams
	come  chan transport.Link // streams
	over  chan struct{}
	once  sync.Once
}

func (d *door) run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		select {
		case l := <-d.calls:
			go func() {
				s, err := carrier.Answer(ctx, l)
				if err != nil {
					return
				}
				select {
				case d.come <- s:
				case <-ctx.Done():
					s.Abort()
				}
			}()
		case <-d.over:
			return
		case <-d.n.over:
			d.Close()
		}
	}
}

// Accept implements [carrier.Door].
func (d *door) Accept(ctx context.Context) (transport.Link, error) {
	select {
	case l := <-d.come:
		return l, nil
	case <-d.over:
		return nil, errors.Join(errors.New("the door is closed"), d.n.Err())
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Addr implements [carrier.Door].
func (d *door) Addr() net.Addr {
	own, _ := d.n.Who()
	return address{uint8(own)}
}

// Close implements [carrier.Door]. As over datagrams it ends the streams through it.
func (d *door) Close() error {
	d.once.Do(func() {
		d.n.mu.Lock()
		defer d.n.mu.Unlock()
		d.n.door = nil
		for l, far := range d.n.lines {
			if l.own == 0 {
				far.Abort()
			}
		}
		close(d.over)
	})
	return nil
}
