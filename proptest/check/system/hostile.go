package system

import (
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/explore"
	"github.com/parley-go/parley/runtime/world"
)

// Hostile instances, as runtime/world has them. What one sends never lies in a channel: that it arrives
// is a step of whoever gets it.

// attacked finds the hostile instances that the instance has to do with.
func (p *Process) attacked() error {
	if p.Inst.IsHostile() {
		return nil
	}
	for _, from := range p.sys.Check.Instances {
		if !from.IsHostile() {
			continue
		}
		a := Attack{From: from.Index, link: p.sys.Rules.Peers(p.Inst.Index)>>from.Index&1 != 0}
		list, left, err := p.sys.hostile.Forgeries(from, p.Inst)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			continue
		}
		for _, f := range list {
			a.Messages = append(a.Messages, codec.PackMessage(f.Message, f.Slots))
		}
		a.Left = left
		p.Attacks = append(p.Attacks, a)
	}
	return nil
}

// SendsNamed reports whether hostile instances send texts beside those of the domains.
func (s *Machines) SendsNamed() bool { return s.hostile.SendsNamed() }

// idleHostile returns an error if a hostile instance reaches nobody: what is claimed against it says nothing.
func (s *Machines) idleHostile() error {
	for _, inst := range s.Check.Instances {
		if inst.IsHostile() && !slices.ContainsFunc(s.Procs, func(p *Process) bool {
			return slices.ContainsFunc(p.Attacks, func(a Attack) bool { return a.From == inst.Index })
		}) {
			return fmt.Errorf("%s: %s is hostile and reaches nobody: by its role %s it neither sends another instance "+
				"something that it mentions, nor hears from one; give it a role that does", inst.Span, inst.Name,
				inst.Role.Name)
		}
	}
	return nil
}

// attacks offers what hostile instances may do to this one. What would change nothing is left out.
func (p *Process) attacks(l codec.Local, e end, emit func(explore.Step)) {
	r, i := &p.sys.Rules, p.Inst.Index
	for k := range p.Attacks {
		a := &p.Attacks[k]
		did := func(how int, msg []byte) func(explore.Step) {
			return func(s explore.Step) {
				s.Spontaneous, s.Note = true, codec.PackAttack(how, a.From, msg, s.Note)
				emit(s)
			}
		}
		if a.link {
			p.emit(l, world.Hangup(r, i, e, l.Value, a.From, false, stepper{p}), did(codec.Closes, nil))
			p.emit(l, world.Hangup(r, i, e, l.Value, a.From, true, stepper{p}), did(codec.SendsGarbage, nil))
		}
		for _, msg := range a.Messages {
			if res := world.Forge(r, i, e, l.Value, a.From, string(msg), stepper{p}); res.What != world.Dropped {
				p.emit(l, res, did(codec.Sends, msg))
			}
		}
	}
}

// faulted notes that a message of a hostile instance was refused because something faulted: that may
// be because a domain of the check is too small.
func (s *Machines) faulted(f *interp.Fault) {
	if f != nil && f.Kind == interp.Failed && s.Faulty == "" {
		s.Faulty = explain(f) + " (" + f.Span.Place() + ")"
	}
}

// offered marks that an instance refuses what it held of a hostile one.
func (p *Process) offered(l codec.Local, res result, emit func(explore.Step)) func(explore.Step) {
	if res.Event.Kind != world.Lost && res.What != world.Dropped {
		return emit
	}
	e := p.end(l)
	h := l.Held[world.Due(&p.sys.Rules, &e, l.Value, stepper{p})]
	return func(s explore.Step) {
		s.Note = codec.PackAttack(codec.Held, h.From, []byte(h.Message), s.Note)
		emit(s)
	}
}
