package wire

import (
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/apart"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
)

func (w *writer) field(f *model.Field, e ast.Entry, base model.WireBase, index int) model.WireItem {
	if !w.place(f.Name, e, index) {
		return nil
	}
	t := f.Type
	switch {
	case t.Kind == model.KindBytes && w.inBits:
		w.r.Errorf("FSM076", e.Key.Span(), "a text has no bits; only scalars are parts of a number")
		return nil
	case t.Kind == model.KindBytes:
		return w.text(f, e, base)
	case t.Kind == model.KindList:
		w.r.Errorf("FSM074", e.Key.Span(), "a list is laid out as `count %s: u16` and `each %s: [items]`",
			f.Name, f.Name)
		return nil
	case t.Kind == model.KindOptional:
		t = t.Elem
	}
	if e.Value.Kind == ast.Map && e.Value.Get("run") != nil {
		return w.run(f, e, base)
	}
	if wordForm(e.Value) {
		return w.word(f, e, base)
	}
	if word, bytes, ok := addressForm(e.Value); ok {
		return w.address(f, t, word, bytes, e, base)
	}
	if !types.IsDiscrete(t) && t.Kind != model.KindOpaque && t.Kind != model.KindSet {
		d := w.r.Errorf("FSM073", e.Key.Span(), "%s has no form on the wire as a field of its own",
			types.Describe(f.Type))
		if t.Kind == model.KindRecord && f.Type == t && f.Name != "" && len(t.Fields) > 0 {
			d.With("name its fields, each by an item: `" + f.Name + "." + t.Fields[0].Name + ": …`")
		}
		return nil
	}
	var extra []string
	if f.Type.Kind == model.KindOptional {
		extra = []string{"none"}
	}
	if t.Kind == model.KindBool {
		extra = append(extra, "nonzero")
	}
	form, ok := w.form(e.Value, append(extra, "xor")...)
	if !ok || t.Kind == model.KindBool && !w.nonzero(e.Value, &form.Number) {
		return nil
	}
	if e.Value.Kind == ast.Map && e.Value.Get("xor") != nil {
		if w.inBits || form.Varint != model.Fixed || form.Signed {
			w.r.Errorf("FSM076", e.Value.Entry("xor").Key.Span(), "only an unsigned number of whole bytes is XORed")
			return nil
		}
		if !w.xor(e.Value, &form.Number) {
			return nil
		}
	}
	bits := t.Kind == model.KindOpaque && t.Bits == 64 && form.Bits == 64 // those of a signed number
	if form.Signed && t.Kind != model.KindInt && !bits {
		w.r.Errorf("FSM073", form.n.Span(), "%s has no sign", types.Describe(t)).With("write an unsigned width")
		return nil
	}
	item := &model.WireInt{WireBase: base, Field: f, Number: form.Number}
	if f.Type.Kind == model.KindOptional && !w.none(item, t, e) {
		return nil
	}
	if lo, hi := apart.Codes(t); t.Kind == model.KindSet && !fits(lo, hi, form.Number) {
		w.r.Errorf("FSM073", form.n.Span(), "%s has %d possible values, one bit for each, which do not fit "+
			"into %s", types.Describe(t), t.Elem.Count(), describe(form.Number)).
			See(f.Span, "declared here")
		return nil
	} else if opaque := t.Kind == model.KindOpaque; opaque && form.Varint != model.Fixed && t.Bits >= form.Bits {
		// One with more bits has no encoding.
	} else if !fits(lo, hi, form.Number) && !bits || opaque && t.Bits > form.Bits {
		d := w.r.Errorf("FSM073", form.n.Span(), "%s has values from %d to %d, which do not fit into %s",
			types.Describe(t), lo, hi, describe(form.Number)).
			See(f.Span, "declared here")
		if lo < 0 && !form.Signed {
			d.With("negative numbers need a signed width: i8, i16, i32, zigzag, …")
		}
		return nil
	}
	w.growBy(form.Number)
	return item
}

// nonzero resolves whether a bool may be another number than 0 and 1.
func (w *writer) nonzero(n *ast.Node, to *model.Number) bool {
	to.Nonzero = pass.TextOf(n, "nonzero") == "accept"
	if to.Nonzero && to.Bits == 1 {
		w.r.Errorf("FSM076", n.Entry("nonzero").Key.Span(), "one bit is 0 or 1").With("leave `nonzero` out")
		return false
	}
	return true
}

// run resolves bytes that are all the same, of which a field has the number.
func (w *writer) run(f *model.Field, e ast.Entry, base model.WireBase) model.WireItem {
	v, ok := w.r.ConstIn(e.Value.Get("run"), 0, 255, "the byte")
	switch {
	case !ok || !w.onlyKeys(e.Value, []string{"run"}):
		return nil
	case w.inBits || f.Type.Kind != model.KindInt || f.Type.Lo < 0 || f.Type.Hi > 65535:
		w.r.Errorf("FSM073", e.Key.Span(), "how many bytes a run has is a number from 0 to 65535; %s is %s",
			diag.Quote(e.Key.Text), types.Describe(f.Type))
		return nil
	case w.self:
		return w.noEnd(e, "a run goes on as long as it can")
	}
	w.grow(f.Type.Lo, f.Type.Hi)
	return &model.WireRun{WireBase: base, Field: f, Byte: byte(v)}
}

func (w *writer) text(f *model.Field, e ast.Entry, base model.WireBase) model.WireItem {
	b := &model.WireBytes{WireBase: base, Field: f}
	name := f.Name
	if name == "" {
		name = e.Key.Text // `item`
	}
	as := e.Value
	if as.Kind == ast.Map {
		if !w.onlyKeys(as, []string{"as", "cut", "xor", "compressed", "end"}) {
			return nil
		}
		if as.Get("end") != nil {
			return w.endedText(b, name, as)
		}
		b.Cut, b.Back = pass.IsTrue(as.Get("cut")), pass.TextOf(as, "compressed") == "accept"
		if x := as.Get("xor"); x != nil {
			if !f.Type.Binary || x.Kind != ast.Map {
				w.r.Errorf("FSM076", x.Span(), "bytes are XORed with {at: 4}: the frame's bytes from there on")
				return nil
			}
			var ok bool
			if b.XorAt, ok = w.xorAt(x, f.Type.Cap); !ok {
				return nil
			}
		}
		as = as.Get("as")
	}
	form := ""
	if as != nil {
		form = as.Text
	}
	limit := int64(f.Type.Cap)
	switch {
	case f.Type.Exact && form != "whole":
		w.r.Errorf("FSM076", e.Value.Span(), "%s always has %d bytes, so nothing says where it ends",
			diag.Quote(name), limit).With("write `"+name+": whole`, or give it the type `bytes up to "+
			strconv.FormatInt(limit, 10)+"`").See(f.Span, "declared here")
		return nil
	case f.Type.Binary && form == "nul":
		w.r.Errorf("FSM074", e.Value.Span(), "bytes can be 0 themselves, so no 0 can end %s", diag.Quote(name)).
			With("write counted, rest or whole; or give it the type `text " + strconv.FormatInt(limit, 10) + "`")
		return nil
	case b.Cut && f.Type.Charset == "utf8":
		w.r.Errorf("FSM074", e.Value.Span(), "a cut can fall within a character, which is no utf8 then").
			See(f.Span, "declared here")
		return nil
	}
	if b.Back && form != "domain" {
		w.r.Errorf("FSM076", e.Value.Span(), "only a `domain` can be compressed")
		return nil
	}
	switch form {
	case "domain":
		return w.domain(b, limit, e)
	case "nul":
		if w.self {
			return w.noEnd(e, "a text that ends with a zero byte may also end with the frame")
		}
		b.Nul = true
		w.grow(0, limit+1)
	case "counted":
		b.Count = true
		if w.counted[name] == nil {
			what, or := "text", ", or end the text with a zero byte: `"+name+": nul`"
			if f.Type.Binary {
				what, or = "bytes", ""
			}
			w.r.Errorf("FSM074", e.Key.Span(), "the %s %s has no count before it", what, diag.Quote(name)).
				With("add an item `count " + name + ": u8`" + or)
			return nil
		}
		w.grow(0, limit)
	case "whole":
		b.Whole = true
		w.grow(limit, limit)
	case "rest":
		if w.self {
			return w.noEnd(e, "`rest` takes what is left of the frame")
		}
		if !w.mayTakeRest() {
			w.r.Errorf("FSM074", e.Key.Span(), "an element of a list cannot take the rest of the frame").
				With("the last element of a list `to: end` can")
			return nil
		}
		b.Rest = true
		w.takesRest(&b.Behind)
		w.grow(0, limit)
	default:
		w.r.Errorf("FSM076", e.Value.Span(), "a text or bytes is written as nul, counted, rest, whole or domain")
		return nil
	}
	if !b.Count && w.counted[name] != nil {
		w.r.Errorf("FSM074", e.Key.Span(), "%s is counted and also %s", diag.Quote(name), form)
	}
	return b
}

// domain resolves a name of the DNS.
func (w *writer) domain(b *model.WireBytes, limit int64, e ast.Entry) model.WireItem {
	switch t := b.Field.Type; {
	case t.Binary || t.Charset != "" || limit > 253:
		w.r.Errorf("FSM073", e.Value.Span(), "a name of the DNS is a text of at most 253 bytes, without a charset").
			See(b.Field.Span, "declared here").With("text 253")
		return nil
	case b.Cut || b.XorAt > 0:
		w.r.Errorf("FSM076", e.Value.Span(), "a name of the DNS is neither cut nor XORed")
		return nil
	case b.Back && w.frame.Varies:
		w.r.Errorf("FSM074", e.Value.Span(), "names point back to places that are counted from the frame's beginning, "+
			"behind a length of a fixed size")
		return nil
	}
	b.Domain = true
	if len(w.frame.Header) > 0 {
		if x, ok := w.frame.Header[0].(*model.WireLength); ok && x.Of == model.LengthOfRest {
			b.Base = x.Less
		}
	}
	w.grow(1, limit+2)
	return b
}

// addressForm reads `address 6`.
func addressForm(n *ast.Node) (word *ast.Node, bytes string, ok bool) {
	if n.Kind == ast.Map {
		n = n.Get("as")
	}
	if n == nil || n.Kind != ast.Scalar {
		return nil, "", false
	}
	first, rest, _ := strings.Cut(n.Text, " ")
	return n, strings.TrimSpace(rest), first == "address"
}

func (w *writer) address(f *model.Field, t *model.Type, word *ast.Node, bytes string, e ast.Entry,
	base model.WireBase) model.WireItem {
	n, err := strconv.Atoi(bytes)
	switch {
	case e.Value.Kind == ast.Map && !w.onlyKeys(e.Value, []string{"as"}):
		return nil
	case err != nil || n < 1 || n > 32:
		w.r.Errorf("FSM076", word.Span(), "an address has a size of 1 to 32 bytes").With("address 6")
		return nil
	case t.Kind != model.KindNode:
		w.r.Errorf("FSM073", e.Key.Span(), "only an instance has an address; %s is %s",
			diag.Quote(e.Key.Text), types.Describe(f.Type))
		return nil
	case !w.nested && w.min != w.max:
		w.r.Errorf("FSM074", e.Key.Span(), "an address stands at a fixed place, behind items of fixed sizes")
		return nil
	}
	w.grow(int64(n), int64(n))
	return &model.WireAddress{WireBase: base, Field: f, Bytes: n}
}
