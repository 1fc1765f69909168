package replay

import (
	"context"
	"maps"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/world"
)

// Present is what is known of one side of a conversation that goes on.
type Present struct {
	// Side is the explanation of what the side has sent so far; more may be under way.
	Side *Side
	// Places are where the side may be if nothing is under way from it, and nothing is unread: all of them, if
	// not Partial. There are none if it would have sent something then.
	Places  []Place
	Partial bool
	// Owes are the messages that it would have sent, where there are no places.
	Owes []string
}

// Place is where a side may be: the value of its machine, and what is around that. A held message is the place of its
// frame among those of the recording.
type Place struct {
	Value interp.Value
	End   world.End[int]
	// Open: it still hears a peer.
	Open bool
	// Left is the command with which its program has closed the connection; empty if it has not.
	Left string
}

// mostPresent is how many nodes the search for places looks at.
const mostPresent = 20_000

// Watch explains one side of a conversation that goes on, as [Explain] does: a machine that begins with a value. The
// recording has all that has come from the side until now.
func Watch(ctx context.Context, rec *Recording, side int, m *model.Machine, v interp.Value, opts Options) *Present {
	part := Part{Party: side}
	for i := range rec.Frames {
		if rec.Frames[i].From == side {
			part.out = append(part.out, i)
		} else {
			part.in = append(part.in, i)
		}
	}
	part.missing = make([]bool, len(part.out))
	strict := opts
	strict.whole, strict.every = true, true
	if strict.MaxStates == 0 {
		strict.MaxStates = mostPresent
	}
	s := explain(ctx, rec, m, slices.Clone(v), &part, strict)
	now := &Present{Partial: s.full}
	known := map[[16]byte]bool{}
	for _, n := range s.ends {
		nd := s.nodes[n]
		p := Place{Value: nd.value, End: nd.end, Open: s.open(&nd)}
		if nd.left != nil {
			p.Left = nd.left.Name
		}
		if key := s.key(&nd); !known[key] {
			known[key] = true
			now.Places = append(now.Places, p)
		}
	}
	if len(now.Places) > 0 {
		now.Side = s.result("")
		return now
	}
	now.Owes = slices.Sorted(maps.Keys(s.owed))
	now.Side = explain(ctx, rec, m, slices.Clone(v), &part, opts).result("")
	return now
}
