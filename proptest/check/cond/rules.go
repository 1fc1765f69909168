package cond

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
)

// maxLengths is how many combinations of channel lengths a rule may depend on.
const maxLengths = 1 << 14

// Box is a conjunction of length ranges; a rule is a union of disjoint boxes.
type Box = []explore.LenRange

// Anywhere is the rule without a condition on channels.
var Anywhere = []Box{nil}

// Rule is an environment rule of one instance. Its condition is over variables, arguments
// and channel lengths; for given variables and arguments it is tabulated over the
// lengths it looks at and cut into boxes.
type Rule struct {
	Env    *model.EnvRule
	parts  *Parts
	when   core.Expr
	dims   []dim
	eval   interp.Eval
	locals []int64
	// Err is the first fault of the condition; where it faults, the rule does not allow the command.
	Err error
}

// dim is one channel length that a rule looks at; len(out) with several
// outgoing channels looks at several.
type dim struct {
	channel int
	message *model.Message // nil: all
	now     int64          // while tabulating
}

// NewRule returns the rule as it is for one instance. It fails if the condition depends on too many
// combinations of channel lengths.
func NewRule(s *Parts, inst *model.Instance, env *model.EnvRule) (*Rule, error) {
	size := max(env.Locals, interp.FieldSlots(env.Command.Fields))
	r := &Rule{Env: env, parts: s, when: core.Of(env.When), locals: make([]int64, size)}
	r.eval.Strings = s.Texts
	combinations := 1
	core.Walk(r.when, func(e core.Expr) {
		o, ok := e.(*core.Observe)
		if !ok {
			return
		}
		l := o.Of
		for k := range s.Channels {
			same := func(d dim) bool { return d.channel == k && d.message == l.Message }
			if !s.LooksAt(inst, l, k) || slices.ContainsFunc(r.dims, same) {
				continue
			}
			r.dims = append(r.dims, dim{channel: k, message: l.Message})
			combinations = min(combinations*(s.Channels[k].Cap+1), maxLengths+1)
		}
	})
	if combinations > maxLengths {
		return nil, fmt.Errorf("%s: the rule for %s depends on more than %d combinations of channel lengths; "+
			"give the check a smaller capacity",
			env.Span, env.Command.Name, maxLengths)
	}
	r.eval.ChanLen = func(l *model.ChanLen) int64 {
		n := int64(0)
		for _, d := range r.dims {
			if d.message == l.Message && s.LooksAt(inst, l, d.channel) {
				n += d.now
			}
		}
		return n
	}
	return r, nil
}

// LooksAtChannels reports whether the rule depends on the length of any channel.
func (r *Rule) LooksAtChannels() bool { return len(r.dims) > 0 }

// Watches lists the channels on whose lengths the rule depends.
func (r *Rule) Watches() []int {
	var out []int
	for _, d := range r.dims {
		out = append(out, d.channel)
	}
	return out
}

// Boxes gives the channel lengths for which the rule allows the command.
func (r *Rule) Boxes(v interp.Value, args []int64) []Box {
	if r.Env.When == nil {
		return Anywhere
	}
	clear(r.locals)
	from := 0
	for _, l := range r.Env.Params {
		n := l.Type.Slots()
		copy(r.locals[l.Offset:l.Offset+n], args[from:from+n])
		from += n
	}
	return r.cut(v, 0)
}

// cut tabulates the dimensions from i on.
func (r *Rule) cut(v interp.Value, i int) []Box {
	if i == len(r.dims) {
		ok, err := r.eval.Bool(r.when, v, r.locals)
		if err != nil && r.Err == nil {
			r.Err = err
		}
		if ok && err == nil {
			return Anywhere
		}
		return nil
	}
	d := &r.dims[i]
	most := r.parts.Channels[d.channel].Cap
	var out, last []Box
	first := 0
	flush := func(to int) {
		for _, b := range last {
			lr := explore.LenRange{Channel: d.channel, Lo: first, Hi: to}
			if to == most {
				lr.Hi = -1
			}
			if d.message != nil {
				lr.Kind = uint8(d.message.Index + 1)
			}
			if lr.Lo == 0 && lr.Hi < 0 {
				out = append(out, b)
			} else {
				out = append(out, append(Box{lr}, b...))
			}
		}
	}
	for n := range most + 1 {
		d.now = int64(n)
		next := r.cut(v, i+1)
		if n > 0 && !sameBoxes(next, last) {
			flush(n - 1)
			first = n
		}
		last = next
	}
	flush(most)
	return out
}

func sameBoxes(a, b []Box) bool {
	return slices.EqualFunc(a, b, func(x, y Box) bool { return slices.Equal(x, y) })
}

// Emit emits a step once for each box of channel lengths in which it is possible.
func Emit(s explore.Step, boxes []Box, emit func(explore.Step)) {
	own := s.Lens
	for _, box := range boxes {
		if s.Lens = box; len(own) > 0 {
			s.Lens = append(slices.Clip(box), own...)
		}
		emit(s)
	}
}
