package types

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/model"
)

// Type is a type of the generated package.
type Type struct {
	T    *model.Type
	Name string
	X    gotree.Expr
	// Own is set for types that the package declares; Fields are the Go names of a record's fields.
	Own    bool
	Fields []string
	// Methods are those of a list that are called, by name.
	Methods map[string]bool
}

// Key returns a text that is equal for types with the same name and the same values. Such types have one
// Go type.
func Key(t *model.Type) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d:%s", t.Kind, t.Name)
	switch t.Kind {
	case model.KindInt, model.KindNode:
		fmt.Fprintf(&b, "(%d..%d)", t.Lo, t.Hi)
	case model.KindOpaque:
		fmt.Fprintf(&b, "(%d %t)", t.Bits, t.Float)
	case model.KindEnum:
		fmt.Fprintf(&b, "(%q %d)", t.Names, t.Codes)
	case model.KindBytes:
		fmt.Fprintf(&b, "(%s)", model.BytesString(t))
	case model.KindOptional, model.KindSet:
		b.WriteString("(" + Key(t.Elem) + ")")
	case model.KindArray:
		b.WriteString("(" + Key(t.Index) + "," + Key(t.Elem) + ")")
	case model.KindList:
		fmt.Fprintf(&b, "(%d,%s)", t.Cap, Key(t.Elem))
	case model.KindRecord:
		for _, f := range t.Fields {
			b.WriteString("(" + f.Name + " " + Key(f.Type) + ")")
		}
	}
	return b.String()
}

// Typ returns the Go type of t, and declares it at the first call. hint is the name for a type that has
// none in the specification.
func (g *Gen) Typ(t *model.Type, hint string) *Type {
	k := Key(t)
	if gt := g.types[k]; gt != nil {
		return gt
	}
	gt := &Type{T: t, Methods: map[string]bool{}}
	g.types[k] = gt
	name := hint
	if t.Name != "" {
		name = base.GoName(t.Name)
	}
	switch t.Kind {
	case model.KindBool:
		gt.Name = "bool"
	case model.KindNode:
		gt.Name, gt.X = "fsm.Peer", gotree.X("fsm.Peer")
	case model.KindInt, model.KindOpaque, model.KindSet:
		if t.Float {
			gt.Name = fmt.Sprintf("wire.F%d", t.Bits)
			gt.X = gotree.X(gt.Name)
		} else if gt.Name = Width(t); t.Name != "" {
			gt.Name, gt.Own = g.Top.Take(name), true
		}
	case model.KindEnum:
		gt.Name, gt.Own = g.Top.Take(name), true
	case model.KindBytes:
		if t.Name == "" {
			name = base.GoName(strings.ReplaceAll(model.BytesString(t), " ", "_"))
		}
		gt.Name, gt.Own = g.Top.Take(name), true
		g.Maker(gt.Name)
	case model.KindOptional:
		elem := g.Typ(t.Elem, hint)
		gt.Name, gt.X = "Optional["+elem.Name+"]", gotree.X("Optional[$1]", elem.X)
		g.Helpers["Optional"] = true
	case model.KindArray:
		elem := g.Typ(t.Elem, hint+"Element")
		gt.Name = fmt.Sprintf("[%d]%s", t.Index.Count(), elem.Name)
		gt.X = gotree.Array{Len: gotree.Int(t.Index.Count()), Elem: elem.X}
		if t.Name != "" {
			gt.Name, gt.Own = g.Top.Take(name), true
		}
	case model.KindList:
		elem := g.Typ(t.Elem, hint+"Element").Name
		if t.Name == "" {
			name = SimpleName(elem) + "List"
		}
		gt.Name, gt.Own = g.Top.Take(name), true
	case model.KindRecord:
		names := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			names[i] = f.Name
		}
		gt.Fields = base.GoNames(names...)
		gt.Name, gt.Own = g.Top.Take(name), true
		for i, f := range t.Fields {
			g.Typ(f.Type, gt.Name+gt.Fields[i])
		}
	}
	if gt.X == nil || gt.Own {
		gt.X = gotree.Name{Name: gt.Name}
	}
	if gt.Own {
		g.Declared = append(g.Declared, gt)
	}
	return gt
}

// SimpleName returns a Go type in a form that can be part of a name.
func SimpleName(t string) string {
	t = strings.NewReplacer("[", "", "]", "", ".", "").Replace(t)
	return strings.ToUpper(t[:1]) + t[1:]
}

// Width returns the smallest Go integer that holds the values of t.
func Width(t *model.Type) string {
	switch t.Kind {
	case model.KindOpaque:
		return fmt.Sprintf("uint%d", max(t.Bits, 8))
	case model.KindSet:
		return "uint64"
	case model.KindEnum:
		if len(t.Names) > 256 {
			return "uint16"
		}
		return "uint8"
	}
	sign := "u"
	if t.Lo < 0 {
		sign = ""
	}
	for _, bits := range []int{8, 16, 32} {
		most := int64(1)<<bits - 1
		least := int64(0)
		if t.Lo < 0 {
			most, least = most>>1, -(most>>1)-1
		}
		if t.Lo >= least && t.Hi <= most {
			return fmt.Sprintf("%sint%d", sign, bits)
		}
	}
	if sign == "u" && t.Hi >= 0 {
		return "int64"
	}
	return "int64"
}

// LenType returns the Go type for a length of at most most.
func LenType(most int) string {
	if most > 255 {
		return "uint16"
	}
	return "uint8"
}

// Zero returns the zero value of t. It returns nil if that is Go's zero value.
func (g *Gen) Zero(t *model.Type) gotree.Expr {
	switch t.Kind {
	case model.KindInt, model.KindNode:
		if t.Lo != 0 {
			return gotree.Int(t.Lo)
		}
	case model.KindRecord:
		gt := g.Typ(t, "")
		var elems []gotree.Elem
		for i, f := range t.Fields {
			if z := g.Zero(f.Type); z != nil {
				elems = append(elems, gotree.Field(gt.Fields[i], z))
			}
		}
		if len(elems) > 0 {
			return gotree.Struct(gt.X, elems...)
		}
	case model.KindArray:
		if z := g.Zero(t.Elem); z != nil {
			return gotree.Struct(g.Typ(t, "").X,
				gotree.Elems(slices.Repeat([]gotree.Expr{z}, int(t.Index.Count()))...)...)
		}
	}
	return nil
}

// EnumNames returns the names of an enumeration's constants.
func (g *Gen) EnumNames(gt *Type) []string {
	if names := g.enums[gt]; names != nil {
		return names
	}
	names := base.GoNames(gt.T.Names...)
	for i := range names {
		names[i] = g.Top.Take(gt.Name + names[i])
	}
	g.enums[gt] = names
	return names
}

func (g *Gen) TextMaker(gt *Type) string {
	gt.Methods["make"] = true
	return g.Top.Own("constant "+gt.Name, base.Unexported(gt.Name)+"Of")
}

// Fits reports whether the Go type of the integer type t can hold n.
func Fits(t *model.Type, n int64) bool {
	switch w := Width(t); {
	case t.Kind == model.KindNode:
		return n >= -1<<15 && n < 1<<15
	case w == "int64":
		return true
	case w[0] == 'u':
		bits, _ := strconv.Atoi(w[4:])
		return n >= 0 && (bits == 64 || n < 1<<bits)
	default:
		bits, _ := strconv.Atoi(w[3:])
		return n >= -1<<(bits-1) && n < 1<<(bits-1)
	}
}

// FromIndex composes the value of t with the given index, which counts from 0.
func (g *Gen) FromIndex(i gotree.Expr, t *model.Type) gotree.Expr {
	if t.Kind == model.KindBool {
		return gotree.X("$1 != 0", i)
	}
	return gotree.Conv(g.Typ(t, "").X, gotree.Plus(i, t.Lowest()))
}
