package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
)

// maxShuffles is how many permutations of indices and instances are used at most;
// each is tried on every configuration.
const maxShuffles = 120

// maxDomains is how many sets of values can be exchanged on their own.
const maxDomains = 255

// FindSymmetry derives from the specification which configurations of the check are
// alike, for explore.ReduceSymmetry, and puts that into System.Symmetry (nil if
// none are). What is interchangeable is told in its Names; refused says what is
// not, and why.
//
// Three things are looked for: types whose values are only copied and compared
// with each other, if possible for each index of a part or an array on their own;
// indices that are not computed with, or only in a way that some permutations
// keep; and instances of one role with equal arguments, if every claim says the same of
// all of them.
func (s *System) FindSymmetry() (refused []string) {
	if why := s.moreThanMessages(); why != "" {
		s.System.Symmetry = nil
		return []string{"nothing is interchangeable in " + why}
	}
	u := usesOf(s)
	y := &renaming{s: s}
	var names []string
	var domains []explore.Domain
	for _, tag := range u.tags {
		x := u.by[tag]
		why := firstOf(x.fixed, x.index, x.computed)
		if why != "" {
			if x.index == "" {
				refused = append(refused, fmt.Sprintf("the values of %s are not interchangeable: %s", x.t.Name, why))
			}
			continue
		}
		if len(domains) == maxDomains {
			break
		}
		r := renamed{tag: tag, first: len(domains)}
		name, count := x.t.Name, int64(1)
		if index := u.ownedBy(tag); index != nil && len(domains)+int(index.Count()) <= maxDomains {
			r.index, r.least, count = tagOf(index), lowest(index), index.Count()
			name += " (for each " + index.Name + " on its own)"
		}
		for range count {
			domains = append(domains, explore.Domain{Name: name, Size: int(x.t.Count())})
		}
		y.types = append(y.types, r)
		names = append(names, "the values of "+name+" are interchangeable")
	}
	shuffles, more, why := u.shuffles()
	refused = append(refused, why...)
	if len(domains) == 0 && len(shuffles) == 0 {
		s.System.Symmetry = nil
		return refused
	}
	sym := y.symmetry()
	sym.Names, sym.Domains, sym.Shuffles = append(names, more...), domains, shuffles
	s.System.Symmetry = &sym
	return refused
}

// reduce prepares the reductions that are asked for.
func (s *System) reduce(asked explore.Reduction) (refused []string) {
	s.dead = nil
	if asked&explore.ReduceDead != 0 {
		why := ""
		if s.dead, why = s.findDead(); why != "" {
			refused = append(refused, why)
		}
		s.spared = map[string]bool{}
	}
	if asked&explore.ReduceSymmetry != 0 {
		refused = append(refused, s.FindSymmetry()...)
	}
	return refused
}

func firstOf(list ...string) string {
	for _, x := range list {
		if x != "" {
			return x
		}
	}
	return ""
}

// ownedBy finds an index type such that values of tag never go from one index to
// another.
func (u *uses) ownedBy(tag string) *model.Type {
	for _, index := range u.tags {
		if x := u.by[index]; x.index != "" && index != tag && ownersOf(u.s, tag, index) == "" {
			return x.t
		}
	}
	return nil
}

// shuffles gives all permutations of indices, of instances, and of both together.
func (u *uses) shuffles() (out []explore.Shuffle, names, refused []string) {
	all := []shuffle{{}}
	join := func(more []shuffle, name string) {
		if len(more) == 0 {
			return
		}
		if len(all)*(1+len(more)) > maxShuffles {
			refused = append(refused, name+" is left out: there would be more than "+fmt.Sprint(maxShuffles)+" permutations")
			return
		}
		names = append(names, name)
		for _, a := range slices.Clone(all) {
			for _, b := range more {
				all = append(all, shuffle{append(slices.Clone(a.indices), b.indices...), firstNonNil(b.procs, a.procs), a.name + b.name})
			}
		}
	}
	for _, tag := range u.tags {
		x := u.by[tag]
		if x.index == "" {
			continue
		}
		if x.fixed != "" {
			refused = append(refused, fmt.Sprintf("the indices %s are not interchangeable: %s", x.t.Name, x.fixed))
			continue
		}
		more := u.permutations(x)
		join(more, "the indices "+x.t.Name+" are interchangeable"+x.limits())
	}
	more, name, why := u.swaps()
	refused = append(refused, why...)
	join(more, name)
	for _, f := range all[1:] {
		out = append(out, f.explore(u.s))
	}
	return out, names, refused
}

// limits says that not every permutation will do.
func (x *use) limits() string {
	if len(x.kept) == 0 {
		return ""
	}
	return ", as far as " + strings.Replace(x.computed, "it is", "what is", 1) + " stays the same"
}

func firstNonNil(a, b []int) []int {
	if a != nil {
		return a
	}
	return b
}

// shuffle is a permutation of indices and of instances.
type shuffle struct {
	indices []permuted
	procs   []int // nil: all stay
	name    string
}

// permutations lists those of an index type, without the identity, that keep
// what is computed with it.
func (u *uses) permutations(x *use) []shuffle {
	n := int(x.t.Count())
	if n > maxIndices {
		return nil
	}
	var out []shuffle
	for _, to := range permute(n) {
		keeps := true
		for _, table := range x.kept {
			for i, k := range to {
				keeps = keeps && table[i] == table[k]
			}
		}
		if keeps && !slices.IsSorted(to) {
			out = append(out, shuffle{indices: []permuted{{x.t, to}}, name: fmt.Sprintf("%s %v ", x.t.Name, to)})
		}
	}
	return out
}

// permute lists all permutations of 0 to n-1.
func permute(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for _, p := range permute(n - 1) {
		for at := range n {
			out = append(out, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return out
}

// explore turns f into what the explorer wants.
func (f *shuffle) explore(s *System) explore.Shuffle {
	out := explore.Shuffle{Name: strings.TrimSpace(f.name)}
	if f.procs != nil {
		out.Procs = f.procs
		for k := range s.System.Channels {
			c := &s.System.Channels[k]
			out.Chans = append(out.Chans, s.channel(f.procs[c.From], f.procs[c.To]))
		}
	}
	if len(f.indices) == 0 {
		return out
	}
	out.Local = func(proc int, b []byte) []byte {
		p := s.procs[proc]
		l := p.unpack(b)
		v := []int64(l.value)
		for i := range f.indices {
			v = f.indices[i].machine(p.role, v)
		}
		return p.pack(l, v)
	}
	out.Msg = func(_ int, b []byte) []byte {
		m, slots := unpackMessage(s.Protocol, b)
		for i := range f.indices {
			slots = f.indices[i].message(m.Fields, slots)
		}
		return packMessage(m, slots)
	}
	return out
}
