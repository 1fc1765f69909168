package wire

import (
	"maps"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/types"
)

// lookup finds the field that an item names, which may be inside a record: `record.field`, however
// deep. Such a field becomes a field of its own with the path that leads to it, the same one each
// time. lookup returns nil if there is none.
func (w *writer) lookup(name string) *model.Field {
	if f := w.fields[name]; f != nil || !strings.Contains(name, ".") {
		return f
	}
	path, _, whole := w.follow(name)
	if !whole {
		return nil
	}
	inner := *path[len(path)-1]
	inner.Name, inner.Path, inner.Offset = name, path, 0
	for _, f := range path {
		inner.Offset += f.Offset
	}
	w.fields[name] = &inner
	return &inner
}

// follow goes from record to record as far as a name leads. whole reports whether that is the whole
// name; if not, rest is the remainder.
func (w *writer) follow(name string) (path []*model.Field, rest string, whole bool) {
	first, rest, more := strings.Cut(name, ".")
	f := w.fields[first]
	for f != nil {
		path = append(path, f)
		if !more || f.Type.Kind != model.KindRecord {
			return path, rest, !more
		}
		step, behind, again := strings.Cut(rest, ".")
		if f = types.FieldNamed(f.Type.Fields, step); f != nil {
			rest, more = behind, again
		}
	}
	return path, rest, false
}

// pathOf returns the fields that lead to a field of a message, ending with itself.
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
		f = types.FieldNamed(fields, name)
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

// known lists the names that an item with an unknown name may have meant.
func (w *writer) known(name string) []string {
	out := slices.Sorted(maps.Keys(w.fields))
	path, rest, whole := w.follow(name)
	if len(path) == 0 || whole {
		return out
	}
	for _, part := range path[len(path)-1].Type.Fields {
		out = append(out, strings.TrimSuffix(name, rest)+part.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// noRecord reports an item that selects a field of something that is not a record.
func (w *writer) noRecord(e ast.Entry, name string) bool {
	path, rest, whole := w.follow(name)
	if len(path) == 0 || whole {
		return false
	}
	f := path[len(path)-1]
	if f.Type.Kind == model.KindRecord || f.Name == "" {
		return false
	}
	w.r.Errorf("FSM076", e.Key.Span(), "%s is %s, no record of which an item could name a field",
		diag.Quote(strings.TrimSuffix(name, "."+rest)), types.Describe(f.Type)).
		See(f.Span, "declared here")
	return true
}

// unplaced calls missing for each field that the items do not place. Of a record of which some
// fields are placed it names the others; of a record of which none is, the record. placed counts
// how often a field is placed.
func unplaced(fields []*model.Field, placed map[string]int, missing func(name string, f *model.Field)) {
	begun := map[string]bool{} // records of which some field is placed
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
