package stage

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/wire"
)

// Frames knows which messages of a protocol have a frame. The codec of the interpreter says so, once for
// each message. A protocol that describes no frames has one for every message. One goroutine uses it.
type Frames struct {
	protocol *model.Protocol
	strs     *interp.Strings
	said     map[string]string // why a message has none
	key      []byte
	// Unseen lists, for messages that have a frame as the check has them, why they have none with other
	// values of what the check does not look into: texts and opaque numbers. Each begins with the name of
	// the message.
	Unseen []string
	told   map[string]bool
}

// NewFrames is about the messages of p, whose texts are in strs.
func NewFrames(p *model.Protocol, strs *interp.Strings) *Frames {
	return &Frames{protocol: p, strs: strs, said: map[string]string{}, told: map[string]bool{}}
}

// Refuses says why a message has no frame: `field who is set, and …`. It is empty if the message has one, and
// where only a text has no place in a frame that stands for other texts.
func (f *Frames) Refuses(m *model.Message, slots []int64) string {
	if f.protocol.Wire == nil {
		return ""
	}
	f.key = binary.AppendUvarint(f.key[:0], uint64(m.Index))
	for _, n := range slots {
		f.key = binary.AppendVarint(f.key, n)
	}
	why, ok := f.said[string(f.key)]
	if !ok {
		why = f.ask(m, slots)
		f.said[string(f.key)] = why
	}
	return why
}

// NoFrame says that what an effect sends, a message in words, has no frame, why, and where it is sent.
func NoFrame(text, why string, e *interp.Effect) string {
	return fmt.Sprintf("sends %s, which has no frame: %s (%s:%d)", text, why, e.Span.Place(), e.Span.Start.Col)
}

// ask asks the codec.
func (f *Frames) ask(m *model.Message, slots []int64) string {
	_, err := interp.AppendFrame(f.protocol, f.strs, nil, m, slots)
	if err.Problem != 0 && !f.standsFor(m, slots, err.Field) {
		return reason(m, err)
	}
	for _, text := range []string{"x", "\x00"} {
		if err.Problem == 0 {
			_, err = interp.AppendFrame(f.protocol, f.strs, nil, m, f.others(m, slots, text))
		}
	}
	if why := m.Name + ": " + reason(m, err); err.Problem != 0 && !f.told[m.Name] {
		f.told[m.Name] = true
		f.Unseen = append(f.Unseen, why)
	}
	return ""
}

// reason is an error of the codec in words of the message.
func reason(m *model.Message, err wire.Error) string {
	_, why, _ := strings.Cut(err.Error(), ": ")
	if err.Field == "" {
		return why
	}
	switch err.Problem {
	case wire.Unterminated:
		why = "the text has in it what ends it, or is too long"
	case wire.Text:
		why = "its line has a byte that it must not have, or would be read as another message"
	}
	switch {
	case err.Problem == wire.Union && err.Limit == 0:
		return "field " + err.Field + " is set, and beside what the other fields say the frame has no place for it"
	case err.Problem == wire.Union:
		return "field " + err.Field + " is none, and by what the other fields say the frame has it"
	}
	return "field " + err.Field + ": " + why
}

// fieldOf is the type of a field, or of a field of the elements of one: `who`, `entries.ship`. It is nil if
// there is none.
func fieldOf(fields []*model.Field, path string) *model.Type {
	name, rest, more := strings.Cut(path, ".")
	for _, x := range fields {
		if x.Name != name {
			continue
		}
		if !more {
			return x.Type
		}
		t := x.Type
		for t.Elem != nil {
			t = t.Elem
		}
		return fieldOf(t.Fields, rest)
	}
	return nil
}

// standsFor reports whether a field of a message is a text of which one or more stand for others: what is
// wrong with one of these says nothing.
func (f *Frames) standsFor(m *model.Message, slots []int64, path string) (is bool) {
	at := fieldOf(m.Fields, path)
	f.each(m, slots, func(t *model.Type, v *int64) {
		is = is || (t == at || at != nil && at.Elem == t) && t.Kind == model.KindBytes && *v <= t.Hi
	})
	return is
}

// maxText is the longest text that is tried.
const maxText = 1 << 16

// others is a message in which what the check does not look into is as large as its type allows, and texts
// are of one byte.
func (f *Frames) others(m *model.Message, slots []int64, text string) []int64 {
	out := append([]int64(nil), slots...)
	f.each(m, out, func(t *model.Type, v *int64) {
		switch {
		case t.Kind == model.KindBytes && *v <= t.Hi && t.Cap <= maxText:
			*v = f.strs.Intern([]byte(strings.Repeat(text, t.Cap)))
		case t.Kind == model.KindOpaque && *v <= t.Hi && t.Bits == 64:
			*v = -1
		case t.Kind == model.KindOpaque && *v <= t.Hi:
			*v = 1<<t.Bits - 1
		}
	})
	return out
}

// each gives the texts and opaque numbers that a message has.
func (f *Frames) each(m *model.Message, slots []int64, visit func(t *model.Type, v *int64)) {
	for _, x := range m.Fields {
		leaves(x.Type, slots[x.Offset:x.Offset+x.Type.Slots()], visit)
	}
}

// leaves gives the texts and opaque numbers that are in a value.
func leaves(t *model.Type, v []int64, visit func(t *model.Type, v *int64)) {
	elems := func(n int, v []int64) {
		for i := range n {
			leaves(t.Elem, v[i*t.Elem.Slots():(i+1)*t.Elem.Slots()], visit)
		}
	}
	switch t.Kind {
	case model.KindBytes, model.KindOpaque:
		visit(t, &v[0])
	case model.KindOptional, model.KindList: // whether it is there, or how many are
		elems(int(v[0]), v[1:])
	case model.KindArray:
		elems(int(t.Index.Count()), v)
	case model.KindRecord:
		for _, x := range t.Fields {
			leaves(x.Type, v[x.Offset:x.Offset+x.Type.Slots()], visit)
		}
	}
}
