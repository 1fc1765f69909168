package check

import (
	"github.com/parley-go/parley/gen/diag"
	"slices"

	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/check/reduce"
	"github.com/parley-go/parley/proptest/explore"
)

// reduce prepares the reductions that are asked for.
func (s *System) reduce(asked explore.Reduction) (refused []string) {
	s.Dead = nil
	if asked&explore.ReduceDead != 0 {
		why := ""
		if s.Dead, why = reduce.FindDead(s.Check); why != "" {
			refused = append(refused, why)
		}
		s.Spared = map[string]bool{}
	}
	if asked&explore.ReduceSymmetry != 0 {
		refused = append(refused, s.FindSymmetry()...)
	}
	return refused
}

// deadNames says in words which variables are dead and what it was good for to know.
func (s *System) deadNames() []string {
	return append([]string{"dead variables: " + diag.Counted(len(s.Spared), "local value") + " became others"},
		s.Dead.Names(s.Check)...)
}

// FindSymmetry derives from the specification which configurations of the check are
// alike, for explore.ReduceSymmetry, and puts that into System.Symmetry (nil if
// none are). What is interchangeable is told in its Names; refused says what is
// not, and why.
func (s *System) FindSymmetry() (refused []string) {
	s.System.Symmetry = nil
	if why := s.MoreThanMessages(); why != "" {
		return []string{"nothing is interchangeable in " + why}
	}
	found, refused := reduce.FindSymmetry(s.Protocol, s.Check, s.Texts)
	if found == nil {
		return refused
	}
	sym := &explore.Symmetry{
		Names: found.Names, Domains: found.Domains,
		Local: func(proc int, b []byte, use func(int, int)) {
			p := s.Procs[proc]
			found.UsedIn(p.Role, p.Unpack(b).Value, s.Dead, use)
		},
		Msg: func(_ int, b []byte, use func(int, int)) {
			if _, is := codec.NewsOf(s.Protocol, b); is {
				return
			}
			m, slots := codec.UnpackMessage(s.Protocol, b)
			found.UsedInMessage(m, slots, use)
		},
		RenameLocal: func(proc int, b []byte, to [][]uint8) []byte {
			p := s.Procs[proc]
			l := p.Unpack(b)
			found.Rename(p.Role, l.Value, s.Dead, to)
			return p.Pack(l, l.Value)
		},
		RenameMsg: func(_ int, b []byte, to [][]uint8) []byte {
			if _, is := codec.NewsOf(s.Protocol, b); is {
				return slices.Clone(b)
			}
			m, slots := codec.UnpackMessage(s.Protocol, b)
			found.RenameMessage(m, slots, to)
			return codec.PackMessage(m, slots)
		},
	}
	for i := range found.Shuffles {
		sym.Shuffles = append(sym.Shuffles, s.shuffle(&found.Shuffles[i]))
	}
	s.System.Symmetry = sym
	return refused
}

// shuffle is a permutation as the explorer has it: of local values and messages in bytes.
func (s *System) shuffle(f *reduce.Shuffle) explore.Shuffle {
	out := explore.Shuffle{Name: f.Name}
	if f.Procs != nil {
		out.Procs = f.Procs
		for k := range s.System.Channels {
			c := &s.System.Channels[k]
			out.Chans = append(out.Chans, s.Channel(f.Procs[c.From], f.Procs[c.To]))
		}
	}
	moved := f.Procs != nil && len(s.Rules.Links) > 0 // instances know their links by the number of the other
	if moved || f.Indices() {
		out.Local = func(proc int, b []byte) []byte {
			p := s.Procs[proc]
			l := p.Unpack(b)
			if moved {
				l = p.Relinked(l, f.Procs)
			}
			return p.Pack(l, f.Machine(p.Role, l.Value))
		}
	}
	if !f.Indices() {
		return out
	}
	out.Msg = func(_ int, b []byte) []byte {
		if _, is := codec.NewsOf(s.Protocol, b); is {
			return slices.Clone(b)
		}
		m, slots := codec.UnpackMessage(s.Protocol, b)
		return codec.PackMessage(m, f.Message(m, slots))
	}
	return out
}
