package wire

import (
	"slices"
	"strings"
	"unicode"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/apart"
)

// from resolves the role that alone sends a message.
func (r *resolver) from(m *model.Message) {
	n := r.Root.Get("messages").Get(m.Name).Get("from")
	if n == nil {
		return
	}
	roles := r.Root.Get("roles")
	e := roles.Entry(n.Text)
	if e == nil {
		r.Unknown("FSM071", n, "role", roles.Keys())
		r.bad[m] = true
		return
	}
	r.Refer(n.Span(), e.Key.Span())
	m.From = n.Text
}

// Alike are two messages that nothing tells apart and some role receives. Fixed are the bytes of their
// bodies that are always the same, by place.
type Alike struct {
	A, B  *model.Message
	Fixed map[int]byte
}

// alike lists messages of one channel that the header does not tell from each other, nor anything else at known
// places. header is the greatest size of the header.
func (r *resolver) alike(w *model.Wire, header int, messages []*model.Message) (out []Alike) {
	p := *r.Protocol
	p.Wire, p.Messages = w, messages
	for _, m := range p.Messages {
		for _, o := range p.Alike(m) {
			if o.Index > m.Index && (hasAddress(m.Layout) || hasAddress(o.Layout)) {
				r.Errorf("FSM071", o.Span, "addresses are found by the number of a message, which does not tell %s "+
					"from %s", diag.Quote(o.Name), diag.Quote(m.Name)).See(m.Span, "the other one")
				continue
			}
			if o.Index <= m.Index || r.IsBroken(m.Span) || r.IsBroken(o.Span) || r.bad[m] || r.bad[o] ||
				!r.bothReach(m, o) || apart.Messages(m, o, w, header) {
				continue
			}
			out = append(out, Alike{m, o, apart.Common(m, o, w)})
		}
	}
	return out
}

// bothReach reports whether some role receives both messages. A role that mentions neither refuses both, so it need
// not tell them apart.
func (r *resolver) bothReach(m, o *model.Message) bool {
	roles := r.Root.Get("roles")
	for _, to := range roles.Keys() {
		if len(roles.Entries) < 2 || m.From != to && o.From != to && mentions(roles.Get(to), m.Name, o.Name) {
			return true
		}
	}
	return roles == nil || len(roles.Entries) == 0
}

// mentions reports whether one of two names stands somewhere in a role, or whether the role has parts, which may
// mention them.
func mentions(n *ast.Node, a, b string) bool {
	if n == nil {
		return false
	}
	for _, word := range strings.FieldsFunc(n.Text, func(c rune) bool {
		return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}) {
		if word == a || word == b {
			return true
		}
	}
	for _, e := range n.Entries {
		if e.Key.Text == "parts" || mentions(e.Key, a, b) || mentions(e.Value, a, b) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items, func(x *ast.Node) bool { return mentions(x, a, b) })
}
