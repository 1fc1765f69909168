package resolve

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// constant is a named integer, evaluated when first needed.
type constant struct {
	m     *model.Const
	value *ast.Node
	state progress
}

// progress is how far a lazily resolved declaration is.
type progress uint8

const (
	untouched progress = iota
	busy
	done
	failed
)

func (r *resolver) declareConsts() {
	n := r.root.Get("consts")
	if n != nil {
		for _, e := range n.Entries {
			c := &constant{m: &model.Const{Name: e.Key.Text, Span: e.Key.Span()}, value: e.Value}
			if e.Value.Kind == ast.Map {
				c.value, c.m.Doc = e.Value.Get("value"), textOf(e.Value, "doc")
				if c.value == nil {
					r.Errorf("FSM009", e.Key.Span(), "constant %s has no `value`", diag.Quote(e.Key.Text))
					c.state = failed
				}
			}
			r.consts[e.Key.Text] = c
			r.p.Consts = append(r.p.Consts, c.m)
		}
	}
	r.replaceConsts()
	for _, m := range r.p.Consts {
		r.constValue(r.consts[m.Name])
	}
}

// replaceConsts applies the constants of the check and of the configuration.
func (r *resolver) replaceConsts() {
	if cs := r.check.Get("consts"); cs != nil {
		for _, e := range cs.Entries {
			c := r.consts[e.Key.Text]
			if c == nil {
				r.unknown("FSM021", e.Key, "constant", r.root.Get("consts").Keys())
				continue
			}
			c.value = e.Value
			r.refer(e.Key.Span(), c.m.Span)
			r.use(c.m.Span)
		}
	}
	for _, m := range r.p.Consts {
		if v, ok := r.cfg.Consts[m.Name]; ok {
			c := r.consts[m.Name]
			c.m.Value, c.state = v, done
		}
	}
	for _, name := range sortedKeys(r.cfg.Consts) {
		if r.consts[name] == nil {
			r.Errorf("FSM086", r.root.Src.Span(0, 0), "there is no constant %s to replace", diag.Quote(name)).
				With(diag.DidYouMean(name, r.root.Get("consts").Keys()))
		}
	}
}

func (r *resolver) constValue(c *constant) (int64, bool) {
	switch c.state {
	case done:
		return c.m.Value, true
	case failed:
		return 0, false
	case busy:
		r.Errorf("FSM043", c.m.Span, "constant %s depends on itself", diag.Quote(c.m.Name))
		c.state = failed
		return 0, false
	}
	c.state = busy
	v, ok := r.constIn(c.value, -model.MaxConst, model.MaxConst, "constant "+diag.Quote(c.m.Name))
	if c.state == failed || !ok {
		c.state = failed
		return 0, false
	}
	c.m.Value, c.state = v, done
	return v, true
}

// constIn evaluates a constant integer and checks its range; what names it in messages.
func (r *resolver) constIn(n *ast.Node, lo, hi int64, what string) (int64, bool) {
	x := r.parse(n)
	if x == nil {
		return 0, false
	}
	return r.constNode(x, lo, hi, what)
}

func (r *resolver) constNode(x expr.Node, lo, hi int64, what string) (int64, bool) {
	s := &scope{r: r, constant: true}
	e := s.expr(x, nil)
	if e == nil {
		return 0, false
	}
	v, ok := evalConst(e)
	if !ok || e.Type() == nil || e.Type().Kind != model.KindInt {
		r.Errorf("FSM025", x.Pos(), "%s must be a constant number", what)
		return 0, false
	}
	if v < lo || v > hi {
		r.Errorf("FSM014", x.Pos(), "%s is %d, not within %d..%d", what, v, lo, hi)
		return 0, false
	}
	return v, true
}

// parse reads the expression in a node; lists of YAML are lists of the language.
func (r *resolver) parse(n *ast.Node) expr.Node {
	switch n.Kind {
	case ast.Scalar:
		x, err := expr.Parse(n.Text, n.Part)
		if err != nil {
			r.syntax(err)
			return nil
		}
		return x
	case ast.List:
		var elems []expr.Node
		for _, it := range n.Items {
			x := r.parse(it)
			if x == nil {
				return nil
			}
			elems = append(elems, x)
		}
		return expr.At(n.Span(), elems)
	}
	r.Errorf("FSM008", n.Span(), "an expression is %s, not %s", ast.Scalar, n.Kind).
		With("a literal goes into quotes: \"NAME{field: value}\"")
	return nil
}

func (r *resolver) syntax(err *expr.Error) {
	r.Errorf("FSM020", err.Span, "%s", err.Message).With(err.Hint)
}

// unknown reports a name that means nothing, once.
func (r *resolver) unknown(code string, n *ast.Node, what string, candidates []string) {
	r.unknownAt(code, n.Span(), n.Text, what, candidates)
}

func (r *resolver) unknownAt(code string, at diag.Span, name, what string, candidates []string) {
	d := r.Errorf(code, at, "there is no %s %s", what, diag.Quote(name))
	if hint := diag.DidYouMean(name, candidates); hint != "" {
		d.With(hint)
	} else if len(candidates) > 0 && len(candidates) <= 8 {
		d.With("there " + isAre(len(candidates)) + " " + quoteAll(candidates))
	}
}
