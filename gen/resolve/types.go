package resolve

import (
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// namedType is a type of the `types` section, resolved when first needed.
type namedType struct {
	key   *ast.Node
	value *ast.Node
	t     *model.Type
	state progress
}

// enumValue is one name of an enumeration. Index is -1 for a name that the domain of
// the present check leaves out.
type enumValue struct {
	t     *model.Type
	index int
}

func (r *resolver) declareTypes() {
	n := r.root.Get("types")
	if n != nil {
		for _, e := range n.Entries {
			r.types[e.Key.Text] = &namedType{key: e.Key, value: e.Value}
			if c := r.consts[e.Key.Text]; c != nil {
				r.hides(e.Key.Span(), e.Key.Text, "constant", c.m.Span)
			}
		}
		for _, e := range n.Entries {
			r.noInit(e.Value)
			t := r.named(r.types[e.Key.Text])
			if t != nil && t.Name == e.Key.Text {
				r.p.Types = append(r.p.Types, t)
			}
		}
	}
	if d := r.check.Get("domains"); d != nil {
		for _, e := range d.Entries {
			nt := r.types[e.Key.Text]
			if nt == nil {
				r.noDomain(e.Key, n.Keys())
				continue
			}
			r.refer(e.Key.Span(), nt.key.Span())
		}
	}
}

// hides reports that a name is taken.
func (r *resolver) hides(at diag.Span, name, what string, first diag.Span) {
	r.Errorf("FSM040", at, "%s is already the name of %s", diag.Quote(name), article(what)).See(first, "declared here")
}

// article puts a or an before a word.
func article(what string) string {
	if strings.ContainsAny(what[:1], "aeiou") {
		return "an " + what
	}
	return "a " + what
}

func (r *resolver) named(nt *namedType) *model.Type {
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
	t := r.subst[nt.key.Text]
	if t == nil {
		t = r.typeOf(nt.value, nt.key.Text)
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
		if r.subst[nt.key.Text] == nil {
			t.Span = nt.key.Span()
			r.noteEnum(nt, t)
		}
	}
	if d := r.check.Get("domains").Entry(nt.key.Text); d != nil {
		if narrow := r.domain(t, d.Value); narrow != nil {
			t = narrow
		}
		r.use(nt.key.Span())
	}
	r.indexEnum(t)
	nt.t, nt.state = t, done
	return t
}

// indexEnum makes the names of an enumeration known, once for each type.
func (r *resolver) indexEnum(t *model.Type) {
	if t.Kind != model.KindEnum {
		return
	}
	for i, name := range t.Names {
		known := false
		for _, v := range r.enums[name] {
			known = known || v.t == t
		}
		if !known {
			r.enums[name] = append(r.enums[name], enumValue{t, i})
		}
	}
}

// typeOf resolves a type as written; name is the one it will get, or "". nil
// means that an error was reported.
func (r *resolver) typeOf(n *ast.Node, name string) *model.Type {
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
			r.Errorf("FSM041", n.Entry(f).Key.Span(), "a type is either %s or %s", diag.Quote(form), diag.Quote(f))
			return nil
		}
		form = f
	}
	if form == "" {
		r.Errorf("FSM041", n.Span(), "the type is missing: %s", quoteAll(forms))
		return nil
	}
	r.strayKeys(n, form)
	t := r.longType(n, form, name)
	t = r.words(r.without(t, n), n, form)
	if t != nil && name != "" && t.Doc == "" && (t.Name == "" || t.Name == name) {
		t.Doc = textOf(n, "doc")
	}
	return t
}

// strayKeys reports keys of one form of type in another.
func (r *resolver) strayKeys(n *ast.Node, form string) {
	for _, key := range []struct{ name, form, other string }{{"of", "array", "map"}, {"max", "list", "queue"}} {
		if e := n.Entry(key.name); e != nil && form != key.form && form != key.other {
			r.Errorf("FSM041", e.Key.Span(), "%s belongs to %s and %s", diag.Quote(key.name), diag.Quote(key.form), diag.Quote(key.other))
		}
	}
}

func (r *resolver) longType(n *ast.Node, form, name string) *model.Type {
	v := n.Get(form)
	switch form {
	case "type":
		return r.typeOf(v, name)
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
	case "list", "queue": // a queue is a list, said so that a reader knows what it is for
		elem := r.typeOf(v, "")
		m := n.Get("max")
		if m == nil {
			r.Errorf("FSM009", n.Entry(form).Key.Span(), "a %s needs a bound", form).With("add `max: n`")
			return nil
		}
		size, ok := r.constIn(m, 1, 4096, "the bound")
		if elem == nil || !ok {
			return nil
		}
		return r.sized(&model.Type{Kind: model.KindList, Elem: elem, Cap: int(size), Span: n.Span()},
			1+size*int64(elem.Slots()), n)
	}
	elem := r.typeOf(v, "")
	if elem == nil {
		return nil
	}
	if !isDiscrete(elem) {
		r.Errorf("FSM041", v.Span(), "a set is of bool, a range, an enumeration or instances, not %s", describe(elem))
		return nil
	}
	if elem.Count() > maxSet {
		r.Errorf("FSM042", v.Span(), "%s has %d values, a set at most %d", describe(elem), elem.Count(), maxSet)
		return nil
	}
	return r.sized(&model.Type{Kind: model.KindSet, Elem: elem, Span: n.Span()}, 1, n)
}

func isDiscrete(t *model.Type) bool {
	switch t.Kind {
	case model.KindBool, model.KindInt, model.KindEnum, model.KindNode:
		return true
	}
	return false
}

// sized refuses values that would need too many slots.
func (r *resolver) sized(t *model.Type, slots int64, n *ast.Node) *model.Type {
	if slots > maxTypeSlots {
		r.Errorf("FSM042", n.Span(), "a value of this type has %d numbers, more than %d", slots, maxTypeSlots)
		return nil
	}
	t.Slots()
	return t
}

// array resolves an array, or a map, which is an array of optional values.
func (r *resolver) array(n, index *ast.Node, form string) *model.Type {
	i := r.typeOf(index, "")
	of := n.Get("of")
	if of == nil {
		r.Errorf("FSM009", n.Entry(form).Key.Span(), "%s needs the type of its elements", article(form)).With("add `of: Type`")
		return nil
	}
	elem := r.typeOf(of, "")
	if i == nil || elem == nil {
		return nil
	}
	if !isDiscrete(i) {
		d := r.Errorf("FSM041", index.Span(), "%s's index is bool, a range, an enumeration or an instance, not %s", article(form), describe(i))
		if form == "map" {
			d.With("keep a list of records with such a key, and look for it: first(e in list: e.key == k)")
		}
		return nil
	}
	if form == "map" {
		if elem.Kind == model.KindOptional {
			r.Errorf("FSM041", of.Span(), "a map has a value or none for each key already").With("leave out the `?`")
			return nil
		}
		elem = optional(elem)
	}
	if i.Count() > maxTypeSlots {
		r.Errorf("FSM042", index.Span(), "%s has too many values for an index", describe(i))
		return nil
	}
	return r.sized(&model.Type{Kind: model.KindArray, Index: i, Elem: elem, Span: n.Span()},
		i.Count()*int64(elem.Slots()), n)
}

func (r *resolver) enum(v *ast.Node) *model.Type {
	t := &model.Type{Kind: model.KindEnum, Span: v.Span()}
	codes := map[int64]*ast.Node{}
	add := func(n *ast.Node, code int64) {
		for _, old := range t.Names {
			if old == n.Text {
				r.Errorf("FSM040", n.Span(), "%s is already a name of this enumeration", diag.Quote(n.Text))
				return
			}
		}
		if first := codes[code]; first != nil {
			r.Errorf("FSM041", n.Span(), "%s has the code %d, as has %s", diag.Quote(n.Text), code, diag.Quote(first.Text))
		}
		codes[code] = n
		t.Names = append(t.Names, n.Text)
		t.Codes = append(t.Codes, code)
	}
	for i, it := range v.Items {
		add(it, int64(i))
	}
	for _, e := range v.Entries {
		code, ok := r.constIn(e.Value, 0, 1<<32-1, "the code of "+diag.Quote(e.Key.Text))
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

func (r *resolver) record(v, n *ast.Node) *model.Type {
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

// fields resolves the fields of a message, record, command or report. It returns
// nil if a type is wrong; no fields are an empty list.
func (r *resolver) fields(n *ast.Node) []*model.Field {
	out := []*model.Field{}
	if n == nil {
		return out
	}
	off, ok := 0, true
	for _, e := range n.Entries {
		t := r.typeOf(e.Value, "")
		r.noInit(e.Value)
		if t == nil {
			ok = false
			continue
		}
		out = append(out, &model.Field{Name: e.Key.Text, Doc: textOf(e.Value, "doc"), Index: len(out), Type: t, Offset: off, Span: e.Key.Span()})
		off += t.Slots()
	}
	if !ok {
		return nil
	}
	return out
}

func (r *resolver) noInit(n *ast.Node) {
	if e := n.Entry("init"); e != nil {
		r.Errorf("FSM007", e.Key.Span(), "only a variable has an `init`")
	}
	if e := n.Entry("kept"); e != nil {
		r.Errorf("FSM007", e.Key.Span(), "only a variable can be `kept`")
	}
}
