package expr

import "github.com/parley-go/parley/gen/diag"

// ParseType reads a type in its short form: a name, lo..hi, `opaque u32`, `text 30`, each
// perhaps with a question mark.
func ParseType(text string, place Place) (*Type, *Error) {
	p := newParser(text, place)
	t := &Type{}
	first := p.tok
	switch {
	case first.kind == name && first.text == "opaque":
		p.advance()
		t.Form = Opaque
		if p.tok.kind == name {
			t.Name, t.NamePos = p.name("a width")
		}
	case first.kind == name && first.text == "text":
		p.advance()
		t.Form = Text
		t.Hi = p.expr(4)
	default:
		x := p.expr(4)
		if p.accept("..") {
			t.Form, t.Lo, t.Hi = Interval, x, p.expr(4)
		} else if id, ok := x.(*Ident); ok {
			t.Name, t.NamePos = id.Name, id.Span
		} else if p.err == nil {
			p.fail(first.from, p.last, "a type is a name, lo..hi, `opaque u32` or `text 30`")
		}
	}
	t.Span = place(first.from, p.last)
	t.Optional = p.accept("?")
	p.finish()
	if p.err != nil {
		return nil, p.err
	}
	return t, nil
}

// ParseInstance reads Role or Role(param: value, …).
func ParseInstance(text string, place Place) (*Instance, *Error) {
	p := newParser(text, place)
	in := &Instance{}
	from := p.tok.from
	in.Role, in.RolePos = p.name("a role")
	if p.accept("(") {
		for p.err == nil && !p.is(")") {
			f := FieldValue{}
			f.Name, f.NamePos = p.name("a parameter's name")
			p.expect(":", "after the parameter's name")
			f.Value = p.expr(0)
			in.Args = append(in.Args, f)
			if !p.accept(",") {
				break
			}
		}
		p.expect(")", "after the arguments")
	}
	in.Span = place(from, p.last)
	p.finish()
	if p.err != nil {
		return nil, p.err
	}
	return in, nil
}

// At builds a list node for values that are written as a YAML list.
func At(span diag.Span, elems []Node) *List { return &List{base{span}, elems} }

// Name builds a name that is nowhere written as such.
func Name(name string, at diag.Span) Node { return &Ident{base{at}, name} }

// Of builds x.name.
func Of(x Node, name string, at diag.Span) Node { return &Select{base{at}, x, name, at} }

// With builds x[args].
func With(x Node, args []Node, at diag.Span) Node { return &Index{base{at}, x, args} }

// Shorthand builds x{a, b}; without fields it is x itself.
func Shorthand(x Node, fields []string, at diag.Span) Node {
	if len(fields) == 0 {
		return x
	}
	lit := &Literal{base: base{at}, X: x}
	for _, f := range fields {
		lit.Fields = append(lit.Fields, FieldValue{f, at, Name(f, at)})
	}
	return lit
}
