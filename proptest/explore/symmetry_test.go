package explore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A register machine is symmetric by the way it is built: its local value is a
// state and some registers, each empty or with a value, and its rules only copy,
// compare and forget values.

// regRule is one rule of a register machine.
type regRule struct {
	from, to byte
	msg      int  // kind of message received, -1: a local step
	equal    int8 // the first two registers must be: 1 equal, 0 different, -1 anything
	load     int  // register that takes the message's value (or, in a local step, any value), -1: none
	copies   [2]int
	send     int // kind of message sent, -1: none
	what     int // register whose value is sent; -1: none
	fault    bool
	spont    bool
	lens     *LenRange // Channel 0: the outgoing, 1: the incoming channel
}

// regMachine is machine at of a ring of n that all have the same rules.
type regMachine struct {
	at, n, values, regs int
	rules               []regRule
	final               byte
}

func (p *regMachine) Init() []byte        { return make([]byte, 1+p.regs) }
func (p *regMachine) Final(v []byte) bool { return v[0] == p.final }

func (p *regMachine) Local(v []byte, emit func(Step)) {
	for i, r := range p.rules {
		if r.msg >= 0 || !p.matches(r, v) {
			continue
		}
		if r.load < 0 {
			emit(p.take(i, v, 0))
			continue
		}
		for x := range p.values {
			emit(p.take(i, v, byte(x+1)))
		}
	}
}

func (p *regMachine) Receive(v []byte, _ int, msg []byte, emit func(Step)) {
	for i, r := range p.rules {
		if r.msg == int(msg[0]) && p.matches(r, v) {
			emit(p.take(i, v, msg[1]))
		}
	}
}

func (p *regMachine) matches(r regRule, v []byte) bool {
	return v[0] == r.from && (r.equal < 0 || (v[1] == v[2]) == (r.equal == 1))
}

func (p *regMachine) take(i int, v []byte, x byte) Step {
	r := p.rules[i]
	n := bytes.Clone(v)
	n[0] = r.to
	if r.load >= 0 {
		n[1+r.load] = x
	}
	n[1+r.copies[0]] = n[1+r.copies[1]]
	s := Step{Label: uint32(p.at*len(p.rules) + i), Next: n, Spontaneous: r.spont}
	if r.send >= 0 {
		m := []byte{byte(r.send), 0}
		if r.what >= 0 {
			m[1] = n[1+r.what]
		}
		s.Sends = []Send{{Channel: p.at, Msg: m}}
	}
	if r.lens != nil {
		l := *r.lens
		l.Channel = (p.at + l.Channel*(p.n-1)) % p.n
		s.Lens = []LenRange{l}
	}
	if r.fault {
		s.Fault = &Fault{Kind: UnspecifiedReception, Text: "planted"}
	}
	return s
}

// randomRegisters draws a ring of equal register machines; channel i leads
// from machine i to the next.
func randomRegisters(t *rapid.T) *System {
	n, values := rapid.IntRange(1, 3).Draw(t, "machines"), rapid.IntRange(1, 3).Draw(t, "values")
	flag := func(name string, one int) bool { return rapid.IntRange(0, one).Draw(t, name) == one }
	states, regs := byte(rapid.IntRange(1, 3).Draw(t, "states")), 2
	var rules []regRule
	for range rapid.IntRange(2, 7).Draw(t, "rules") {
		r := regRule{
			from: rapid.ByteRange(0, states-1).Draw(t, "from"), to: rapid.ByteRange(0, states-1).Draw(t, "to"),
			msg: rapid.IntRange(-1, 1).Draw(t, "msg"), equal: int8(rapid.IntRange(-1, 1).Draw(t, "equal")),
			load: rapid.IntRange(-1, regs-1).Draw(t, "load"), send: rapid.IntRange(-1, 1).Draw(t, "send"),
			what: rapid.IntRange(-1, regs-1).Draw(t, "what"), fault: flag("fault", 9), spont: flag("spont", 3),
		}
		if flag("copy", 3) {
			r.copies = [2]int{rapid.IntRange(0, 1).Draw(t, "c0"), rapid.IntRange(0, 1).Draw(t, "c1")}
		}
		if flag("lens", 4) {
			r.lens = &LenRange{Channel: rapid.IntRange(0, 1).Draw(t, "lch"), Hi: rapid.IntRange(0, 1).Draw(t, "hi")}
		}
		rules = append(rules, r)
	}
	sys := &System{Name: "registers", Labels: make([]Label, n*len(rules))}
	final := rapid.ByteRange(0, states-1).Draw(t, "final")
	like := Channel{Cap: rapid.IntRange(1, 2).Draw(t, "cap"), Block: true,
		Order: Order(rapid.IntRange(0, 1).Draw(t, "order")),
		Lossy: flag("lossy", 5), Dup: flag("dup", 5), Swap: flag("swap", 5)}
	if flag("budget", 2) {
		sys.Budget = Budget{Loss: 1, Dup: 1, Swap: 1}
	}
	for i := range n {
		sys.Procs = append(sys.Procs, &regMachine{at: i, n: n, values: values, regs: regs, rules: rules, final: final})
		c := like
		c.From, c.To = i, (i+1)%n
		sys.Channels = append(sys.Channels, c)
	}
	if flag("watch", 1) {
		randomWatch(t, sys, func(v []byte) uint32 { return uint32(v[0]) })
	}
	sys.Claims = registerClaims(t, n)
	sys.Symmetry = registerSymmetry(n, len(sys.Procs), values)
	return sys
}

// registerClaims are claims that no renaming changes.
func registerClaims(t *rapid.T, n int) []Claim {
	var claims []Claim
	for i := range rapid.IntRange(0, 3).Draw(t, "claims") {
		c := Claim{Name: fmt.Sprint("claim ", i),
			Kind: rapid.SampledFrom([]ClaimKind{Always, Sometimes, Possible}).Draw(t, "kind")}
		for range n {
			c.Procs = append(c.Procs, func(v []byte) uint32 {
				return map[bool]uint32{true: 1}[v[1] == v[2]] + 2*uint32(v[0])
			})
		}
		c.Procs = append(c.Procs, func(v []byte) uint32 { return uint32(v[0]) }) // of a watch
		want := uint32(rapid.IntRange(0, 4).Draw(t, "want"))
		c.Eval = func(p, _ []uint32) bool { return slices.Max(p) > want }
		if c.Kind == Always {
			c.Eval = func(p, _ []uint32) bool { return slices.Max(p) <= want+1 }
		}
		claims = append(claims, c)
	}
	return claims
}

// registerSymmetry has all values, and all turns of the ring.
func registerSymmetry(n, machines, values int) *Symmetry {
	rename := func(v []byte, to [][]uint8) []byte {
		v = bytes.Clone(v)
		for i := 1; i < len(v); i++ {
			if v[i] != 0 {
				v[i] = to[0][v[i]-1] + 1
			}
		}
		return v
	}
	uses := func(v []byte, use func(int, int)) {
		for _, x := range v[1:] {
			if x != 0 {
				use(0, int(x-1))
			}
		}
	}
	y := &Symmetry{
		Domains:     []Domain{{Name: "registers", Size: values}},
		Local:       func(_ int, v []byte, use func(int, int)) { uses(v, use) },
		Msg:         func(_ int, v []byte, use func(int, int)) { uses(v, use) },
		RenameLocal: func(_ int, v []byte, to [][]uint8) []byte { return rename(v, to) },
		RenameMsg:   func(_ int, v []byte, to [][]uint8) []byte { return rename(v, to) },
	}
	for turn := 1; turn < n; turn++ {
		f := Shuffle{Name: fmt.Sprintf("machines turned by %d", turn)}
		for i := range n {
			f.Procs = append(f.Procs, (i+turn)%n)
			f.Chans = append(f.Chans, (i+turn)%n)
		}
		for i := n; i < machines; i++ { // watches stay
			f.Procs = append(f.Procs, i)
		}
		y.Shuffles = append(y.Shuffles, f)
	}
	return y
}

// kinds forgets labels, which a turn of the machines changes.
func kinds(r *Result) naiveFind {
	f := naiveFind{}
	for _, v := range r.Violations {
		f.add(fmt.Sprint(v.Kind, v.Claim), len(v.Trace))
	}
	for _, w := range r.Witnesses {
		f.add(fmt.Sprint("witness ", w.Claim), len(w.Trace))
	}
	return f
}

func TestSymmetryAgainstPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sys := randomRegisters(t)
		plain := mustRun(t, sys, Options{Workers: 1, KeepGoing: true, MaxConfigurations: 4000})
		if plain.Configurations > 4000 {
			t.Skip("too large")
		}
		for _, opt := range []Options{{Workers: 1}, {Workers: 3, Tune: hurried(1)}, {Workers: 2, Tune: wide(nil, 2)}} {
			opt.KeepGoing, opt.Reduce = true, ReduceSymmetry
			r := mustRun(t, sys, opt)
			if got, want := fmt.Sprint(r.Verdict, r.Complete, kinds(r), r.Widest),
				fmt.Sprint(plain.Verdict, plain.Complete, kinds(plain), plain.Widest); got != want {
				t.Fatalf("%+v\ngot  %s\nwant %s", opt, got, want)
			}
			if got, want := r.Configurations, orbits(plain); sys.Channels[0].Order == FIFO && got != want {
				t.Fatalf("%d configurations, but there are %d different up to renaming", got, want)
			}
			for _, v := range r.Violations {
				if len(v.End.Locals) > 0 { // there is a run to follow
					follow(t, sys, v.Trace, v.End, v.Label >= 0)
				}
			}
			for _, w := range r.Witnesses {
				follow(t, sys, w.Trace, w.End, false)
			}
		}
	})
}

// orbits counts the configurations of a plain search that are no renamings of
// each other, by trying every renaming of each.
func orbits(r *Result) uint64 {
	e := r.Space.(*space).e
	n, values := len(e.Chans), e.Sys.Symmetry.Domains[0].Size
	var perms [][]uint8
	var permute func(done, rest []uint8)
	permute = func(done, rest []uint8) {
		if len(rest) == 0 {
			perms = append(perms, slices.Clone(done))
		}
		for i := range rest {
			permute(append(done, rest[i]), slices.Delete(slices.Clone(rest), i, i+1))
		}
	}
	var all []uint8
	for v := range values {
		all = append(all, uint8(v))
	}
	permute(nil, all)
	least := map[string]bool{}
	r.Space.ForEachConfiguration(func(_ int, c Configuration) bool {
		best := ""
		for turn := range n {
			for _, to := range perms {
				d := Configuration{Locals: slices.Clone(c.Locals), Channels: make([]Word, n), Used: c.Used}
				for i := range n {
					d.Locals[(i+turn)%n] = e.Sys.Symmetry.RenameLocal(i, c.Locals[i], [][]uint8{to})
					for _, m := range c.Channels[i] {
						d.Channels[(i+turn)%n] = append(d.Channels[(i+turn)%n],
							e.Sys.Symmetry.RenameMsg(i, m, [][]uint8{to}))
					}
				}
				if key := plain(d); best == "" || key < best {
					best = key
				}
			}
		}
		least[best] = true
		return true
	})
	return uint64(len(least))
}

// follow checks that a trace is a run of the system from its start to end,
// step by step in the naive explorer.
func follow(t *rapid.T, sys *System, trace []TraceStep, end Configuration, fault bool) {
	at := &conf{words: make([]Word, len(sys.Channels))}
	for _, p := range sys.Procs {
		at.locals = append(at.locals, p.Init())
	}
	at = (&naive{sys: sys}).remember(at)
	if fault {
		trace = trace[:len(trace)-1]
	}
	now := []*conf{at}
	for i, s := range trace {
		var next []*conf
		for _, c := range now {
			n := &naive{sys: sys, found: naiveFind{}, counts: make([]uint64, len(sys.Labels))}
			n.each(c, 0, func(o *conf, _ naiveStep) {
				if s.Proc < 0 ||
					bytes.Equal(o.locals[s.Proc], settled(sys, s)) && bytes.Equal(c.locals[s.Proc], s.Before) {
					next = append(next, o)
				}
			})
		}
		if now = next; len(now) == 0 {
			t.Fatalf("step %d of a trace cannot be taken: %+v", i+1, s)
		}
		if len(now) > 2000 {
			return
		}
	}
	if !slices.ContainsFunc(now, func(c *conf) bool {
		return fmt.Sprintf("%q", c.locals) == fmt.Sprintf("%q", end.Locals) &&
			fmt.Sprintf("%q", c.words) == fmt.Sprintf("%q", end.Channels)
	}) {
		t.Fatalf("a trace ends in none of %d configurations, but %+v", len(now), end)
	}
}

func TestCheckSymmetry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := CheckSymmetry(context.Background(), randomRegisters(t), 300); err != nil {
			t.Fatal(err)
		}
	})
	// A machine that prefers a value.
	sys := rapid.Custom(randomRegisters).Example(1)
	p := &tableProc{final: []bool{true, true, true},
		local: [][]Step{{{Next: []byte{1, 1}}, {Next: []byte{1, 2}}}, {{Next: []byte{2, 1}}}, {}}}
	sys.Procs, sys.Channels, sys.Claims, sys.Labels, sys.Watches = []Process{p}, nil, nil, make([]Label, 1), nil
	sys.Symmetry = registerSymmetry(1, 1, 2)
	if err := CheckSymmetry(context.Background(), sys, 0); err == nil {
		t.Error("a machine that goes on only with the first value passes for symmetric")
	}
}

func TestSymmetryRefused(t *testing.T) {
	sys := rapid.Custom(randomRegisters).Example(2)
	sys.Symmetry = registerSymmetry(len(sys.Channels), len(sys.Procs), 3)
	sys.Claims = []Claim{{Name: "ends", Kind: Eventually, Eval: func(p, _ []uint32) bool { return true }}}
	r := mustRun(t, sys, Options{Reduce: ReduceSymmetry, MaxConfigurations: 1000})
	if len(r.Reductions) > 0 || len(r.Refused) != 1 {
		t.Errorf("used %q, refused %q", r.Reductions, r.Refused)
	}
}
