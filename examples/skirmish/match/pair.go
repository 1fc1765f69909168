package match

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/runtime/transport"
)

// pair puts the links of the two players of a duel together, and keeps what they say for one who comes again.
type pair struct {
	came func(slot int)
	long time.Duration // for which one may say nothing while the other one does
	tap  *tap

	mu    sync.Mutex
	sides []*side
}

// side is what is known of a player. What it says is heard, and what the other one says is told to it.
type side struct {
	slot  int
	key   uint64
	said  *speech
	link  transport.Link // nil: there is none now
	here  bool           // has come
	ended bool           // will not come again
	left  bool           // without a word
	since time.Time      // it said something, or lost its link
}

// newPair is for the players with these keys.
func newPair(
	seed uint32, keys map[int]uint64, names [game.Players]string, long time.Duration, came func(int),
) *pair {
	q := &pair{came: came, long: long}
	var slots []int
	for slot := range game.Players {
		if key, ok := keys[slot]; ok {
			q.sides = append(q.sides, &side{slot: slot, key: key, said: newSpeech()})
			slots = append(slots, slot)
		}
	}
	if len(q.sides) == 1 { // the other one has left before it came
		s := &side{slot: nobody, key: secret(), said: newSpeech(), ended: true}
		s.said.end()
		q.sides = append(q.sides, s)
	}
	q.tap = newTap(seed, slots, names)
	return q
}

// sit takes a link whose first eight bytes are the key of a slot.
func (q *pair) sit(ctx context.Context, l transport.Link) {
	stop := context.AfterFunc(ctx, func() { l.Abort() })
	defer stop()
	key, err := number(l)
	switch {
	case err != nil:
		l.Abort()
		return
	case key == lookOn:
		q.show(ctx, l)
		return
	}
	i, s := q.of(key)
	if s == nil {
		l.Abort() // nobody's key
		return
	}
	has, err := number(l)
	if err != nil {
		l.Abort()
		return
	}
	other := q.sides[(i+1)%len(q.sides)]
	q.mu.Lock()
	if s.ended || has > uint64(other.said.len()) {
		q.mu.Unlock()
		l.Abort()
		return
	}
	if s.link != nil {
		s.link.Abort() // it is lost, as who has the key knows
	}
	s.link, s.here, s.since = l, true, time.Now()
	err = errors.Join(l.Send(0, binary.BigEndian.AppendUint64(nil, uint64(s.said.len()))), l.Flush())
	q.mu.Unlock()
	q.came(s.slot)
	if err != nil {
		q.gone(s, l, err)
		return
	}
	var both sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	both.Go(func() {
		if other.said.say(ctx, l, int(has)) != nil {
			l.Abort()
		}
	})
	q.gone(s, l, q.hear(i, s, l))
	cancel()
	both.Wait()
}

// of is the player with a key.
func (q *pair) of(key uint64) (int, *side) {
	for i, s := range q.sides {
		if s.key == key {
			return i, s
		}
	}
	return 0, nil
}

// show gives the recording to somebody who looks on, as soon as both have come.
func (q *pair) show(ctx context.Context, l transport.Link) {
	q.mu.Lock()
	both := true
	for _, s := range q.sides {
		both = both && s.here
	}
	q.mu.Unlock()
	if !both {
		l.Abort()
		return
	}
	q.tap.show(ctx, l)
}

// hear hears what a player says over a link, until that ends.
func (q *pair) hear(i int, s *side, l transport.Link) error {
	buf := make([]byte, 4096)
	for {
		got, err := l.Receive(buf)
		if got.N > 0 {
			q.mu.Lock()
			ours := s.link == l
			ok := ours && s.said.add(buf[:got.N])
			if s.since = time.Now(); ok {
				q.tap.hear(i, buf[:got.N])
			}
			q.mu.Unlock()
			if !ok {
				return transport.ErrReset
			}
		}
		if err != nil {
			return err
		}
	}
}

// gone is told that a link has ended. Who ends it in good order does not come again.
func (q *pair) gone(s *side, l transport.Link, why error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !endOf(why) && !errors.Is(why, transport.ErrClosed) { // what is on its way in a closed link still arrives
		l.Abort()
	}
	if s.link != l {
		return // there is another one
	}
	s.link, s.since = nil, time.Now()
	if endOf(why) {
		q.leave(s)
	}
}

// leave is done when a player will not come again. The other one is told when it has all that was said.
func (q *pair) leave(s *side) {
	if !s.ended {
		s.ended = true
		s.said.end()
		q.tap.leave(s.slot)
	}
}

// parted reports whether somebody has left the duel.
func (q *pair) parted() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.sides, func(s *side) bool { return s.left })
}

// look gives up a link that brings nothing while the other one waits, and a player who does not come again.
func (q *pair) look(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, s := range q.sides {
		other := q.sides[(i+1)%len(q.sides)]
		switch {
		case !s.here || s.ended:
		case s.link == nil && now.Sub(s.since) > comeBack:
			s.left = true
			q.leave(s)
		case s.link != nil && other.here && !other.ended && now.Sub(s.since) > q.long &&
			s.said.len() <= other.said.len():
			s.link.Abort()
			s.link, s.since = nil, now
		}
	}
}

// end is done when the match is over.
func (q *pair) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range q.sides {
		s.ended = true
		s.said.end()
	}
	q.tap.end()
}
