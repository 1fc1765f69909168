package system

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/interp"
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/proptest/check/codec"
	"github.com/parley-go/parley/proptest/check/cond"
	"github.com/parley-go/parley/proptest/check/report"
	"github.com/parley-go/parley/proptest/explore"
)

// Local takes a local value of instance i apart: whether it was started, how
// often each command that a rule gives a number of times was given (0 for other commands), and the
// machine's value.
func (s *Machines) Local(i int, b []byte) (started bool, given []int64, v interp.Value) {
	p := s.Procs[i]
	l := p.Unpack(b)
	for _, c := range p.Commands {
		if c.Count >= 0 {
			given = append(given, l.Used[c.Count])
		} else {
			given = append(given, 0)
		}
	}
	return l.Started, given, slices.Clone(l.Value)
}

// Message takes a message apart.
func (s *Machines) Message(b []byte) (*model.Message, []int64) {
	return codec.UnpackMessage(s.Protocol, b)
}

// RuleFaults says which environment rules faulted; there the command was not given.
func (s *Machines) RuleFaults() []string {
	var out []string
	note := func(r *cond.Rule) {
		if r != nil && r.Err != nil {
			out = append(out, "the rule for "+r.Env.Command.Name+": "+cond.FaultText(r.Err))
		}
	}
	for _, p := range s.Procs {
		for i := range p.Commands {
			note(p.Commands[i].Rule)
		}
		for i := range p.Timers {
			note(p.Timers[i].Rule)
		}
	}
	return out
}

// Irreducible says what a check has of which nobody knows whether it is interchangeable, or "".
func (s *Machines) Irreducible() string {
	for _, r := range s.Check.Rules {
		if r.Command.Kind == model.EventTimer {
			return "a check with a rule for a timer"
		}
	}
	if len(s.Joint) > 0 {
		return "a check with a monitor of several instances"
	}
	for _, c := range s.Check.Claims {
		if c.Within > 0 {
			return "a check with a claim that counts time"
		}
	}
	return ""
}

// Covered adds up what a search counted. A step that uses a place several times counts once.
func (s *Machines) Covered(res *explore.Result) report.Uses {
	out := report.Uses{}
	for _, t := range res.Tallies {
		var done []report.Mark
		for _, k := range s.Counted.trails[t.Tally-1] {
			if !slices.Contains(done, k) {
				done = append(done, k)
				u := out[k]
				out[k] = report.Count{Taken: u.Taken + t.Taken, Faults: u.Faults + t.Faults}
			}
		}
	}
	return out
}

// Relinked is a local value in which every other instance has taken its place in to: sets of them are
// permuted, and what is counted for each of them, and who has sent what is held.
func (p *Process) Relinked(l codec.Local, to []int) codec.Local {
	l = l.Own()
	for _, at := range []int{p.atWaiting, p.atUp, p.atAsked, p.atBroken, p.AtCutoff} {
		l.Set(at, int64(permuted(uint64(l.Get(at)), to)))
	}
	for _, at := range []int{p.atTold, p.atHeard, p.atReturns} {
		old, counts := uint64(l.Get(at)), uint64(0)
		for i, k := range to {
			counts |= old >> (4 * i) & 15 << (4 * k)
		}
		l.Set(at, int64(counts))
	}
	l.Held = slices.Clone(l.Held)
	for i := range l.Held {
		l.Held[i].From = to[l.Held[i].From]
	}
	return l
}

// permuted is a set of instances, each of which has taken its place in to.
func permuted(old uint64, to []int) (set uint64) {
	for ; old != 0; old &= old - 1 {
		set |= 1 << to[bits.TrailingZeros64(old)]
	}
	return set
}

// Replaced permutes machines and channels as instances take their places in to: those that tell the
// instances of partitions and of beats stay, and their channels go with the receivers.
func (s *Machines) Replaced(to []int) (procs, channels []int) {
	procs = slices.Clone(to)
	place := func(i int) int {
		if i < len(to) {
			return to[i]
		}
		return i
	}
	for i := len(to); i < len(s.System.Procs); i++ {
		procs = append(procs, i)
	}
	for k, c := range s.System.Channels {
		if k < s.Own {
			channels = append(channels, s.Channel(to[c.From], to[c.To], s.Rules.Channels[k].Class))
			continue
		}
		channels = append(channels, slices.IndexFunc(s.System.Channels, func(d explore.Channel) bool {
			return d.From == place(c.From) && d.To == place(c.To)
		}))
	}
	return procs, channels
}

// Reparted is the local value of the machine that parts the instances, or of another that is no
// instance, when each instance has taken its place in to.
func (s *Machines) Reparted(proc int, v []byte, to []int) []byte {
	if _, is := s.System.Procs[proc].(*parter); !is {
		return slices.Clone(v)
	}
	side := []int64{0}
	codec.ReadSlots(v, side)
	now := s.Rules.Side(permuted(uint64(side[0]), to))
	return codec.AppendSlots(nil, []int64{int64(now)})
}

// Retold is what lies in a channel when each instance has taken its place in to.
func (s *Machines) Retold(msg []byte, to []int) []byte {
	if n, is := codec.NewsOf(s.Protocol, msg); is && n == codec.NewsParted {
		return codec.PackNews(s.Protocol, n, int64(permuted(uint64(codec.Number(msg)), to)))
	}
	return slices.Clone(msg)
}

// DutyNames lists the commands of which one will do.
func DutyNames(env *model.EnvRule) string {
	names := env.Command.Name
	for i, ev := range env.Or {
		if names += ", "; i == len(env.Or)-1 {
			names = strings.TrimSuffix(names, ", ") + " or "
		}
		names += ev.Name
	}
	return names
}
