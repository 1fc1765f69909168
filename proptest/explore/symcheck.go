package explore

import (
	"context"
	"fmt"
	"slices"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/search"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// CheckSymmetry tries out System.Symmetry on every configuration that sys can
// reach, at most max of them: under each transposition of neighbouring values and
// each shuffle, the renamed configuration must have exactly the renamed steps, and
// every claim must say the same of both. The error says where it does not hold. Shuffles that a search
// tries by itself ([Shuffle].Try) are left out if it finds that they are none.
func CheckSymmetry(ctx context.Context, sys *System, max uint64) error {
	tried := *sys // claims about fair runs keep a search from reducing, and so from trying
	tried.Claims = slices.DeleteFunc(slices.Clone(sys.Claims), func(c Claim) bool {
		return c.Kind == LeadsTo || c.Kind == Eventually
	})
	reduced := searched(ctx, tables.NewEngine(&tried, Options{KeepGoing: true, MaxConfigurations: 8 * max, Workers: 1,
		Reduce: ReduceSymmetry}))
	untrue := reduced.Engine.Untrue()
	if reduced.Close(); untrue != "" {
		less := *sys
		less.Symmetry = sys.Symmetry.Believed()
		sys = &less
	}
	r, err := Run(ctx, sys, Options{KeepGoing: true, MaxConfigurations: max, Workers: 1,
		Tune: &api.Tuning{Quota: 64, Batch: 16, Misses: 64}})
	if err != nil || sys.Symmetry == nil {
		return err
	}
	reached := r.Space.(*space)
	e := reached.e
	k := tables.NewCanon(e, sys.Symmetry)
	for d, dom := range sys.Symmetry.Domains {
		for v := range dom.Size - 1 {
			o := make([][]uint8, len(sys.Symmetry.Domains))
			for x := range dom.Size {
				o[d] = append(o[d], uint8(x))
			}
			o[d][v], o[d][v+1] = o[d][v+1], o[d][v]
			order := k.Order(o)
			k.Widen()
			name := fmt.Sprintf("%d and %d of %s exchanged", v, v+1, dom.Name)
			if err := reached.behavesAlike(name, false, func(ids, out []uint32) {
				copy(out, ids)
				for at := range k.Image {
					out[at] = k.LearnImage(at, ids[at], order) - 1
				}
			}); err != nil {
				return err
			}
		}
	}
	for i := range k.Shuffles[1:] {
		f := &k.Shuffles[1+i]
		if err := reached.behavesAlike(f.Spec.Name, true,
			func(ids, out []uint32) { k.Shuffle(f, ids, out, true) }); err != nil {
			return err
		}
	}
	return nil
}

// behavesAlike compares every configuration with its renaming.
func (x *space) behavesAlike(name string, labels bool, rename func(ids, out []uint32)) error {
	e := x.e
	image := make([]uint32, e.Fields())
	var err error
	s := &search.Search{Engine: e, Levels: x.levels}
	s.ForEach(func(_ int, c []uint64) bool {
		ids := e.Unpack(c)
		rename(ids, image)
		renamed := make([]uint32, e.Fields())
		want := stepsOf(e, ids, labels, func(next []uint32) []uint32 { rename(next, renamed); return renamed })
		got := stepsOf(e, image, labels, func(next []uint32) []uint32 { return next })
		if !slices.Equal(want, got) {
			err = fmt.Errorf("explore: no symmetry: with %s, %s has the steps %q, and not %q", name,
				plain(e.Configuration(image)), got, want)
			return false
		}
		for i := range e.Sys.Claims {
			if e.Sys.Claims[i].Kind != Confluent && e.ClaimBits(i, ids) != e.ClaimBits(i, image) {
				err = fmt.Errorf("explore: no symmetry: with %s, claim %q changes its mind about %s", name,
					e.Sys.Claims[i].Name, plain(e.Configuration(ids)))
				return false
			}
		}
		return true
	})
	return err
}

// stepsOf lists what can happen at ids, sorted: the kind of each step, its flags,
// and the contents of rename of where it leads. Labels are left out if wanted.
func stepsOf(e *tables.Engine, ids []uint32, noLabels bool, rename func([]uint32) []uint32) []string {
	var out []string
	e.Moves(slices.Clone(ids), func(m *tables.Move) bool {
		text := m.Kind.String()
		if m.Rule != nil {
			text += fmt.Sprint(" flags ", m.Rule.Flags&^tables.LastFlag)
			if !noLabels {
				text += fmt.Sprint(" label ", m.Rule.Label)
			}
		}
		if m.Fault != nil {
			text += " fault " + m.KindOfFault().String()
		} else {
			text += fmt.Sprintf(" to %s", plain(e.Configuration(rename(slices.Clone(m.Next)))))
		}
		out = append(out, text)
		return true
	})
	slices.Sort(out)
	return out
}

// plain gives all of a configuration as text; equal ones give equal texts.
func plain(c Configuration) string {
	return fmt.Sprintf("%q %q %v", c.Locals, c.Channels, c.Used)
}
