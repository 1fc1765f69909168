package types

import (
	"slices"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/syntax"
)

// domain narrows a type for a check. It returns a new type with the same name.
func (r *Table) domain(t *model.Type, n *ast.Node) *model.Type {
	d := *t
	switch t.Kind {
	case model.KindEnum:
		return r.enumDomain(t, n)
	case model.KindInt, model.KindOpaque, model.KindBytes:
		lo, hi, ok := r.rangeDomain(n)
		if !ok {
			return nil
		}
		switch {
		case t.Kind == model.KindInt && (lo < t.Lo || hi > t.Hi):
			r.Errorf("FSM083", n.Span(), "%d..%d is not within %s, which is %d..%d", lo, hi, t.Name,
				t.Lo, t.Hi)
			return nil
		case t.Kind != model.KindInt && lo != 0:
			r.Errorf("FSM083", n.Span(), "the domain of %s starts at 0", t.Name)
			return nil
		case t.Kind != model.KindInt && hi > 1<<16-1, t.Kind == model.KindOpaque && t.Bits == 8 && hi > 255:
			r.Errorf("FSM083", n.Span(), "the domain of %s goes up to %d at most", t.Name,
				map[bool]int{true: 255, false: 1<<16 - 1}[t.Bits == 8])
			return nil
		}
		d.Lo, d.Hi = lo, hi
		return &d
	}
	r.Errorf("FSM083", n.Span(), "%s is neither a range, an enumeration, opaque nor text, and has no domain", t.Name)
	return nil
}

// rangeDomain reads `lo..hi`, or a list of numbers that follow each other.
func (r *Table) rangeDomain(n *ast.Node) (lo, hi int64, ok bool) {
	if n.Kind != ast.Scalar {
		r.Errorf("FSM083", n.Span(), "the domain of a number is a range such as 0..2")
		return 0, 0, false
	}
	x, err := syntax.ParseType(n.Text, n.Part)
	if err != nil {
		r.SyntaxError(err)
		return 0, 0, false
	}
	if x.Form != syntax.Interval || x.Optional {
		r.Errorf("FSM083", n.Span(), "the domain of a number is a range such as 0..2")
		return 0, 0, false
	}
	t := r.Interval(x.Lo, x.Hi, x.Span)
	if t == nil {
		return 0, 0, false
	}
	return t.Lo, t.Hi, true
}

func (r *Table) enumDomain(t *model.Type, n *ast.Node) *model.Type {
	if n.Kind != ast.List {
		r.Errorf("FSM083", n.Span(), "the domain of %s is a list of its names", t.Name)
		return nil
	}
	keep := map[string]bool{}
	ok := true
	for _, it := range n.Items {
		if !slices.Contains(t.Names, it.Text) || it.Kind != ast.Scalar {
			r.Unknown("FSM021", it, "value of "+diag.Quote(t.Name)+" named", t.Names)
			ok = false
			continue
		}
		r.ReferEnum(it.Span(), t, it.Text)
		keep[it.Text] = true
	}
	if !ok {
		return nil
	}
	if len(keep) == 0 {
		r.Errorf("FSM083", n.Span(), "the domain of %s has no name", t.Name)
		return nil
	}
	d := *t
	d.Names, d.Codes, d.Words = nil, nil, nil
	for i, name := range t.Names {
		if keep[name] {
			d.Names = append(d.Names, name)
			d.Codes = append(d.Codes, t.Codes[i])
			if t.Words != nil {
				d.Words = append(d.Words, t.Words[i])
			}
			continue
		}
		r.Enums[name] = append(r.Enums[name], EnumValue{&d, -1})
	}
	return &d
}

// noDomain reports a domain of something that is no named type. If no name is near, the author may
// have meant a basic type or a field, whose type needs a name first.
func (r *Table) noDomain(key *ast.Node, named []string) {
	if diag.DidYouMean(key.Text, named) != "" {
		r.Unknown("FSM021", key, "type", named)
		return
	}
	example := "u32"
	if key.Text == "u8" || key.Text == "u16" {
		example = key.Text
	}
	r.Errorf("FSM021", key.Span(), "there is no type %s", diag.Quote(key.Text)).
		With("only a type with a name can be given a domain: write `types: {Number: " + example +
			"}`, Number as the type of the field, and `domains: {Number: 0..3}`")
}
