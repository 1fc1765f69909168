package drive

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/conform"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/world"
)

// Check is a check of a specification whose drivers have generated machines.
type Check struct {
	full, narrowed *model.Protocol
	c              *model.Check
	pairs          map[string]*conform.Pair // by role
	forged         forgeries
}

// NewCheck takes the full model of a specification, the model that was narrowed for the check, which
// stands for it, and the generated machine of each role that takes part in it.
func NewCheck(full, narrowed *model.Protocol, c *model.Check, pairs map[string]*conform.Pair) (*Check, error) {
	for _, inst := range c.Instances {
		if !inst.IsHostile() && pairs[inst.Role.Name] == nil {
			return nil, fmt.Errorf("role %s has no generated machine", inst.Role.Name)
		}
	}
	forged, err := forgeriesOf(narrowed, c)
	if err != nil {
		return nil, err
	}
	s := &Check{full, narrowed, c, pairs, forged}
	_, err = s.setting()
	return s, err
}

func (s *Check) String() string { return s.full.Name + "/" + s.c.Name }

// setting makes the world of the check. The drivers have generated machines.
func (s *Check) setting() (*setting, error) {
	c := s.c
	set, err := settle(s.full, c, 0)
	if err != nil {
		return nil, err
	}
	set.make = func(i int, machine string) (fsm.Runner, error) {
		pair := s.pairs[c.Instances[i].Role.Name]
		args, err := stage.Arguments(c.Instances[i], pair.Role, pair.Strings)
		if err != nil {
			return nil, err
		}
		r, err := pair.Make(args)
		if err != nil {
			return nil, err
		}
		if got := string(r.AppendMachine(nil)); got != machine {
			return nil, fmt.Errorf("the machine begins with %s, in the world with %s", got, machine)
		}
		return r, nil
	}
	set.forged = s.forged
	for i, inst := range c.Instances {
		if inst.IsHostile() {
			continue
		}
		r, err := set.make(i,
			string(interp.AppendMachine(nil, set.Strings, set.Parties[i].Machine, set.Parties[i].Begin)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", inst.Name, err)
		}
		if n := r.Info().Deferred; n > 0 {
			set.World.Rules.Deferred[i] = n
		}
	}
	return set, nil
}

// fault draws faults in addition to those of the check's channel.
func (s *setting) fault(r *rand.Rand) {
	rules := s.World.Rules
	once := s.once()
	if r.IntN(3) == 0 && !once {
		rules.Faults.Break, rules.Faults.Return = 1, r.IntN(2)
	}
	if r.IntN(4) == 0 && rules.Instances <= 8 && !once {
		rules.Faults.Partition, rules.Faults.Return = 1, -1
	}
	if r.IntN(3) == 0 && !once {
		rules.Faults.Crash, rules.Faults.Torn = slices.Repeat([]int{1}, rules.Instances), r.IntN(3) > 0
	}
	if r.IntN(3) == 0 && !once {
		s.coming(r)
	}
	if rules.Channels[0].Order == world.Fifo {
		s.stream = r.IntN(2) == 0
	}
	s.record = r.IntN(2) == 0
	if s.Check.HasHostile() && linkless(s.Check) && r.IntN(2) == 0 {
		s.keeping()
	}
}

// streams reports whether links carry the channel of a class as a stream: frames of datagrams need not say where
// they end.
func (s *setting) streams(class int) bool {
	return s.stream && s.protocol.Over(class).Wire.Delimited()
}

// once reports whether links must not come up a second time: a stream begins in its first phase then, and a role that
// has nothing to do with links goes on in another one.
func (s *setting) once() bool {
	return s.protocol.Phased() && slices.ContainsFunc(s.Check.Instances, func(i *model.Instance) bool {
		return !i.IsHostile() && !i.Role.Linked()
	})
}

// sound counts the channels from one instance to another that keep order and lose and copy nothing.
func sound(r *world.Rules) (n int) {
	for _, ch := range r.Channels {
		if ch.From == r.Channels[0].From && ch.To == r.Channels[0].To && ch.Order == world.Fifo && !ch.Lossy &&
			!ch.Duplicates {
			n++
		}
	}
	return n
}

// coming has parties come to some of the instances.
func (s *setting) coming(r *rand.Rand) {
	for i := range s.Parties {
		if s.World.Rules.Come[i] = 0; !s.World.Rules.IsHostile(i) && sound(s.World.Rules) < 2 { // as checks refuse it
			s.World.Rules.Come[i] = r.IntN(2) * (1 + r.IntN(3))
		}
	}
}

// settle makes the world of a check.
func settle(p *model.Protocol, c *model.Check, plant world.Plant) (*setting, error) {
	s := &setting{protocol: model.WithDefaultWire(p)}
	var err error
	if s.Stage, err = stage.New(p, c); err != nil {
		return nil, err
	}
	s.World.Rules.Plant = plant
	s.peer = func(i, j int) fsm.Peer {
		if len(s.Parties) > 2 || s.Parties[i].Sender != nil {
			return fsm.Peer(j)
		}
		return 0
	}
	roles := map[string][]string{}
	for _, x := range s.Parties {
		if _, ok := roles[x.Name]; !ok {
			roles[x.Name] = commands(x, s.Strings)
		}
		s.commands = append(s.commands, roles[x.Name])
	}
	return s, nil
}

// commands lists the commands that a machine is given, as text: each with the smallest values of its
// fields, and with the next ones.
func commands(x *stage.Party, strs *interp.Strings) (list []string) {
	for _, c := range x.Commands {
		zero := make([]int64, interp.FieldSlots(c.Fields))
		interp.Zero(&model.Type{Kind: model.KindRecord, Fields: c.Fields}, zero)
		next, at := slices.Clone(zero), 0
		for _, f := range c.Fields {
			interp.Next(f.Type, next[at:])
			at += f.Type.Slots()
		}
		list = append(list, string(interp.AppendEvent(nil, strs, interp.Event{Event: c, Args: zero})))
		if !slices.Equal(zero, next) {
			list = append(list, string(interp.AppendEvent(nil, strs, interp.Event{Event: c, Args: next})))
		}
	}
	return list
}

// alarm returns the number of the timer with a name and a key.
func alarm(list []stage.Alarm, name string, key uint32) int {
	return slices.IndexFunc(list, func(a stage.Alarm) bool { return a.Name == name && a.Key == key })
}
