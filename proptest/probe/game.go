package probe

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/replay"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/runtime/world"
)

// Configurations and moves of the two instances.
type (
	configuration = world.Configuration[interp.Value, string]
	move          = world.Move[string]
	result        = world.Result[interp.Value, string]
)

// game is the instances of a check: the program is one of them, and we are all others.
type game struct {
	protocol *model.Protocol
	check    *model.Check
	they     int
	us       []int // in order
	strs     *interp.Strings
	stage    *stage.Stage
	players  []*player
	world    *stage.World
	chosen   string              // which check and instance were taken where nobody said which; else empty
	values   map[string][]string // what fields are given, by name
	rng      *rand.Rand
}

// player is an instance with the commands that its program may give.
type player struct {
	*stage.Party
	commands []interp.Event
	texts    []string
}

// Commands implements [world.Commander].
func (p *player) Commands(v interp.Value) (list []string) {
	h := p.States[v[0]].Handlers
	for i, ev := range p.commands {
		if ev.Event.Index < len(h) && h[ev.Event.Index] != nil {
			list = append(list, p.texts[i])
		}
	}
	return list
}

// newGame finds the check that is played and the program's instance in it.
func newGame(p *model.Protocol, o *Options) (*game, error) {
	g := &game{protocol: p, strs: &interp.Strings{}, values: o.Values, rng: rand.New(rand.NewPCG(o.Seed, 1))}
	for _, c := range p.Checks {
		fits := o.Check == "" && len(c.Instances) == 2 && !c.HasHostile()
		if g.check == nil && (fits || c.Name == o.Check) {
			g.check = c
		}
	}
	for _, c := range p.Checks { // none of two
		if g.check == nil && o.Check == "" && len(c.Instances) > 2 && !c.HasHostile() {
			g.check = c
		}
	}
	switch {
	case g.check == nil && o.Check != "":
		return nil, fmt.Errorf("%s has no check %s", p.Name, o.Check)
	case g.check == nil:
		return nil, fmt.Errorf("%s has no check in which nobody is hostile; probe plays all instances of a check but "+
			"one, and the program is that", p.Name)
	case len(g.check.Instances) < 2:
		return nil, fmt.Errorf("check %s has one instance; probe plays all but one, and the program is that",
			g.check.Name)
	case g.check.HasHostile():
		return nil, fmt.Errorf("check %s has hostile instances; probe is hostile by itself", g.check.Name)
	}
	var why string
	if g.they, why = g.target(o.Target); g.they < 0 {
		return nil, fmt.Errorf("check %s has no instance %s; the program is one of %s", g.check.Name, o.Target,
			g.list())
	}
	for i := range g.check.Instances {
		if i != g.they {
			g.us = append(g.us, i)
		}
	}
	g.chosen = g.choice(o, why)
	if o.Connections > 0 && o.Connections < len(g.us) {
		g.us = g.us[:o.Connections:o.Connections]
	}
	if n := len(g.us) * len(p.Channels()); n > replay.MostLanes {
		return nil, fmt.Errorf("check %s has %d instances beside the program, with %d channels each; probe has at "+
			"most %d connections at a time", g.check.Name, len(g.us), len(p.Channels()), replay.MostLanes)
	}
	if err := g.begin(); err != nil {
		return nil, err
	}
	return g, g.apart()
}

// list are the instances in words.
func (g *game) list() string {
	var list []string
	for _, x := range g.check.Instances {
		list = append(list, x.Name+" ("+x.Role.Name+")")
	}
	return strings.Join(list, ", ")
}

// choice says in words what was taken where the options do not say it.
func (g *game) choice(o *Options, why string) string {
	var list []string
	if o.Check == "" && len(g.protocol.Checks) > 1 {
		words := "the first of two instances"
		if len(g.check.Instances) > 2 {
			words = "the first in which nobody is hostile"
		}
		list = append(list, "check "+g.check.Name+", "+words+" (--check takes another)")
	}
	if o.Target == "" {
		list = append(list, g.name(g.they)+" for the program, "+why+" (--target takes another)")
	}
	return strings.Join(list, "; ")
}

// target is the instance that the program is, and why: the one of a name, or the only one of a role; else one that is
// external, else of several the only one of its role, else the second. It is -1 for a name that fits none.
func (g *game) target(name string) (who int, why string) {
	count, only := map[string]int{}, -1
	for _, x := range g.check.Instances {
		count[x.Role.Name]++
	}
	for i, x := range g.check.Instances {
		alone := count[x.Role.Name] == 1
		if name == x.Name || name == x.Role.Name && alone || name == "" && x.Role.External {
			return i, "whose role is external"
		}
		if alone && only < 0 {
			only = i
		}
	}
	switch {
	case name != "":
		return -1, ""
	case len(g.check.Instances) > 2 && only >= 0:
		return only, "the only one of its role"
	}
	return 1, "the second one"
}

// apart says which two of our instances speak with each other: what they say would not reach the program.
func (g *game) apart() error {
	for _, l := range stage.Rules(g.check).Links {
		if l.A != g.they && l.B != g.they {
			return fmt.Errorf("in check %s, %s and %s speak with each other; probe plays a check in which all speak "+
				"with the program alone", g.check.Name, g.name(l.A), g.name(l.B))
		}
	}
	return nil
}

// plays reports whether an instance takes part: it is the program, or one of ours that connects.
func (g *game) plays(who int) bool { return who == g.they || slices.Contains(g.us, who) }

func (g *game) begin() (err error) {
	if g.stage, err = stage.Sharing(g.protocol, g.check, g.strs); err != nil {
		return err
	}
	g.stage.World.Rules.Faults = world.Faults{}
	for k := range g.stage.World.Rules.Channels {
		ch := &g.stage.World.Rules.Channels[k]
		ch.Lossy, ch.Duplicates, ch.Order = false, false, world.Fifo
	}
	g.stage.World.Rules.Links = slices.DeleteFunc(g.stage.World.Rules.Links, func(l world.Link) bool {
		return l.A != g.they && l.B != g.they || !g.plays(l.A) || !g.plays(l.B)
	})
	g.world = &stage.World{Rules: g.stage.World.Rules}
	for i, p := range g.stage.Parties {
		g.players = append(g.players, &player{Party: p})
		for _, ev := range p.Commands {
			for _, args := range g.arguments(ev.Fields) {
				e := interp.Event{Event: ev, Args: args}
				g.players[i].commands = append(g.players[i].commands, e)
				g.players[i].texts = append(g.players[i].texts, p.Command(e))
			}
		}
		g.world.Machines = append(g.world.Machines, g.players[i])
	}
	for name, list := range g.values {
		if !g.known(name) {
			return fmt.Errorf("--value %s=%s: no command or message of %s has a field %[1]s", name, list[0],
				g.protocol.Name)
		}
	}
	for name, list := range g.values {
		if err := g.readable(name, list); err != nil {
			return err
		}
	}
	return nil
}

// fields gives the fields of all commands and messages.
func (g *game) fields() (all []*model.Field) {
	for _, p := range g.players {
		for _, ev := range p.Party.Commands {
			all = append(all, ev.Fields...)
		}
	}
	for _, m := range g.protocol.Messages {
		all = append(all, m.Fields...)
	}
	return all
}

func (g *game) known(name string) bool {
	return slices.ContainsFunc(g.fields(), func(f *model.Field) bool { return f.Name == name })
}

// readable says what is wrong with values that are given for a field that nothing of its name can have.
func (g *game) readable(name string, list []string) error {
	for _, text := range list {
		var wrong error
		fits := false
		for _, f := range g.fields() {
			if f.Name != name {
				continue
			}
			if _, err := g.parse(f.Type, text); err != nil {
				wrong = err
			} else {
				fits = true
			}
		}
		if !fits {
			return fmt.Errorf("--value %s=%s: %w", name, text, wrong)
		}
	}
	return nil
}

// parse reads a value as specifications write it; a text may stand without quotes.
func (g *game) parse(t *model.Type, text string) ([]int64, error) {
	v, err := interp.ParseValue(t, g.strs, text)
	if err != nil && t.Kind == model.KindBytes {
		if w, err := interp.ParseValue(t, g.strs, strconv.Quote(text)); err == nil {
			return w, nil
		}
	}
	return v, err
}

// How many values a field has, and how many tuples of arguments a command: few, since all are tried in every state.
const (
	mostOfField   = 4
	mostArguments = 12
)

// arguments are tuples for fields: all if they are few, else each value beside the first ones of the others, and
// some that are drawn.
func (g *game) arguments(fields []*model.Field) [][]int64 {
	lists, all := make([][][]int64, len(fields)), 1
	for i, f := range fields {
		lists[i] = g.samples(f.Type, f.Name)
		all *= len(lists[i])
		all = min(all, 1<<20)
	}
	tuple := func(pick func(i int) int) (v []int64) {
		for i := range fields {
			v = append(v, lists[i][pick(i)]...)
		}
		return v
	}
	var out [][]int64
	if all <= mostArguments {
		for n := range all {
			rest := n
			out = append(out, tuple(func(i int) int {
				k := rest % len(lists[i])
				rest /= len(lists[i])
				return k
			}))
		}
		return out
	}
	for i := range fields {
		for k := range lists[i] {
			if k > 0 || i == 0 {
				out = append(out, tuple(func(j int) int {
					if i == j {
						return k
					}
					return 0
				}))
			}
		}
	}
	for len(out) < mostArguments {
		out = append(out, tuple(func(i int) int { return g.rng.IntN(len(lists[i])) }))
	}
	return out[:mostArguments]
}

// samples are values of a type: those that are given for the field, else the ends of its range and what is next to
// them, each name of an enumeration, short texts and lists.
func (g *game) samples(t *model.Type, name string) (out [][]int64) {
	for _, text := range g.values[name] {
		if v, err := g.parse(t, text); err == nil {
			out = append(out, v)
		}
	}
	if len(out) > 0 {
		return out
	}
	zero := make([]int64, t.Slots())
	interp.Zero(t, zero)
	add := func(v []int64) {
		if len(v) == t.Slots() && !slices.ContainsFunc(out, func(w []int64) bool { return slices.Equal(v, w) }) {
			out = append(out, v)
		}
	}
	ints := func(list ...int64) {
		for _, n := range list {
			if n >= t.Lo && n <= t.Hi {
				add([]int64{n})
			}
		}
	}
	switch t.Kind {
	case model.KindBool:
		return [][]int64{{1}, {0}}
	case model.KindEnum:
		for n := range min(len(t.Names), 8) {
			add([]int64{int64(n)})
		}
	case model.KindInt:
		ints(t.Lo+1, t.Lo, t.Hi, t.Lo+(t.Hi-t.Lo)/2)
	case model.KindNode:
		ints(int64(g.us[0]), int64(g.they), int64(g.us[len(g.us)-1]))
	case model.KindOpaque:
		add([]int64{1})
		add([]int64{0})
		add([]int64{g.rng.Int64N(1 << min(t.Bits, 31))})
	case model.KindBytes:
		g.texts(t, add)
	case model.KindOptional:
		for _, v := range g.samples(t.Elem, name)[:1] {
			add(append([]int64{1}, v...))
		}
		add(zero)
	case model.KindList:
		v := slices.Clone(zero)
		if t.Cap > 0 {
			v[0] = 1
			copy(v[1:], g.samples(t.Elem, name)[0])
			add(v)
		}
		add(zero)
	case model.KindRecord:
		first := slices.Clone(zero)
		for _, f := range t.Fields {
			copy(first[f.Offset:], g.samples(f.Type, f.Name)[0])
		}
		add(first)
		add(zero)
	default:
		add(zero)
	}
	return out[:min(len(out), max(mostOfField, len(t.Names)))]
}

func (g *game) texts(t *model.Type, add func(v []int64)) {
	for _, text := range []string{"a", "", strings.Repeat("b", t.Cap)} {
		if t.Exact {
			text = strings.Repeat("c", t.Cap)
		}
		if len(text) <= t.Cap && len(text) <= 300 && !strings.ContainsAny(text, t.Without) {
			add([]int64{g.strs.Intern([]byte(text))})
		}
	}
	if t.Cap == 0 {
		add([]int64{g.strs.Intern(nil)})
	}
}

// frame is a message as bytes.
func (g *game) frame(text string) ([]byte, error) { return g.stage.Frame(text) }

// tell makes a message of the protocol known to the machines and returns its text.
func (g *game) tell(m *model.Message, slots []int64) string { return g.stage.Tell(m, slots) }

// name is the name of an instance.
func (g *game) name(i int) string { return g.check.Instances[i].Name }

// role is the machine of an instance.
func (g *game) role(i int) *model.Machine { return g.players[i].Machine }

// state is the control state of a value of an instance, as text.
func (g *game) state(i int, v interp.Value) string { return interp.StatePath(g.role(i), v) }

// class is the channel in which a message goes.
func (g *game) class(text string) int {
	if m, _ := g.stage.Said(text); m != nil {
		return m.Channel
	}
	return 0
}

// queue is the channel of the world between two instances in which a message goes.
func (g *game) queue(from, to, class int) int { return g.stage.World.Rules.Channel(from, to, class) }

// waits reports whether anything is under way from one instance to another.
func (g *game) waits(c *configuration, from, to int) bool {
	for class := range g.protocol.Channels() {
		if len(c.Queues[g.queue(from, to, class)]) > 0 {
			return true
		}
	}
	return false
}
