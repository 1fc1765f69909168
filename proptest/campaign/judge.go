package campaign

import (
	"encoding/binary"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/check/system"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/world"
)

// judge evaluates the claims of a check along a run. They are those that the checker has compiled:
// a claim sees a configuration through classes of its instances and channels, which are kept.
type judge struct {
	p      *Player
	claims []*judged
	// procs and chans are by instance, and by channel, the classes of what is there now, one for each
	// claim.
	procs, chans [][]uint32
	// joint are the values of the monitors of several instances, and ears their classes.
	joint  []interp.Value
	ears   [][]uint32
	values []map[classKey][]uint32
	queues []map[string][]uint32
	packed [][]byte // by letter
	news   []byte
	key    []byte
}

type classKey struct {
	v    value
	down bool
}

// judged is one claim.
type judged struct {
	claim *system.Claim
	e     *explore.Claim
	// dirty: a class has changed since the claim was evaluated.
	dirty bool
	seen  map[string]holds
	// goal: it holds somewhere in the run (Sometimes, Eventually). waits: what leads to something has
	// come, and that has not.
	goal, waits bool
	// told: the run has violated it already.
	told  bool
	clock *clock // of a leadsTo with a bound
	procs []uint32
	chans []uint32
}

// holds is what a claim says of a configuration.
type holds struct{ eval, relevant bool }

// judged says whether campaigns look at a claim of a kind.
func looksAt(c *model.Claim) bool { return c.Kind != model.Reachable && c.Kind != model.Confluent }

func newJudge(p *Player, m *check.System) *judge {
	j := &judge{p: p, news: codec.PackNews(m.Protocol, codec.NewsCut, 0)}
	for i := range m.Claims {
		c := &m.Claims[i]
		if c.Stated == nil || !looksAt(c.Stated) {
			continue
		}
		x := &judged{claim: c, e: &m.System.Claims[c.Index], seen: map[string]holds{}}
		if c.Stated.Within > 0 {
			x.clock = newClock(p, c.Stated)
		}
		j.claims = append(j.claims, x)
	}
	n := len(j.claims)
	for range p.parties {
		j.procs = append(j.procs, make([]uint32, n))
		j.values = append(j.values, map[classKey][]uint32{})
	}
	for range m.Joint {
		j.ears = append(j.ears, make([]uint32, n))
	}
	for range p.world.Rules.Channels {
		j.chans = append(j.chans, make([]uint32, n))
		j.queues = append(j.queues, map[string][]uint32{})
	}
	for _, x := range j.claims {
		x.procs, x.chans = make([]uint32, len(m.System.Procs)), make([]uint32, len(m.System.Channels))
	}
	return j
}

// forget empties the tables that depend on the numbers of values.
func (j *judge) forget() {
	for i := range j.values {
		clear(j.values[i])
	}
}

// begin looks at the first configuration of a run.
func (j *judge) begin(c *configuration) *Violation {
	for _, x := range j.claims {
		x.goal, x.waits, x.told, x.dirty = false, false, false, true
		if x.clock != nil {
			x.clock.reset()
		}
	}
	j.joint = j.p.claims.Beginnings()
	for k := range j.joint {
		j.monitor(k)
	}
	for i := range c.Ends {
		j.instance(c, i)
	}
	for k := range c.Queues {
		j.channel(c, k)
	}
	return j.judge(c)
}

// hear gives the monitors of several instances what each hears of a step.
func (j *judge) hear(heard [][]interp.Event) {
	for k, list := range heard {
		if len(list) > 0 {
			j.joint[k] = j.p.claims.Joint[k].After(j.joint[k], list)
			j.monitor(k)
		}
	}
}

// monitor finds the classes of a monitor of several instances.
func (j *judge) monitor(k int) {
	list, b := make([]uint32, len(j.claims)), system.PackMonitor(j.joint[k])
	at := j.p.claims.Parts.MonitorsAt + k
	for n, x := range j.claims {
		if x.clock == nil && at < len(x.e.Procs) && x.e.Procs[at] != nil {
			list[n] = x.e.Procs[at](b)
		}
	}
	j.put(&j.ears[k], list)
}

// after looks at the configuration that a move has led to.
func (j *judge) after(before, c *configuration, who int) *Violation {
	if who >= 0 {
		j.instance(c, who)
	}
	for k := range c.Queues {
		if a, b := before.Queues[k], c.Queues[k]; len(a) != len(b) || len(a) > 0 && &a[0] != &b[0] {
			j.channel(c, k)
		}
	}
	return j.judge(c)
}

// instance finds the classes of an instance.
func (j *judge) instance(c *configuration, i int) {
	e := &c.Ends[i]
	k := classKey{c.Values[i], e.Down}
	list := j.values[i][k]
	if list == nil || len(e.Held) > 0 {
		list = make([]uint32, len(j.claims))
		b := j.pack(c, i)
		for n, x := range j.claims {
			if x.clock == nil && i < len(x.e.Procs) && x.e.Procs[i] != nil {
				list[n] = x.e.Procs[i](b)
			}
		}
		if len(e.Held) == 0 {
			j.values[i][k] = list
		}
	}
	j.put(&j.procs[i], list)
}

// pack is an instance as claims of the checker look at it.
func (j *judge) pack(c *configuration, i int) []byte {
	q := j.p.claims.Procs[i]
	l := q.Unpack(q.Init())
	if clear(l.Used); q.AtDown >= 0 && c.Ends[i].Down {
		l.Used[q.AtDown] = 1
	}
	l.Started = true
	for _, h := range c.Ends[i].Held {
		l.Held = append(l.Held, world.Held[string]{From: h.From, Message: string(j.bytes(h.Message))})
	}
	return q.Pack(l, j.p.parties[i].values[c.Values[i]])
}

// bytes is a message as the checker has it.
func (j *judge) bytes(m letter) []byte {
	a := j.p.alphabet
	for n := len(j.packed); n < len(a.texts); n++ {
		j.packed = append(j.packed, codec.PackMessage(a.messages[n], a.slots[n]))
	}
	return j.packed[m]
}

// channel finds the classes of a channel.
func (j *judge) channel(c *configuration, k int) {
	b := j.key[:0]
	for _, x := range c.Queues[k] {
		n := uint64(0)
		if x.News == world.NoNews {
			n = uint64(x.Message) + 1
		}
		b = binary.AppendUvarint(b, n)
	}
	j.key = b
	list := j.queues[k][string(b)]
	if list == nil {
		list = make([]uint32, len(j.claims))
		var word explore.Word
		for _, x := range c.Queues[k] {
			if x.News != world.NoNews {
				word = append(word, j.news)
			} else {
				word = append(word, j.bytes(x.Message))
			}
		}
		for n, x := range j.claims {
			if x.clock == nil && k < len(x.e.Chans) && x.e.Chans[k] != nil {
				list[n] = x.e.Chans[k](word)
			}
		}
		j.queues[k][string(b)] = list
	}
	j.put(&j.chans[k], list)
}

// put replaces classes, and notes which claims see that.
func (j *judge) put(at *[]uint32, list []uint32) {
	for n, x := range j.claims {
		x.dirty = x.dirty || (*at)[n] != list[n]
	}
	*at = list
}

// ask evaluates a claim in the configuration at hand.
func (j *judge) ask(n int, x *judged) holds {
	b := j.key[:0]
	for i, list := range j.procs {
		x.procs[i] = list[n]
		b = binary.AppendUvarint(b, uint64(list[n]))
	}
	for k, list := range j.ears {
		x.procs[j.p.claims.Parts.MonitorsAt+k] = list[n]
		b = binary.AppendUvarint(b, uint64(list[n]))
	}
	for k, list := range j.chans {
		x.chans[k] = list[n]
		b = binary.AppendUvarint(b, uint64(list[n]))
	}
	j.key = b
	h, ok := x.seen[string(b)]
	if !ok {
		h = holds{x.e.Eval(x.procs, x.chans), x.e.Relevant == nil || x.e.Relevant(x.procs, x.chans)}
		x.seen[string(b)] = h
	}
	return h
}

// judge evaluates what may have changed. It returns a violation that the run has not had before, and
// may be asked again for another one.
func (j *judge) judge(c *configuration) *Violation {
	for n, x := range j.claims {
		stated := x.claim.Stated
		switch {
		case x.told:
			continue
		case x.clock != nil:
			if x.clock.see(c); !x.clock.late() {
				continue
			}
			x.told = true
			return &Violation{Claim: stated.Name, Kind: ClaimViolated}
		case stated.Quiescent && !still(c), !x.dirty && !stated.Quiescent:
			continue
		}
		x.dirty = false
		h := j.ask(n, x)
		switch stated.Kind {
		case model.Always, model.Agree:
			if !h.eval {
				x.told = true
				return &Violation{Claim: stated.Name, Kind: ClaimViolated}
			}
		case model.Sometimes, model.Eventually:
			x.goal = x.goal || h.eval
		case model.LeadsTo:
			x.waits = (x.waits || h.relevant) && !h.eval
		}
	}
	return nil
}

// still reports whether nothing at all is under way, so that claims about quiescent configurations
// are asked.
func still(c *configuration) bool {
	return c.Beats == 0 && c.Quiet() && !slices.ContainsFunc(c.Splits,
		func(list []uint64) bool { return len(list) > 0 })
}

// rests looks at a configuration in which a run may stay for ever.
func (j *judge) rests() *Violation {
	for _, x := range j.claims {
		switch x.claim.Stated.Kind {
		case model.Eventually:
			if !x.goal {
				return &Violation{Claim: x.claim.Name, Kind: NeverComes}
			}
		case model.LeadsTo:
			if x.waits {
				return &Violation{Claim: x.claim.Name, Kind: NeverComes}
			}
		}
	}
	return nil
}

// counting reports whether a clock runs.
func (j *judge) counting() bool {
	return slices.ContainsFunc(j.claims, func(x *judged) bool {
		return x.clock != nil && x.clock.watch.Running() && !x.clock.late()
	})
}

// clock is the stopwatch of a leadsTo with a bound.
type clock struct {
	p          *Player
	when, goal core.Expr
	most       int64 // beats
	looked     []int // the instances whose beats count
	watch      world.Stopwatch
}

func newClock(p *Player, c *model.Claim) *clock {
	when, goal := core.Of(c.When), core.Of(c.Expr)
	return &clock{p: p, when: when, goal: goal, most: p.check.Time.Beats(c.Within),
		looked: core.Looked(len(p.parties), when, goal)}
}

func (x *clock) reset() { x.watch = 0 }

func (x *clock) late() bool { return x.watch.Late(x.most) }

// see looks at the configuration after a move.
func (x *clock) see(c *configuration) {
	unfelt := 0
	for _, i := range x.looked {
		unfelt += int(c.Beats >> i & 1)
	}
	goal := x.p.holds(c, x.goal)
	when := !goal && !x.watch.Running() && x.p.holds(c, x.when)
	x.watch = x.watch.Next(len(x.looked)-unfelt, unfelt, when, goal, x.most)
}

// holds evaluates a condition over all instances. One that faults does not hold.
func (p *Player) holds(c *configuration, e core.Expr) bool {
	if p.eval.Instances == nil {
		p.eval.Instances = make([][]int64, len(p.parties))
	}
	for i, x := range p.parties {
		down := int64(0)
		if c.Ends[i].Down {
			down = 1
		}
		p.eval.Instances[i] = append(append(p.eval.Instances[i][:0], x.values[c.Values[i]]...), down)
	}
	p.looked, p.looker = c, nil
	ok, err := p.eval.Bool(e, nil, nil)
	return ok && err == nil
}
