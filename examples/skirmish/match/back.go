package match

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"github.com/parley-go/parley/examples/skirmish/game"
	"github.com/parley-go/parley/machines/skirmish"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/transport"
)

// Where a match has lost its host and goes on with another one, slots are for those who had them. They call a door of
// their own and show the keys that they had. The next host knows the keys by marks, which the first one gave to all.
// Who shows none waits until the match goes on, and then for the next one.

// Back is the number of the door for those who come back, as [PlayerConfig.Dial] has it.
const Back = 2

// nobody is the slot of who has shown no key.
const nobody = -1

// mostWait is how many may wait until a match goes on.
const mostWait = 16

// proof is what one says at that door.
func (s *Saved) proof() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(s.Slot)), s.Key)
}

// returning is who comes back to a match.
type returning struct {
	saved *Saved        // nil: there is no such match
	since time.Time     // the host is there
	open  chan struct{} // closed when the match goes on, or not
	once  sync.Once

	mu      sync.Mutex
	slots   map[int]int // that peers have shown the key of
	waiting int
}

func newReturning(s *Saved) *returning {
	r := &returning{saved: s, since: time.Now(), open: make(chan struct{}), slots: map[int]int{}}
	if s == nil {
		r.over()
	}
	return r
}

// over lets in those who wait.
func (r *returning) over() { r.once.Do(func() { close(r.open) }) }

func (r *returning) late(now time.Time, after time.Duration) bool { return now.Sub(r.since) > after }

// note is told which slot a peer has shown the key of.
func (r *returning) note(p fsm.Peer, slot int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slots[int(p)] = slot
}

// has reports whether a peer has shown the key of a slot.
func (r *returning) has(p, slot int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	shown, ok := r.slots[p]
	return ok && shown == slot
}

// all reports whether everybody has shown the key of the own slot.
func (r *returning) all(m *skirmish.Host) bool {
	for p, s := range m.Seats {
		if s.Present && !r.has(p, int(s.Value.Slot)) {
			return false
		}
	}
	return true
}

// knock is done for who comes without a key.
func (h *Host) knock(ctx context.Context, l transport.Link) {
	select {
	case <-h.back.open:
		h.admit(ctx, l)
		return
	default:
	}
	r := h.back
	r.mu.Lock()
	r.waiting++
	many := r.waiting > mostWait
	r.mu.Unlock()
	done := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiting--
	}
	if many {
		refuse(l)
		done()
		return
	}
	go func() {
		defer done()
		select {
		case <-r.open:
			h.admit(ctx, l)
		case <-ctx.Done():
			l.Abort()
		}
	}()
}

// comeBack is done for who says that it comes back.
func (h *Host) comeBack(ctx context.Context, l transport.Link) {
	go func() {
		stop := context.AfterFunc(ctx, func() { l.Abort() })
		slot, err := number(l)
		key := uint64(0)
		if err == nil {
			key, err = number(l)
		}
		if !stop() || err != nil {
			l.Abort()
			return
		}
		s := h.back.saved
		if s == nil || slot >= game.Players || mark(key) != s.Marks[slot] {
			h.knock(ctx, l)
			return
		}
		h.let(ctx, l, int(slot))
	}()
}
