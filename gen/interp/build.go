package interp

import "github.com/parley-go/parley/gen/model"

// build makes a list, set or array, element by element.
func (x *Eval) build(s *scope, e *model.Build, dst []int64) bool {
	clear(dst[:e.T.Slots()])
	return x.forEach(s, e.Local, e.Values, e.Over, e.Pos(), func() (bool, bool) {
		if e.If != nil {
			if v, ok := x.scalar(s, e.If); !ok || v == 0 {
				return true, ok
			}
		}
		if e.T.Kind != model.KindArray {
			return true, x.add(s, e, dst, e.Elem)
		}
		at := s.locals[e.Local.Offset] - lowest(e.T.Index)
		return true, x.store(s, e.Elem, e.T.Elem, dst[int(at)*e.T.Elem.Slots():])
	})
}

// find looks for the first value or element with a property, or counts them.
func (x *Eval) find(s *scope, e *model.Find, dst []int64) bool {
	clear(dst[:e.T.Slots()])
	return x.forEach(s, e.Local, e.Values, e.Over, e.Pos(), func() (bool, bool) {
		v, ok := x.scalar(s, e.X)
		if !ok || v == 0 {
			return true, ok
		}
		if e.Count {
			dst[0]++
			return true, true
		}
		dst[0] = 1
		copy(dst[1:], s.locals[e.Local.Offset:e.Local.Offset+e.Local.Type.Slots()])
		return false, true
	})
}
