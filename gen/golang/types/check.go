package types

import (
	"fmt"
	"math"
	"strings"

	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/model"
)

// Invalid composes the test that a Go value is outside t. It returns nil if no Go value is.
func (g *Gen) Invalid(t *model.Type, x gotree.Expr) gotree.Expr {
	var tests []gotree.Expr
	switch t.Kind {
	case model.KindInt, model.KindNode:
		if t.Lo > math.MinInt64 && Fits(t, t.Lo-1) {
			tests = append(tests, gotree.X("$1 < $2", x, t.Lo))
		}
		if t.Hi < math.MaxInt64 && Fits(t, t.Hi+1) {
			tests = append(tests, gotree.X("$1 > $2", x, t.Hi))
		}
	case model.KindEnum:
		if n := len(t.Names); n != 256 {
			return gotree.X("$1 > $2", x, n-1)
		}
	case model.KindBytes:
		if t.Cap != 255 && t.Cap != math.MaxUint16 {
			return gotree.X("$1.Len > $2", x, t.Cap)
		}
	case model.KindSet:
		if n := t.Elem.Count(); n < 64 {
			return gotree.X("$1>>$2 != 0", x, n)
		}
	case model.KindOptional:
		if v := g.Invalid(t.Elem, gotree.X("$1.Value", x)); v != nil {
			return gotree.X("$1.Present && $2", x, v)
		}
	case model.KindRecord:
		for i, f := range t.Fields {
			if v := g.Invalid(f.Type, gotree.Sel{X: x, Name: g.Typ(t, "").Fields[i]}); v != nil {
				tests = append(tests, v)
			}
		}
	case model.KindList, model.KindArray:
		if t.Kind == model.KindArray && g.Invalid(t.Elem, gotree.Name{Name: "e"}) == nil {
			return nil
		}
		gt := g.Typ(t, "")
		name := g.Top.Own("invalid "+Key(t), "invalid"+SimpleName(gt.Name))
		if !g.checks[name] {
			g.checks[name] = true
			g.CheckOrder = append(g.CheckOrder, checkFunc{name, gt})
		}
		return gotree.X("$1(&$2)", name, x)
	}
	if len(tests) == 0 {
		return nil
	}
	return gotree.Or(tests...)
}

// checkFunc is a generated function that looks through a list or array.
type checkFunc struct {
	Name string
	Of   *Type
}

// eventCheck is the test of one field of an event, or of its sender.
type eventCheck struct {
	Field string
	T     *model.Type
	Test  gotree.Expr
}

// ChecksOf lists the tests that an event needs.
func (g *Gen) ChecksOf(r *Machine, e RoleEvent) []eventCheck {
	var out []eventCheck
	if t := r.M.Sender; t != nil && e.Ev.FromPeer() {
		out = append(out, eventCheck{"sender", t, g.Invalid(t, gotree.X("ev.From"))})
	}
	if e.Ev.Kind == model.EventTimer {
		return out
	}
	for i, f := range e.Ev.Fields {
		if v := g.Invalid(f.Type, e.Place(g, i)); v != nil {
			out = append(out, eventCheck{f.Name, f.Type, v})
		}
	}
	return out
}

// RangeText describes the values of a type, for an error message.
func RangeText(t *model.Type) string {
	switch t.Kind {
	case model.KindInt, model.KindNode:
		return fmt.Sprintf("%d..%d", t.Lo, t.Hi)
	case model.KindEnum:
		return strings.Join(t.Names, ", ")
	case model.KindBytes:
		return model.BytesString(t)
	case model.KindOptional:
		return RangeText(t.Elem)
	case model.KindSet:
		return "the set of " + RangeText(t.Elem)
	case model.KindList:
		return fmt.Sprintf("a list of at most %d of %s", t.Cap, RangeText(t.Elem))
	case model.KindArray:
		return "an array of " + RangeText(t.Elem)
	}
	return model.TypeString(t)
}

// Place composes the field i of an event from outside.
func (e RoleEvent) Place(g *Gen, i int) gotree.Expr {
	if e.Ev.Kind == model.EventMessage {
		return gotree.X("ev.Message.$1.$2", g.Messages[e.Ev.Message.Index].Member, e.Fields[i])
	}
	return gotree.X("ev.$1.$2", e.Member, e.Fields[i])
}

// Checked reports whether an event of a role needs a test.
func (g *Gen) Checked(r *Machine) bool {
	n := 0
	for _, e := range r.Events {
		n += len(g.ChecksOf(r, e))
	}
	return n > 0
}

// BadIn composes the search for a byte that the charset of a text does not allow, or returns nil.
func BadIn(t *model.Type, text string) gotree.Expr {
	name := map[string]string{"utf8": "BadUTF8", "ascii": "BadASCII", "printable": "BadPrintable"}[t.Charset]
	if name == "" {
		return nil
	}
	return gotree.X("wire.$1($2)", name, text)
}
