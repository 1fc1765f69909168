package types

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/syntax"
)

// namedType is a type of the section `types`. It is resolved when it is first needed.
type namedType struct {
	key   *ast.Node
	value *ast.Node
	t     *model.Type
	state progress
}

// EnumValue is one name of an enumeration. Index is -1 if the domain of the check leaves the name
// out.
type EnumValue struct {
	Type  *model.Type
	Index int
}

// DeclareTypes resolves the section `types` with the domains of the check.
func (r *Table) DeclareTypes() {
	n := r.Root.Get("types")
	if n != nil {
		for _, e := range n.Entries {
			r.types[e.Key.Text] = &namedType{key: e.Key, value: e.Value}
			if at, known := r.ConstAt(e.Key.Text); known {
				r.NameTaken(e.Key.Span(), e.Key.Text, "constant", at)
			}
		}
		for _, e := range n.Entries {
			r.RefuseInit(e.Value)
			t := r.named(r.types[e.Key.Text])
			if t != nil && t.Name == e.Key.Text {
				r.Protocol.Types = append(r.Protocol.Types, t)
			}
		}
	}
	if d := r.Check.Get("domains"); d != nil {
		for _, e := range d.Entries {
			nt := r.types[e.Key.Text]
			if nt == nil {
				r.noDomain(e.Key, n.Keys())
				continue
			}
			r.Refer(e.Key.Span(), nt.key.Span())
		}
	}
}

func (r *Table) named(nt *namedType) *model.Type {
	switch nt.state {
	case done:
		return nt.t
	case failed:
		return nil
	case busy:
		r.Errorf("FSM043", nt.key.Span(), "type %s contains itself", diag.Quote(nt.key.Text))
		nt.state = failed
		return nil
	}
	nt.state = busy
	t := r.Substitute[nt.key.Text]
	if t == nil {
		t = r.TypeOf(nt.value, nt.key.Text)
	}
	if t == nil || nt.state == failed {
		nt.state = failed
		return nil
	}
	if t.Name == "" || t.Name == nt.key.Text {
		if t.Name == "" && t.Kind != model.KindEnum {
			c := *t
			t = &c
		}
		t.Name = nt.key.Text
		if r.Substitute[nt.key.Text] == nil {
			t.Span = nt.key.Span()
			r.noteEnum(nt, t)
		}
	}
	if d := r.Check.Get("domains").Entry(nt.key.Text); d != nil {
		if narrow := r.domain(t, d.Value); narrow != nil {
			t = narrow
		}
		r.Use(nt.key.Span())
	}
	r.indexEnum(t)
	nt.t, nt.state = t, done
	return t
}

// indexEnum makes the names of an enumeration known, once for each type.
func (r *Table) indexEnum(t *model.Type) {
	if t.Kind != model.KindEnum {
		return
	}
	for i, name := range t.Names {
		known := false
		for _, v := range r.Enums[name] {
			known = known || v.Type == t
		}
		if !known {
			r.Enums[name] = append(r.Enums[name], EnumValue{t, i})
		}
	}
}

// TypeOf resolves a type as written. name is the one that it will get, or empty. It returns nil
// after it has reported an error.
func (r *Table) TypeOf(n *ast.Node, name string) *model.Type {
	switch {
	case n == nil || n.IsNull():
		return nil
	case n.Kind == ast.Scalar:
		return r.shortType(n)
	case n.Kind != ast.Map:
		return nil
	}
	forms := []string{"type", "enum", "record", "array", "map", "list", "queue", "set"}
	var form string
	for _, f := range forms {
		if n.Get(f) == nil {
			continue
		}
		if form != "" {
			r.Errorf("FSM041", n.Entry(f).Key.Span(), "a type is either %s or %s", diag.Quote(form),
				diag.Quote(f))
			return nil
		}
		form = f
	}
	if form == "" {
		r.Errorf("FSM041", n.Span(), "the type is missing: %s", diag.QuoteAll(forms))
		return nil
	}
	r.strayKeys(n, form)
	t := r.longType(n, form, name)
	t = r.words(r.charset(r.without(t, n), n), n, form)
	if t != nil && name != "" && t.Doc == "" && (t.Name == "" || t.Name == name) {
		t.Doc = pass.TextOf(n, "doc")
	}
	return t
}

// strayKeys reports keys that belong to another form of type.
func (r *Table) strayKeys(n *ast.Node, form string) {
	for _, key := range []struct{ name, form, other string }{{"of", "array", "map"}, {"max", "list", "queue"}} {
		if e := n.Entry(key.name); e != nil && form != key.form && form != key.other {
			r.Errorf("FSM041", e.Key.Span(), "%s belongs to %s and %s", diag.Quote(key.name),
				diag.Quote(key.form), diag.Quote(key.other))
		}
	}
}

func (r *Table) longType(n *ast.Node, form, name string) *model.Type {
	v := n.Get(form)
	switch form {
	case "type":
		return r.TypeOf(v, name)
	case "enum", "record":
		if name == "" {
			r.Errorf("FSM044", n.Entry(form).Key.Span(), "an %s needs a name", form).
				With("declare it under `types` and write its name here")
			return nil
		}
		if form == "enum" {
			return r.enum(v)
		}
		return r.record(v, n)
	case "array", "map":
		return r.array(n, v, form)
	case "list", "queue": // a queue is a list whose use is in its name
		elem := r.TypeOf(v, "")
		m := n.Get("max")
		if m == nil {
			r.Errorf("FSM009", n.Entry(form).Key.Span(), "a %s needs a bound", form).With("add `max: n`")
			return nil
		}
		lo := int64(1)
		if strings.ContainsFunc(m.Text, unicode.IsLetter) {
			lo = 0 // a check may set a constant so that its lists stay empty
		}
		size, at, ok := r.ConstMentions(m, lo, 4096, "the bound")
		if elem == nil || !ok {
			return nil
		}
		t := &model.Type{Kind: model.KindList, Elem: elem, Cap: int(size), Span: n.Span(),
			Bounds: at}
		return r.sized(t, 1+size*int64(elem.Slots()), n)
	}
	elem := r.TypeOf(v, "")
	if elem == nil {
		return nil
	}
	if !IsDiscrete(elem) {
		r.Errorf("FSM041", v.Span(), "a set is of bool, a range, an enumeration or instances, not %s", Describe(elem))
		return nil
	}
	if elem.Count() > pass.MaxSet {
		r.Errorf("FSM042", v.Span(), "%s has %d values, a set at most %d", Describe(elem),
			elem.Count(), pass.MaxSet)
		return nil
	}
	return r.sized(&model.Type{Kind: model.KindSet, Elem: elem, Span: n.Span()}, 1, n)
}

// array resolves an array or a map. A map is an array of optional values.
func (r *Table) array(n, index *ast.Node, form string) *model.Type {
	i := r.TypeOf(index, "")
	of := n.Get("of")
	if of == nil {
		r.Errorf("FSM009", n.Entry(form).Key.Span(), "%s needs the type of its elements",
			diag.Article(form)).With("add `of: Type`")
		return nil
	}
	elem := r.TypeOf(of, "")
	if i == nil || elem == nil {
		return nil
	}
	if !IsDiscrete(i) {
		d := r.Errorf("FSM041", index.Span(),
			"%s's index is bool, a range, an enumeration or an instance, not %s", diag.Article(form), Describe(i))
		if form == "map" {
			d.With("keep a list of records with such a key, and look for it: first(e in list: e.key == k)")
		}
		return nil
	}
	if form == "map" {
		if elem.Kind == model.KindOptional {
			r.Errorf("FSM041", of.Span(), "a map has a value or none for each key already").
				With("leave out the `?`")
			return nil
		}
		elem = Optional(elem)
	}
	if i.Count() > pass.MaxTypeSlots {
		r.Errorf("FSM042", index.Span(), "%s has too many values for an index", Describe(i))
		return nil
	}
	return r.sized(&model.Type{Kind: model.KindArray, Index: i, Elem: elem, Span: n.Span()},
		i.Count()*int64(elem.Slots()), n)
}

func (r *Table) enum(v *ast.Node) *model.Type {
	t := &model.Type{Kind: model.KindEnum, Span: v.Span()}
	codes := map[int64]*ast.Node{}
	add := func(n *ast.Node, code int64) {
		for _, old := range t.Names {
			if old == n.Text {
				r.Errorf("FSM040", n.Span(), "%s is already a name of this enumeration",
					diag.Quote(n.Text))
				return
			}
		}
		if first := codes[code]; first != nil {
			r.Errorf("FSM041", n.Span(), "%s has the code %d, as has %s", diag.Quote(n.Text), code,
				diag.Quote(first.Text))
		}
		codes[code] = n
		t.Names = append(t.Names, n.Text)
		t.Codes = append(t.Codes, code)
	}
	for i, it := range v.Items {
		add(it, int64(i))
	}
	for _, e := range v.Entries {
		code, ok := r.ConstIn(e.Value, 0, 1<<32-1, "the code of "+diag.Quote(e.Key.Text))
		if ok {
			add(e.Key, code)
		}
	}
	if len(v.Items)+len(v.Entries) == 0 {
		r.Errorf("FSM041", v.Span(), "an enumeration needs at least one name")
	}
	if len(t.Names) == 0 {
		return nil
	}
	t.Slots()
	return t
}

func (r *Table) record(v, n *ast.Node) *model.Type {
	t := &model.Type{Kind: model.KindRecord, Span: n.Span()}
	if v == nil || len(v.Entries) == 0 {
		r.Errorf("FSM041", n.Span(), "a record needs at least one field")
		return nil
	}
	t.Fields = r.fields(v)
	if t.Fields == nil {
		return nil
	}
	slots := int64(0)
	for _, f := range t.Fields {
		slots += int64(f.Type.Slots())
	}
	return r.sized(t, slots, n)
}

// sized computes the layout of t, unless its values would need too many slots.
func (r *Table) sized(t *model.Type, slots int64, n *ast.Node) *model.Type {
	if slots > pass.MaxTypeSlots {
		r.Errorf("FSM042", n.Span(), "a value of this type has %d numbers, more than %d", slots,
			pass.MaxTypeSlots)
		return nil
	}
	t.Slots()
	return t
}

// shortType resolves a type written as a scalar.
func (r *Table) shortType(n *ast.Node) *model.Type {
	x, err := syntax.ParseType(n.Text, n.Part)
	if err != nil {
		r.SyntaxError(err)
		return nil
	}
	t := r.shortForm(x)
	if t == nil || !x.Optional {
		return t
	}
	if t.Kind == model.KindOptional {
		r.Errorf("FSM041", x.Span, "%s is optional already", Describe(t))
		return nil
	}
	return r.sized(&model.Type{Kind: model.KindOptional, Elem: t, Span: n.Span()}, 1+int64(t.Slots()), n)
}

var Widths = map[string]int{"u8": 8, "u16": 16, "u24": 24, "u32": 32, "u64": 64}

func (r *Table) shortForm(x *syntax.Type) *model.Type {
	switch x.Form {
	case syntax.Interval:
		return r.Interval(x.Lo, x.Hi, x.Span)
	case syntax.Text, syntax.Bytes, syntax.BytesUpTo:
		what := "the bound of a text"
		if x.Form != syntax.Text {
			what = "the number of bytes"
		}
		v, ok := r.ConstNode(x.Hi, 1, 65535, what)
		if !ok {
			return nil
		}
		return WithLayout(&model.Type{Kind: model.KindBytes, Cap: int(v), Binary: x.Form != syntax.Text,
			Exact: x.Form == syntax.Bytes, Span: x.Span})
	case syntax.Opaque:
		name := x.Name
		if name == "" {
			name = "u64"
		}
		bits := Widths[name]
		if bits == 0 || bits == 24 {
			r.UnknownAt("FSM021", x.NamePos, name, "opaque type", []string{"u8", "u16", "u32", "u64"})
			return nil
		}
		if r.opaques[name] == nil {
			t := WithLayout(&model.Type{Kind: model.KindOpaque, Bits: bits, Span: x.Span})
			r.opaques[name] = t
		}
		return r.opaques[name]
	}
	return r.typeName(x)
}

// Interval returns the type of the numbers from lo to hi, which are constant expressions.
func (r *Table) Interval(lo, hi syntax.Node, at diag.Span) *model.Type {
	before := len(r.mentions)
	l, ok1 := r.ConstNode(lo, -1<<40, 1<<40, "the low bound")
	h, ok2 := r.ConstNode(hi, -1<<40, 1<<40, "the high bound")
	if !ok1 || !ok2 {
		return nil
	}
	if l > h {
		r.Errorf("FSM041", at, "the range %d..%d is empty", l, h)
		return nil
	}
	t := Int(l, h)
	t.Span, t.Bounds = at, slices.Clone(r.mentions[before:])
	return t
}

func (r *Table) typeName(x *syntax.Type) *model.Type {
	if t := r.Basic(x.Name, x.Span); t != nil {
		return t
	}
	if t, known := r.TypeNamed(x.Name, x.NamePos); known {
		return t
	}
	if x.Name == "u64" {
		r.Errorf("FSM041", x.NamePos, "a u64 cannot be computed with").With("write `opaque u64`")
		return nil
	}
	declared := r.Root.Get("types").Keys()
	same := func(name string) bool { return strings.EqualFold(name, x.Name) }
	if hint := ofOthers[x.Name]; hint != "" && !slices.ContainsFunc(declared, same) {
		r.Errorf("FSM021", x.NamePos, "there is no type %s", diag.Quote(x.Name)).With(hint)
		return nil
	}
	r.UnknownAt("FSM021", x.NamePos, x.Name, "type",
		append(declared, "bool", "u8", "u16", "u32", "f32", "f64", "instance"))
	return nil
}

// ofOthers has names of types of other languages, and what is written here.
var ofOthers = func() map[string]string {
	m := map[string]string{}
	for hint, names := range map[string]string{
		"a number that is computed with is a range such as `0..9`, or `u8`, `u16`, `u32`": "int integer uint " +
			"number int8 int16 int32 int64 uint8 uint16 uint32 uint64 byte i8 i16 i32 i64 long short char",
		"a text says how long it can be: `text 30`":                             "string str text",
		"bytes say how many they are: `bytes 16`, or `bytes up to 30`":          "bytes buffer blob",
		"a floating-point number is `f32` or `f64`; it is carried and compared": "float double float32 float64",
		"it is called `bool`": "boolean",
	} {
		for _, name := range strings.Fields(names) {
			m[name] = hint
		}
	}
	return m
}()

// TypeNamed returns a type of the section `types` and notes that it is mentioned at a place. known
// is false if there is no such type; t is nil if it has an error.
func (r *Table) TypeNamed(name string, at diag.Span) (t *model.Type, known bool) {
	nt := r.types[name]
	if nt == nil {
		return nil, false
	}
	r.Use(nt.key.Span())
	r.Refer(at, nt.key.Span())
	return r.named(nt), true
}

// Basic returns a type that needs no declaration, or nil if none has this name.
func (r *Table) Basic(name string, at diag.Span) *model.Type {
	var t *model.Type
	switch name {
	case "bool":
		t = &model.Type{Kind: model.KindBool}
	case "u8", "u16", "u32":
		bits, _ := strconv.Atoi(name[1:])
		t = Int(0, 1<<bits-1)
	case "instance":
		t = &model.Type{Kind: model.KindNode, Hi: r.MaxInstance}
	case "f32", "f64":
		bits, _ := strconv.Atoi(name[1:])
		if r.opaques[name] == nil {
			r.opaques[name] = WithLayout(&model.Type{Kind: model.KindOpaque, Bits: bits, Float: true, Span: at})
		}
		return r.opaques[name]
	default:
		return nil
	}
	t.Span = at
	t.Slots()
	return t
}

// without resolves the key `without`: the bytes that a text does not contain.
func (r *Table) without(t *model.Type, n *ast.Node) *model.Type {
	e := n.Entry("without")
	if e == nil || t == nil {
		return t
	}
	if t.Kind != model.KindBytes || t.Binary {
		r.Errorf("FSM041", e.Key.Span(), "`without` belongs to a text")
		return t
	}
	for i := range len(e.Value.Text) {
		if b := e.Value.Text[i]; b < ' ' || b > '~' {
			r.Errorf("FSM041", e.Value.Span(), "`without` lists ASCII characters, not %q", b)
			return t
		}
	}
	c := *t
	c.Without = e.Value.Text
	return &c
}

// charset resolves the key `charset`: which bytes a text has on the wire.
func (r *Table) charset(t *model.Type, n *ast.Node) *model.Type {
	e := n.Entry("charset")
	if e == nil || t == nil {
		return t
	}
	if t.Kind != model.KindBytes || t.Binary {
		r.Errorf("FSM041", e.Key.Span(), "`charset` belongs to a text; %s is none", Describe(t))
		return t
	}
	c := *t
	c.Charset = e.Value.Text
	return &c
}

// words resolves the key `words`: how the values of an enumeration are written in lines.
func (r *Table) words(t *model.Type, n *ast.Node, form string) *model.Type {
	e := n.Entry("words")
	switch {
	case e == nil || t == nil:
		return t
	case form != "enum":
		r.Errorf("FSM041", e.Key.Span(), "`words` belongs to an enumeration").
			With("write it beside `enum`")
		return t
	}
	words := slices.Clone(t.Names)
	for _, w := range e.Value.Entries {
		i := slices.Index(t.Names, w.Key.Text)
		switch {
		case i < 0:
			r.Unknown("FSM021", w.Key, "value of this enumeration named", t.Names)
			return t
		case w.Value.Text == "":
			r.Errorf("FSM041", w.Value.Span(), "%s has the word %q, which has no bytes",
				diag.Quote(w.Key.Text), w.Value.Text)
			return t
		}
		words[i] = w.Value.Text
		r.Refer(w.Key.Span(), enumPlace(n.Get("enum"), w.Key.Text))
	}
	for _, w := range e.Value.Entries {
		for i, name := range t.Names {
			if name != w.Key.Text && words[i] == w.Value.Text {
				r.Errorf("FSM041", w.Value.Span(), "%s and %s are both %s in a line",
					diag.Quote(w.Key.Text), diag.Quote(name), diag.Quote(w.Value.Text)).
					With("give each value a word of its own; a value without one is its name")
				return t
			}
		}
	}
	t.Words = words
	return t
}

// enumPlace finds where a name of an enumeration is declared.
func enumPlace(en *ast.Node, name string) diag.Span {
	for _, it := range en.Items {
		if it.Text == name {
			return it.Span()
		}
	}
	for _, e := range en.Entries {
		if e.Key.Text == name {
			return e.Key.Span()
		}
	}
	return diag.Span{}
}
