package campaign

import (
	"slices"

	"github.com/parley-go/parley/gen/core"
	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/gen/stage"
	"github.com/parley-go/parley/proptest/check/system"
	"github.com/parley-go/parley/runtime/world"
)

// rule is what the check's environment says of a command or a timer of one instance.
type rule struct {
	env    *model.EnvRule
	when   core.Expr
	locals []int64
	// alone: the condition looks at no channel.
	alone bool
	// count is which of the player's counters bounds it, -1: none.
	count int
}

// environment gives each party its commands, and finds the rules for them and for its timers.
func (p *Player) environment() error {
	if err := p.hostile(); err != nil {
		return err
	}
	for i, x := range p.parties {
		if p.check.Instances[i].IsHostile() {
			continue // nobody runs the machine
		}
		for kind, ev := range x.Commands {
			x.first = append(x.first, len(x.commands))
			k := slices.IndexFunc(p.check.Rules, func(r *model.EnvRule) bool { return r.Command == ev && r.Never() })
			if k >= 0 {
				continue
			}
			args, err := interp.Domains(ev, system.MaxArguments)
			if err != nil {
				return err
			}
			r := p.rule(i, ev)
			for _, a := range args {
				e := interp.Event{Event: ev, Args: a}
				x.commands = append(x.commands, command{kind: kind, event: e, text: x.Command(e), rule: r,
					allowed: map[value]bool{}})
			}
		}
		x.first = append(x.first, len(x.commands))
		rules := make([]*rule, len(x.Alarms))
		for t := range x.Alarms {
			rules[t] = p.rule(i, x.Alarms[t].Event.Event)
		}
		p.timerRules[i] = rules
	}
	p.world.Allowed = p.allowed
	p.eval.Strings = p.stage.Strings
	p.eval.ChanLen = p.length
	return nil
}

// hostile finds what hostile instances send.
func (p *Player) hostile() error {
	hostile := stage.NewHostile(p.claims.Protocol, p.check, p.stage.Strings)
	for i, x := range p.parties {
		x.forged = make([][]letter, len(p.parties))
		if !p.check.Instances[i].IsHostile() {
			continue
		}
		for j, to := range p.check.Instances {
			if to.IsHostile() {
				continue
			}
			list, _, err := hostile.Forgeries(p.check.Instances[i], to)
			if err != nil {
				return err
			}
			for _, f := range list {
				m := p.parties[j].alphabet.number(p.stage, p.stage.Tell(f.Message, f.Slots))
				x.forged[j] = append(x.forged[j], m)
			}
		}
	}
	return nil
}

// rule is the last rule for an event of an instance, as the checker takes it; nil if there is none.
func (p *Player) rule(i int, ev *model.Event) *rule {
	var r *rule
	for _, env := range p.check.Rules {
		if env.Command != ev {
			continue
		}
		r = &rule{env: env, when: core.Of(env.When), count: -1, alone: true,
			locals: make([]int64, max(env.Locals, interp.FieldSlots(ev.Fields)))}
		core.Walk(r.when, func(e core.Expr) {
			if _, ok := e.(*core.Observe); ok {
				r.alone = false
			}
		})
		if env.Times > 0 {
			r.count = len(p.counted)
			p.counted = append(p.counted, i)
		}
	}
	return r
}

// allowed implements Allowed of [world.World].
func (p *Player) allowed(c *configuration, i int, ev event) bool {
	x := p.parties[i]
	if ev.Kind != world.Command {
		r := p.timerRules[i][ev.Timer]
		if r == nil {
			return true
		}
		a := &x.Alarms[ev.Timer]
		v := x.values[c.Values[i]]
		return p.within(r) && p.says(c, i, r, v[a.Base:a.Base+a.Size], a.Event.Args)
	}
	cmd := &x.commands[ev.Message]
	r := cmd.rule
	if r == nil {
		return true
	}
	if !p.within(r) {
		return false
	}
	if r.when == nil || !r.alone {
		return p.says(c, i, r, x.values[c.Values[i]], cmd.event.Args)
	}
	yes, ok := cmd.allowed[c.Values[i]]
	if !ok {
		yes = p.says(c, i, r, x.values[c.Values[i]], cmd.event.Args)
		cmd.allowed[c.Values[i]] = yes
	}
	return yes
}

// within reports whether the rule's number of times is not used up.
func (p *Player) within(r *rule) bool { return r.count < 0 || p.used[r.count] < r.env.Times }

// says evaluates the condition of a rule. One that faults forbids.
func (p *Player) says(c *configuration, i int, r *rule, v interp.Value, args []int64) bool {
	if r.when == nil {
		return true
	}
	clear(r.locals)
	from := 0
	for _, l := range r.env.Params {
		from += copy(r.locals[l.Offset:l.Offset+l.Type.Slots()], args[from:])
	}
	p.looked, p.looker = c, p.check.Instances[i]
	ok, err := p.eval.Bool(r.when, v, r.locals)
	return ok && err == nil
}

// length answers the length of channels in the configuration that is looked at: for an instance's
// rule what is under way, for a claim what is held, too.
func (p *Player) length(l *model.ChanLen) (n int64) {
	for k, q := range p.looked.Queues {
		if !p.claims.Parts.LooksAt(p.looker, l, k) {
			continue
		}
		for at := range q {
			news := q[at].News != world.NoNews
			if news && l.News || !news && p.counts(l.Message, q[at].Message) {
				n++
			}
		}
		if ch := &p.world.Rules.Channels[k]; p.looker == nil {
			for _, h := range p.looked.Ends[ch.To].Held {
				over := p.alphabet.messages[h.Message].Channel
				if h.From == ch.From && over == ch.Class && p.counts(l.Message, h.Message) {
					n++
				}
			}
		}
	}
	return n
}

func (p *Player) counts(m *model.Message, x letter) bool {
	return m == nil || m.Index == p.alphabet.messages[x].Index
}
