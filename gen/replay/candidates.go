package replay

import (
	"encoding/binary"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// smallDomain is the number of argument tuples up to which a command is tried with all of them.
const smallDomain = 8

// candidates returns arguments with which a command can explain the side's next frames. If there are few
// it returns all. Otherwise it returns those whose values are together in one of the next frames: in its
// fields, or in one element of a list in it. It matches values by name or by type.
func (s *search) candidates(n *node, ev *model.Event) [][]int64 {
	if h := s.machine.States[n.value[0]].Handlers; h[ev.Index] == nil {
		return nil
	}
	if all := s.all(ev.Fields); all != nil {
		return all
	}
	key := guess{n.sent, ev.Index}
	list, ok := s.guesses[key]
	if !ok {
		for c := range s.lanes {
			l, from := &s.lanes[c], int(n.sent.first[c])
			for k := from; k < len(l.out) && k < from+s.opts.Ahead; k++ {
				for _, b := range s.bundlesAt(l, k) {
					list = s.fill(list, ev.Fields, b)
				}
			}
		}
		s.guesses[key] = list
	}
	return list
}

// unseenFrames returns frames that the peer may have sent at a node, none of which is in the capture. Values of
// fields are taken from what the side sent before and will send, for an answer repeats what was asked, and
// what follows repeats the answer.
func (s *search) unseenFrames(n *node, ev *model.Event) (frames []int) {
	if h := s.machine.States[n.value[0]].Handlers[ev.Index]; h == nil {
		return nil
	}
	key := guess{n.sent, ev.Index}
	if frames, ok := s.unseenAt[key]; ok {
		return frames
	}
	list := s.all(ev.Fields)
	if list == nil {
		for c := range s.lanes {
			l, at := &s.lanes[c], int(n.sent.first[c])
			for k := max(0, at-s.opts.Ahead); k < len(l.out) && k < at+s.opts.Ahead; k++ {
				for _, b := range s.bundlesAt(l, k) {
					list = s.fill(list, ev.Fields, b)
				}
			}
		}
	}
	for _, args := range list {
		b := binary.AppendUvarint(s.scratch[:0], uint64(ev.Index))
		for _, v := range args {
			b = binary.AppendVarint(b, v)
		}
		s.scratch = b
		at, ok := s.made[string(b)]
		if !ok {
			at = len(s.rec.Frames)
			s.made[string(b)] = at
			message := s.rec.Protocol.Messages[slices.IndexFunc(s.rec.Protocol.Messages, func(m *model.Message) bool {
				return m.Name == ev.Message.Name
			})]
			s.rec.Frames = append(s.rec.Frames, Frame{From: 1 - s.side, To: s.side, Channel: message.Channel,
				Message: message, Slots: args})
		}
		frames = append(frames, at)
	}
	s.unseenAt[key] = frames
	return frames
}

// guess is a place in the recording at which arguments for an event were guessed.
type guess struct {
	sent  progress
	event int
}

// bundlesAt returns the bundles of the side's frame k in a channel, and of that frame together with the next one.
// Values can come from two frames that follow each other, such as a checksum and an input.
func (s *search) bundlesAt(l *lane, k int) []bundle {
	f := &s.rec.Frames[l.out[k]]
	if l.missing[k] || f.Message == nil {
		return nil
	}
	if l.bundles[k] == nil {
		l.bundles[k] = bundles(f.Message.Fields, f.Slots)
		if k+1 < len(l.out) && !l.missing[k+1] && s.rec.Frames[l.out[k+1]].Message != nil {
			g := &s.rec.Frames[l.out[k+1]]
			b := bundle{}
			b.add(f.Message.Fields, f.Slots)
			b.add(g.Message.Fields, g.Slots)
			l.bundles[k] = append(l.bundles[k], b)
		}
	}
	return l.bundles[k]
}

// all returns every tuple of arguments for fields. It returns nil if there are too many. It keeps the
// result.
func (s *search) all(fields []*model.Field) [][]int64 {
	if len(fields) == 0 {
		return [][]int64{nil}
	}
	if list, ok := s.domains[fields[0]]; ok {
		return list
	}
	var list [][]int64
	if carried(fields) {
		list, _ = interp.Domains(&model.Event{Fields: fields}, smallDomain)
	}
	s.domains[fields[0]] = list
	return list
}

// single returns every value of a field. If there are too many it returns the zero value alone.
func (s *search) single(f *model.Field) [][]int64 {
	alone, ok := s.alone[f]
	if !ok {
		alone = &model.Field{Name: f.Name, Type: f.Type}
		s.alone[f] = alone
	}
	if list := s.all([]*model.Field{alone}); list != nil {
		return list
	}
	zero := make([]int64, f.Type.Slots())
	interp.Zero(f.Type, zero)
	return [][]int64{zero}
}

// carried reports whether the fields have their real domains. In a check a single value can stand for
// all opaque data.
func carried(fields []*model.Field) bool {
	return !slices.ContainsFunc(fields, func(f *model.Field) bool {
		return f.Type.Kind == model.KindOpaque || f.Type.Kind == model.KindBytes
	})
}

// bundle is a set of named values that are together in a frame.
type bundle struct {
	fields []*model.Field
	values [][]int64
}

func (b *bundle) add(fields []*model.Field, slots []int64) {
	for _, f := range fields {
		b.fields = append(b.fields, f)
		b.values = append(b.values, slots[f.Offset:f.Offset+f.Type.Slots()])
	}
}

// bundles returns the fields of a message. For each element of its lists of records it also returns the
// element's fields together with those of the message.
func bundles(fields []*model.Field, slots []int64) []bundle {
	top := bundle{}
	top.add(fields, slots)
	all := []bundle{top}
	for _, f := range fields {
		if f.Type.Kind != model.KindList || f.Type.Elem.Kind != model.KindRecord {
			continue
		}
		size := f.Type.Elem.Slots()
		for i := range int(slots[f.Offset]) {
			b := bundle{fields: slices.Clone(top.fields), values: slices.Clone(top.values)}
			at := f.Offset + 1 + i*size
			b.add(f.Type.Elem.Fields, slots[at:at+size])
			all = append(all, b)
		}
	}
	return all
}

// fill makes arguments for fields from a bundle, and appends those that are new. A field without a value
// in the bundle gets all its values if they are few. Otherwise it gets the zero value, since a value
// that is never on the wire is as good as any other.
func (s *search) fill(list [][]int64, fields []*model.Field, b bundle) [][]int64 {
	partial := [][]int64{nil}
	for _, f := range fields {
		choices := b.choices(f)
		if len(choices) == 0 {
			choices = s.single(f)
		}
		var next [][]int64
		for _, p := range partial {
			for _, c := range choices {
				next = append(next, append(slices.Clone(p), c...))
			}
		}
		if partial = next; len(partial) > 64 {
			return list
		}
	}
	for _, p := range partial {
		if !slices.ContainsFunc(list, func(q []int64) bool { return slices.Equal(p, q) }) {
			list = append(list, p)
		}
	}
	return list
}

// choices returns the values of the bundle that field f can have: the one with its name, or else all of
// its type.
func (b *bundle) choices(f *model.Field) [][]int64 {
	var byType [][]int64
	for i, g := range b.fields {
		v, ok := as(f.Type, g.Type, b.values[i])
		if !ok {
			continue
		}
		if g.Name == f.Name {
			return [][]int64{v}
		}
		if named(f.Type, g.Type) {
			byType = append(byType, v)
		}
	}
	return byType
}

// named reports whether two types have the same name. It looks through optionals.
func named(t, u *model.Type) bool {
	if t.Kind == model.KindOptional {
		t = t.Elem
	}
	if u.Kind == model.KindOptional {
		u = u.Elem
	}
	return t.Name == u.Name
}

// as converts a value of type from to type to. They are the same type, or one is the optional of the
// other.
func as(to, from *model.Type, v []int64) ([]int64, bool) {
	switch {
	case to.Same(from):
		return v, true
	case to.Kind == model.KindOptional && to.Elem.Same(from):
		return append([]int64{1}, v...), true
	case from.Kind == model.KindOptional && from.Elem.Same(to) && v[0] != 0:
		return v[1:], true
	}
	return nil, false
}
