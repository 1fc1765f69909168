package conform

import (
	"fmt"
	"reflect"

	"github.com/parley-go/parley/gen/golang"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
)

// setEvent makes the generated event of one of the interpreter's.
func (x *Pair) setEvent(ev interp.Event) error {
	e := x.event.Elem()
	e.SetZero()
	name, key := ev.Keyed()
	kind, ok := x.kinds[name]
	if !ok {
		return fmt.Errorf("no event %s in the generated code", name)
	}
	e.FieldByName("Kind").SetUint(uint64(kind))
	e.FieldByName("From").SetInt(int64(ev.Sender))
	if f := e.FieldByName("Key"); f.IsValid() {
		f.SetUint(uint64(key))
	}
	switch ev.Event.Kind {
	case model.EventMessage:
		x.setMessage(e.FieldByName("Message"), ev.Event.Message, ev.Args)
	case model.EventCommand:
		if len(ev.Event.Fields) > 0 {
			x.setFields(e.FieldByName(x.commandMember(ev.Event)), ev.Event.Fields, ev.Args)
		}
	}
	return nil
}

func (x *Pair) commandMember(ev *model.Event) string {
	names := []string{"Kind", "From", "Key", "Message"}
	for _, c := range x.Role.Commands {
		names = append(names, c.Name)
	}
	names = golang.GoNames(names...)
	for i, c := range x.Role.Commands {
		if c.Name == ev.Name {
			return names[i+4]
		}
	}
	return ""
}

// memberOf names the member of Report for one of several reports.
func memberOf(list []*model.Report, index int) string {
	names := []string{"Kind"}
	for _, r := range list {
		names = append(names, r.Name)
	}
	return golang.GoNames(names...)[index+1]
}

func (x *Pair) setMessage(v reflect.Value, m *model.Message, slots []int64) {
	v.SetZero()
	v.FieldByName("Kind").SetUint(uint64(m.Index))
	if len(m.Fields) > 0 {
		x.setFields(v.FieldByName(golang.MessageMembers(x.Protocol.Messages)[m.Index]), m.Fields, slots)
	}
}

func (x *Pair) setFields(v reflect.Value, fields []*model.Field, slots []int64) {
	at := 0
	for i, f := range fields {
		x.x.set(f.Type, v.Field(i), slots[at:])
		at += f.Type.Slots()
	}
}

func (x *Pair) getFields(v reflect.Value, fields []*model.Field) []int64 {
	slots, at := make([]int64, interp.FieldSlots(fields)), 0
	for i, f := range fields {
		x.x.get(f.Type, v.Field(i), slots[at:])
		at += f.Type.Slots()
	}
	return slots
}

// getMessage reads a generated message: its index and slots.
func (x *Pair) getMessage(v reflect.Value) (*model.Message, []int64) {
	m := x.Protocol.Messages[v.FieldByName("Kind").Uint()]
	if len(m.Fields) == 0 {
		return m, nil
	}
	return m, x.getFields(v.FieldByName(golang.MessageMembers(x.Protocol.Messages)[m.Index]), m.Fields)
}
