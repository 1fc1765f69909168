// Package reduce finds out what a check does not need to tell apart: variables that nobody will
// read (dead.go), and values, indices and instances that are interchangeable (symmetry.go, whose
// parts are scalarset.go, owners.go and swaps.go). It looks at the model only; what it finds is
// applied to values of machines and fields of messages, wherever they are kept.
package reduce

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/explore"
)

// maxShuffles is how many permutations of indices and instances are used at most;
// each is tried on every configuration.
const maxShuffles = 120

// maxDomains is how many sets of values can be exchanged on their own.
const maxDomains = 255

// Symmetry describes which configurations of a check are alike: the renamings of values, indices
// and instances that lead from one to another.
type Symmetry struct {
	// Names say in words what is interchangeable.
	Names []string
	// Domains are the sets of values that can be renamed on their own, Shuffles the permutations of
	// indices and instances.
	Domains  []explore.Domain
	Shuffles []Shuffle
	values   renaming
}

// FindSymmetry derives from the specification what of a check is interchangeable; nil if nothing
// is. refused says what is not, and why. strs has the texts that occur in the specification.
//
// Three things are looked for: scalarsets (Ip and Dill), types whose values are only copied and
// compared with each other, if possible for each index of a part or an array on their own; indices
// that are not computed with, or only in a way that some permutations keep; and instances of one
// role with equal arguments, if every claim says the same of all of them.
func FindSymmetry(p *model.Protocol, check *model.Check, strs *interp.Strings) (found *Symmetry, refused []string) {
	u := usesOf(p, check, strs)
	y := &Symmetry{}
	for _, tag := range u.tags {
		x := u.by[tag]
		why := firstOf(x.fixed, x.index, x.computed)
		if why != "" {
			if x.index == "" {
				refused = append(refused, fmt.Sprintf("the values of %s are not interchangeable: %s", x.t.Name, why))
			}
			continue
		}
		if len(y.Domains) == maxDomains {
			break
		}
		r := renamed{tag: tag, first: len(y.Domains)}
		name, count := x.t.Name, int64(1)
		if index := u.ownedBy(tag); index != nil && len(y.Domains)+int(index.Count()) <= maxDomains {
			r.index, r.least, count = tagOf(index), index.Lowest(), index.Count()
			name += " (for each " + index.Name + " on its own)"
		}
		for range count {
			y.Domains = append(y.Domains, explore.Domain{Name: name, Size: int(x.t.Count())})
		}
		y.values.types = append(y.values.types, r)
		y.Names = append(y.Names, "the values of "+name+" are interchangeable")
	}
	shuffles, more, why := u.shuffles()
	y.Names, y.Shuffles, refused = append(y.Names, more...), shuffles, append(refused, why...)
	if len(y.Domains) == 0 && len(shuffles) == 0 {
		return nil, refused
	}
	return y, refused
}

// UsedIn calls use with every value of a domain that occurs in the value of a machine.
func (y *Symmetry) UsedIn(m *model.Machine, v []int64, dead Dead, use func(domain, value int)) {
	y.values.machine(m, v, dead, nil, using(use))
}

// UsedInMessage does what [Symmetry.UsedIn] does, for the fields of a message.
func (y *Symmetry) UsedInMessage(m *model.Message, v []int64, use func(domain, value int)) {
	y.values.message(m.Fields, v, using(use))
}

// Rename replaces the values of each domain in the value of a machine by their new names, in place.
func (y *Symmetry) Rename(m *model.Machine, v []int64, dead Dead, to [][]uint8) {
	y.values.machine(m, v, dead, nil, replacing(to))
}

// RenameMessage does what [Symmetry.Rename] does, for the fields of a message.
func (y *Symmetry) RenameMessage(m *model.Message, v []int64, to [][]uint8) {
	y.values.message(m.Fields, v, replacing(to))
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
		if x := u.by[index]; x.index != "" && index != tag && u.owned(tag, index) == "" {
			return x.t
		}
	}
	return nil
}

// shuffles gives all permutations of indices, of instances, and of both together.
func (u *uses) shuffles() (out []Shuffle, names, refused []string) {
	all := []Shuffle{{}}
	join := func(more []Shuffle, name string) {
		if len(more) == 0 {
			return
		}
		if len(all)*(1+len(more)) > maxShuffles {
			refused = append(refused, name+" is left out: there would be more than "+fmt.Sprint(maxShuffles)+
				" permutations")
			return
		}
		names = append(names, name)
		for _, a := range slices.Clone(all) {
			for _, b := range more {
				all = append(all, Shuffle{a.Name + b.Name, firstNonNil(b.Procs, a.Procs), a.Tried || b.Tried,
					append(slices.Clone(a.indices), b.indices...)})
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
		f.Name = strings.TrimSpace(f.Name)
		out = append(out, f)
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

// Shuffle is a permutation of indices and of instances.
type Shuffle struct {
	Name string
	// Procs says where each instance goes; nil if all stay.
	Procs []int
	// Tried: machines know the numbers of instances, so that the search has to see for each step that
	// it is the same with the instances exchanged.
	Tried   bool
	indices []permuted
}

// Indices reports whether indices are permuted.
func (f *Shuffle) Indices() bool { return len(f.indices) > 0 }

// Machine returns the value of a machine with its indices permuted.
func (f *Shuffle) Machine(m *model.Machine, v []int64) []int64 {
	for i := range f.indices {
		v = f.indices[i].machine(m, v)
	}
	return v
}

// Message returns the fields of a message with their indices permuted.
func (f *Shuffle) Message(m *model.Message, v []int64) []int64 {
	for i := range f.indices {
		v = f.indices[i].message(m.Fields, v)
	}
	return v
}

// permutations lists those of an index type, without the identity, that keep
// what is computed with it.
func (u *uses) permutations(x *use) []Shuffle {
	n := int(x.t.Count())
	if n > maxIndices {
		return nil
	}
	var out []Shuffle
	for _, to := range permute(n) {
		keeps := true
		for _, table := range x.kept {
			for i, k := range to {
				keeps = keeps && table[i] == table[k]
			}
		}
		if keeps && !slices.IsSorted(to) {
			out = append(out, Shuffle{indices: []permuted{{x.t, to}}, Name: fmt.Sprintf("%s %v ", x.t.Name, to)})
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
