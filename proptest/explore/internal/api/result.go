package api

import (
	"errors"
	"time"
)

// Checks is a set of built-in checks.
type Checks uint16

// The built-in checks. Faults and channel overflow are always reported.
const (
	// CheckDeadlock: no step is possible and some machine is not Final.
	CheckDeadlock Checks = 1 << iota
	// CheckOrphan: all machines are Final, nothing can happen any more, and a message is under way or
	// held.
	CheckOrphan
	// CheckLeft: the same, whether machines are Final or not. Reported as Orphan.
	CheckLeft
	// CheckStuck: a channel that Blocks is not empty, and only Spontaneous steps and faults of
	// channels are possible; reported as Stuck. It costs a second look at each configuration.
	CheckStuck
	// CheckNothing switches the built-in checks off.
	CheckNothing

	DefaultChecks = CheckDeadlock | CheckOrphan
)

// Mode is the order of the search.
type Mode uint8

const (
	// BreadthFirst is exhaustive, parallel and finds shortest traces.
	BreadthFirst Mode = iota
	// RandomWalk does Walks runs (at least 1) of at most WalkLength steps (0:
	// 1000) from Seed, on one goroutine. Its verdict is never Holds, traces are
	// not shortest, and configurations visited twice count twice.
	RandomWalk
	// DepthFirst goes on from what was found last, on one goroutine. It is
	// exhaustive if nothing stops it; with MaxDepth nothing deeper is looked at.
	// Traces are not shortest.
	DepthFirst
	// Guided goes on from what is nearest to a violation of Target (Claim.Distance),
	// and among those from what looks least like what was met before to that claim; on one
	// goroutine. It stops at the first violation of Target (without
	// KeepGoing, at any), else when everything was searched. Traces are not shortest.
	Guided
)

// Progress is a snapshot of a running search.
type Progress struct {
	Configurations, Steps uint64
	Depth                 int
	// Frontier is the number of configurations found but not yet expanded.
	Frontier uint64
	Bytes    uint64
	Elapsed  time.Duration
}

// Verdict is the outcome in one word.
type Verdict uint8

const (
	// Incomplete: a limit was reached and nothing wrong was found until then.
	Incomplete Verdict = iota
	// Holds: everything was searched and every claim and check holds.
	Holds
	// Violated: at least one violation was found.
	Violated
)

// String gives the word used in reports.
func (v Verdict) String() string { return [...]string{"incomplete", "holds", "violated"}[v] }

// Result is the outcome of a run. For equal systems and options (apart from Workers and limits of
// time or memory) everything in it but Seconds and the byte counts is equal.
type Result struct {
	Verdict Verdict
	// Complete says that every reachable configuration was visited.
	Complete bool
	// Why is the reason of an incomplete search, else empty.
	Why string
	// Configurations reached; Steps executed, where every step of every
	// expanded configuration counts once, whether it leads to a new
	// configuration or a known one or back to the same.
	Configurations, Steps uint64
	// Depth is the number of steps to the farthest configuration, Levels the
	// number of configurations at each distance.
	Depth  int
	Levels []uint64
	// Frontier is the number of configurations that were not expanded.
	Frontier uint64
	// Widest is the greatest number of messages in each channel.
	Widest []int
	// LabelCount is how often each label was taken. Deliveries that were lost,
	// duplicated or swapped count in Faults.
	LabelCount []uint64
	// Tallies is how often steps with a Tally were taken, in no particular order; LabelCount has
	// them, too.
	Tallies    []Tally
	Faults     struct{ Losses, Dups, Swaps uint64 }
	Violations []Violation
	// Witnesses has one shortest trace for each Sometimes claim that held.
	Witnesses []Witness
	// Conflicts are the pairs found by Confluent claims.
	Conflicts []Conflict
	// Vacuous names claims whose Relevant never held.
	Vacuous []string
	// Claims is what was found for each claim, in the order of System.Claims.
	Claims []ClaimVerdict
	// Locals is the number of distinct local values of each machine, Words of
	// distinct contents of each channel.
	Locals, Words []int
	// TableBytes is the size of the visited set, KeyBits the bits of a packed
	// configuration, PeakBytes the most memory the engine held at once.
	TableBytes, PeakBytes uint64
	KeyBits               int
	// Reductions names those that were used; none in a plain search.
	Reductions []string
	// Overlooked is 0 for an exact search; with ReduceHash an upper bound for the
	// chance that any configuration was taken for another one.
	Overlooked float64
	// Refused says why a reduction asked for was not used.
	Refused []string
	Seconds float64
	// Space is the reached set, for those who want to walk over it. It keeps
	// the memory of the search; drop it when done.
	Space Space
}

// Tally counts the steps with a label and a Step.Tally, and those among them that were errors.
type Tally struct{ Label, Tally, Taken, Faults uint64 }

// ClaimVerdict is the result for one claim.
type ClaimVerdict struct {
	Name    string
	Verdict Verdict
	// Relevant counts the configurations where Relevant held (where the claim
	// was evaluated, if Relevant is nil). Held counts those where Eval held.
	Relevant, Held uint64
}

// Violation is one error and how to get there.
type Violation struct {
	Kind Kind
	// Claim is the index of the claim for ClaimViolated, else -1.
	Claim int
	// Label is the transition of a step with a fault, else -1.
	Label int
	Text  string
	// Trace leads from the start to the violation. For faults the last step
	// is the one at fault and has no After.
	Trace []TraceStep
	// Loop, for LeadsTo and Eventually, is the part repeated for ever; empty
	// if the run just stops.
	Loop []TraceStep
	// End is the configuration in which it was found (before a fault).
	End Configuration
	// Cut: that it is one depends on what comes behind a fault, which was not looked at. A Possible
	// claim may be satisfied there; a run that stops, or that is fair, may have to take the step
	// that is a fault. Where a violation that does not depend on it exists, that one is reported;
	// of deadlocks the nearest is.
	Cut bool
}

// Witness is a shortest way to a configuration where a Sometimes claim holds.
type Witness struct {
	Claim int
	Trace []TraceStep
	End   Configuration
}

// Conflict is a pair of labels whose order matters, with a shortest example.
type Conflict struct {
	Claim  int
	A, B   uint32
	ProcA  int
	ProcB  int
	Text   string
	Trace  []TraceStep
	Before Configuration
}

// StepKind is the kind of a step in a trace.
type StepKind uint8

const (
	LocalStep StepKind = iota
	ReceiveStep
	LoseStep
	// DupStep is a reception that leaves the message in the channel.
	DupStep
	SwapStep
)

// String gives the word used in traces.
func (k StepKind) String() string {
	return [...]string{"local", "receive", "lose", "duplicate", "swap"}[k]
}

// TraceStep is one step of a trace. Byte strings are those of the Process.
type TraceStep struct {
	Kind StepKind
	// Proc is the machine that moved, -1 for LoseStep and SwapStep.
	Proc int
	// Label is the transition, -1 for LoseStep and SwapStep.
	Label int
	// Channel and Msg are what was delivered or lost; -1 and nil otherwise.
	Channel int
	Msg     []byte
	// At is, of a SwapStep, how many messages that take room come before the two that change places.
	At            int
	Sends         []Send
	Note          []byte
	Before, After []byte // After is what watches see, before [System.Settle]
	Fault         *Fault
}

// Configuration is all machines and channels at one moment.
type Configuration struct {
	Locals   [][]byte
	Channels []Word
	// Used is how much of each part of the budget has been spent.
	Used Budget
}

// ErrSystem is wrapped by errors about a system that is not well formed.
var ErrSystem = errors.New("explore: malformed system")

// Space is the set of reached configurations, for comparing other machines
// with the ones explored; get it from Result.Space.
type Space interface {
	// ForEachConfiguration calls visit for each reached configuration, nearest
	// first, in no particular order among those at one depth, until it returns
	// false. Configurations are built anew for each call and may be kept.
	ForEachConfiguration(visit func(depth int, c Configuration) bool)
	// ForEachExpansion calls visit for each configuration that was expanded, in the same order, with
	// what a step leads to and the kinds of error that a step is, until it returns false. Both may be
	// there several times.
	ForEachExpansion(visit func(c Configuration, next []Configuration, errors []Kind) bool)
	// ForEachLocal calls visit for each local value that occurs in an expanded
	// configuration, with every message that was deliverable at it in one of them,
	// until it returns false. The order depends on the search.
	ForEachLocal(visit func(LocalUse) bool)
	// Values are the distinct local values of a machine, Messages those that were ever in a channel.
	// They must not be changed.
	Values(proc int) []string
	Messages(channel int) []string
}

// LocalUse is one local value, with everything that can happen at it in some reachable
// configuration.
type LocalUse struct {
	Proc  int
	Value []byte
	// Steps are the local steps, in the order they were emitted, whether or
	// not their Lens ever allowed them.
	Steps []Step
	// Receptions are the messages that could be delivered at this value.
	Receptions []Reception
}

// Reception is one message at one local value.
type Reception struct {
	Channel int
	Msg     []byte
	Steps   []Step
}
