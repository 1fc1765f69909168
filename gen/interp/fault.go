package interp

import (
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// FaultKind says why a step was refused.
type FaultKind uint8

const (
	// NoHandler: the state does not mention the event.
	NoHandler FaultKind = iota + 1
	// NoBranch: the state mentions it, but no guard holds.
	NoBranch
	// Refusal: a refuse statement said so.
	Refusal
	// Kept: a part or its parent defers an event inside a step.
	Kept
	// Failed: a statement or an expression faulted.
	Failed
)

// At selects an instance of a part.
type At struct {
	Part  *model.Part
	Index int // of the instance
}

// Fault explains a refused step. Machine, Path, State and Event are those of the
// innermost machine that refused; Reason and Span say what happened and at
// which line. A Fault is valid until the next step of the same Machine.
type Fault struct {
	Kind    FaultKind
	Machine *model.Machine
	Path    []At // empty: the machine itself
	State   *model.State
	Event   *model.Event
	Reason  string
	Span    diag.Span
	// Guards are the places of the guards that were looked at and false.
	Guards []diag.Span

	strs  *Strings
	value Value // at the beginning of the step
	outer Event
	root  *model.Machine
}

// Text explains the fault in one line: what was refused in which state, why,
// and what would have been legal there.
func (f *Fault) Text() string {
	var b strings.Builder
	b.WriteString(f.What())
	if f.root == nil {
		return b.String()
	}
	legal := Legal(f.root, f.value)
	b.WriteString("; legal in " + StatePath(f.root, f.value) + ": ")
	if len(legal) == 0 {
		b.WriteString("nothing")
	}
	for i, ev := range legal {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(ev.Name)
	}
	return b.String()
}

// What says what was refused, where and why, without what would have been legal.
func (f *Fault) What() string {
	var b strings.Builder
	if f.root != nil {
		b.WriteString("state " + StatePath(f.root, f.value) + " refuses ")
		b.Write(AppendEvent(nil, f.strs, f.outer))
		b.WriteString(": ")
	}
	b.WriteString(f.Why())
	return b.String()
}

// Why says why the step was refused, without the step.
func (f *Fault) Why() string { return f.Explain(diag.Span.String) }

// Explain is Why with places written by the caller; an empty place is left out.
func (f *Fault) Explain(place func(diag.Span) string) string {
	at := ""
	if !f.Span.IsZero() && place(f.Span) != "" {
		at = " (" + place(f.Span) + ")"
	}
	where := "state "
	if len(f.Path) > 0 {
		where = pathText(f.Path) + " in state "
	}
	if f.State != nil {
		where += f.State.Name
	}
	name := ""
	if f.Event != nil {
		name = f.Event.Name
	}
	switch f.Kind {
	case NoHandler:
		return where + " does not mention " + name
	case NoBranch:
		return where + " has no branch for this " + name + guardText(f.Guards, place)
	case Refusal:
		return where + " refuses " + name + ": " + f.Reason + at
	case Kept:
		return where + " defers " + name + ", which cannot be kept inside a step" + at
	}
	if f.State == nil {
		return f.Reason + at
	}
	return where + ", on " + name + ": " + f.Reason + at
}

func guardText(guards []diag.Span, place func(diag.Span) string) string {
	var places []string
	for _, g := range guards {
		if p := place(g); p != "" && !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	switch {
	case len(guards) == 0:
		return ": it has no branches"
	case len(places) == 0:
		return ": no guard holds"
	case len(guards) == 1:
		return ": the guard at " + places[0] + " does not hold"
	}
	return ": the guards at " + strings.Join(places, ", ") + " do not hold"
}

// maxWords is how much of an expression a reason quotes, in runes.
const maxWords = 80

// words is an expression as its author has it; of a long one, the beginning.
func words(e model.Expr) string {
	text := model.ExprString(e)
	if r := []rune(text); len(r) > maxWords {
		return string(r[:maxWords-1]) + "…"
	}
	return text
}

// pathText renders a path as `fleet[true, 3].timer`.
func pathText(path []At) string {
	var b []byte
	for i, at := range path {
		if i > 0 {
			b = append(b, '.')
		}
		b = appendPart(b, at)
	}
	return string(b)
}

func appendPart(b []byte, at At) []byte {
	return appendInstance(append(b, at.Part.Name...), at.Part.Keys, at.Index)
}

// appendInstance appends the keys that select an instance: `[true, 3]`; nothing without keys.
func appendInstance(b []byte, fields []*model.Field, index int) []byte {
	if len(fields) == 0 {
		return b
	}
	keys := make([]int64, len(fields))
	keysAt(fields, index, keys)
	b = append(b, '[')
	for i, k := range fields {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = AppendValue(b, nil, k.Type, keys[i:])
	}
	return append(b, ']')
}

// StatePath renders the control state of a machine with those of its parts that
// are not keyed: `setup (confirm localOk)`.
func StatePath(m *model.Machine, v Value) string {
	if len(v) < m.Size {
		return "?"
	}
	s := stateName(m, v[0])
	sep, end := " (", ""
	for _, p := range m.Parts {
		if len(p.Keys) > 0 {
			continue
		}
		sub := v[p.Offset : p.Offset+p.Machine.Size]
		s += sep + p.Name + " " + StatePath(p.Machine, sub)
		sep, end = ", ", ")"
	}
	return s + end
}

func stateName(m *model.Machine, i int64) string {
	if i < 0 || i >= int64(len(m.States)) {
		return "state " + strconv.FormatInt(i, 10)
	}
	return m.States[i].Name
}

// Legal lists the events that the present state of m handles or ignores, in the
// order of Machine.Events. Events of parts are left out, because nobody outside gives them.
func Legal(m *model.Machine, v Value) []*model.Event {
	if len(v) < m.Size || v[0] < 0 || v[0] >= int64(len(m.States)) {
		return nil
	}
	st := m.States[v[0]]
	var out []*model.Event
	for _, ev := range m.Events {
		if ev.Kind == model.EventReport || ev.Kind == model.EventFinished || ev.Index >= len(st.Handlers) {
			continue
		}
		if h := st.Handlers[ev.Index]; h != nil && h.Mode != model.Defer {
			out = append(out, ev)
		}
	}
	return out
}

// TimerName renders an instance of a timer as expressions name it: `alive[2]`.
func TimerName(t *model.Timer, index int) string {
	return string(appendInstance([]byte(t.Name), t.Keys, index))
}

// PartName renders an instance of a part as expressions name it: `update[1]`.
func PartName(at At) string { return string(appendPart(nil, at)) }
