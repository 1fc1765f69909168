package interp

import (
	"strconv"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// AppendValue appends a value of type t as text; see the package comment for the grammar.
func AppendValue(b []byte, strs *Strings, t *model.Type, v []int64) []byte {
	switch t.Kind {
	case model.KindBool:
		return strconv.AppendBool(b, v[0] != 0)
	case model.KindEnum:
		if v[0] >= 0 && v[0] < int64(len(t.Names)) {
			return append(b, t.Names[v[0]]...)
		}
	case model.KindOpaque:
		return strconv.AppendUint(b, uint64(v[0]), 10)
	case model.KindBytes:
		return strconv.AppendQuote(b, strs.Get(v[0]))
	case model.KindOptional:
		if v[0] == 0 {
			return append(b, "none"...)
		}
		return AppendValue(b, strs, t.Elem, v[1:])
	case model.KindRecord:
		return appendFields(b, strs, t.Fields, v, true)
	case model.KindArray:
		return appendElems(b, strs, t.Elem, v, int(t.Index.Count()))
	case model.KindList:
		return appendElems(b, strs, t.Elem, v[1:], int(v[0]))
	case model.KindSet:
		return appendSet(b, strs, t, v[0])
	}
	return strconv.AppendInt(b, v[0], 10)
}

func appendElems(b []byte, strs *Strings, t *model.Type, v []int64, n int) []byte {
	b = append(b, '[')
	size := t.Slots()
	for i := range n {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = AppendValue(b, strs, t, v[i*size:])
	}
	return append(b, ']')
}

func appendSet(b []byte, strs *Strings, t *model.Type, mask int64) []byte {
	b = append(b, '[')
	sep := ""
	for i := int64(0); mask>>i != 0; i++ {
		if mask>>i&1 != 0 {
			b = append(b, sep...)
			b = AppendValue(b, strs, t.Elem, []int64{t.Elem.Lowest() + i})
			sep = ", "
		}
	}
	return append(b, ']')
}

// appendFields appends `{name: value, ...}`; nothing for no fields unless braces.
// Fields lie one after the other.
func appendFields(b []byte, strs *Strings, fields []*model.Field, v []int64, braces bool) []byte {
	if len(fields) == 0 && !braces {
		return b
	}
	b = append(b, '{')
	at := 0
	for i, f := range fields {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, f.Name...)
		b = append(b, ": "...)
		b = AppendValue(b, strs, f.Type, v[at:])
		at += f.Type.Slots()
	}
	return append(b, '}')
}

// AppendMessage appends a message as text.
func AppendMessage(b []byte, strs *Strings, m *model.Message, slots []int64) []byte {
	return appendFields(append(b, m.Name...), strs, m.Fields, slots, false)
}

// AppendEvent appends an event as text. The expiry of a part's timer has the
// part before its name: `fleet[true, 3].retry`.
func AppendEvent(b []byte, strs *Strings, ev Event) []byte {
	if len(ev.At) > 0 {
		b = append(append(b, pathText(ev.At)...), '.')
	}
	return appendFields(append(b, ev.Event.Name...), strs, ev.Event.Fields, ev.Args, false)
}

// AppendEffect appends an effect as text, as records have it: destinations are numbers.
func AppendEffect(b []byte, strs *Strings, e *Effect) []byte {
	return AppendEffectOf(b, strs, e, number)
}

func number(instance int) string { return strconv.Itoa(instance) }

// AppendEffectOf is AppendEffect with a name for each destination.
func AppendEffectOf(b []byte, strs *Strings, e *Effect, name func(instance int) string) []byte {
	switch e.Kind {
	case fsm.Send:
		b = AppendMessage(append(b, "send "...), strs, e.Message, e.Slots)
		return appendDest(b, e, name)
	case fsm.Report:
		b = append(append(b, "report "...), e.Report.Name...)
		return appendFields(b, strs, e.Report.Fields, e.Slots, false)
	case fsm.Close:
		return appendDest(append(b, "close"...), e, name)
	}
	word := "start "
	if e.Kind == fsm.StopTimer {
		word = "stop "
	}
	b = append(b, word...)
	if len(e.At) > 0 {
		b = append(append(b, pathText(e.At)...), '.')
	}
	b = appendInstance(append(b, e.Timer.Name...), e.Timer.Keys, e.Index)
	if e.Kind == fsm.StartTimer && e.Timer.Length != nil {
		b = strconv.AppendInt(append(b, " for "...), e.Ticks, 10)
	}
	return b
}

func appendDest(b []byte, e *Effect, name func(instance int) string) []byte {
	switch {
	case e.Dest == model.ToPeer:
		return b
	case e.To == int(fsm.Broadcast):
		return append(b, " to all"...)
	}
	return append(append(b, " to "...), name(e.To)...)
}

// AppendMachine appends a machine's state, parameters, variables, timers and parts.
func AppendMachine(b []byte, strs *Strings, m *model.Machine, v []int64) []byte {
	b = append(b, stateName(m, v[0])...)
	open := len(b)
	for _, list := range [2][]*model.Var{m.Params, m.Vars} {
		for _, d := range list {
			b = member(b, open, d.Name)
			b = AppendValue(b, strs, d.Type, v[d.Offset:])
		}
	}
	for _, t := range m.Timers {
		b = appendArmed(member(b, open, t.Name), t, v)
	}
	for _, p := range m.Parts {
		b = appendPartValue(member(b, open, p.Name), strs, p, v)
	}
	if len(b) == open {
		return b
	}
	return append(b, '}')
}

// appendArmed appends whether a timer is armed, of a keyed one for each instance.
func appendArmed(b []byte, t *model.Timer, v []int64) []byte {
	if len(t.Keys) == 0 {
		return strconv.AppendBool(b, v[t.Offset] != 0)
	}
	for i := range t.Count {
		b = strconv.AppendBool(append(b, map[bool]string{true: "[", false: ", "}[i == 0]...), v[t.Offset+i] != 0)
	}
	return append(b, ']')
}

func member(b []byte, open int, name string) []byte {
	if len(b) == open {
		b = append(b, '{')
	} else {
		b = append(b, ", "...)
	}
	return append(append(b, name...), ": "...)
}

func appendPartValue(b []byte, strs *Strings, p *model.Part, v []int64) []byte {
	if len(p.Keys) == 0 {
		return AppendMachine(b, strs, p.Machine, v[p.Offset:])
	}
	b = append(b, '[')
	for i := range p.Count {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = AppendMachine(b, strs, p.Machine, v[p.Offset+i*p.Machine.Size:])
	}
	return append(b, ']')
}
