package check

import (
	"math/bits"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/fsm"
)

// Links that come up and break, and instances that crash. What a channel carries
// besides messages is news of its link, in its place among them:
//
//   - lost: nothing more comes from the sender; whoever hears it drops what comes
//     until the link is up again;
//   - gone: the same, and whoever hears it answers lost: the sender, or the wire, has closed the link;
//   - upAsked: the sender has begun anew; whoever hears it answers up;
//   - up: the answer.
//
// There is a link between two instances if the role of one hears what the other's sends, and one of the
// roles mentions up or lost. Between others there are datagrams, or nothing.

// news is what a channel carries besides messages. Its number follows those of the messages.
type news int

const (
	newsLost news = iota
	newsGone
	newsUpAsked
	newsUp
	newsBeat
	newsCount
)

var newsNames = [newsCount]string{"lost", "lost", "up", "up", "beat"}

// newsOf tells news from messages.
func (s *System) newsOf(msg []byte) (news, bool) {
	n := messageIndex(msg) - len(s.Protocol.Messages)
	return news(n), n >= 0
}

func (s *System) packNews(n news) []byte {
	return packMessage(&model.Message{Index: len(s.Protocol.Messages) + int(n)}, nil)
}

// linked says whether there is a link between two instances that can come up and break.
func (s *System) linked(i, j int) bool {
	a, b := s.Check.Instances[i].Role, s.Check.Instances[j].Role
	return s.Check.Faults != nil && i != j && (a.Linked() || b.Linked()) && (s.hears(a, b) || s.hears(b, a))
}

// hears says whether some state of a mentions a message that b sends.
func (s *System) hears(a, b *model.Machine) bool {
	if s.sends[b] == nil {
		if s.sends == nil {
			s.sends = map[*model.Machine]map[string]bool{}
		}
		s.sends[b] = map[string]bool{}
		sentBy(b, s.sends[b])
	}
	for _, st := range a.States {
		for _, h := range st.Handlers {
			if h != nil && h.Event.Kind == model.EventMessage && s.sends[b][h.Event.Message.Name] {
				return true
			}
		}
	}
	return false
}

// sentBy notes the names of the messages that a machine sends, for its parts as well.
func sentBy(m *model.Machine, out map[string]bool) {
	var walk func(list []model.Stmt)
	walk = func(list []model.Stmt) {
		for _, st := range list {
			switch st := st.(type) {
			case *model.Send:
				out[st.Message.Name] = true
			case *model.If:
				walk(st.Then)
				walk(st.Else)
			case *model.Each:
				walk(st.Body)
			}
		}
	}
	for _, t := range m.Transitions {
		walk(t.Body)
	}
	for _, st := range m.States {
		walk(st.Entry)
	}
	for _, p := range m.Parts {
		inner := map[string]bool{}
		sentBy(p.Machine, inner)
		for i, x := range p.Machine.Messages {
			if ps := p.Sends[i]; ps != nil && inner[x.Name] {
				out[ps.Send.Message.Name] = true
			}
		}
	}
}

// layFaults makes room in an instance's local value for what faults do to it.
func (p *process) layFaults() {
	f := p.sys.Check.Faults
	p.atDown, p.atDeaf, p.atUps, p.atCrashes, p.atRestarts = -1, -1, -1, -1, -1
	if f == nil {
		return
	}
	place := func(at *int, needed bool) {
		if needed {
			*at = p.bounded
			p.bounded++
		}
	}
	i := p.inst.Index
	for j := range p.sys.Check.Instances {
		if p.sys.linked(i, j) {
			p.peers |= 1 << j
		}
	}
	place(&p.atDown, f.Crash[i] > 0)
	place(&p.atCrashes, f.Crash[i] > 0 && f.CrashAll == 0)
	place(&p.atRestarts, f.Restart[i] > 0)
	place(&p.atDeaf, p.peers != 0)
	initial := p.role.Initial.Handlers
	up := p.event(model.EventUp)
	place(&p.atUps, p.peers != 0 && initial[up.Index] != nil)
}

// get reads one of the places of layFaults; 0 if there is none.
func (l *local) get(at int) int64 {
	if at < 0 {
		return 0
	}
	return l.used[at]
}

// own gives the local value memory of its own for what is not the machine's value, to be changed.
func (l local) own() local {
	l.used = slices.Clone(l.used)
	return l
}

func (l *local) set(at int, v int64) {
	if at >= 0 {
		l.used[at] = v
	}
}

// faults offers what may go wrong with an instance.
func (p *process) faults(l local, emit func(explore.Step)) {
	f := p.sys.Check.Faults
	if f == nil {
		return
	}
	i := p.inst.Index
	if l.get(p.atDown) == 0 {
		if p.atDown >= 0 && (p.atCrashes < 0 || l.get(p.atCrashes) < int64(f.Crash[i])) {
			n := l.own()
			n.set(p.atDown, 1)
			n.set(p.atCrashes, l.get(p.atCrashes)+1)
			n.set(p.atDeaf, 0)
			n.set(p.atUps, 0)
			emit(explore.Step{Label: p.special(noteCrash), Next: p.pack(n, p.stopped(l.value)), Note: packSpecial(noteCrash),
				Sends: p.tell(newsLost), Spontaneous: true, Crash: f.CrashAll > 0})
		}
		return
	}
	if p.atRestarts >= 0 && l.get(p.atRestarts) < int64(f.Restart[i]) {
		n := l.own()
		n.started = p.noStart
		n.set(p.atDown, 0)
		n.set(p.atRestarts, l.get(p.atRestarts)+1)
		n.set(p.atDeaf, p.peers)
		n.set(p.atUps, p.peers)
		p.clearTime(n)
		emit(explore.Step{Label: p.special(noteRestart), Next: p.after(n, p.anew(l.value), nil), Note: packSpecial(noteRestart),
			Sends: p.tell(newsUpAsked), Spontaneous: true})
	}
}

// stopped is a machine's value after a crash: nothing of it will run out any more.
func (p *process) stopped(v interp.Value) interp.Value {
	if len(p.timers) == 0 {
		return v
	}
	w := slices.Clone(v)
	for _, t := range p.timers {
		w[t.slot] = 0
	}
	return w
}

// anew is the beginning of a machine that restarts: what is kept stays.
func (p *process) anew(old interp.Value) interp.Value {
	v := slices.Clone(p.init)
	for _, d := range p.role.Vars {
		if d.Kept {
			copy(v[d.Offset:d.Offset+d.Type.Slots()], old[d.Offset:])
		}
	}
	return v
}

// tell sends news to all linked instances.
func (p *process) tell(n news) []explore.Send {
	var out []explore.Send
	for j := range p.sys.Check.Instances {
		if p.peers>>j&1 != 0 {
			out = append(out, explore.Send{Channel: p.sys.channel(p.inst.Index, j), Msg: p.sys.packNews(n)})
		}
	}
	return out
}

// ups offers the links that come up at the beginning, each once and in any order.
func (p *process) linksUp(l local, emit func(explore.Step)) {
	ups := p.waiting(l)
	for ; ups != 0; ups &= ups - 1 {
		j := bits.TrailingZeros64(uint64(ups))
		n := l.own()
		n.set(p.atUps, l.get(p.atUps)|1<<j)
		if s, ok := p.step(n, interp.Event{Event: p.event(model.EventUp), Sender: j}); ok {
			emit(s)
		}
	}
}

// waiting is the set of instances whose link has not come up yet.
func (p *process) waiting(l local) int64 {
	if p.atUps < 0 {
		return 0
	}
	return p.peers &^ l.get(p.atUps)
}

// hear handles news of a link.
func (p *process) hear(l local, from int, n news, emit func(explore.Step)) {
	bit := int64(1) << from
	deaf := l.get(p.atDeaf)&bit != 0
	drop := func(sends []explore.Send) {
		emit(explore.Step{Label: p.special(noteDrop), Next: p.pack(l, l.value), Note: packSpecial(noteDrop), Sends: sends})
	}
	var answer []explore.Send
	if reply, ok := map[news]news{newsUpAsked: newsUp, newsGone: newsLost}[n]; ok {
		answer = []explore.Send{{Channel: p.sys.channel(p.inst.Index, from), Msg: p.sys.packNews(reply)}}
	}
	lost := n == newsLost || n == newsGone
	switch {
	case l.get(p.atDown) != 0:
		drop(nil)
		return
	case !l.started || p.waiting(l)&bit != 0:
		return
	case lost && deaf:
		drop(nil)
		return
	case !lost && !deaf:
		drop(answer)
		return
	}
	next := l.own()
	next.set(p.atDeaf, l.get(p.atDeaf)^bit)
	kind := model.EventUp
	if lost {
		kind = model.EventLost
	}
	if !p.role.Linked() {
		emit(explore.Step{Label: p.special(noteDrop), Next: p.pack(next, l.value), Note: packSpecial(noteDrop), Sends: answer})
		return
	}
	if s, ok := p.step(next, interp.Event{Event: p.event(kind), Sender: from}); ok {
		s.Sends = append(slices.Clone(answer), s.Sends...) // what is said on the link comes behind the news of it
		emit(s)
	}
}

// unheard says whether an instance drops what a channel delivers.
func (p *process) unheard(l local, from int) bool {
	return l.get(p.atDown) != 0 || l.get(p.atDeaf)>>from&1 != 0
}

// closing adds the news of links that an instance closes; it loses them when the other end answers.
func (p *process) closing(e *interp.Effect, s *explore.Step) {
	if p.peers == 0 {
		return
	}
	to, _ := p.sys.receivers(p.inst.Index, &interp.Effect{Kind: fsm.Send, Dest: e.Dest, To: e.To, Message: &model.Message{}})
	for _, j := range to {
		if p.peers>>j&1 != 0 {
			s.Sends = append(s.Sends, explore.Send{Channel: p.sys.channel(p.inst.Index, j), Msg: p.sys.packNews(newsGone)})
		}
	}
}

// breaker is the machine that breaks links; its value is the set of those it has broken.
type breaker struct {
	sys   *System
	label uint32
	pairs [][2]int
}

func (s *System) addBreaker() {
	f := s.Check.Faults
	if f == nil || f.Break == 0 {
		return
	}
	b := &breaker{sys: s, label: uint32(len(s.System.Labels))}
	for i := range s.Check.Instances {
		for j := range i {
			if s.linked(i, j) && len(b.pairs) < 62 {
				b.pairs = append(b.pairs, [2]int{j, i})
			}
		}
	}
	s.addLabel("a link breaks", len(s.System.Procs))
	s.System.Procs = append(s.System.Procs, b)
	s.System.ProcNames = append(s.System.ProcNames, "links")
}

func (b *breaker) Init() []byte      { return appendSlots(nil, []int64{0}) }
func (b *breaker) Final([]byte) bool { return true }

func (b *breaker) Receive([]byte, int, []byte, func(explore.Step)) {}

func (b *breaker) Local(v []byte, emit func(explore.Step)) {
	broken := make([]int64, 1)
	readSlots(v, broken)
	if bits.OnesCount64(uint64(broken[0])) >= b.sys.Check.Faults.Break {
		return
	}
	for k, p := range b.pairs {
		if broken[0]>>k&1 != 0 {
			continue
		}
		for _, ends := range [][2]int{p, {p[1], p[0]}} { // the second hears of it first
			emit(explore.Step{Label: b.label, Next: appendSlots(nil, []int64{broken[0] | 1<<k}), Spontaneous: true,
				Note:  appendSlots(nil, []int64{int64(ends[0]), int64(ends[1])}),
				Sends: []explore.Send{{Channel: b.sys.channel(ends[0], ends[1]), Msg: b.sys.packNews(newsGone)}}})
		}
	}
}

// faultBudget turns the check's bounds into those of the explorer.
func (s *System) faultBudget() {
	f := s.Check.Faults
	if f == nil {
		return
	}
	s.System.Budget = explore.Budget{Loss: max(f.Lose, 0), Dup: max(f.Duplicate, 0), Swap: max(f.Overtake, 0), Crash: f.CrashAll}
	for k := range s.System.Channels[:s.own] {
		c := &s.System.Channels[k]
		if f.Lose >= 0 {
			c.Lossy = f.Lose > 0
		}
		if f.Duplicate >= 0 {
			c.Dup = f.Duplicate > 0
		}
		c.Swap = f.Overtake > 0
		if s.linked(c.From, c.To) {
			c.Cap += newsRoom
		}
	}
}

// newsRoom is how many more places a channel has for news of its link.
const newsRoom = 8
