package system

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/check/cond"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/world"
)

// New builds the system of a check. p must have been compiled for this check (its consts and domains
// applied). It fails if a command has too many arguments or an environment
// rule cannot be turned into channel lengths.
func New(p *model.Protocol, c *model.Check) (*Machines, error) { return Between(p, c, nil) }

// Between is New where a message may be another one to who receives it than to who sends it; see [Crossing].
// p.Messages are then all that somebody receives, each with its place there as its Index.
func Between(p *model.Protocol, c *model.Check, x Crossing) (*Machines, error) {
	s := &Machines{Protocol: p, Check: c, Texts: &interp.Strings{}, crossing: x,
		labels: map[string]uint32{}, Checks: explore.DefaultChecks}
	if len(c.Instances) == 0 {
		return nil, fmt.Errorf("%s: check %s has no instances", c.Span, c.Name)
	}
	s.Texts.InternDomains(s.Protocol)
	if x != nil {
		x.Begin(s.Texts)
	}
	s.Frames = stage.NewFrames(p, s.Texts)
	s.hostile = stage.NewHostile(p, c, s.Texts)
	s.System = &explore.System{Name: p.Name + " " + c.Name}
	s.Rules = *stage.Rules(c)
	s.channels()
	if err := s.monitors(); err != nil {
		return nil, err
	}
	var problems []error
	lower := core.Once()
	for _, inst := range c.Instances {
		proc, err := s.process(inst, lower)
		problems = append(problems, err)
		s.Procs = append(s.Procs, proc)
		s.System.Procs = append(s.System.Procs, proc)
		s.System.ProcNames = append(s.System.ProcNames, inst.Name)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if err := s.idleHostile(); err != nil {
		return nil, err
	}
	s.private()
	s.addParter()
	s.addClock()
	s.addMonitors()
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

// channels makes those of the rules, in their order.
func (s *Machines) channels() {
	kinds := func(msg []byte) uint8 { return uint8(min(codec.MessageIndex(msg)+1, int(explore.Everything)-1)) }
	var free func([]byte) bool
	if len(s.Rules.Links) > 0 || s.Check.Faults != nil || s.Check.HasComers() {
		free = func(msg []byte) bool { return codec.MessageIndex(msg) >= len(s.Protocol.Messages) }
	}
	for _, ch := range s.Rules.Channels {
		name := s.Check.Instances[ch.From].Name + " -> " + s.Check.Instances[ch.To].Name
		if s.Check.Several() {
			name += " (" + s.Check.Channels()[ch.Class].Name + ")"
		}
		c := explore.Channel{Name: name, From: ch.From, To: ch.To, Cap: ch.Capacity, Block: ch.Full == world.FullWait,
			Lossy: ch.Lossy, Dup: ch.Duplicates, Kind: kinds, Free: free}
		if ch.Order == world.Any {
			c.Order = explore.Bag
		}
		if t := s.Check.Time; t != nil && t.Delay > 1 {
			c.Bare = func(msg []byte) []byte { bare, _ := codec.Aged(s.Protocol, msg); return bare }
			c.Older = func(msg []byte) ([]byte, bool) {
				_, age := codec.Aged(s.Protocol, msg)
				return codec.Older(s.Protocol, msg), age < t.Delay-1
			}
		}
		s.System.Channels = append(s.System.Channels, c)
	}
	s.Own = len(s.System.Channels)
	s.faultBudget()
	s.Parts = &cond.Parts{Protocol: s.Protocol, Instances: s.Check.Instances, Texts: s.Texts,
		Channels: s.System.Channels}
}

func (s *Machines) process(inst *model.Instance, lower func(*model.Machine) *core.Machine) (*Process, error) {
	role := inst.Role
	code := lower(role)
	p := &Process{sys: s, Inst: inst, Role: role, Machine: interp.Run(code, s.Texts), frames: s.Frames}
	if s.crossing != nil {
		p.frames = s.crossing.Frames(inst.Index)
	}
	args, err := s.arguments(inst)
	if err != nil {
		return nil, err
	}
	if p.Initial, err = interp.Begin(code, s.Texts, args...); err != nil {
		return nil, fmt.Errorf("%s: instance %s: %w", inst.Span, inst.Name, err)
	}
	p.Timers = findTimers(role, 0, nil)
	s.Rules.Timers[inst.Index] = len(p.Timers)
	p.noStart = stage.Startless(p.Machine, p.Initial) || inst.IsHostile()
	if err := p.attacked(); err != nil {
		return nil, err
	}
	for _, ev := range role.Commands {
		if inst.IsHostile() {
			break // nobody runs the machine
		}
		c := command{Event: ev, Count: -1}
		never := func(r *model.EnvRule) bool { return r.Command == ev && r.Never() }
		if !slices.ContainsFunc(s.Check.Rules, never) {
			if c.Args, err = interp.Domains(ev, MaxArguments); err != nil {
				return nil, err
			}
		}
		for _, env := range s.Check.Rules {
			if env.Command == ev {
				if c.Rule, err = cond.NewRule(s.Parts, inst, env); err != nil {
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
	p.layMonitors()
	p.Layout = codec.NewLayout(p.bounded, role.Size, p.AtDown)
	s.Parts.Layouts = append(s.Parts.Layouts, p.Layout)
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
	for _, name := range codec.SpecialNames {
		s.addLabel(name, inst.Index)
	}
	return p, nil
}

// fairRules makes a duty of each rule that says what the program of the instance does in the end.
func (p *Process) fairRules() {
	for _, env := range p.sys.Check.Rules {
		if env.Fair == "" || p.Inst.IsHostile() || !slices.Contains(p.Role.Commands, env.Command) {
			continue
		}
		for i := range p.Commands {
			if c := &p.Commands[i]; c.Event == env.Command || slices.Contains(env.Or, c.Event) {
				c.does = append(c.does, len(p.sys.System.Constraints))
			}
		}
		c := explore.Constraint{Name: p.Inst.Name + ": " + DutyNames(env), Fair: fairnessOf[env.Fair]}
		p.sys.System.Constraints = append(p.sys.System.Constraints, c)
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
			r, err := cond.NewRule(p.sys.Parts, p.Inst, env)
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

func (s *Machines) arguments(inst *model.Instance) ([][]int64, error) {
	x := interp.Eval{Strings: s.Texts}
	var args [][]int64
	for i, e := range inst.Args {
		d := make([]int64, e.Type().Slots())
		if err := x.Into(core.Of(e), d, nil, nil); err != nil {
			name := inst.Role.Params[i].Name
			return nil, fmt.Errorf("%s: instance %s, parameter %s: %w", inst.Span, inst.Name, name, err)
		}
		args = append(args, d)
	}
	return args, nil
}

// findTimers lists the timers of m and of its parts, at any depth.
func findTimers(m *model.Machine, base int, at []interp.At) []timer {
	var out []timer
	for _, ev := range m.Events {
		if ev.Kind != model.EventTimer {
			continue
		}
		for i := range ev.Timer.Count {
			out = append(out, timer{ev: ev, at: at, index: i, args: interp.TimerKeys(ev.Timer, i),
				slot: base + ev.Timer.Offset + i, base: base, size: m.Size, Count: -1})
		}
	}
	for _, part := range m.Parts {
		for i := range part.Count {
			way := append(at[:len(at):len(at)], interp.At{Part: part, Index: i})
			out = append(out, findTimers(part.Machine, base+part.Offset+i*part.Machine.Size, way)...)
		}
	}
	return out
}
