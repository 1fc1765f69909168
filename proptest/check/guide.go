package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-go/parley/gen/diag"
	"github.com/parley-go/parley/proptest/check/cond"
	"github.com/parley-go/parley/proptest/check/system"
	"github.com/parley-go/parley/proptest/explore"
)

// aim prepares a guided search: it looks first where most instances satisfy
// the condition of a claim, since only there the claim can be violated. claim is a
// name; empty: any error.
func (s *System) aim(o *explore.Options, claim string) error {
	if o.Mode != explore.Guided {
		return nil
	}
	for i := range s.Claims {
		if s.Claims[i].Eval != nil {
			s.System.Claims[s.Claims[i].Index].Distance = missing
		}
	}
	if claim == "" {
		return nil
	}
	at := slices.IndexFunc(s.Claims, func(c system.Claim) bool { return c.Name == claim })
	if at < 0 {
		var names []string
		for _, c := range s.Claims {
			names = append(names, c.Name)
		}
		if len(names) == 0 {
			return fmt.Errorf("there is no claim %s to aim at: the check states none", claim)
		}
		hint := ""
		if near := diag.DidYouMean(claim, names); near != "" {
			hint = "; " + near
		}
		return fmt.Errorf("there is no claim %s to aim at; there are %s%s", claim, strings.Join(names, ", "), hint)
	}
	o.Target = 1 + s.Claims[at].Index
	return nil
}

// missing counts the instances that do not satisfy their part of a claim's condition.
func missing(procs, _ []uint32) int {
	n := 0
	for _, c := range procs {
		if c == cond.Irrelevant {
			n++
		}
	}
	return n
}
