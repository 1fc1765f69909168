package check

import (
	"github.com/parley-go/parley/proptest/check/report"
)

// What is reported, as package report has it.
type (
	Report      = report.Report
	ClaimReport = report.ClaimReport
	SuiteReport = report.SuiteReport
	Unfit       = report.Unfit
	Need        = report.Need
	Limit       = report.Limit
	Place       = report.Place
	Channel     = report.Channel
	Coverage    = report.Coverage
	Usage       = report.Usage
)

// The names of built-in claims.
const (
	UnspecifiedReception = report.UnspecifiedReception
	FaultClaim           = report.FaultClaim
	Overflow             = report.Overflow
	Deadlock             = report.Deadlock
	OrphanMessage        = report.OrphanMessage
	DeferredOverflow     = report.DeferredOverflow
	Unencodable          = report.Unencodable
	NeverFires           = report.NeverFires
	UnreachableState     = report.UnreachableState
	DefensiveFires       = report.DefensiveFires
)

// The results of a claim, and the verdict of a specification without checks.
const (
	Holds      = report.Holds
	Violated   = report.Violated
	Incomplete = report.Incomplete
	Unchecked  = report.Unchecked
)

// The results of a Need.
const (
	Needed    = report.Needed
	NotNeeded = report.NotNeeded
	Undecided = report.Undecided
)
