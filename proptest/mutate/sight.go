package mutate

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check"
	"github.com/parley-go/parley/proptest/explore"
)

// atom is a condition about one instance, or one that compares two: `a.done`, `a.own == b.own`.
type atom struct {
	text string
	of   [2]int // instances; twice the same: about one
	cost int    // of what it says, beside its length
}

// sight is what can be seen of the configurations of a check: for each pair of instances which atoms about them hold
// together, and in which configurations without messages.
type sight struct {
	atoms []atom
	pairs map[[2]int]*together
}

// together are the different vectors of atoms of two instances; rest: those seen where all channels are empty.
type together struct {
	atoms     []int // in sight.atoms
	channels  []int // between the two
	all, rest map[string]bool
}

// atomsOf lists what can be said of the instances of a check. ghost is a report or command that is remembered, as
// `reported.NAME`; empty: none.
func atomsOf(c *model.Check, ghost string) (list []atom) {
	for _, i := range c.Instances {
		if i.IsHostile() {
			continue
		}
		add := func(cost int, format string, args ...any) {
			list = append(list, atom{fmt.Sprintf(format, args...), [2]int{i.Index, i.Index}, cost})
		}
		for _, st := range i.Role.States {
			add(0, "%s.%s", i.Name, st.Name)
		}
		for _, part := range i.Role.Parts {
			if len(part.Keys) > 0 || part.Monitor {
				continue
			}
			for _, st := range part.Machine.States {
				add(2, "%s.%s.%s", i.Name, part.Name, st.Name)
			}
		}
		for _, v := range i.Role.Vars {
			if v.Ghost == model.NoGhost && !v.Self && !v.Parties {
				variable(add, i.Name+"."+v.Name, v.Type)
			}
		}
		kind, name, _ := strings.Cut(ghost, ".")
		if !ghosted(i.Role, kind, name) {
			continue
		}
		add(0, "%s(%s.%s)", kind, i.Name, name)
		add(8, "%s(%s.%s, 2)", kind, i.Name, name)
		for _, f := range fieldsOf(i.Role, kind, name) {
			for _, v := range i.Role.Vars {
				if v.Ghost == model.NoGhost && v.Type.Name != "" && v.Type.Name == f.Type.Name {
					add(4, "last(%s.%s.%s) == %s.%s", i.Name, name, f.Name, i.Name, v.Name)
				}
			}
		}
	}
	for _, i := range c.Instances {
		for _, k := range c.Instances {
			if ghost != "" || i == k || i.IsHostile() || k.IsHostile() {
				continue
			}
			for _, msg := range sent(i.Role, k.Role) {
				list = append(list, atom{fmt.Sprintf("len(%s -> %s, %s) > 0", i.Name, k.Name, msg),
					[2]int{i.Index, k.Index}, 4})
			}
		}
	}
	for _, i := range c.Instances {
		for _, k := range c.Instances[i.Index+1:] {
			if i.IsHostile() || k.IsHostile() || i.Role != k.Role {
				continue
			}
			for _, v := range i.Role.Vars {
				if v.Ghost == model.NoGhost && !v.Self && !v.Parties {
					list = append(list, atom{fmt.Sprintf("%s.%s == %s.%s", i.Name, v.Name, k.Name, v.Name),
						[2]int{i.Index, k.Index}, 0})
				}
			}
		}
	}
	return list
}

// sent lists the messages that one role sends by itself and another one mentions.
func sent(from, to *model.Machine) (list []string) {
	code(func(s model.Stmt) ([]model.Stmt, bool) {
		x, ok := s.(*model.Send)
		if ok && !slices.Contains(list, x.Message.Name) && slices.ContainsFunc(to.Events, func(ev *model.Event) bool {
			return ev.Kind == model.EventMessage && ev.Message.Name == x.Message.Name
		}) {
			list = append(list, x.Message.Name)
		}
		return nil, false
	}, func(model.Expr) model.Expr { return nil })(from)
	return list
}

// variable lists what can be said of a variable.
func variable(add func(cost int, format string, args ...any), name string, t *model.Type) {
	const few = 8
	switch t.Kind {
	case model.KindBool:
		add(0, "%s", name)
	case model.KindEnum:
		for _, word := range t.Names[:min(len(t.Names), few)] {
			add(4, "%s == %s", name, word)
		}
	case model.KindInt:
		for n := t.Lo; n <= min(t.Hi, t.Lo+few-1); n++ {
			add(10, "%s == %d", name, n)
		}
	case model.KindOptional:
		add(2, "%s == none", name)
	case model.KindList, model.KindSet:
		add(6, "len(%s) == 0", name)
	}
}

func ghosted(role *model.Machine, kind, name string) bool {
	if kind == "commanded" {
		return slices.ContainsFunc(role.Commands, func(ev *model.Event) bool { return ev.Name == name })
	}
	return kind == "reported" && slices.ContainsFunc(role.Reports, func(r *model.Report) bool { return r.Name == name })
}

func fieldsOf(role *model.Machine, kind, name string) []*model.Field {
	for _, r := range role.Reports {
		if kind == "reported" && r.Name == name {
			return r.Fields
		}
	}
	return nil
}

// states looks for claims about states and variables.
func (p *proposer) states(ctx context.Context, m *Mutant, c *one, _ *step) []candidate {
	return p.sights(ctx, m, c, "")
}

// sights looks for claims about states, variables, and one report or command.
func (p *proposer) sights(ctx context.Context, m *Mutant, c *one, ghost string) (out []candidate) {
	atoms := atomsOf(p.b.check(c.name), ghost)
	was, is := p.see(ctx, m, c, ghost, atoms, nil)
	if was == nil {
		return nil
	}
	for pair, a := range was.pairs {
		out = append(out, onlyOne(atoms, a, is.pairs[pair])...)
	}
	return out
}

// see looks at all configurations of a check with the mistake and without; nil: it cannot. key names what is laid over.
func (p *proposer) see(ctx context.Context, m *Mutant, c *one, key string, atoms []atom,
	monitors []string) (was, is *sight) {
	var claims []string
	for _, a := range atoms {
		claims = append(claims, fmt.Sprintf("{sometimes: %q}", a.text))
	}
	model := p.with(c, claims, monitors)
	if model == nil {
		return nil, nil
	}
	key = c.name + " " + key
	was, ok := p.seen[key]
	if !ok {
		was = look(ctx, model, c.check, atoms)
		p.seen[key] = was
	}
	undo := mutated(m, model)
	if was == nil || undo == nil {
		return nil, nil
	}
	defer undo()
	if is = look(ctx, model, c.check, atoms); is == nil {
		return nil, nil
	}
	return was, is
}

// look searches a check and notes which atoms hold together; nil if it does not come to an end. Its first claims but
// those of the specification are the atoms.
func look(ctx context.Context, p *model.Protocol, name string, atoms []atom) *sight {
	s, err := systemOf(p, name)
	if err != nil {
		return nil
	}
	var claims []explore.Claim
	for _, c := range s.Claims {
		if c.Stated != nil && strings.HasPrefix(c.Stated.Name, "proposed") {
			claims = append(claims, s.System.Claims[c.Index])
		}
	}
	if len(claims) != len(atoms) {
		return nil
	}
	s.System.Claims = nil
	res, err := explore.Run(ctx, s.System, explore.Options{Workers: 1, KeepGoing: true, Checks: explore.CheckNothing,
		MaxConfigurations: proposeMost})
	if err != nil || !res.Complete {
		return nil
	}
	out := &sight{atoms: atoms, pairs: map[[2]int]*together{}}
	n := len(s.Check.Instances)
	for i := range n {
		for k := i; k < n; k++ {
			if i == k && n > 1 || s.Check.Instances[i].IsHostile() && s.Check.Instances[k].IsHostile() {
				continue
			}
			t := &together{all: map[string]bool{}, rest: map[string]bool{}}
			for a := range atoms {
				if of := atoms[a].of; (of[0] == i || of[0] == k) && (of[1] == i || of[1] == k) {
					t.atoms = append(t.atoms, a)
				}
			}
			for ch := range s.Own {
				if x := &s.System.Channels[ch]; (x.From == i || x.From == k) && (x.To == i || x.To == k) {
					t.channels = append(t.channels, ch)
				}
			}
			out.pairs[[2]int{i, k}] = t
		}
	}
	look := &looker{s: s, claims: claims, locals: make([]numbers, n), words: make([]numbers, s.Own),
		known: map[string]string{}}
	fine := true
	res.Space.ForEachConfiguration(func(_ int, c explore.Configuration) bool {
		rest := true
		for _, w := range c.Channels {
			rest = rest && len(w) == 0
		}
		local, word := make([]uint32, n), make([]uint32, s.Own)
		for i := range n {
			local[i] = look.local(i, c.Locals[i])
		}
		for k := range word {
			word[k] = look.word(k, c.Channels[k])
		}
		for pair, t := range out.pairs {
			v := look.vector(pair, t, local, word)
			if t.all[v] = true; rest {
				t.rest[v] = true
			}
			fine = fine && len(t.all) <= proposeVectors
		}
		return fine
	})
	if !fine {
		return nil
	}
	return out
}

// looker evaluates atoms at pairs of local values and what lies between them, each different one once.
type looker struct {
	s             *check.System
	claims        []explore.Claim
	locals, words []numbers // by instance, by channel
	known         map[string]string
	key           []byte
}

// numbers are local values, or contents of a channel, as far as the claims tell them apart.
type numbers struct {
	ids     map[string]uint32 // by the bytes themselves
	named   map[string]uint32 // by the classes
	classes [][]uint32        // by id: the class for each claim
}

// of returns the number of something that has a class for each of n claims.
func (x *numbers) of(bytes []byte, n int, class func(claim int) uint32) uint32 {
	if id, ok := x.ids[string(bytes)]; ok {
		return id
	}
	if x.ids == nil {
		x.ids, x.named = map[string]uint32{}, map[string]uint32{}
	}
	var key []byte
	list := make([]uint32, n)
	for k := range list {
		list[k] = class(k)
		key = binary.AppendUvarint(key, uint64(list[k]))
	}
	id, ok := x.named[string(key)]
	if !ok {
		id = uint32(len(x.classes))
		x.named[string(key)], x.classes = id, append(x.classes, list)
	}
	x.ids[string(bytes)] = id
	return id
}

func (l *looker) local(i int, local []byte) uint32 {
	at := l.s.Parts.Machine(i)
	return l.locals[i].of(local, len(l.claims), func(k int) uint32 {
		if f := l.claims[k].Procs[at]; f != nil {
			return f(local)
		}
		return 0
	})
}

func (l *looker) word(ch int, w explore.Word) uint32 {
	l.key = l.key[:0]
	for _, msg := range w {
		l.key = append(binary.AppendUvarint(l.key, uint64(len(msg))), msg...)
	}
	return l.words[ch].of(l.key, len(l.claims), func(k int) uint32 {
		if f := l.claims[k].Chans[ch]; f != nil {
			return f(w)
		}
		return 0
	})
}

// vector tells which atoms of a pair hold, a bit for each.
func (l *looker) vector(pair [2]int, t *together, local, word []uint32) string {
	key := l.key[:0]
	for _, x := range []uint32{uint32(pair[0]), uint32(pair[1]), local[pair[0]], local[pair[1]]} {
		key = binary.AppendUvarint(key, uint64(x))
	}
	for _, ch := range t.channels {
		key = binary.AppendUvarint(key, uint64(word[ch]))
	}
	l.key = key
	if v, ok := l.known[string(key)]; ok {
		return v
	}
	v := make([]byte, (len(t.atoms)+7)/8)
	for n, k := range t.atoms {
		c := &l.claims[k]
		procs, chans := make([]uint32, len(c.Procs)), make([]uint32, len(c.Chans))
		for _, i := range pair {
			procs[l.s.Parts.Machine(i)] = l.locals[i].classes[local[i]][k]
		}
		for _, ch := range t.channels {
			chans[ch] = l.words[ch].classes[word[ch]][k]
		}
		if c.Eval(procs, chans) {
			v[n/8] |= 1 << (n % 8)
		}
	}
	l.known[string(key)] = string(v)
	return string(v)
}

// columns are vectors, turned: for each atom, and for its contrary behind it, the vectors in which it holds.
func columns(atoms int, vectors map[string]bool) [][]uint64 {
	out := make([][]uint64, 2*atoms)
	words := (len(vectors) + 63) / 64
	for i := range out {
		out[i] = make([]uint64, words)
	}
	n := 0
	for v := range vectors {
		for a := range atoms {
			k := 2 * a
			if v[a/8]>>(a%8)&1 == 0 {
				k++
			}
			out[k][n/64] |= 1 << (n % 64)
		}
		n++
	}
	return out
}

func meets(a, b []uint64) bool {
	for i := range a {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}

func some(a []uint64) bool {
	return slices.ContainsFunc(a, func(w uint64) bool { return bits.OnesCount64(w) > 0 })
}

// onlyOne lists what is seen of two instances with a mistake alone, which is then never so, or without it alone.
func onlyOne(atoms []atom, was, is *together) (out []candidate) {
	for _, rest := range []bool{false, true} {
		x, y := was.all, is.all
		quiescent, cost := "", 0
		if rest {
			x, y, quiescent, cost = was.rest, is.rest, ", quiescent: true", 12
		}
		a, b := columns(len(was.atoms), x), columns(len(was.atoms), y)
		word := func(k int) string {
			t := atoms[was.atoms[k/2]].text
			switch {
			case k%2 == 0:
				return t
			case strings.Contains(t, " == "):
				return strings.Replace(t, " == ", " != ", 1)
			case strings.HasSuffix(t, " > 0"):
				return strings.TrimSuffix(t, " > 0") + " == 0"
			}
			return "!" + t
		}
		price := func(list ...int) (n int) {
			for _, k := range list {
				n += len(word(k)) + atoms[was.atoms[k/2]].cost
			}
			return n + cost
		}
		for k := range a {
			before, after := some(a[k]), some(b[k])
			if before && !after && !rest {
				out = append(out, candidate{claim: "{sometimes: " + quoted(word(k)) + "}", cost: price(k) + 15})
			} else if after && !before {
				out = append(out, candidate{claim: "{always: " + quoted(word(k^1)) + quiescent + "}", cost: price(k)})
			}
			if k%2 == 1 || !before || !after {
				continue
			}
			for j := range a {
				if j/2 == k/2 || !some(a[j]) || !some(b[j]) || j%2 == 0 && j < k {
					continue // it is said by one of them, or the other way round
				}
				before, after := meets(a[k], a[j]), meets(b[k], b[j])
				if before && !after && !rest {
					out = append(out, candidate{claim: "{sometimes: " + quoted(word(k)+" && "+word(j)) + "}",
						cost: price(k, j) + 20})
				} else if after && !before {
					claim := word(k) + " => " + word(j^1)
					if j%2 == 0 {
						claim = "!(" + word(k) + " && " + word(j) + ")"
					}
					claim = "{always: " + quoted(claim) + quiescent + "}"
					out = append(out, candidate{claim: claim, cost: price(k, j) + 5})
				}
			}
		}
	}
	return out
}

// order looks for claims about which report or command of a role follows which.
func (p *proposer) order(ctx context.Context, m *Mutant, c *one, x *step) []candidate {
	role := p.b.check(c.name).Instances[x.inst].Role
	var names []string
	for _, r := range role.Reports {
		names = append(names, r.Name)
	}
	for _, cmd := range role.Commands {
		if !slices.Contains(names, cmd.Name) {
			names = append(names, cmd.Name)
		}
	}
	const most = 24
	if len(names) < 1 || len(names) > most || len(names) != len(role.Reports)+len(role.Commands) {
		return nil // a name that stands for two is not looked at
	}
	var events []string
	for i, name := range names {
		events = append(events, fmt.Sprintf("%s: {set: {e1: e2, e2: e3, e3: e4, e4: %d}}", name, i+1))
	}
	// The last four: one step may be a command and several reports, and nobody looks in between.
	monitor := fmt.Sprintf("{of: %s, vars: {e1: 0..%[2]d, e2: 0..%[2]d, e3: 0..%[2]d, e4: 0..%[2]d}, initial: on, "+
		"states: {on: {%[3]s}}}", role.Name, len(names), strings.Join(events, ", "))
	type two struct {
		inst          string
		first, second int // 0 is the beginning
	}
	var list []atom
	var twos []two
	for _, i := range p.b.check(c.name).Instances {
		for n := range (len(names) + 1) * len(names) {
			if t := (two{i.Name, n / len(names), n%len(names) + 1}); i.Role == role && !i.IsHostile() {
				twos = append(twos, t)
				var ways []string
				for e := 1; e < 4; e++ {
					ways = append(ways, fmt.Sprintf("%[1]s.order0.e%[2]d == %[3]d && %[1]s.order0.e%[4]d == %[5]d",
						i.Name, e, t.first, e+1, t.second))
				}
				list = append(list, atom{text: strings.Join(ways, " || "), of: [2]int{i.Index, i.Index}})
			}
		}
	}
	was, is := p.see(ctx, m, c, "order of "+role.Name, list, []string{monitor})
	if was == nil {
		return nil
	}
	before, after := was.ever(), is.ever()
	var out []candidate
	for k, t := range twos {
		word, claim := "wrong", fmt.Sprintf("{always: \"!%s.order.wrong\"}", t.inst)
		if before[k] == after[k] {
			continue
		} else if before[k] {
			word, claim = "seen", fmt.Sprintf("{sometimes: %s.order.seen}", t.inst)
		}
		monitor := following(role.Name, names, t.first, t.second, word)
		out = append(out, candidate{claim: claim, monitor: monitor, cost: len(claim)})
	}
	return out
}

// ever tells which atoms hold somewhere.
func (s *sight) ever() []bool {
	out := make([]bool, len(s.atoms))
	for _, t := range s.pairs {
		for v := range t.all {
			for n, k := range t.atoms {
				out[k] = out[k] || v[n/8]>>(n%8)&1 != 0
			}
		}
	}
	return out
}

// following is a monitor that comes to the state end where one event comes right behind another; 0: as the first.
func following(role string, names []string, first, second int, end string) string {
	var others []string
	for i, name := range names {
		if i+1 != first && i+1 != second {
			others = append(others, name+": {goto: other}")
		}
	}
	x := names[second-1]
	if first == 0 {
		return fmt.Sprintf("{of: %s, initial: fresh, states: {fresh: {%s}, other: {}, %s: {}}}", role,
			strings.Join(append([]string{x + ": {goto: " + end + "}"}, others...), ", "), end)
	}
	return fmt.Sprintf("{of: %s, initial: other, states: {other: {%s: {goto: after}}, after: {%s}, %s: {}}}", role,
		names[first-1], strings.Join(append([]string{x + ": {goto: " + end + "}"}, others...), ", "), end)
}
