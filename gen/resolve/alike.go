package resolve

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/wire"
)

// alike reports messages that the same bytes can be.
func (r *resolver) alike(list []wire.Alike) {
	for _, x := range list {
		p := r.Protocol.Over(x.A.Channel)
		why := "the header has no `type`"
		if p.Wire.Self {
			why = "no byte at the beginning tells them apart"
		}
		if p.Wire.TypeNumber() != nil {
			why = fmt.Sprintf("both have the id %d", x.A.ID)
		}
		hint := "nothing at a known place tells them apart"
		if b := example(p, x); b != nil {
			hint = fmt.Sprintf("% x is both", b)
		}
		r.Errorf("FSM071", x.B.Span, "a frame can be %s as well as %s: %s", diag.Quote(x.A.Name),
			diag.Quote(x.B.Name), why).See(x.A.Span, "the other one").
			With(hint + "; give them ids, constants or lengths that differ, or say which role sends one: `from: role`")
	}
}

// example looks for a frame that is both messages; nil if it finds none. It tries bodies at random that have
// the constants of both.
func example(p *model.Protocol, x wire.Alike) []byte {
	m, o := x.A, x.B
	random := rand.New(rand.NewPCG(1, 2))
	header := p.Wire.HeaderLen
	least, most := max(m.MinLen, o.MinLen)-header, min(m.MaxLen, o.MaxLen, p.Wire.Max)-header
	if p.Wire.Surplus {
		most = max(most, least)
	}
	strs := &interp.Strings{}
	if b := oneIsOther(p, strs, m, o); b != nil {
		return b
	}
	for try := range 4000 {
		body := make([]byte, least+min(try%40, max(most-least, 0)))
		for i := range body {
			if kind := random.IntN(4); kind == 0 {
				body[i] = byte(random.IntN(256))
			} else if kind == 1 {
				body[i] = byte(random.IntN(4))
			}
		}
		for at, b := range x.Fixed {
			if at < len(body) {
				body[at] = b
			}
		}
		whole := *m
		whole.Layout = []model.WireItem{&model.WireLiteral{Bytes: string(body)}}
		slots := make([]int64, interp.FieldSlots(m.Fields))
		interp.Zero(&model.Type{Kind: model.KindRecord, Fields: m.Fields}, slots)
		frame, err := interp.AppendFrame(p, strs, nil, &whole, slots)
		if err.Problem != 0 {
			continue
		}
		is := func(x *model.Message) bool {
			got, _, _ := interp.DecodeFrameAs(p, strs, frame, func(c *model.Message) bool { return c == x })
			return got == x
		}
		if is(m) && is(o) {
			return bytes.Clone(frame)
		}
	}
	return nil
}

// oneIsOther returns a frame of one message, with the values that variables begin with, that is also the other
// one or begins with it; nil if there is none.
func oneIsOther(p *model.Protocol, strs *interp.Strings, m, o *model.Message) []byte {
	if !p.Wire.Self {
		return nil
	}
	for _, pair := range [][2]*model.Message{{m, o}, {o, m}} {
		slots := make([]int64, interp.FieldSlots(pair[0].Fields))
		interp.Zero(&model.Type{Kind: model.KindRecord, Fields: pair[0].Fields}, slots)
		frame, err := interp.AppendFrame(p, strs, nil, pair[0], slots)
		if err.Problem != 0 {
			continue
		}
		for n := 1; n <= len(frame); n++ {
			got, _, _ := interp.DecodeFrameAs(p, strs, frame[:n], func(c *model.Message) bool { return c == pair[1] })
			if got != nil {
				return frame
			}
		}
	}
	return nil
}
