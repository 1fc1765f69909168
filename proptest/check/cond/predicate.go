package cond

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/runtime/world"
)

// Predicate is a condition over a whole configuration, cut into what each
// instance and each channel contributes, as the explorer wants it. It has the
// form guards => body, or guards && body ([Need]). Every closed subexpression that looks
// at one instance only is an atom: it is evaluated once for each local value, and
// the values of an instance's atoms together are its class. Where a guard that looks at
// one instance is false the rest does not matter and the class is irrelevant, so that
// few classes remain.
type Predicate struct {
	parts  *Parts
	guards []core.Expr
	body   core.Expr // nil: true
	form   Form
	procs  []procClasses
	chans  []chanClasses
	sums   []sum
	size   int // of the frame
	frame  []int64
	eval   interp.Eval
	faults map[diag.Span]error // how atoms faulted, by place
	// Fault is the first fault that mattered.
	Fault error
}

// Form says how the guards and the body of a predicate are one.
type Form uint8

// The forms of predicates.
const (
	Implies Form = iota // guards => body
	Need                // guards && body
	// apart is when and goal of a claim, one guard and the body, that are each asked alone, even where
	// both look at one instance only. No class is irrelevant.
	apart
)

// Irrelevant is the class of a local value for which a guard is false.
const Irrelevant = 1

// atom is one contribution of an instance; its slots in the frame are those of
// an optional, none if it faulted.
type atom struct {
	expr  core.Expr
	at    int
	guard bool
}

// procClasses are the classes of one instance.
type procClasses struct {
	atoms []atom
	held  []heldCount // messages that the instance holds
	// whole: some expression looks at the instance in a way that depends on more
	// than the instance; the class is the whole local value.
	whole bool
	size  int // of the value, with whether it is down
	// Classes are of the atoms' slots, then what is held, then the value if whole.
	Classes
}

// counter is a number of messages in one channel.
type counter struct {
	message *model.Message // nil: all
	clamp   bool           // only whether there are any
	news    bool           // news of links, too
}

type chanClasses struct {
	counters []counter
	Classes
}

// heldCount is a number of messages that an instance holds of another: a channel's length in a
// claim counts them, too.
type heldCount struct {
	from int
	of   *model.ChanLen
	counter
}

// sum is a channel length of the expression: the sum of counters.
type sum struct {
	at    int
	terms [][2]int // channel, counter
	held  [][2]int // instance, heldCount
}

// New cuts guards and body. body may be nil.
func New(parts *Parts, guards []core.Expr, body core.Expr, form Form) *Predicate {
	p := &Predicate{parts: parts, form: form, faults: map[diag.Span]error{},
		procs: make([]procClasses, len(parts.Layouts)), chans: make([]chanClasses, len(parts.Channels))}
	p.eval.Strings = parts.Texts
	p.eval.Instances = make([][]int64, len(parts.Layouts))
	budget := MaxUnroll
	var list []core.Expr
	for _, e := range append(slices.Clone(guards), body) {
		if e != nil {
			e = unroll(e, &budget)
			p.size = max(p.size, core.FrameEnd(e))
		}
		list = append(list, e)
	}
	for _, g := range list[:len(guards)] {
		p.guards = append(p.guards, p.cut(g, form != apart))
	}
	if body != nil {
		p.body = p.cut(list[len(guards)], false)
	}
	p.frame = make([]int64, p.size)
	return p
}

// NewApart cuts when and goal of a claim each for itself. Ask it with Says, When and Goal.
func NewApart(parts *Parts, c *model.Claim) *Predicate {
	return New(parts, []core.Expr{core.Of(c.When)}, core.Of(c.Expr), apart)
}

// cut replaces atoms and channel lengths in e by locals.
func (p *Predicate) cut(e core.Expr, guard bool) core.Expr {
	if l, ok := e.(*core.Observe); ok {
		return p.sum(l.Of, false)
	}
	if ComparedWithZero(e) != nil {
		return core.Rewrite(e, func(x core.Expr) core.Expr {
			if l, ok := x.(*core.Observe); ok {
				return p.sum(l.Of, true)
			}
			return x
		})
	}
	looks := core.Observes(e)
	if len(looks) == 0 {
		return e
	}
	if len(looks) == 1 && looks[0] != nil && len(core.Free(e)) == 0 {
		return p.atom(looks[0].Index, e, guard)
	}
	if r, ok := e.(*core.Read); ok && r.Inst != nil { // it looks through a key that an enclosing loop binds
		p.procs[r.Inst.Index].whole, p.procs[r.Inst.Index].size = true, r.Inst.Role.Size+1
	}
	return core.Rewrite(e, func(x core.Expr) core.Expr { return p.cut(x, false) })
}

// atom makes e, which looks at one instance, an atom, and returns what has its value.
func (p *Predicate) atom(inst int, e core.Expr, guard bool) core.Expr {
	b := e.Node()
	t := &model.Type{Kind: model.KindOptional, Elem: b.T}
	l := &model.Local{Name: "atom", Type: t, Offset: p.size}
	p.size += t.Slots()
	c := &p.procs[inst]
	c.atoms = append(c.atoms, atom{e, l.Offset, guard})
	base := model.ExprBase{T: b.T, Span: b.Pos()}
	ref := &model.LocalRef{ExprBase: model.ExprBase{T: t, Span: b.Pos()}, Local: l}
	return core.Of(&model.Unwrap{ExprBase: base, X: ref})
}

func (p *Predicate) sum(l *model.ChanLen, clamp bool) core.Expr {
	s, last := sum{at: p.size}, [2]int{-1, -1}
	p.size++
	for k := range p.parts.Channels {
		if !p.parts.LooksAt(nil, l, k) {
			continue
		}
		c := &p.chans[k]
		want := counter{l.Message, clamp, l.News}
		i := slices.Index(c.counters, want)
		if i < 0 {
			i = len(c.counters)
			c.counters = append(c.counters, want)
		}
		s.terms = append(s.terms, [2]int{k, i})
		ch := &p.parts.Channels[k]
		if pair := [2]int{ch.From, ch.To}; pair != last && p.parts.Instances[ch.To].Role.Defers() {
			last = pair // of what is held only the sender is known, whatever channel it came through
			h := &p.procs[ch.To]
			s.held = append(s.held, [2]int{ch.To, len(h.held)})
			h.held = append(h.held, heldCount{ch.From, l, want})
		}
	}
	p.sums = append(p.sums, s)
	local := &model.Local{Name: "len", Type: l.T, Offset: s.at}
	return core.Of(&model.LocalRef{ExprBase: model.ExprBase{T: l.T, Span: l.Span}, Local: local})
}

// LooksAtInstance reports whether anything of instance i matters.
func (p *Predicate) LooksAtInstance(i int) bool {
	c := &p.procs[i]
	return len(c.atoms) > 0 || len(c.held) > 0 || c.whole
}

// LooksAtChannel reports whether anything of channel k matters.
func (p *Predicate) LooksAtChannel(k int) bool { return len(p.chans[k].counters) > 0 }

// Guarded reports whether the predicate has guards.
func (p *Predicate) Guarded() bool { return len(p.guards) > 0 }

// OfInstance returns the class of a local value of instance i.
func (p *Predicate) OfInstance(i int, b []byte) uint32 {
	c := &p.procs[i]
	l := p.parts.Layouts[i].Unpack(b)
	v := l.Value
	v = v[:len(v)+1] // with down
	p.eval.Instances[i] = v
	var tuple []int64
	for _, a := range c.atoms {
		n := a.expr.Node().Slots
		d := make([]int64, 1+n)
		if err := p.eval.Into(a.expr, d[1:], nil, nil); err != nil {
			p.faults[a.expr.Node().Pos()] = err
			clear(d)
		} else if d[0] = 1; a.guard && d[1] == 0 {
			return Irrelevant
		}
		tuple = append(tuple, d...)
	}
	for _, h := range c.held {
		tuple = append(tuple, h.count(p.parts.Protocol, l.Held))
	}
	if c.whole {
		tuple = append(tuple, v...)
	}
	return c.Number(tuple)
}

// count is how many of the held messages count.
func (h *heldCount) count(p *model.Protocol, held []world.Held[string]) int64 {
	n := int64(0)
	for _, x := range held {
		at := codec.MessageIndex([]byte(x.Message))
		if x.From == h.from && (h.message == nil || h.message.Name == p.Messages[at].Name) &&
			(h.of.Over == "" || h.of.Class == p.Messages[at].Channel) {
			n++
		}
	}
	if h.clamp {
		n = min(n, 1)
	}
	return n
}

// OfChannel returns the class of the contents of channel k.
func (p *Predicate) OfChannel(k int, word [][]byte) uint32 {
	c := &p.chans[k]
	tuple := make([]int64, len(c.counters))
	for i, ct := range c.counters {
		for _, msg := range word {
			if codec.Counts(p.parts.Protocol, ct.message, ct.news, msg) {
				tuple[i]++
			}
		}
		if ct.clamp {
			tuple[i] = min(tuple[i], 1)
		}
	}
	return c.Number(tuple)
}

// load puts the classes into the frame; false if one is irrelevant.
func (p *Predicate) load(procs, chans []uint32) bool {
	for i := range p.procs {
		c := &p.procs[i]
		class := procs[p.parts.Machine(i)]
		if class == Irrelevant {
			return false
		}
		if class == 0 {
			continue
		}
		tuple := c.Tuples[class]
		at := 0
		for _, a := range c.atoms {
			n := 1 + a.expr.Node().Slots
			copy(p.frame[a.at:a.at+n], tuple[at:at+n])
			at += n
		}
		if c.whole {
			p.eval.Instances[i] = tuple[at+len(c.held):]
		}
	}
	for _, s := range p.sums {
		n := int64(0)
		for _, t := range s.terms {
			n += p.chans[t[0]].Tuples[chans[t[0]]][t[1]]
		}
		for _, t := range s.held {
			c := &p.procs[t[0]]
			tuple := c.Tuples[procs[t[0]]] // monitors hold nothing
			n += tuple[len(tuple)-c.tail()+t[1]]
		}
		p.frame[s.at] = n
	}
	return true
}

// tail is how many slots of a tuple what is held and the value take.
func (c *procClasses) tail() int {
	n := len(c.held)
	if c.whole {
		n += c.size
	}
	return n
}

// bool evaluates one expression over the frame. A fault is remembered and counts as false.
func (p *Predicate) bool(e core.Expr) bool {
	v, err := p.eval.Bool(e, nil, p.frame)
	if err == nil {
		return v
	}
	if p.Fault == nil {
		p.Fault = err
		if ev, ok := err.(*interp.EvalError); ok && p.faults[ev.Span] != nil {
			p.Fault = p.faults[ev.Span]
		}
	}
	return false
}

// Relevant reports whether all guards hold.
func (p *Predicate) Relevant(procs, chans []uint32) bool {
	if !p.load(procs, chans) {
		return false
	}
	for _, g := range p.guards {
		if !p.bool(g) {
			return false
		}
	}
	return true
}

// Holds evaluates the whole predicate.
func (p *Predicate) Holds(procs, chans []uint32) bool {
	before := p.Fault
	if !p.Relevant(procs, chans) {
		return p.form != Need && p.Fault == before
	}
	return p.body == nil || p.bool(p.body)
}

// When evaluates the first half of what NewApart cut; one that faults does not hold.
func (p *Predicate) When(procs, chans []uint32) bool {
	return p.load(procs, chans) && p.bool(p.guards[0])
}

// Goal evaluates the second half.
func (p *Predicate) Goal(procs, chans []uint32) bool {
	return p.load(procs, chans) && p.bool(p.body)
}

// Says evaluates both halves.
func (p *Predicate) Says(procs, chans []uint32) (when, goal bool) {
	if !p.load(procs, chans) {
		return false, false
	}
	return p.bool(p.guards[0]), p.bool(p.body)
}
