package drive

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// plan is a run that has not been carried out yet: its setting, and which of the possible things
// happens each time.
type plan struct {
	Seed  uint64
	Steps []step
}

type step struct{ Op, Sub uint8 }

var plans = rapid.Custom(func(t *rapid.T) plan {
	return plan{Seed: rapid.Uint64().Draw(t, "setting"), Steps: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{rapid.Uint8().Draw(t, "op"), rapid.Uint8().Draw(t, "sub")}
	}), 20, 80).Draw(t, "steps")}
})

// outcome is the result of a run.
type outcome struct {
	steps  int
	left   bool // the drivers could not follow any further
	over   bool // a fault ended it
	faults map[string]int
}

// total sums up the results of several runs.
type total struct {
	runs, steps, over, left int
	faults                  map[string]int
}

func (a *total) add(o outcome) {
	a.runs, a.steps = a.runs+1, a.steps+o.steps
	if o.over {
		a.over++
	}
	if o.left {
		a.left++
	}
	if a.faults == nil {
		a.faults = map[string]int{}
	}
	for name, n := range o.faults {
		a.faults[name] += n
	}
}

// String lists the numbers.
func (a *total) String() string {
	return fmt.Sprintf("%d runs, %d steps, %v; %d ended with a fault, %d where drivers cannot follow",
		a.runs, a.steps, a.faults, a.over, a.left)
}

// carryOut runs drivers in a bubble of virtual time. The error says where they and the world differ.
func carryOut(t *testing.T, s *setting, steps []step) (o outcome, err error) {
	synctest.Test(t, func(*testing.T) {
		r := newPlay(s)
		defer r.stop()
		for _, x := range steps {
			ops := r.ops(int(x.Sub))
			if len(ops) == 0 {
				break
			}
			seen := len(r.log)
			if err = r.meanwhile(); err != nil || r.over {
				break
			}
			if len(r.log) > seen {
				continue
			}
			if err = r.perform(ops[int(x.Op)%len(ops)]); err != nil || r.over {
				break
			}
			o.steps++
		}
		o.over, o.faults = r.over, r.faults
		if o.left = errors.Is(err, errLeft); o.left {
			err = nil
		}
		if err != nil {
			err = fmt.Errorf("%w, after\n%s", err, r)
		}
	})
	return o, err
}

// play carries out a plan with the drivers of a check, with faults that the seed draws beside those of
// the check's channel.
func (s *Check) play(t *testing.T, p plan) (outcome, error) {
	set, err := s.setting()
	if err != nil {
		return outcome{}, fmt.Errorf("%v: %w", s, err)
	}
	set.fault(rand.New(rand.NewPCG(p.Seed, 2)))
	o, err := carryOut(t, set, p.Steps)
	if err != nil {
		err = fmt.Errorf("check %s, instances %s: %w\nwith %+v, links %+v, stream %v, record %v, keep %v", s.c.Name,
			s.names(), err, set.World.Rules.Faults, set.World.Rules.Links, set.stream, set.record, set.keep)
	}
	return o, err
}

// names numbers the instances, as the text of a run does.
func (s *Check) names() string {
	var list []string
	for i, inst := range s.c.Instances {
		list = append(list, fmt.Sprintf("%d %s", i, inst.Name))
	}
	return strings.Join(list, ", ")
}

// Run draws a run of real drivers with the generated machines of the check, and of a network with
// faults, and carries it out in virtual time; no other test may run in t meanwhile. The error says what
// happened, and where the drivers and the world differ.
func (s *Check) Run(t *testing.T, rt *rapid.T) error {
	_, err := s.play(t, plans.Draw(rt, "plan"))
	return err
}
