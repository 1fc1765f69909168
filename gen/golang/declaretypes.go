package golang

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/parley-go/parley/gen/golang/base"
	"github.com/parley-go/parley/gen/golang/gotree"
	"github.com/parley-go/parley/gen/golang/types"
	"github.com/parley-go/parley/gen/model"
)

// helpers are functions that a generated package can need, by the name that asks for them.
var helpers = []struct {
	name string
	fn   *gotree.Func
}{
	{"ordinal", gotree.F(`// ordinal is the number of a truth value.
		func ordinal(b bool) int {
			if b {
				return 1
			}
			return 0
		}`)},
	{"add64", gotree.F(`// add64 adds; false if the sum needs more than 64 bits.
		func add64(a, b int64) (int64, bool) {
			r := a + b
			return r, (r > a) == (b > 0)
		}`)},
	{"sub64", gotree.F(`// sub64 subtracts; false if the difference needs more than 64 bits.
		func sub64(a, b int64) (int64, bool) {
			r := a - b
			return r, (r < a) == (b > 0)
		}`)},
	{"mul64", gotree.F(`// mul64 multiplies; false if the product needs more than 64 bits.
func mul64(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	r := a * b
	return r, r/b == a && !(a == -1 && b == -1<<63) && !(b == -1 && a == -1<<63)
}`)},
	{"div64", gotree.F(`// div64 divides by what is not 0; false if the quotient needs more than 64 bits.
		func div64(a, b int64) (int64, bool) { return a / b, a != -1<<63 || b != -1 }`)},
	{"numbered", gotree.F(`// numbered is the number of an instance in n bytes, -1 for none and 254 for what is no number.
func numbered(b []byte, n int) int64 {
	for _, x := range b[1:n] {
		if x != 0 {
			return 254
		}
	}
	return int64(b[0]) - 1
}`)},
	{"bits", gotree.F(`// countBits counts the elements of a set.
		func countBits(set uint64) int64 {
			n := int64(0)
			for ; set != 0; set &= set - 1 {
				n++
			}
			return n
		}`)},
	{"mask", gotree.F(`// maskOf is the bit of element number i, 0 if there is none.
		func maskOf(i int64) uint64 {
			if i < 0 || i >= 62 {
				return 0
			}
			return 1 << uint64(i)
		}`)},
	{"took", gotree.F(`// took is the result of a transition.
		func took(transition uint16) fsm.Result { return fsm.Result{Code: fsm.Took, Transition: transition} }`)},
	{"ignored", gotree.F(`// ignored is the result of an event that the state ignores.
		func ignored(transition uint16) fsm.Result {
			return fsm.Result{Code: fsm.Ignored, Transition: transition}
		}`)},
	{"deferred", gotree.F(`// deferred is the result of an event that the state keeps for later.
		func deferred(transition uint16) fsm.Result {
			return fsm.Result{Code: fsm.Deferred, Transition: transition}
		}`)},
	{"refused", gotree.F(`// refused is the result of an event that the state does not take.
		func refused(transition uint16) fsm.Result {
			return fsm.Result{Code: fsm.Refused, Transition: transition}
		}`)},
}

// helperFuncs emits the helpers that the package needs.
func (g *gen) helperFuncs(f *jen.File) {
	funcs(f, g.checkFuncs())
	if g.Helpers["Optional"] {
		f.Line()
		f.Comment("// Optional is a T or nothing; the Value of nothing is zero.")
		f.Type().Id("Optional").Types(jen.Id("T").Comparable()).Struct(
			jen.Id("Present").Bool(), jen.Id("Value").Id("T"))
		some := gotree.F(`// Some makes a present Optional.
			func Some(v T) Optional[T] { return Optional[T]{Present: true, Value: v} }`)
		some.Types = []gotree.Param{{Name: "T", Type: gotree.X("comparable")}}
		funcs(f, []*gotree.Func{some})
	}
	for _, h := range helpers {
		if g.Helpers[h.name] {
			funcs(f, []*gotree.Func{h.fn})
		}
	}
	if g.Helpers["maxQueued"] {
		f.Line()
		f.Comment("// maxQueued is how many events of parts one step may handle.")
		f.Const().Id("maxQueued").Op("=").Lit(256)
	}
}

// caseList is a list of cases of a switch. Cases that do the same are one.
type caseList []*gotree.Case

func (l *caseList) add(label string, body []gotree.Stmt) {
	for _, c := range *l {
		if gotree.Equal(c.Body, body) {
			c.List = append(c.List, gotree.Name{Name: label})
			return
		}
	}
	*l = append(*l, when(body, label))
}

// eventChecks composes the cases of Event.invalid and of Event.outside.
func (g *gen) eventChecks(r *types.Machine) (invalid, outside caseList) {
	for _, e := range r.Events {
		var tests []gotree.Expr
		var complaints []gotree.Stmt
		for _, c := range g.ChecksOf(r, e) {
			tests = append(tests, c.Test)
			complaints = append(complaints, gotree.S("why.Outside($1, $2, $3)", c.Test, gotree.Str(c.Field),
				gotree.Str(types.RangeText(c.T)))...)
		}
		if len(tests) > 0 {
			invalid.add(e.Kind, []gotree.Stmt{gotree.Returns(gotree.Or(tests...))})
			outside.add(e.Kind, complaints)
		}
	}
	return invalid, outside
}

func (g *gen) checkFuncs() []*gotree.Func {
	var out []*gotree.Func
	for i := 0; i < len(g.CheckOrder); i++ { // one may need others
		c := g.CheckOrder[i]
		fn := gotree.F("func $1(v *$2) bool {\n}", c.Name, c.Of.X)
		fn.Doc = base.Comment(c.Name, "reports whether some element is none of its type.")
		if elem := c.Of.T.Elem; c.Of.T.Kind == model.KindArray {
			fn.Body = gotree.S("for i := range v {\nif $1 {\nreturn true\n}\n}\nreturn false",
				g.Invalid(elem, gotree.X("v[i]")))
		} else if bad := g.Invalid(elem, gotree.X("v.Items[i]")); bad == nil {
			fn.Body = gotree.S("return int(v.Len) > len(v.Items)")
		} else {
			fn.Body = gotree.S(`if int(v.Len) > len(v.Items) {
					return true
				}
				for i := range v.Items[:v.Len] {
					if $1 {
						return true
					}
				}
				return false`, bad)
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
	f.Var().Id("_").Op("=").Add(gotree.Code(gotree.X("fsm.$1", fmt.Sprintf("GeneratedV%d", base.Contract))))
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
	t, elem := gt.T, g.Typ(gt.T.Elem, "").X
	head(fmt.Sprintf("is a list of at most %d. Items from Len on are zero.", t.Cap))
	f.Type().Id(gt.Name).Struct(jen.Id("Len").Id(types.LenType(t.Cap)),
		jen.Id("Items").Index(jen.Lit(t.Cap)).Add(gotree.Code(elem)))
	for _, code := range []string{
		`// add appends x; false if the list is full.
func (l *$1) add(x $2) bool {
	if int(l.Len) >= len(l.Items) {
		return false
	}
	l.Items[l.Len] = x
	l.Len++
	return true
}`,
		`// dropFirst removes the first element; false if there is none.
func (l *$1) dropFirst() bool {
	if l.Len == 0 {
		return false
	}
	copy(l.Items[:], l.Items[1:l.Len])
	l.Len--
	var none $2
	l.Items[l.Len] = none
	return true
}`,
		`// remove removes every x.
func (l *$1) remove(x $2) {
	old := *l
	*l = $1{}
	for _, e := range old.Items[:old.Len] {
		if e != x {
			l.Items[l.Len] = e
			l.Len++
		}
	}
}`,
		`// contains reports whether some element is x.
func (l *$1) contains(x $2) bool {
	for i := range l.Items[:l.Len] {
		if l.Items[i] == x {
			return true
		}
	}
	return false
}`,
	} {
		if fn := gotree.F(code, gt.Name, elem); gt.Methods[fn.Name] {
			funcs(f, []*gotree.Func{fn})
		}
	}
}

func (g *gen) declareText(f *jen.File, gt *types.Type, head func(string)) {
	what, size, ok := "is a text of at most", fmt.Sprintf("%d bytes", gt.T.Cap), gotree.X("len(s) <= len(t.Data)")
	fails := "s is longer than " + size + ", and the text is cut then."
	switch {
	case gt.T.Exact:
		what, ok = "is", gotree.X("len(s) == len(t.Data)")
		size += "; with fewer it has no encoding"
		fails = fmt.Sprintf("s has not %d bytes.", gt.T.Cap)
	case gt.T.Binary:
		what, fails = "is at most", strings.Replace(fails, "the text is", "it is", 1)
	}
	head(fmt.Sprintf("%s %s. Bytes of Data from Len on are 0.", what, size))
	length := types.LenType(gt.T.Cap)
	f.Type().Id(gt.Name).Struct(jen.Id("Len").Id(length), jen.Id("Data").Index(jen.Lit(gt.T.Cap)).Byte())
	maker := gotree.F(`func $1(s string) (t $2, ok bool) {
			t.Len = $3(copy(t.Data[:], s))
			return t, $4
		}`, g.Maker(gt.Name), gt.X, length, ok)
	maker.Doc = base.Comment(maker.Name, fmt.Sprintf("makes a %s; ok is false if %s", gt.Name, fails))
	list := []*gotree.Func{maker,
		gotree.F(`// String returns the text.
			func (t $1) String() string { return string(t.Data[:min(int(t.Len), len(t.Data))]) }`, gt.X)}
	if gt.T.Binary {
		list[1].Doc = "// String returns the bytes."
	}
	if gt.Methods["make"] {
		constant := gotree.F("func $1(s string) $2 {\nt, _ := $3(s)\nreturn t\n}", g.TextMaker(gt), gt.X, maker.Name)
		constant.Doc = base.Comment(constant.Name, "makes a constant of the specification.")
		list = append(list, constant)
	}
	funcs(f, list)
}

// stringer emits the String method of an enumeration, and its table of names.
func (g *gen) stringer(f *jen.File, typ string, names []string) {
	list := g.Top.Take(base.Unexported(typ) + "Names")
	table(f, list, "", gotree.X("[...]string{$1}", texts(names)))
	funcs(f, []*gotree.Func{gotree.F(`// String returns the name as the specification has it.
		func (v $1) String() string { return fsm.Name($2[:], int(v)) }`, typ, list)})
}

// enumConsts emits constants that count from 0, each with the author's description as comment.
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
		line := s.Id(names[i]).Add(gotree.Code(g.Typ(fl.Type, names[i]).X))
		if fl.Doc != "" {
			line.Comment(strings.Join(strings.Fields(fl.Doc), " "))
		}
	}
}

// declare emits a type, and those of its methods that are used.
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
		g.declareSet(f, gt)
	case model.KindEnum:
		g.declareEnum(f, gt, head)
	case model.KindBytes:
		g.declareText(f, gt, head)
	case model.KindArray:
		head("has one element for each value of its index.")
		f.Type().Id(gt.Name).Index(jen.Lit(int(t.Index.Count()))).Add(gotree.Code(g.Typ(t.Elem, "").X))
	case model.KindList:
		g.declareList(f, gt, head)
	case model.KindRecord:
		head("is a record.")
		f.Type().Id(gt.Name).StructFunc(func(s *jen.Group) { g.structFields(s, gt.Fields, t.Fields) })
	}
}

// declareSet emits what programs do with sets, so that they need no masks. No value that the set cannot
// have is ever put into it: its bit is shifted out, or taken off by the mask of all.
func (g *gen) declareSet(f *jen.File, gt *types.Type) {
	elem := gt.T.Elem
	if elem.Kind == model.KindBool {
		return
	}
	bit := jen.Id("uint").Call(jen.Id("v"))
	switch lo := elem.Lo; {
	case elem.Kind == model.KindEnum || lo == 0:
	case lo > 0:
		bit = jen.Parens(bit.Op("-").Lit(int(lo)))
	default:
		bit = jen.Parens(bit.Op("+").Lit(int(-lo)))
	}
	all := jen.Lit(1).Op("<<").Lit(int(elem.Count())).Op("-").Lit(1)
	method := func(name, doc string, result, code jen.Code) {
		f.Line()
		f.Comment(base.Comment(name, doc))
		f.Func().Params(jen.Id("s").Id(gt.Name)).Id(name).
			Params(jen.Id("v").Add(gotree.Code(g.Typ(elem, "").X))).Add(result).Block(jen.Return(code))
	}
	method("Has", "reports whether v is in the set.", jen.Bool(),
		jen.Id("s").Op(">>").Add(bit).Op("&").Lit(1).Op("!=").Lit(0))
	method("With", "returns the set with v, which is a value of its type.", jen.Id(gt.Name),
		jen.Id("s").Op("|").Lit(1).Op("<<").Add(bit).Op("&").Parens(all))
	method("Without", "returns the set without v.", jen.Id(gt.Name),
		jen.Id("s").Op("&^").Parens(jen.Lit(1).Op("<<").Add(bit)))
}
