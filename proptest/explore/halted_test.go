package explore

import (
	"context"
	"testing"

	"github.com/parley-go/parley/proptest/explore/internal/after"
	"github.com/parley-go/parley/proptest/explore/internal/search"
	"github.com/parley-go/parley/proptest/explore/internal/tables"
)

// TestHaltedPossible: a pass over the reached set that is halted finds nothing; what it has not
// looked at yet is no violation.
func TestHaltedPossible(t *testing.T) {
	sys := &System{Procs: []Process{ring(5)}, Labels: []Label{{Name: "on"}},
		Claims: []Claim{{Name: "back", Kind: Possible,
			Procs: []func([]byte) uint32{func(v []byte) uint32 { return uint32(v[0]) }},
			Eval:  func(procs, _ []uint32) bool { return procs[0] == 0 }}}}
	s := search.NewSearch(context.Background(), tables.NewEngine(sys, Options{Workers: 1}))
	defer s.Close()
	s.BreadthFirst()
	s.Halt("the time is over")
	after.DecidePossible(s, 0)
	if len(s.Finds) != 0 {
		t.Errorf("%d findings", len(s.Finds))
	}
}

// ring counts on and on, from 0 up to n-1 and again.
type ring byte

func (r ring) Init() []byte { return []byte{0} }
func (r ring) Local(v []byte, emit func(Step)) {
	emit(Step{Next: []byte{(v[0] + 1) % byte(r)}})
}
func (r ring) Receive([]byte, int, []byte, func(Step)) {}
func (r ring) Final([]byte) bool                       { return false }
