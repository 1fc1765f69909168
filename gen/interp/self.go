package interp

import (
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/wire"
)

// selfSize is [FrameSizeTo] for frames that end where their last item does.
func selfSize(p *model.Protocol, b []byte, to string) (int, wire.Error) {
	near := b[:min(len(b), p.Wire.Max)]
	_, _, end, err := decodeSelf(p, &Strings{}, near, func(m *model.Message) bool { return m.Reaches(to, p) })
	switch {
	case err.Problem == 0:
		return end, err
	case err.Problem == wire.Short && len(b) < p.Wire.Max:
		return 0, wire.Error{}
	case err.Problem == wire.Short:
		return 0, wire.Error{Message: err.Message, Problem: wire.Long, Value: int64(len(b)), Limit: int64(p.Wire.Max)}
	}
	return 0, err
}

// decodeSelf decodes the frame at the beginning of b, and returns where it ends. Messages are tried in their
// order. If it is none of them, the error is that of one which is only not complete, else that of the one which
// was read farthest.
func decodeSelf(p *model.Protocol, strs *Strings, b []byte, may func(*model.Message) bool) (msg *model.Message,
	slots []int64, end int, worst wire.Error) {
	for _, m := range p.Messages {
		if !may(m) {
			continue
		}
		d := decoder{b: b, strs: strs, self: true, most: p.Wire.Max}
		d.err.Message = m.Name
		slots := make([]int64, FieldSlots(m.Fields))
		if d.items(m.Layout, slots, "") {
			return m, slots, d.at, wire.Error{}
		}
		worst = wire.Unfinished(worst, d.err)
	}
	if worst.Problem == 0 {
		worst.Problem = wire.UnknownType
	}
	return nil, nil, 0, worst
}
