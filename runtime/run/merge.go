package run

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/trace"
)

// Merge makes a run of the lines first to last (from 1, inclusive) of the records of several
// drivers, or of one. A message that one record has as sent and another as received is one message;
// every step stands behind those that it depends on, and among others the times of the records
// decide. Of a machine without a record only what the others sent to it and received from it is
// shown: sent just before it arrives, and received just after it was sent.
//
// Records of different protocols are no run: that is an error.
//
// With two records each is the other's peer. With more, the peer of a number is the machine whose
// record has the same two addresses, in the line of the link that is up; where no addresses were
// recorded, it is the one that received what was sent to it, and sent what was received from it.
func Merge(records []*trace.Reader, first, last int) (*Run, error) {
	var list []Stretch
	for _, r := range records {
		s, err := readStretch(r, first, last)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return MergeStretches(list)
}

// Stretch is some steps in a row of a record.
type Stretch struct {
	Header trace.Header
	Steps  []trace.Step
}

// MergeStretches makes a run of steps that were read already, as [Merge] does of records.
func MergeStretches(list []Stretch) (*Run, error) {
	m := &merger{run: &Run{}, columns: map[end]int{}, taken: map[taken]int{}}
	for i, r := range list {
		h := r.Header
		if first := list[0].Header; h.Protocol != first.Protocol {
			return nil, fmt.Errorf("record %d is of the protocol %s, record 1 of %s: machines of different protocols "+
				"do not talk to each other, so give records of one", i+1, h.Protocol, first.Protocol)
		}
		steps := make([]recorded, len(r.Steps))
		for k, s := range r.Steps {
			steps[k] = recorded{s, h.Time.Add(s.At)}
		}
		m.records, m.names = append(m.records, steps), append(m.names, h.Channels)
		m.run.Instances = append(m.run.Instances, Instance{Name: m.name(h), Role: h.Role, Start: m.start(i)})
		m.run.Protocol, m.run.Hash = h.Protocol, h.Hash
	}
	m.title(list)
	m.findPeers()
	if err := m.tell(); err != nil {
		return nil, err
	}
	return m.run, m.run.Validate()
}

// end is a peer as one record has it.
type end struct {
	record int
	peer   fsm.Peer
}

// merger merges records.
type merger struct {
	run     *Run
	records [][]recorded
	names   [][]string // of the channels, by record
	columns map[end]int
	flying  Flying
	taken   map[taken]int
}

// taken is a message that has arrived: the last of several equal ones.
type taken struct {
	from, to int
	what     string
}

// recorded is a line of a record.
type recorded struct {
	trace.Step
	at time.Time
}

// readStretch reads the lines of a record that are wanted.
func readStretch(r *trace.Reader, first, last int) (Stretch, error) {
	out := Stretch{Header: r.Header()}
	for n := 1; n <= last; n++ {
		var s trace.Step // one for each line, since they are kept
		switch err := r.Next(&s); {
		case errors.Is(err, io.EOF):
			n = last
			continue
		case err != nil:
			return out, err
		}
		if n >= first {
			out.Steps = append(out.Steps, s)
		}
		if len(out.Steps) > maxSteps {
			return out, fmt.Errorf("the chart would have more than %d steps; choose a shorter stretch of the record",
				maxSteps)
		}
	}
	return out, nil
}

// channel is the name of a channel in a record, if there are several.
func (m *merger) channel(record, place int) string {
	switch names := m.names[record]; {
	case place < len(names):
		return names[place]
	case place > 0:
		return fmt.Sprint("channel ", place)
	}
	return ""
}

// name is that of the instance that was recorded, or of its role; a number behind it tells it from
// others.
func (m *merger) name(h trace.Header) string {
	base := cmp.Or(h.Instance, h.Role)
	name := base
	for n := 2; slices.ContainsFunc(m.run.Instances, func(x Instance) bool { return x.Name == name }); n++ {
		name = fmt.Sprint(base, " ", n)
	}
	return name
}

func (m *merger) start(i int) string {
	for _, s := range m.records[i] {
		if s.Before != "" {
			return s.Before
		}
	}
	return ""
}

func (m *merger) title(records []Stretch) {
	h := records[0].Header
	m.run.Title = h.Protocol + "." + h.Role
	if len(records) > 1 {
		m.run.Title = fmt.Sprintf("%s, recorded by %d", h.Protocol, len(records))
	} else if h.Instance != "" {
		m.run.Title += ", recorded by " + h.Instance
	}
}

// findPeers says which record is whose peer. Two ends of one link know each other's addresses; where
// those are missing or do not fit, two ends belong together that share most messages, and each end
// has one other. An end that is left over is a machine that has another number at another time: a
// client that came again.
func (m *merger) findPeers() {
	if len(m.records) == 2 {
		for i, list := range m.records {
			for _, s := range list {
				for _, p := range peers(&s) {
					m.columns[end{i, p}] = 1 - i
				}
			}
		}
		return
	}
	ends := m.ends()
	for i := range ends {
		for j := range ends {
			if a, b := &ends[i], &ends[j]; a.record != b.record && a.faces(b) {
				m.pair(a, b)
			}
		}
	}
	for {
		var a, b *side
		most := 0
		for i := range ends {
			for j := range ends[:i] {
				x, y := &ends[j], &ends[i]
				if x.record == y.record || x.paired || y.paired {
					continue
				}
				if n := x.shared(y); n > most {
					a, b, most = x, y, n
				}
			}
		}
		if most == 0 {
			break
		}
		m.pair(a, b)
	}
	for i := range ends {
		a, most := &ends[i], 0
		if a.paired {
			continue
		}
		for j := range ends {
			if b := &ends[j]; a.record != b.record && !m.meanwhile(ends, a, b.record) {
				if n := a.shared(b); n > most {
					m.columns[a.end], most = b.record, n
				}
			}
		}
	}
}

// meanwhile reports whether a's record has another number for a machine at the same time.
func (m *merger) meanwhile(ends []side, a *side, other int) bool {
	return slices.ContainsFunc(ends, func(x side) bool {
		c, known := m.columns[x.end]
		return x.record == a.record && x.peer != a.peer && known && c == other && x.first <= a.last && a.first <= x.last
	})
}

// pair notes that two ends are those of one link.
func (m *merger) pair(a, b *side) {
	a.paired, b.paired = true, true
	m.columns[a.end], m.columns[b.end] = b.record, a.record
}

// side is all that a record has of a peer: the addresses of its links, ours and the peer's, and the
// messages that were sent to it and received from it. first and last are the places of the first
// line and the last that mention it.
type side struct {
	end
	first, last    int
	addresses      [][2]string
	sent, received []string
	paired         bool
}

// ends are those of all records, each with what was recorded of it.
func (m *merger) ends() []side {
	var all []side
	for i, list := range m.records {
		from := len(all)
		now := 0
		at := func(p fsm.Peer) *side {
			k := slices.IndexFunc(all[from:], func(s side) bool { return s.peer == p })
			if k < 0 {
				all = append(all, side{end: end{i, p}, first: now})
				return &all[len(all)-1]
			}
			return &all[from+k]
		}
		for n, s := range list { // all peers first: what went to everybody went to each
			now = n
			for _, p := range peers(&s) {
				at(p).last = n
			}
		}
		for _, s := range list {
			switch {
			case s.Kind == trace.Up:
				if ours, theirs, ok := strings.Cut(string(s.Note), trace.EndsSeparator); ok {
					x := at(s.Peer)
					x.addresses = append(x.addresses, [2]string{ours, theirs})
				}
			case s.Kind == trace.Message && !s.Again && s.Peer != fsm.Broadcast:
				x := at(s.Peer)
				x.received = append(x.received, string(s.Event))
			}
			for _, e := range s.Effects {
				for k := from; k < len(all) && e.Kind == fsm.Send; k++ {
					if e.Peer == all[k].peer || e.Peer == fsm.Broadcast {
						all[k].sent = append(all[k].sent, sentText(&e))
					}
				}
			}
		}
	}
	return all
}

// faces reports whether the addresses of two ends are those of one link. An end that listens on all
// addresses of its computer knows only the port of its own.
func (a *side) faces(b *side) bool {
	for _, x := range a.addresses {
		for _, y := range b.addresses {
			if sameAddress(x[0], y[1]) && sameAddress(y[0], x[1]) {
				return true
			}
		}
	}
	return false
}

// sameAddress reports whether an end that calls its own address so may be called so by the other.
func sameAddress(own, called string) bool {
	if own == called {
		return own != ""
	}
	x, err := netip.ParseAddrPort(own)
	y, err2 := netip.ParseAddrPort(called)
	return err == nil && err2 == nil && x.Port() == y.Port() &&
		(x.Addr().IsUnspecified() || x.Addr().Unmap() == y.Addr().Unmap())
}

// shared is how many messages two ends have in common: what one sent and the other received.
// Addresses that are known and do not fit do not matter here: a relay may be between the two.
func (a *side) shared(b *side) int {
	return common(a.sent, b.received) + common(b.sent, a.received)
}

// peers are those that a line mentions.
func peers(s *recorded) []fsm.Peer {
	var list []fsm.Peer
	if s.Peer != fsm.Broadcast {
		list = append(list, s.Peer)
	}
	for _, e := range s.Effects {
		if e.Kind == fsm.Send && e.Peer != fsm.Broadcast {
			list = append(list, e.Peer)
		}
	}
	return list
}

// common is how many messages were both sent and received, in that order.
func common(sent, received []string) int {
	n := 0
	for _, text := range received {
		i := slices.Index(sent, text)
		if i < 0 {
			continue
		}
		sent = sent[i+1:]
		n++
	}
	return n
}

// sentText is the message of an effect, as its receiver records it: without the receiver, which the
// effect names if its machine did.
func sentText(e *trace.Effect) string {
	text := strings.TrimPrefix(string(e.Text), "send ")
	if e.Peer == fsm.Broadcast {
		return strings.TrimSuffix(text, " to all")
	}
	return strings.TrimSuffix(text, fmt.Sprintf(" to %d", e.Peer))
}

// tell takes the lines of all records in an order in which every message is sent before it is received.
func (m *merger) tell() error {
	next := make([]int, len(m.records))
	for {
		best, waits := -1, -1
		for i, list := range m.records {
			if next[i] == len(list) {
				continue
			}
			s := &list[next[i]]
			if m.tooEarly(i, s, next) {
				if waits < 0 || s.at.Before(m.records[waits][next[waits]].at) {
					waits = i
				}
			} else if best < 0 || s.at.Before(m.records[best][next[best]].at) {
				best = i
			}
		}
		if best < 0 {
			best = waits // each waits for another: their records do not belong together, and the times decide
		}
		if best < 0 {
			return nil
		}
		m.step(best, &m.records[best][next[best]])
		next[best]++
		if len(m.run.Steps) > maxSteps {
			return fmt.Errorf("the chart would have more than %d steps; choose a shorter stretch of the record",
				maxSteps)
		}
	}
}

// tooEarly reports whether a line is the reception of a message that its sender sends in a line
// that was not told yet.
func (m *merger) tooEarly(i int, s *recorded, next []int) bool {
	from, known := m.columns[end{i, s.Peer}]
	if s.Kind != trace.Message || s.Again || !known || from >= len(m.records) {
		return false
	}
	if at, _ := m.flying.Find(from, i, string(s.Event)); at >= 0 {
		return false
	}
	for _, x := range m.records[from][next[from]:] {
		for _, e := range x.Effects {
			if e.Kind == fsm.Send && sentText(&e) == string(s.Event) && slices.Contains(m.receivers(from, e.Peer), i) {
				return true
			}
		}
	}
	return false
}

// receivers are the columns of whom a message goes to.
func (m *merger) receivers(i int, p fsm.Peer) []int {
	if p != fsm.Broadcast || len(m.records) == 1 {
		return []int{m.column(i, p)}
	}
	var list []int
	for j := range m.records {
		if j != i {
			list = append(list, j)
		}
	}
	return list
}

// column is the peer's; one without a record gets a column when it is first mentioned.
func (m *merger) column(i int, p fsm.Peer) int {
	if c, ok := m.columns[end{i, p}]; ok {
		return c
	}
	name := fmt.Sprintf("peer %d", p)
	if len(m.records) > 1 {
		name += " of " + m.run.Instances[i].Name
	}
	m.run.Instances = append(m.run.Instances, Instance{Name: name})
	m.columns[end{i, p}] = len(m.run.Instances) - 1
	return len(m.run.Instances) - 1
}

var recordedKinds = map[trace.Kind]Kind{
	trace.Start: Start, trace.Up: LinkUp, trace.Lost: LinkLost, trace.Timeout: Timer, trace.Message: Message,
	trace.Command:   Command,
	trace.Malformed: Malformed, trace.Closed: Closed,
}

// step tells a line, and what it says of machines without a record.
func (m *merger) step(i int, x *recorded) {
	s := Step{
		Kind: recordedKinds[x.Kind], Who: i, From: Nobody, Event: string(x.Event), State: x.Before,
		After: x.After, Transition: x.Name,
		Note: string(x.Note), Time: x.At, Frame: x.Frame,
	}
	if x.After != x.Before {
		s.State = x.Before + " → " + x.After
	}
	if x.Again {
		s.Kind = Offer
	}
	switch x.Kind {
	case trace.Malformed:
		s.Event = fmt.Sprintf("malformed frame, %d bytes", len(x.Frame))
	case trace.Closed:
		s.Event = "closed"
	}
	if x.Peer != fsm.Broadcast {
		s.From = m.column(i, x.Peer)
	}
	if x.Kind == trace.Message || x.Kind == trace.Malformed {
		s.Channel = m.channel(i, x.Channel)
		if !x.Again {
			s.Kind, s.At, s.Message = m.received(s.From, i, s.Event, s.Channel, s.Kind)
		}
	}
	s.judge(x)
	var unseen []Step
	for _, e := range x.Effects {
		s.Effects = append(s.Effects, thirdPerson(string(e.Text)))
		if e.Kind != fsm.Send {
			continue
		}
		text, channel := sentText(&e), m.channel(i, e.Channel)
		for _, to := range m.receivers(i, e.Peer) {
			id := m.flying.Send(i, to, text)
			s.Sent = append(s.Sent, Sent{ID: id, To: to, Text: text, Channel: channel})
			if to >= len(m.records) {
				m.flying.Take(i, to, 0)
				unseen = append(unseen, Step{Kind: Unseen, Who: to, From: i, Message: id, Event: text,
					Channel: channel})
			}
		}
	}
	m.run.Steps = slices.Concat(m.run.Steps, []Step{s}, unseen)
}

// judge fills in what became of the event.
func (s *Step) judge(x *recorded) {
	switch {
	case len(x.Problem) > 0:
		s.Fault = string(x.Problem)
	case x.Code == fsm.Refused && x.Kind != trace.Closed && x.Kind != trace.Malformed:
		s.Fault = "refused"
	case x.Code == fsm.Ignored:
		s.Effects = append(s.Effects, Ignores)
	case x.Code == fsm.Deferred:
		s.Effects = append(s.Effects, Keeps)
	}
}

// received takes a message off its channel. One whose sender was recorded, and sent it fewer times,
// is a copy of the last that was equal. Any other that nobody was seen to send is sent now, in a
// step of the sender's own.
func (m *merger) received(from, to int, what, channel string, kind Kind) (is Kind, at, id int) {
	if at, id := m.flying.Find(from, to, what); at >= 0 {
		m.flying.Take(from, to, at)
		m.taken[taken{from, to, what}] = id
		return kind, at, id
	}
	if id, ok := m.taken[taken{from, to, what}]; ok && kind == Message && from < len(m.records) {
		return Copy, 0, id
	}
	id = m.flying.Send(from, to, what)
	m.run.Steps = append(m.run.Steps, Step{Kind: Unseen, Who: from, From: Nobody,
		Sent: []Sent{{ID: id, To: to, Text: what, Channel: channel}}, Effects: []string{"sends " + what}})
	at, _ = m.flying.Find(from, to, what)
	m.flying.Take(from, to, at)
	return kind, at, id
}

// thirdPerson says of a machine what an effect says to one: `reports passed` for `report passed`.
func thirdPerson(effect string) string {
	verb, rest, more := strings.Cut(effect, " ")
	if !more {
		return verb + "s"
	}
	return verb + "s " + rest
}
