package model

import (
	"slices"

	"github.com/parley-go/parley/gen/diag"
)

// Check is one configuration in which claims are checked.
type Check struct {
	Name, Doc string
	Instances []*Instance
	// Channel and Beside are those of the protocol, with what the check says of them.
	Channel Channel
	Beside  []Channel
	Rules   []*EnvRule
	Claims  []*Claim
	Faults  *Faults // nil: links neither come up nor break, and nobody crashes
	Time    *Time   // nil: untimed, a timer may expire at any moment
	// Monitors are those that watch several instances; the others are parts of the roles that they watch.
	Monitors []*Monitor
	// Expect lists what the check is known to violate; empty: nothing. A
	// check passes if exactly these are violated.
	Expect []Expectation
	// Ends: the environment may stop giving commands at any time (so a
	// configuration where only commands are possible is no deadlock if every
	// machine is final or Quiet holds). Quiet may be nil.
	Quiet       Expr
	QuietLocals int // slots of the frame of locals that Quiet needs
	Span        diag.Span
}

// Channels are all channels between two instances of the check, in the order of Protocol.Channels.
func (c *Check) Channels() []Channel { return append([]Channel{c.Channel}, c.Beside...) }

// Several reports whether there is more than one channel between two instances.
func (c *Check) Several() bool { return len(c.Beside) > 0 }

// Expects reports whether the check is known to violate a claim.
func (c *Check) Expects(claim string) bool {
	return slices.ContainsFunc(c.Expect, func(x Expectation) bool { return x.Name == claim })
}

// Instance is a machine taking part in a check.
type Instance struct {
	Name  string
	Index int
	Role  *Machine
	Args  []Expr // constants, one for each parameter of the role; they need no locals
	// Hostile: instead of the role's machine there is somebody who sends whatever they like.
	Hostile Hostile
	// Come is how many parties may come to it, one after another, nobody being there at first; 0: it is
	// there from the beginning.
	Come int
	// Monitor says that this is a monitor of several instances, and no instance.
	Monitor bool
	Span    diag.Span
}

// Monitor is a machine that is given what the programs of several instances see and do.
type Monitor struct {
	// Inst stands for the monitor in claims. Its Index follows those of the instances of the check, its
	// Role is the monitor's machine.
	Inst  *Instance
	Hears []Hearing
}

// Hearing says which event of a monitor it is that an instance takes a command or makes a report.
type Hearing struct {
	Instance int
	Command  *Event  // of the instance's role; nil: it is
	Report   *Report // this report
	Event    *Event  // of the monitor; its fields are those of the command or report
}

// Hostile says what an instance does that does not keep to its role.
type Hostile uint8

const (
	Honest     Hostile = iota // it keeps to its role
	WellFormed                // it sends any message, with any values, at any time, and closes links
	Malformed                 // it sends what is no message, too
)

// IsHostile reports whether the instance keeps to no role: it has no machine.
func (i *Instance) IsHostile() bool { return i.Hostile != Honest }

// HasHostile reports whether some instance of the check is hostile.
func (c *Check) HasHostile() bool {
	return slices.ContainsFunc(c.Instances, (*Instance).IsHostile)
}

// Comes reports whether nobody is there at first.
func (i *Instance) Comes() bool { return i.Come > 0 }

// HasComers reports whether parties come and go in the check.
func (c *Check) HasComers() bool { return slices.ContainsFunc(c.Instances, (*Instance).Comes) }

// Faults bound what may go wrong in one run of a check.
type Faults struct {
	// Crash and Restart bound how often each instance may crash or restart, by Instance.Index.
	Crash, Restart []int
	// CrashAll bounds the crashes of all instances together; 0 means that only Crash does.
	CrashAll int
	// Atomic: an instance crashes between its steps only, and what it sent before arrives.
	Atomic bool
	// Break bounds how often an end takes its link for dead, Return how often a lost link comes back,
	// Partition how often the instances are parted.
	Break, Return, Partition int
	// Bridge is the set of instances, by Instance.Index, that no partition cuts off.
	Bridge uint64
	// Lose, Duplicate and Overtake bound what channels do to messages. -1 means that nothing is
	// stated: then the channel does it as often as it can, if it can.
	Lose, Duplicate, Overtake int
	Span                      diag.Span
}

// Links reports whether there is a link between two instances of which something can be noticed. A
// hostile one may end it; nobody is at its own end.
func (c *Check) Links(a, b *Instance) bool {
	x, y, f := a.Role, b.Role, c.Faults
	switch {
	case !x.Hears(y) && !y.Hears(x):
		return false
	case a.IsHostile() && b.IsHostile():
		return false
	case a.IsHostile():
		return y.Linked() || y.Closes()
	case b.IsHostile():
		return x.Linked() || x.Closes()
	case x.Mentions(EventUp) || y.Mentions(EventUp) || x.Closes() || y.Closes():
		return true
	}
	crashes := func(n int) bool { return n > 0 }
	ends := a.Comes() || b.Comes() ||
		f != nil && (f.Break > 0 || f.Partition > 0 || slices.ContainsFunc(f.Crash, crashes))
	return ends && (x.Linked() || y.Linked())
}

// EnvRule restricts, in a check, when the environment may give a command, or when a timer may
// expire.
type EnvRule struct {
	Command *Event // or the expiry of a timer
	// When is over the machine's variables, the command's Params, and the lengths of the channels
	// from and to the machine. nil means always.
	When   Expr
	Params []*Local
	Locals int
	// Times bounds how often each instance may be given the command in one run; 0 means no bound.
	Times int
	// Bounds are the places of constants in Times.
	Bounds []diag.Span
	// Fair restricts the runs that claims about the future look at: each instance is given
	// Command, or one of Or, in the end. "weak" demands it if from some point on one of them is
	// always possible, "strong" if one is possible again and again, and "" never.
	Fair string
	Or   []*Event // other commands of the same machine
	Span diag.Span
}

// Never reports whether the rule is `false`: the check never gives the command, so its arguments
// need no domain.
func (r *EnvRule) Never() bool {
	l, ok := r.When.(*Lit)
	return ok && l.Value == 0
}

// ClaimKind is the kind of a claim.
type ClaimKind uint8

const (
	Always     ClaimKind = iota // Expr holds in every configuration
	Sometimes                   // some configuration satisfies Expr
	Agree                       // where every machine in When's sense is done, the values of Exprs are equal
	Reachable                   // from every reachable configuration one that satisfies Expr can be reached
	Confluent                   // the order of two independent steps does not matter
	Eventually                  // every fair run reaches Expr
	LeadsTo                     // every fair run from When reaches Expr
)

// Claim is a claim of a check.
type Claim struct {
	Kind      ClaimKind
	Name, Why string
	When      Expr   // Agree, LeadsTo: antecedent; nil: true
	Expr      Expr   // Always, Sometimes, Reachable, Eventually, LeadsTo
	Exprs     []Expr // Agree: values to be equal
	Quiescent bool   // only where all channels are empty
	Fair      string // "", "weak", "strong", "messages": strong for each message
	Except    []string
	Within    int64 // LeadsTo: bound in ticks; 0: none
	Locals    int   // slots of the frame of locals that the expressions need
	Span      diag.Span
}

// The names of the built-in claims. Those from NeverFires on are judged over all checks of a
// specification together.
const (
	UnspecifiedReception = "unspecified-reception"
	FaultClaim           = "fault"
	Deadlock             = "deadlock"
	OrphanMessage        = "orphan-message"
	Overflow             = "overflow"
	DeferredOverflow     = "deferred-overflow"
	Unencodable          = "unencodable"
	NeverFires           = "never-fires"
	UnreachableState     = "unreachable-state"
	DefensiveFires       = "defensive-fires"
)

// BuiltinClaims returns the names of the claims that every check makes by itself.
func BuiltinClaims() []string {
	return append([]string{UnspecifiedReception, FaultClaim, Deadlock, OrphanMessage, Overflow, DeferredOverflow,
		Unencodable},
		ClaimsOverAll()...)
}

// ClaimsOverAll returns the names of the built-in claims that are judged over all checks together.
func ClaimsOverAll() []string { return []string{NeverFires, UnreachableState, DefensiveFires} }

// Expectation is a violation that a check is known to have: the name of a claim, or of a built-in
// one.
type Expectation struct {
	Name string
	Span diag.Span
}
