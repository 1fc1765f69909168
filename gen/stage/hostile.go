package stage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// What a hostile instance can send: every message of the protocol, with all values of its fields if
// these are few. Else, of each field, with those that the others can be expected to tell apart: what their
// expressions name, what they have in the beginning, and where their comparisons turn over then.
const (
	allOf  = 64      // so many values of a part of a message are all tried
	mostOf = 1 << 13 // so many of one message at most
)

// Forgery is a message that a hostile instance can send.
type Forgery struct {
	Message *model.Message
	Slots   []int64
}

// Hostile knows what the hostile instances of a check can send.
type Hostile struct {
	protocol *model.Protocol
	check    *model.Check
	strs     *interp.Strings
	frames   *Frames
	plays    *talk      // how it would be if all kept to their roles
	known    *knowledge // nil until it is asked for
}

// NewHostile is about the hostile instances of a check. What it needs it finds out once, when it is first
// asked for that. Texts that machines name are put among strs.
func NewHostile(p *model.Protocol, c *model.Check, strs *interp.Strings) *Hostile {
	return &Hostile{protocol: p, check: c, strs: strs, frames: NewFrames(p, strs)}
}

// Forgeries lists what a hostile instance of the check can send to another: nothing, if by their roles
// neither ever sends the other something. So a client of a server does not reach the others: it has no
// connection there. left says which values it leaves out, in words. What has no frame is left out, for
// nobody can send it. A message that the receiver's role mentions nowhere is refused whatever is in it, so it
// comes once. The error is for messages with too many values.
func (x *Hostile) Forgeries(from, to *model.Instance) (list []Forgery, left []string, err error) {
	if x.plays == nil {
		x.plays = kept(x.check)
	}
	if !x.plays.between(from.Index, to.Index) {
		return nil, nil, nil
	}
	k := x.knows()
	f := &forger{strs: x.strs, texts: k.texts}
	for _, m := range x.protocol.Messages {
		first := make([]int64, interp.FieldSlots(m.Fields))
		all := &model.Type{Kind: model.KindRecord, Fields: m.Fields}
		if interp.Zero(all, first); !mentions(to.Role, m) {
			list = append(list, Forgery{m, first})
			continue
		}
		f.some = nil
		values := [][]int64{{}}
		for _, field := range m.Fields {
			f.numbers, f.name = k.numbers(m.Name, field.Name), field.Name
			values = f.beside(values, f.values(field.Type))
		}
		if len(values) > mostOf || f.many {
			return nil, nil, fmt.Errorf("%s: a hostile instance could send more than %d different %s; "+
				"give the types of its fields smaller domains in the check",
				m.Span, mostOf, m.Name)
		}
		for _, v := range values {
			if x.frames.Refuses(m, v) == "" {
				list = append(list, Forgery{m, v})
			}
		}
		if len(f.some) > 0 {
			left = append(left, m.Name+" with "+strings.Join(f.some, ", "))
		}
	}
	return list, left, nil
}

// knows finds out once what honest machines know.
func (x *Hostile) knows() *knowledge {
	if x.known == nil {
		x.known = known(x.check)
	}
	return x.known
}

// SendsNamed reports whether hostile instances send texts beside those of the domains.
func (x *Hostile) SendsNamed() bool { return x.check.HasHostile() && len(x.knows().texts) > 0 }

// mentions reports whether some state of a machine mentions a message.
func mentions(m *model.Machine, x *model.Message) bool {
	for _, st := range m.States {
		for _, h := range st.Handlers {
			if h != nil && h.Event.Kind == model.EventMessage && h.Event.Message.Name == x.Name {
				return true
			}
		}
	}
	return false
}

// knowledge is what the honest machines of a check know of numbers.
type knowledge struct {
	// all are the numbers in their expressions. of are, by field of a message, those that the field is
	// compared with, and others tells the fields that are used in another way, too.
	all    []int64
	texts  []string // that they name
	of     map[field][]int64
	others map[field]bool
}

// field is a field of a message by name.
type field struct{ message, name string }

// known collects what the honest machines of a check know.
func known(c *model.Check) *knowledge {
	k := &knowledge{of: map[field][]int64{}, others: map[field]bool{}}
	var roles []*model.Machine
	for _, i := range c.Instances {
		if !i.IsHostile() {
			roles = append(roles, i.Role)
		}
	}
	fields := map[*model.Local]field{}
	for _, m := range core.Machines(roles...) {
		for _, t := range m.Model.Transitions {
			for i, l := range t.Params {
				if t.Event.Kind == model.EventMessage {
					fields[l] = field{t.Event.Message.Name, t.Event.Fields[i].Name}
				}
			}
		}
		m.Each(func(core.Stmt) {}, func(e core.Expr) { k.look(e, fields) })
	}
	for _, i := range c.Instances {
		if !i.IsHostile() {
			k.initially(i, fields)
			for _, e := range i.Args {
				k.look(core.Of(e), fields)
			}
		}
	}
	return k
}

// initially notes the numbers that an instance has in the beginning, its parameters among them, and where the
// comparisons of its machines turn over then. That finds numbers behind arithmetic.
func (k *knowledge) initially(i *model.Instance, fields map[*model.Local]field) {
	strs := &interp.Strings{}
	args, err := Arguments(i, i.Role, strs)
	if err != nil {
		return // whoever builds the instance reports it
	}
	machines := core.Machines(i.Role)
	value, err := interp.Begin(machines[0], strs, args...)
	if err != nil {
		return
	}
	for _, n := range value[1:] {
		if n < -1 || n > 1 {
			k.all = append(k.all, n-1, n, n+1)
		}
	}
	eval, left := &interp.Eval{Strings: strs}, mostTried
	for _, m := range machines {
		v, own := value, m.Model == i.Role
		if !own { // a part, whose messages have other names
			var zero [][]int64
			for _, p := range m.Model.Params {
				zero = append(zero, make([]int64, p.Type.Slots()))
				interp.Zero(p.Type, zero[len(zero)-1])
			}
			if v, err = interp.Begin(m, strs, zero...); err != nil {
				continue
			}
		}
		m.Each(func(core.Stmt) {}, func(e core.Expr) {
			core.Walk(e, func(e core.Expr) {
				x, ok := e.(*core.Apply)
				if !ok || x.Op < core.Eq || x.Op > core.Ge {
					return
				}
				for _, l := range inside(x, fields) {
					if n := l.Type.Count(); n > allOf && n <= left {
						left -= n
						turns := turning(eval, x, l, v)
						if k.all = append(k.all, turns...); own {
							k.of[fields[l]] = append(k.of[fields[l]], turns...)
						}
					}
				}
			})
		})
	}
}

// mostTried is how many values are tried for the comparisons of one instance.
const mostTried int64 = 1 << 20

// inside lists the numbers among the fields of messages that an expression looks at, in its order.
func inside(e core.Expr, fields map[*model.Local]field) (found []*model.Local) {
	core.Walk(e, func(e core.Expr) {
		if l, ok := e.(*core.Local); ok && l.Local != nil && l.Local.Type.Kind == model.KindInt {
			if _, is := fields[l.Local]; is && !slices.Contains(found, l.Local) {
				found = append(found, l.Local)
			}
		}
	})
	return found
}

// turning lists the values of a local around which a comparison has another result than before, over a
// machine's value; the first of them, if there are many.
func turning(eval *interp.Eval, e core.Expr, l *model.Local, v interp.Value) (out []int64) {
	size := 0
	core.Walk(e, func(e core.Expr) {
		if o, ok := e.(*core.Local); ok && o.Local != nil {
			size = max(size, o.Local.Offset+o.Local.Type.Slots())
		}
	})
	frame, last := make([]int64, size), -1
	for n := l.Type.Lo; n <= l.Type.Hi && len(out) < 2*allOf; n++ {
		frame[l.Offset] = n
		is := 2 // it cannot be told
		if holds, err := eval.Bool(e, v, frame); err == nil {
			is = 0
			if holds {
				is = 1
			}
		}
		if is != last && last >= 0 {
			out = append(out, n-1, n)
		}
		last = is
	}
	return out
}

// look notes the numbers in an expression, and which fields they are compared with.
func (k *knowledge) look(e core.Expr, fields map[*model.Local]field) {
	compared := map[core.Expr]bool{}
	core.Walk(e, func(e core.Expr) {
		switch e := e.(type) {
		case *core.Const:
			switch {
			case !e.IsText:
				k.all = append(k.all, e.Value-1, e.Value, e.Value+1)
			case e.Text != "" && !slices.Contains(k.texts, e.Text):
				k.texts = append(k.texts, e.Text)
			}
		case *core.Local:
			if f, is := fields[e.Local]; is && !compared[e] {
				k.others[f] = true
			}
		case *core.Apply:
			if e.Op < core.Eq || e.Op > core.Ge || len(e.Args) != 2 {
				return
			}
			for i, x := range e.Args {
				l, isLocal := core.Bare(x).(*core.Local)
				n, isConst := core.Bare(e.Args[1-i]).(*core.Const)
				if !isLocal || !isConst || n.IsText {
					continue
				}
				if f, is := fields[l.Local]; is {
					compared[l] = true
					k.of[f] = append(k.of[f], n.Value-1, n.Value, n.Value+1)
				}
			}
		}
	})
}

// numbers are those that matter for a field of a message: those that it is compared with, if nothing
// else is done with it.
func (k *knowledge) numbers(m, name string) []int64 {
	f := field{m, name}
	if list := k.of[f]; len(list) > 0 && !k.others[f] {
		return list
	}
	return k.all
}

// forger makes values of types.
type forger struct {
	name    string   // of the field
	numbers []int64  // that matter for it
	some    []string // of what only some values were made
	strs    *interp.Strings
	texts   []string // that machines name
	many    bool     // there are more than can be listed
}

// only notes that not all values of a type were made.
func (f *forger) only(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(f.some, text) {
		f.some = append(f.some, text)
	}
}

// values lists values of a type: all of them, if they are few.
func (f *forger) values(t *model.Type) [][]int64 {
	if t.Count() <= allOf && (len(f.texts) == 0 || !t.HasText()) {
		return every(t)
	}
	switch t.Kind {
	case model.KindBytes:
		return f.named(t)
	case model.KindRecord:
		out := [][]int64{{}}
		for _, x := range t.Fields {
			out = f.beside(out, f.values(x.Type))
		}
		return out
	case model.KindOptional:
		out := [][]int64{make([]int64, t.Slots())}
		for _, v := range f.values(t.Elem) {
			out = append(out, append([]int64{1}, v...))
		}
		return out
	case model.KindArray:
		f.only("all elements of %s alike but one", f.name)
		return f.array(t)
	case model.KindList:
		f.only("%s empty, of one element, or full of one", f.name)
		return f.list(t)
	case model.KindSet:
		f.only("%s of none, one or all", f.name)
		n := min(t.Elem.Count(), 62)
		out := [][]int64{{0}, {int64(1)<<n - 1}}
		for i := range n {
			out = append(out, []int64{1 << i})
		}
		return out
	}
	return f.scalar(t)
}

// named lists the texts of a domain, and beside them those that machines name.
func (f *forger) named(t *model.Type) (out [][]int64) {
	if t.Count() <= allOf {
		out = every(t)
	} else {
		out = f.scalar(t)
	}
	for _, text := range f.texts {
		v := []int64{f.strs.Intern([]byte(text))}
		if len(text) <= t.Cap && !slices.ContainsFunc(out, func(o []int64) bool { return o[0] == v[0] }) {
			out = append(out, v)
		}
	}
	return out
}

// every lists all values of a type.
func every(t *model.Type) (out [][]int64) {
	v := make([]int64, t.Slots())
	for interp.Zero(t, v); ; {
		out = append(out, slices.Clone(v))
		if !interp.Next(t, v) {
			return out
		}
	}
}

// beside puts each of some values behind each of others.
func (f *forger) beside(a, b [][]int64) (out [][]int64) {
	if f.many = f.many || len(a)*len(b) > mostOf; f.many {
		return a[:1]
	}
	for _, x := range a {
		for _, y := range b {
			out = append(out, slices.Concat(x, y))
		}
	}
	return out
}

// scalar lists the ends of a range and what the machines know of it.
func (f *forger) scalar(t *model.Type) (out [][]int64) {
	end := make([]int64, 1)
	interp.Zero(t, end)
	lo := end[0]
	hi := lo + t.Count() - 1
	list := []int64{lo, hi}
	for _, n := range f.numbers {
		if n > lo && n < hi {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	var texts []string
	for _, n := range list {
		out = append(out, []int64{n})
		texts = append(texts, fmt.Sprint(n))
	}
	if t.Kind != model.KindInt {
		f.only("%s only some", f.name)
		return out
	}
	f.only("%s only %s", f.name, strings.Join(texts, " "))
	return out
}

func (f *forger) array(t *model.Type) (out [][]int64) {
	n, size := int(t.Index.Count()), t.Elem.Slots()
	elems := f.values(t.Elem)
	for _, v := range elems {
		out = append(out, slices.Repeat(v, n))
	}
	for i := range n {
		for _, v := range elems[1:] {
			x := slices.Repeat(elems[0], n)
			copy(x[i*size:], v)
			out = append(out, x)
		}
	}
	f.many = f.many || len(out) > mostOf
	return out
}

func (f *forger) list(t *model.Type) [][]int64 {
	out := [][]int64{make([]int64, t.Slots())}
	for _, v := range f.values(t.Elem) {
		one := make([]int64, t.Slots())
		one[0] = 1
		copy(one[1:], v)
		out = append(out, one)
		if t.Cap > 1 {
			out = append(out, append([]int64{int64(t.Cap)}, slices.Repeat(v, t.Cap)...))
		}
	}
	return out
}
