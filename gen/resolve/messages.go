package resolve

import (
	"fmt"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

func (r *resolver) declareMessages() {
	n := r.root.Get("messages")
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		fields := r.fields(e.Value.Get("fields"))
		if fields == nil {
			fields = []*model.Field{}
			r.brokenFields(e.Key.Span())
		}
		m := &model.Message{Name: e.Key.Text, Doc: textOf(e.Value, "doc"), Index: len(r.p.Messages), Fields: fields, ID: -1, Span: e.Key.Span()}
		r.messages[m.Name] = m
		r.p.Messages = append(r.p.Messages, m)
	}
}

// brokenFields remembers a declaration whose fields could not be resolved, so that its
// uses are not blamed.
func (r *resolver) brokenFields(at diag.Span) { r.broken[at] = true }

func (r *resolver) isBroken(at diag.Span) bool { return r.broken[at] }

// wireWriter resolves the items of one header or message.
type wireWriter struct {
	r      *resolver
	little bool
	where  string // for messages: the message or record
	// fields by name, and for each how often it was placed and counted.
	fields  map[string]*model.Field
	placed  map[string]int
	counted map[string]*model.WireCount
	names   map[string]int // index of the item that places a field, for `since`
	header  bool
	bodies  []*model.WireLength        // of a header; what they leave out is known behind it
	eachOf  map[string]*model.WireEach // the first of a list or array, where each element has a fixed size
	eachAt  map[string]int64           // and where it is
	parts   map[string]map[string]int  // how often the fields of a list's record are placed
	nested  bool
	rest    bool // a text took all the rest
	min     int64
	max     int64
}

func (r *resolver) wire() {
	n := r.root.Get("wire")
	if n == nil {
		for _, m := range r.p.Messages {
			decl := r.root.Get("messages").Get(m.Name)
			for _, k := range []string{"wire", "id"} {
				if e := decl.Entry(k); e != nil {
					r.Errorf("FSM070", e.Key.Span(), "%s means nothing without a `wire` section at the top", diag.Quote(k))
				}
			}
		}
		return
	}
	w := &model.Wire{Surplus: textOf(n, "surplus") == "skip", Span: n.Span()}
	little := textOf(n, "order") == "little"
	if m := n.Get("max"); m == nil {
		r.Errorf("FSM009", r.root.Entry("wire").Key.Span(), "`wire` has no `max`, the largest frame in bytes")
	} else if v, ok := r.constIn(m, 1, 1<<24, "the largest frame"); ok {
		w.Max = int(v)
	}
	if n.Get("lines") != nil {
		r.lines(w, n)
		r.p.Wire = w
		return
	}
	r.noLines(n)
	hw := newWireWriter(r, little, "the header", nil)
	hw.header = true
	w.Header = hw.items(n.Get("header"))
	w.HeaderLen = int(hw.max)
	for _, it := range hw.bodies {
		it.Less = w.HeaderLen
	}
	typ := r.checkHeader(w, n)
	for _, m := range r.p.Messages {
		r.messageWire(m, w, typ, little)
	}
	r.checkIDs(typ)
	r.p.Wire = w
}

// checkHeader returns the header's type item, if any.
func (r *resolver) checkHeader(w *model.Wire, n *ast.Node) *model.WireType {
	var typ *model.WireType
	lengths, twice := 0, map[string]bool{}
	for _, it := range w.Header {
		switch it := it.(type) {
		case *model.WireType:
			if typ != nil {
				r.Errorf("FSM072", it.Span, "the header has the type twice").See(typ.Span, "first here")
			}
			typ = it
		case *model.WireChecksum, *model.WireSequence:
			if kind := fmt.Sprintf("%T", it); twice[kind] {
				r.Errorf("FSM072", it.Pos(), "the header has this item twice")
			} else {
				twice[kind] = true
			}
		case *model.WireLength:
			if lengths++; lengths > 1 {
				r.Errorf("FSM072", it.Span, "the header has the length twice")
			}
			if w.Max > 0 && !fits(int64(w.Max-it.Less), it.Bits) && w.Max > it.Less {
				r.Errorf("FSM073", it.Span, "a length of %d bits cannot count %d bytes, the largest frame", it.Bits, w.Max-it.Less)
			}
		}
	}
	if typ == nil && len(r.p.Messages) > 1 {
		r.Errorf("FSM070", n.Span(), "the header has no `type`, so the messages cannot be told apart")
	}
	return typ
}

func fits(v int64, bits int) bool { return v >= 0 && (bits >= 63 || v < 1<<bits) }

func (r *resolver) messageWire(m *model.Message, w *model.Wire, typ *model.WireType, little bool) {
	decl := r.root.Get("messages").Get(m.Name)
	if id := decl.Get("id"); id != nil {
		if v, ok := r.constIn(id, 0, 1<<32-1, "the type number"); ok {
			m.ID = v
			if typ != nil && !fits(v, typ.Bits) {
				r.Errorf("FSM073", id.Span(), "the type number %d does not fit into %d bits", v, typ.Bits)
			}
		}
	} else if typ != nil {
		r.Errorf("FSM070", m.Span, "message %s has no `id`, which the frame's header needs", diag.Quote(m.Name))
	}
	if r.isBroken(m.Span) {
		return
	}
	ww := newWireWriter(r, little, "message "+diag.Quote(m.Name), m.Fields)
	if decl.Get("wire") == nil && len(m.Fields) > 0 {
		r.Errorf("FSM070", m.Span, "message %s has fields but no `wire`, so its bytes are unknown", diag.Quote(m.Name))
		return
	}
	before := r.Len()
	ww.min, ww.max = int64(w.HeaderLen), int64(w.HeaderLen)
	m.Layout = ww.items(decl.Get("wire"))
	if before == r.Len() {
		ww.complete(m.Fields, m.Span)
	}
	m.MinLen, m.MaxLen = int(ww.min), int(min(ww.max, 1<<30))
	if w.Max > 0 && ww.max > int64(w.Max) {
		r.Errorf("FSM075", m.Span, "message %s can have %d bytes, more than the frame's %d", diag.Quote(m.Name), ww.max, w.Max).
			With("raise `max` under `wire`, or lower the bounds of its lists and texts")
	}
}

func newWireWriter(r *resolver, little bool, where string, fields []*model.Field) *wireWriter {
	w := &wireWriter{r: r, little: little, where: where, fields: map[string]*model.Field{}, placed: map[string]int{},
		counted: map[string]*model.WireCount{}, names: map[string]int{},
		eachOf: map[string]*model.WireEach{}, eachAt: map[string]int64{}, parts: map[string]map[string]int{}}
	for _, f := range fields {
		w.fields[f.Name] = f
	}
	return w
}

// complete reports fields that the items do not place.
func (w *wireWriter) complete(fields []*model.Field, at diag.Span) {
	w.completeRows(at)
	unplaced(fields, w.placed, func(name string, f *model.Field) {
		w.r.Errorf("FSM072", at, "the wire of %s does not place the field %s", w.where, diag.Quote(name)).
			See(f.Span, "declared here")
	})
}

func (r *resolver) checkIDs(typ *model.WireType) {
	seen := map[int64]*model.Message{}
	for _, m := range r.p.Messages {
		if m.ID < 0 {
			continue
		}
		if first := seen[m.ID]; first != nil && typ != nil {
			r.Errorf("FSM071", m.Span, "messages %s and %s have the same id %d", diag.Quote(first.Name), diag.Quote(m.Name), m.ID).
				See(first.Span, "the other one")
			continue
		}
		seen[m.ID] = m
	}
}
