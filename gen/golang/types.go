package golang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/model"
)

// goType is a type of the generated package.
type goType struct {
	t    *model.Type
	name string
	// own is set for types that the package declares; fields are the Go names of a record's fields.
	own    bool
	fields []string
	// methods are those of a list that are called, by name.
	methods map[string]bool
}

// key is equal for types that are the same Go type.
func key(t *model.Type) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d:%s", t.Kind, t.Name)
	switch t.Kind {
	case model.KindInt, model.KindNode:
		fmt.Fprintf(&b, "(%d..%d)", t.Lo, t.Hi)
	case model.KindOpaque:
		fmt.Fprintf(&b, "(%d)", t.Bits)
	case model.KindEnum:
		fmt.Fprintf(&b, "(%q %d)", t.Names, t.Codes)
	case model.KindBytes:
		fmt.Fprintf(&b, "(%d)", t.Cap)
	case model.KindOptional, model.KindSet:
		b.WriteString("(" + key(t.Elem) + ")")
	case model.KindArray:
		b.WriteString("(" + key(t.Index) + "," + key(t.Elem) + ")")
	case model.KindList:
		fmt.Fprintf(&b, "(%d,%s)", t.Cap, key(t.Elem))
	case model.KindRecord:
		for _, f := range t.Fields {
			b.WriteString("(" + f.Name + " " + key(f.Type) + ")")
		}
	}
	return b.String()
}

// typ returns the Go type of t, declaring it if it is new. hint names types
// that the specification writes in place.
func (g *gen) typ(t *model.Type, hint string) *goType {
	k := key(t)
	if gt := g.types[k]; gt != nil {
		return gt
	}
	gt := &goType{t: t, methods: map[string]bool{}}
	g.types[k] = gt
	name := hint
	if t.Name != "" {
		name = GoName(t.Name)
	}
	switch t.Kind {
	case model.KindBool:
		gt.name = "bool"
	case model.KindNode:
		gt.name = "fsm.Peer"
	case model.KindInt, model.KindOpaque, model.KindSet:
		if gt.name = width(t); t.Name != "" {
			gt.name, gt.own = g.top.take(name), true
		}
	case model.KindEnum:
		gt.name, gt.own = g.top.take(name), true
	case model.KindBytes:
		if t.Name == "" {
			name = fmt.Sprintf("Text%d", t.Cap)
		}
		gt.name, gt.own = g.top.take(name), true
		g.maker(gt.name)
	case model.KindOptional:
		gt.name = "Optional[" + g.typ(t.Elem, hint).name + "]"
		g.helpers["Optional"] = true
	case model.KindArray:
		gt.name = fmt.Sprintf("[%d]%s", t.Index.Count(), g.typ(t.Elem, hint+"Element").name)
		if t.Name != "" {
			gt.name, gt.own = g.top.take(name), true
		}
	case model.KindList:
		elem := g.typ(t.Elem, hint+"Element").name
		if t.Name == "" {
			name = simpleName(elem) + "List"
		}
		gt.name, gt.own = g.top.take(name), true
	case model.KindRecord:
		names := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			names[i] = f.Name
		}
		gt.fields = GoNames(names...)
		gt.name, gt.own = g.top.take(name), true
		for i, f := range t.Fields {
			g.typ(f.Type, gt.name+gt.fields[i])
		}
	}
	if gt.own {
		g.declared = append(g.declared, gt)
	}
	return gt
}

// simpleName makes a part of a name from a Go type.
func simpleName(t string) string {
	t = strings.NewReplacer("[", "", "]", "", ".", "").Replace(t)
	return strings.ToUpper(t[:1]) + t[1:]
}

// width returns the smallest Go integer that holds the values of t.
func width(t *model.Type) string {
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

// lowest is the least value of a type that can be an index or key.
func lowest(t *model.Type) int64 {
	if t.Kind == model.KindInt || t.Kind == model.KindNode {
		return t.Lo
	}
	return 0
}

// lenType is the Go type that counts up to cap.
func lenType(most int) string {
	if most > 255 {
		return "uint16"
	}
	return "uint8"
}

// zero returns the zero value of t as Go text, or "" if it is Go's own zero.
func (g *gen) zero(t *model.Type) string {
	switch t.Kind {
	case model.KindInt, model.KindNode:
		if t.Lo != 0 {
			return strconv.FormatInt(t.Lo, 10)
		}
	case model.KindRecord:
		gt := g.typ(t, "")
		var parts []string
		for i, f := range t.Fields {
			if z := g.zero(f.Type); z != "" {
				parts = append(parts, gt.fields[i]+": "+z)
			}
		}
		if len(parts) > 0 {
			return gt.name + "{" + strings.Join(parts, ", ") + "}"
		}
	case model.KindArray:
		if z := g.zero(t.Elem); z != "" {
			return g.typ(t, "").name + "{" + strings.TrimSuffix(strings.Repeat(z+", ", int(t.Index.Count())), ", ") + "}"
		}
	}
	return ""
}

// declare emits the declaration of a type and of the methods that are used.
func (g *gen) declare(f *jen.File, gt *goType) {
	t := gt.t
	doc := sentence(t.Doc)
	head := func(what string) {
		f.Line()
		f.Comment(comment(gt.name, what))
		if doc != "" {
			f.Comment(comment("", doc))
		}
	}
	switch t.Kind {
	case model.KindInt:
		head(fmt.Sprintf("is a number in %d..%d.", t.Lo, t.Hi))
		f.Type().Id(gt.name).Id(width(t))
	case model.KindOpaque:
		head("is carried and compared, never computed with.")
		f.Type().Id(gt.name).Id(width(t))
	case model.KindSet:
		head("is a set: bit i stands for the type's value number i.")
		f.Type().Id(gt.name).Uint64()
	case model.KindEnum:
		g.declareEnum(f, gt, head)
	case model.KindBytes:
		g.declareText(f, gt, head)
	case model.KindArray:
		head("has one element for each value of its index.")
		f.Type().Id(gt.name).Index(jen.Lit(int(t.Index.Count()))).Add(raw(g.typ(t.Elem, "").name))
	case model.KindList:
		g.declareList(f, gt, head)
	case model.KindRecord:
		head("is a record.")
		f.Type().Id(gt.name).StructFunc(func(s *jen.Group) { g.structFields(s, gt.fields, t.Fields) })
	}
}

// structFields emits the fields of a record, message, command or report.
func (g *gen) structFields(s *jen.Group, names []string, fields []*model.Field) {
	for i, fl := range fields {
		line := s.Id(names[i]).Add(raw(g.typ(fl.Type, names[i]).name))
		if fl.Doc != "" {
			line.Comment(strings.Join(strings.Fields(fl.Doc), " "))
		}
	}
}

// enumNames returns the Go constants of an enumeration.
func (g *gen) enumNames(gt *goType) []string {
	if names := g.enums[gt]; names != nil {
		return names
	}
	names := GoNames(gt.t.Names...)
	for i := range names {
		names[i] = g.top.take(gt.name + names[i])
	}
	g.enums[gt] = names
	return names
}

func (g *gen) declareEnum(f *jen.File, gt *goType, head func(string)) {
	head("is an enumeration.")
	f.Type().Id(gt.name).Id(width(gt.t))
	f.Comment(comment("", "The values of "+gt.name+"."))
	g.enumConsts(f, gt.name, g.enumNames(gt), nil)
	g.stringer(f, gt.name, gt.t.Names)
}

// enumConsts emits constants that count from 0, with the author's words behind them.
func (g *gen) enumConsts(f *jen.File, typ string, names []string, docs []string) {
	f.Const().DefsFunc(func(d *jen.Group) {
		for i, n := range names {
			line := d.Id(n)
			if i == 0 {
				line.Id(typ).Op("=").Iota()
			}
			if docs != nil && docs[i] != "" {
				line.Comment(strings.Join(strings.Fields(docs[i]), " "))
			}
		}
	})
}

// stringer emits the String method of an enumeration and its table of names.
func (g *gen) stringer(f *jen.File, typ string, names []string) {
	table := g.top.take(unexported(typ) + "Names")
	quoted := make([]string, len(names))
	invalid := "invalid"
	for i, n := range names {
		quoted[i] = strconv.Quote(n)
		if n == invalid {
			invalid = "(invalid)"
		}
	}
	f.Line()
	f.Var().Id(table).Op("=").Add(raw("[...]string{" + strings.Join(quoted, ", ") + "}"))
	f.Line()
	f.Comment("String returns the name as the specification has it.")
	f.Add(rawf("func (v %s) String() string {\nif int(v) < len(%s) {\nreturn %s[v]\n}\nreturn %q\n}", typ, table, table, invalid))
	g.tables[typ] = table
}

func (g *gen) declareText(f *jen.File, gt *goType, head func(string)) {
	head(fmt.Sprintf("is a text of at most %d bytes. Bytes of Data from Len on are 0.", gt.t.Cap))
	f.Type().Id(gt.name).Struct(jen.Id("Len").Id(lenType(gt.t.Cap)), jen.Id("Data").Index(jen.Lit(gt.t.Cap)).Byte())
	n, maker := gt.name, g.maker(gt.name)
	f.Line()
	f.Comment(comment(maker, fmt.Sprintf("makes a %s; ok is false if s is longer than %d bytes, and the text is cut then.", n, gt.t.Cap)))
	f.Add(rawf("func %s(s string) (t %s, ok bool) {\nt.Len = %s(copy(t.Data[:], s))\nreturn t, len(s) <= len(t.Data)\n}", maker, n, lenType(gt.t.Cap)))
	f.Line()
	f.Comment("String returns the text.")
	f.Add(rawf("func (t %s) String() string { return string(t.Data[:min(int(t.Len), len(t.Data))]) }", n))
	if gt.methods["make"] {
		f.Line()
		f.Comment(comment(g.textMaker(gt), "makes a constant of the specification."))
		f.Add(rawf("func %s(s string) %s {\nt, _ := %s(s)\nreturn t\n}", g.textMaker(gt), n, maker))
	}
}

func (g *gen) textMaker(gt *goType) string {
	gt.methods["make"] = true
	return g.top.own("constant "+gt.name, unexported(gt.name)+"Of")
}

func (g *gen) declareList(f *jen.File, gt *goType, head func(string)) {
	t := gt.t
	elem := g.typ(t.Elem, "").name
	head(fmt.Sprintf("is a list of at most %d. Items from Len on are zero.", t.Cap))
	f.Type().Id(gt.name).Struct(jen.Id("Len").Id(lenType(t.Cap)), jen.Id("Items").Index(jen.Lit(t.Cap)).Add(raw(elem)))
	methods := []struct{ name, doc, code string }{
		{"add", "appends x; false if the list is full.", "func (l *L) add(x E) bool {\nif int(l.Len) >= len(l.Items) {\nreturn false\n}\nl.Items[l.Len] = x\nl.Len++\nreturn true\n}"},
		{"dropFirst", "removes the first element; false if there is none.", "func (l *L) dropFirst() bool {\nif l.Len == 0 {\nreturn false\n}\ncopy(l.Items[:], l.Items[1:l.Len])\nl.Len--\nvar none E\nl.Items[l.Len] = none\nreturn true\n}"},
		{"remove", "removes every x.", "func (l *L) remove(x E) {\nold := *l\n*l = L{}\nfor _, e := range old.Items[:old.Len] {\nif e != x {\nl.Items[l.Len] = e\nl.Len++\n}\n}\n}"},
		{"contains", "says whether some element is x.", "func (l *L) contains(x E) bool {\nfor i := range l.Items[:l.Len] {\nif l.Items[i] == x {\nreturn true\n}\n}\nreturn false\n}"},
	}
	for _, m := range methods {
		if gt.methods[m.name] {
			f.Line()
			f.Comment(comment(m.name, m.doc))
			f.Add(raw(strings.NewReplacer("*L)", "*"+gt.name+")", "= L{}", "= "+gt.name+"{}", "(x E)", "("+"x "+elem+")", "none E", "none "+elem).Replace(m.code)))
		}
	}
}
