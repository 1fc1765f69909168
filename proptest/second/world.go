package second

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/ast"
	"github.com/parley-go/parley/gen/syntax"
	"github.com/parley-go/parley/proptest/second/machine"
)

// world is all that does not change in the course of a check.
type world struct {
	u        *machine.Unit
	check    *ast.Node
	names    []string        // of the instances
	roles    []*machine.Role // nil: hostile
	as       []*machine.Role // the role that a hostile instance has by the check
	params   [][]machine.Value
	groups   map[string]machine.Group
	classes  []class
	of       map[string]int // messages to classes
	time     *machine.Timing
	crash    faults
	restart  faults
	atomic   bool
	lose     int // how often; -1: as often as the channel does, or never
	copies   int
	swaps    int
	breaks   int
	come     []int
	bad      []bool // hostile with `malformed`
	linked   [][]bool
	reach    [][]bool // may send to
	dgram    bool     // links are of datagrams
	quiet    syntax.Node
	watched  ghosts
	monitors []*monitor
	watches  []*watch
	memo     map[string]machine.Outcome
	forged   map[int][]machine.Message // what a hostile instance can send
}

// class is one of the channels that lie between each two instances.
type class struct {
	name               string
	bag, lossy, copies bool
	capacity           int
	full               string
}

// faults says how often something may happen: to each instance, or to all together.
type faults struct {
	total int // -1: each says for itself
	each  []int
}

// item is a message, or news of a link, on its way.
type item struct {
	news string // "lost", "reset"; "" for a message
	msg  machine.Message
	age  int
}

func (it item) text() string {
	s := it.news + it.msg.Text
	if it.age > 0 {
		s += fmt.Sprintf("'%d", it.age)
	}
	return s
}

type kept struct {
	from int
	msg  machine.Message
}

// inst is what one instance is at one moment.
type inst struct {
	m       *machine.Machine // nil: hostile
	started bool
	down    bool
	held    []kept
	used    map[string]int
	seen    map[string]machine.Value    // what claims remember of reports and commands
	mons    map[string]*machine.Machine // monitors
	crashes int
	begins  int    // restarts
	coming  int    // how many may still come
	beat    bool   // the present beat is still to be felt
	gone    []bool // its ends of links that are over
	wait    []bool // its ends that are to come up
}

// config is a configuration. It is not changed once it is made.
type config struct {
	in                     []inst
	ch                     [][]item
	crashes, lost, copied  int
	swapped, cut, restarts int
	joint                  map[string]*machine.Machine
	clocks                 []int // of watches
	key                    string
}

func (w *world) at(from, to, class int) int { return (from*len(w.roles)+to)*len(w.classes) + class }

func (c *config) clone() *config {
	out := *c
	out.key = ""
	out.in = slices.Clone(c.in)
	for i := range out.in {
		in := &out.in[i]
		in.gone, in.wait = slices.Clone(in.gone), slices.Clone(in.wait)
	}
	out.ch = slices.Clone(c.ch)
	out.clocks = slices.Clone(c.clocks)
	return &out
}

// text is the identity of a configuration.
func (c *config) text(w *world) string {
	if c.key != "" {
		return c.key
	}
	var b strings.Builder
	for i := range c.in {
		in := &c.in[i]
		if in.m != nil {
			b.WriteString(in.m.Text())
		}
		fmt.Fprint(&b, "/", in.started, in.down, in.beat, in.crashes, in.begins, in.coming, in.gone, in.wait)
		for _, h := range in.held {
			fmt.Fprint(&b, h.from, h.msg.Text)
		}
		for _, k := range machine.Sorted(in.used) {
			fmt.Fprint(&b, "#", k, in.used[k])
		}
		for _, k := range machine.Sorted(in.seen) {
			b.WriteString("?" + k + machine.Write(in.seen[k]))
		}
		for _, k := range machine.Sorted(in.mons) {
			b.WriteString("%" + in.mons[k].Text())
		}
		b.WriteByte('\n')
	}
	for k, items := range c.ch {
		list := make([]string, len(items))
		for i, it := range items {
			list[i] = it.text()
		}
		if w.classes[k%len(w.classes)].bag {
			slices.Sort(list)
		}
		b.WriteString(strings.Join(list, " ") + ";")
	}
	fmt.Fprint(&b, c.crashes, c.lost, c.copied, c.swapped, c.cut, c.restarts, c.clocks)
	for _, k := range machine.Sorted(c.joint) {
		b.WriteString("%" + c.joint[k].Text())
	}
	c.key = b.String()
	return c.key
}

// first is the configuration in which everything begins.
func (w *world) first() *config {
	c := &config{joint: map[string]*machine.Machine{}}
	n := len(w.roles)
	c.ch = make([][]item, n*n*len(w.classes))
	for i := range w.roles {
		c.in = append(c.in, w.begin(i))
		c.in[i].coming = w.come[i]
		c.in[i].down = w.come[i] > 0
	}
	for _, m := range w.monitors {
		if m.joint {
			c.joint[m.name] = m.role.Machine(0, nil)
		}
	}
	c.clocks = make([]int, len(w.watches))
	return c
}

// begin is an instance as it is in the beginning.
func (w *world) begin(i int) inst {
	n := len(w.roles)
	in := inst{used: map[string]int{}, seen: map[string]machine.Value{}, mons: map[string]*machine.Machine{},
		gone: make([]bool, n), wait: make([]bool, n), started: true}
	if w.roles[i] == nil {
		return in
	}
	in.m = w.roles[i].Machine(i, w.params[i])
	in.started = !in.m.StartDoes()
	for j := range n {
		in.wait[j] = w.linked[i][j] && w.mentions(i, "up")
	}
	for k, v := range w.watched.begin(w.roles[i]) {
		in.seen[k] = v
	}
	for _, m := range w.monitors {
		if !m.joint && m.of[0] == w.roles[i].Name {
			in.mons[m.name] = m.role.Machine(i, nil)
		}
	}
	return in
}

// move is one step of the world.
type move struct {
	label     string
	who       int
	kind      moveKind
	to        *config
	wrong     bool
	violation string // what is wrong with the step; then there is no configuration behind it
	event     string // a command's or timer's name, for rules
	class     string // what fairness looks at: a transition or a channel
	message   string
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
	isFault // a loss, copy, crash, …
	isHostile
	isComing
	isGoing
)

// moves returns all steps that are possible.
func (w *world) moves(c *config) (out []move) {
	for i := range c.in {
		in := &c.in[i]
		switch {
		case in.m == nil:
		case in.down:
			out = append(out, w.downMoves(c, i)...)
		case !in.started:
			o := w.step(in.m, machine.Event{Name: "start", Sender: -1})
			next := c.clone()
			next.in[i].started = true
			out = append(out, w.applied(c, next, i, o, move{label: "start", who: i,
				kind: isStart, class: "start"}, "")...)
			out = append(append(out, w.crashes(c, i)...), w.unheard(c, i)...)
		default:
			out = append(out, w.liveMoves(c, i)...)
		}
	}
	return append(append(out, w.mediumMoves(c)...), w.tick(c)...)
}

func (w *world) step(m *machine.Machine, ev machine.Event) machine.Outcome {
	var b strings.Builder
	fmt.Fprint(&b, m.R.Name, m.Params == nil, machine.Texts(m.Params), m.Self, ev.Name, ev.Sender)
	for _, k := range machine.Sorted(ev.Msg) {
		b.WriteString("," + machine.Write(ev.Msg[k]))
	}
	key := b.String() + "|" + m.Text()
	o, ok := w.memo[key]
	if !ok {
		o = m.Step(ev, w.time)
		w.memo[key] = o
	}
	return o
}

func (w *world) liveMoves(c *config, i int) (out []move) {
	in := &c.in[i]
	out = w.crashes(c, i)
	for k, h := range in.held {
		if in.m.Mode(h.msg.Name) == "defer" {
			continue
		}
		next := c.clone()
		next.in[i].held = slices.Delete(slices.Clone(in.held), k, k+1)
		mv := move{label: "handles " + h.msg.Text, who: i, kind: isOffer, class: "offer"}
		return append(append(out, w.receive(c, next, i, h.from, h.msg, mv)...), w.unheard(c, i)...)
	}
	out = append(out, w.commandMoves(c, i)...)
	out = append(out, w.timerMoves(c, i)...)
	for j := range c.in {
		out = append(out, w.arrivals(c, i, j)...)
		if in.wait[j] && !in.gone[j] {
			next := c.clone()
			next.in[i].wait[j] = false
			out = append(out, w.applied(c, next, i, w.step(in.m, machine.Event{Name: "up", Sender: j}),
				move{label: fmt.Sprint("up from ", j), who: i, kind: isNews,
					class: fmt.Sprint("up ", j)}, "")...)
		}
		if w.linked[i][j] && !in.gone[j] && !in.wait[j] && c.cut < w.breaks && w.roles[j] != nil {
			next := c.clone()
			next.cut++
			out = append(out, w.broken(c, next, i, j)...)
		}
	}
	return append(out, w.beat(c, i)...)
}

// broken has i take its link to j for dead. A crash may cut that step short, too; what j hears is out already.
func (w *world) broken(c, next *config, i, j int) (out []move) {
	mv := move{label: fmt.Sprint("break to ", j), who: i, kind: isFault}
	if w.mayCrash(c, i) && !w.atomic {
		torn := next.clone()
		w.hangup(torn, i, j, "reset")
		if o := w.step(c.in[i].m, machine.Event{Name: "lost", Sender: j}); !o.Refused && o.Fault == "" && !o.Ignored {
			torn.in[i].m = o.M
			w.fall(torn, i, j)
			torn.crashes++
			out = append(out, move{label: "break, crash", who: i, kind: isFault, to: torn})
		}
	}
	return append(out, w.loses(c, next, i, j, "reset", mv)...)
}

// loses has i hear that its link to j is over; what says what j hears of it.
func (w *world) loses(c, next *config, i, j int, what string, mv move) []move {
	w.hangup(next, i, j, what)
	return w.applied(c, next, i, w.step(c.in[i].m, machine.Event{Name: "lost", Sender: j}), mv, "")
}

// hangup ends i's end of the link to j. What is under way to it is gone, and j will hear.
func (w *world) hangup(c *config, i, j int, what string) {
	in := &c.in[i]
	if !w.linked[i][j] || in.gone[j] {
		return
	}
	in.gone[j], in.wait[j] = true, false
	in.held = slices.DeleteFunc(slices.Clone(in.held), func(h kept) bool { return h.from == j })
	if w.roles[j] != nil && !w.dgram {
		k := w.at(i, j, w.newsClass())
		c.ch[k] = append(slices.Clone(c.ch[k]), item{news: what})
	}
}

// newsClass is the channel in which news of links travels.
func (w *world) newsClass() int {
	return max(0, slices.IndexFunc(w.classes, func(c class) bool { return !c.bag && !c.lossy && !c.copies }))
}

// command is one that a program may give, with its arguments.
func (w *world) commandMoves(c *config, i int) (out []move) {
	in := &c.in[i]
	for _, name := range in.m.R.Commands {
		mode := in.m.Mode(name)
		if mode == "" || mode == "ignore" || mode == "defer" {
			continue
		}
		rule := w.rule(in.m.R, name)
		if rule.never || rule.times >= 0 && in.used[name] >= rule.times {
			continue
		}
		fields := in.m.R.Fields["c:"+name]
		for _, args := range machine.Product(len(fields), func(k int) []machine.Value { return fields[k].T.Values() }) {
			ev := machine.Event{Name: name, Sender: -1, Msg: map[string]machine.Value{}}
			for k, f := range fields {
				ev.Msg[f.Name] = args[k]
			}
			if !w.allows(rule, c, i, in.m, ev.Msg) {
				continue
			}
			o := w.step(in.m, ev)
			if o.Refused || o.Fault != "" {
				continue // such a command is not available
			}
			next := c.clone()
			next.count(i, name, rule)
			mv := move{label: name + "(" + machine.Texts(args) + ")", who: i, kind: isCommand, event: name}
			if !o.Ignored {
				w.observe(next, i, "c:", name, ev.Msg)
			}
			out = append(out, w.applied(c, next, i, o, mv, name)...)
		}
	}
	return out
}

func (c *config) count(i int, name string, r rule) {
	if r.times < 0 {
		return
	}
	used := map[string]int{}
	for k, v := range c.in[i].used {
		used[k] = v
	}
	used[name]++
	c.in[i].used = used
}

// timerMoves are the expiries of timers, also of those of parts.
func (w *world) timerMoves(c *config, i int) (out []move) {
	w.expiries(c, i, c.in[i].m, nil, &out)
	return out
}

func (w *world) expiries(c *config, i int, m *machine.Machine, path []machine.Where, out *[]move) {
	in := &c.in[i]
	for _, key := range machine.Sorted(m.Timers) {
		name, _, _ := strings.Cut(key, "[")
		rule := w.rule(m.R, name)
		used := name
		if path != nil {
			used = fmt.Sprint(m.R.Name, ".", name)
		}
		ev := machine.Event{Name: key, Sender: -1, Msg: m.R.Timers[name].Values(key)}
		if m.Timers[key].Least > 0 || rule.never || rule.times >= 0 && in.used[used] >= rule.times ||
			!w.allows(rule, c, i, m, ev.Msg) {
			continue
		}
		next := c.clone()
		next.count(i, used, rule)
		o := in.m.Expire(path, ev, w.time)
		*out = append(*out, w.applied(c, next, i, o, move{label: key, who: i, kind: isTimer,
			event: name, class: key}, "")...)
	}
	for _, p := range m.R.Parts {
		for _, keys := range p.Tuples() {
			w.expiries(c, i, m.Parts[machine.KeyText(p.Name, keys)], append(slices.Clone(path),
				machine.Where{Part: p, Keys: keys}), out)
		}
	}
}

// arrivals are what i may hear of j.
func (w *world) arrivals(c *config, i, j int) (out []move) {
	in := &c.in[i]
	for k, cl := range w.classes {
		at := w.at(j, i, k)
		seen := map[string]bool{}
		for n, it := range c.ch[at] {
			if n > 0 && !cl.bag {
				break
			}
			if seen[it.text()] {
				continue
			}
			seen[it.text()] = true
			if in.wait[j] {
				continue // it gets `up` first
			}
			rest := slices.Delete(slices.Clone(c.ch[at]), n, n+1)
			mv := move{label: fmt.Sprintf("%s from %d", it.text(), j), who: i, kind: isReceive,
				class: fmt.Sprint("channel ", at), message: it.text(), event: it.msg.Name}
			if it.news != "" || w.linked[i][j] && in.gone[j] {
				next := c.clone()
				next.ch[at] = rest
				mv.kind = isNews
				if !w.linked[i][j] || in.gone[j] || it.news == "mark" {
					mv.to = next
					out = append(out, mv)
					continue
				}
				next.in[i].gone[j] = true
				next.in[i].held = slices.DeleteFunc(slices.Clone(in.held),
					func(h kept) bool { return h.from == j })
				out = append(out, w.applied(c, next, i, w.step(in.m, machine.Event{Name: "lost",
					Sender: j}), mv, "")...)
				continue
			}
			next := c.clone()
			next.ch[at] = rest
			out = append(out, w.receive(c, next, i, j, it.msg, mv)...)
			if cl.copies && (w.copies < 0 || c.copied < w.copies) || !cl.copies && c.copied < w.copies {
				next := c.clone()
				if w.copies >= 0 {
					next.copied++
				}
				mv := mv
				mv.kind, mv.label, mv.class = isFault, mv.label+", which arrives again", ""
				out = append(out, w.receive(c, next, i, j, it.msg, mv)...)
			}
		}
	}
	return out
}

// receive has a message handled, deferred or refused; it is no longer under way in next.
func (w *world) receive(c, next *config, i, from int, m machine.Message, mv move) []move {
	in := &c.in[i]
	if in.m.Mode(m.Name) == "defer" {
		if len(in.held) >= in.m.R.Deferred {
			mv.violation = "deferred-overflow"
			return []move{mv}
		}
		next.in[i].held = append(slices.Clone(next.in[i].held), kept{from, m})
		mv.to = next
		return []move{mv}
	}
	ev := machine.Event{Name: m.Name, Sender: from, Msg: map[string]machine.Value{}}
	for k, f := range in.m.R.U.MessageFields(m.Name) {
		ev.Msg[f.Name] = m.Fields[k]
	}
	o := w.step(in.m, ev)
	if o.Refused && in.m.R.External {
		o = machine.Outcome{M: in.m, Ignored: true}
	}
	out := w.applied(c, next, i, o, mv, "")
	if w.roles[from] == nil && mv.kind == isOffer && len(out) == 1 && out[0].violation != "" &&
		out[0].violation != "overflow" {
		// What a hostile instance sent is refused only now.
		out[0].violation = ""
		held := next.in[i].held
		next = c.clone()
		next.in[i].held = held
		if w.linked[i][from] && !in.gone[from] {
			return w.loses(c, next, i, from, "", out[0])
		}
		out[0].to = next
	}
	return out
}

// applied is the configuration behind a step of instance i, and those behind a crash in its course.
func (w *world) applied(c, next *config, i int, o machine.Outcome, mv move, command string) (out []move) {
	switch {
	case o.Fault != "":
		mv.violation, mv.wrong = "fault", o.Wrong
		return []move{mv}
	case o.Refused:
		mv.violation = "unspecified-reception"
		return []move{mv}
	}
	next.in[i].m = o.M
	sends := 0
	for _, e := range o.Effects {
		if e.To >= 0 {
			sends++
		}
	}
	if w.mayCrash(c, i) && !w.atomic {
		for n := range sends {
			torn := next.clone()
			torn.in[i].mons, torn.joint = c.in[i].mons, c.joint // monitors see nothing of such a step
			if ok, wrong := w.emit(torn, i, o.Effects, n); ok && wrong == "" {
				w.fall(torn, i, -1)
				torn.crashes++
				out = append(out, move{label: mv.label + fmt.Sprint(", crash after ",
					n), who: i, kind: isFault, to: torn})
			}
		}
	}
	ok, wrong := w.emit(next, i, o.Effects, sends)
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

// emit puts the first n sends of a step under way. It is not possible if one has to wait for room.
func (w *world) emit(c *config, i int, effects []machine.Effect, n int) (possible bool, wrong string) {
	for _, e := range effects {
		if e.To < 0 {
			continue
		}
		if n == 0 {
			break
		}
		n--
		j := e.To
		if e.End {
			w.hangup(c, i, j, "lost")
			continue
		}
		if w.roles[j] == nil || w.linked[i][j] && c.in[i].gone[j] {
			continue
		}
		k := w.of[e.Msg.Name]
		at, cl := w.at(i, j, k), w.classes[k]
		under := 0
		for _, it := range c.ch[at] {
			if it.news == "" {
				under++
			}
		}
		if under >= cl.capacity {
			switch cl.full {
			case "lose":
				continue
			case "wait":
				return false, ""
			}
			return true, "overflow"
		}
		c.ch[at] = append(slices.Clone(c.ch[at]), item{msg: e.Msg})
	}
	return true, ""
}

func (w *world) mayCrash(c *config, i int) bool {
	if w.crash.total >= 0 {
		return c.crashes < w.crash.total
	}
	return c.in[i].crashes < w.crash.each[i]
}

func (w *world) crashes(c *config, i int) []move {
	if !w.mayCrash(c, i) {
		return nil
	}
	next := c.clone()
	next.crashes++
	w.fall(next, i, -1)
	return []move{{label: "crash", who: i, kind: isFault, to: next}}
}

// fall is what a crash does. told is a peer that hears of the end of its link from the same step, or -1.
func (w *world) fall(c *config, i, told int) {
	in := &c.in[i]
	if w.crash.total >= 0 {
		in.crashes = 0
	} else {
		in.crashes++
	}
	m := in.m.Clone()
	m.Timers = map[string]machine.Clock{}
	m.StopParts()
	in.m, in.down, in.held, in.started = m, true, nil, false
	for j := range w.roles {
		if w.linked[i][j] {
			what := "reset"
			if w.atomic {
				what = "lost"
			}
			if k := w.at(i, j, w.newsClass()); in.gone[j] && len(c.ch[k]) > 0 && j != told &&
				!w.atomic && !w.dgram && w.roles[j] != nil {
				// Nobody is told of the end of a link that had ended, but what was sent before may go,
				// too.
				c.ch[k] = append(slices.Clone(c.ch[k]), item{news: "mark"})
			}
			w.hangup(c, i, j, what)
			continue
		}
		if w.atomic || i == j {
			continue
		}
		for k, cl := range w.classes {
			at := w.at(i, j, k)
			if len(c.ch[at]) > 0 && !cl.bag && !(cl.lossy && w.lose < 0) {
				c.ch[at] = append(slices.Clone(c.ch[at]), item{news: "mark"})
			}
		}
	}
	for j := range in.wait {
		in.wait[j] = false
	}
	for k, v := range in.seen {
		if strings.HasPrefix(k, "pending ") && v == true {
			seen := map[string]machine.Value{}
			for k, v := range in.seen {
				seen[k] = v
				if strings.HasPrefix(k, "pending ") {
					seen[k] = false
				}
			}
			in.seen = seen
			break
		}
	}
}

// unheard drops messages from those to whom the link is over, also while the instance takes no event.
func (w *world) unheard(c *config, i int) (out []move) {
	for j := range c.in {
		for k, cl := range w.classes {
			at := w.at(j, i, k)
			for n, it := range c.ch[at] {
				if n > 0 && !cl.bag || it.news != "" {
					break
				}
				if w.linked[i][j] && c.in[i].gone[j] {
					next := c.clone()
					next.ch[at] = slices.Delete(slices.Clone(c.ch[at]), n, n+1)
					out = append(out, move{label: "dropped", who: i, kind: isNews,
						to: next, class: fmt.Sprint("channel ", at)})
				}
			}
		}
	}
	return out
}

// downMoves are what becomes of an instance that is not there.
func (w *world) downMoves(c *config, i int) (out []move) {
	in := &c.in[i]
	for j := range c.in {
		for k, cl := range w.classes {
			at := w.at(j, i, k)
			for n := range c.ch[at] {
				if n > 0 && !cl.bag {
					break
				}
				next := c.clone()
				next.ch[at] = slices.Delete(slices.Clone(c.ch[at]), n, n+1)
				out = append(out, move{label: "dropped", who: i, kind: isNews, to: next,
					class: fmt.Sprint("channel ", at)})
			}
		}
	}
	if in.beat {
		out = append(out, w.beat(c, i)...)
	}
	if w.restart.total < 0 && in.begins < w.restart.each[i] {
		next := c.clone()
		fresh := w.begin(i)
		for k, v := range in.m.R.Vars {
			if v.Kept {
				fresh.m.Vars[k] = in.m.Vars[k]
			}
		}
		fresh.begins, fresh.crashes, fresh.used, fresh.seen, fresh.mons = in.begins+1,
			in.crashes, in.used, in.seen, in.mons
		next.in[i] = fresh
		out = append(out, move{label: "restart", who: i, kind: isFault, to: next})
	}
	return out
}

// mediumMoves are what channels do by themselves, and what hostile instances do.
func (w *world) mediumMoves(c *config) (out []move) {
	for at, items := range c.ch {
		cl := w.classes[at%len(w.classes)]
		i := at / len(w.classes) % len(w.roles)
		seen := map[string]bool{}
		for n, it := range items {
			if n > 0 && !cl.bag {
				break
			}
			may := cl.lossy && (w.lose < 0 || c.lost < w.lose) || !cl.lossy && c.lost < w.lose
			if it.news != "" || seen[it.text()] || !may || c.in[i].down {
				continue
			}
			seen[it.text()] = true
			next := c.clone()
			if w.lose >= 0 {
				next.lost++
			}
			next.ch[at] = slices.Delete(slices.Clone(items), n, n+1)
			out = append(out, move{label: "lost " + it.text(), who: i, kind: isFault, to: next})
		}
		// The youngest message before the first reset may go with it.
		n := slices.IndexFunc(items, func(it item) bool {
			return it.news == "reset" ||
				it.news == "mark"
		}) - 1
		for n >= 0 && items[n].news != "" {
			n--
		}
		if n >= 0 {
			next := c.clone()
			next.ch[at] = slices.Delete(slices.Clone(items), n, n+1)
			out = append(out, move{label: "tail " + items[n].text(), who: i, kind: isFault, to: next})
		}
		for n := range len(items) - 1 {
			if !cl.bag && c.swapped < w.swaps && items[n].news == "" &&
				items[n+1].news == "" && items[n].text() != items[n+1].text() {
				next := c.clone()
				next.swapped++
				next.ch[at] = slices.Clone(items)
				next.ch[at][n], next.ch[at][n+1] = items[n+1], items[n]
				out = append(out, move{label: "overtakes", who: i, kind: isFault, to: next})
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
	in := &c.in[i]
	if in.m == nil || in.down || !in.started || !w.reach[h][i] && !w.reach[i][h] || in.due() {
		return nil
	}
	linked := w.linked[i][h]
	if linked && (in.gone[h] || in.wait[h]) {
		return nil
	}
	closed := func(label string) {
		if linked {
			next := c.clone()
			out = append(out, w.loses(c, next, i, h, "", move{label: label, who: i, kind: isHostile})...)
		}
	}
	if !w.dgram || w.bad[h] {
		closed("hangs up")
	}
	for _, m := range w.forgeries(h) {
		mv := move{label: m.Text + " by hostile " + w.names[h], who: i, kind: isHostile}
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

// forgeries are all messages that a hostile instance can send.
func (w *world) forgeries(h int) []machine.Message {
	if list, ok := w.forged[h]; ok {
		return list
	}
	var list []machine.Message
	for _, e := range machine.Entries(w.u.Root.Get("messages")) {
		if from := e.Value.Get("from"); from != nil && !slices.Contains(machine.Scalars(from), w.as[h].Name) {
			continue
		}
		fields := w.u.MessageFields(e.Key.Text)
		for _, f := range fields {
			if wide(f.T) {
				panic(machine.Unsupported("a hostile instance with more than 64 values of a field"))
			}
		}
		of := func(k int) []machine.Value { return fields[k].T.Values() }
		for _, values := range machine.Product(len(fields), of) {
			list = append(list, machine.NewMessage(e.Key.Text, values))
		}
	}
	w.forged[h] = list
	return list
}

// wide reports whether a hostile instance sends only some of a field's values.
func wide(t *machine.Type) bool {
	switch t.Kind {
	case machine.KInt:
		return t.Hi-t.Lo >= 64
	case machine.KText, machine.KBool, machine.KEnum:
		return false
	}
	return len(t.Values()) > 64
}

// due reports whether an instance has to handle what it holds before anything else.
func (in *inst) due() bool {
	return slices.ContainsFunc(in.held, func(h kept) bool { return in.m.Mode(h.msg.Name) != "defer" })
}

// beat has an instance feel the present beat, where that is possible. Time stands still for what is overdue.
func (w *world) beat(c *config, i int) []move {
	in := &c.in[i]
	if !in.beat || !in.m.NotOverdue() {
		return nil
	}
	next := c.clone()
	for j := range c.in {
		for k := range w.classes {
			at := w.at(j, i, k)
			aged := slices.Clone(c.ch[at])
			for n, it := range c.ch[at] {
				if it.age >= w.time.Delay-1 {
					return nil
				}
				aged[n].age++
			}
			next.ch[at] = aged
		}
	}
	m := in.m.Clone()
	m.Tick()
	next.in[i].m, next.in[i].beat = m, false
	w.stopwatches(c, next, i)
	return []move{{label: "beat", who: i, kind: isBeat, to: next, class: "beat"}}
}

// tick begins a beat, which all are to feel.
func (w *world) tick(c *config) []move {
	if !w.time.Counts() || slices.ContainsFunc(c.in, func(in inst) bool { return in.beat }) {
		return nil
	}
	next := c.clone()
	for i := range next.in {
		next.in[i].beat = next.in[i].m != nil
	}
	return []move{{label: "tick", who: -1, kind: isBeat, to: next, class: "tick"}}
}
