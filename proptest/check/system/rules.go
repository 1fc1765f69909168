package system

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

// box is a conjunction of length ranges; a rule is a union of disjoint boxes.
type box = []explore.LenRange

// anywhere is the rule without a condition on channels.
var anywhere = []box{nil}

// Rule is an environment rule of one instance. Its condition is over variables, arguments
// and channel lengths; for given variables and arguments it is tabulated over the
// lengths it looks at and cut into boxes.
type Rule struct {
	Env    *model.EnvRule
	when   core.Expr
	dims   []dim
	eval   interp.Eval
	locals []int64
	err    error // the first fault of the condition
}

// dim is one channel length that a rule looks at; len(out) with several
// outgoing channels looks at several.
type dim struct {
	channel int
	message *model.Message // nil: all
	now     int64          // while tabulating
}

func newRule(s *Machines, inst *model.Instance, env *model.EnvRule) (*Rule, error) {
	r := &Rule{Env: env, when: core.Of(env.When), locals: make([]int64, max(env.Locals, interp.FieldSlots(env.Command.Fields)))}
	r.eval.Strings = s.Texts
	size := 1
	core.Walk(r.when, func(e core.Expr) {
		o, ok := e.(*core.Observe)
		if !ok {
			return
		}
		l := o.Of
		for k := range s.System.Channels {
			if !s.LooksAt(inst, l, k) || slices.ContainsFunc(r.dims, func(d dim) bool { return d.channel == k && d.message == l.Message }) {
				continue
			}
			r.dims = append(r.dims, dim{channel: k, message: l.Message})
			size = min(size*(s.System.Channels[k].Cap+1), maxLengths+1)
		}
	})
	if size > maxLengths {
		return nil, fmt.Errorf("%s: the rule for %s depends on more than %d combinations of channel lengths; give the check a smaller capacity",
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

// LooksAt reports whether the length of channel k counts in l.
func (s *Machines) LooksAt(inst *model.Instance, l *model.ChanLen, k int) bool {
	if k >= s.Own {
		return false
	}
	c := &s.System.Channels[k]
	if l.Self {
		return l.Out && c.From == inst.Index || !l.Out && c.To == inst.Index
	}
	return (l.From == nil || l.From.Index == c.From) && (l.To == nil || l.To.Index == c.To)
}

// Boxes gives the channel lengths for which the rule allows the command.
func (r *Rule) Boxes(p *Process, v interp.Value, args []int64) []box {
	if r.Env.When == nil {
		return anywhere
	}
	clear(r.locals)
	from := 0
	for _, l := range r.Env.Params {
		n := l.Type.Slots()
		copy(r.locals[l.Offset:l.Offset+n], args[from:from+n])
		from += n
	}
	return r.cut(p, v, 0)
}

// cut tabulates the dimensions from i on.
func (r *Rule) cut(p *Process, v interp.Value, i int) []box {
	if i == len(r.dims) {
		ok, err := r.eval.Bool(r.when, v, r.locals)
		if err != nil && r.err == nil {
			r.err = err
			p.sys.RuleFaults = append(p.sys.RuleFaults, "the rule for "+r.Env.Command.Name+": "+faultText(err))
		}
		if ok && err == nil {
			return anywhere
		}
		return nil
	}
	d := &r.dims[i]
	most := p.sys.System.Channels[d.channel].Cap
	var out, last []box
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
				out = append(out, append(box{lr}, b...))
			}
		}
	}
	for n := range most + 1 {
		d.now = int64(n)
		next := r.cut(p, v, i+1)
		if n > 0 && !sameBoxes(next, last) {
			flush(n - 1)
			first = n
		}
		last = next
	}
	flush(most)
	return out
}

func sameBoxes(a, b []box) bool {
	return slices.EqualFunc(a, b, func(x, y box) bool { return slices.Equal(x, y) })
}
