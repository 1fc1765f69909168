package replay

import (
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/trace"
)

// Follower runs a record again while it is being written, line by line, as [Check] does with a whole one.
type Follower struct {
	p *model.Protocol
	c *checker
}

// mostTexts is how many texts a Follower remembers before it forgets those that the machine no longer has.
const mostTexts = 4096

// Follow begins with the first line of a record. It returns an error if the record is of another specification.
func Follow(p *model.Protocol, h trace.Header) (*Follower, error) {
	c, err := begin(p, h)
	if err != nil {
		return nil, err
	}
	return &Follower{p, c}, nil
}

// Step runs the next line, and says how it deviates from the specification. It returns "" if it does not. After
// the first deviation the machine stays where it is, and further lines mean nothing.
func (f *Follower) Step(s *trace.Step) string {
	if f.c.strs.Len() > mostTexts {
		text := interp.AppendMachine(nil, f.c.strs, f.c.m, f.c.value)
		if err := f.c.load(f.p, string(text)); err != nil {
			return "the machine cannot be read back: " + err.Error()
		}
	}
	return f.c.next(s)
}

// Machine is the role that was recorded.
func (f *Follower) Machine() *model.Machine { return f.c.m }

// Value is the machine as it is now, and the texts in it. It is valid until the next Step.
func (f *Follower) Value() (interp.Value, *interp.Strings) { return f.c.value, f.c.strs }

// Twins are the places in Machine.Transitions of a transition and of those that the specification writes at the same
// place: what it says of several states is one transition in each.
func (f *Follower) Twins(transition uint16) (list []int) {
	if int(transition) >= len(f.c.m.Transitions) {
		return nil
	}
	at := f.c.m.Transitions[transition].Span
	for _, t := range f.c.m.Transitions {
		if t.Span == at {
			list = append(list, t.ID)
		}
	}
	return list
}
