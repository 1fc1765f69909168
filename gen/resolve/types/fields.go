package types

import (
	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/pass"
)

// DeclareMessages resolves the messages and their fields.
func (r *Table) DeclareMessages() {
	n := r.Root.Get("messages")
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		fields := r.fields(e.Value.Get("fields"))
		if fields == nil {
			fields = []*model.Field{}
			r.SetBroken(e.Key.Span())
		}
		m := &model.Message{Name: e.Key.Text, Doc: pass.TextOf(e.Value, "doc"),
			Index: len(r.Protocol.Messages), Fields: fields, ID: -1, Span: e.Key.Span(),
			Channel: r.channelNamed(e.Value.Get("channel"))}
		if on := e.Value.Get("channel"); on != nil && r.Protocol.Channels()[m.Channel].Name != on.Text {
			r.SetBroken(m.Span) // nobody knows which other frames it is beside
		}
		r.Messages[m.Name] = m
		r.Protocol.Messages = append(r.Protocol.Messages, m)
	}
}

// fields resolves the fields of a message, record, command or report. It returns nil if a type is
// wrong, and an empty list if there are no fields.
func (r *Table) fields(n *ast.Node) []*model.Field {
	out := []*model.Field{}
	if n == nil {
		return out
	}
	off, ok := 0, true
	for _, e := range n.Entries {
		t := r.TypeOf(e.Value, "")
		r.RefuseInit(e.Value)
		if t == nil {
			ok = false
			continue
		}
		out = append(out, &model.Field{Name: e.Key.Text, Doc: pass.TextOf(e.Value, "doc"),
			Index: len(out), Type: t, Offset: off, Span: e.Key.Span()})
		off += t.Slots()
	}
	if !ok {
		return nil
	}
	return out
}

// DeclaredFields resolves the fields of a command, report or routine, and remembers a declaration
// whose fields are wrong.
func (r *Table) DeclaredFields(e ast.Entry) []*model.Field {
	f := r.fields(e.Value.Get("fields"))
	if f == nil {
		r.SetBroken(e.Key.Span())
		return []*model.Field{}
	}
	return f
}

// KeyFields resolves the keys of a part or timer and counts their combinations.
func (r *Table) KeyFields(n *ast.Node, what string) (fields []*model.Field, count int, ok bool) {
	if n == nil {
		return nil, 1, true
	}
	if fields = r.fields(n); fields == nil {
		return nil, 1, false
	}
	all := int64(1)
	for _, f := range fields {
		if !IsDiscrete(f.Type) {
			r.Errorf("FSM061", f.Span, "a key is bool, a range, an enumeration or an instance, not %s",
				Describe(f.Type))
			return nil, 1, false
		}
		all *= min(f.Type.Count(), pass.MaxParts+1)
		if all > pass.MaxParts {
			r.Errorf("FSM042", f.Span, "%s has more than %d instances", what, pass.MaxParts)
			return nil, 1, false
		}
	}
	return fields, int(all), true
}

// RefuseInit reports keys that only a variable has.
func (r *Table) RefuseInit(n *ast.Node) {
	if e := n.Entry("init"); e != nil {
		r.Errorf("FSM007", e.Key.Span(), "only a variable has an `init`")
	}
	if e := n.Entry("kept"); e != nil {
		r.Errorf("FSM007", e.Key.Span(), "only a variable can be `kept`")
	}
}

// FieldNamed returns the field with a name, or nil.
func FieldNamed(fields []*model.Field, name string) *model.Field {
	for _, f := range fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// FieldNames returns the names of fields in order.
func FieldNames(fields []*model.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}
