package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/run"
	"github.com/parley-go/parley/runtime/world"
)

// SideNames are the names of the two parties of a recording: the one that opened the connection, and the
// one that accepted it.
var SideNames = [2]string{"client", "server"}

// Side is what Explain has found out about one party.
type Side struct {
	Side   int // 0 opened the connection, 1 accepted it
	Role   string
	Params string // as text, empty if the role has none
	// External: the party is a program that we do not write, so nothing was explained.
	External bool
	// Accepted: Run explains every frame. Otherwise Run is a longest one.
	Accepted bool
	// Refusal is the frame that the side refused, so that it ended the connection; nil if it did not.
	Refusal *Refusal
	// Exhausted: the search stopped at its bound, so that a run may exist after all.
	Exhausted bool
	// Run is the run that was found, with the two parties as instances. What the other party did is
	// not known, only what it sent; the identity of a message is its place among the frames, from
	// 1.
	Run *run.Run
	// Sent and Read count explained frames; SentAll and ReadAll all of them.
	Sent, SentAll, Read, ReadAll int
	// Frontier is the index of the first frame without explanation, the
	// number of frames if there is none.
	Frontier int
	// Machines are the possible machines at the frontier.
	Machines []At
	// Taken counts how often each transition of the role was taken in Run, by Transition.ID. Order lists them as
	// they were taken.
	Taken []int
	Order []*model.Transition
	// Looked is the number of nodes of the search.
	Looked int
	// Of the run of a channel that loses and copies: Missed are frames of the peer that the side did not get,
	// Copied those of its own that the network made of one before, by their places in the recording. Unsent counts
	// what the machine sent and the capture does not have, lost before it or sent behind its end.
	Missed, Copied []int
	Unsent         int
	// Unseen counts frames of the peer that the run reads and the capture does not have; see Options.Unseen.
	Unseen int
}

// At is a place that a machine can have been at when the explanation ended.
type At struct {
	State   string // control state with the parts' states
	Machine string // with variables
	// Refuses says why the next captured frame of the peer cannot be read
	// here; empty if it can or if there is none to read before the frontier.
	Refuses string
	Legal   Legal
	// Sends are the messages that some command would have sent here.
	Sends []string
}

// maxPossible is the largest number of Machines of a Side.
const maxPossible = 4

// Explain finds the role and parameters whose run explains most of one side of a recording. It tries
// roles in order, each with every combination of its parameters.
func Explain(ctx context.Context, rec *Recording, side int, roles []*model.Machine, opts Options) (*Side, error) {
	part := Part{Party: side}
	for i := range rec.Frames {
		if rec.Frames[i].From == side {
			part.out = append(part.out, i)
		} else {
			part.in = append(part.in, i)
		}
	}
	part.missing = make([]bool, len(part.out))
	return part.explain(ctx, rec, roles, opts)
}

// explain is [Explain] for what a part has sent and may have heard. A wrong role or parameter may cost as much as the
// bound allows before it is given up, so each is tried with a small bound first, and then those first that explained
// most.
func (t *Part) explain(ctx context.Context, rec *Recording, roles []*model.Machine, opts Options) (*Side, error) {
	var best *Side
	var key [2]int
	tries, err := t.attempts(rec, roles)
	if err != nil {
		return nil, err
	}
	most := opts.withDefaults().MaxStates
	for bound := min(most, firstBound); len(tries) > 0; bound = min(most, bound*boundGrows) {
		if len(tries) == 1 {
			bound = most
		}
		opts.MaxStates = bound
		var open []attempt
		for _, a := range tries {
			v, err := interp.NewValue(a.machine, rec.Strings, a.args...)
			if err != nil {
				return nil, err
			}
			s := explain(ctx, rec, a.machine, v, t, opts)
			r := s.result(paramText(a.machine, rec.Strings, a.args))
			if r.Accepted && r.Refusal == nil {
				return r, nil
			}
			if s.full && bound < most && ctx.Err() == nil {
				a.key = s.bestKey
				open = append(open, a)
				continue
			}
			if best == nil || r.better(best) || slices.Compare(s.bestKey[:], key[:]) > 0 && !best.better(r) {
				best, key = r, s.bestKey
			}
		}
		tries = open
		slices.SortStableFunc(tries, func(a, b attempt) int { return slices.Compare(b.key[:], a.key[:]) })
	}
	if best == nil {
		return nil, fmt.Errorf("protocol %s has no role", rec.Protocol.Name)
	}
	return best, ctx.Err()
}

// The bound of the first search for a role with some parameters, and how much larger the next one is.
const (
	firstBound = 20_000
	boundGrows = 10
)

// attempt is a role with parameters, and how much of the recording a bounded search for them has explained.
type attempt struct {
	machine *model.Machine
	args    [][]int64
	key     [2]int
}

// attempts lists the roles that may explain a part, likely ones first, each with every combination of its parameters.
func (t *Part) attempts(rec *Recording, roles []*model.Machine) (list []attempt, err error) {
	for _, m := range likely(rec, t, roles) {
		args, err := paramTuples(m, t.Party)
		if err != nil {
			return nil, err
		}
		for _, a := range args {
			list = append(list, attempt{machine: m, args: a})
		}
	}
	return list, nil
}

// better reports whether a side is a better explanation than another, however much each explains.
func (s *Side) better(than *Side) bool {
	if s.Accepted != than.Accepted {
		return s.Accepted
	}
	return s.Refusal != nil && than.Refusal == nil && !than.Accepted
}

// paramTuples returns every combination of a role's parameters. A parameter that is the number of the
// party is the side.
func paramTuples(m *model.Machine, side int) ([][][]int64, error) {
	all := [][][]int64{nil}
	for _, p := range m.Params {
		if p.Self {
			for i := range all {
				all[i] = append(all[i], []int64{int64(side)})
			}
			continue
		}
		if p.Parties { // how many there are is not in a recording
			var next [][][]int64
			for _, tuple := range all {
				for n := p.Type.Lo; n <= p.Type.Hi; n++ {
					next = append(next, append(slices.Clone(tuple), []int64{n}))
				}
			}
			all = next
			continue
		}
		one := &model.Event{Name: p.Name, Span: p.Span, Fields: []*model.Field{{Name: p.Name, Type: p.Type}}}
		values, err := interp.Domains(one, 16)
		if err != nil {
			return nil, fmt.Errorf("role %s: parameter %s has too many values to try", m.Name, p.Name)
		}
		var next [][][]int64
		for _, tuple := range all {
			for _, v := range values {
				next = append(next, append(slices.Clone(tuple), v))
			}
		}
		if all = next; len(all) > 64 {
			return nil, fmt.Errorf("role %s has too many combinations of parameters to try", m.Name)
		}
	}
	return all, nil
}

func paramText(m *model.Machine, strs *interp.Strings, args [][]int64) string {
	var list []string
	for i, p := range m.Params {
		list = append(list, p.Name+": "+string(interp.AppendValue(nil, strs, p.Type, args[i])))
	}
	return strings.Join(list, ", ")
}

func (s *search) result(params string) *Side {
	r := &Side{
		Side: s.side, Role: s.machine.Name, Params: params, Exhausted: s.full,
		Taken: make([]int, len(s.machine.Transitions)), Looked: len(s.nodes),
	}
	for c := range s.lanes {
		r.SentAll, r.ReadAll = r.SentAll+len(s.lanes[c].out), r.ReadAll+len(s.lanes[c].in)
	}
	last, ok := s.accepted()
	r.Accepted = ok
	if !ok && len(s.best) > 0 {
		last = s.best[0]
	}
	if len(s.nodes) == 0 {
		r.Run = &run.Run{}
		return r
	}
	r.Sent, r.Read = s.nodes[last].sent.sum(), s.nodes[last].read.sum()
	r.Frontier = s.bestKey[0]
	if s.shared && !ok && s.furthest > r.Sent { // in the middle of a step
		r.Frontier = s.lanes[0].out[s.furthest]
	}
	if s.refusal != nil {
		last = s.refused
		r.Refusal, r.Read = s.refusal, s.nodes[last].read.sum()
		r.Refusal.At = s.at(&s.nodes[last])
		r.Accepted, r.Frontier = r.Refusal.Expected, r.Refusal.Frame
	}
	way := s.shorten(s.way(last), ok && s.refusal == nil)
	r.Run = s.run(way, r)
	if r.Refusal != nil {
		r.Machines = []At{r.Refusal.At}
		return r
	}
	if ok {
		r.Frontier = s.frames
		r.Machines = []At{s.at(&way[len(way)-1])}
		return r
	}
	known := map[string]bool{}
	for _, n := range s.best {
		if a := s.at(&s.nodes[n]); !known[a.Machine] && len(r.Machines) < maxPossible {
			known[a.Machine] = true
			r.Machines = append(r.Machines, a)
		}
	}
	return r
}

// way returns the nodes that lead to node last, in order.
func (s *search) way(last int) []node {
	var way []node
	for n := last; n >= 0; n = s.nodes[n].parent {
		way = append(way, s.nodes[n])
	}
	slices.Reverse(way)
	return way
}

// run returns a way as text, and notes its transitions.
func (s *search) run(way []node, side *Side) *run.Run {
	p := s.rec.Protocol
	r := &run.Run{Protocol: p.Name, Hash: p.Hash}
	for _, name := range s.rec.Names {
		r.Instances = append(r.Instances, run.Instance{Name: name})
	}
	r.Instances[s.side].Role = s.machine.Name
	if len(way) > 0 {
		r.Instances[s.side].Start = s.machine.States[way[0].value[0]].Name
	}
	for i := 1; i < len(way); i++ {
		before, after := &way[i-1], &way[i]
		if after.move.kind == world.MoveCopy {
			side.Copied = append(side.Copied, after.move.frame)
			continue // the machine has not sent it
		}
		if after.event.Event == nil {
			continue // a peer has gone whom the machine does not miss
		}
		_, _, res, _ := s.step.Step(before.value, after.event)
		for _, t := range s.step.Fired() {
			if after.what == world.Stepped {
				side.Taken[t.ID]++
				side.Order = append(side.Order, t)
			}
		}
		st := run.Step{
			Kind: kinds[after.event.Event.Kind], Who: s.side, From: run.Nobody,
			Event: string(interp.AppendEvent(nil, s.rec.Strings, after.event)),
			State: s.machine.States[before.value[0]].Name, After: s.machine.States[after.value[0]].Name,
		}
		if st.State != st.After {
			st.State += " → " + st.After
		}
		switch {
		case after.move.unseen:
			side.Unseen++
			st.Effects = append(st.Effects, "not in the capture")
		case after.what == world.Dropped:
			if after.move.kind == world.MoveLose {
				side.Missed = append(side.Missed, after.move.frame)
			}
			st.Kind, res.Transition = run.Drop, fsm.NoTransition
			st.Effects = append(st.Effects, run.Unheard)
		case after.what == world.Kept:
			st.Effects = append(st.Effects, run.Keeps)
		case after.move.kind == world.MoveOffer:
			st.Kind, st.From = run.Offer, after.event.Sender
		}
		if after.read != before.read && !s.rec.Frames[after.move.frame].Ends {
			f := after.move.frame
			st.From, st.Message = s.rec.Frames[f].From, f+1
			sent := []run.Sent{{ID: f + 1, To: s.side, Text: s.rec.Text(f)}}
			r.Steps = append(r.Steps, s.unseen(f, run.Step{Sent: sent}))
		}
		var answers []run.Step
		side.Unsent += s.unsent(before, after)
		for _, f := range s.between(before, after) {
			st.Sent = append(st.Sent, run.Sent{ID: f + 1, To: s.rec.Frames[f].To, Text: s.rec.Text(f)})
			if !s.shared {
				answers = append(answers, s.unseen(f, run.Step{Message: f + 1, Event: s.rec.Text(f)}))
			}
		}
		if res.Transition != fsm.NoTransition {
			t := s.machine.Transitions[res.Transition]
			st.Transition = t.Name
			if !t.Span.IsZero() {
				st.Where = t.Span.String()
			}
		}
		r.Steps = append(append(r.Steps, st), answers...)
	}
	return r
}

// unsent counts what a step sends, in channels that lose messages, of which the capture has nothing.
func (s *search) unsent(before, after *node) int {
	n := 0
	if after.what != world.Stepped || s.shared {
		return 0
	}
	for _, x := range s.happen(before, after.move).Sends {
		if x.Item.News == world.NoNews &&
			s.lanes[s.part.lane(s.rec, x.To, s.last.effects[x.Item.Message].Message.Channel)].lossy {
			n++
		}
	}
	for _, f := range s.between(before, after) {
		if s.lanes[s.laneOf(f)].lossy {
			n--
		}
	}
	return max(n, 0)
}

// between returns the frames that a step sent, in the order in which they were captured.
func (s *search) between(before, after *node) (frames []int) {
	for c := range s.lanes {
		for k := int(before.sent.first[c]); k < len(s.lanes[c].out) && k <= int(after.sent.first[c])+window; k++ {
			if !before.sent.has(c, k) && after.sent.has(c, k) && !s.lanes[c].missing[k] {
				frames = append(frames, s.lanes[c].out[k])
			}
		}
	}
	slices.Sort(frames)
	return frames
}

var kinds = map[model.EventKind]run.Kind{
	model.EventStart: run.Start, model.EventUp: run.LinkUp, model.EventLost: run.LinkLost, model.EventTimer: run.Timer,
	model.EventMessage: run.Message, model.EventCommand: run.Command,
}

// unseen is a step of the other party that sends or receives a frame.
func (s *search) unseen(frame int, st run.Step) run.Step {
	st.Kind, st.Who, st.From = run.Unseen, s.rec.Frames[frame].From, run.Nobody
	if st.Message != 0 {
		st.Who, st.From = s.rec.Frames[frame].To, s.side
	}
	st.Time = s.rec.Frames[frame].Time.Sub(s.rec.Frames[0].Time)
	return st
}

// at describes the machine at a node, and what could have happened there.
func (s *search) at(nd *node) At {
	a := At{
		State:   interp.StatePath(s.machine, nd.value),
		Machine: string(interp.AppendMachine(nil, s.rec.Strings, s.machine, nd.value)),
	}
	a.Legal = legal(s.machine, nd.value)
	if due := s.due(nd); due >= 0 {
		a.Refuses = s.refuses(nd, move{kind: world.MoveOffer, frame: nd.end.Held[due].Message})
		return a // nothing else can happen before
	}
	for c := range s.lanes {
		if a.Refuses == "" && s.canRead(nd, c) && !s.shared {
			a.Refuses = s.refuses(nd, move{kind: world.MoveDeliver, frame: s.coming(nd, c)})
		}
	}
	a.Sends = s.possibleSends(nd)
	return a
}

// refuses says why the message of a frame of the peer cannot be handled at a node. It returns "" if it
// can be.
func (s *search) refuses(nd *node, mv move) string {
	res := s.happen(nd, mv)
	switch res.Fault {
	case world.Refusal:
		return s.last.fault.What()
	case world.DeferredOverflow:
		return fmt.Sprintf("%s would be deferred, but %d deferred messages are held already, "+
			"and the role may hold no more",
			s.rec.Text(mv.frame), s.machine.DeferredMost())
	}
	if _, ok := s.match(nd.sent, nd.end.Up, res.Sends); !ok {
		return fmt.Sprintf("%s would be answered by %s", s.rec.Text(mv.frame), s.sends(s.last.effects))
	}
	return ""
}

func (s *search) sends(effects []interp.Effect) string {
	var list []string
	for _, e := range effects {
		if e.Kind == fsm.Send {
			list = append(list, string(interp.AppendMessage(nil, s.rec.Strings, e.Message, e.Slots)))
		}
	}
	return strings.Join(list, ", ")
}

// possibleSends returns what the commands that are possible at nd would send.
func (s *search) possibleSends(nd *node) []string {
	var list []string
	for _, ev := range s.machine.Events {
		if ev.Kind != model.EventCommand || s.opts.Passive {
			continue
		}
		names := map[string]bool{}
		for _, args := range s.candidates(nd, ev) {
			_, effects, res, _ := s.step.Step(nd.value, interp.Event{Event: ev, Args: args})
			if res.Code != fsm.Took {
				continue
			}
			for _, e := range effects {
				if e.Kind == fsm.Send && !names[e.Message.Name] {
					names[e.Message.Name] = true
					list = append(list, e.Message.Name+" by "+ev.Name)
				}
			}
		}
	}
	return list
}

// Outside returns the external role that one side of a recording must have, or nil: it sends messages that
// no role of ours sends. Nobody has to explain what such a program does.
func Outside(rec *Recording, side int) *model.Machine {
	var found *model.Machine
	for _, m := range rec.Protocol.Roles {
		can := sendsOf(m)
		sent := !slices.ContainsFunc(rec.Frames, func(f Frame) bool { return f.From == side && !can[f.Message] })
		switch {
		case sent && !m.External:
			return nil
		case m.External && (sent || found == nil):
			found = m
		}
	}
	return found
}

// sendsOf returns the messages that a role can send.
func sendsOf(m *model.Machine) map[*model.Message]bool {
	all := map[*model.Message]bool{}
	core.Lower(m).Each(func(s core.Stmt) {
		if e, ok := s.(*core.Emit); ok && e.Message != nil {
			all[e.Message] = true
		}
	}, func(core.Expr) {})
	for _, p := range m.Parts {
		for _, x := range p.Sends {
			if x != nil {
				all[x.Send.Message] = true
			}
		}
	}
	return all
}

// likely puts the roles first that can send what a part has sent, and of those the ones that cannot send what
// the others have. What explains nothing is then told of the role that was meant.
func likely(rec *Recording, t *Part, roles []*model.Machine) []*model.Machine {
	key := map[*model.Machine][2]int{}
	for _, m := range roles {
		can, k := sendsOf(m), [2]int{}
		for _, f := range rec.Frames {
			switch {
			case f.Message == nil:
			case f.From == t.Party && !can[f.Message]:
				k[0]++
			case f.From != t.Party && can[f.Message]:
				k[1]++
			}
		}
		key[m] = k
	}
	list := slices.Clone(roles)
	slices.SortStableFunc(list, func(a, b *model.Machine) int {
		x, y := key[a], key[b]
		return slices.Compare(x[:], y[:])
	})
	return list
}

// Ours returns the roles that are not external.
func Ours(p *model.Protocol) []*model.Machine {
	return slices.DeleteFunc(slices.Clone(p.Roles), func(m *model.Machine) bool { return m.External })
}
