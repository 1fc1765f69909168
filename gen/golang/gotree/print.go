package gotree

import (
	"go/token"
	"strconv"

	"github.com/dave/jennifer/jen"
)

// precedence has the precedence of Go's binary operators.
func precedence(op string) int {
	for _, p := range []struct {
		prec int
		ops  []string
	}{{1, []string{"||"}}, {2, []string{"&&"}}, {3, []string{"==", "!=", "<", "<=", ">", ">="}}, {4,
		[]string{"+", "-", "|", "^"}}} {
		for _, o := range p.ops {
			if o == op {
				return p.prec
			}
		}
	}
	return 5
}

const (
	precUnary   = 6
	precPrimary = 7
)

// Code prints an expression or type.
func Code(e Expr) *jen.Statement { return printer{}.expr(e, 0) }

// printer prints expressions. In the head of a statement a literal needs parentheses, since its brace
// would begin the statement's block.
type printer struct{ head bool }

// expr prints e as an operand of an operator with the precedence prec.
func (p printer) expr(e Expr, prec int) *jen.Statement {
	if p.wants(e, prec) {
		return jen.Parens(printer{}.expr(e, 0))
	}
	switch e := e.(type) {
	case Name:
		if e.Name == "..." {
			return jen.Op("...")
		}
		return jen.Id(e.Name)
	case Qual:
		return jen.Qual(e.Path, e.Name)
	case Lit:
		return literal(e)
	case Sel:
		return p.expr(e.X, precPrimary).Dot(e.Name)
	case Index:
		return p.expr(e.X, precPrimary).Index(Code(e.I))
	case Slice:
		return p.expr(e.X, precPrimary).Index(bounds(e)...)
	case Call:
		args := codes(e.Args)
		if e.Spread {
			args[len(args)-1] = jen.Add(args[len(args)-1]).Op("...")
		}
		return p.expr(e.Fun, precPrimary).Call(args...)
	case Unary:
		return jen.Op(e.Op).Add(p.expr(e.X, precUnary))
	case Binary:
		n := precedence(e.Op)
		return p.expr(e.X, n).Op(e.Op).Add(p.expr(e.Y, n+1))
	case Array:
		if e.Len == nil {
			return jen.Index().Add(Code(e.Elem))
		}
		return jen.Index(Code(e.Len)).Add(Code(e.Elem))
	case Map:
		return jen.Map(Code(e.Key)).Add(Code(e.Elem))
	case Composite:
		return composite(e)
	case Lambda:
		s := results(jen.Func().Params(params(e.Params)...), e.Results)
		if e.Body != nil {
			block(s, e.Body, e.Short)
		}
		return s
	}
	bad("print %T", e)
	return nil
}

// wants reports whether e needs parentheses there.
func (p printer) wants(e Expr, prec int) bool {
	switch e := e.(type) {
	case Binary:
		return precedence(e.Op) < prec
	case Unary:
		return precUnary < prec
	case Array:
		return false
	case Composite:
		return p.head
	case Call: // a pointer type before parentheses
		if u, ok := e.Fun.(Unary); ok {
			_ = u
			return false
		}
	}
	return false
}

// literal prints a constant.
func literal(l Lit) *jen.Statement {
	if l.Name != "" {
		return jen.Id(l.Name)
	}
	switch l.Kind {
	case token.STRING:
		s, err := strconv.Unquote(l.Text)
		if err != nil {
			bad("text %s", l.Text)
		}
		return jen.Lit(s)
	case token.CHAR:
		if r, _, _, err := strconv.UnquoteChar(l.Text[1:], '\''); err == nil {
			return jen.LitRune(r)
		}
	case token.INT:
		if n, err := strconv.Atoi(l.Text); err == nil {
			return jen.Lit(n)
		}
	}
	return jen.Op(l.Text)
}

func codes(list []Expr) []jen.Code {
	out := make([]jen.Code, len(list))
	for i, e := range list {
		out[i] = Code(e)
	}
	return out
}

// bounds prints the bounds of a slice expression.
func bounds(s Slice) []jen.Code {
	one := func(e Expr) jen.Code {
		if e == nil {
			return jen.Empty()
		}
		return Code(e)
	}
	out := []jen.Code{one(s.Low), one(s.High)}
	if s.Max != nil {
		out = append(out, Code(s.Max))
	}
	return out
}

func composite(c Composite) *jen.Statement {
	s := jen.Null()
	if c.Type != nil {
		s = Code(c.Type)
	}
	elems := make([]jen.Code, len(c.Elems))
	for i, e := range c.Elems {
		switch {
		case e.Field != "":
			elems[i] = jen.Id(e.Field).Op(":").Add(Code(e.Value))
		case e.Key != nil:
			elems[i] = Code(e.Key).Op(":").Add(Code(e.Value))
		default:
			elems[i] = Code(e.Value)
		}
	}
	if c.Lines {
		return s.Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, elems...)
	}
	return s.Values(elems...)
}

// stmts prints statements.
func stmts(list []Stmt) []jen.Code {
	var out []jen.Code
	for _, s := range list {
		if c, ok := s.(*Comment); ok && c.Behind && len(out) > 0 {
			out[len(out)-1] = jen.Add(out[len(out)-1]).Comment(c.Text)
			continue
		}
		out = append(out, stmt(s))
	}
	return out
}

func stmt(s Stmt) *jen.Statement {
	head := printer{head: true}
	switch s := s.(type) {
	case *Assign, *Do:
		return simple(s, printer{})
	case *Var:
		return jen.Var().Id(s.Name).Add(Code(s.Type))
	case *If:
		n := jen.If(some(simple(s.Init, head), head.expr(s.Cond, 0))...).Block(stmts(unbraced(s.Then))...)
		if len(s.Else) == 0 {
			return n
		}
		if other, ok := s.Else[0].(*If); ok && len(s.Else) == 1 {
			return n.Else().Add(stmt(other))
		}
		return n.Else().Block(stmts(s.Else)...)
	case *Switch:
		var cases []jen.Code
		for _, c := range s.Cases {
			if len(c.List) == 0 {
				cases = append(cases, jen.Default().Block(stmts(c.Body)...))
			} else {
				cases = append(cases, jen.Case(codes(c.List)...).Block(stmts(c.Body)...))
			}
		}
		var tag *jen.Statement
		if s.Tag != nil {
			tag = head.expr(s.Tag, 0)
		}
		return jen.Switch(some(simple(s.Init, head), tag)...).Block(cases...)
	case *Range:
		x := jen.Range().Add(head.expr(s.X, 0))
		switch {
		case s.Value != nil:
			x = jen.List(Code(s.Key), Code(s.Value)).Op(":=").Add(x)
		case s.Key != nil:
			x = Code(s.Key).Op(":=").Add(x)
		}
		return jen.For(x).Block(stmts(s.Body)...)
	case *For:
		first, test, last := part(simple(s.Init, head)), cond(s.Cond, head), part(simple(s.Post, head))
		return jen.For(first, test, last).Block(stmts(s.Body)...)
	case *Return:
		return jen.Return(codes(s.Results)...)
	case *Branch:
		if s.Word == "break" {
			return jen.Break()
		}
		return jen.Continue()
	case *Braces:
		return jen.Block(stmts(s.Body)...)
	case *Comment:
		return jen.Comment(s.Text)
	}
	bad("print %T", s)
	return nil
}

// simple prints a statement that can be in the head of another one. It returns nil for no statement.
func simple(s Stmt, p printer) *jen.Statement {
	switch s := s.(type) {
	case *Do:
		return p.expr(s.X, 0)
	case *Assign:
		left := codes(s.Left)
		n := jen.List(left...).Op(s.Op)
		if len(s.Right) == 0 {
			return n
		}
		right := make([]jen.Code, len(s.Right))
		for i, e := range s.Right {
			right[i] = p.expr(e, 0)
		}
		return n.List(right...)
	}
	return nil
}

func some(list ...*jen.Statement) []jen.Code {
	var out []jen.Code
	for _, s := range list {
		if s != nil {
			out = append(out, s)
		}
	}
	return out
}

func part(s *jen.Statement) jen.Code {
	if s == nil {
		return jen.Empty()
	}
	return s
}

func cond(e Expr, p printer) jen.Code {
	if e == nil {
		return jen.Empty()
	}
	return p.expr(e, 0)
}

func params(list []Param) []jen.Code {
	var out []jen.Code
	for i, p := range list {
		switch {
		case p.Name == "":
			out = append(out, Code(p.Type))
		case i+1 < len(list) && Equal(list[i+1].Type, p.Type):
			out = append(out, jen.Id(p.Name)) // the type stands behind the next
		default:
			out = append(out, jen.Id(p.Name).Add(Code(p.Type)))
		}
	}
	return out
}

// results prints the results of a function after its parameters.
func results(s *jen.Statement, list []Param) *jen.Statement {
	switch {
	case len(list) == 1 && list[0].Name == "":
		s.Add(Code(list[0].Type))
	case len(list) > 0:
		s.Params(params(list)...)
	}
	return s
}

// Code prints the function and its comment.
func (f *Func) Code() *jen.Statement {
	s := jen.Null()
	if f.Doc != "" {
		s.Comment(f.Doc).Line()
	}
	s.Func()
	if f.Recv != nil {
		s.Params(params([]Param{*f.Recv})...)
	}
	s.Id(f.Name)
	if len(f.Types) > 0 {
		s.Types(params(f.Types)...)
	}
	s.Params(params(f.Params)...)
	results(s, f.Results)
	return block(s, f.Body, f.Short)
}

// block prints the statements of a function.
func block(s *jen.Statement, list []Stmt, short bool) *jen.Statement {
	if short && len(list) == 1 {
		return s.Custom(jen.Options{Open: "{ ", Close: " }"}, stmts(list)...)
	}
	return s.Block(stmts(list)...)
}

// Text prints an expression as text.
func Text(e Expr) string { return Code(e).GoString() }
