package check

import (
	"slices"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
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
	if why := s.Irreducible(); why != "" {
		return []string{"nothing is interchangeable in " + why}
	}
	found, refused := reduce.FindSymmetry(s.Protocol, s.Check, s.Texts)
	if found == nil {
		return refused
	}
	sym := &explore.Symmetry{
		Names: found.Names, Domains: found.Domains,
		Local: func(proc int, b []byte, use func(int, int)) {
			if proc >= len(s.Procs) {
				return
			}
			p := s.Procs[proc]
			l := p.Unpack(b)
			found.UsedIn(p.Role, l.Value, s.Dead, use)
			for _, h := range l.Held {
				m, slots := codec.UnpackMessage(s.Protocol, []byte(h.Message))
				found.UsedInMessage(m, slots, use)
			}
		},
		Msg: func(_ int, b []byte, use func(int, int)) {
			if _, is := codec.NewsOf(s.Protocol, b); is {
				return
			}
			m, slots := codec.UnpackMessage(s.Protocol, b)
			found.UsedInMessage(m, slots, use)
		},
		RenameLocal: func(proc int, b []byte, to [][]uint8) []byte {
			if proc >= len(s.Procs) {
				return slices.Clone(b)
			}
			p := s.Procs[proc]
			l := p.Unpack(b)
			found.Rename(p.Role, l.Value, s.Dead, to)
			s.inHeld(&l, func(m *model.Message, slots []int64) []int64 {
				found.RenameMessage(m, slots, to)
				return slots
			})
			return p.Pack(l, l.Value)
		},
		RenameMsg: func(_ int, b []byte, to [][]uint8) []byte {
			return s.inMessage(b, func(m *model.Message, slots []int64) []int64 {
				found.RenameMessage(m, slots, to)
				return slots
			})
		},
	}
	for i := range found.Shuffles {
		sym.Shuffles = append(sym.Shuffles, s.shuffle(&found.Shuffles[i]))
	}
	s.System.Symmetry = sym
	return refused
}

// inMessage changes the fields of a message in a channel; its age stays. News stay as they are.
func (s *System) inMessage(b []byte, change func(*model.Message, []int64) []int64) []byte {
	if _, is := codec.NewsOf(s.Protocol, b); is {
		return slices.Clone(b)
	}
	bare, _ := codec.Aged(s.Protocol, b)
	m, slots := codec.UnpackMessage(s.Protocol, b)
	return append(codec.PackMessage(m, change(m, slots)), b[len(bare):]...)
}

// inHeld changes the fields of the messages that an instance holds.
func (s *System) inHeld(l *codec.Local, change func(*model.Message, []int64) []int64) {
	l.Held = slices.Clone(l.Held)
	for i := range l.Held {
		l.Held[i].Message = string(s.inMessage([]byte(l.Held[i].Message), change))
	}
}

// shuffle is a permutation as the explorer has it: of local values and messages in bytes.
func (s *System) shuffle(f *reduce.Shuffle) explore.Shuffle {
	out := explore.Shuffle{Name: f.Name, Try: f.Tried}
	moved := f.Procs != nil
	if moved {
		out.Procs, out.Chans = s.Replaced(f.Procs)
	}
	out.Local = func(proc int, b []byte) []byte {
		if proc >= len(s.Procs) {
			if !moved {
				return slices.Clone(b)
			}
			return s.Reparted(proc, b, f.Procs)
		}
		p := s.Procs[proc]
		l := p.Unpack(b)
		if moved {
			l = p.Relinked(l, f.Procs)
		}
		if f.Indices() {
			s.inHeld(&l, f.Message)
		}
		return p.Pack(l, f.Machine(p.Role, l.Value))
	}
	out.Msg = func(_ int, b []byte) []byte {
		if moved {
			b = s.Retold(b, f.Procs)
		}
		return s.inMessage(b, f.Message)
	}
	return out
}
