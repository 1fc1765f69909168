// Package wire resolves how messages are written: the header and the items of binary frames; package lines has the
// templates of lines. It checks that a reader can tell what was written. Start from [Resolve].
package wire

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/lines"
	"github.com/parley-go/parley/gen/resolve/pass"
	"github.com/parley-go/parley/gen/resolve/types"
)

// Resolve resolves how messages are written as frames or lines. It returns those that nothing tells apart.
func Resolve(t *types.Table) []Alike { return (&resolver{t, map[*model.Message]bool{}}).wires() }

// wires resolves each `wire`, the protocol's and those of channels, with the messages that it is for.
func (r *resolver) wires() (alike []Alike) {
	p := r.Protocol
	whole, kept := r.Root.Entry("wire"), 0
	for k, ch := range p.Channels() {
		own := r.Root.Get("channels").Get(ch.Name).Entry("wire")
		if own == nil {
			kept++
			continue
		}
		w, more := r.wire(*own, []int{k})
		alike = append(alike, more...)
		if k == 0 {
			p.Channel.Wire = w
		} else {
			p.Beside[k-1].Wire = w
		}
		if whole == nil && p.Wire == nil {
			p.Wire = w
		}
	}
	switch {
	case whole != nil && kept == 0:
		r.Errorf("FSM070", whole.Key.Span(), "every channel has a `wire` of its own, so this one is of none").
			With("leave it out, or take out that of the channels that are to be written so")
	case whole != nil:
		var of []int
		for k, ch := range p.Channels() {
			if ch.Wire == nil {
				of = append(of, k)
			}
		}
		w, more := r.wire(*whole, of)
		p.Wire, alike = w, append(alike, more...)
	default:
		r.unwritten()
	}
	return alike
}

// unwritten reports channels without a wire beside others that have one, and what means nothing without a wire.
func (r *resolver) unwritten() {
	p := r.Protocol
	for _, ch := range p.Channels() {
		if ch.Wire == nil && p.Wire != nil {
			r.Errorf("FSM070", ch.Span, "the channel %s has no `wire`, and others have one", diag.Quote(ch.Name)).
				With("give it one, or the protocol a `wire` at the top, for all channels without one of their own")
		}
	}
	if p.Wire != nil {
		return
	}
	for _, m := range p.Messages {
		decl := r.Root.Get("messages").Get(m.Name)
		for _, k := range []string{"wire", "id", "phase", "next"} {
			if e := decl.Entry(k); e != nil {
				r.Errorf("FSM070", e.Key.Span(),
					"%s means nothing without a `wire` section at the top", diag.Quote(k)).
					With("add one, such as `wire: {header: [length: u16, type: u16], max: 1200}`")
			}
		}
	}
}

// wire resolves one format, of the messages of some channels.
func (r *resolver) wire(e ast.Entry, channels []int) (w *model.Wire, alike []Alike) {
	n := e.Value
	var messages []*model.Message
	for _, m := range r.Protocol.Messages {
		if slices.Contains(channels, m.Channel) {
			messages = append(messages, m)
		}
	}
	w = &model.Wire{Surplus: pass.TextOf(n, "surplus") == "skip", Span: n.Span()}
	little := pass.TextOf(n, "order") == "little"
	if m := n.Get("max"); m == nil {
		r.Errorf("FSM009", e.Key.Span(), "`wire` has no `max`, the largest frame in bytes")
	} else if v, ok := r.ConstIn(m, 1, 1<<24, "the largest frame"); ok {
		w.Max = int(v)
	}
	if n.Get("lines") != nil {
		lines.Resolve(r.Table, w, n, messages)
		return w, nil
	}
	lines.Refuse(r.Table, n, messages)
	r.phases(w, n, messages)
	w.Self = pass.IsTrue(n.Get("selfDelimiting"))
	r.noOther(w, n, messages)
	hw := newWriter(r, little, "the header", nil)
	hw.header = true
	before := r.Len()
	w.Header = hw.items(n.Get("header"))
	fine := before == r.Len()
	w.HeaderLen, w.Varies = int(hw.min), hw.min != hw.max
	for _, it := range hw.bodies {
		it.Less = w.HeaderLen
	}
	typ := r.checkHeader(w)
	for _, m := range messages {
		r.messageWire(m, w, typ, hw, little)
	}
	for _, k := range channels {
		if fine {
			alike = append(alike, r.alikeInPhases(w, int(hw.max), of(messages, k))...)
		}
	}
	return w, alike
}

// of returns the messages of a channel.
func of(messages []*model.Message, channel int) (out []*model.Message) {
	for _, m := range messages {
		if m.Channel == channel {
			out = append(out, m)
		}
	}
	return out
}

// checkHeader checks the items of the header and returns the one for the type, or nil.
func (r *resolver) checkHeader(w *model.Wire) *model.WireType {
	var typ *model.WireType
	lengths, twice := 0, map[string]bool{}
	found := func(it *model.WireType) {
		if typ != nil {
			r.Errorf("FSM072", it.Span, "the header has the type twice").See(typ.Span, "first here")
		}
		typ = it
	}
	for _, it := range w.Header {
		switch it := it.(type) {
		case *model.WireType:
			found(it)
		case *model.WireBits:
			for _, part := range it.Parts {
				if x, ok := part.Item.(*model.WireType); ok {
					found(x)
				}
			}
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
			if w.Max > it.Less && !fits(0, int64(w.Max-it.Less), it.Number) {
				r.Errorf("FSM073", it.Span, "a length of %s cannot count %d bytes, the largest frame",
					describe(it.Number), w.Max-it.Less)
			}
		}
	}
	return typ
}

func (r *resolver) messageWire(m *model.Message, w *model.Wire, typ *model.WireType, hw *writer, little bool) {
	decl := r.Root.Get("messages").Get(m.Name)
	r.from(m)
	if id := decl.Get("id"); id != nil {
		if v, ok := r.ConstIn(id, 0, 1<<32-1, "the type number"); ok {
			m.ID = v
			if typ != nil && !fits(v, v, typ.Number) {
				r.Errorf("FSM073", id.Span(), "the type number %d does not fit into %s", v, describe(typ.Number))
			}
		}
	} else if typ != nil {
		r.Errorf("FSM070", m.Span, "message %s has no `id`, which the frame's header needs",
			diag.Quote(m.Name))
	}
	if r.IsBroken(m.Span) {
		return
	}
	ww := newWriter(r, little, "message "+diag.Quote(m.Name), m.Fields)
	before := r.Len()
	ww.varies, ww.frame, ww.self = w.Varies, w, w.Self
	r.headFields(m, w.Header, hw.heads, ww)
	if decl.Get("wire") == nil && len(m.Fields) > len(ww.placed) {
		r.Errorf("FSM070", m.Span, "message %s has fields but no `wire`, so its bytes are unknown",
			diag.Quote(m.Name))
		return
	}
	ww.min, ww.max = hw.min, hw.max
	m.Layout = ww.items(decl.Get("wire"))
	if before == r.Len() {
		ww.complete(m.Fields, m.Span)
	}
	if before == r.Len() && w.Self && ww.min == 0 {
		r.Errorf("FSM074", m.Span, "message %s may have no bytes, so nobody can tell it from the next one",
			diag.Quote(m.Name)).With("begin it with a constant: `- const: {text: …}`")
	}
	r.bad[m] = r.bad[m] || before != r.Len()
	m.MinLen, m.MaxLen = int(ww.min), int(min(ww.max, 1<<30))
	if w.Max > 0 && ww.max > int64(w.Max) {
		r.Errorf("FSM075", m.Span, "message %s can have %d bytes, more than the frame's %d",
			diag.Quote(m.Name), ww.max, w.Max).
			With("raise `max` under `wire`, or lower the bounds of its lists and texts")
	}
}
