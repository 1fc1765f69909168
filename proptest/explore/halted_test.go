package explore

import (
	"context"
	"testing"
)

// TestHaltedPossible: a pass over the reached set that is halted finds nothing; what it has not looked at yet is no violation.
func TestHaltedPossible(t *testing.T) {
	sys := &System{Procs: []Process{ring(5)}, Labels: []Label{{Name: "on"}},
		Claims: []Claim{{Name: "back", Kind: Possible, Procs: []func([]byte) uint32{func(v []byte) uint32 { return uint32(v[0]) }},
			Eval: func(procs, _ []uint32) bool { return procs[0] == 0 }}}}
	s := newSearch(context.Background(), newEngine(sys, Options{Workers: 1}))
	defer s.close()
	s.breadthFirst()
	s.halt("the time is over")
	s.possible(0)
	if len(s.finds) != 0 {
		t.Errorf("%d findings", len(s.finds))
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
