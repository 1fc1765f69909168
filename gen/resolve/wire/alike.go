package wire

import (
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

// bothReach reports whether some role receives both messages.
func (r *resolver) bothReach(m, o *model.Message) bool {
	roles := r.Root.Get("roles").Keys()
	for _, to := range roles {
		if len(roles) < 2 || m.From != to && o.From != to {
			return true
		}
	}
	return len(roles) == 0
}
