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

// MoreThanMessages says what a check has besides machines and messages: faults, time, machines that
// know their number or that of others. Reductions and proofs are not made for these.
func (s *Machines) MoreThanMessages() string {
	switch {
	case s.Check.Faults != nil:
		return "a check with faults"
	case s.Check.HasHostile():
		return "a check with a hostile instance, which may send each of the others something else"
	case s.Check.Time != nil:
		return "a check that counts time"
	case s.Check.Channel.Full != model.FullFault:
		return "a check in which a full channel is no fault"
	case s.Holds():
		return "a check whose machines defer messages"
	}
	for _, r := range s.Check.Rules {
		if r.Command.Kind == model.EventTimer {
			return "a check with a rule for a timer"
		}
	}
	for _, p := range s.Procs {
		knows := p.Role.Sender != nil
		for _, v := range p.Role.Params {
			knows = knows || v.Self
		}
		if knows {
			return "a check whose machines look at self or sender"
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

// Relinked is a local value in which every other instance has taken its place in to: the sets of
// links are permuted.
func (p *Process) Relinked(l codec.Local, to []int) codec.Local {
	l = l.Own()
	for _, at := range []int{p.atWaiting, p.atUp, p.atAsked, p.atBroken, p.AtCutoff} {
		old := uint64(l.Get(at))
		set := uint64(0)
		for ; old != 0; old &= old - 1 {
			set |= 1 << to[bits.TrailingZeros64(old)]
		}
		l.Set(at, int64(set))
	}
	return l
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
