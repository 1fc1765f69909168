package certify

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/fsm"
)

// The names of built-in claims.
const (
	UnspecifiedReception = "unspecified-reception"
	Fault                = "fault"
	Deadlock             = "deadlock"
	OrphanMessage        = "orphan-message"
)

// verifier verifies one certificate against one check.
type verifier struct {
	c          *Certificate
	p          *model.Protocol
	check      *model.Check
	strs       *interp.Strings
	machines   []*interp.Machine
	from, to   []int // of channels
	class      []int // of channels: their place among those between two instances
	initial    []int
	stated     []*model.Claim // always, agree
	reachables []*model.Claim
	letters    map[string]int
	localIDs   map[string]int
	byLocals   map[string][]int // configurations, by local values
	exact      map[string]int   // configurations, by all they consist of
	ownMoves   map[int][]move
	received   map[[3]int]move
	eval       Lengths
	steps      int
	broken     map[string]string
	ways       [][]way // by configuration; nil: not looked for
	// the configuration at hand
	at     int
	locals []int
	words  [][]Block
}

// move is one thing an instance can do.
type move struct {
	next        int // local value afterwards, -1 if the certificate has it not
	sends       []send
	fault, text string       // the built-in claim that the move violates; what happens
	command     *model.Event // nil: nobody need ask for it
	rule        *model.EnvRule
	args        []int64
	forged      bool // what a hostile instance sends arrives: it need not
}

type send struct{ channel, letter int }

// newVerifier prepares the tables. It fails if the certificate does not fit the check.
func newVerifier(c *Certificate, p *model.Protocol) (*verifier, error) {
	v := &verifier{c: c, p: p, strs: &interp.Strings{}, letters: map[string]int{}, localIDs: map[string]int{},
		byLocals: map[string][]int{}, exact: map[string]int{}, ownMoves: map[int][]move{},
		received: map[[3]int]move{}, broken: map[string]string{}}
	i := slices.IndexFunc(p.Checks, func(k *model.Check) bool { return k.Name == c.Check })
	if i < 0 {
		return nil, fmt.Errorf("the specification has no check %s", c.Check)
	}
	v.check = p.Checks[i]
	if why := Beyond(v.check); why != "" {
		return nil, errors.New(why)
	}
	if c.Values > 0 {
		Widen(p, c.Values)
	}
	v.strs.InternDomains(p)
	v.eval.Strings = v.strs
	for n, m := range c.Messages {
		if len(m) == 0 || m[0] < 0 || m[0] >= int64(len(p.Messages)) ||
			len(m)-1 != interp.FieldSlots(p.Messages[m[0]].Fields) {
			return nil, fmt.Errorf("message %d of the certificate is none of the specification's", n)
		}
		v.letters[slotsKey(m)] = n
	}
	for n, l := range c.Locals {
		if len(l) == 0 || l[0] < 0 || l[0] >= int64(len(v.check.Instances)) ||
			len(l) != v.localSize(int(l[0])) || l[2+len(v.role(int(l[0])).Commands)] < 0 ||
			l[2+len(v.role(int(l[0])).Commands)] >= int64(len(v.role(int(l[0])).States)) {
			return nil, fmt.Errorf("local value %d of the certificate is none of the check's", n)
		}
		v.localIDs[slotsKey(l)] = n
	}
	for _, a := range v.check.Instances {
		v.machines = append(v.machines, interp.New(a.Role, v.strs))
		for _, b := range v.check.Instances {
			if a != b {
				for class := range v.check.Channels() {
					v.from, v.to, v.class = append(v.from, a.Index), append(v.to, b.Index), append(v.class, class)
				}
			}
		}
	}
	return v, errors.Join(v.begin(), v.state(), v.index())
}

// Beyond says why a check is beyond what can be certified, or "": it has steps
// that the verifier does not take, or steps that a longer channel would make impossible.
func Beyond(c *model.Check) string {
	switch {
	case c.Faults != nil:
		return "proofs are not made for a check with faults"
	case c.HasComers():
		return "proofs are not made for a check in which parties come and go: how many come is a bound of the " +
			"check, and a proof is about what no bound limits"
	case len(c.Monitors) > 0:
		return "proofs are not made for a check with a monitor of several instances"
	case c.Time != nil:
		return "proofs are not made for a check that counts time"
	}
	for _, ch := range c.Channels() {
		// where messages are lost anyway, one that finds no room is no other loss
		if ch.Full == model.FullWait || ch.Full == model.FullLose && !ch.Lossy {
			return "a full channel is no fault in this check: its capacity is part of what it means"
		}
	}
	for _, r := range c.Rules {
		if r.Command.Kind != model.EventCommand {
			return "proofs are not made for a check with a rule for a timer"
		}
	}
	for _, in := range c.Instances {
		switch {
		case in.Role.Defers():
			return "proofs are not made for a check whose machines defer messages, since how many they hold " +
				"is bounded: role " + in.Role.Name
		case in.Role.Mentions(model.EventUp), in.Role.Closes():
			return "proofs are not made for a check whose links come up or are closed: role " + in.Role.Name
		}
	}
	for _, k := range c.Claims {
		if k.Within > 0 {
			return "proofs are not made for claims that count time"
		}
	}
	return beyondHostile(c)
}

// channel says what the channel with number k does.
func (v *verifier) channel(k int) model.Channel {
	if v.class[k] == 0 {
		return v.check.Channel
	}
	return v.check.Beside[v.class[k]-1]
}

func (v *verifier) role(i int) *model.Machine { return v.check.Instances[i].Role }

func (v *verifier) localSize(i int) int { return 2 + len(v.role(i).Commands) + v.role(i).Size }

// begin finds the initial local values. An instance whose start does nothing begins as if it were done.
func (v *verifier) begin() error {
	for i, inst := range v.check.Instances {
		var args [][]int64
		for _, e := range inst.Args {
			d := make([]int64, e.Type().Slots())
			if err := v.eval.Into(core.Of(e), d, nil, nil); err != nil {
				return err
			}
			args = append(args, d)
		}
		value, err := interp.NewValue(inst.Role, v.strs, args...)
		if err != nil {
			return err
		}
		local := make([]int64, 2+len(inst.Role.Commands), v.localSize(i))
		local[0] = int64(i)
		local = append(local, value...)
		if inst.IsHostile() { // it stays as it is
			local[1] = 1
			v.initial = append(v.initial, v.id(v.localIDs, local))
			continue
		}
		m := v.start(i, local)
		if m.fault == "" && len(m.sends) == 0 && m.next >= 0 && slices.Equal(v.c.Locals[m.next][2:], local[2:]) {
			v.initial = append(v.initial, m.next)
		} else {
			v.initial = append(v.initial, v.id(v.localIDs, local))
		}
	}
	return nil
}

// state finds the claims that the certificate names.
func (v *verifier) state() error {
	for _, name := range v.c.Claims {
		if slices.Contains([]string{UnspecifiedReception, Fault, Deadlock, OrphanMessage}, name) {
			continue
		}
		i := slices.IndexFunc(v.check.Claims, func(c *model.Claim) bool { return c.Name == name })
		switch {
		case i >= 0 && v.check.Claims[i].Kind == model.Reachable:
			v.reachables = append(v.reachables, v.check.Claims[i])
		case i >= 0 && (v.check.Claims[i].Kind == model.Always || v.check.Claims[i].Kind == model.Agree):
			v.stated = append(v.stated, v.check.Claims[i])
		default:
			return fmt.Errorf("%s is no claim that a certificate can establish", name)
		}
	}
	return nil
}

// index sorts the configurations by local values.
func (v *verifier) index() error {
	for n, x := range v.c.Configurations {
		bad := len(x) != len(v.machines)+len(v.to)
		for i, id := range x {
			bad = bad || id < 0 || i < len(v.machines) &&
				(id >= len(v.c.Locals) || v.c.Locals[id][0] != int64(i)) || i >= len(v.machines) && id >= len(v.c.Words)
		}
		if bad {
			return fmt.Errorf("configuration %d of the certificate is malformed", n)
		}
		locals, words := v.configuration(n)
		few := key(locals, nil)
		v.byLocals[few] = append(v.byLocals[few], n)
		v.exact[key(locals, words)] = n
	}
	return nil
}

// key is a text for local values and words; equal keys mean equal words.
func key(locals []int, words [][]Block) string {
	b := make([]byte, 0, 64)
	for _, id := range locals {
		b = binary.AppendVarint(b, int64(id))
	}
	for _, w := range words {
		b = binary.AppendUvarint(b, uint64(len(w)))
		for _, x := range w {
			b = binary.AppendUvarint(b, uint64(len(x)))
			for _, n := range x {
				b = binary.AppendVarint(b, int64(n))
			}
		}
	}
	return string(b)
}

func (v *verifier) configuration(n int) ([]int, [][]Block) {
	x := v.c.Configurations[n]
	words := make([][]Block, len(v.to))
	for k := range words {
		words[k] = v.c.Words[x[len(v.machines)+k]]
	}
	return x[:len(v.machines)], words
}

func (v *verifier) id(ids map[string]int, slots []int64) int {
	if n, ok := ids[slotsKey(slots)]; ok {
		return n
	}
	return -1
}

func slotsKey(slots []int64) string {
	b := make([]byte, 0, 64)
	for _, x := range slots {
		b = binary.AppendVarint(b, x)
	}
	return string(b)
}

// own lists what instance i can do by itself.
func (v *verifier) own(i, id int) []move {
	if out, ok := v.ownMoves[id]; ok {
		return out
	}
	var out []move
	local := v.c.Locals[id]
	commands := v.role(i).Commands
	switch {
	case v.check.Instances[i].IsHostile():
	case local[1] == 0:
		out = []move{v.start(i, local)}
	default:
		out = v.forged(i, local)
		for c, ev := range commands {
			out = append(out, v.commands(i, local, c, ev)...)
		}
		for _, ev := range timers(v.role(i), nil, 2+len(commands)) {
			if local[ev.slot] != 0 {
				if m, deferred := v.step(i, local, ev.Event); !deferred {
					out = append(out, m)
				}
			}
		}
	}
	v.ownMoves[id] = out
	return out
}

func (v *verifier) start(i int, local []int64) move {
	started := slices.Clone(local)
	started[1] = 1
	for _, ev := range v.role(i).Events {
		if ev.Kind == model.EventStart {
			m, _ := v.step(i, started, interp.Event{Event: ev})
			return m
		}
	}
	return move{next: v.id(v.localIDs, started), text: "start"}
}

// commands lists the moves that a command makes possible, with the rule that allows them.
func (v *verifier) commands(i int, local []int64, c int, ev *model.Event) []move {
	if v.role(i).States[local[2+len(v.role(i).Commands)]].Handlers[ev.Index] == nil {
		return nil // refused, whatever the arguments are
	}
	var rule *model.EnvRule
	for _, r := range v.check.Rules {
		if r.Command == ev && v.c.Lift != "rules" {
			rule = r
		}
	}
	if rule != nil && rule.Times > 0 {
		if local = slices.Clone(local); local[2+c] >= int64(rule.Times) {
			return nil
		}
		local[2+c]++
	}
	arg := make([]int64, interp.FieldSlots(ev.Fields))
	t := &model.Type{Kind: model.KindRecord, Fields: ev.Fields}
	interp.Zero(t, arg)
	var out []move
	for {
		m, taken := v.take(i, local, interp.Event{Event: ev, Args: arg})
		if taken {
			m.command, m.rule, m.args = ev, rule, slices.Clone(arg)
			out = append(out, m)
		}
		if !interp.Next(t, arg) {
			return out
		}
	}
}

type timer struct {
	interp.Event
	slot int
}

// timers lists the timers of a machine and its parts; its value begins at slot base.
func timers(m *model.Machine, at []interp.At, base int) []timer {
	var out []timer
	for _, ev := range m.Events {
		if ev.Kind == model.EventTimer {
			for k := range ev.Timer.Count {
				out = append(out, timer{interp.Event{Event: ev, At: at, Args: interp.TimerKeys(ev.Timer, k)},
					base + ev.Timer.Offset + k})
			}
		}
	}
	for _, p := range m.Parts {
		for k := range p.Count {
			out = append(out, timers(p.Machine, append(slices.Clone(at), interp.At{Part: p, Index: k}),
				base+p.Offset+k*p.Machine.Size)...)
		}
	}
	return out
}

// receive is the reception of a message from channel k by instance i; deferred
// says that it stays where it is.
func (v *verifier) receive(i, id, k, letter int) (move, bool) {
	key := [3]int{id, k, letter}
	if m, ok := v.received[key]; ok {
		return m, m.text == ""
	}
	local, msg := v.c.Locals[id], v.c.Messages[letter]
	var m move
	for _, ev := range v.role(i).Events {
		if local[1] == 1 && ev.Kind == model.EventMessage && ev.Message.Name == v.p.Messages[msg[0]].Name {
			m, _ = v.step(i, local, interp.Event{Event: ev, Args: msg[1:], Sender: v.from[k]})
		}
	}
	v.received[key] = m
	return m, m.text == ""
}

// take gives an event to instance i and reports whether it was taken.
func (v *verifier) take(i int, local []int64, ev interp.Event) (move, bool) {
	head := 2 + len(v.role(i).Commands)
	next, effects, res, fault := v.machines[i].Step(local[head:], ev)
	m := move{text: v.check.Instances[i].Name + ": " + ev.Event.Name + " in state " +
		v.role(i).States[local[head]].Name}
	if res.Code == fsm.Refused {
		m.text = fmt.Sprintf("%s: %s: %s", m.text, interp.AppendEvent(nil, v.strs, ev), fault.Why())
		if m.fault = UnspecifiedReception; fault.Kind == interp.Failed {
			m.fault = Fault
		}
		return m, false
	}
	m.next = v.id(v.localIDs, slices.Concat(local[:head], next))
	for _, e := range effects {
		if e.Kind != fsm.Send {
			continue
		}
		msg := append([]int64{int64(e.Message.Index)}, e.Slots...)
		to := v.receivers(i, e)
		if len(to) == 0 {
			m.fault = Fault
		}
		for _, k := range to {
			if v.check.Instances[v.to[k]].IsHostile() {
				continue // it is gone at once
			}
			m.sends = append(m.sends, send{k, v.id(v.letters, msg)})
		}
	}
	if res.Code == fsm.Deferred {
		m.text = ""
	}
	return m, res.Code == fsm.Took
}

// step is take for an event that must not be refused; the second result says that it was deferred.
func (v *verifier) step(i int, local []int64, ev interp.Event) (move, bool) {
	m, _ := v.take(i, local, ev)
	return m, m.text == ""
}

// receivers lists the channels that a message goes to; none if it cannot be sent.
func (v *verifier) receivers(i int, e interp.Effect) []int {
	var out []int
	for k := range v.to {
		peer := e.Dest == model.ToPeer && len(v.machines) == 2
		if v.from[k] == i && v.class[k] == e.Message.Channel &&
			(peer || e.Dest != model.ToPeer && (e.To == int(fsm.Broadcast) || e.To == v.to[k])) {
			out = append(out, k)
		}
	}
	return out
}
