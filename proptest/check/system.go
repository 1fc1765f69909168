package check

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/fsm"
)

// MaxArguments is how many argument tuples a command may have in a check.
const MaxArguments = 1 << 16

// spareLabels are for steps that take several transitions of the role, which
// are met only in the course of the search.
const spareLabels = 1024

// System is one check as a system of the explorer, with what is needed to
// tell its results in the author's words.
type System struct {
	// Protocol is the specification, specialised for the check.
	Protocol *model.Protocol
	Check    *model.Check
	// System is for explore.Run, with Options.Checks = Checks.
	System *explore.System
	Checks explore.Checks
	// Claims are the check's claims in the order of System.Claims; those that
	// are not the author's (deadlock with quiet) have Stated nil.
	Claims []Claim

	strs   *interp.Strings
	procs  []*process
	own    int               // channels between instances; those behind are the clock's
	labels map[string]uint32 // of steps with several transitions
	cover  *cover            // nil: lines are not counted
	taken  [][]int           // by label: the role's transitions it stands for
	spare  int
	sends  map[*model.Machine]map[string]bool // names of the messages that a role sends
	closes bool
	// ruleFaults says which environment rules faulted; there the command was not given.
	ruleFaults []string
	// dead are the variables to be forgotten where they are dead; nil: none. spared are the values of
	// machines that were changed by that.
	dead    deadVars
	spared  map[string]bool
	refusal string // why a command was not available though its state handles it; the first such fault
}

// Claim is one claim as the explorer sees it.
type Claim struct {
	// Name is the author's, or that of a built-in claim.
	Name   string
	Stated *model.Claim
	index  int // in System.Claims
	eval   *predicate
}

// New builds the system of a check. p must have been compiled for this check (its consts and domains
// applied). It fails if a command has too many arguments or an environment
// rule cannot be turned into channel lengths.
func New(p *model.Protocol, c *model.Check) (*System, error) {
	s := &System{Protocol: p, Check: c, strs: &interp.Strings{}, labels: map[string]uint32{}, Checks: explore.DefaultChecks}
	if len(c.Instances) == 0 {
		return nil, fmt.Errorf("%s: check %s has no instances", c.Span, c.Name)
	}
	s.strs.InternDomains(s.Protocol)
	s.System = &explore.System{Name: p.Name + " " + c.Name}
	s.channels()
	var problems []error
	for _, inst := range c.Instances {
		proc, err := s.process(inst)
		problems = append(problems, err)
		s.procs = append(s.procs, proc)
		s.System.Procs = append(s.System.Procs, proc)
		s.System.ProcNames = append(s.System.ProcNames, inst.Name)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	s.private()
	s.addBreaker()
	s.addClock()
	s.spare = len(s.System.Labels)
	for range spareLabels {
		s.System.Labels = append(s.System.Labels, explore.Label{Name: "several transitions", Proc: -1})
		s.taken = append(s.taken, nil)
	}
	s.claims()
	s.System.MsgName = func(_ int, msg []byte) string { return s.messageText(msg) }
	s.System.LocalName = func(i int, v []byte) string { return s.localText(i, v) }
	return s, nil
}

// channels makes one channel for each ordered pair; see channel for the order.
func (s *System) channels() {
	ch := s.Check.Channel
	kinds := func(msg []byte) uint8 { return uint8(min(messageIndex(msg)+1, 255)) }
	for i, a := range s.Check.Instances {
		for j, b := range s.Check.Instances {
			if i == j {
				continue
			}
			c := explore.Channel{Name: a.Name + " -> " + b.Name, From: i, To: j, Cap: ch.Capacity, Lossy: ch.Lossy, Dup: ch.Duplicates, Kind: kinds,
				Block: ch.Full == model.FullWait}
			if !ch.Ordered {
				c.Order = explore.Bag
			}
			s.System.Channels = append(s.System.Channels, c)
		}
	}
	s.own = len(s.System.Channels)
	s.faultBudget()
}

// channel is the index of the channel between two instances.
func (s *System) channel(from, to int) int {
	if to > from {
		to--
	}
	return from*(len(s.Check.Instances)-1) + to
}

func (s *System) process(inst *model.Instance) (*process, error) {
	role := inst.Role
	p := &process{sys: s, inst: inst, role: role, m: interp.New(role, s.strs), value: make(interp.Value, role.Size, role.Size+1)}
	args, err := s.arguments(inst)
	if err != nil {
		return nil, err
	}
	if p.init, err = interp.NewValue(role, s.strs, args...); err != nil {
		return nil, fmt.Errorf("%s: instance %s: %w", inst.Span, inst.Name, err)
	}
	p.timers = findTimers(role, 0, nil)
	p.noStart = p.startDoesNothing()
	for _, ev := range role.Commands {
		c := command{ev: ev, count: -1}
		if !slices.ContainsFunc(s.Check.Rules, func(r *model.EnvRule) bool { return r.Command == ev && r.Never() }) {
			if c.args, err = interp.Domains(ev, MaxArguments); err != nil {
				return nil, err
			}
		}
		for _, env := range s.Check.Rules {
			if env.Command == ev {
				if c.rule, err = newRule(s, inst, env); err != nil {
					return nil, err
				}
				if env.Times > 0 {
					c.count = p.bounded
					p.bounded++
				}
			}
		}
		p.commands = append(p.commands, c)
	}
	p.fairRules()
	if err := p.timerRules(); err != nil {
		return nil, err
	}
	p.layFaults()
	p.layTime()
	if err := p.tooOld(); err != nil {
		return nil, err
	}
	p.used = make([]int64, p.bounded)
	p.label = len(s.System.Labels)
	for _, t := range role.Transitions {
		s.addLabel(t.Name, inst.Index, t.ID)
	}
	for _, ev := range role.Events {
		s.addLabel(ev.Name, inst.Index)
	}
	for _, st := range role.States {
		for _, ev := range role.Events {
			s.addLabel(st.Name+" "+ev.Name+" (refused)", inst.Index)
		}
	}
	p.specials = len(s.System.Labels)
	for _, name := range specialNames {
		s.addLabel(name, inst.Index)
	}
	return p, nil
}

// fairRules makes a duty of each rule that says what the program of the instance does in the end.
func (p *process) fairRules() {
	for _, env := range p.sys.Check.Rules {
		if env.Fair == "" || !slices.Contains(p.role.Commands, env.Command) {
			continue
		}
		for i := range p.commands {
			if c := &p.commands[i]; c.ev == env.Command || slices.Contains(env.Or, c.ev) {
				c.does = append(c.does, len(p.sys.System.Duties))
			}
		}
		p.sys.System.Duties = append(p.sys.System.Duties, explore.Duty{Name: p.inst.Name + ": " + dutyNames(env), Fair: fairnessOf[env.Fair]})
	}
}

// timerRules finds the environment's rules for timers of the machine and of its parts.
func (p *process) timerRules() error {
	for i := range p.timers {
		t := &p.timers[i]
		for _, env := range p.sys.Check.Rules {
			if env.Command != t.ev {
				continue
			}
			r, err := newRule(p.sys, p.inst, env)
			if err != nil {
				return err
			}
			t.rule = r
			if env.Times > 0 {
				t.count = p.bounded
				p.bounded++
			}
		}
	}
	return nil
}

func (s *System) addLabel(name string, proc int, taken ...int) {
	s.System.Labels = append(s.System.Labels, explore.Label{Name: name, Proc: proc})
	s.taken = append(s.taken, taken)
}

func (s *System) arguments(inst *model.Instance) ([][]int64, error) {
	x := interp.Eval{Strings: s.strs}
	var args [][]int64
	for i, e := range inst.Args {
		d := make([]int64, e.Type().Slots())
		if err := x.Into(e, d, nil, nil); err != nil {
			return nil, fmt.Errorf("%s: instance %s, parameter %s: %w", inst.Span, inst.Name, inst.Role.Params[i].Name, err)
		}
		args = append(args, d)
	}
	return args, nil
}

// startDoesNothing says whether the event start changes nothing and has no effect.
func (p *process) startDoesNothing() bool {
	ev := p.event(model.EventStart)
	if ev == nil {
		return true
	}
	next, effects, res, _ := p.m.Step(p.init, interp.Event{Event: ev})
	return res.Code != fsm.Refused && len(effects) == 0 && next.Equal(p.init) && len(p.m.Fired()) == 0
}

// labelOf is the label of a step that was ignored or refused.
func (p *process) labelOf(res fsm.Result, ev interp.Event) uint32 {
	n := len(p.role.Transitions)
	if res.Transition != fsm.NoTransition {
		return uint32(p.label + int(res.Transition))
	}
	if len(ev.At) > 0 {
		return uint32(p.label + n)
	}
	if res.Code == fsm.Refused {
		return uint32(p.label + n + len(p.role.Events)*(1+int(p.value[0])) + ev.Event.Index)
	}
	return uint32(p.label + n + ev.Event.Index)
}

// labelTaken is the label of the step just taken: that of its transition, or
// one for all transitions of the role that it took.
func (p *process) labelTaken(ev interp.Event) uint32 {
	fired := p.m.Fired()
	switch {
	case len(fired) == 0 && len(ev.At) > 0:
		return uint32(p.label + len(p.role.Transitions))
	case len(fired) == 0:
		return uint32(p.label + len(p.role.Transitions) + ev.Event.Index)
	case len(fired) == 1:
		return uint32(p.label + fired[0].ID)
	}
	key := append(make([]byte, 0, 16), byte(p.inst.Index))
	var ids []int
	for _, t := range fired {
		key = append(key, byte(t.ID), byte(t.ID>>8))
		ids = append(ids, t.ID)
	}
	s := p.sys
	if l, ok := s.labels[string(key)]; ok {
		return l
	}
	if len(s.labels) == spareLabels {
		return uint32(p.label + fired[0].ID)
	}
	l := uint32(s.spare + len(s.labels))
	s.labels[string(key)] = l
	s.taken[l] = ids
	s.System.Labels[l].Name, s.System.Labels[l].Proc = fired[0].Name, p.inst.Index
	return l
}

func (s *System) messageText(msg []byte) string {
	if n, ok := s.newsOf(msg); ok {
		return "(" + newsNames[n] + ")"
	}
	m, slots := unpackMessage(s.Protocol, msg)
	return string(interp.AppendMessage(nil, s.strs, m, slots))
}

func (s *System) localText(proc int, v []byte) string {
	if proc >= len(s.procs) {
		return s.System.ProcNames[proc]
	}
	p := s.procs[proc]
	return string(interp.AppendMachine(nil, s.strs, p.role, p.unpack(v).value))
}
