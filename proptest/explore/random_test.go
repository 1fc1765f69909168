package explore

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"
)

// The reference: an explorer with nothing but maps, written from the
// documentation of System and used on small random systems.

// Small random systems that use every feature of the engine.

// tableProc is a machine given by tables over one byte of state.
type tableProc struct {
	local [][]Step
	recv  map[string][]Step
	final []bool
}

func (p *tableProc) Init() []byte { return []byte{0} }

func (p *tableProc) Final(v []byte) bool { return p.final[v[0]] }

func (p *tableProc) Local(v []byte, emit func(Step)) { each(p.local[v[0]], emit) }

func (p *tableProc) Receive(v []byte, ch int, m []byte, emit func(Step)) {
	each(p.recv[fmt.Sprint(v, ch, m[:1])], emit) // its age does not matter
}

func each(s []Step, emit func(Step)) {
	for _, x := range s {
		emit(x)
	}
}

// randomSystem draws a small system that uses every feature of the engine.
func randomSystem(t *rapid.T) *System {
	sys := &System{Name: "random"}
	procs := rapid.IntRange(1, 3).Draw(t, "procs")
	chans := rapid.IntRange(1, 3).Draw(t, "chans")
	flag := func(name string, one int) bool { return rapid.IntRange(0, one).Draw(t, name) == one }
	for k := range chans {
		sys.Channels = append(sys.Channels, Channel{
			From: k % procs, To: rapid.IntRange(0, procs-1).Draw(t, "to"), Cap: rapid.IntRange(1, 3).Draw(t, "cap"),
			Order: Order(rapid.IntRange(0, 1).Draw(t, "order")), Lossy: flag("lossy", 5), Dup: flag("dup", 5),
			Swap: flag("swap", 5), Block: flag("block", 1),
			Kind: func(m []byte) uint8 { return m[0] + 1 }})
		if flag("ages", 3) {
			ageing(&sys.Channels[k])
		}
		if flag("tail", 5) {
			sys.Channels[k].Tail = func(m []byte) bool { return m[0] == 1 }
		}
	}
	if flag("budget", 2) {
		sys.Budget = Budget{
			Loss:   1,
			Dup:    rapid.IntRange(0, 2).Draw(t, "dups"),
			Swap:   1,
			Crash:  rapid.IntRange(0, 1).Draw(t, "crashes"),
			Break:  1,
			Return: 2,
		}
	}
	states := rapid.IntRange(1, 4).Draw(t, "states")
	step := func() Step {
		s := Step{Label: uint32(len(sys.Labels)), Next: []byte{byte(rapid.IntRange(0, states-1).Draw(t, "next"))}}
		sys.Labels = append(sys.Labels, Label{})
		for range rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2}).Draw(t, "sends") {
			s.Sends = append(s.Sends, Send{
				Channel: rapid.IntRange(0, chans-1).Draw(t, "ch"),
				Msg:     []byte{byte(rapid.IntRange(0, 1).Draw(t, "msg"))},
			})
		}
		if flag("lens", 6) {
			s.Lens = append(s.Lens, LenRange{
				Channel: rapid.IntRange(0, chans-1).Draw(t, "lch"),
				Hi:      rapid.IntRange(-1, 1).Draw(t, "hi"),
				Kind:    uint8(rapid.IntRange(0, 2).Draw(t, "kind")),
			})
		}
		for k := range sys.Channels {
			if sys.Channels[k].Older != nil && flag("older", 3) {
				s.Ages = append(s.Ages, k)
			}
		}
		if flag("fault", 12) {
			s.Fault = &Fault{Kind: UnspecifiedReception, Text: "planted"}
		}
		if flag("crash", 12) {
			s.Spends = rapid.SampledFrom([]Spends{
				SpendsCrash, SpendsBreak, SpendsReturn, SpendsPartition, SpendsCrash | SpendsBreak,
			}).Draw(t, "spends")
		}
		s.Spontaneous = flag("spontaneous", 3)
		return s
	}
	for range procs {
		p := &tableProc{recv: map[string][]Step{}}
		for v := range states {
			p.final = append(p.final, flag("final", 4))
			var local []Step
			for range rapid.IntRange(0, 2).Draw(t, "locals") {
				local = append(local, step())
			}
			p.local = append(p.local, local)
			for ch := range chans {
				for m := range 2 {
					for range rapid.SampledFrom([]int{0, 1, 1, 1, 2}).Draw(t, "recvs") {
						key := fmt.Sprint([]byte{byte(v)}, ch, []byte{byte(m)})
						p.recv[key] = append(p.recv[key], step())
					}
				}
			}
		}
		sys.Procs = append(sys.Procs, p)
	}
	for flag("watch", 2) && len(sys.Watches) < 2 {
		randomWatch(t, sys, func(v []byte) uint32 { return uint32(v[0]) })
	}
	randomSettle(t, sys)
	sys.Claims = randomClaims(t, len(sys.Procs), chans, states)
	return sys
}

// ageing makes a channel one whose messages get older, twice at most.
func ageing(c *Channel) {
	c.Older = func(m []byte) ([]byte, bool) { return append(slices.Clone(m), 1), len(m) < 3 }
	c.Bare = func(m []byte) []byte { return m[:1] }
}

func randomClaims(t *rapid.T, procs, chans, states int) []Claim {
	var claims []Claim
	for i := range rapid.IntRange(0, 4).Draw(t, "claims") {
		kinds := []ClaimKind{Always, Sometimes, Possible, LeadsTo, Eventually}
		c := Claim{
			Name: fmt.Sprint("claim ", i),
			Kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
		}
		for range procs {
			at := byte(rapid.IntRange(0, states-1).Draw(t, "at"))
			c.Procs = append(c.Procs, func(v []byte) uint32 { return map[bool]uint32{true: 1}[v[0] == at] })
		}
		for range chans {
			c.Chans = append(c.Chans, func(w Word) uint32 { return uint32(len(w)) })
		}
		want := uint32(rapid.IntRange(0, procs+1).Draw(t, "want"))
		c.Eval = func(p, k []uint32) bool {
			sum := uint32(0)
			for _, x := range slices.Concat(p, k) {
				sum += x
			}
			return sum == want
		}
		c.Calm = c.Kind >= Possible && rapid.Bool().Draw(t, "calm")
		if c.Kind == LeadsTo && rapid.Bool().Draw(t, "trigger") {
			c.Relevant = func(p, k []uint32) bool { return p[0] == 0 && k[0] == 1 }
		}
		if c.Kind == Always {
			c.Eval = func(p, k []uint32) bool { return p[0]+k[0] != want }
		}
		claims = append(claims, c)
	}
	return claims
}
