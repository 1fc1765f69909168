package explore

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parley-go/parley/proptest/race"
)

// deafProc is a machine that takes no message at some values.
type deafProc struct {
	*tableProc
	deaf []bool
}

func (p *deafProc) Deaf(v []byte) bool { return p.deaf[v[0]] }

func (p *deafProc) Receive(v []byte, ch int, m []byte, emit func(Step)) {
	if !p.deaf[v[0]] {
		p.tableProc.Receive(v, ch, m, emit)
	}
}

// privateSystem is a random system of two or three machines, most of whose channels are private,
// with machines that begin deaf and machines that only listen.
func privateSystem(rng *rand.Rand) *System {
	procs, states := 2+rng.IntN(2), 2+rng.IntN(3)
	plain, waits := rng.IntN(2) == 0, rng.IntN(4) > 0 // no channel is special; senders wait
	sys := &System{}
	out := make([][]int, procs)
	for from := range procs {
		for to := range procs {
			if from == to || rng.IntN(3) == 0 {
				continue
			}
			out[from] = append(out[from], len(sys.Channels))
			sys.Channels = append(sys.Channels, Channel{From: from, To: to, Cap: 1 + rng.IntN(2), Block: waits,
				Private: plain || rng.IntN(4) > 0, Lossy: !plain && rng.IntN(8) == 0})
			if c := &sys.Channels[len(sys.Channels)-1]; !plain && rng.IntN(8) == 0 {
				c.Order = Bag
			}
		}
	}
	step := func(p int, silent bool) Step {
		s := Step{Label: uint32(len(sys.Labels)), Next: []byte{byte(rng.IntN(states))}, Spontaneous: rng.IntN(4) == 0}
		sys.Labels = append(sys.Labels, Label{})
		for len(out[p]) > 0 && !silent && rng.IntN(5) < 2 {
			s.Sends = append(s.Sends, Send{Channel: out[p][rng.IntN(len(out[p]))], Msg: []byte{byte(rng.IntN(2))}})
		}
		if k := rng.IntN(8); k < len(sys.Channels) && !sys.Channels[k].Private {
			s.Lens = []LenRange{{Channel: k, Hi: rng.IntN(2)}}
		}
		if rng.IntN(30) == 0 {
			s.Fault = &Fault{Kind: UnspecifiedReception, Text: "planted"}
		}
		return s
	}
	for p := range procs {
		t := &deafProc{&tableProc{recv: map[string][]Step{}}, make([]bool, states)}
		silent := rng.IntN(3) > 0
		for v := range states {
			t.deaf[v] = rng.IntN(4) == 0
			t.final = append(t.final, rng.IntN(2) == 0)
			var local []Step
			for range rng.IntN(3) {
				local = append(local, step(p, rng.IntN(2) == 0))
			}
			if silent && v > 0 {
				local = nil
			}
			t.local = append(t.local, local)
			for ch := range sys.Channels {
				for m := range 2 {
					for range []int{0, 1, 1, 1, 2}[rng.IntN(5)] {
						key := fmt.Sprint([]byte{byte(v)}, ch, []byte{byte(m)})
						t.recv[key] = append(t.recv[key], step(p, silent))
					}
				}
			}
		}
		sys.Procs = append(sys.Procs, t)
	}
	privateClaims(rng, sys, states)
	return sys
}

// privateClaims look at some machines, now and then at a channel; some are settled by one machine.
func privateClaims(rng *rand.Rand, sys *System, states int) {
	for i := range rng.IntN(4) {
		c := Claim{Name: fmt.Sprint("claim ", i), Kind: []ClaimKind{Always, Sometimes, Possible}[rng.IntN(3)],
			At: When(rng.IntN(3))}
		if c.Kind == Possible {
			c.At = Everywhere
		}
		c.Procs = make([]func([]byte) uint32, len(sys.Procs))
		for p := range sys.Procs {
			if at := byte(rng.IntN(states)); rng.IntN(3) == 0 {
				c.Procs[p] = func(v []byte) uint32 { return map[bool]uint32{true: 1}[v[0] >= at] }
			}
		}
		if rng.IntN(8) == 0 && len(sys.Channels) > 0 {
			c.Chans = []func(Word) uint32{func(w Word) uint32 { return uint32(len(w)) }}
		}
		guard, want := rng.IntN(len(sys.Procs)), uint32(rng.IntN(3))
		if c.Procs[guard] != nil && rng.IntN(2) == 0 {
			c.Invisible = func(p int, class uint32) bool { return p == guard && class == 0 }
		}
		c.Eval = func(p, k []uint32) bool {
			if c.Invisible != nil && p[guard] == 0 {
				return c.Kind == Always
			}
			sum := uint32(0)
			for _, x := range append(p, k...) {
				sum += x
			}
			return (sum == want) != (c.Kind == Always)
		}
		sys.Claims = append(sys.Claims, c)
	}
}

// outline has the results that a reduction by order must keep: what is violated, witnessed, and
// taken at all.
func outline(r *Result) string {
	var b strings.Builder
	fmt.Fprint(&b, r.Complete, r.Verdict)
	seen := map[string]bool{}
	for _, v := range r.Violations {
		seen[fmt.Sprint(v.Kind, v.Claim, v.Label)] = true
	}
	for _, w := range r.Witnesses {
		seen[fmt.Sprint("witness ", w.Claim)] = true
	}
	for l, n := range r.LabelCount {
		seen[fmt.Sprint("label ", l)] = n > 0
	}
	for i, c := range r.Claims {
		seen[fmt.Sprint("claim ", i, c.Verdict)] = true
	}
	fmt.Fprint(&b, seen, r.Vacuous)
	return b.String()
}

// TestAmpleAgainstPlain: whatever orders of steps are left out, the same things go wrong, and every
// step that can be taken is.
func TestAmpleAgainstPlain(t *testing.T) {
	rounds := uint64(race.Draws(300, 2500))
	if testing.Short() || race.Enabled { // it decides; concurrency has tests of its own
		rounds = 500
	}
	less := map[Reduction]int{}
	for seed := range rounds {
		sys := privateSystem(rand.New(rand.NewPCG(seed, 9)))
		plain := mustRun(t, sys, Options{Workers: 1, KeepGoing: true, MaxConfigurations: 800})
		if !plain.Complete {
			continue
		}
		want := outline(plain)
		var n *naive
		for _, reduce := range []Reduction{ReduceLocal, ReducePartialOrder, ReduceLocal | ReducePartialOrder} {
			opt := Options{Workers: 1, KeepGoing: true, Reduce: reduce}
			switch seed % 8 {
			case 1:
				opt.Tune = wide(opt.Tune, 2)
			case 2:
				opt.Workers, opt.Tune = 2, hurried(seed)
			case 3:
				opt.Mode = DepthFirst
			}
			r := mustRun(t, sys, opt)
			if got := outline(r); got != want {
				t.Fatalf("seed %d, reduction %d, %v: %d configurations instead of %d\ngot  %s\nwant %s", seed,
					reduce, r.Reductions, r.Configurations, plain.Configurations, got, want)
			}
			if r.Configurations > plain.Configurations {
				t.Fatalf("seed %d: %d configurations instead of %d", seed, r.Configurations, plain.Configurations)
			}
			if r.Configurations == plain.Configurations {
				continue
			}
			less[reduce]++
			if n == nil {
				n = naiveRun(sys)
			}
			for _, v := range r.Violations {
				if v.Label < 0 && len(v.End.Locals) > 0 {
					if _, err := n.follow(n.confs[0], v.Trace); err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
				}
			}
		}
	}
	t.Log(less)
	for reduce, n := range less {
		if n < int(rounds)/200 {
			t.Errorf("reduction %d left out something in %d of %d systems: not much of a test", reduce, n, rounds)
		}
	}
	if len(less) != 3 {
		t.Errorf("reductions that left out something: %v", less)
	}
}

// TestAmpleKnown: an overflow that only a slow receiver suffers, and a claim about empty channels
// that is violated only before a machine's first step.
func TestAmpleKnown(t *testing.T) {
	both := ReduceLocal | ReducePartialOrder
	msg := []Send{{Channel: 0, Msg: []byte{0}}}
	sender := &tableProc{final: make([]bool, 3),
		local: [][]Step{{{Next: []byte{1}, Sends: msg}}, {{Next: []byte{2}, Sends: msg}}, nil}}
	taker := &tableProc{final: []bool{true}, local: [][]Step{nil},
		recv: map[string][]Step{fmt.Sprint([]byte{0}, 0, []byte{0}): {{Next: []byte{0}}}}}
	sys := &System{Procs: []Process{sender, taker}, Labels: make([]Label, 1),
		Channels: []Channel{{To: 1, Cap: 1, Private: true}}}
	r := mustRun(t, sys, Options{Reduce: both, Checks: CheckNothing})
	if len(r.Violations) != 1 || r.Violations[0].Kind != ChannelOverflow ||
		!strings.Contains(fmt.Sprint(r.Refused), "could hide it") {
		t.Errorf("overflow: %+v, refused %v", r.Violations, r.Refused)
	}
	sys.Channels[0].Block = true
	if r := mustRun(t, sys, Options{Reduce: both, Checks: CheckNothing}); r.Verdict != Holds ||
		r.Configurations != 5 || len(r.Refused) > 0 {
		t.Errorf("a sender that waits: %v, %d configurations, refused %v", r.Verdict, r.Configurations, r.Refused)
	}

	starter := &deafProc{&tableProc{final: make([]bool, 2),
		local: [][]Step{{{Next: []byte{1}, Sends: msg}}, nil}}, []bool{true, false}}
	mover := &tableProc{final: make([]bool, 2), local: [][]Step{{{Next: []byte{1}}}, nil}, recv: map[string][]Step{}}
	sys = &System{Procs: []Process{starter, mover}, Labels: make([]Label, 1),
		Channels: []Channel{{To: 1, Cap: 1, Private: true}}}
	sys.Claims = []Claim{{Name: "still", At: Quiescent,
		Procs: []func([]byte) uint32{nil, func(v []byte) uint32 { return uint32(v[0]) }},
		Eval:  func(p, _ []uint32) bool { return p[1] == 0 }}}
	if r := mustRun(t, sys, Options{Reduce: both, Checks: CheckNothing}); r.Verdict != Violated {
		t.Errorf("quiescent claim: %v", r.Verdict)
	}
	sys.Claims[0].At = Everywhere
	if r := mustRun(t, sys, Options{Reduce: both, Checks: CheckNothing}); r.Verdict != Violated ||
		r.Configurations >= 4 {
		t.Errorf("claim everywhere: %v, %d configurations", r.Verdict, r.Configurations)
	}
	sys.Procs[1] = sender // which the channel does not belong to
	if r := mustRun(t, sys, Options{Reduce: both}); r.Complete || !strings.Contains(r.Why, "private") {
		t.Errorf("a broken promise: %v, %q", r.Verdict, r.Why)
	}
}
