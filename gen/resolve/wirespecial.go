package resolve

import (
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// present resolves the column that tells which elements of an array are there.
func (w *wireWriter) present(name string, e ast.Entry, base model.WireBase) model.WireItem {
	f, first := w.lookup(name), w.eachOf[name]
	switch {
	case f == nil:
		if !w.noRecord(e, name) {
			w.r.unknownAt("FSM076", e.Key.Span(), name, "field", w.known(name))
		}
		return nil
	case !optionalArray(f.Type):
		w.r.Errorf("FSM076", e.Key.Span(), "`present` is for arrays of optional values; %s is %s", diag.Quote(name), describe(f.Type))
		return nil
	case first == nil || first.Present != nil || w.min != w.max:
		w.r.Errorf("FSM074", e.Key.Span(), "`present %s` comes once, behind `each %s`, with items of fixed sizes between them", name, name)
		return nil
	}
	if form, ok := w.form(e.Value); !ok || form.bits != 8 {
		w.r.Errorf("FSM076", e.Value.Span(), "`present` has one byte for each element: u8")
		return nil
	}
	w.referWire(e.Key, len(e.Key.Text)-len(name), f)
	p := &model.WirePresent{WireBase: base, Field: f}
	first.Present, first.AheadOf = p, int(w.max-w.eachAt[name])
	w.grow(int64(first.Rows), int64(first.Rows))
	return p
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

func (w *wireWriter) address(f *model.Field, t *model.Type, word *ast.Node, bytes string, e ast.Entry, base model.WireBase) model.WireItem {
	n, err := strconv.Atoi(bytes)
	switch {
	case e.Value.Kind == ast.Map && !w.onlyKeys(e.Value, []string{"as"}):
		return nil
	case err != nil || n < 1 || n > 32:
		w.r.Errorf("FSM076", word.Span(), "an address has a size of 1 to 32 bytes").With("address 6")
		return nil
	case t.Kind != model.KindNode:
		w.r.Errorf("FSM073", e.Key.Span(), "only an instance has an address; %s is %s", diag.Quote(e.Key.Text), describe(f.Type))
		return nil
	case !w.nested && w.min != w.max:
		w.r.Errorf("FSM074", e.Key.Span(), "an address stands at a fixed place, behind items of fixed sizes")
		return nil
	}
	w.grow(int64(n), int64(n))
	return &model.WireAddress{WireBase: base, Field: f, Bytes: n}
}

func (w *wireWriter) checksum(e ast.Entry, base model.WireBase) model.WireItem {
	if e.Value.Kind != ast.Scalar || e.Value.Text != "crc32" {
		w.r.Errorf("FSM076", e.Value.Span(), "a checksum is crc32")
		return nil
	}
	at := int(w.max)
	w.grow(4, 4)
	return &model.WireChecksum{WireBase: base, Little: w.little, Offset: at}
}
