package golang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// helperFuncs emits the shared functions that the package needs.
func (g *gen) helperFuncs(f *jen.File) {
	funcs(f, g.checkFuncs())
	all := []struct{ name, doc, code string }{
		{"ordinal", "ordinal is the number of a truth value.", "func ordinal(b bool) int {\nif b {\nreturn 1\n}\nreturn 0\n}"},
		{"add64", "add64 adds; false if the sum needs more than 64 bits.", "func add64(a, b int64) (int64, bool) {\nr := a + b\nreturn r, (r > a) == (b > 0)\n}"},
		{"sub64", "sub64 subtracts; false if the difference needs more than 64 bits.", "func sub64(a, b int64) (int64, bool) {\nr := a - b\nreturn r, (r < a) == (b > 0)\n}"},
		{"mul64", "mul64 multiplies; false if the product needs more than 64 bits.", "func mul64(a, b int64) (int64, bool) {\nif a == 0 || b == 0 {\nreturn 0, true\n}\nr := a * b\nreturn r, r/b == a && !(a == -1 && b == -1<<63) && !(b == -1 && a == -1<<63)\n}"},
		{"div64", "div64 divides by what is not 0; false if the quotient needs more than 64 bits.", "func div64(a, b int64) (int64, bool) { return a / b, a != -1<<63 || b != -1 }"},
		{"numbered", "numbered is the number of an instance in n bytes, -1 for none and 254 for what is no number.", "func numbered(b []byte, n int) int64 {\nfor _, x := range b[1:n] {\nif x != 0 {\nreturn 254\n}\n}\nreturn int64(b[0]) - 1\n}"},
		{"bits", "countBits counts the elements of a set.", "func countBits(set uint64) int64 {\nn := int64(0)\nfor ; set != 0; set &= set - 1 {\nn++\n}\nreturn n\n}"},
		{"mask", "maskOf is the bit of element number i, 0 if there is none.", "func maskOf(i int64) uint64 {\nif i < 0 || i >= 62 {\nreturn 0\n}\nreturn 1 << uint64(i)\n}"},
		{"took", "took is the result of a transition.", "func took(transition uint16) fsm.Result { return fsm.Result{Code: fsm.Took, Transition: transition} }"},
		{"ignored", "ignored is the result of an event that the state ignores.", "func ignored(transition uint16) fsm.Result {\nreturn fsm.Result{Code: fsm.Ignored, Transition: transition}\n}"},
		{"deferred", "deferred is the result of an event that the state keeps for later.", "func deferred(transition uint16) fsm.Result {\nreturn fsm.Result{Code: fsm.Deferred, Transition: transition}\n}"},
		{"refused", "refused is the result of an event that the state does not take.", "func refused(transition uint16) fsm.Result {\nreturn fsm.Result{Code: fsm.Refused, Transition: transition}\n}"},
		{"maxQueued", "maxQueued is how many events of parts one step may handle.", "const maxQueued = 256"},
	}
	if g.Helpers["Optional"] {
		f.Line()
		f.Comment("// Optional is a T or nothing; the Value of nothing is zero.")
		f.Type().Id("Optional").Types(jen.Id("T").Comparable()).Struct(jen.Id("Present").Bool(), jen.Id("Value").Id("T"))
		some := gotree.F("// Some makes a present Optional.\nfunc Some(v T) Optional[T] { return Optional[T]{Present: true, Value: v} }")
		some.Types = []gotree.Param{{Name: "T", Type: gotree.X("comparable")}}
		funcs(f, []*gotree.Func{some})
	}
	for _, h := range all {
		if g.Helpers[h.name] {
			f.Line()
			f.Comment("// " + h.doc)
			f.Add(base.Raw(h.code))
		}
	}
}

// eventComplaints composes the cases of Event.outside.
func (g *gen) eventComplaints(r *types.Machine) string {
	var cases caseList
	for _, e := range r.Events {
		checks := g.ChecksOf(r, e)
		if len(checks) == 0 {
			continue
		}
		var lines base.Text
		for _, c := range checks {
			lines.P("why.Outside(%s, %q, %q)", gotree.Text(c.Test), c.Field, types.RangeText(c.T))
		}
		cases.add(e.Kind, lines.String())
	}
	return cases.String()
}

// caseList are the cases of a switch; those that do the same stand together.
type caseList struct {
	labels map[string]string // by body
	order  []string
}

func (l *caseList) add(label, body string) {
	if l.labels == nil {
		l.labels = map[string]string{}
	}
	if have, ok := l.labels[body]; ok {
		l.labels[body] = have + ", " + label
		return
	}
	l.labels[body] = label
	l.order = append(l.order, body)
}

func (l *caseList) String() string {
	var t base.Text
	for _, body := range l.order {
		t.P("case %s:\n%s", l.labels[body], strings.TrimSuffix(body, "\n"))
	}
	return t.String()
}

// eventChecks composes the cases of Event.invalid.
func (g *gen) eventChecks(r *types.Machine) string {
	var cases caseList
	for _, e := range r.Events {
		var tests []string
		for _, c := range g.ChecksOf(r, e) {
			tests = append(tests, gotree.Text(c.Test))
		}
		if len(tests) > 0 {
			cases.add(e.Kind, "return "+strings.Join(tests, " || "))
		}
	}
	return cases.String()
}

func (g *gen) checkFuncs() []*gotree.Func {
	var out []*gotree.Func
	for i := 0; i < len(g.CheckOrder); i++ { // one may need others
		c := g.CheckOrder[i]
		fn := gotree.F("func $1(v *$2) bool {\n}", c.Name, c.Of.X)
		fn.Doc = base.Comment(c.Name, "reports whether some element is none of its type.")
		if elem := c.Of.T.Elem; c.Of.T.Kind == model.KindArray {
			fn.Body = gotree.S("for i := range v {\nif $1 {\nreturn true\n}\n}\nreturn false", g.Invalid(elem, gotree.X("v[i]")))
		} else if bad := g.Invalid(elem, gotree.X("v.Items[i]")); bad == nil {
			fn.Body = gotree.S("return int(v.Len) > len(v.Items)")
		} else {
			fn.Body = gotree.S("if int(v.Len) > len(v.Items) {\nreturn true\n}\nfor i := range v.Items[:v.Len] {\nif $1 {\nreturn true\n}\n}\nreturn false", bad)
		}
		out = append(out, fn)
	}
	return out
}

// funcs prints functions.
func funcs(f *jen.File, list []*gotree.Func) {
	for _, fn := range list {
		f.Line()
		f.Add(fn.Code())
	}
}

func (g *gen) typesFile() *jen.File {
	f := g.File(g.O.Package)
	f.PackageComment(base.Comment("Package", g.O.Package+" is the protocol "+g.P.Name+". "+base.Sentence(g.P.Doc)))
	if g.P.Source != "" {
		f.PackageComment("//")
		f.PackageComment(base.Comment("Source:", base.Sentence(g.P.Source)))
	}
	f.Line()
	f.Comment("The contract with the runtime that this code was generated for.")
	f.Var().Id("_").Op("=").Add(base.Raw(fmt.Sprintf("fsm.GeneratedV%d", base.Contract)))
	f.Line()
	f.Comment("hash is that of what the specification says of the machines; traces and snapshots carry it.")
	f.Const().Id("hash").Op("=").Lit(g.P.Hash)
	if list := g.Constants(); len(list) > 0 {
		f.Line()
		f.Comment("The constants of the specification that its machines use.")
		f.Const().DefsFunc(func(d *jen.Group) {
			for _, c := range list {
				line := d.Id(c.Go).Op("=").Lit(int(c.Value))
				if c.Doc != "" {
					line.Comment(strings.Join(strings.Fields(c.Doc), " "))
				}
			}
		})
	}
	for _, gt := range g.Declared {
		g.declare(f, gt)
	}
	funcs(f, g.FitFuncs())
	g.helperFuncs(f)
	return f
}

func (g *gen) declareList(f *jen.File, gt *types.Type, head func(string)) {
	t := gt.T
	elem := g.Typ(t.Elem, "").Name
	head(fmt.Sprintf("is a list of at most %d. Items from Len on are zero.", t.Cap))
	f.Type().Id(gt.Name).Struct(jen.Id("Len").Id(types.LenType(t.Cap)), jen.Id("Items").Index(jen.Lit(t.Cap)).Add(base.Raw(elem)))
	methods := []struct{ name, doc, code string }{
		{"add", "appends x; false if the list is full.", "func (l *L) add(x E) bool {\nif int(l.Len) >= len(l.Items) {\nreturn false\n}\nl.Items[l.Len] = x\nl.Len++\nreturn true\n}"},
		{"dropFirst", "removes the first element; false if there is none.", "func (l *L) dropFirst() bool {\nif l.Len == 0 {\nreturn false\n}\ncopy(l.Items[:], l.Items[1:l.Len])\nl.Len--\nvar none E\nl.Items[l.Len] = none\nreturn true\n}"},
		{"remove", "removes every x.", "func (l *L) remove(x E) {\nold := *l\n*l = L{}\nfor _, e := range old.Items[:old.Len] {\nif e != x {\nl.Items[l.Len] = e\nl.Len++\n}\n}\n}"},
		{"contains", "reports whether some element is x.", "func (l *L) contains(x E) bool {\nfor i := range l.Items[:l.Len] {\nif l.Items[i] == x {\nreturn true\n}\n}\nreturn false\n}"},
	}
	for _, m := range methods {
		if gt.Methods[m.name] {
			f.Line()
			f.Comment(base.Comment(m.name, m.doc))
			f.Add(base.Raw(strings.NewReplacer("*L)", "*"+gt.Name+")", "= L{}", "= "+gt.Name+"{}", "(x E)", "("+"x "+elem+")", "none E", "none "+elem).Replace(m.code)))
		}
	}
}

func (g *gen) declareText(f *jen.File, gt *types.Type, head func(string)) {
	head(fmt.Sprintf("is a text of at most %d bytes. Bytes of Data from Len on are 0.", gt.T.Cap))
	f.Type().Id(gt.Name).Struct(jen.Id("Len").Id(types.LenType(gt.T.Cap)), jen.Id("Data").Index(jen.Lit(gt.T.Cap)).Byte())
	n, maker := gt.Name, g.Maker(gt.Name)
	f.Line()
	f.Comment(base.Comment(maker, fmt.Sprintf("makes a %s; ok is false if s is longer than %d bytes, and the text is cut then.", n, gt.T.Cap)))
	f.Add(base.Rawf("func %s(s string) (t %s, ok bool) {\nt.Len = %s(copy(t.Data[:], s))\nreturn t, len(s) <= len(t.Data)\n}", maker, n, types.LenType(gt.T.Cap)))
	f.Line()
	f.Comment("String returns the text.")
	f.Add(base.Rawf("func (t %s) String() string { return string(t.Data[:min(int(t.Len), len(t.Data))]) }", n))
	if gt.Methods["make"] {
		f.Line()
		f.Comment(base.Comment(g.TextMaker(gt), "makes a constant of the specification."))
		f.Add(base.Rawf("func %s(s string) %s {\nt, _ := %s(s)\nreturn t\n}", g.TextMaker(gt), n, maker))
	}
}

// stringer emits the String method of an enumeration and its table of names.
func (g *gen) stringer(f *jen.File, typ string, names []string) {
	table := g.Top.Take(base.Unexported(typ) + "Names")
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strconv.Quote(n)
	}
	f.Line()
	f.Var().Id(table).Op("=").Add(base.Raw("[...]string{" + strings.Join(quoted, ", ") + "}"))
	f.Line()
	f.Comment("String returns the name as the specification has it.")
	f.Add(base.Rawf("func (v %s) String() string { return fsm.Name(%s[:], int(v)) }", typ, table))
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

func (g *gen) declareEnum(f *jen.File, gt *types.Type, head func(string)) {
	head("is an enumeration.")
	f.Type().Id(gt.Name).Id(types.Width(gt.T))
	f.Comment(base.Comment("", "The values of "+gt.Name+"."))
	g.enumConsts(f, gt.Name, g.EnumNames(gt), nil)
	g.stringer(f, gt.Name, gt.T.Names)
}

// structFields emits the fields of a record, message, command or report.
func (g *gen) structFields(s *jen.Group, names []string, fields []*model.Field) {
	for i, fl := range fields {
		line := s.Id(names[i]).Add(base.Raw(g.Typ(fl.Type, names[i]).Name))
		if fl.Doc != "" {
			line.Comment(strings.Join(strings.Fields(fl.Doc), " "))
		}
	}
}

// declare emits the declaration of a type and of the methods that are used.
func (g *gen) declare(f *jen.File, gt *types.Type) {
	t := gt.T
	doc := base.Sentence(t.Doc)
	head := func(what string) {
		f.Line()
		f.Comment(base.Comment(gt.Name, what))
		if doc != "" {
			f.Comment(base.Comment("", doc))
		}
	}
	switch t.Kind {
	case model.KindInt:
		head(fmt.Sprintf("is a number in %d..%d.", t.Lo, t.Hi))
		f.Type().Id(gt.Name).Id(types.Width(t))
	case model.KindOpaque:
		head("is carried and compared, never computed with.")
		f.Type().Id(gt.Name).Id(types.Width(t))
	case model.KindSet:
		head("is a set: bit i stands for the type's value number i.")
		f.Type().Id(gt.Name).Uint64()
	case model.KindEnum:
		g.declareEnum(f, gt, head)
	case model.KindBytes:
		g.declareText(f, gt, head)
	case model.KindArray:
		head("has one element for each value of its index.")
		f.Type().Id(gt.Name).Index(jen.Lit(int(t.Index.Count()))).Add(base.Raw(g.Typ(t.Elem, "").Name))
	case model.KindList:
		g.declareList(f, gt, head)
	case model.KindRecord:
		head("is a record.")
		f.Type().Id(gt.Name).StructFunc(func(s *jen.Group) { g.structFields(s, gt.Fields, t.Fields) })
	}
}
