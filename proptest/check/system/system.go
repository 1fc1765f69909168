// Package system turns a check of a specification into processes and channels of the explorer: it
// packs the values of machines, their messages and what lies between them into bytes, and gives
// each claim a predicate over them. It neither searches nor says what was found; package check does
// both. Start from [New].
package system

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/check/reduce"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/world"
)

// MaxArguments is how many argument tuples a command may have in a check.
const MaxArguments = 1 << 16

// spareLabels are for steps that take several transitions of the role, which
// are met only in the course of the search.
const spareLabels = 1024

// Machines are the instances of one check as a system of the explorer, with what is needed to
// tell its results in the author's words.
type Machines struct {
	// Protocol is the specification, specialised for the check.
	Protocol *model.Protocol
	Check    *model.Check
	// System is for explore.Run, with Options.Checks = Checks.
	System *explore.System
	Checks explore.Checks
	// Claims are the check's claims in the order of System.Claims; those that
	// are not the author's (deadlock with quiet) have Stated nil.
	Claims []Claim

	Texts *interp.Strings
	Procs []*Process
	// Rules say what lies between the instances.
	Rules   world.Rules
	Own     int               // channels between instances; then come those of the machine that parts them, then
	clockAt int               // those of the clock
	labels  map[string]uint32 // of steps with several transitions
	Counted *cover            // nil: lines are not counted
	Taken   [][]int           // by label: the role's transitions it stands for
	spare   int
	Closes  bool
	// ruleFaults says which environment rules faulted; there the command was not given.
	RuleFaults []string
	// dead are the variables to be forgotten where they are dead; nil: none. spared are the values of
	// machines that were changed by that.
	Dead    reduce.Dead
	Spared  map[string]bool
	Refusal string // why a command was not available though its state handles it; the first such fault
}

// Claim is one claim as the explorer sees it.
type Claim struct {
	// Name is the author's, or that of a built-in claim.
	Name   string
	Stated *model.Claim
	Index  int // in System.Claims
	Eval   *predicate
}

// New builds the system of a check. p must have been compiled for this check (its consts and domains
// applied). It fails if a command has too many arguments or an environment
// rule cannot be turned into channel lengths.
func New(p *model.Protocol, c *model.Check) (*Machines, error) {
	s := &Machines{Protocol: p, Check: c, Texts: &interp.Strings{}, labels: map[string]uint32{}, Checks: explore.DefaultChecks}
	if len(c.Instances) == 0 {
		return nil, fmt.Errorf("%s: check %s has no instances", c.Span, c.Name)
	}
	s.Texts.InternDomains(s.Protocol)
	s.System = &explore.System{Name: p.Name + " " + c.Name}
	s.Rules = *stage.Rules(c)
	s.channels()
	var problems []error
	for _, inst := range c.Instances {
		proc, err := s.process(inst)
		problems = append(problems, err)
		s.Procs = append(s.Procs, proc)
		s.System.Procs = append(s.System.Procs, proc)
		s.System.ProcNames = append(s.System.ProcNames, inst.Name)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	s.private()
	s.addParter()
	s.addClock()
	s.spare = len(s.System.Labels)
	for range spareLabels {
		s.System.Labels = append(s.System.Labels, explore.Label{Name: "several transitions", Proc: -1})
		s.Taken = append(s.Taken, nil)
	}
	s.claims()
	s.System.MsgName = func(_ int, msg []byte) string { return s.MessageText(msg) }
	if s.Holds() {
		s.System.Held = s.heldMessages
	}
	s.System.LocalName = func(i int, v []byte) string { return s.localText(i, v) }
	return s, nil
}

// channels makes one channel for each ordered pair; see channel for the order.
func (s *Machines) channels() {
	ch := s.Check.Channel
	kinds := func(msg []byte) uint8 { return uint8(min(MessageIndex(msg)+1, int(explore.Everything)-1)) }
	var free func([]byte) bool
	if len(s.Rules.Links) > 0 || s.Check.Faults != nil {
		free = func(msg []byte) bool { return MessageIndex(msg) >= len(s.Protocol.Messages) }
	}
	for i, a := range s.Check.Instances {
		for j, b := range s.Check.Instances {
			if i == j {
				continue
			}
			c := explore.Channel{Name: a.Name + " -> " + b.Name, From: i, To: j, Cap: ch.Capacity, Lossy: ch.Lossy, Dup: ch.Duplicates, Kind: kinds, Free: free,
				Block: ch.Full == model.FullWait}
			if !ch.Ordered {
				c.Order = explore.Bag
			}
			s.System.Channels = append(s.System.Channels, c)
		}
	}
	s.Own = len(s.System.Channels)
	s.faultBudget()
}

// Channel is the index of the channel between two instances.
func (s *Machines) Channel(from, to int) int {
	if to > from {
		to--
	}
	return from*(len(s.Check.Instances)-1) + to
}

func (s *Machines) process(inst *model.Instance) (*Process, error) {
	role := inst.Role
	p := &Process{sys: s, Inst: inst, Role: role, Machine: interp.New(role, s.Texts), value: make(interp.Value, role.Size, role.Size+1)}
	args, err := s.arguments(inst)
	if err != nil {
		return nil, err
	}
	if p.Initial, err = interp.NewValue(role, s.Texts, args...); err != nil {
		return nil, fmt.Errorf("%s: instance %s: %w", inst.Span, inst.Name, err)
	}
	p.Timers = findTimers(role, 0, nil)
	s.Rules.Timers[inst.Index] = len(p.Timers)
	p.noStart = stage.Startless(p.Machine, p.Initial)
	for _, ev := range role.Commands {
		c := command{Event: ev, Count: -1}
		if !slices.ContainsFunc(s.Check.Rules, func(r *model.EnvRule) bool { return r.Command == ev && r.Never() }) {
			if c.Args, err = interp.Domains(ev, MaxArguments); err != nil {
				return nil, err
			}
		}
		for _, env := range s.Check.Rules {
			if env.Command == ev {
				if c.Rule, err = newRule(s, inst, env); err != nil {
					return nil, err
				}
				if env.Times > 0 {
					c.Count = p.bounded
					p.bounded++
				}
			}
		}
		p.Commands = append(p.Commands, c)
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
func (p *Process) fairRules() {
	for _, env := range p.sys.Check.Rules {
		if env.Fair == "" || !slices.Contains(p.Role.Commands, env.Command) {
			continue
		}
		for i := range p.Commands {
			if c := &p.Commands[i]; c.Event == env.Command || slices.Contains(env.Or, c.Event) {
				c.does = append(c.does, len(p.sys.System.Constraints))
			}
		}
		p.sys.System.Constraints = append(p.sys.System.Constraints, explore.Constraint{Name: p.Inst.Name + ": " + DutyNames(env), Fair: fairnessOf[env.Fair]})
	}
}

// timerRules finds the environment's rules for timers of the machine and of its parts.
func (p *Process) timerRules() error {
	for i := range p.Timers {
		t := &p.Timers[i]
		for _, env := range p.sys.Check.Rules {
			if env.Command != t.ev {
				continue
			}
			r, err := newRule(p.sys, p.Inst, env)
			if err != nil {
				return err
			}
			t.Rule = r
			if env.Times > 0 {
				t.Count = p.bounded
				p.bounded++
			}
		}
	}
	return nil
}

func (s *Machines) addLabel(name string, proc int, taken ...int) {
	s.System.Labels = append(s.System.Labels, explore.Label{Name: name, Proc: proc})
	s.Taken = append(s.Taken, taken)
}

func (s *Machines) arguments(inst *model.Instance) ([][]int64, error) {
	x := interp.Eval{Strings: s.Texts}
	var args [][]int64
	for i, e := range inst.Args {
		d := make([]int64, e.Type().Slots())
		if err := x.Into(core.Of(e), d, nil, nil); err != nil {
			return nil, fmt.Errorf("%s: instance %s, parameter %s: %w", inst.Span, inst.Name, inst.Role.Params[i].Name, err)
		}
		args = append(args, d)
	}
	return args, nil
}

// labelOf is the label of a step that was ignored or refused.
func (p *Process) labelOf(res fsm.Result, ev interp.Event) uint32 {
	n := len(p.Role.Transitions)
	if res.Transition != fsm.NoTransition {
		return uint32(p.label + int(res.Transition))
	}
	if len(ev.At) > 0 {
		return uint32(p.label + n)
	}
	if res.Code == fsm.Refused {
		return uint32(p.label + n + len(p.Role.Events)*(1+int(p.value[0])) + ev.Event.Index)
	}
	return uint32(p.label + n + ev.Event.Index)
}

// labelTaken is the label of the step just taken: that of its transition, or
// one for all transitions of the role that it took.
func (p *Process) labelTaken(ev interp.Event) uint32 {
	fired := p.Machine.Fired()
	switch {
	case len(fired) == 0 && len(ev.At) > 0:
		return uint32(p.label + len(p.Role.Transitions))
	case len(fired) == 0:
		return uint32(p.label + len(p.Role.Transitions) + ev.Event.Index)
	case len(fired) == 1:
		return uint32(p.label + fired[0].ID)
	}
	key := append(make([]byte, 0, 16), byte(p.Inst.Index))
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
	s.Taken[l] = ids
	s.System.Labels[l].Name, s.System.Labels[l].Proc = fired[0].Name, p.Inst.Index
	return l
}

func (s *Machines) MessageText(msg []byte) string {
	if n, ok := s.NewsOf(msg); ok {
		return "(" + newsNames[n] + ")"
	}
	m, slots := UnpackMessage(s.Protocol, msg)
	return string(interp.AppendMessage(nil, s.Texts, m, slots))
}

func (s *Machines) localText(proc int, v []byte) string {
	if proc >= len(s.Procs) {
		return s.System.ProcNames[proc]
	}
	p := s.Procs[proc]
	return string(interp.AppendMachine(nil, s.Texts, p.Role, p.Unpack(v).Value))
}
