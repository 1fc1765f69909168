package explore

import "fmt"

// Everything a system can do is kept in tables of dense ids: local values,
// messages and channel words are interned, and what happens at a local value
// (alone, or with a message) is a run of rules. Tables grow only between the
// parallel phases of a search, so that workers read them without locks.

// check says what is wrong with a system before anything runs.
func (s *System) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrSystem, fmt.Sprintf(format, args...))
	}
	if len(s.Channels) > 1<<15 {
		return bad("%d channels; there may be 32768", len(s.Channels))
	}
	if len(s.Procs) == 0 || len(s.Procs) > 1<<15 {
		return bad("%d machines; there must be between 1 and 32768", len(s.Procs))
	}
	if len(s.Labels) >= maxLabel {
		return bad("%d labels; there may be %d", len(s.Labels), maxLabel)
	}
	for i, p := range s.Procs {
		if p == nil {
			return bad("machine %d is nil", i)
		}
	}
	for i := range s.Channels {
		c := &s.Channels[i]
		if c.To < 0 || c.To >= len(s.Procs) {
			return bad("channel %d (%s) leads to machine %d of %d", i, c.Name, c.To, len(s.Procs))
		}
		if c.Cap < 1 || c.Cap > 65535 {
			return bad("channel %d (%s) has capacity %d; give 1 to 65535", i, c.Name, c.Cap)
		}
	}
	for _, n := range []int{s.Budget.Loss, s.Budget.Dup, s.Budget.Swap, s.Budget.Crash} {
		if n < 0 || n > 255 {
			return bad("a fault budget of %d; give 0 (no limit) to 255", n)
		}
	}
	for i := range s.Claims {
		if s.Claims[i].Eval == nil && s.Claims[i].Kind != Confluent {
			return bad("claim %d (%s) has no Eval", i, s.Claims[i].Name)
		}
	}
	return nil
}
