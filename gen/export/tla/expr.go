package tla

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/core/interval"
	"github.com/parley-go/parley/gen/model"
)

// scope is where an expression is evaluated.
type scope struct {
	m *module
	// self is the text of the record of the machine that runs, mach that machine; in claims they are nothing.
	self string
	mach *model.Machine
	// locals are the texts of locals, sender that of who sent what is handled.
	locals map[*model.Local]string
	sender string
	// inst is the number of the instance that a rule of the environment is about, as a text.
	inst int
}

// with returns a scope with room for locals of its own.
func (sc *scope) with() *scope {
	c := *sc
	c.locals = maps.Clone(sc.locals)
	if c.locals == nil {
		c.locals = map[*model.Local]string{}
	}
	return &c
}

// value is an expression in TLA+: its text, and the condition under which it does not fault; empty: always. The
// condition itself can always be evaluated, from left to right.
type value struct{ text, ok string }

func all(conds ...string) string {
	var list []string
	for _, c := range conds {
		if c != "" && c != "TRUE" {
			list = append(list, c)
		}
	}
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	return "(" + strings.Join(list, " /\\ ") + ")"
}

// paren puts parentheses around what is more than a name, a number or something in brackets of its own.
func paren(s string) string {
	if !strings.ContainsAny(s, " -~") || closed(s) {
		return s
	}
	return "(" + s + ")"
}

// closed reports whether s begins with a bracket that is closed at its end.
func closed(s string) bool {
	depth, text := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case text:
			if c == '\\' {
				i++
			} else if c == '"' {
				text = false
			}
		case c == '"':
			text = true
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		}
		if depth == 0 && !text && i < len(s)-1 {
			return false
		}
	}
	return s != "" && strings.ContainsAny(s[:1], `([{"`)
}

func orTrue(cond string) string {
	if cond == "" {
		return "TRUE"
	}
	return cond
}

func negation(cond string) string { return "~" + paren(cond) }

// eval writes an expression.
func (sc *scope) eval(e core.Expr) value {
	switch e := e.(type) {
	case *core.Const:
		return value{text: sc.constant(e)}
	case *core.Local:
		if e.Local == nil {
			return value{text: sc.sender}
		}
		text, ok := sc.locals[e.Local]
		if !ok {
			refuse("the local %s, of which the export does not know the value (%s)", e.Local.Name, e.Pos())
		}
		return value{text: text}
	case *core.Read:
		return sc.read(e)
	case *core.Field:
		x := sc.eval(e.X)
		if e.Field != nil {
			return value{paren(x.text) + "." + identifier(e.Field.Name), x.ok}
		}
		return value{paren(x.text) + "[1]", all(x.ok, "("+paren(x.text)+" # <<>>)")}
	case *core.Index:
		return sc.index(e)
	case *core.Apply:
		return sc.apply(e)
	case *core.If:
		return sc.choice(e)
	case *core.Make:
		return sc.make(e)
	case *core.Fold:
		return sc.fold(e)
	case *core.Fit:
		x := sc.eval(e.X)
		return value{x.text, all(x.ok, sc.m.fits(e.T, e.X.Node().T, x.text, e.X.Node().In))}
	case *core.Observe:
		return value{text: sc.observe(e.Of)}
	}
	refuse("an expression of the kind %T (%s)", e, e.Node().Pos())
	return value{}
}

// cond writes a condition.
func (sc *scope) cond(e core.Expr) value {
	v := sc.eval(e)
	return value{paren(v.text), v.ok}
}

func (sc *scope) constant(e *core.Const) string {
	if e.IsText {
		sc.m.strs.Intern([]byte(e.Text))
		return quoted(e.Text)
	}
	v := make([]int64, e.Slots)
	v[0] = e.Value
	return sc.m.literal(e.T, v)
}

// read writes what is read of a machine.
func (sc *scope) read(e *core.Read) value {
	if e.What == core.ReadDown {
		if !sc.m.has["down"] {
			return value{text: "FALSE"}
		}
		return value{text: fmt.Sprintf("ends[%d].down", e.Inst.Index)}
	}
	self, mach := sc.self, sc.mach
	if e.Inst != nil {
		if e.Inst.Monitor {
			refuse("a monitor of several instances (%s)", e.Pos())
		}
		self, mach = fmt.Sprintf("mach[%d]", e.Inst.Index), sc.m.c.Instances[e.Inst.Index].Role
	}
	ok := ""
	for _, step := range e.Path {
		at := slices.IndexFunc(mach.Parts, func(p *model.Part) bool { return p.Name == step.Part.Name })
		self += "." + sc.m.field(mach, step.Part.Name)
		mach = mach.Parts[at].Machine
		if len(step.Keys) > 0 {
			key, fine := sc.keyed(step.Keys)
			self, ok = self+"["+key+"]", all(ok, fine)
		}
	}
	switch e.What {
	case core.ReadState:
		var names []string
		for _, st := range e.Is {
			names = append(names, quoted(st.Name))
		}
		return value{among(self+"."+stateField, names), ok}
	case core.ReadTimer:
		text := self + "." + sc.m.field(mach, e.Timer.Name)
		if len(e.Keys) > 0 {
			key, fine := sc.keyed(e.Keys)
			text, ok = text+"["+key+"]", all(ok, fine)
		}
		return value{sc.m.runs(text), ok}
	}
	return value{self + "." + sc.m.field(mach, e.Var.Name), ok}
}

// among writes that something is one of some names.
func among(text string, names []string) string {
	if len(names) == 1 {
		return "(" + text + " = " + names[0] + ")"
	}
	return "(" + text + " \\in {" + strings.Join(names, ", ") + "})"
}

// keyed writes keys, and the condition that they are such.
func (sc *scope) keyed(list []core.Expr) (key, ok string) {
	var texts []string
	for _, k := range list {
		v := sc.eval(k)
		texts, ok = append(texts, v.text), all(ok, v.ok)
	}
	return tuple(texts), ok
}

func (sc *scope) index(e *core.Index) value {
	x, i := sc.eval(e.X), sc.eval(e.I)
	t := e.X.Node().T
	ok := all(x.ok, i.ok)
	if t.Kind == model.KindArray {
		lo := t.Index.Lowest()
		if in := e.I.Node().In; !numeric(t.Index) {
			return value{paren(x.text) + "[" + i.text + "]", ok}
		} else if !in.In(interval.Interval{Lo: lo, Hi: lo + t.Index.Count() - 1}) {
			ok = all(ok, "("+paren(i.text)+" \\in "+sc.m.domain(t.Index)+")")
		}
		return value{paren(x.text) + "[" + i.text + "]", ok}
	}
	inside := fmt.Sprintf("(%s \\in 0..(Len(%s) - 1))", paren(i.text), x.text)
	return value{paren(x.text) + "[" + paren(i.text) + " + 1]", all(ok, inside)}
}

// numeric reports whether the values of a type are numbers in TLA+.
func numeric(t *model.Type) bool {
	return t.Kind == model.KindInt || t.Kind == model.KindNode || t.Kind == model.KindOpaque
}

func (sc *scope) choice(e *core.If) value {
	c, x, y := sc.cond(e.Cond), sc.eval(e.Then), sc.eval(e.Else)
	v := value{ok: c.ok}
	if x.ok != "" || y.ok != "" {
		v.ok = all(c.ok, "(IF "+c.text+" THEN "+orTrue(x.ok)+" ELSE "+orTrue(y.ok)+")")
	}
	switch e.Form {
	case core.FormAnd:
		v.text = "(" + c.text + " /\\ " + paren(x.text) + ")"
	case core.FormOr:
		v.text = "(" + c.text + " \\/ " + paren(y.text) + ")"
	case core.FormImplies:
		v.text = "(" + c.text + " => " + paren(x.text) + ")"
	default:
		v.text = "(IF " + c.text + " THEN " + x.text + " ELSE " + y.text + ")"
	}
	return v
}

var operators = map[core.Op]string{core.Add: "+", core.Sub: "-", core.Mul: "*", core.Eq: "=", core.Ne: "#",
	core.Lt: "<", core.Le: "<=", core.Gt: ">", core.Ge: ">=", core.Union: "\\cup", core.Minus: "\\",
	core.Intersect: "\\cap"}

// apply writes an operation.
func (sc *scope) apply(e *core.Apply) value {
	if v, ok := sc.beyond(e); ok {
		return v
	}
	x := sc.eval(e.Args[0])
	t := e.Args[0].Node().T
	if len(e.Args) == 1 {
		return sc.ofOne(e, t, x)
	}
	y := sc.eval(e.Args[1])
	a, b, ok := paren(x.text), paren(y.text), all(x.ok, y.ok)
	switch e.Op {
	case core.Append:
		return value{"Append(" + x.text + ", " + y.text + ")",
			all(x.ok, fmt.Sprintf("(Len(%s) < %d)", x.text, e.T.Cap), y.ok)}
	case core.With:
		return value{"(" + a + " \\cup {" + y.text + "})", ok}
	case core.Without:
		if t.Kind == model.KindSet {
			return value{"(" + a + " \\ {" + y.text + "})", ok}
		}
		l := sc.m.fresh("y")
		return value{"SelectSeq(" + x.text + ", LAMBDA " + l + " : " + l + " # " + b + ")", ok}
	case core.Has:
		if t.Kind == model.KindSet {
			return value{"(" + b + " \\in " + a + ")", ok}
		}
		k := sc.m.fresh("k")
		return value{fmt.Sprintf("(\\E %s \\in 1..Len(%s) : %s[%s] = %s)", k, x.text, a, k, b), ok}
	case core.Lt, core.Le, core.Gt, core.Ge:
		if t.Kind == model.KindEnum {
			a, b = sc.place(t, x.text), sc.place(e.Args[1].Node().T, y.text)
		}
	case core.Min, core.Max:
		less := "<="
		if e.Op == core.Max {
			less = ">="
		}
		return value{fmt.Sprintf("(IF %s %s %s THEN %s ELSE %s)", a, less, b, a, b), ok}
	case core.Div, core.Mod:
		ok = all(ok, "("+b+" # 0)")
		name, sign := "Quotient", " \\div "
		if e.Op != core.Div {
			name, sign = "Remainder", " % "
		}
		if in, by := e.Args[0].Node().In, e.Args[1].Node().In; in.Lo >= 0 && by.Lo >= 0 {
			return value{"(" + a + sign + b + ")", ok}
		}
		sc.m.need[name] = true
		return value{name + "(" + x.text + ", " + y.text + ")", ok}
	case core.Eq, core.Ne:
		sc.m.comparable(t, e.Args[1].Node().T, e)
	}
	return value{"(" + a + " " + operators[e.Op] + " " + b + ")", ok}
}

// beyond writes a comparison with a number that TLC does not have: every number that it has is less, and it stops
// where it would come to another one.
func (sc *scope) beyond(e *core.Apply) (value, bool) {
	if len(e.Args) != 2 || !numeric(e.Args[0].Node().T) {
		return value{}, false
	}
	large := func(x core.Expr) bool {
		c, ok := core.Bare(x).(*core.Const)
		return ok && c.Value > greatest
	}
	left, right := large(e.Args[0]), large(e.Args[1])
	if left == right {
		return value{}, false
	}
	other := e.Args[0]
	if left {
		other = e.Args[1]
	}
	v := sc.eval(other)
	switch e.Op {
	case core.Eq:
		return value{"FALSE", v.ok}, true
	case core.Ne:
		return value{"TRUE", v.ok}, true
	case core.Lt, core.Le:
		return value{boolean(right), v.ok}, true
	case core.Gt, core.Ge:
		return value{boolean(left), v.ok}, true
	}
	return value{}, false
}

// place writes the place of a name among those of an enumeration.
func (sc *scope) place(t *model.Type, x string) string {
	k := sc.m.fresh("k")
	return fmt.Sprintf("(CHOOSE %s \\in 1..%d : %s[%s] = %s)", k, len(t.Names), sc.m.values(t), k, paren(x))
}

// comparable refuses arrays whose elements stand at different places.
func (m *module) comparable(t, u *model.Type, e core.Expr) {
	if t.Kind == model.KindArray && t.Index.Lowest() != u.Index.Lowest() {
		refuse("two arrays that begin at different places (%s)", e.Node().Pos())
	}
	if t.Elem != nil && u.Elem != nil {
		m.comparable(t.Elem, u.Elem, e)
	}
}

// ofOne writes an operation on one operand of type t.
func (sc *scope) ofOne(e *core.Apply, t *model.Type, x value) value {
	switch e.Op {
	case core.Not:
		return value{"(~" + paren(x.text) + ")", x.ok}
	case core.Neg:
		return value{"(0 - " + paren(x.text) + ")", x.ok}
	case core.Head:
		return value{"Head(" + x.text + ")", all(x.ok, "("+paren(x.text)+" # <<>>)")}
	case core.Tail:
		return value{"Tail(" + x.text + ")", all(x.ok, "("+paren(x.text)+" # <<>>)")}
	case core.Len:
		switch t.Kind {
		case model.KindSet:
			return value{"Cardinality(" + x.text + ")", x.ok}
		case model.KindBytes:
			return value{sc.m.textLength(x.text), x.ok}
		}
		return value{"Len(" + x.text + ")", x.ok}
	}
	refuse("the operation %s (%s)", e.Op, e.Pos())
	return value{}
}

// textLength writes the length of a text in bytes. TLA+ does not say what a string is made of.
func (m *module) textLength(x string) string {
	m.need["Bytes"] = true
	return "Bytes[" + x + "]"
}

// make writes a record, optional, list or set of its elements.
func (sc *scope) make(e *core.Make) value {
	var list []string
	ok := ""
	for _, x := range e.Elems {
		v := sc.eval(x)
		list, ok = append(list, v.text), all(ok, v.ok)
	}
	switch e.T.Kind {
	case model.KindRecord:
		for i, f := range e.T.Fields {
			list[i] = identifier(f.Name) + " |-> " + list[i]
		}
		return value{record(list), ok}
	case model.KindSet:
		return value{"{" + strings.Join(list, ", ") + "}", ok}
	case model.KindList:
		if len(list) > e.T.Cap {
			ok = all(ok, "FALSE")
		}
	}
	return value{"<<" + strings.Join(list, ", ") + ">>", ok}
}

// sequence writes what a loop goes over, as a sequence in its order.
func (sc *scope) sequence(values *model.Type, over core.Expr) value {
	if values != nil {
		return value{text: sc.m.values(values)}
	}
	v := sc.eval(over)
	switch t := over.Node().T; t.Kind {
	case model.KindSet:
		l := sc.m.fresh("y")
		return value{"SelectSeq(" + sc.m.values(t.Elem) + ", LAMBDA " + l + " : " + l + " \\in " + paren(v.text) +
			")", v.ok}
	case model.KindArray:
		var list []string
		for _, k := range sc.m.elements(t.Index) {
			list = append(list, paren(v.text)+"["+k+"]")
		}
		return value{"<<" + strings.Join(list, ", ") + ">>", v.ok}
	}
	return v
}

// fold writes an expression that goes over values or elements. All, Some and First stop where it is decided: what
// faults behind that does not matter.
func (sc *scope) fold(e *core.Fold) value {
	in := sc.with()
	name := sc.m.fresh(e.Local.Name)
	in.locals[e.Local] = name
	where := value{text: "TRUE"}
	if e.Where != nil {
		where = in.cond(e.Where)
	}
	var elem value
	if e.Elem != nil {
		elem = in.eval(e.Elem)
	}
	if where.ok == "" && elem.ok == "" {
		if v, done := sc.simple(e, name, where.text, elem.text); done {
			return v
		}
	}
	return sc.stepwise(e, name, where, elem)
}

// simple writes a fold that cannot fault and whose order does not matter.
func (sc *scope) simple(e *core.Fold, name, where, elem string) (value, bool) {
	set, ok := "", ""
	switch {
	case e.Values != nil:
		set = sc.m.domain(e.Values)
	case e.Over.Node().T.Kind == model.KindSet:
		v := sc.eval(e.Over)
		set, ok = v.text, v.ok
	default:
		return value{}, false
	}
	switch e.How {
	case core.All:
		return value{fmt.Sprintf("(\\A %s \\in %s : %s)", name, set, where), ok}, true
	case core.Some:
		return value{fmt.Sprintf("(\\E %s \\in %s : %s)", name, set, where), ok}, true
	case core.Count:
		return value{fmt.Sprintf("Cardinality({%s \\in %s : %s})", name, set, where), ok}, true
	case core.Set:
		if where != "TRUE" {
			other := sc.m.fresh("y")
			return value{fmt.Sprintf("{%s : %s \\in {%s \\in %s : %s}}", elem, name, other, set,
				renamed(where, name, other)), ok}, true
		}
		return value{fmt.Sprintf("{%s : %s \\in %s}", elem, name, set), ok}, true
	case core.Array:
		if where == "TRUE" {
			return value{fmt.Sprintf("[%s \\in %s |-> %s]", name, set, elem), ok}, true
		}
		none := sc.m.literal(e.T.Elem, make([]int64, e.T.Elem.Slots()))
		return value{fmt.Sprintf("[%s \\in %s |-> IF %s THEN %s ELSE %s]", name, set, where, elem, none), ok}, true
	}
	return value{}, false
}

// renamed replaces a name, which is fresh and so no part of another one, in an expression.
func renamed(text, from, to string) string { return strings.ReplaceAll(text, from, to) }

// stepwise writes a fold over a sequence.
func (sc *scope) stepwise(e *core.Fold, name string, where, elem value) value {
	seq := sc.sequence(e.Values, e.Over)
	q, j, k := sc.m.fresh("q"), sc.m.fresh("j"), sc.m.fresh("k")
	at := func(text, index string) string { return renamed(text, name, q+"["+index+"]") }
	let := func(body string) string { return "(LET " + q + " == " + seq.text + " IN " + body + ")" }
	each := "1..Len(" + q + ")"
	ok := func(body string) string { return all(seq.ok, let(body)) }
	if where.ok == "" {
		where.ok = "TRUE"
	}
	w, fine := at(where.text, j), at(where.ok, j)
	// Evaluation comes to j unless an element before decides.
	decided := func(is string) string {
		before := "\\E " + k + " \\in 1..(" + j + " - 1) : " + at(where.ok, k) + " /\\ " + is + at(where.text, k)
		return "\\A " + j + " \\in " + each + " : " + fine + " \\/ (" + before + ")"
	}
	v := value{}
	stops := ""
	switch e.How {
	case core.All:
		v.text = let("\\A " + j + " \\in " + each + " : " + fine + " => " + w)
		stops = decided("~")
	case core.Some:
		v.text = let("\\E " + j + " \\in " + each + " : " + fine + " /\\ " + w)
		stops = decided("")
	case core.First:
		hits := "{" + j + " \\in " + each + " : " + fine + " /\\ " + w + "}"
		first := "<<" + q + "[CHOOSE " + j + " \\in " + hits + " : \\A " + k + " \\in " + hits2(hits, j,
			sc.m.fresh("i")) +
			" : " + j + " <= " + k + "]>>"
		v.text = let("IF " + hits + " = {} THEN <<>> ELSE " + first)
		stops = decided("")
	case core.Count:
		v.text = let("Cardinality({" + j + " \\in " + each + " : " + w + "})")
		stops = "\\A " + j + " \\in " + each + " : " + fine
	}
	if stops != "" {
		if where.ok == "TRUE" {
			v.ok = seq.ok
			return v
		}
		v.ok = ok(stops)
		return v
	}
	// What makes lists, sets and arrays: the elements that meet the condition, in their order.
	r, y := sc.m.fresh("r"), sc.m.fresh("y")
	chosen := q
	if where.text != "TRUE" {
		chosen = "SelectSeq(" + q + ", LAMBDA " + y + " : " + renamed(where.text, name, y) + ")"
	}
	of := func(body string) string { return let("LET " + r + " == " + chosen + " IN " + body) }
	el := func(text string) string { return renamed(text, name, r+"["+j+"]") }
	conds := []string{seq.ok}
	if where.ok != "TRUE" {
		conds = append(conds, let("\\A "+j+" \\in "+each+" : "+fine))
	}
	if elem.ok != "" {
		conds = append(conds, of("\\A "+j+" \\in 1..Len("+r+") : "+el(elem.ok)))
	}
	switch e.How {
	case core.List:
		v.text = of("[" + j + " \\in 1..Len(" + r + ") |-> " + el(elem.text) + "]")
		if core.Rounds(e.Values, e.Over) > int64(e.T.Cap) {
			conds = append(conds, of(fmt.Sprintf("Len(%s) <= %d", r, e.T.Cap)))
		}
	case core.Set:
		v.text = of("{" + el(elem.text) + " : " + j + " \\in 1..Len(" + r + ")}")
	case core.Array:
		none := sc.m.literal(e.T.Elem, make([]int64, e.T.Elem.Slots()))
		i := sc.m.fresh("i")
		v.text = fmt.Sprintf("[%s \\in %s |-> IF %s THEN %s ELSE %s]", i, sc.m.domain(e.T.Index),
			renamed(where.text, name, i), renamed(elem.text, name, i), none)
	}
	v.ok = all(conds...)
	return v
}

// hits2 writes a set by another bound name.
func hits2(set, name, other string) string { return renamed(set, name, other) }

// fits writes the condition that a value is one of a type; empty: it always is.
func (m *module) fits(to, from *model.Type, x string, in interval.Interval) string {
	if core.Within(from, to) && to.Kind != model.KindInt && to.Kind != model.KindNode &&
		to.Kind != model.KindOptional {
		return ""
	}
	a := paren(x)
	switch to.Kind {
	case model.KindInt, model.KindNode:
		if in.Lo >= to.Lo && in.Hi <= to.Hi {
			return ""
		}
		var list []string
		if in.Lo < to.Lo && to.Lo > -greatest {
			list = append(list, a+" >= "+number(to.Lo))
		}
		if in.Hi > to.Hi && to.Hi < greatest { // TLC has no greater numbers, and says so where it needs one
			list = append(list, a+" <= "+number(to.Hi))
		}
		if len(list) == 0 {
			return ""
		}
		return "(" + strings.Join(list, " /\\ ") + ")"
	case model.KindBytes:
		return fmt.Sprintf("(%s <= %d)", m.textLength(x), to.Cap)
	case model.KindOptional:
		inner := m.fits(to.Elem, from.Elem, a+"[1]", in)
		if inner == "" {
			return ""
		}
		return "(" + a + " = <<>> \\/ " + inner + ")"
	case model.KindRecord:
		var list []string
		for i, f := range to.Fields {
			g := from.Fields[i]
			list = append(list, m.fits(f.Type, g.Type, a+"."+identifier(f.Name), interval.Of(g.Type)))
		}
		return all(list...)
	case model.KindArray:
		if to.Index.Lowest() != from.Index.Lowest() || to.Index.Count() != from.Index.Count() {
			refuse("an array stored where another one begins or ends elsewhere")
		}
		k := m.fresh("k")
		return m.forAll(k, m.domain(to.Index), m.fits(to.Elem, from.Elem, a+"["+k+"]", bounds(from.Elem)))
	case model.KindList:
		k := m.fresh("k")
		size := ""
		if from.Cap > to.Cap {
			size = fmt.Sprintf("(Len(%s) <= %d)", x, to.Cap)
		}
		return all(size, m.forAll(k, "1..Len("+x+")", m.fits(to.Elem, from.Elem, a+"["+k+"]", bounds(from.Elem))))
	case model.KindSet:
		return "(" + a + " \\subseteq " + m.domain(to.Elem) + ")"
	}
	return ""
}

// bounds are those of the numbers of a type, and of what an optional has.
func bounds(t *model.Type) interval.Interval {
	if t.Kind == model.KindOptional {
		return interval.Of(t.Elem)
	}
	return interval.Of(t)
}

func (m *module) forAll(k, set, cond string) string {
	if cond == "" {
		return ""
	}
	return "(\\A " + k + " \\in " + set + " : " + cond + ")"
}

// observe writes how many messages are in transit. In claims those count that are held, too.
func (sc *scope) observe(l *model.ChanLen) string {
	var chans, held []string
	pairs := map[[2]int]bool{}
	for k, ch := range sc.m.rules.Channels {
		if l.Self && (l.Out && ch.From != sc.inst || !l.Out && ch.To != sc.inst) ||
			l.From != nil && l.From.Index != ch.From || l.To != nil && l.To.Index != ch.To ||
			l.Message != nil && l.Message.Channel != ch.Class || l.Over != "" && l.Class != ch.Class {
			continue
		}
		chans = append(chans, fmt.Sprint(k+1))
		pair := [2]int{ch.From, ch.To}
		if !l.Self && !pairs[pair] && sc.m.has["hold"] && sc.m.c.Instances[ch.To].Role.Defers() {
			pairs[pair] = true
			held = append(held, fmt.Sprintf("<<%d, %d>>", ch.From, ch.To))
		}
	}
	name := `""`
	if l.Message != nil {
		name = quoted(l.Message.Name)
	}
	sc.m.need["Under"] = true
	text := fmt.Sprintf("Under({%s}, %s)", strings.Join(chans, ", "), name)
	if l.News && sc.m.has["news"] {
		sc.m.need["UnderNews"] = true
		text = fmt.Sprintf("(%s + UnderNews({%s}))", text, strings.Join(chans, ", "))
	}
	if len(held) > 0 {
		sc.m.need["HeldOf"] = true
		text = fmt.Sprintf("(%s + HeldOf({%s}, %s))", text, strings.Join(held, ", "), name)
	}
	return text
}
