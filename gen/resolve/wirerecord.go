package resolve

import (
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// lookup finds what an item names: a field, or `record.field`, however deep. A field of a record becomes one
// of its own, with the path that leads there; it is the same one each time.
func (w *wireWriter) lookup(name string) *model.Field {
	f, known := w.fields[name]
	record, last, dotted := cutLast(name)
	if known || !dotted {
		return f
	}
	owner := w.lookup(record)
	if owner == nil || owner.Type.Kind != model.KindRecord {
		return nil
	}
	part := fieldNamed(owner.Type.Fields, last)
	if part == nil {
		return nil
	}
	inner := *part
	inner.Name = name
	inner.Offset = owner.Offset + part.Offset
	inner.Path = append(slices.Clone(pathOf(owner)), part)
	w.fields[name] = &inner
	return &inner
}

// pathOf returns the fields that lead to a field of a message, itself last.
func pathOf(f *model.Field) []*model.Field {
	if f.Path != nil {
		return f.Path
	}
	return []*model.Field{f}
}

// fieldAt finds a field by its path.
func fieldAt(fields []*model.Field, path string) *model.Field {
	var f *model.Field
	for _, name := range strings.Split(path, ".") {
		f = fieldNamed(fields, name)
		fields = f.Type.Fields
	}
	return f
}

func cutLast(name string) (front, last string, dotted bool) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:], true
	}
	return name, "", false
}

// known lists what an item that names something unknown may have meant.
func (w *wireWriter) known(name string) []string {
	out := sortedKeys(w.fields)
	front, _, dotted := cutLast(name)
	for dotted && w.lookup(front) == nil {
		front, _, dotted = cutLast(front)
	}
	if f := w.lookup(front); dotted && f.Type.Kind == model.KindRecord {
		for _, part := range f.Type.Fields {
			out = append(out, front+"."+part.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// noRecord reports an item that selects a field where there is no record.
func (w *wireWriter) noRecord(e ast.Entry, name string) bool {
	for front, _, dotted := cutLast(name); dotted; front, _, dotted = cutLast(front) {
		if f := w.lookup(front); f != nil {
			if f.Type.Kind == model.KindRecord || f.Name == "" {
				return false
			}
			w.r.Errorf("FSM076", e.Key.Span(), "%s is %s, no record of which an item could name a field", diag.Quote(front), describe(f.Type)).
				See(f.Span, "declared here")
			return true
		}
	}
	return false
}

// unplaced calls missing for each field that the items do not place, a record none of whose fields is placed as
// a whole, and else the fields of it that are not; times says how often a field is placed.
func unplaced(fields []*model.Field, placed map[string]int, missing func(name string, f *model.Field)) {
	begun := map[string]bool{} // records some of whose fields are placed
	for name, n := range placed {
		for front, _, dotted := cutLast(name); dotted && n > 0 && !begun[front]; front, _, dotted = cutLast(front) {
			begun[front] = true
		}
	}
	var walk func(fields []*model.Field, prefix string)
	walk = func(fields []*model.Field, prefix string) {
		for _, f := range fields {
			switch name := prefix + f.Name; {
			case placed[name] > 0:
			case begun[name] && f.Type.Kind == model.KindRecord:
				walk(f.Type.Fields, name+".")
			default:
				missing(name, f)
			}
		}
	}
	walk(fields, "")
}
