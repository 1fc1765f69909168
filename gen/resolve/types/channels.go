package types

import (
	"slices"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/resolve/pass"
)

// maxChannels bounds how many channels there are from one instance to another.
const maxChannels = 8

// DeclareChannels resolves the channels of the protocol: the one that `channel` describes, or those that
// `channels` names.
func (r *Table) DeclareChannels() {
	first := model.Channel{Ordered: true, Capacity: 8, Span: r.Protocol.Span}
	several := r.Root.Get("channels")
	if several == nil {
		r.Protocol.Channel = r.channel(r.Root.Get("channel"), first)
		return
	}
	at := r.Root.Entry("channels").Key.Span()
	if one := r.Root.Entry("channel"); one != nil {
		r.Errorf("FSM099", one.Key.Span(), "a protocol with `channels` has no `channel` besides").
			With("put what it says under a name into `channels`")
	}
	if len(several.Entries) > maxChannels {
		r.Errorf("FSM099", at, "%d channels; there may be %d between two instances", len(several.Entries), maxChannels)
	}
	var list []model.Channel
	for _, e := range several.Entries {
		ch := r.channel(e.Value, first)
		ch.Name, ch.Span = e.Key.Text, e.Key.Span()
		if m := r.Root.Get("messages").Entry(ch.Name); m != nil {
			r.NameTaken(ch.Span, ch.Name, "message", m.Key.Span())
		}
		list = append(list, ch)
	}
	if len(list) == 0 {
		r.Errorf("FSM099", at, "`channels` names none").With("leave it out, or write {control: {order: fifo}}")
		list = []model.Channel{first}
	}
	r.Protocol.Channel, r.Protocol.Beside = list[0], list[1:]
}

// Channels resolves what a check says of the protocol's channels.
func (r *Table) Channels(check *ast.Node) (first model.Channel, beside []model.Channel) {
	p := r.Protocol
	first, beside = p.Channel, slices.Clone(p.Beside)
	one, several := check.Entry("channel"), check.Entry("channels")
	switch {
	case one != nil && p.Channel.Name != "":
		r.Errorf("FSM099", one.Key.Span(), "this protocol has several channels, so a check has to say which it means").
			With("write channels: {" + p.Channel.Name + ": {capacity: 3}}")
	case several != nil && p.Channel.Name == "":
		r.Errorf("FSM099", several.Key.Span(), "this protocol has one channel, without a name").
			With("write `channel: {…}`, or give the protocol `channels`")
	case one != nil:
		first = r.channel(one.Value, first)
	case several != nil:
		for _, e := range several.Value.Entries {
			switch k := r.channelNamed(e.Key); {
			case p.Channels()[k].Name != e.Key.Text: // which is reported
			case k == 0:
				first = r.channel(e.Value, first)
			default:
				beside[k-1] = r.channel(e.Value, beside[k-1])
			}
		}
	}
	return first, beside
}

// channelNamed is the place of a channel in Protocol.Channels; 0 where n names none.
func (r *Table) channelNamed(n *ast.Node) int {
	if n == nil {
		return 0
	}
	var names []string
	for k, ch := range r.Protocol.Channels() {
		if ch.Name == "" {
			r.Errorf("FSM099", n.Span(), "this protocol has one channel, without a name").
				With("leave this out, or name several under `channels`")
			return 0
		}
		if ch.Name == n.Text {
			r.Refer(n.Span(), ch.Span)
			return k
		}
		names = append(names, ch.Name)
	}
	r.Unknown("FSM099", n, "channel", names)
	return 0
}

// channel resolves what a specification says of a channel. The rest is as in ch.
func (r *Table) channel(n *ast.Node, ch model.Channel) model.Channel {
	if n == nil {
		return ch
	}
	ch.Span = n.Span()
	if o := pass.TextOf(n, "order"); o != "" {
		ch.Ordered = o == "fifo"
	}
	if l := n.Get("lossy"); l != nil {
		ch.Lossy = pass.IsTrue(l)
	}
	if d := n.Get("duplicates"); d != nil {
		ch.Duplicates = pass.IsTrue(d)
	}
	if c := n.Get("capacity"); c != nil {
		if v, ok := r.ConstIn(c, 1, 1000, "the capacity"); ok {
			ch.Capacity = int(v)
		}
	}
	if f := pass.TextOf(n, "full"); f != "" {
		ch.Full = map[string]model.Full{"lose": model.FullLose, "wait": model.FullWait}[f]
	}
	return ch
}
