package wire

import (
	"slices"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/pass"
)

// phases resolves the phases of a format, in which of them each message may be sent, and what follows it.
func (r *resolver) phases(w *model.Wire, n *ast.Node, messages []*model.Message) {
	e := n.Entry("phases")
	if e == nil {
		for _, m := range messages {
			for _, k := range []string{"phase", "next"} {
				if x := r.Root.Get("messages").Get(m.Name).Entry(k); x != nil {
					r.Errorf("FSM103", x.Key.Span(), "%s means nothing without `phases` under `wire`", diag.Quote(k))
				}
			}
		}
		return
	}
	before := r.Len()
	at := e.Key.Span()
	for i, x := range e.Value.Items {
		if slices.Contains(w.Phases, x.Text) {
			r.Errorf("FSM103", x.Span(), "the phase %s is there twice", diag.Quote(x.Text))
		} else if i == model.MostPhases {
			r.Errorf("FSM103", x.Span(), "a stream has at most %d phases", model.MostPhases)
		}
		w.Phases = append(w.Phases, x.Text)
	}
	switch ch := r.Protocol.Channel; {
	case len(w.Phases) < 2:
		r.Errorf("FSM103", at, "a stream with one phase has none").With("name two or more, or leave `phases` out")
	case r.Protocol.Several():
		r.Errorf("FSM103", at, "a protocol with several channels has no phases").
			With("give the messages ids or constants that differ")
	case !ch.Ordered || ch.Lossy || ch.Duplicates:
		r.Errorf("FSM103", at, "a phase is what came before in a stream, and this channel may lose, copy or reorder "+
			"messages").See(ch.Span, "this one").With("give the messages ids or constants that differ")
	}
	for _, m := range messages {
		r.phase(w, m)
	}
	if before == r.Len() {
		r.reached(w, e.Value, messages)
	}
}

// phase resolves the phases of one message.
func (r *resolver) phase(w *model.Wire, m *model.Message) {
	decl := r.Root.Get("messages").Get(m.Name)
	place := func(n *ast.Node) int {
		k := slices.Index(w.Phases, n.Text)
		if k < 0 {
			r.Unknown("FSM103", n, "phase", w.Phases)
		} else if k >= model.MostPhases {
			return -1
		}
		return k
	}
	n := decl.Get("phase")
	if n == nil {
		r.Errorf("FSM103", m.Span, "message %s does not say in which phase it is sent", diag.Quote(m.Name)).
			With("add `phase: " + w.Phases[0] + "`, or several: `phase: " + "[…]`")
		return
	}
	list := n.Items
	if n.Kind == ast.Scalar {
		list = []*ast.Node{n}
	}
	m.Next = -1
	for _, x := range list {
		if k := place(x); k >= 0 {
			m.Phases |= 1 << k
		}
	}
	if next := decl.Get("next"); next != nil {
		m.Next = place(next)
		if m.Next >= 0 && m.Phases == 1<<m.Next {
			r.Errorf("FSM103", next.Span(), "behind %s its stream is in the phase %s, as before", diag.Quote(m.Name),
				diag.Quote(next.Text)).With("leave `next` out")
		}
	}
}

// reached reports phases that no stream comes to, and messages that no stream can have.
func (r *resolver) reached(w *model.Wire, list *ast.Node, messages []*model.Message) {
	entered := uint16(1)
	from := func(m *model.Message) string { // From is not resolved yet
		return pass.TextOf(r.Root.Get("messages").Get(m.Name), "from")
	}
	streams := map[string]uint16{} // by sender: who sends one message may send all that reach others
	for _, role := range append(r.Root.Get("roles").Keys(), "") {
		seen := uint16(1)
		for again := true; again; {
			again = false
			for _, m := range messages {
				if f := from(m); (f == "" || role == "" || f == role) && m.Phases&seen != 0 && m.Next >= 0 &&
					seen>>m.Next&1 == 0 {
					seen, again = seen|1<<m.Next, true
				}
			}
		}
		if streams[role] = seen; role != "" {
			entered |= seen
		}
	}
	for k, name := range w.Phases {
		if entered>>k&1 == 0 {
			r.Errorf("FSM103", list.Items[k].Span(), "no message leads to the phase %s", diag.Quote(name)).
				With("say at the last message before it: `next: " + name + "`")
		}
	}
	for _, m := range messages {
		if seen, known := streams[from(m)]; known && from(m) != "" && m.Phases&seen == 0 && m.Phases&entered != 0 {
			r.Errorf("FSM103", m.Span, "what %s sends never comes to the phase of %s", diag.Quote(from(m)),
				diag.Quote(m.Name)).With("each side goes through the phases by its own messages: " +
				"say `next` at one of them")
		}
	}
}

// alikeInPhases is alike for what a stream may have in one phase: messages of different phases need not differ.
func (r *resolver) alikeInPhases(w *model.Wire, header int, messages []*model.Message) (out []Alike) {
	if len(w.Phases) < 2 {
		return r.alike(w, header, messages)
	}
	type pair struct{ a, b *model.Message }
	seen := map[pair]bool{}
	for k := range min(len(w.Phases), model.MostPhases) {
		var list []*model.Message
		for _, m := range messages {
			if m.In(k) {
				list = append(list, m)
			}
		}
		for _, x := range r.alike(w, header, list) {
			if !seen[pair{x.A, x.B}] {
				seen[pair{x.A, x.B}] = true
				out = append(out, x)
			}
		}
	}
	return out
}
