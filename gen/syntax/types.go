package syntax

import (
	"fmt"

	"github.com/parley-go/parley/gen/diag"
)

// ParseType reads a type in its short form: a name, lo..hi, `opaque u32`, `text 30`, `bytes 4`,
// `bytes up to 30`, each perhaps with a question mark.
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
		if p.tok.kind == end || p.tok.text == "?" {
			p.fail(first.from, p.last, "a text has a bound: `text 30` has at most 30 bytes")
			break
		}
		t.Hi = p.expr(4)
	case first.kind == name && first.text == "bytes":
		p.advance()
		t.Form = Bytes
		if up := p.tok; up.kind == name && up.text == "up" {
			p.advance()
			if p.tok.kind != name || p.tok.text != "to" {
				p.fail(up.from, up.to, "a type is `bytes 16`, or `bytes up to 16`")
				break
			}
			p.advance()
			t.Form = BytesUpTo
		}
		if p.tok.kind == end || p.tok.text == "?" {
			p.fail(first.from, p.last, "bytes have a bound: `bytes 16`, or `bytes up to 16`")
			break
		}
		t.Hi = p.expr(4)
	default:
		x := p.expr(4)
		if p.accept("..") {
			t.Form, t.Lo, t.Hi = Interval, x, p.expr(4)
		} else if id, ok := x.(*Ident); ok {
			t.Name, t.NamePos = id.Name, id.Span
			p.longForm(first)
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

// longForm refuses `list Entry`, which has no short form.
func (p *parser) longForm(first token) {
	hint := map[string]string{"list": "{list: %s, max: n}", "set": "{set: %s}",
		"array": "{array: Index, of: %s}", "map": "{map: Key, of: %s}",
		"queue": "{queue: %s, max: n}"}[first.text]
	if hint == "" || p.tok.kind != name || p.err != nil {
		return
	}
	elem := p.text[p.tok.from:]
	if len(elem) > 40 {
		elem = "…"
	}
	p.fail(first.from, len(p.text), "a %s is not written like this", first.text)
	p.err.Hint = "write " + fmt.Sprintf(hint, elem)
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

// Group is Name[Lo..Hi] or Name[Var in Lo..Hi], the key of several instances.
type Group struct {
	Name   string
	Var    string // "" if the number has no name
	VarPos diag.Span
	Lo, Hi Node
}

// ParseGroup reads the key of an instance; nil if it is a plain name.
func ParseGroup(text string, place Place) (*Group, *Error) {
	p := newParser(text, place)
	g := &Group{}
	g.Name, _ = p.name("a name")
	if p.err == nil && p.tok.kind == end {
		return nil, nil
	}
	p.expect("[", "after the name")
	x := p.expr(4)
	if id, ok := x.(*Ident); ok && p.tok.kind == name && p.tok.text == "in" {
		p.advance()
		g.Var, g.VarPos = id.Name, id.Span
		x = p.expr(4)
	}
	p.expect("..", "in the range")
	g.Lo, g.Hi = x, p.expr(4)
	p.expect("]", "after the range")
	p.finish()
	if p.err != nil {
		return nil, p.err
	}
	return g, nil
}

// At builds a list node for values that are written as a YAML list.
func At(span diag.Span, elems []Node) *List { return &List{base{Span: span}, elems} }

// Name builds a name that is nowhere written as such.
func Name(name string, at diag.Span) Node { return &Ident{base{at, name}, name} }

// Of builds x.name.
func Of(x Node, name string, at diag.Span) Node { return &Select{base{Span: at}, x, name, at} }

// With builds x[args].
func With(x Node, args []Node, at diag.Span) Node { return &Index{base{Span: at}, x, args} }

// Shorthand builds x{a, b}; without fields it is x itself.
func Shorthand(x Node, fields []string, at diag.Span) Node {
	if len(fields) == 0 {
		return x
	}
	lit := &Literal{base: base{Span: at}, X: x}
	for _, f := range fields {
		lit.Fields = append(lit.Fields, FieldValue{f, at, Name(f, at)})
	}
	return lit
}
