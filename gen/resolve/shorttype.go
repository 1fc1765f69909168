package resolve

import (
	"strconv"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/expr"
	"github.com/parley-go/parley/gen/model"
)

// shortType resolves a type written as a scalar.
func (r *resolver) shortType(n *ast.Node) *model.Type {
	x, err := expr.ParseType(n.Text, n.Part)
	if err != nil {
		r.syntax(err)
		return nil
	}
	t := r.shortForm(x)
	if t == nil || !x.Optional {
		return t
	}
	if t.Kind == model.KindOptional {
		r.Errorf("FSM041", x.Span, "%s is optional already", describe(t))
		return nil
	}
	return r.sized(&model.Type{Kind: model.KindOptional, Elem: t, Span: n.Span()}, 1+int64(t.Slots()), n)
}

var widths = map[string]int{"u8": 8, "u16": 16, "u24": 24, "u32": 32, "u64": 64}

func (r *resolver) shortForm(x *expr.Type) *model.Type {
	switch x.Form {
	case expr.Interval:
		return r.interval(x.Lo, x.Hi, x.Span)
	case expr.Text:
		v, ok := r.constNode(x.Hi, 1, 65535, "the bound of a text")
		if !ok {
			return nil
		}
		t := &model.Type{Kind: model.KindBytes, Cap: int(v), Span: x.Span}
		t.Slots()
		return t
	case expr.Opaque:
		name := x.Name
		if name == "" {
			name = "u64"
		}
		bits := widths[name]
		if bits == 0 || bits == 24 {
			r.unknownAt("FSM021", x.NamePos, name, "opaque type", []string{"u8", "u16", "u32", "u64"})
			return nil
		}
		if r.opaques[name] == nil {
			t := &model.Type{Kind: model.KindOpaque, Bits: bits, Span: x.Span}
			t.Slots()
			r.opaques[name] = t
		}
		return r.opaques[name]
	}
	return r.typeName(x)
}

func (r *resolver) interval(lo, hi expr.Node, at diag.Span) *model.Type {
	l, ok1 := r.constNode(lo, -1<<40, 1<<40, "the low bound")
	h, ok2 := r.constNode(hi, -1<<40, 1<<40, "the high bound")
	if !ok1 || !ok2 {
		return nil
	}
	if l > h {
		r.Errorf("FSM041", at, "the range %d..%d is empty", l, h)
		return nil
	}
	t := intType(l, h)
	t.Span = at
	return t
}

func (r *resolver) typeName(x *expr.Type) *model.Type {
	if t := r.basicType(x.Name, x.Span); t != nil {
		return t
	}
	if nt := r.types[x.Name]; nt != nil {
		r.use(nt.key.Span())
		r.refer(x.NamePos, nt.key.Span())
		return r.named(nt)
	}
	if x.Name == "u64" {
		r.Errorf("FSM041", x.NamePos, "a u64 cannot be computed with").With("write `opaque u64`")
		return nil
	}
	r.unknownAt("FSM021", x.NamePos, x.Name, "type", append(r.root.Get("types").Keys(), "bool", "u8", "u16", "u32", "instance"))
	return nil
}

// basicType returns a type that needs no declaration, or nil.
func (r *resolver) basicType(name string, at diag.Span) *model.Type {
	var t *model.Type
	switch name {
	case "bool":
		t = &model.Type{Kind: model.KindBool}
	case "u8", "u16", "u32":
		bits, _ := strconv.Atoi(name[1:])
		t = intType(0, 1<<bits-1)
	case "instance":
		t = &model.Type{Kind: model.KindNode, Hi: r.nodeHi}
	default:
		return nil
	}
	t.Span = at
	t.Slots()
	return t
}
