package main

import (
	"slices"
	"testing"

	"github.com/parley-go/parley/proptest/check"
)

// TestEveryClaimIsExplained holds the names that explain knows against those that the checker has.
func TestEveryClaimIsExplained(t *testing.T) {
	known := []string{
		check.UnspecifiedReception, check.FaultClaim, check.Unencodable, check.Overflow,
		check.DeferredOverflow, check.Deadlock,
		check.OrphanMessage, check.NeverFires, check.UnreachableState, check.DefensiveFires}
	if got := claimNames(); !slices.Equal(got, known) {
		t.Errorf("explained are %v", got)
	}
}
