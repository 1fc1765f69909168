package replay

import (
	"slices"
	"time"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// What a search assumes of time in a [Network].
const (
	// A datagram is read within this time, or never.
	longestQueue = 2 * time.Second
	// A link takes nobody for lost who was silent for less.
	leastSilence = time.Second
)

// to is where an effect goes: a party, or Everyone.
func (s *search) to(e *interp.Effect) int {
	switch {
	case !s.shared && len(s.rec.Names) == 2 || s.shared && e.Dest == model.ToPeer:
		return 1 - s.side
	case e.Dest == model.ToBroadcast || e.Dest == model.ToPeer || e.To == int(fsm.Broadcast):
		return Everyone
	}
	return e.To
}

// matchShared compares what the last step sent with the part's next frames. A frame that is not in
// the capture may be any.
func (s *search) matchShared(sent int) (n int, ok bool) {
	l := &s.lanes[0]
	for i := range s.last.effects {
		e := &s.last.effects[i]
		if e.Kind != fsm.Send || sent+n == len(l.out) {
			continue
		}
		if !l.missing[sent+n] {
			f := &s.rec.Frames[l.out[sent+n]]
			if f.Message != e.Message || f.To != s.to(e) || !slices.Equal(f.Slots, e.Slots) {
				s.furthest = max(s.furthest, sent+n)
				return 0, false
			}
		}
		n++
	}
	return n, true
}

// now is when what happens next at a node has happened at the latest.
func (s *search) now(n *node) time.Time {
	k, _ := s.next(n)
	if k < 0 {
		k = len(s.rec.Frames) - 1
	}
	return s.rec.Frames[k].Time
}

// stale reports whether a frame has waited so long that it is to be read before anything else, or to
// be lost.
func (s *search) stale(n *node) bool {
	return s.shared && s.canRead(n, 0) && s.now(n).Sub(s.rec.Frames[s.coming(n, 0)].Time) > longestQueue
}

// quiet reports whether a peer may be taken for lost at a node: its last frame is a while ago.
func (s *search) quiet(n *node, peer int) bool {
	if !s.shared || peer == s.side {
		return false
	}
	now := s.now(n)
	for i := int(n.read.first[0]) - 1; i >= 0; i-- {
		f := &s.rec.Frames[s.lanes[0].in[i]]
		if now.Sub(f.Time) >= leastSilence {
			return true
		}
		if f.From == peer {
			return false
		}
	}
	return true
}
