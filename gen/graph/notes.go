package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/model"
)

// protocolNotes say what a role's states do not: over which channels its messages go, what a stream carries when,
// what is in a tagged union, and what the checks have happen to it.
func protocolNotes(p *model.Protocol, m *model.Machine, o Options) (list []note) {
	for _, n := range []note{channelsNote(p, o), phasesNote(p, m, o), unionsNote(p, m, o), checksNote(p, m, o)} {
		if len(n.rows) > 0 {
			list = append(list, n)
		}
	}
	return list
}

// channelsNote tells, of several channels, what each does to messages and which go over it.
func channelsNote(p *model.Protocol, o Options) note {
	n := note{head: "channels"}
	if !p.Several() {
		return n
	}
	for i, ch := range p.Channels() {
		var names []string
		for _, m := range p.Messages {
			if m.Channel == i {
				names = append(names, m.Name)
			}
		}
		w := wrapper{width: 2 * o.Width}
		w.add(ch.Name, title)
		w.add("("+channelKind(ch)+"):", faint)
		for k, name := range names {
			if k+1 < len(names) {
				name += ","
			}
			w.add(name, received)
		}
		n.rows = append(n.rows, w.done()...)
	}
	return n
}

// channelKind says what a channel does to messages.
func channelKind(ch model.Channel) string {
	kind := "in order"
	if !ch.Ordered {
		kind = "any order"
	}
	switch {
	case ch.Lossy && ch.Duplicates:
		return kind + ", may lose and repeat"
	case ch.Lossy:
		return kind + ", may lose"
	case ch.Duplicates:
		return kind + ", may repeat"
	}
	return kind + ", loses nothing"
}

// phasesNote tells which messages a stream may carry in each of its phases, and which of them end it.
func phasesNote(p *model.Protocol, m *model.Machine, o Options) note {
	n := note{head: "phases of a stream"}
	if !p.Phased() || m.Protocol != p.Name {
		return n
	}
	for i, phase := range p.Wire.Phases {
		w := wrapper{width: 2 * o.Width}
		w.add(phase+":", title)
		if p.Raw(i, "") {
			w.add("bytes that are no messages", faint)
		}
		var list []*model.Message
		for _, msg := range p.Messages {
			if msg.In(i) {
				list = append(list, msg)
			}
		}
		for k, msg := range list {
			text := msg.Name
			if next := msg.After(i); next != i {
				text += " (→ " + p.Wire.Phases[next] + ")"
			}
			if k+1 < len(list) {
				text += ","
			}
			w.add(text, received)
		}
		n.rows = append(n.rows, w.done()...)
	}
	return n
}

// unionsNote shows the tagged unions in messages that the machine sends or receives: the fields that are there
// with each value of the tag.
func unionsNote(p *model.Protocol, m *model.Machine, o Options) note {
	n := note{head: "tagged unions"}
	if m.Protocol != p.Name {
		return n
	}
	sent := m.Sends()
	type union struct {
		at   []string
		rows []line
	}
	var list []*union // those that are alike stand there once
	for _, msg := range p.Messages {
		if !sent[msg.Name] && !slices.ContainsFunc(m.Transitions, func(t *model.Transition) bool {
			return t.Event.Message == msg && t.Mode != model.Ignore
		}) {
			continue
		}
		cases(msg.Layout, msg.Name, func(at string, c *model.WireCase) {
			var rows []line
			for i := range c.Branches {
				rows = append(rows, caseLines(c.Tag, &c.Branches[i], o)...)
			}
			for _, u := range list {
				if slices.EqualFunc(u.rows, rows, func(a, b line) bool { return a.text() == b.text() }) {
					u.at = append(u.at, at)
					return
				}
			}
			list = append(list, &union{[]string{at}, rows})
		})
	}
	for _, u := range list {
		w := wrapper{width: 2 * o.Width}
		for i, at := range u.at {
			if i+1 < len(u.at) {
				at += ","
			}
			w.add(at, received)
		}
		n.rows = append(append(n.rows, w.done()...), u.rows...)
	}
	return n
}

// manyValues are those of a tag that are not written out.
const manyValues = 8

// caseLines is one branch of a union: the values of its tag, and its fields.
func caseLines(tag *model.Field, b *model.WireBranch, o Options) []line {
	head := "else"
	if !b.Else && len(b.Values) > 0 && len(b.Values) <= manyValues {
		head = tag.Name
		for i, v := range b.Values {
			if i > 0 {
				head += ","
			}
			head += " " + tagText(tag.Type, v)
		}
	}
	var fields []string
	for _, f := range b.Fields {
		fields = append(fields, f.Name)
	}
	text := "nothing"
	if len(fields) > 0 {
		text = strings.Join(fields, ", ")
	}
	w := wrapper{width: 2 * o.Width}
	w.add(indent+head+":", plain)
	w.add(text, faint)
	return w.done()
}

// tagText is the value of a tag in the words of the author.
func tagText(tag *model.Type, v int64) string {
	switch {
	case tag.Kind == model.KindEnum && v >= 0 && v < int64(len(tag.Names)):
		return tag.Names[v]
	case tag.Kind == model.KindBool:
		return fmt.Sprint(v != 0)
	}
	return fmt.Sprint(v)
}

// cases calls f for each union in items, with the list or message that it is in.
func cases(items []model.WireItem, at string, f func(at string, c *model.WireCase)) {
	for _, item := range items {
		switch item := item.(type) {
		case *model.WireCase:
			f(at, item)
			for _, b := range item.Branches {
				cases(b.Items, at, f)
			}
		case *model.WireSized:
			cases(item.Items, at, f)
		case *model.WireIf:
			cases(item.Items, at, f)
		case *model.WireEach:
			cases(item.Items, at+"."+item.Field.Name, f)
			for _, row := range item.Named {
				cases(row.Items, at, f)
			}
		}
	}
}

// longNote has the conditions that are too long for labels, by number.
func longNote(list []string, o Options) note {
	n := note{head: "conditions"}
	for i, text := range list {
		w := wrapper{width: 2 * o.Width}
		w.add(fmt.Sprintf("%d: %s", i+1, text), guard)
		n.rows = append(n.rows, w.done()...)
	}
	return n
}
