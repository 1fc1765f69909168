// Package report has what was found about a check and about all checks of a specification: as data
// with stable names in JSON, in words, and as runs that are kept beside the specification. It
// judges what was found by what a check expects; who searches is none of its business. Start from
// [Report] and [SuiteReport].
package report

import (
	"github.com/parley-go/parley/gen/model"
	"github.com/parley-go/parley/runtime/run"
)

// Report is the result of one check. The JSON names are stable.
type Report struct {
	// Spec is the file as the user named it, Check the check's name.
	Spec     string `json:"spec"`
	Protocol string `json:"protocol"`
	Check    string `json:"check"`
	Doc      string `json:"doc,omitempty"`
	// Hash is that of all the files say, Machines that of what the machines depend on,
	// which generated code and records carry.
	Hash     string `json:"hash"`
	Machines string `json:"machines"`
	// Instances are the names of the machines that take part.
	Instances []string `json:"instances"`
	// Hostile are those of them that keep to no role.
	Hostile []string `json:"hostile,omitempty"`
	// Sampled reports that hostile instances send not all values of some field, but those that the
	// assumptions name: another one may violate what holds.
	Sampled bool `json:"sampled,omitempty"`
	// Command is the command line that the check was run with; empty if it was not run by a command.
	Command string `json:"command,omitempty"`
	// Search is the order of the search; Reductions, further down, are those that were used: none
	// if empty.
	Search string `json:"search"`
	// Verdict is "holds", "violated" or "incomplete": what was found, whether or
	// not it was expected. It is "incomplete" also where only what is expected was found until
	// then. Passes says that it is what the check expects.
	Verdict string `json:"verdict"`
	Passes  bool   `json:"passes"`
	// Open: nothing speaks against passing, but not everything was decided.
	Open bool `json:"open,omitempty"`
	// Ended says why the search ended before it was complete; empty if it was complete. Then
	// Unexpanded is the number of configurations that were found and not searched, and Within is a
	// number of steps: all configurations to which that many or fewer lead were searched; 0 if
	// there is no such number.
	Ended      string `json:"ended,omitempty"`
	Unexpanded uint64 `json:"unexpanded,omitempty"`
	Within     int    `json:"searched_within,omitempty"`
	// Why says why a check is incomplete or does not pass.
	Why []string `json:"why,omitempty"`
	// Advice says what may help an incomplete search, and where a bound was too small.
	Advice []string `json:"advice,omitempty"`
	// Multiplied says what took most values in an incomplete search.
	Multiplied     []string `json:"multiplied,omitempty"`
	Configurations uint64   `json:"configurations"`
	// Steps counts every step of every configuration once.
	Steps uint64 `json:"steps"`
	// Depth is the number of steps to the farthest configuration.
	Depth int `json:"depth"`
	// WidestChannel is the greatest number of messages in any one channel.
	WidestChannel int       `json:"widest_channel"`
	Channels      []Channel `json:"channels"`
	Seconds       float64   `json:"seconds"`
	// PeakBytes is the most memory the search held, TableBytes that of the set
	// of visited configurations.
	PeakBytes  uint64 `json:"peak_bytes"`
	TableBytes uint64 `json:"table_bytes"`
	// Claims has the stated claims in the order of the specification, then the
	// built-in ones.
	Claims []ClaimReport `json:"claims"`
	// EndedBy are the errors at which runs ended, expected or not: what would come behind them was
	// not looked at.
	EndedBy []Ending `json:"ended_by,omitempty"`
	Expect  []string `json:"expect,omitempty"`
	// Assumptions say, in words, what the verdict rests on.
	Assumptions []string `json:"assumptions"`
	// Limits say how far bounded values got; empty if that could not be told.
	Limits []Limit `json:"limits,omitempty"`
	// Refused says of one command that it was not available because something in it would have been
	// a fault.
	Refused string `json:"refused,omitempty"`
	// Needs says which assumptions about the channel the verdict needs, if asked for.
	Needs []Need `json:"needs,omitempty"`
	// NeverTaken are transitions of the roles in this check that it did not
	// take (other checks may). They are information, not a verdict; if Ended is not empty, it did
	// not take them until then.
	NeverTaken []Place `json:"never_taken,omitempty"`
	// overall are those of them that no check takes, which the report of all checks lists.
	overall    []Place
	Reductions []string `json:"reductions,omitempty"`
	// NotReduced says why reductions that were asked for were not used, or not
	// for everything.
	NotReduced []string `json:"not_reduced,omitempty"`

	// Taken and Reached are the lines that were taken and the states that were reached, by LineKey
	// and StateKey, and Roles those that take part: what the judgement over all checks needs. Uses
	// is how often lines were used; nil unless that was asked for.
	Taken   map[string]bool `json:"-"`
	Reached map[string]bool `json:"-"`
	Roles   []string        `json:"-"`
	Uses    Uses            `json:"-"`
}

// Channel is the use of one channel.
type Channel struct {
	Name     string `json:"name"`
	Widest   int    `json:"widest"`
	Capacity int    `json:"capacity"`
}

// The results of a claim.
const (
	Holds      = "holds"
	Violated   = "violated"
	Incomplete = "incomplete"
	// Unchecked is the verdict of a specification without checks.
	Unchecked = "unchecked"
)

// Walks is the search of random walks.
const Walks = "random walks"

// ClaimReport is what was found about one claim.
type ClaimReport struct {
	Name string `json:"name"`
	// Kind is always, sometimes, agree, ..., or built-in.
	Kind   string `json:"kind"`
	Result string `json:"result"`
	// Text is the claim as an expression, Why the author's reason.
	Text string `json:"text,omitempty"`
	Why  string `json:"why,omitempty"`
	// Note says what else there is to say: vacuous, faulted, how often.
	Note  string `json:"note,omitempty"`
	Where string `json:"where,omitempty"`
	// Expected: the check expects this claim to be violated.
	Expected bool `json:"expected,omitempty"`
	// Vacuous: the claim's condition never held, so it says nothing.
	Vacuous bool `json:"vacuous,omitempty"`
	// NotBehind: runs ended at errors (Report.EndedBy), and the result says nothing about what
	// would come behind them: that it holds, that nothing satisfies it, or that it is violated
	// where every violation depends on that a run ends at an error.
	NotBehind bool `json:"not_behind_errors,omitempty"`
	// Counterexample is a shortest run to a violation, Witness to a
	// configuration that satisfies a sometimes claim.
	Counterexample *run.Run `json:"counterexample,omitempty"`
	Witness        *run.Run `json:"witness,omitempty"`
	// Others are shortest runs to the other steps and configurations that violate a
	// built-in claim, shorter ones first.
	Others []*run.Run `json:"other_counterexamples,omitempty"`
	// Conflicts are the pairs of steps whose order matters (confluent).
	Conflicts []string `json:"conflicts,omitempty"`
}

// Place is a transition or a state of a role, with its place in the specification.
type Place struct {
	Role  string `json:"role"`
	Name  string `json:"name"`
	Where string `json:"where"`
}

// SuiteReport is the result of all checks of a specification.
type SuiteReport struct {
	Spec     string `json:"spec"`
	Protocol string `json:"protocol"`
	// Verdict is the worst of the checks': "violated", "incomplete" or "holds"; "unchecked" if
	// there is no check; Passes says that everything is as the checks expect.
	Verdict  string    `json:"verdict"`
	Passes   bool      `json:"passes"`
	Complete bool      `json:"complete"`
	Checks   []*Report `json:"checks"`
	// Names are those of all checks of the specification, run or not.
	Names []string `json:"-"`
	// Unfit are those that were not run because the constants that were set do not fit them.
	Unfit []Unfit `json:"unfit,omitempty"`
	// NeverFires and Unreachable are judged over all checks together; Judged is
	// false if they could not be, because a check was left out or its search cut off.
	Judged     bool    `json:"judged"`
	NeverFires []Place `json:"never_fires,omitempty"`
	// Coverage is there if it was asked for.
	Coverage    *Coverage `json:"coverage,omitempty"`
	Unreachable []Place   `json:"unreachable_states,omitempty"`
	// DefensiveFires are defensive branches that were taken in a check whose instances all keep to
	// their roles.
	DefensiveFires []Place  `json:"defensive_fires,omitempty"`
	Why            []string `json:"why,omitempty"`
	// Warnings is how many warnings the compiler, and what Config.Compile has more to say, give
	// about the specification.
	Warnings int `json:"warnings,omitempty"`
}

// Unfit is a check that the constants that were set do not fit. Why is the first error, with its place.
type Unfit struct {
	Check string `json:"check"`
	Why   string `json:"why"`
}

// Limit is how far a bounded value got: the greatest value of a number, the greatest length of a
// list, or how often a rule of the environment was used. If Free, its limit had no part in the
// result: with any greater one, and all else as it is, the same configurations are reached and the
// same claims hold.
type Limit struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // number, list or times
	Most  int64  `json:"most"`
	Limit int64  `json:"limit"`
	Free  bool   `json:"free"`
}

// The names of built-in claims.
const (
	UnspecifiedReception = model.UnspecifiedReception
	FaultClaim           = model.FaultClaim
	Overflow             = model.Overflow
	Deadlock             = model.Deadlock
	OrphanMessage        = model.OrphanMessage
	DeferredOverflow     = model.DeferredOverflow
	Unencodable          = model.Unencodable
	NeverFires           = model.NeverFires
	UnreachableState     = model.UnreachableState
	DefensiveFires       = model.DefensiveFires
)
