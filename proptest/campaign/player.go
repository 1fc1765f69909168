package campaign

import (
	"fmt"
	"maps"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/world"
)

// Player plays runs of one check. One goroutine uses it.
type Player struct {
	check    *model.Check
	stage    *stage.Stage
	claims   *check.System
	world    world.World[value, letter]
	parties  []*party
	alphabet *alphabet
	judge    *judge
	begins   []value

	timerRules [][]*rule
	counted    []int // by counter: whose commands or timers it counts
	used       []int // by counter, in the present run
	eval       interp.Eval
	looked     *configuration
	looker     *model.Instance

	faults [Faults]bool
	sides  []uint64
	rand   source
	swarm  swarm
	list   []class
	moves  []move
	run    []move // the present run
	// see, if set, sees each move.
	see func(mv *move, t *taken)

	// Counts are of all runs.
	Counts Counts
}

// Counts count what happened in runs.
type Counts struct {
	Runs, Steps uint64
	// Rested are the runs that came to rest, Long those that were still going on at the bound.
	Rested, Long uint64
	Faults       [Faults]uint64
	// Seen is, by the name of a claim that something can be reached, in how many runs it was.
	Seen map[string]uint64
	// taken is how often each transition of a machine or of a part was taken.
	taken map[*model.Transition]uint64
}

// own is a copy that does not change with c.
func (c *Counts) own() Counts {
	n := *c
	n.Seen, n.taken = maps.Clone(c.Seen), maps.Clone(c.taken)
	return n
}

// Kind is the kind of a violation.
type Kind uint8

// The kinds of violation. NeverComes: the run may stop where it is, and what a claim promises has
// not come. Differs: the generated machine does something else than the specification says.
const (
	StepFault Kind = iota
	ClaimViolated
	NeverComes
	AtEnd
	Differs
)

// DiffersClaim is the name of what is violated by machines that are not alike.
const DiffersClaim = "generated-code"

// Violation is what is wrong with a run.
type Violation struct {
	// Claim is the name of the claim, which may be a built-in one.
	Claim string
	Kind  Kind
	// Why says what is wrong, for the built-in claims.
	Why string
	// place tells faults of one kind apart.
	place string
}

// same reports whether two runs show the same.
func (v *Violation) same(w *Violation) bool {
	return v != nil && w != nil && v.Claim == w.Claim && v.Kind == w.Kind && v.place == w.place
}

// NewPlayer makes a player of a check; p must have been compiled for it.
func NewPlayer(p *model.Protocol, c *model.Check) (*Player, error) {
	m, err := check.New(p, c)
	if err != nil {
		return nil, err
	}
	s, err := stage.Sharing(p, c, m.Texts)
	if err != nil {
		return nil, err
	}
	s.Follow()
	x := &Player{check: c, stage: s, claims: m, run: make([]move, 0, 64),
		alphabet: &alphabet{ids: map[string]letter{}}, timerRules: make([][]*rule, len(s.Parties)),
		Counts: Counts{Seen: map[string]uint64{}, taken: map[*model.Transition]uint64{}}}
	x.world.Rules = s.World.Rules
	for i := range s.Parties {
		y := newParty(s, i, x.alphabet)
		y.monitors = m.Joint
		x.parties, x.world.Machines = append(x.parties, y), append(x.world.Machines, y)
		x.begins = append(x.begins, begin)
	}
	if err := x.environment(); err != nil {
		return nil, err
	}
	x.used = make([]int, len(x.counted))
	x.faults, x.sides = possible(x.world.Rules), x.world.Rules.Sides()
	w := &x.swarm
	n := len(x.parties)
	w.own, w.timers, w.commands = make([]uint32, n), make([]uint32, n), make([][]uint32, n)
	for i, y := range x.parties {
		w.commands[i] = make([]uint32, len(y.Commands))
	}
	w.channels = make([]uint32, len(x.world.Rules.Channels))
	x.judge = newJudge(x, m)
	return x, nil
}

// maxKept is how many steps of machines a player keeps at the beginning of a run.
const maxKept = 1 << 19

// Play plays the run of a seed, of at most so many moves, up to the first violation that the check does
// not expect, or that leads nowhere. It returns what is wrong with the run, in the order in which it shows.
func (p *Player) Play(seed uint64, most int) (found []*Violation) {
	kept := 0
	for _, x := range p.parties {
		kept += len(x.steps)
	}
	if kept > maxKept {
		p.forget()
	}
	p.rand.seed(seed, p.check.Name)
	p.draw(most)
	p.Counts.Runs++
	c, bad := p.start()
	defer p.sum()
	for n := 0; ; n++ {
		for ; bad != nil; bad = p.judge.judge(c) {
			if found = append(found, bad); bad.Kind == StepFault || bad.Kind == Differs || !p.check.Expects(bad.Claim) {
				return found
			}
		}
		if n == most {
			p.Counts.Long++
			return found
		}
		calm := n >= p.swarm.chaos
		ok := !calm || !p.over(c)
		var next *configuration
		if ok {
			next, bad, ok = p.step(c, calm)
		}
		if !ok {
			p.Counts.Rested++
			if bad = p.ends(c); bad != nil {
				found = append(found, bad)
			}
			return found
		}
		c = next
	}
}

// sum counts what the run has shown.
func (p *Player) sum() {
	for _, x := range p.judge.claims {
		if x.goal && x.claim.Stated.Kind == model.Sometimes {
			p.Counts.Seen[x.claim.Name]++
		}
	}
}

// forget empties the tables.
func (p *Player) forget() {
	p.count()
	for _, x := range p.parties {
		x.forget()
	}
	p.judge.forget()
}

// count adds up which transitions were taken.
func (p *Player) count() {
	for _, x := range p.parties {
		for _, s := range x.steps {
			for _, t := range s.trail {
				p.Counts.taken[t] += s.hits
			}
			s.hits = 0
		}
	}
}

// start begins a run. Instances whose start does nothing have started.
func (p *Player) start() (*configuration, *Violation) {
	p.run = p.run[:0]
	clear(p.used)
	c := p.world.Begin(p.begins)
	for i := range p.parties {
		c = p.startless(c, i)
	}
	return c, p.judge.begin(c)
}

// startless starts an instance whose start does nothing.
func (p *Player) startless(c *configuration, i int) *configuration {
	if p.parties[i].Startless() {
		if t, err := p.world.Do(c, move{Kind: world.MoveStart, Who: i}); err == nil && t.Fault == world.NoFault {
			return t.Next
		}
	}
	return c
}

// step takes one move, drawn at random; ok is false if none is possible.
func (p *Player) step(c *configuration, calm bool) (next *configuration, bad *Violation, ok bool) {
	list := p.classes(c, calm)
	for len(list) > 0 {
		sum := uint32(0)
		for i := range list {
			sum += list[i].weight
		}
		at, n := 0, p.rand.below(sum)
		for n >= list[at].weight {
			n -= list[at].weight
			at++
		}
		members := p.members(c, list[at])
		for len(members) > 0 {
			k := int(p.rand.below(uint32(len(members))))
			if next, bad, ok := p.try(c, members[k], true); ok {
				return next, bad, true
			}
			members[k] = members[len(members)-1]
			members = members[:len(members)-1]
		}
		list[at] = list[len(list)-1]
		list = list[:len(list)-1]
	}
	return nil, nil, false
}

// try takes a move if it is possible. If it may be torn, whether it is is drawn.
func (p *Player) try(c *configuration, mv move, draw bool) (next *configuration, bad *Violation, ok bool) {
	if mv.Kind == world.MoveCommand && p.refuses(c, &mv) {
		if bad = p.differs(mv.Who, p.parties[mv.Who].last); bad != nil {
			p.run = append(p.run, mv)
		}
		return nil, bad, bad != nil
	}
	t, err := p.world.Do(c, mv)
	if err != nil {
		return nil, nil, false
	}
	var last *step
	if t.What == world.Stepped {
		last = p.parties[t.Who].last
	}
	if draw && t.What == world.Stepped && t.Fault == world.NoFault && len(t.Sends) > 0 &&
		p.rand.below(256) < p.swarm.torn {
		mv.Torn = 1 + int(p.rand.below(uint32(len(t.Sends))))
		if torn, err := p.world.Do(c, mv); err == nil {
			t = torn
		} else {
			mv.Torn = 0
		}
	}
	p.run = append(p.run, mv)
	p.tally(c, &mv, last)
	if bad = p.wrong(&t, last); bad != nil && bad.Kind != Differs {
		t.Next = nil
	}
	if p.see != nil {
		p.see(&mv, &t)
	}
	if bad != nil {
		return nil, bad, true
	}
	next = t.Next
	if mv.Kind == world.MoveRestart || mv.Kind == world.MoveCome {
		next = p.startless(next, mv.Who)
	}
	if last != nil && mv.Torn == 0 {
		p.judge.hear(last.heard)
	}
	return next, p.judge.after(c, next, t.Who), true
}

// refuses reports whether the machine refuses a command, so that the world need not be asked.
func (p *Player) refuses(c *configuration, mv *move) bool {
	x := p.parties[mv.Who]
	return x.Step(c.Values[mv.Who], event{Kind: world.Command, Message: mv.Message}).Code == fsm.Refused
}

// tally counts a move.
func (p *Player) tally(c *configuration, mv *move, last *step) {
	p.Counts.Steps++
	if last != nil {
		last.hits++
	}
	if mv.Torn > 0 {
		p.Counts.Faults[Torn]++
	}
	if f, is := faultOf[mv.Kind]; is {
		p.Counts.Faults[f]++
	}
	var r *rule
	switch mv.Kind {
	case world.MoveCommand:
		r = p.parties[mv.Who].commands[mv.Message].rule
	case world.MoveExpire:
		r = p.timerRules[mv.Who][mv.Timer]
	case world.MoveCome: // another program
		for at, who := range p.counted {
			if who == mv.Who {
				p.used[at] = 0
			}
		}
	}
	if r != nil && r.count >= 0 {
		p.used[r.count]++
	}
}

var faultOf = map[world.MoveKind]Fault{world.MoveLose: Lose, world.MoveCopy: Duplicate,
	world.MoveOvertake: Overtake, world.MoveTail: Tail, world.MoveSwallow: Swallow,
	world.MoveCrash: Crash, world.MoveRestart: Restart, world.MoveLost: Break, world.MoveReturn: Return,
	world.MovePartition: Partition, world.MoveForge: Forge,
	world.MoveHangup: Hangup, world.MoveMalformed: Malformed}

// wrong says what is wrong with a step.
func (p *Player) wrong(t *taken, last *step) *Violation {
	v := &Violation{Kind: StepFault, Why: t.Why}
	if last != nil && last.differs != nil {
		return p.differs(t.Who, last)
	}
	switch {
	case last != nil && last.out.Code == fsm.Took && last.wrong != "":
		v.Claim, v.Why = last.claim, last.wrong
	case t.Fault == world.NoFault:
		return nil
	case t.Fault == world.Refusal && !last.fault:
		v.Claim = report.UnspecifiedReception
	case t.Fault == world.Overflow:
		v.Claim = report.Overflow
	case t.Fault == world.DeferredOverflow:
		v.Claim = report.DeferredOverflow
	default:
		v.Claim = report.FaultClaim
	}
	if v.place = v.Why; last != nil {
		v.place = fmt.Sprint(p.parties[t.Who].Machine.Name, " ", last.event.Event.Name)
	}
	return v
}

// differs says that the machine that an instance is compared with does something else in a step.
func (p *Player) differs(who int, s *step) *Violation {
	if s.differs == nil {
		return nil
	}
	return &Violation{Claim: DiffersClaim, Kind: Differs, Why: s.differs.Error(),
		place: fmt.Sprint(p.parties[who].Machine.Name, " ", s.event.Event.Name)}
}

// ends looks at a configuration in which nothing happens any more that has to.
func (p *Player) ends(c *configuration) *Violation {
	given, due := p.given(c)
	any := given
	for range p.world.Moves(c) {
		any = true
		break
	}
	final := p.world.Final(c)
	switch {
	case final && !any && c.Orphans() > 0:
		return &Violation{Claim: report.OrphanMessage, Kind: AtEnd}
	case p.rests() && p.stuck(c):
		return &Violation{Claim: report.Deadlock, Kind: AtEnd}
	case final:
	case p.check.Quiet == nil && p.check.Time == nil && !any,
		p.rests() && p.resting(c) && !p.quiet(c, given):
		return &Violation{Claim: report.Deadlock, Kind: AtEnd}
	case p.check.Quiet != nil && p.check.Time == nil && !any && c.Orphans() > 0:
		return &Violation{Claim: report.OrphanMessage, Kind: AtEnd}
	}
	if due {
		return nil
	}
	return p.judge.rests()
}

// rests reports whether the check says where machines may rest that are not in a final state.
func (p *Player) rests() bool { return p.check.Quiet != nil || p.check.Time != nil }

// stuck reports whether messages are under way that nobody can take, for want of room for what would be
// sent, and nothing else is possible but commands and faults.
func (p *Player) stuck(c *configuration) bool {
	if !slices.ContainsFunc(p.check.Channels(), func(ch model.Channel) bool { return ch.Full == model.FullWait }) ||
		!slices.ContainsFunc(c.Queues, func(q []world.Item[letter]) bool { return len(q) > 0 }) {
		return false
	}
	for mv := range p.world.Moves(c) {
		switch mv.Kind {
		case world.MoveCommand, world.MoveForge, world.MoveHangup, world.MoveMalformed,
			world.MoveCrash, world.MoveRestart, world.MoveCome, world.MoveLost, world.MoveReturn, world.MovePartition,
			world.MoveLose, world.MoveOvertake, world.MoveTail:
		default:
			if mv.Torn == 0 {
				return false
			}
		}
	}
	return true
}

// given reports whether the program can give a command, and whether it has to give one in the end.
func (p *Player) given(c *configuration) (any, due bool) {
	for j, from := range p.parties { // what a hostile instance can still do is as good as a command
		for i, list := range from.forged {
			for _, m := range list {
				_, err := p.world.Do(c, move{Kind: world.MoveForge, Who: i, Peer: j, Message: m})
				any = any || err == nil
			}
		}
	}
	for i, x := range p.parties {
		any = any || c.Ends[i].Down && int(c.Ends[i].Comes) < p.check.Instances[i].Come // somebody may come
		for n := range x.commands {
			mv := move{Kind: world.MoveCommand, Who: i, Message: letter(n)}
			if p.refuses(c, &mv) {
				continue
			}
			if _, err := p.world.Do(c, mv); err != nil {
				continue
			}
			any = true
			ev := x.commands[n].event.Event
			for _, r := range p.check.Rules {
				due = due || r.Fair != "" && slices.Contains(x.Commands, r.Command) &&
					(r.Command == ev || slices.Contains(r.Or, ev))
			}
		}
	}
	return any, due
}

// resting reports whether nothing is under way, no timer runs, and no instance has anything to do by itself.
func (p *Player) resting(c *configuration) bool {
	for i := range c.Ends {
		e := &c.Ends[i]
		if e.Down || p.world.Rules.IsHostile(i) {
			continue
		}
		if !e.Started || e.Waiting != 0 || p.goes(c, i) || slices.ContainsFunc(e.Left, world.Left.Runs) ||
			world.Due(p.world.Rules, e, c.Values[i], p.world.Machines[i]) >= 0 {
			return false
		}
	}
	for k := range c.Queues {
		if len(c.Queues[k]) > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(c.Splits, func(list []uint64) bool { return len(list) > 0 })
}

// goes reports whether who is at an instance has ended and will go.
func (p *Player) goes(c *configuration, i int) bool {
	return p.check.Instances[i].Comes() && p.parties[i].Final(c.Values[i])
}

// quiet reports whether the check allows its machines to rest in c.
func (p *Player) quiet(c *configuration, given bool) bool {
	if p.check.Quiet == nil {
		return given
	}
	return p.holds(c, core.Of(p.check.Quiet))
}

// over reports whether in a calm run only time passes.
func (p *Player) over(c *configuration) bool {
	return p.check.Time != nil && c.Beats == 0 && p.resting(c) && !p.judge.counting()
}
