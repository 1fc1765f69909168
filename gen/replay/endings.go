package replay

import (
	"context"
	"slices"
	"time"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/world"
)

// Ending is how the stream of one side ended.
type Ending struct {
	Kind   ChunkKind // Close or Reset; Data if the capture shows no end
	At     int       // how many frames were captured before
	Packet int
	Time   time.Time
}

// Refusal is a frame that a side could not take where it was, so that it closed the connection.
type Refusal struct {
	Frame int // its place among the frames
	At    At  // where the machine was; Refuses says why
	// After is how long after the frame the side closed, and By how: by a FIN, or by an RST.
	After time.Duration
	By    ChunkKind
	// Or is the command with which the program may have closed instead, as another run has it; empty if
	// there is no such run. The capture does not tell the two apart.
	Or string
	// Expected: some check of the specification expects that messages are refused, so this is a run of it.
	Expected bool
}

// ended reports whether a side ended the connection, and not the other one before it.
func (r *Recording) ended(side int) bool {
	if len(r.Names) > 2 {
		return false
	}
	mine, other := r.Ends[side], r.Ends[1-side]
	return mine.Kind != Data && (other.Kind == Data || mine.Packet < other.Packet)
}

// expectsRefusals reports whether some check of a protocol is known to meet messages that nobody takes, as those
// of variants do that say what a faulty program does.
func expectsRefusals(p *model.Protocol) bool {
	return slices.ContainsFunc(p.Checks, func(c *model.Check) bool {
		return c.Expects(model.UnspecifiedReception)
	})
}

// needs reports whether the side must have read a frame: none that was captured after it had ended.
func (s *search) needs(frame int) bool {
	end := s.end()
	return end == nil || frame < end.At
}

// end is how the side ended; nil if the capture does not show it, or has more than two parties.
func (s *search) end() *Ending {
	if s.shared || s.side > 1 || len(s.rec.Names) > 2 || s.rec.Ends[s.side].Kind == Data {
		return nil
	}
	return &s.rec.Ends[s.side]
}

// open reports whether a node is one where the machine can still hear a peer.
func (s *search) open(n *node) bool {
	return n.end.Up|n.end.Waiting != 0 && !s.Final(n.value)
}

// leaves returns the command with which the program has closed the connection at a node after another, in a step that
// explains nothing; nil if it has not.
func (s *search) leaves(before, after *node) *model.Event {
	unseen := after.move.kind == world.MoveCommand && after.sent == before.sent
	if unseen && !s.shared && s.open(before) && !s.open(after) {
		return after.move.command.Event
	}
	return before.left
}

// hunt looks for a run in which the side ended the connection because it refused a frame. A run in which the machine
// closes by itself is a better explanation. A command that nobody sees could close anywhere, so a refusal is
// better than that. Of several the one counts that leaves the fewest frames unread, and then that with the fewest
// commands that nobody sees.
//
// What is between the sides is in the capture, in its order. So the runs of both sides are one run of the system
// whenever each explains its own, and a refusal is one of the system, too.
func (s *search) hunt(ctx context.Context) {
	best, limit := [2]int{-1}, min(s.opts.MaxStates, 2*len(s.nodes)+huntedAtLeast)
	or := ""
	for i, found := 0, 0; found < huntedAtMost; i++ {
		for i == len(s.nodes) && len(s.stack) > 0 && len(s.nodes) <= limit && ctx.Err() == nil {
			n := s.stack[len(s.stack)-1]
			s.stack = s.stack[:len(s.stack)-1]
			s.expand(n)
		}
		if i == len(s.nodes) {
			break
		}
		if s.done(&s.nodes[i]) {
			switch left := s.nodes[i].left; {
			case left != nil:
				or = left.Name
			case !s.open(&s.nodes[i]):
				s.found, s.refusal = i, nil
				return
			}
		}
		mv, ok := s.rejects(&s.nodes[i])
		if !ok {
			continue
		}
		found++
		unseen := 0
		for n := i; n >= 0; n = s.nodes[n].parent {
			unseen += min(s.nodes[n].silent, 1)
		}
		if key := [2]int{mv.frame, -unseen}; s.refusal == nil || slices.Compare(key[:], best[:]) > 0 {
			end := s.end()
			best, s.refused = key, i
			s.refusal = &Refusal{Frame: mv.frame, After: end.Time.Sub(s.rec.Frames[mv.frame].Time), By: end.Kind,
				Expected: expectsRefusals(s.rec.Protocol)}
		}
	}
	if s.refusal != nil {
		s.refusal.Or = or
	}
}

// Bounds of a hunt: nodes that are looked at in any case, and refusals among which the best is sought.
const (
	huntedAtLeast = 100_000
	huntedAtMost  = 64
)

// rejects reports whether a node is one where the side has sent everything and refuses what it hears next.
func (s *search) rejects(n *node) (mv move, ok bool) {
	if !s.allSent(n) {
		return mv, false
	}
	list := make([]move, 0, len(s.lanes))
	if due := s.due(n); due >= 0 {
		list = append(list, move{kind: world.MoveOffer, frame: n.end.Held[due].Message})
	} else {
		for c := range s.lanes {
			if k := s.coming(n, c); k >= 0 && s.needs(k) {
				list = append(list, move{kind: world.MoveDeliver, frame: k})
			}
		}
	}
	for _, mv := range list {
		if f := s.happen(n, mv).Fault; f == world.Refusal || f == world.DeferredOverflow {
			return mv, true
		}
	}
	return mv, false
}
