package second

import (
	"slices"

	"github.com/parley-go/parley/gen/ast"

	"github.com/parley-go/parley/proptest/second/machine"
)

// mediumMoves are what channels do by themselves, and what hostile instances do.
func (w *world) mediumMoves(c *config) (out []move) {
	for at, q := range c.ch {
		items := q.items
		if len(items) == 0 {
			continue
		}
		cl := &w.classes[at%len(w.classes)]
		i := at / len(w.classes) % len(w.roles)
		for n, it := range items {
			if n > 0 && !cl.bag {
				break
			}
			may := cl.lossy && (w.lose < 0 || c.lost < w.lose) || !cl.lossy && c.lost < w.lose
			if it.news != "" || !may || c.in[i].down || slices.ContainsFunc(items[:n], it.same) {
				continue
			}
			next := c.clone()
			if w.lose >= 0 {
				next.lost++
			}
			next.take(at, n)
			out = append(out, move{desc: desc{label: "lost", who: i, kind: isMedium}, to: next})
		}
		// The youngest message before the first reset may go with it.
		n := slices.IndexFunc(items, func(it item) bool { return it.news == "reset" || it.news == "mark" }) - 1
		for n >= 0 && items[n].news != "" {
			n--
		}
		if n >= 0 {
			next := c.clone()
			next.take(at, n)
			out = append(out, move{desc: desc{label: "tail", who: i, kind: isMedium}, to: next})
		}
		for n := range len(items) - 1 {
			if !cl.bag && c.swapped < w.swaps && items[n].news == "" && items[n+1].news == "" &&
				!items[n].same(items[n+1]) {
				next := c.clone()
				next.swapped++
				swapped := slices.Clone(items)
				swapped[n], swapped[n+1] = items[n+1], items[n]
				next.put(at, swapped)
				out = append(out, move{desc: desc{label: "overtakes", who: i, kind: isMedium}, to: next})
			}
		}
	}
	for h, r := range w.roles {
		if r == nil {
			for i := range c.in {
				out = append(out, w.attacks(c, h, i)...)
			}
		}
	}
	return out
}

// attacks are what the hostile instance h may do to i.
func (w *world) attacks(c *config, h, i int) (out []move) {
	in := c.in[i]
	if in.m == nil || in.down || !in.started || !w.reach[h][i] && !w.reach[i][h] || in.due() {
		return nil
	}
	linked := w.linked[i][h]
	if linked && (in.gone.has(h) || in.wait.has(h)) {
		return nil
	}
	done := false
	closed := func(label string) {
		if linked && (!done || w.labels) {
			done = true // it is the same, whatever was refused
			next := c.clone()
			out = append(out, w.loses(c, next, i, h, "", move{desc: desc{label: label, who: i,
				kind: isHostile}})...)
		}
	}
	if !w.dgram || w.bad[h] {
		closed("hangs up")
	}
	nothing := false
	for _, m := range w.forgeries(h, i) {
		mv := move{desc: desc{who: i, kind: isHostile}}
		if !w.labels && in.m.Mode(m.Name) != "defer" {
			o := w.step(in.m, m.Text, h, machine.Event{Name: m.Name, Sender: h, Msg: m.event})
			switch {
			case o.Fault != "" && !o.Wrong, o.Refused && !in.m.R.External:
				closed("refused")
				continue
			case !o.Refused && o.Fault == "" && o.M == in.m && len(o.Effects) == 0:
				if nothing {
					continue // as with the one before nothing comes of it
				}
				nothing = true
			}
		}
		if w.labels {
			mv.label = m.Text + " by hostile " + w.names[h]
		}
		for _, mv := range w.receive(c, c.clone(), i, h, m, mv) {
			switch {
			case mv.wrong:
				out = append(out, mv)
			case mv.violation == "unspecified-reception", mv.violation == "fault",
				mv.violation == "deferred-overflow":
				closed(mv.label + ", refused")
			default:
				out = append(out, mv)
			}
		}
	}
	return out
}

// forgeries are all messages that a hostile instance can send to i.
func (w *world) forgeries(h, i int) []*message {
	if list, ok := w.forged[[2]int{h, i}]; ok {
		return list
	}
	var list []*message
	for _, e := range machine.Entries(w.u.Root.Get("messages")) {
		if from := e.Value.Get("from"); from != nil &&
			!slices.Contains(machine.Scalars(from), w.as[h].Name) {
			continue
		}
		fields := w.u.MessageFields(e.Key.Text)
		if !w.roles[i].Takes(e.Key.Text) {
			// Whatever is in it, it is refused or nothing comes of it.
			var values []machine.Value
			for _, f := range fields {
				values = append(values, f.T.Zero())
			}
			list = append(list, w.interned(machine.NewMessage(e.Key.Text, values)))
			continue
		}
		of := func(k int) []machine.Value {
			f := fields[k]
			return w.sent(e.Key.Text+"."+f.Name, f.T.With(w.texts(e.Value, f.Name, f.T)))
		}
		for _, values := range machine.Product(len(fields), of) {
			list = append(list, w.interned(machine.NewMessage(e.Key.Text, values)))
		}
	}
	w.forged[[2]int{h, i}] = list
	return list
}

// texts are those that honest machines name and that a field can carry in a frame: a hostile instance sends them,
// too, whatever they are there.
func (w *world) texts(message *ast.Node, field string, t *machine.Type) (out []machine.Text) {
	if !t.HasText() {
		return nil
	}
	if w.said == nil {
		w.said = slices.Clone(w.args)
		for i, r := range w.roles {
			if r == nil {
				continue
			}
			eachStatement(w.as[i], nil, func(_ *machine.Role, _ []*machine.Part, n *ast.Node) {
				for _, e := range n.Entries {
					if e.Key.Text != "doc" && e.Key.Text != "refuse" {
						w.said = machine.Named(e.Value, w.said)
					}
				}
			})
		}
	}
	for _, x := range w.said {
		if w.u.Carries(message, field, string(x)) {
			out = append(out, x)
		}
	}
	return out
}

// sent are the values of a field that a hostile instance sends: all, if they are few. Of a list these are
// otherwise the empty one, and those of one element or full of one.
func (w *world) sent(field string, t *machine.Type) []machine.Value {
	const few = 64
	only := w.only[field]
	switch n := t.Size(few + 1); {
	case n <= few || t.Kind == machine.KText || t.Kind == machine.KEnum:
		return t.Values()
	case t.Kind == machine.KList && t.Elem.Size(few+1) <= few:
		out := []machine.Value{machine.List{}}
		for _, x := range t.Elem.Values() {
			out = append(out, machine.List{x})
			if t.Max > 1 {
				out = append(out, machine.List(slices.Repeat([]machine.Value{x}, int(t.Max))))
			}
		}
		return out
	}
	if only == nil {
		panic(machine.Unsupported("a hostile instance with more than 64 values of " + field))
	}
	var out []machine.Value
	if t.Kind == machine.KOptional {
		out = append(out, nil)
	}
	for _, n := range only {
		out = append(out, n)
	}
	return out
}
