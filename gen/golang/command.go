package golang

import (
	"slices"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// commandText composes Runner.Command, which reads the text of a command as AppendEvent writes it.
func (g *gen) commandText(r *types.Machine) []*gotree.Func {
	var cases []*gotree.Case
	var all []gotree.Expr
	names := commandNames(r)
	for _, e := range r.Events {
		if e.Ev.Kind != model.EventCommand {
			continue
		}
		word := gotree.Str(e.Ev.Name)
		all = append(all, word)
		c := &gotree.Case{List: []gotree.Expr{word}}
		name := names[slices.Index(r.M.Commands, e.Ev)]
		if len(e.Ev.Fields) == 0 {
			c.Body = gotree.S("give = r.$1", name)
		} else {
			var args []gotree.Expr
			for _, f := range e.Fields {
				args = append(args, gotree.X("c.$1", f))
			}
			c.Body = gotree.S("var c $1\n$2\ngive = func() fsm.Result { return r.$3($4) }", e.Typ,
				g.readFields(e.Ev.Fields, gotree.X("c"), e.Fields), name, args)
		}
		cases = append(cases, c)
	}
	g.Helpers["refused"] = true
	code := gotree.S("return refused(fsm.NoTransition), s.UnknownCommand(s.Name())")
	var more []*gotree.Func
	if len(all) > 0 {
		cases = append(cases, &gotree.Case{Body: gotree.S("return refused(fsm.NoTransition), "+
			"s.UnknownCommand(name, $1)", all)})
		names := &gotree.Switch{Init: gotree.S("name := s.Name()")[0], Tag: gotree.X("name"), Cases: cases}
		more = g.shortenCommand(r, names)
		code = gotree.S(`var give func() fsm.Result
			$1
			if err := s.End(); err != nil {
				return refused(fsm.NoTransition), err
			}
			return give(), nil`, gotree.Stmt(names))
	}
	f := gotree.F("func (r *$1) Command(text string) (fsm.Result, error) {\ns := wire.NewScanner(text)\n$2\n}",
		r.Runner, code)
	f.Doc = base.Comment("Command",
		"implements fsm.Commander: it gives a command as text, in the form that AppendEvent writes. If the text is "+
			"none, the error says what is wrong with it, and nothing has happened.")
	return append([]*gotree.Func{f}, more...)
}

// shortenCommand makes functions of the longest cases, until the rest is short enough.
func (g *gen) shortenCommand(r *types.Machine, names *gotree.Switch) []*gotree.Func {
	var out []*gotree.Func
	for gotree.Lines([]gotree.Stmt{names}) > base.Longest-12 {
		c := slices.MaxFunc(names.Cases, func(a, b *gotree.Case) int {
			return gotree.Lines(a.Body) - gotree.Lines(b.Body)
		})
		n := len(c.Body)
		if n < 4 {
			break
		}
		typ := c.Body[0].(*gotree.Var).Type
		f := gotree.F("func $1(s *wire.Scanner) (c $2) {\n$3\nreturn c\n}", g.Top.Take("read"+gotree.Text(typ)), typ,
			c.Body[1:n-1])
		f.Doc = base.Comment(f.Name, "reads the fields of a command.")
		out = append(out, f)
		c.Body = append(gotree.S("c := $1(s)", f.Name), c.Body[n-1])
	}
	return out
}

// readFields composes statements that read `{name: value, …}` into the fields of at.
func (g *gen) readFields(fields []*model.Field, at gotree.Expr, names []string) []gotree.Stmt {
	var out gotree.Block
	from := gotree.X("s.Open('{')")
	for i, f := range fields {
		out.Add(g.read(gotree.X("$1.Field($2)", from, gotree.Str(f.Name)), f.Type, gotree.X("$1.$2", at, names[i]))...)
		from = gotree.X("s")
	}
	if len(fields) == 0 {
		out.P("$1", from)
	}
	out.P("s.Close('}')")
	return out.List
}

// read composes statements that read x, of type t, from a scanner.
func (g *gen) read(from gotree.Expr, t *model.Type, x gotree.Expr) []gotree.Stmt {
	gt := g.Typ(t, "")
	switch t.Kind {
	case model.KindBool:
		return gotree.S("$1 = $2.Bool()", x, from)
	case model.KindOpaque:
		return gotree.S("$1 = $2($3.Uint($4))", x, gt.X, from, ^uint64(0)>>(64-max(t.Bits, 8)))
	case model.KindInt, model.KindNode:
		return gotree.S("$1 = $2($3.Int($4, $5))", x, gt.X, from, t.Lo, t.Hi)
	case model.KindBytes:
		return gotree.S("$1, _ = $2($3.Text($4))", x, g.Maker(gt.Name), from, t.Cap)
	case model.KindOptional:
		return gotree.S("if !$1.None() {\n$2\n$3.Present = true\n}", from,
			g.read(gotree.X("s"), t.Elem, gotree.X("$1.Value", x)), x)
	}
	if k := types.Key(t); !g.readers[k] {
		g.readers[k] = true
		g.readOrder = append(g.readOrder, gt)
	}
	return gotree.S("$1($2, &$3)", g.readFunc(gt), from, x)
}

// readFunc returns the name of the function that reads a type.
func (g *gen) readFunc(gt *types.Type) string {
	return g.Top.Own("read "+types.Key(gt.T), "read"+textName(gt))
}

// typeReader composes the function that reads a type.
func (g *gen) typeReader(gt *types.Type) *gotree.Func {
	s := gotree.X("s")
	var code []gotree.Stmt
	switch gt.T.Kind {
	case model.KindEnum:
		code = gotree.S("*v = $1(s.Word($2))", gt.X, texts(gt.T.Names))
	case model.KindRecord:
		code = g.readFields(gt.T.Fields, gotree.X("v"), gt.Fields)
	case model.KindList:
		code = gotree.S(`for s.Open('['); s.Next(']'); v.Len++ {
			if int(v.Len) >= len(v.Items) {
				s.Failf("a list of at most %d has no room for more", len(v.Items))
				return
			}
			$1
		}`, g.read(s, gt.T.Elem, gotree.X("v.Items[v.Len]")))
	case model.KindArray:
		code = gotree.S(`s.Open('[')
		for i := range v {
			if !s.Next(']') {
				s.Failf("want %d elements, not %d", len(v), i)
				return
			}
			$1
		}
		s.Close(']')`, g.read(s, gt.T.Elem, gotree.X("v[i]")))
	case model.KindSet:
		code = gotree.S(`for s.Open('['); s.Next(']'); {
			var x $1
			$2
			if s.Err() == nil {
				$3
			}
		}`, g.Typ(gt.T.Elem, "").X, g.read(s, gt.T.Elem, gotree.X("x")), addMember(gt.T.Elem))
	}
	return gotree.F("func $1(s *wire.Scanner, v *$2) {\n$3\n}", g.readFunc(gt), gt.X, code)
}

// texts returns constants for texts.
func texts(list []string) []gotree.Expr {
	out := make([]gotree.Expr, len(list))
	for i, s := range list {
		out[i] = gotree.Str(s)
	}
	return out
}

// addMember composes the statement that adds x to the set v.
func addMember(t *model.Type) []gotree.Stmt {
	switch {
	case t.Kind == model.KindBool:
		return gotree.S("if x {\n*v |= 2\n} else {\n*v |= 1\n}")
	case t.Lowest() != 0:
		return gotree.S("*v |= 1 << uint64($1)", gotree.Plus(gotree.X("int64(x)"), -t.Lowest()))
	}
	return gotree.S("*v |= 1 << uint64(x)")
}
