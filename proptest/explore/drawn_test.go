package explore

import (
	"fmt"
	"math/rand/v2"
)

// drawnSystem is a small system for claims about runs: few labels, so that fairness says something,
// and channels that wait when full.
func drawnSystem(rng *rand.Rand) *System {
	sys := &System{Labels: make([]Label, 8)}
	procs, states, chans := 1+rng.IntN(2), 2+rng.IntN(2), 1+rng.IntN(2)
	for range chans {
		sys.Channels = append(sys.Channels, Channel{To: rng.IntN(procs), Cap: 1 + rng.IntN(2),
			Order: Order(rng.IntN(2)),
			Block: rng.IntN(8) > 0, Lossy: rng.IntN(3) == 0, Dup: rng.IntN(9) == 0})
	}
	aged := -1
	if rng.IntN(3) == 0 {
		aged = rng.IntN(chans)
		ageing(&sys.Channels[aged])
	}
	for range rng.IntN(3) {
		sys.Constraints = append(sys.Constraints, Constraint{Fair: []Fairness{Weak, Strong}[rng.IntN(2)]})
	}
	step := func(p int) Step {
		s := Step{Label: uint32(4*p + rng.IntN(4)), Next: []byte{byte(rng.IntN(states))},
			Spontaneous: rng.IntN(4) == 0 || len(sys.Constraints) > 0 && rng.IntN(3) == 0}
		for d := range sys.Constraints {
			if s.Spontaneous && rng.IntN(2) == 0 || rng.IntN(9) == 0 {
				s.Constraints = append(s.Constraints, d)
			}
		}
		for rng.IntN(3) == 0 {
			s.Sends = append(s.Sends, Send{Channel: rng.IntN(chans), Msg: []byte{byte(rng.IntN(2))}})
		}
		if rng.IntN(6) == 0 {
			s.Lens = []LenRange{{Channel: rng.IntN(chans), Hi: rng.IntN(2)}}
		}
		if aged >= 0 && rng.IntN(4) == 0 {
			s.Ages = []int{aged}
		}
		if rng.IntN(20) == 0 {
			s.Fault = &Fault{Kind: UnspecifiedReception, Text: "planted"}
		}
		return s
	}
	for p := range procs {
		t := &tableProc{recv: map[string][]Step{}}
		for v := range states {
			t.final = append(t.final, rng.IntN(2) == 0)
			var local []Step
			for range rng.IntN(3) {
				local = append(local, step(p))
			}
			t.local = append(t.local, local)
			for ch := range chans {
				for m := range 2 {
					for range []int{0, 1, 1, 1, 2}[rng.IntN(5)] {
						key := fmt.Sprint([]byte{byte(v)}, ch, []byte{byte(m)})
						t.recv[key] = append(t.recv[key], step(p))
					}
				}
			}
		}
		sys.Procs = append(sys.Procs, t)
	}
	if procs == 2 && rng.IntN(2) == 0 {
		drawnReceiver(rng, sys, states)
	}
	return sys
}

// drawnReceiver makes the last machine of a system one that does nothing by itself, and of two
// messages that the first sends to it in turn, on a lossy channel, only one changes it: whether it
// comes is for fairness to say.
func drawnReceiver(rng *rand.Rand, sys *System, states int) {
	ch := rng.IntN(len(sys.Channels))
	sys.Channels[ch].To, sys.Channels[ch].Lossy = 1, true
	from, t := sys.Procs[0].(*tableProc), sys.Procs[1].(*tableProc)
	for v := range states {
		turn := Step{Label: uint32(v), Next: []byte{byte((v + 1) % states)},
			Sends: []Send{{Channel: ch, Msg: []byte{byte(v % 2)}}}}
		from.local[v], t.local[v] = []Step{turn}, nil
		for m, next := range []int{v, (v + 1) % states} {
			key := fmt.Sprint([]byte{byte(v)}, ch, []byte{byte(m)})
			t.recv[key] = []Step{{Label: 4, Next: []byte{byte(next)}}}
		}
	}
}

// drawnClaims are claims about runs, of every kind and fairness.
func drawnClaims(rng *rand.Rand, sys *System) {
	for _, fair := range []Fairness{Unfair, Weak, Strong, Weak, Strong, StrongMessages, StrongMessages} {
		c := Claim{Name: fmt.Sprint("claim ", len(sys.Claims)),
			Kind: []ClaimKind{LeadsTo, Eventually}[rng.IntN(2)], Fair: fair, Calm: rng.IntN(2) == 0}
		for range sys.Procs {
			at := byte(rng.IntN(3))
			c.Procs = append(c.Procs, func(v []byte) uint32 { return map[bool]uint32{true: 1}[v[0] == at] })
		}
		c.Chans = []func(Word) uint32{func(w Word) uint32 { return uint32(len(w)) }}
		kind, other := rng.IntN(3), rng.IntN(3)
		test := func(kind int, p, k []uint32) bool {
			switch kind {
			case 0:
				return p[0] == 1
			case 1:
				return p[len(p)-1] == 1 && k[0] == 0
			}
			return k[0] > 1
		}
		c.Eval = func(p, k []uint32) bool { return test(kind, p, k) }
		if c.Kind == LeadsTo && other != kind {
			c.Relevant = func(p, k []uint32) bool { return test(other, p, k) }
		}
		sys.Claims = append(sys.Claims, c)
	}
}
