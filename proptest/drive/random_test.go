package drive

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing/fstest"

	"github.com/parley-go/parley/gen/compile"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/draw"
	"github.com/parley-go/parley/runtime/fsm"
	"github.com/parley-go/parley/runtime/world"
)

// compiled compiles the text of a specification.
func compiled(text, check string) (*model.Protocol, error) {
	files := fstest.MapFS{"spec.yaml": &fstest.MapFile{Data: []byte(text)}}
	p, list := compile.Load("spec.yaml", compile.Options{Check: check, FS: files})
	if p == nil {
		return nil, fmt.Errorf("%v\n%s", list, text)
	}
	return p, nil
}

// randomSetting draws a specification, and the faults of the network between its machines.
func randomSetting(r *rand.Rand, hostile bool, beside string, plant world.Plant) (*setting, string, error) {
	text := draw.Protocol(r, hostile, beside)
	p, err := compiled(text, "pair")
	if err != nil {
		return nil, text, err
	}
	s, err := settle(p, p.Checks[0], plant)
	if err != nil {
		return nil, text, err
	}
	if s.forged, err = forgeriesOf(p, p.Checks[0]); err != nil {
		return nil, text, err
	}
	rules := s.World.Rules
	for i := range rules.Deferred {
		rules.Deferred[i] = 1 + r.IntN(8)
	}
	for k := range rules.Links {
		rules.Links[k].Late = r.IntN(5) == 0 && rules.Links[k].Untold == [2]bool{}
	}
	rules.Faults.Overtake = -r.IntN(2)
	for k := range rules.Channels {
		rules.Channels[k].Overtakes = rules.Channels[k].Order == world.Fifo && rules.Channels[k].Lossy && beside == ""
	}
	if r.IntN(2) == 0 {
		rules.Faults.Break = 1 + r.IntN(2)
		rules.Faults.Return = r.IntN(3)
	}
	if r.IntN(4) == 0 {
		rules.Faults.Partition, rules.Faults.Return = 1+r.IntN(2), -1
		if rules.Instances > 2 && r.IntN(2) == 0 {
			rules.Faults.Bridge = 1 << r.IntN(rules.Instances)
		}
	}
	if r.IntN(3) == 0 {
		rules.Faults.Torn = r.IntN(3) > 0
		rules.Faults.Crash = slices.Repeat([]int{1}, rules.Instances)
		rules.Faults.Restart = slices.Repeat([]int{1}, rules.Instances)
	}
	if r.IntN(3) == 0 {
		s.coming(r)
	}
	if r.IntN(3) == 0 {
		rules.Time = &world.Time{Beat: 1, Delay: 1}
	}
	if f := &rules.Faults; sound(rules) > 1 { // as checks refuse it
		f.Return, f.Partition, f.Restart = 0, 0, nil
	}
	s.stream = rules.Channels[0].Order == world.Fifo && r.IntN(2) == 0
	if !s.stream && r.IntN(3) == 0 {
		for k := range rules.Links {
			rules.Links[k].Datagrams = true
		}
	}
	s.record = r.IntN(2) == 0
	if hostile && linkless(p.Checks[0]) && r.IntN(2) == 0 {
		s.keeping()
	}
	s.make = func(i int, machine string) (fsm.Runner, error) {
		return newActor(p, s.Parties[i].Machine, machine, rules.Deferred[i], 0)
	}
	return s, text, nil
}
