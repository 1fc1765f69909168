package api

import "fmt"

// maxLabel is the greatest number of a label; what a step is counted under shares a word with a [Kind].
const MaxLabel = 1<<24 - 1

// Check returns what is wrong with a system. It runs nothing.
func (s *System) Check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrSystem, fmt.Sprintf(format, args...))
	}
	if len(s.Channels) > 1<<15 {
		return bad("%d channels; there may be 32768", len(s.Channels))
	}
	if len(s.Procs) == 0 || len(s.Procs) > 1<<15 {
		return bad("%d machines; there must be between 1 and 32768", len(s.Procs))
	}
	if len(s.Labels) >= MaxLabel {
		return bad("%d labels; there may be %d", len(s.Labels), MaxLabel)
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
		if (c.Older == nil) != (c.Bare == nil) {
			return bad("channel %d (%s) has one of Older and Bare; give both", i, c.Name)
		}
	}
	for i := range s.Watches {
		if w := &s.Watches[i]; w.Proc < 0 || w.Proc >= len(s.Procs) || w.Next == nil {
			return bad("watch %d is of machine %d of %d, or has no Next", i, w.Proc, len(s.Procs))
		}
	}
	if s.Settle != nil && len(s.Watches) == 0 {
		return bad("Settle without Watches: nobody would see what it forgets")
	}
	for _, n := range s.Budget.Parts() {
		if *n < 0 || *n > 255 {
			return bad("a fault budget of %d; give 0 (no limit) to 255", *n)
		}
	}
	for i := range s.Constraints {
		if f := s.Constraints[i].Fair; f != Weak && f != Strong {
			return bad("constraint %d (%s) is neither weak nor strong", i, s.Constraints[i].Name)
		}
	}
	for i := range s.Claims {
		if s.Claims[i].Eval == nil && s.Claims[i].Kind != Confluent {
			return bad("claim %d (%s) has no Eval", i, s.Claims[i].Name)
		}
	}
	return s.Symmetry.check(s, bad)
}

// check says what is wrong with a symmetry, as far as that can be seen.
func (y *Symmetry) check(s *System, bad func(string, ...any) error) error {
	if y == nil {
		return nil
	}
	if len(y.Domains) > maxDomains {
		return bad("%d symmetric domains; there may be %d", len(y.Domains), maxDomains)
	}
	for _, d := range y.Domains {
		if d.Size < 1 || d.Size > 64 {
			return bad("the symmetric domain %s has %d values; give 1 to 64", d.Name, d.Size)
		}
	}
	if len(y.Domains) > 0 && (y.Local == nil || y.Msg == nil || y.RenameLocal == nil || y.RenameMsg == nil) {
		return bad("symmetric values without Local, Msg, RenameLocal and RenameMsg")
	}
	for _, f := range y.Shuffles {
		if f.Procs != nil && !permutes(f.Procs, len(s.Procs)) || f.Chans != nil && !permutes(f.Chans, len(s.Channels)) {
			return bad("the shuffle %s does not permute the machines and channels", f.Name)
		}
		for k, to := range f.Chans {
			p := s.Channels[k].To
			if f.Procs != nil {
				p = f.Procs[p]
			}
			if a, b := &s.Channels[k], &s.Channels[to]; b.To != p || a.Order != b.Order || a.Cap != b.Cap {
				return bad("the shuffle %s moves channel %d to channel %d, which is of another kind", f.Name, k, to)
			}
		}
	}
	return nil
}

func permutes(list []int, n int) bool {
	seen := make([]bool, n)
	for _, x := range list {
		if x < 0 || x >= n || seen[x] {
			return false
		}
		seen[x] = true
	}
	return len(list) == n
}
