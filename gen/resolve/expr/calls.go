package expr

import (
	"maps"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/convert"
	"github.com/parley-go/parley/gen/resolve/types"
	"github.com/parley-go/parley/gen/syntax"
)

// function describes a built-in function.
type function struct {
	fn   model.Builtin
	args int
	use  string // for messages
	do   func(s *Resolver, n *syntax.Call, want *model.Type) ([]model.Expr, *model.Type)
}

var functions map[string]function

func init() {
	functions = map[string]function{
		"len":       {model.FnLen, 1, "len(list), len(set) or len(text)", (*Resolver).fnLen},
		"min":       {model.FnMin, 2, "min(a, b)", (*Resolver).fnMinMax},
		"max":       {model.FnMax, 2, "max(a, b)", (*Resolver).fnMinMax},
		"append":    {model.FnAppend, 2, "append(list, x)", (*Resolver).fnAppend},
		"tail":      {model.FnTail, 1, "tail(list)", (*Resolver).fnTail},
		"first":     {model.FnFirst, 1, "first(list)", (*Resolver).fnFirst},
		"contains":  {model.FnContains, 2, "contains(list, x)", (*Resolver).fnContains},
		"with":      {model.FnWith, 2, "with(set, x)", (*Resolver).fnWith},
		"without":   {model.FnWithout, 2, "without(set, x)", (*Resolver).fnWithout},
		"union":     {model.FnUnion, 2, "union(set, set)", (*Resolver).fnSets},
		"minus":     {model.FnMinus, 2, "minus(set, set)", (*Resolver).fnSets},
		"intersect": {model.FnIntersect, 2, "intersect(set, set)", (*Resolver).fnSets},
		"if":        {model.FnIf, 3, "if(condition, a, b)", (*Resolver).fnIf},
	}
}

func (s *Resolver) call(n *syntax.Call, base model.ExprBase, want *model.Type) model.Expr {
	if e, isChannel := s.channelCall(n, base); isChannel {
		return e
	}
	if e, isMap := s.mapCall(n); isMap {
		return e
	}
	if e, isPast := s.past(n, base); isPast {
		return e
	}
	f, ok := functions[n.Fn]
	if !ok {
		if n.Fn == "not" {
			s.Errorf("FSM020", n.FnPos, "not is not an operator; write !")
			return nil
		}
		if own := elsewhere[n.Fn]; own != "" {
			s.Errorf("FSM026", n.FnPos, "there is no function %s", diag.Quote(n.Fn)).With("write " + diag.Quote(own))
			return nil
		}
		names := append(slices.Sorted(maps.Keys(functions)), "all", "some", "count", "empty")
		s.UnknownAt("FSM026", n.FnPos, n.Fn, "function", names)
		return nil
	}
	if len(n.Args) != f.args {
		s.Errorf("FSM026", n.Pos(), "%s takes %d argument%s, not %d", diag.Quote(n.Fn), f.args,
			diag.Plural(f.args), len(n.Args)).
			With("write " + f.use)
		return nil
	}
	args, t := f.do(s, n, want)
	if t == nil {
		return nil
	}
	base.T = t
	e := &model.Call{ExprBase: base, Fn: f.fn, Args: args}
	s.Carry(e, args...)
	return e
}

// measured resolves an argument that has a length: a list, set, text or bytes.
func (s *Resolver) measured(n syntax.Node) model.Expr {
	x := s.Expr(n, nil)
	if x == nil {
		return nil
	}
	if x.Type() != nil {
		x = s.Present(x)
	}
	switch t := x.Type(); {
	case t != nil && (t.Kind == model.KindList || t.Kind == model.KindSet || t.Kind == model.KindBytes):
		return x
	default:
		s.Errorf("FSM023", n.Pos(), "a list, set, text or bytes is needed here, not %s", types.Describe(t))
	}
	return nil
}

// collection resolves an argument that must be a list, or, with sets, a list or a set.
func (s *Resolver) collection(n syntax.Node, want *model.Type, sets bool) model.Expr {
	_, hint := types.ElemOf(want)
	x := s.Expr(n, hint)
	if x == nil {
		return nil
	}
	if x.Type() != nil {
		x = s.Present(x)
	}
	t := x.Type()
	if t != nil && (t.Kind == model.KindList || sets && t.Kind == model.KindSet) {
		return x
	}
	what := "a list"
	if sets {
		what = "a list or a set"
	}
	s.Errorf("FSM023", n.Pos(), "%s is needed here, not %s", what, types.Describe(t))
	return nil
}

func (s *Resolver) fnLen(n *syntax.Call, _ *model.Type) ([]model.Expr, *model.Type) {
	x := s.measured(n.Args[0])
	if x == nil {
		return nil, nil
	}
	t := x.Type()
	if t.Kind == model.KindSet {
		return []model.Expr{x}, types.Int(0, t.Elem.Count())
	}
	return []model.Expr{x}, types.Int(0, int64(t.Cap))
}

func (s *Resolver) fnMinMax(n *syntax.Call, _ *model.Type) ([]model.Expr, *model.Type) {
	x, y := s.Number(n.Args[0]), s.Number(n.Args[1])
	if x == nil || y == nil {
		return nil, nil
	}
	return []model.Expr{x, y}, ofTwo(n.Fn, x, y)
}

// ofTwo is the type of the smaller, or with max the greater, of two numbers.
func ofTwo(fn string, x, y model.Expr) *model.Type {
	op := core.Min
	if fn == "max" {
		op = core.Max
	}
	return types.Int(types.Bounds(op, x.Type(), y.Type()))
}

// Clamped is a number, or the end of the range of t that it is beyond.
func Clamped(x model.Expr, t *model.Type) model.Expr {
	from := x.Type()
	if from == nil || from.Kind != model.KindInt || from.Lo >= t.Lo && from.Hi <= t.Hi {
		return x
	}
	bound := func(fn string, x model.Expr, n int64) model.Expr {
		end := &model.Lit{ExprBase: model.ExprBase{T: types.Int(n, n), Span: x.Pos()}, Value: n}
		base := model.ExprBase{T: ofTwo(fn, x, end), Span: x.Pos()}
		return &model.Call{ExprBase: base, Fn: functions[fn].fn, Args: []model.Expr{x, end}}
	}
	return bound("max", bound("min", x, t.Hi), t.Lo)
}

func (s *Resolver) fnAppend(n *syntax.Call, want *model.Type) ([]model.Expr, *model.Type) {
	x := s.collection(n.Args[0], want, false)
	if x == nil {
		return nil, nil
	}
	y := s.Value(n.Args[1], x.Type().Elem)
	if y == nil {
		return nil, nil
	}
	return []model.Expr{x, y}, x.Type()
}

func (s *Resolver) fnTail(n *syntax.Call, want *model.Type) ([]model.Expr, *model.Type) {
	x := s.collection(n.Args[0], want, false)
	if x == nil {
		return nil, nil
	}
	return []model.Expr{x}, x.Type()
}

func (s *Resolver) fnFirst(n *syntax.Call, _ *model.Type) ([]model.Expr, *model.Type) {
	x := s.collection(n.Args[0], nil, false)
	if x == nil {
		return nil, nil
	}
	return []model.Expr{x}, x.Type().Elem
}

func (s *Resolver) fnContains(n *syntax.Call, _ *model.Type) ([]model.Expr, *model.Type) {
	x := s.collection(n.Args[0], nil, true)
	if x == nil {
		return nil, nil
	}
	y := s.Expr(n.Args[1], x.Type().Elem)
	if y != nil {
		y = s.Searched(y, x.Type().Elem)
	}
	if y == nil {
		return nil, nil
	}
	return []model.Expr{x, y}, types.Bool
}

func (s *Resolver) fnWith(n *syntax.Call, want *model.Type) ([]model.Expr, *model.Type) {
	x := s.collection(n.Args[0], want, true)
	if x == nil {
		return nil, nil
	}
	if x.Type().Kind != model.KindSet {
		s.Errorf("FSM023", n.Args[0].Pos(), "with() is for sets; for lists there is append()")
		return nil, nil
	}
	y := s.Value(n.Args[1], x.Type().Elem)
	if y == nil {
		return nil, nil
	}
	return []model.Expr{x, y}, x.Type()
}

func (s *Resolver) fnWithout(n *syntax.Call, want *model.Type) ([]model.Expr, *model.Type) {
	x := s.collection(n.Args[0], want, true)
	if x == nil {
		return nil, nil
	}
	y := s.Expr(n.Args[1], x.Type().Elem)
	if y != nil {
		y = s.Searched(y, x.Type().Elem)
	}
	if y == nil {
		return nil, nil
	}
	return []model.Expr{x, y}, x.Type()
}

func (s *Resolver) fnIf(n *syntax.Call, want *model.Type) ([]model.Expr, *model.Type) {
	c := s.Cond(n.Args[0])
	var a, b model.Expr
	if want != nil {
		a, b = s.Value(n.Args[1], want), s.Value(n.Args[2], want)
		if c == nil || a == nil || b == nil {
			return nil, nil
		}
		return []model.Expr{c, a, b}, want
	}
	if s.vague(n.Args[1]) && !s.vague(n.Args[2]) {
		if b = s.Expr(n.Args[2], nil); b != nil {
			a = s.Expr(n.Args[1], b.Type())
		}
	} else if a = s.Expr(n.Args[1], nil); a != nil {
		b = s.Expr(n.Args[2], a.Type())
	}
	if c == nil || a == nil || b == nil {
		return nil, nil
	}
	t := s.CommonType(a, b)
	if t == nil {
		d := s.Errorf("FSM024", n.Pos(), "one side is %s, the other %s", types.Describe(a.Type()),
			types.Describe(b.Type()))
		if convert.Member(a.Type(), b.Type()) || convert.Member(b.Type(), a.Type()) {
			d.With(convert.OneMember)
		}
		return nil, nil
	}
	if a, b = s.Coerce(a, t), s.Coerce(b, t); a == nil || b == nil {
		return nil, nil
	}
	return []model.Expr{c, a, b}, t
}

// channelCall resolves len and empty where they are about channels. isChannel is false if the call
// is about something else.
func (s *Resolver) channelCall(n *syntax.Call, base model.ExprBase) (e model.Expr, isChannel bool) {
	if n.Fn != "len" && n.Fn != "empty" {
		return nil, false
	}
	if n.Fn == "len" && !s.aboutChannel(n) {
		return nil, false
	}
	if s.Instances == nil && !s.Environment {
		s.Errorf("FSM026", n.Pos(), "channels can be looked at only in claims and in the environment's rules")
		return nil, true
	}
	c := &model.ChanLen{ExprBase: model.ExprBase{T: types.Int(0, 1<<20), Span: base.Span}}
	if len(n.Args) > 2 || s.Environment && len(n.Args) == 0 {
		s.Errorf("FSM026", n.Pos(), "write %s", s.channelUse(n.Fn))
		return nil, true
	}
	if len(n.Args) > 0 && !s.channelEnds(n.Args[0], c, n.Fn) {
		return nil, true
	}
	if len(n.Args) > 1 && !s.channelMessage(n.Args[1], c) {
		return nil, true
	}
	if n.Fn == "len" {
		return c, true
	}
	c.News = !s.Environment && c.Message == nil
	zero := &model.Lit{ExprBase: model.ExprBase{T: types.Int(0, 0), Span: base.Span}}
	base.T = types.Bool
	return &model.Binary{ExprBase: base, Op: model.OpEq, X: c, Y: zero}, true
}

func (s *Resolver) channelUse(fn string) string {
	if s.Environment {
		return diag.Quote(fn+"(out)") + " or " + diag.Quote(fn+"(in, MESSAGE)")
	}
	return diag.Quote(fn+"()") + " or " + diag.Quote(fn+"(a -> b)")
}

// aboutChannel tells len(a -> b), len() and len(out) from the length of a list.
func (s *Resolver) aboutChannel(n *syntax.Call) bool {
	if len(n.Args) == 0 || len(n.Args) == 2 {
		return true
	}
	switch x := n.Args[0].(type) {
	case *syntax.Arrow:
		return true
	case *syntax.Ident:
		return s.Environment && (x.Name == "in" || x.Name == "out")
	}
	return false
}

func (s *Resolver) channelEnds(n syntax.Node, c *model.ChanLen, fn string) bool {
	if s.Environment {
		if id, ok := n.(*syntax.Ident); ok && (id.Name == "in" || id.Name == "out") {
			c.Self, c.Out = true, id.Name == "out"
			return true
		}
	} else if a, ok := n.(*syntax.Arrow); ok {
		c.From, c.To = s.End(a.X), s.End(a.Y)
		return c.From != nil && c.To != nil
	}
	s.Errorf("FSM026", n.Pos(), "write %s", s.channelUse(fn))
	return false
}

// End resolves one end of a channel, which is an instance.
func (s *Resolver) End(n syntax.Node) *model.Instance {
	if ix, ok := n.(*syntax.Index); ok {
		if g, isName := ix.X.(*syntax.Ident); isName && s.Groups[g.Name] != nil {
			s.Refer(g.Pos(), s.Groups[g.Name].At)
			if in := s.instanceIndex(s.Groups[g.Name], ix.Args, n.Pos()); in != nil {
				return in.Model
			}
			return nil
		}
	}
	id, ok := n.(*syntax.Ident)
	if !ok {
		s.Errorf("FSM023", n.Pos(), "an end of a channel is an instance")
		return nil
	}
	if b := s.BoundTo(id.Name); b != nil && b.Instance != nil {
		s.Refer(id.Pos(), b.At)
		return b.Instance.Model
	}
	if in := s.Instances[id.Name]; in != nil {
		s.Refer(id.Pos(), in.Model.Span)
		return in.Model
	}
	s.UnknownAt("FSM021", id.Pos(), id.Name, "instance", slices.Sorted(maps.Keys(s.Instances)))
	return nil
}

func (s *Resolver) channelMessage(n syntax.Node, c *model.ChanLen) bool {
	id, ok := n.(*syntax.Ident)
	if !ok {
		s.Errorf("FSM023", n.Pos(), "the name of a message is needed here")
		return false
	}
	var channels []string
	for k, ch := range s.Protocol.Channels() {
		if ch.Name == id.Name && ch.Name != "" {
			c.Over, c.Class = ch.Name, k
			s.Refer(id.Pos(), ch.Span)
			return true
		}
		channels = append(channels, ch.Name)
	}
	messages := s.Root.Get("messages").Keys()
	c.Message = s.Messages[id.Name]
	switch {
	case c.Message == nil && s.Protocol.Several() && diag.Nearest(id.Name, messages) == "":
		hint := diag.DidYouMean(id.Name, channels)
		if hint == "" {
			hint = "the channels are " + diag.QuoteAll(channels)
		}
		s.Errorf("FSM060", id.Pos(), "there is no message or channel %s", diag.Quote(id.Name)).With(hint)
		return false
	case c.Message == nil:
		s.UnknownAt("FSM060", id.Pos(), id.Name, "message", messages)
		return false
	}
	s.Refer(id.Pos(), c.Message.Span)
	return true
}

// fnSets resolves union, minus and intersect.
func (s *Resolver) fnSets(n *syntax.Call, want *model.Type) ([]model.Expr, *model.Type) {
	if elem, t := types.ElemOf(want); elem != nil && t.Kind == model.KindSet {
		want = t
	} else {
		want = nil
	}
	args := make([]model.Expr, 2)
	order := []int{0, 1}
	if s.vague(n.Args[0]) && !s.vague(n.Args[1]) {
		order = []int{1, 0} // the second says of what the first is
	}
	for _, i := range order {
		x := s.Expr(n.Args[i], want)
		if x == nil {
			return nil, nil
		}
		if x.Type() != nil {
			x = s.Present(x)
		}
		t := x.Type()
		if t == nil || t.Kind != model.KindSet {
			s.Errorf("FSM023", n.Args[i].Pos(), "a set is needed here, not %s", types.Describe(t))
			return nil, nil
		}
		if args[i] = x; want == nil {
			want = t
		}
	}
	for i, a := range args {
		if !types.Compatible(a.Type(), want) {
			s.Errorf("FSM024", n.Args[i].Pos(), "this is %s, but %s is needed",
				types.Describe(a.Type()), types.Describe(want))
			return nil, nil
		}
	}
	return args, want
}

// mapCall resolves functions whose argument is a map. isMap is false if the call is about
// something else.
func (s *Resolver) mapCall(n *syntax.Call) (e model.Expr, is bool) {
	if len(n.Args) == 0 || n.Fn != "len" && n.Fn != "contains" && n.Fn != "with" && n.Fn != "without" {
		return nil, false
	}
	m := s.quietly(n.Args[0])
	if m == nil || !types.IsMap(m.Type()) {
		return nil, false
	}
	switch n.Fn {
	case "len":
		if len(n.Args) > 1 {
			return nil, false
		}
		m = s.Present(s.Expr(n.Args[0], nil))
		index := m.Type().Index
		l := &model.Local{Name: "key", Type: index, Offset: s.Slots}
		s.Slots++
		g := convert.Loop{Values: index, Var: index, Map: m}
		base := model.ExprBase{T: types.Int(0, index.Count()), Span: n.Pos()}
		c := &model.Find{ExprBase: base, Count: true, Local: l, Values: index,
			X: s.AmongKeys(&g, l, nil, false)}
		s.Carry(c, c.X)
		return s.KeepWords(c, n), true
	case "contains":
		s.Errorf("FSM023", n.Pos(), "contains() is for lists and sets").
			With("of a map write `key in map`")
	case "with":
		s.Errorf("FSM023", n.Pos(), "with() is for sets").
			With("a map gets an entry by `set: {\"map[key]\": value}`")
	case "without":
		s.Errorf("FSM023", n.Pos(), "without() is for lists and sets").
			With("a map loses an entry by `set: {\"map[key]\": none}`")
	}
	return nil, true
}

// quietly resolves an expression to see what it is. It reports nothing and notes nothing.
func (s *Resolver) quietly(n syntax.Node) model.Expr {
	switch n.(type) {
	case *syntax.Ident, *syntax.Select, *syntax.Index:
	default:
		return nil
	}
	before := s.Collector
	s.Collector = &diag.Collector{}
	defer s.Mute()()
	defer func() { s.Collector = before }()
	if f := s.ref(n, nil); f.e != nil && f.e.Type() != nil {
		return s.Present(f.e)
	}
	return nil
}

// elsewhere are names that other languages give to functions, and what to write.
var elsewhere = map[string]string{"add": "with", "insert": "with", "remove": "without", "delete": "without",
	"difference": "minus", "length": "len", "size": "len"}
