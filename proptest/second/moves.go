package second

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/proptest/second/machine"
)

// move is one step of the world.
type move struct {
	desc
	to        *config
	wrong     bool
	answers   bool   // news of a link goes out before all that the step sends
	violation string // what is wrong with the step; then there is no configuration behind it
}

// desc is what fairness and `confluent` know of a step.
type desc struct {
	label   string // only where somebody asks for it
	who     int
	kind    moveKind
	took    string // the transition, only where somebody asks for it
	event   string // a command's or timer's name, for rules
	class   string // what fairness looks at: a transition or a channel
	message string
}

type moveKind int

const (
	isCommand moveKind = iota
	isTimer
	isReceive
	isStart
	isOffer // what is held is handled
	isNews  // up or lost
	isBeat
	isFault  // a crash, a restart, a break, …
	isMedium // a loss, a copy, …
	isHostile
	isComing
	isGoing
)

// moves returns all steps that are possible.
func (w *world) moves(c *config) (out []move) {
	for i, in := range c.in {
		switch {
		case in.m == nil:
		case in.down:
			out = append(out, w.downMoves(c, i)...)
		case !in.started:
			o := w.step(in.m, "start", -1, machine.Event{Name: "start", Sender: -1})
			next := c.clone()
			next.own(i).started = true
			out = append(out, w.applied(c, next, i, o, move{desc: desc{label: "start", who: i,
				kind: isStart, class: "start"}})...)
			out = append(out, w.crashes(c, i)...)
			for j := range c.in {
				out = append(out, w.arrivals(c, i, j, true)...)
			}
		default:
			out = append(out, w.liveMoves(c, i)...)
		}
	}
	out = append(append(out, w.mediumMoves(c)...), w.tick(c)...)
	if w.partitions > 0 {
		out = append(out, w.partitionMoves(c)...)
	}
	return out
}

// memos are what was found of machines before.
type memos struct {
	memo     map[stepKey]machine.Outcome
	ticked   map[*machine.Machine]*machine.Machine
	fallen   map[*machine.Machine]*machine.Machine
	timers   map[*machine.Machine][]expiry
	commands map[*machine.Role][]command
	allowed  map[stepKey]bool
	ruled    map[[2]string]*rule
}

func newMemos() memos {
	return memos{memo: map[stepKey]machine.Outcome{}, ticked: map[*machine.Machine]*machine.Machine{},
		fallen: map[*machine.Machine]*machine.Machine{}, timers: map[*machine.Machine][]expiry{},
		commands: map[*machine.Role][]command{}, allowed: map[stepKey]bool{}, ruled: map[[2]string]*rule{}}
}

// stepKey is a machine and what it gets: the text of an event and who has sent it.
type stepKey struct {
	m    *machine.Machine
	what string
	from int
}

// mostKept is how much is kept of what machines make of events.
const mostKept = 1 << 20

// keep keeps what a machine makes of an event. Where there is too much of it, all is forgotten, and found anew.
func (w *world) keep(key stepKey, o machine.Outcome) {
	if len(w.memo) >= mostKept {
		clear(w.memo)
	}
	w.memo[key] = o
}

// step is what a machine makes of an event, found once.
func (w *world) step(m *machine.Machine, what string, from int, ev machine.Event) machine.Outcome {
	key := stepKey{m, what, from}
	o, ok := w.memo[key]
	if !ok {
		o = w.settled(m, m.Step(ev, w.time))
		w.keep(key, o)
	}
	return o
}

// settled is an outcome whose machine has a number.
func (w *world) settled(m *machine.Machine, o machine.Outcome) machine.Outcome {
	if o.M != nil && o.M != m {
		o.M = w.numbered(w.names[m.Self], o.M)
	}
	return o
}

// news is what a machine makes of `up` or `lost`.
func (w *world) hears(m *machine.Machine, what string, from int) machine.Outcome {
	return w.step(m, what, from, machine.Event{Name: what, Sender: from})
}

func (w *world) liveMoves(c *config, i int) (out []move) {
	in := c.in[i]
	out = w.crashes(c, i)
	for k, h := range in.held {
		if in.m.Mode(h.msg.Name) == "defer" {
			continue
		}
		next := c.clone()
		next.own(i).held = slices.Delete(slices.Clone(in.held), k, k+1)
		mv := move{desc: desc{who: i, kind: isOffer, class: "offer"}}
		if w.labels {
			mv.label = "handles " + h.msg.Text
		}
		out = append(out, w.receive(c, next, i, h.from, h.msg, mv)...)
		for j := range c.in {
			out = append(out, w.arrivals(c, i, j, true)...)
		}
		return out
	}
	out = append(out, w.commandMoves(c, i)...)
	out = append(out, w.timerMoves(c, i)...)
	for j := range c.in {
		out = append(out, w.arrivals(c, i, j, false)...)
		out = append(out, w.linkMoves(c, i, j)...)
	}
	return append(append(out, w.goes(c, i)...), w.beat(c, i)...)
}

// command is one that a program may give, with its arguments.
type command struct {
	name, text string
	rule       *rule
	msg        map[string]machine.Value
}

// given are all commands that the program of a role may ever give.
func (w *world) given(r *machine.Role) []command {
	list, ok := w.commands[r]
	if !ok {
		for _, name := range r.Commands {
			rule := w.rule(r, name)
			if rule.never {
				continue
			}
			fields := r.Fields["c:"+name]
			of := func(k int) []machine.Value { return fields[k].T.Values() }
			for _, args := range machine.Product(len(fields), of) {
				x := command{name: name, text: name + "(" + machine.Texts(args) + ")", rule: rule,
					msg: map[string]machine.Value{}}
				for k, f := range fields {
					x.msg[f.Name] = args[k]
				}
				list = append(list, x)
			}
		}
		w.commands[r] = list
	}
	return list
}

func (w *world) commandMoves(c *config, i int) (out []move) {
	in := c.in[i]
	list := w.given(in.m.R)
	name, handles := "", false
	for k := range list {
		x := &list[k]
		if x.name != name {
			name, handles = x.name, in.m.Mode(x.name) == "handle"
		}
		if !handles || x.rule.times >= 0 && in.used[x.name] >= x.rule.times ||
			!w.allows(x.rule, c, i, in.m, x.text, x.msg) {
			continue
		}
		o := w.step(in.m, x.text, -1, machine.Event{Name: x.name, Sender: -1, Msg: x.msg})
		if o.Refused || o.Fault != "" {
			continue // such a command is not available
		}
		next := c.clone()
		next.count(i, x.name, x.rule)
		if !o.Ignored {
			w.observe(next, i, "c:", x.name, x.msg)
		}
		out = append(out, w.applied(c, next, i, o, move{desc: desc{label: x.text, who: i, kind: isCommand,
			event: x.name}})...)
	}
	return out
}

func (c *config) count(i int, name string, r *rule) {
	if r.times < 0 {
		return
	}
	used := map[string]int{}
	for k, v := range c.in[i].used {
		used[k] = v
	}
	used[name]++
	c.own(i).used = used
}

// expiry is an armed timer of a machine, or of a part of it.
type expiry struct {
	path []machine.Where
	of   *machine.Machine
	key  string
	name string // without keys, for exceptions
	used string // the name under which a rule counts it
	text string
	ev   machine.Event
	rule *rule
}

// expiries are the armed timers of a machine and its parts that may expire now.
func (w *world) expiries(m *machine.Machine) []expiry {
	list, ok := w.timers[m]
	if !ok {
		list = w.armed(m, nil, nil)
		w.timers[m] = list
	}
	return list
}

func (w *world) armed(m *machine.Machine, path []machine.Where, out []expiry) []expiry {
	for _, key := range machine.Sorted(m.Timers) {
		if m.Timers[key].Least > 0 {
			continue
		}
		t := m.R.TimerOf(key)
		x := expiry{path: path, of: m, key: key, name: t.Name, used: key, rule: w.rule(m.R, t.Name),
			text: fmt.Sprint("timer ", key), ev: machine.Event{Name: key, Sender: -1, Msg: t.Values(key)}}
		if path != nil {
			x.used = m.R.Name + "." + key
		}
		for _, at := range path {
			x.text += " of " + machine.KeyText(at.Part.Name, at.Keys)
		}
		out = append(out, x)
	}
	for _, p := range m.R.Parts {
		for _, keys := range p.Tuples() {
			out = w.armed(m.Parts[machine.KeyText(p.Name, keys)], append(slices.Clone(path),
				machine.Where{Part: p, Keys: keys}), out)
		}
	}
	return out
}

// timerMoves are the expiries of timers, also of those of parts.
func (w *world) timerMoves(c *config, i int) (out []move) {
	in := c.in[i]
	for _, x := range w.expiries(in.m) {
		if x.rule.never || x.rule.times >= 0 && in.used[x.used] >= x.rule.times ||
			!w.allows(x.rule, c, i, x.of, x.key, x.ev.Msg) {
			continue
		}
		next := c.clone()
		next.count(i, x.used, x.rule)
		key := stepKey{in.m, x.text, -1}
		o, ok := w.memo[key]
		if !ok {
			o = w.settled(in.m, in.m.Expire(x.path, x.ev, w.time))
			w.keep(key, o)
		}
		out = append(out, w.applied(c, next, i, o, move{desc: desc{label: x.text, who: i, kind: isTimer,
			event: x.name, class: x.text}})...)
	}
	return out
}

// arrivals are what i may hear of j. An instance that is blocked takes no event, but what nobody hears is
// dropped.
func (w *world) arrivals(c *config, i, j int, blocked bool) (out []move) {
	for k, cl := range w.classes {
		at := w.at(j, i, k)
		items := c.ch[at].items
		for n, it := range items {
			if n > 0 && !cl.bag {
				break
			}
			if slices.ContainsFunc(items[:n], it.same) {
				continue
			}
			mv := move{desc: desc{who: i, kind: isReceive, class: w.channelNames[at], message: it.text()}}
			if w.labels {
				mv.label = it.text() + " from " + w.names[j]
			}
			if it.news != "" || w.old(c.in[i], i, j) {
				next := c.clone()
				next.take(at, n)
				mv.kind = isNews
				out = append(out, w.hear(c, next, i, j, it, blocked, mv)...)
				continue
			}
			if blocked || c.in[i].wait.has(j) {
				continue // it gets `up` first
			}
			mv.event = it.msg.Name
			next := c.clone()
			next.take(at, n)
			out = append(out, w.receive(c, next, i, j, it.msg, mv)...)
			if cl.copies && (w.copies < 0 || c.copied < w.copies) || !cl.copies && c.copied < w.copies {
				next := c.clone()
				if w.copies >= 0 {
					next.copied++
				}
				mv := mv
				mv.kind, mv.class = isMedium, ""
				mv.label += ", which arrives again"
				out = append(out, w.receive(c, next, i, j, it.msg, mv)...)
			}
		}
	}
	return out
}

// receive has a message handled, deferred or refused; it is no longer under way in next.
func (w *world) receive(c, next *config, i, from int, m *message, mv move) []move {
	in := c.in[i]
	if in.m.Mode(m.Name) == "defer" {
		if len(in.held) >= in.m.R.Deferred {
			mv.violation = "deferred-overflow"
			return []move{mv}
		}
		to := next.own(i)
		to.held = append(slices.Clone(to.held), kept{from, m})
		mv.to = next
		return []move{mv}
	}
	o := w.step(in.m, m.Text, from, machine.Event{Name: m.Name, Sender: from, Msg: m.event})
	if o.Refused && in.m.R.External {
		o = machine.Outcome{M: in.m, Ignored: true}
	}
	held := next.in[i].held
	out := w.applied(c, next, i, o, mv)
	if w.roles[from] == nil && mv.kind == isOffer && len(out) == 1 && out[0].violation != "" &&
		out[0].violation != "overflow" {
		// What a hostile instance sent is refused only now.
		out[0].violation = ""
		next = c.clone()
		next.own(i).held = held
		if w.linked[i][from] && !in.gone.has(from) {
			return w.loses(c, next, i, from, "", out[0])
		}
		out[0].to = next
	}
	return out
}

// applied is the configuration behind a step of instance i, and those behind a crash in its course.
func (w *world) applied(c, next *config, i int, o machine.Outcome, mv move) (out []move) {
	switch {
	case o.Fault != "":
		mv.violation, mv.wrong = "fault", o.Wrong
		return []move{mv}
	case o.Refused:
		mv.violation = "unspecified-reception"
		return []move{mv}
	}
	if w.labels {
		mv.took = o.Took
	}
	if next.in[i].m != o.M {
		next.own(i).m = o.M
	}
	before := next
	if !w.atomic && w.mayCrash(c, i) {
		before = next.clone()
	}
	sends, ok, wrong := w.emit(next, i, o.Effects, -1)
	tears := sends
	if mv.answers && !o.Ignored {
		tears = max(tears, 1)
	}
	if before != next {
		for n := range tears {
			torn := before.clone()
			// Monitors see nothing of such a step.
			torn.own(i).mons, torn.joint = c.in[i].mons, c.joint
			if _, ok, wrong := w.emit(torn, i, o.Effects, n); ok && wrong == "" {
				w.fall(torn, i, -1)
				torn.crashes++
				out = append(out, move{desc: desc{label: fmt.Sprint(mv.label, ", crash after ", n), who: i,
					kind: isFault}, to: torn})
			}
		}
	}
	switch {
	case !ok:
		return nil
	case wrong != "":
		mv.violation = wrong
		return append(out, mv)
	}
	for _, e := range o.Effects {
		if e.To < 0 {
			w.observe(next, i, "r:", e.Report, e.Values)
		}
	}
	mv.to = next
	return append(out, mv)
}

// emit puts the first n sends of a step under way, or all if n is negative, and says how many there were: what
// is gone at once does not count. It is not possible if one has to wait for room.
func (w *world) emit(c *config, i int, effects []machine.Effect, n int) (sent int, possible bool, wrong string) {
	for k := range effects {
		e := &effects[k]
		if e.To < 0 {
			continue
		}
		j := e.To
		if e.End && (!w.linked[i][j] || c.in[i].gone.has(j) || w.dgram || w.roles[j] == nil) {
			w.hangup(c, i, j, "lost")
			continue
		}
		class := 0
		if !e.End {
			class = w.of[e.Msg.Name]
			if w.roles[j] == nil || w.linked[i][j] && c.in[i].gone.has(j) ||
				c.in[i].cut.has(j) && w.datagrams(i, j, class) {
				continue
			}
		}
		if sent == n {
			break
		}
		sent++
		if e.End {
			w.hangup(c, i, j, "lost")
			continue
		}
		at, cl := w.at(i, j, class), &w.classes[class]
		if c.ch[at].words >= cl.capacity {
			switch cl.full {
			case "lose":
				continue
			case "wait":
				return sent, false, ""
			}
			return sent, true, "overflow"
		}
		c.push(at, item{msg: w.interned(e.Msg)})
	}
	return sent, true, ""
}

// beat has an instance feel the present beat, where that is possible. Time stands still for what is overdue.
func (w *world) beat(c *config, i int) []move {
	in := c.in[i]
	if !in.beat || !in.m.NotOverdue() {
		return nil
	}
	next := c.clone()
	for j := range c.in {
		for k := range w.classes {
			at := w.at(j, i, k)
			if len(c.ch[at].items) == 0 || in.cut.has(j) && w.heldUp(j, i, k) {
				continue
			}
			aged := slices.Clone(c.ch[at].items)
			for n := range aged {
				if aged[n].age >= w.time.Delay-1 {
					return nil
				}
				aged[n].age++
			}
			next.put(at, aged)
		}
	}
	m := w.ticked[in.m]
	if m == nil {
		m = in.m.Clone()
		m.Tick()
		m = w.numbered(w.names[i], m)
		w.ticked[in.m] = m
	}
	to := next.own(i)
	to.m, to.beat = m, false
	w.stopwatches(c, next, i)
	return []move{{desc: desc{label: "beat", who: i, kind: isBeat, class: "beat"}, to: next}}
}

// tick begins a beat, which all are to feel.
func (w *world) tick(c *config) []move {
	if !w.time.Counts() || slices.ContainsFunc(c.in, func(in *inst) bool { return in.beat }) {
		return nil
	}
	next := c.clone()
	for i := range next.in {
		if next.in[i].m != nil {
			next.own(i).beat = true
		}
	}
	return []move{{desc: desc{label: "tick", who: -1, kind: isBeat, class: "tick"}, to: next}}
}
