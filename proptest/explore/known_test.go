package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// funcProc is a machine given by functions.
type funcProc struct {
	init  string
	local func(v string, emit func(Step))
	recv  func(v string, ch int, msg string, emit func(Step))
	final func(v string) bool
}

func (p funcProc) Init() []byte { return []byte(p.init) }
func (p funcProc) Local(v []byte, emit func(Step)) {
	if p.local != nil {
		p.local(string(v), emit)
	}
}
func (p funcProc) Receive(v []byte, ch int, msg []byte, emit func(Step)) {
	if p.recv != nil {
		p.recv(string(v), ch, string(msg), emit)
	}
}
func (p funcProc) Final(v []byte) bool { return p.final != nil && p.final(string(v)) }

// readyPeers is n machines that each send READY once to each other.
func readyPeers(n int) *System {
	sys := &System{Name: "ready", Labels: []Label{{Name: "ready"}, {Name: "receive"}}}
	out := make([][]Send, n)
	for i := range n {
		for j := range n {
			if i != j {
				out[i] = append(out[i], Send{Channel: len(sys.Channels), Msg: []byte("READY")})
				sys.Channels = append(sys.Channels, Channel{From: i, To: j, Cap: 1})
			}
		}
	}
	for i := range n {
		sys.Procs = append(sys.Procs, funcProc{
			init: strings.Repeat("-", n),
			local: func(v string, emit func(Step)) {
				if v[i] == '-' {
					emit(Step{Next: set(v, i, '+'), Sends: out[i]})
				}
			},
			recv: func(v string, ch int, _ string, emit func(Step)) {
				emit(Step{Label: 1, Next: set(v, sys.Channels[ch].From, '+')})
			},
			final: func(v string) bool { return !strings.Contains(v, "-") },
		})
	}
	return sys
}

func set(v string, i int, c byte) []byte {
	b := []byte(v)
	b[i] = c
	return b
}

// twoPhase is two-phase commit as Gray and Lamport model it: messages stay, and
// whoever needs one looks whether it was sent.
func twoPhase(n int) *System {
	sys := &System{Name: "two-phase commit"}
	label := func(name string) uint32 {
		sys.Labels = append(sys.Labels, Label{Name: name})
		return uint32(len(sys.Labels) - 1)
	}
	hears, commits, aborts := label("TM hears prepared"), label("TM commits"), label("TM aborts")
	prepares, gives, follows := label("RM prepares"), label("RM gives up"), label("RM follows")
	for range n {
		sys.Channels = append(sys.Channels, Channel{To: 0, Cap: 1})
	}
	sys.Channels = append(sys.Channels, Channel{To: 1, Cap: 1, Kind: func(m []byte) uint8 { return m[0] - 'a' + 1 }})
	sys.Procs = append(sys.Procs, funcProc{init: "i" + strings.Repeat("-", n), local: func(v string, emit func(Step)) {
		if v[0] != 'i' {
			return
		}
		for i := range n {
			emit(Step{Label: hears, Next: set(v, i+1, '+'), Lens: []LenRange{{Channel: i, Lo: 1, Hi: -1}}})
		}
		if !strings.Contains(v, "-") {
			emit(Step{Label: commits, Next: set(v, 0, 'c'), Sends: []Send{{Channel: n, Msg: []byte("c")}}})
		}
		emit(Step{Label: aborts, Next: set(v, 0, 'a'), Sends: []Send{{Channel: n, Msg: []byte("a")}}})
	}})
	for i := range n {
		sys.Procs = append(sys.Procs, funcProc{init: "w", local: func(v string, emit func(Step)) {
			if v == "w" {
				emit(Step{Label: prepares, Next: []byte("p"), Sends: []Send{{Channel: i, Msg: []byte("p")}}})
				emit(Step{Label: gives, Next: []byte("a")})
			}
			for _, x := range "ac" {
				emit(Step{Label: follows, Next: []byte{byte(x)},
					Lens: []LenRange{{Channel: n, Lo: 1, Hi: -1, Kind: uint8(x-'a') + 1}}})
			}
		}})
	}
	is := func(c string) func([]byte) uint32 {
		return func(v []byte) uint32 { return uint32(strings.Count(string(v[:1]), c)) }
	}
	mixed := Claim{Name: "nobody aborts while another commits", Eval: func(p, _ []uint32) bool {
		return !slices.Contains(p, 1) || !slices.Contains(p, 2)
	}}
	mixed.Procs = append(mixed.Procs, nil)
	for range n {
		mixed.Procs = append(mixed.Procs, func(v []byte) uint32 { return is("a")(v) + 2*is("c")(v) })
	}
	sys.Claims = []Claim{mixed}
	return sys
}

func TestPublishedCounts(t *testing.T) {
	pow := func(b, e int) (n uint64) {
		n = 1
		for range e {
			n *= uint64(b)
		}
		return n
	}
	for n := 2; n <= 4; n++ {
		r := mustRun(t, readyPeers(n), Options{})
		if want := pow(1+1<<(n-1), n); r.Configurations != want || r.Verdict != Holds {
			t.Errorf("%d ready peers: %d configurations, %v, want %d", n, r.Configurations, r.Verdict, want)
		}
	}
	for n, want := range map[int]uint64{3: 288, 5: 8832} {
		if r := mustRun(t, twoPhase(n), Options{Checks: CheckNothing}); r.Configurations != want || r.Verdict != Holds {
			t.Errorf("two-phase commit with %d: %d configurations, %v, want %d", n, r.Configurations, r.Verdict, want)
		}
	}
}

// spinner is a machine that may turn for ever and may always stop.
func spinner(claim Claim) *System {
	claim.Procs = []func([]byte) uint32{func(v []byte) uint32 { return uint32(v[0]) }}
	claim.Eval = func(p, _ []uint32) bool { return p[0] == 'z' }
	return &System{
		Labels: []Label{{Name: "turn"}, {Name: "back"}, {Name: "stop"}, {Name: "stop at a"}},
		Claims: []Claim{claim},
		Procs: []Process{funcProc{init: "a", final: func(v string) bool { return v == "z" },
			local: func(v string, emit func(Step)) {
				switch v {
				case "a":
					emit(Step{Label: 0, Next: []byte("b")})
					if claim.Fair != Weak {
						emit(Step{Label: 3, Next: []byte("z")})
					} else {
						emit(Step{Label: 2, Next: []byte("z")})
					}
				case "b":
					emit(Step{Label: 1, Next: []byte("a")})
					if claim.Fair == Weak {
						emit(Step{Label: 2, Next: []byte("z")})
					}
				}
			}}},
	}
}

// TestFairness: a step that is possible at one of two turns is taken under
// strong fairness only; one possible at both also under weak.
func TestFairness(t *testing.T) {
	for fair, want := range map[Fairness]Verdict{Unfair: Violated, Weak: Holds, Strong: Holds} {
		r := mustRun(t, spinner(Claim{Name: "stops", Kind: Eventually, Fair: fair}), Options{})
		if r.Verdict != want {
			t.Errorf("fairness %d: %v, want %v", fair, r.Verdict, want)
		}
		if want == Violated && len(r.Violations[0].Loop) != 2 {
			t.Errorf("loop %+v", r.Violations[0].Loop)
		}
	}
	sys := spinner(Claim{Name: "stops", Kind: LeadsTo, Fair: Strong})
	sys.Claims[0].Fair = Weak // the machine still stops at one turn only
	if r := mustRun(t, sys, Options{}); r.Verdict != Violated {
		t.Errorf("weak fairness forced a step that is possible now and then only: %v", r.Verdict)
	}
}

// order is a machine whose command and reception do not commute.
func order() *System {
	return &System{
		Labels:   []Label{{Name: "double"}, {Name: "add"}, {Name: "send"}},
		Channels: []Channel{{From: 1, To: 0, Cap: 1}},
		Claims:   []Claim{{Name: "order does not matter", Kind: Confluent}},
		Procs: []Process{
			funcProc{init: "a",
				local: func(v string, emit func(Step)) {
					if len(v) < 4 {
						emit(Step{Label: 0, Next: []byte(v + v)})
					}
				},
				recv: func(v string, _ int, m string, emit func(Step)) { emit(Step{Label: 1, Next: []byte(v + m)}) },
			},
			funcProc{init: "0", local: func(v string, emit func(Step)) {
				if v == "0" {
					emit(Step{Label: 2, Next: []byte("1"), Sends: []Send{{Channel: 0, Msg: []byte("b")}}})
				}
			}},
		},
	}
}

func TestConfluent(t *testing.T) {
	for _, workers := range []int{1, 2} {
		r := mustRun(t, order(), Options{Workers: workers, Checks: CheckNothing})
		if r.Verdict != Violated || len(r.Conflicts) != 1 {
			t.Fatalf("%v, conflicts %+v", r.Verdict, r.Conflicts)
		}
		c := r.Conflicts[0]
		if c.A != 0 || c.B != 1 || len(c.Trace) != 1 || string(c.Before.Locals[0]) != "a" {
			t.Errorf("%+v", c)
		}
	}
}

// TestOverflow: the shortest way, the same with any number of workers, and a
// trace that can be followed.
func TestOverflow(t *testing.T) {
	var first string
	for _, opt := range []Options{{Workers: 1}, {Workers: 2}, {Workers: 3, Tune: wide(nil, 3)}} {
		sys := confirmUpdate(3, 2, true, 99)
		sys.Channels[0].Cap, sys.Channels[1].Cap = 3, 3
		r := mustRun(t, sys, opt)
		if r.Verdict != Violated || len(r.Violations) != 1 || r.Violations[0].Kind != ChannelOverflow {
			t.Fatalf("%v: %+v", r.Verdict, r.Violations)
		}
		v := r.Violations[0]
		text := fmt.Sprintf("%s %+v", v.Text, v.End)
		for i, s := range v.Trace {
			text += fmt.Sprintf("\n%v %d %q %q", s.Kind, s.Label, s.Before, s.After)
			if i > 0 && s.Fault == nil && s.After == nil {
				t.Errorf("step %d leads nowhere: %+v", i, s)
			}
		}
		if first == "" {
			first = text
		}
		if text != first {
			t.Errorf("with %+v\n%s\nwith one worker\n%s", opt, text, first)
		}
	}
}

func TestLimits(t *testing.T) {
	sys := small[4].system()
	for want, opt := range map[string]Options{
		"configurations": {MaxConfigurations: 1000},
		"depth":          {MaxDepth: 5},
		"memory":         {MaxBytes: 1 << 18},
		"time":           {MaxTime: time.Nanosecond},
	} {
		r := mustRun(t, sys, opt)
		if r.Verdict != Incomplete || !strings.Contains(r.Why, want) || r.Complete || r.Frontier == 0 {
			t.Errorf("%s: %v %q, frontier %d", want, r.Verdict, r.Why, r.Frontier)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Run(ctx, sys, Options{Progress: func(p Progress) {
		if p.Depth == 7 {
			cancel()
		}
	}})
	if err != nil || r.Verdict != Incomplete || r.Configurations < 100 {
		t.Errorf("cancelled: %v, %+v", err, r)
	}
}

func TestRandomWalk(t *testing.T) {
	sys := confirmUpdate(3, 2, true, 99)
	sys.Channels[0].Cap, sys.Channels[1].Cap = 3, 3
	var first string
	for range 2 {
		r := mustRun(t, sys, Options{Mode: RandomWalk, Seed: 7, Walks: 50, WalkLength: 500})
		if r.Verdict != Violated || r.Violations[0].Kind != ChannelOverflow {
			t.Fatalf("%v %s %+v", r.Verdict, r.Why, r.Violations)
		}
		text := fmt.Sprintf("%d %+v", r.Configurations, r.Violations[0].End)
		if first == "" {
			first = text
		}
		if len(r.Violations[0].Trace) < 4 || text != first {
			t.Errorf("%s, then %s", first, text)
		}
	}
	if r := mustRun(t, small[0].system(), Options{Mode: RandomWalk, Seed: 1,
		Walks: 20}); r.Verdict != Incomplete || len(r.Violations) > 0 {
		t.Errorf("%v %s %+v", r.Verdict, r.Why, r.Violations)
	}
}

func TestMalformed(t *testing.T) {
	p := funcProc{}
	for name, sys := range map[string]*System{
		"no machines":  {},
		"no receiver":  {Procs: []Process{p}, Channels: []Channel{{To: 1, Cap: 1}}},
		"no capacity":  {Procs: []Process{p}, Channels: []Channel{{}}},
		"no predicate": {Procs: []Process{p}, Claims: []Claim{{Name: "x"}}},
	} {
		if _, err := Run(context.Background(), sys, Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestSpace(t *testing.T) {
	sys := small[0].system()
	r := mustRun(t, sys, Options{})
	n, locals, receptions := uint64(0), 0, 0
	r.Space.ForEachConfiguration(func(int, Configuration) bool { n++; return true })
	r.Space.ForEachLocal(func(u LocalUse) bool {
		locals++
		for _, x := range u.Receptions {
			receptions++
			var got []Step
			sys.Procs[u.Proc].Receive(u.Value, x.Channel, x.Msg, func(s Step) { got = append(got, s) })
			if len(got) != len(x.Steps) || string(got[0].Next) != string(x.Steps[0].Next) {
				t.Errorf("%q receives %q: %+v, want %+v", u.Value, x.Msg, x.Steps, got)
			}
		}
		return true
	})
	if n != r.Configurations || locals != r.Locals[0]+r.Locals[1] || receptions == 0 {
		t.Errorf("%d configurations of %d, %d locals of %v, %d receptions", n, r.Configurations, locals,
			r.Locals, receptions)
	}
}
