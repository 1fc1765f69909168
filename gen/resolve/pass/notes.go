package pass

import (
	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/gen/model"
)

// enumName is a name of the enumeration declared at a place.
type enumName struct {
	of   diag.Span
	name string
}

// Mute stops the notes for editors until the returned function is called. Callers use it for what
// they make up themselves, since it stands in no file.
func (s *Shared) Mute() (unmute func()) {
	before := s.Symbols
	s.Symbols = nil
	return func() { s.Symbols = before }
}

// Refer notes that the name at a place means what is declared at decl.
func (s *Shared) Refer(at, decl diag.Span) { s.Symbols.Use(at, decl) }

// NoteName remembers where a name of an enumeration stands; decl is where the enumeration is declared.
func (s *Shared) NoteName(decl diag.Span, name string, at diag.Span) {
	s.enumAt[enumName{decl, name}] = at
}

// ReferEnum notes that the name at a place means a value of the enumeration t.
func (s *Shared) ReferEnum(at diag.Span, t *model.Type, name string) {
	s.Refer(at, s.enumAt[enumName{t.Span, name}])
}
