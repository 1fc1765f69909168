package drive

import (
	"fmt"
	"maps"
	"sync"

	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
	"github.com/parley-go/parley/runtime/transport/mem"
	"github.com/parley-go/parley/runtime/world"
)

// limits say how much of a step's output leaves the driver before it crashes.
type limits struct{ who, frames, closes int }

// cut stops the rest of a step's output when a driver crashes in the middle of the step. The driver
// does not notice: what it gives to its links after that is lost.
type cut struct {
	mu    sync.Mutex
	armed bool
	left  limits
	hit   bool             // something did not go out
	peers map[int]fsm.Peer // what the driver calls those who hear of a close
	// passed counts the frames that went out by receiver and class, closed has the links whose close did.
	passed map[[2]int]int
	closed map[int]bool
}

func newCut() *cut { return &cut{peers: map[int]fsm.Peer{}} }

func (c *cut) arm(l limits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed, c.left, c.passed, c.closed = true, l, map[[2]int]int{}, map[int]bool{}
}

// disarm ends a step. A step that was cut stays cut, because its driver has crashed.
func (c *cut) disarm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = c.hit
}

func (c *cut) torn() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hit
}

// gone reports whether the close of a link did not go out.
func (c *cut) gone(j int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hit && !c.closed[j]
}

func (c *cut) open(j int, peer fsm.Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.peers[j] = peer
}

func (c *cut) shut(j int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.peers, j)
}

// closing notes that the machine closes a link, or all of them. A driver closes links in the
// background, so this is the moment that counts. It may be called twice for one close.
func (c *cut) closing(p fsm.Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.armed {
		return
	}
	for j, peer := range c.peers {
		switch {
		case p != peer && p != fsm.Broadcast || c.closed[j]:
		case c.hit || c.left.closes == 0:
			c.hit = true
		default:
			c.left.closes--
			c.closed[j] = true
		}
	}
}

// tearing is a driver's link to an instance. It carries what a [cut] lets through.
type tearing struct {
	*mem.Link
	cut  *cut
	to   int
	over int // the class
	size func(frame []byte) (int, error)
	away func() bool // a partition takes what is sent
}

// Send implements [transport.Link]. A stream may be cut within a frame.
func (l *tearing) Send(peer int, frames []byte) error {
	c := l.cut
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.armed {
		for at := 0; at < len(frames) && l.Properties().Stream; {
			n, err := l.size(frames[at:])
			if err != nil || n <= 0 {
				return fmt.Errorf("%d bytes that begin with no frame: %w", len(frames)-at, err)
			}
			at += n
		}
		return l.Link.Send(peer, frames)
	}
	if l.away() {
		return nil
	}
	at := 0
	for at < len(frames) || at == 0 {
		n := len(frames)
		if l.Properties().Stream {
			size, err := l.size(frames[at:])
			if err != nil || size <= 0 {
				return fmt.Errorf("%d bytes that begin with no frame: %w", len(frames)-at, err)
			}
			n = size
		}
		if c.hit || c.left.frames == 0 {
			if !c.hit && l.Properties().Stream {
				at += n / 2
			}
			c.hit, c.closed[l.to] = true, false
			break
		}
		c.left.frames--
		c.passed[[2]int{l.to, l.over}]++
		at += n
	}
	if at == 0 {
		return nil
	}
	return l.Link.Send(peer, frames[:at])
}

var _ transport.Link = (*tearing)(nil)

// tear finds the crash of the world that explains what came of the steps of instance i, which was
// switched off in the middle of them. The moves are those that it would have made.
func (r *play) tear(i int, moves []stage.Move) (first stage.Taken, err error) {
	r.log = append(r.log, "  and it does")
	r.faults["torn steps"]++
	r.halt(i)
	steps, err := r.ahead(moves)
	if err != nil {
		return first, err
	}
	at, sends, gone, err := r.tornAt(i, steps)
	if last := steps[len(steps)-1].t.Fault; last != world.NoFault && (last != world.Overflow || err != nil) {
		return first, errLeft // the crash may have come before the fault
	}
	if err != nil {
		return first, err
	}
	for n, x := range steps {
		var then []stage.Move
		mv := x.Move
		switch {
		case n > at && x.t.Who == i:
			continue
		case n == at && sends < len(x.t.Sends):
			mv.Torn = sends + 1
		case n == at:
			then = append(then, stage.Move{Kind: world.MoveCrash, Who: i})
		}
		if n == at {
			for k, ch := range r.World.Rules.Channels {
				for range gone[[2]int{ch.To, ch.Class}] {
					if ch.From == i {
						then = append(then, stage.Move{Kind: world.MoveTail, Channel: k})
					}
				}
			}
		}
		for _, mv := range append([]stage.Move{mv}, then...) {
			if mv.Kind == world.MoveTail && world.Length(r.c.Queues[mv.Channel]) <= messages(r.queues[mv.Channel]) {
				continue // it found its channel full, and so was lost anyway
			}
			if mv.Kind == world.MoveTail && r.World.Rules.Channels[mv.Channel].Lossy && !r.possible(mv) {
				// Nobody hears of the crash, and what has not left is lost like any datagram.
				mv = stage.Move{Kind: world.MoveLose, Channel: mv.Channel, At: len(r.c.Queues[mv.Channel]) - 1}
				if !r.possible(mv) {
					return first, errLeft // the channel loses only what is about to arrive
				}
			}
			if mv.Kind == world.MoveTail && r.protocol.Several() && !r.possible(mv) {
				return first, errLeft // beside a link, what has not left comes too late
			}
			if mv.Kind == world.MoveTail && resets(r.c.Queues[mv.Channel]) > 1 && !r.possible(mv) {
				return first, errLeft // what was lost with an earlier link is told before
			}
			t, err := r.one(mv)
			if first.Next == nil {
				first = t
			}
			if err != nil || r.over {
				return first, err
			}
		}
	}
	return first, r.compare()
}

// resets counts the ends of links that lie in a channel.
func resets(q []world.Item[string]) (n int) {
	for _, x := range q {
		if x.News == world.Reset {
			n++
		}
	}
	return n
}

// messages counts what is no news.
func messages(q []item) (n int) {
	for _, x := range q {
		if x.news == world.NoNews {
			n++
		}
	}
	return n
}

// foreseen is a move with its result.
type foreseen struct {
	stage.Move
	t stage.Taken
}

// ahead lists the steps that moves make in the world, each with what follows at once.
func (r *play) ahead(moves []stage.Move) (steps []foreseen, err error) {
	c := r.c
	for _, mv := range moves {
		for ok := true; ok; {
			t, err := r.World.Do(c, mv)
			if err != nil && r.waitsForRoom() {
				return nil, errLeft
			}
			if err != nil {
				return nil, fmt.Errorf("the drivers do %v, which is no move of the world: %w", mv, err)
			}
			steps = append(steps, foreseen{mv, t})
			if c = t.Next; c == nil {
				return steps, nil
			}
			mv, ok = r.offer(c, mv, &t)
		}
	}
	return steps, nil
}

// tornAt finds the step in which instance i has crashed: the last one that sent something out, or
// else the first that sends anything. sends is how much of it went out. Streams to different
// instances do not leave in the order of sending, so earlier messages may not have left. gone counts
// those by receiver. They are lost tails.
func (r *play) tornAt(i int, steps []foreseen) (at, sends int, gone map[[2]int]int, err error) {
	c := r.seats[i].cut
	c.mu.Lock()
	defer c.mu.Unlock()
	at = -1
	left, missed := maps.Clone(c.passed), map[[2]int]int{}
	for n, x := range steps {
		if x.t.Who != i {
			continue
		}
		news := 0 // sent by the network, before anything that the machine sends
		for news < len(x.t.Sends) && x.t.Sends[news].Item.News > world.Cut {
			news++
		}
		for k, s := range x.t.Sends[news:] {
			out := s.Item.News == world.Cut && c.closed[s.To]
			switch {
			case s.Item.News != world.NoNews:
			case left[[2]int{s.To, s.Class}] > 0:
				left[[2]int{s.To, s.Class}]--
				out = true
			default:
				missed[[2]int{s.To, s.Class}]++
			}
			if at < 0 {
				at, sends = n, news
			}
			if out {
				at, sends = n, news+k+1
				gone = maps.Clone(missed)
			}
		}
	}
	for to, n := range left {
		if j := to[0]; n > 0 {
			return 0, 0, nil, fmt.Errorf("instance %d has sent %d messages to %d that it does not send in the world",
				i, n, j)
		}
	}
	if at < 0 {
		return 0, 0, nil, fmt.Errorf("instance %d sends, and in the world it does not", i)
	}
	return at, sends, gone, nil
}
