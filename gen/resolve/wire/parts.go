package wire

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/types"
)

// within returns a writer for items inside of an item: they place fields of the same message or
// record, and have places of their own.
func (w *writer) within() *writer {
	sub := *w
	sub.names, sub.rest, sub.tail, sub.behind, sub.outer = map[string]int{}, false, nil, nil, w
	sub.ahead, sub.sizes = nil, false
	return &sub
}

// sized resolves a region: a number of bytes, and items that fill them.
func (w *writer) sized(as string, e ast.Entry, base model.WireBase) model.WireItem {
	n := width(as, w.inBits)
	switch {
	case n.Bits == 0 || n.Signed || w.inBits || as == "decimal" || as == "hex":
		w.r.UnknownAt("FSM076", e.Key.Span(), as, "width", widthNames)
		return nil
	case e.Value.Kind != ast.List:
		w.r.Errorf("FSM076", e.Value.Span(), "`sized %s` is a list of items, whose bytes it counts", as)
		return nil
	}
	n.Little = w.little && n.Varint == model.Fixed
	w.growBy(n)
	sub := w.within()
	sub.region, sub.sizes, sub.self, sub.nested = true, true, false, w.nested
	sub.varies = w.varies || n.Varint != model.Fixed
	items := sub.items(e.Value)
	if _, most := n.Range(); most < 1<<40 && sub.max-w.max > int64(most) {
		w.r.Errorf("FSM073", e.Key.Span(), "%s cannot count the %d bytes that these items may have", describe(n),
			sub.max-w.max)
		return nil
	}
	w.min, w.max, w.ended = sub.min, sub.max, sub.ended
	return &model.WireSized{WireBase: base, Number: n, Items: items}
}

// mayTakeRest reports whether an item may take the rest, and notes for the list of which the items are an
// element that one does.
func (w *writer) mayTakeRest() bool {
	if w.last != nil && !w.region {
		*w.last = true
	}
	return !w.nested || w.region || w.last != nil
}

// unwrapped returns the field that stands for the value of an optional one.
func unwrapped(f *model.Field) *model.Field {
	inner := *f
	inner.Type, inner.Unwrapped = f.Type.Elem, true
	inner.Offset++
	return &inner
}

// inside is [writer.within] for items that place only what belongs to an optional field: they say nothing of the
// rows around them.
func (w *writer) inside() *writer {
	sub := w.within()
	sub.placed, sub.parts, sub.rowsOf = map[string]int{}, map[string]map[string]int{}, map[string]int{}
	return sub
}

// value is [unwrapped], the same each time.
func (w *writer) value(f *model.Field) *model.Field {
	if w.inner[f] == nil {
		w.inner[f] = unwrapped(f)
	}
	return w.inner[f]
}

// optional resolves items that are there if an optional field is.
func (w *writer) optional(name string, e ast.Entry, base model.WireBase, index int) model.WireItem {
	f := w.fields[name]
	switch {
	case f == nil:
		w.r.UnknownAt("FSM076", e.Key.Span(), name, "field", w.known(name))
		return nil
	case f.Unwrapped:
		w.decided("if", name, e)
		return nil
	case f.Type.Kind != model.KindOptional:
		w.r.Errorf("FSM076", e.Key.Span(), "`if` is for optional fields; %s is %s", diag.Quote(name),
			types.Describe(f.Type)).With("write its type with a question mark, or leave the `if` out")
		return nil
	case w.inBits || !w.place(name, e, index):
		return nil
	}
	w.refer(e.Key, len(e.Key.Text)-len(name), f)
	it := &model.WireIf{WireBase: base, Field: f, Flagged: w.flagged[name]}
	sub := w.inside()
	sub.fields, sub.min = map[string]*model.Field{name: w.value(f)}, 0
	before := w.r.Len()
	if it.Items = sub.part(name, e); before != w.r.Len() {
		return nil
	}
	sub.complete([]*model.Field{unwrapped(f)}, e.Key.Span())
	if !it.Flagged {
		if w.self {
			w.noEnd(e, diag.Quote(name)+" is there if bytes remain")
			return nil
		}
		if w.nested && !w.region {
			w.r.Errorf("FSM074", e.Key.Span(), "an element of a list cannot tell whether bytes remain for %s",
				diag.Quote(name)).With("say before it whether it is there: `present " + name + ": u8`")
			return nil
		}
		if sub.min == 0 {
			w.r.Errorf("FSM074", e.Key.Span(), "%s may have no bytes, so nobody can tell from those that remain "+
				"whether it is there", diag.Quote(name)).
				With("say before it whether it is there: `present " + name + ": u8`")
			return nil
		}
		it.After, w.tail = w.tail, f
	}
	w.max, w.rest, w.ended = sub.max, sub.rest, sub.ended
	return it
}

// decided reports a word that says of an optional field whether it is there, where what is around it says so.
func (w *writer) decided(word, name string, e ast.Entry) {
	w.r.Errorf("FSM076", e.Key.Span(), "`%s %s` says whether it is there, and the `case` or `if` around it says so "+
		"already", word, name).With("place it here without that, or behind the `case`, as a part of its own")
}

// part resolves the items of an optional part: a list, or the form of the field itself.
func (w *writer) part(name string, e ast.Entry) []model.WireItem {
	if e.Value.Kind == ast.List {
		return w.items(e.Value)
	}
	f := w.fields[name]
	w.refer(e.Key, len(e.Key.Text)-len(name), f)
	if x := w.field(f, e, model.WireBase{Span: e.Value.Span()}, 0); x != nil {
		return []model.WireItem{x}
	}
	return nil
}

// flag resolves the number that says whether an optional field is there.
func (w *writer) flag(name string, f *model.Field, e ast.Entry, base model.WireBase) model.WireItem {
	form, ok := w.form(e.Value)
	switch {
	case !ok:
		return nil
	case w.flagged[name] || w.placed[name] > 0:
		w.r.Errorf("FSM074", e.Key.Span(), "`present %s` comes once, before `if %s`", name, name).
			With("what a `case` places is there if the tag says so, and needs no `present`")
		return nil
	case w.fields[name] == nil:
		w.r.Errorf("FSM076", e.Key.Span(), "`present` names a field of the message or record itself")
		return nil
	}
	w.refer(e.Key, len(e.Key.Text)-len(name), f)
	w.flagged[name] = true
	w.growBy(form.Number)
	return &model.WirePresent{WireBase: base, Field: f, Number: form.Number}
}

// unchosen reports an item of a choice, or of a part that is there at times, for a field around it that cannot
// be there at times alone.
func (w *writer) unchosen(e ast.Entry) bool {
	name := e.Key.Text
	for o := w.outer; o != nil; o = o.outer {
		switch f := o.lookup(name); {
		case f == nil:
			continue
		case f.Path != nil:
			w.r.Errorf("FSM076", e.Key.Span(), "%s is a field of a record; `case` and `if` are about fields of the "+
				"message itself, or of the elements of `each`", diag.Quote(name)).
				With("make the tag and what it chooses fields of the message, or of the element of a list")
		case f.Type.Kind != model.KindOptional:
			w.r.Errorf("FSM076", e.Key.Span(), "%s is always there, and the items here are there at times",
				diag.Quote(name)).With("give it a type that may be none, as in `" + name + ": T?`, or place it outside")
		default:
			return false
		}
		return true
	}
	return false
}

// choice resolves a tagged union: for each value of a field the items that follow.
func (w *writer) choice(name string, e ast.Entry, base model.WireBase, index int) model.WireItem {
	tag := w.lookup(name)
	switch {
	case tag == nil:
		w.r.UnknownAt("FSM076", e.Key.Span(), name, "field", w.known(name))
		return nil
	case !types.IsDiscrete(tag.Type):
		w.r.Errorf("FSM076", e.Key.Span(), "`case` is for enumerations, bools and numbers; %s is %s",
			diag.Quote(name), types.Describe(tag.Type))
		return nil
	case w.placed[name] == 0:
		w.r.Errorf("FSM074", e.Key.Span(), "the tag %s must come before what it chooses", diag.Quote(name))
		return nil
	case e.Value.Kind != ast.List || w.inBits:
		w.r.Errorf("FSM076", e.Value.Span(), "`case %s` lists the items for each value: "+
			"[value: [items], else: [items]]", name)
		return nil
	}
	w.refer(e.Key, len(e.Key.Text)-len(name), tag)
	it := &model.WireCase{WireBase: base, Tag: tag}
	seen, all, ended := map[int64]bool{}, false, false
	least, most, rest := int64(1)<<40, w.max, false
	placed := map[string]bool{}
	for _, one := range e.Value.Items {
		if len(one.Entries) != 1 || one.Entries[0].Value.Kind != ast.List {
			w.r.Errorf("FSM076", one.Span(), "each value of %s has a list of items: [value: [items], else: [items]]",
				diag.Quote(name))
			return nil
		}
		b := one.Entries[0]
		values, ok := w.values(tag.Type, b.Key, seen)
		if !ok {
			return nil
		}
		sub := w.inside()
		sub.fields, sub.counted = map[string]*model.Field{}, map[string]*model.WireCount{}
		sub.eachOf, sub.eachAt = map[string]*model.WireEach{}, map[string]int64{}
		for key, f := range w.fields {
			if f.Type.Kind == model.KindOptional && f.Path == nil {
				sub.fields[key] = unwrapped(f)
			}
		}
		before := w.r.Len()
		branch := model.WireBranch{Values: values, Else: len(values) == 0, Items: sub.items(b.Value)}
		all, ended = all || branch.Else, ended || sub.ended
		if before != w.r.Len() {
			return nil
		}
		for _, f := range w.order {
			if n := sub.begun(f.Name); n {
				sub.complete([]*model.Field{unwrapped(f)}, b.Key.Span())
				branch.Fields = append(branch.Fields, f)
				if !placed[f.Name] {
					placed[f.Name] = true
					it.Fields = append(it.Fields, f)
				}
			}
		}
		it.Branches = append(it.Branches, branch)
		least, most, rest = min(least, sub.min), max(most, sub.max), rest || sub.rest
	}
	for v := tag.Type.Lowest(); !all && v < tag.Type.Lowest()+tag.Type.Count(); v++ {
		if !seen[v] {
			w.r.Errorf("FSM074", e.Key.Span(), "%s can be %s, for which there are no items", diag.Quote(name),
				valueName(tag.Type, v)).With("write " + valueName(tag.Type, v) + ": [], or else: []")
			return nil
		}
	}
	for _, f := range it.Fields {
		if w.flagged[f.Name] {
			w.r.Errorf("FSM074", e.Key.Span(), "the tag %s says whether %s is there, and so does a `present` before it",
				diag.Quote(name), diag.Quote(f.Name)).
				With("leave `present " + f.Name + "` out: a frame in which the two differ means nothing")
			return nil
		}
		if !w.place(f.Name, e, index) {
			return nil
		}
	}
	w.min, w.max, w.rest, w.ended = min(least, most), most, rest, ended
	return it
}

// begun reports whether a field, or one inside of it, is placed.
func (w *writer) begun(name string) bool {
	if w.placed[name] > 0 {
		return true
	}
	for key, n := range w.placed {
		for front, _, dotted := cutLast(key); dotted && n > 0; front, _, dotted = cutLast(front) {
			if front == name {
				return true
			}
		}
	}
	return false
}

// values returns the values that the key of a branch stands for: one, or those that are left; none if
// these are too many to be listed.
func (w *writer) values(t *model.Type, key *ast.Node, seen map[int64]bool) ([]int64, bool) {
	if !few(t) {
		return w.number(t, key, seen)
	}
	var out []int64
	var names []string
	for i := range t.Count() {
		v := t.Lowest() + i
		names = append(names, valueName(t, v))
		if key.Text == "else" && !seen[v] || key.Text == valueName(t, v) {
			if seen[v] {
				w.r.Errorf("FSM072", key.Span(), "%s has its items already", key.Text)
				return nil, false
			}
			seen[v] = true
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		if key.Text == "else" {
			w.r.Errorf("FSM074", key.Span(), "every value has its items, so nothing is left for `else`")
		} else {
			w.r.Unknown("FSM076", key, "value of "+types.Describe(t)+" named", names)
		}
		return nil, false
	}
	return out, true
}

// number returns the value of a wide range of numbers that the key of a branch is: a number or a
// constant. Of `else` it returns none.
func (w *writer) number(t *model.Type, key *ast.Node, seen map[int64]bool) ([]int64, bool) {
	const others = -1 << 63
	v := int64(others)
	if key.Text != "else" {
		var ok bool
		if v, ok = w.r.ConstIn(key, t.Lowest(), t.Lowest()+t.Count()-1, "the value"); !ok {
			return nil, false
		}
	}
	switch {
	case seen[v]:
		w.r.Errorf("FSM072", key.Span(), "%s has its items already", key.Text)
		return nil, false
	case seen[others]:
		w.r.Errorf("FSM074", key.Span(), "`else` has the items of %s already; it comes last", key.Text)
		return nil, false
	}
	seen[v] = true
	if v == others {
		return nil, true
	}
	return []int64{v}, true
}

// ends reads how a list ends that is not counted: with the frame or region, or with a number.
func (w *writer) ends(item *model.WireEach, list *ast.Node, e ast.Entry) bool {
	if !w.onlyKeys(list, []string{"row", "to", "until", "named"}) {
		return false
	}
	to, until := list.Get("to"), list.Get("until")
	switch {
	case item.Field.Type.Kind != model.KindList || item.Count != nil || to != nil && until != nil:
		w.r.Errorf("FSM076", list.Span(), "a list without a count is {to: end, row: [items]} or "+
			"{until: {as: u8, value: 0}, row: [items]}")
		return false
	case to != nil && list.Get("named") != nil:
		w.r.Errorf("FSM076", list.Entry("named").Key.Span(), "only a list with `until` has rows with names").
			With("{until: crlf, named: [\"Name:\": [if field: [items]]], row: [items]}")
		return false
	case to != nil && to.Text != "end":
		w.r.Errorf("FSM076", to.Span(), "a list goes on to the `end` of the frame, or of what is `sized`")
		return false
	case to != nil && w.self:
		w.noEnd(e, "`to: end` goes on to the end of the frame")
		return false
	case to != nil && !w.mayTakeRest():
		w.r.Errorf("FSM074", e.Key.Span(), "an element of a list cannot take the rest of the frame").
			With("`sized u16: […]` gives it an end of its own")
		return false
	case to != nil:
		item.ToEnd = true
		return true
	}
	sub := w.within()
	c := &model.WireConst{WireBase: model.WireBase{Span: until.Span()}}
	switch x := sub.constItem(until, c.WireBase).(type) {
	case *model.WireConst:
		c = x
	case *model.WireLiteral:
		if len(x.Bytes) > 4 {
			w.r.Errorf("FSM073", until.Span(), "a list ends with at most 4 bytes, not %d", len(x.Bytes))
			return false
		}
		c.Bits = 8 * len(x.Bytes)
		for _, b := range []byte(x.Bytes) {
			c.Value = c.Value<<8 | int64(b)
		}
	default:
		return false
	}
	if c.Varint != model.Fixed || c.Signed {
		w.r.Errorf("FSM076", until.Span(), "the number that ends a list is unsigned and has a fixed size")
		return false
	}
	item.Until = c
	return list.Get("named") == nil || w.named(item, list.Get("named"))
}
