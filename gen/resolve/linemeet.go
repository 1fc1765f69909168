package resolve

import (
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// overlap reports an earlier template that matches a line of this one.
func (r *resolver) overlap(m *model.Message, earlier []*model.Message) {
	if m.Line == nil || m.CatchAll() {
		return
	}
	for _, e := range earlier {
		if e.Line != nil && meet(flat(e), flat(m)) {
			r.Errorf("FSM077", m.Span, "some lines are both %s and %s", diag.Quote(e.Name), diag.Quote(m.Name)).See(e.Span, "the other one").
				With("only a template that is a single text may take what others leave, and it comes last")
			return
		}
	}
}

// flatPart is a byte of a line, or (many) any number of bytes of a set.
type flatPart struct {
	set  [256]bool
	many bool
}

// flat describes the lines of a message, fields by the bytes that they may have.
func flat(m *model.Message) []flatPart {
	var out []flatPart
	for i := range m.Line {
		p := &m.Line[i]
		if len(p.Path) == 0 {
			for k := range len(p.Text) {
				var f flatPart
				f.set[p.Text[k]] = true
				out = append(out, f)
			}
			continue
		}
		f := flatPart{many: true}
		t := p.Type()
		add := func(s string) {
			for k := range len(s) {
				f.set[s[k]] = true
			}
		}
		if t.Kind == model.KindOptional {
			add(p.None)
			t = t.Elem
		}
		switch t.Kind {
		case model.KindEnum:
			for _, word := range t.InLine() {
				add(word)
			}
		case model.KindBytes:
			for c := range f.set {
				f.set[c] = c != '\n' && c != '\r' && !strings.Contains(t.Without, string(rune(c)))
			}
		default:
			add("0123456789")
		}
		out = append(out, f)
	}
	return out
}

// meet reports whether two descriptions have a line in common.
func meet(a, b []flatPart) bool {
	seen := make([]bool, (len(a)+1)*(len(b)+1))
	var from func(i, j int) bool
	from = func(i, j int) bool {
		at := i*(len(b)+1) + j
		if seen[at] {
			return false
		}
		seen[at] = true
		if i == len(a) && j == len(b) {
			return true
		}
		if i < len(a) && a[i].many && from(i+1, j) || j < len(b) && b[j].many && from(i, j+1) {
			return true
		}
		if i == len(a) || j == len(b) {
			return false
		}
		common := false
		for c := range a[i].set {
			common = common || a[i].set[c] && b[j].set[c]
		}
		if !common {
			return false
		}
		next := func(p []flatPart, k int) int {
			if p[k].many {
				return k
			}
			return k + 1
		}
		return from(next(a, i), next(b, j))
	}
	return from(0, 0)
}
