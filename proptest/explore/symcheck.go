package explore

import (
	"context"
	"fmt"
	"slices"
)

// CheckSymmetry tries out System.Symmetry on every configuration that sys can
// reach, at most max of them: under each transposition of neighbouring values and
// each shuffle, the renamed configuration must have exactly the renamed steps, and
// every claim must say the same of both. The error says where it does not hold.
func CheckSymmetry(ctx context.Context, sys *System, max uint64) error {
	r, err := Run(ctx, sys, Options{KeepGoing: true, MaxConfigurations: max, Workers: 1, tune: tuning{quota: 64, batch: 16, misses: 64}})
	if err != nil || sys.Symmetry == nil {
		return err
	}
	e := r.Space.e
	k := newCanon(e, sys.Symmetry)
	for d, dom := range sys.Symmetry.Domains {
		for v := range dom.Size - 1 {
			o := make([][]uint8, len(sys.Symmetry.Domains))
			for x := range dom.Size {
				o[d] = append(o[d], uint8(x))
			}
			o[d][v], o[d][v+1] = o[d][v+1], o[d][v]
			order := k.order(o)
			k.widen()
			name := fmt.Sprintf("%d and %d of %s exchanged", v, v+1, dom.Name)
			if err := e.behavesAlike(name, false, func(ids, out []uint32) {
				copy(out, ids)
				for at := range k.image {
					out[at] = k.learnImage(at, ids[at], order) - 1
				}
			}); err != nil {
				return err
			}
		}
	}
	for i := range k.shuffles[1:] {
		f := &k.shuffles[1+i]
		if err := e.behavesAlike(f.spec.Name, true, func(ids, out []uint32) { k.shuffle(f, ids, out, true) }); err != nil {
			return err
		}
	}
	return nil
}

// behavesAlike compares every configuration with its renaming.
func (e *engine) behavesAlike(name string, labels bool, rename func(ids, out []uint32)) error {
	image := make([]uint32, e.fields())
	var err error
	s := &search{e: e}
	s.forEach(func(_ int, c []uint64) bool {
		ids := e.unpack(c)
		rename(ids, image)
		renamed := make([]uint32, e.fields())
		want := e.outline(ids, labels, func(next []uint32) []uint32 { rename(next, renamed); return renamed })
		got := e.outline(image, labels, func(next []uint32) []uint32 { return next })
		if !slices.Equal(want, got) {
			err = fmt.Errorf("explore: no symmetry: with %s, %s has the steps %q, and not %q", name, e.configuration(image).plain(), got, want)
			return false
		}
		for i := range e.sys.Claims {
			if e.sys.Claims[i].Kind != Confluent && e.claimBits(i, ids) != e.claimBits(i, image) {
				err = fmt.Errorf("explore: no symmetry: with %s, claim %q changes its mind about %s", name, e.sys.Claims[i].Name, e.configuration(ids).plain())
				return false
			}
		}
		return true
	})
	return err
}

// outline lists what can happen at ids, sorted: the kind of each step, its flags,
// and the contents of rename of where it leads. Labels are left out if wanted.
func (e *engine) outline(ids []uint32, noLabels bool, rename func([]uint32) []uint32) []string {
	var out []string
	e.moves(slices.Clone(ids), func(m *move) bool {
		text := m.kind.String()
		if m.rule != nil {
			text += fmt.Sprint(" flags ", m.rule.flags&^lastFlag)
			if !noLabels {
				text += fmt.Sprint(" label ", m.rule.label)
			}
		}
		if m.fault != nil {
			text += " fault " + m.kindOfFault().String()
		} else {
			text += fmt.Sprintf(" to %s", e.configuration(rename(slices.Clone(m.next))).plain())
		}
		out = append(out, text)
		return true
	})
	slices.Sort(out)
	return out
}

// plain gives all of a configuration as text; equal ones give equal texts.
func (c Configuration) plain() string {
	return fmt.Sprintf("%q %q %v", c.Locals, c.Channels, c.Used)
}
