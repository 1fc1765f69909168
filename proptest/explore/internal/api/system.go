// Package api has the types that a search is asked with and answers in. It must
// not know how the search works. Start from [System] and [Result].
package api

// System describes one protocol instance to the engine. A run does not change it. All functions in
// it must be pure: for equal arguments they return equal results in the same order. One run never
// calls them concurrently.
type System struct {
	// Name is for reports only.
	Name string
	// Procs are the machines, at least one.
	Procs []Process
	// ProcNames name the machines in traces; nil gives p0, p1, ...
	ProcNames []string
	// Channels are the paths between machines. Send.Channel and the ch of
	// Process.Receive index this list.
	Channels []Channel
	// Labels are the transitions; Step.Label indexes this list.
	Labels []Label
	// Claims are what the author says of the system, besides the built-in
	// checks of Options.Checks.
	Claims []Claim
	// Constraints are what is treated fairly besides, in all claims about runs; Step.Constraints
	// indexes this list.
	Constraints []Constraint
	// Watches are machines that remember what happened.
	Watches []Watch
	// Settle, if set, gives the local value with which a machine goes on when the watches have seen the
	// one that a step led to. So a step can tell them something that nobody keeps. Only with Watches, and
	// not asked of these.
	Settle func(proc int, v []byte) []byte
	// Budget bounds the faults of the environment on one run.
	Budget Budget
	// Symmetry says which configurations are alike, for Options.Reduce; or nil.
	Symmetry *Symmetry
	// Held lists the messages that a local value of a machine holds, deferred for later; nil: none
	// does. Where nothing can happen any more they are orphans, and a configuration with one is not
	// quiescent.
	Held func(proc int, v []byte) [][]byte
	// MsgName renders a message for people; nil quotes the bytes.
	MsgName func(ch int, msg []byte) string
	// LocalName renders a local value for people; nil quotes the bytes.
	LocalName func(proc int, v []byte) string
}

// Process is one machine. A local value is an opaque byte string that holds
// everything the machine remembers: control state, variables, timers. Equal
// bytes are the same value. The engine copies what it keeps; an emitted step
// may alias memory that the process uses again after emit has returned.
type Process interface {
	// Init gives the one initial local value. A machine with several initial
	// values starts from an artificial one and chooses by a local step.
	Init() []byte
	// Local emits what the machine can do by itself at v: commands, timer
	// expiries, choices of its environment.
	Local(v []byte, emit func(Step))
	// Receive emits what the machine does with msg, delivered by channel ch.
	// Usually that is one step. A reception that nothing was specified for is
	// a step with Fault set. Emitting nothing means that the machine does not take it now: the message
	// stays in the channel (and, on a FIFO channel, blocks those behind it).
	Receive(v []byte, ch int, msg []byte, emit func(Step))
	// Final reports whether the machine may rest at v for ever.
	Final(v []byte) bool
}

// Step is one thing a machine can do, atomically: it takes the next local
// value and appends the messages of Sends in order.
type Step struct {
	// Label is the transition, for coverage, traces and fairness.
	Label uint32
	// Tally, if not 0, is what the step is counted under besides, in Result.Tallies. It changes
	// nothing else.
	Tally uint32
	// Next is the local value afterwards.
	Next []byte
	// Sends are appended in order.
	Sends []Send
	// Lens are guards over channel lengths; the step is enabled only in
	// configurations where all of them hold (before the step).
	Lens []LenRange
	// Fault, if not nil, says that taking this step is an error. The search
	// reports it and does not go on behind it.
	Fault *Fault
	// Note is kept for traces (reports, event text). The search does not look
	// at it, but for Confluent two local steps of one machine with equal notes
	// are the same event.
	Note []byte
	// Spontaneous marks a step that need never happen, such as a command of
	// the user: no fairness is assumed for it, but for its Constraints, and claims with Calm set look
	// at runs without it.
	Spontaneous bool
	// Once: a Dup channel does not take the step and keep the message, too.
	Once bool
	// Constraints are what this step does; a step may do several, and several steps the same.
	Constraints []int
	// Spends says which parts of the Budget the step counts against.
	Spends Spends
	// Ages are channels, each once, with [Channel.Older], all of whose messages become older before
	// the step sends anything. Where one of them may not, the step is not possible.
	Ages []int
}

// Spends is a set of parts of a [Budget], by their indexes in Budget.Parts. Loss, duplication and
// exchange are not among them: channels do those.
type Spends uint8

// The parts of the budget for steps of machines.
const (
	SpendsCrash Spends = 1 << (iota + 3)
	SpendsBreak
	SpendsReturn
	SpendsPartition

	SpendsNothing Spends = 0
)

// Send is one message appended to a channel.
type Send struct {
	Channel int
	Msg     []byte
}

// LenRange is a condition: the number of messages in Channel is in [Lo, Hi]. Hi < 0 means no upper
// bound. If Kind is not 0, only messages count for which Channel.Kind returns it. Free messages do
// not count, unless Kind is Everything.
type LenRange struct {
	Channel int
	Lo, Hi  int
	Kind    uint8
}

// Everything is the kind that all messages in a channel have, free ones included.
const Everything uint8 = 255

// Fault is why a step is an error.
type Fault struct {
	Kind Kind
	// Text is one line for people: what happened, without the place.
	Text string
}

// Kind classifies violations.
type Kind uint8

// The kinds of violation. The first block comes from steps with Fault set.
const (
	UnspecifiedReception Kind = iota + 1
	RangeOverflow
	Refused
	OtherFault
	ChannelOverflow
	Deadlock
	Orphan
	ClaimViolated
	DeferredOverflow // comes from steps with Fault set, too
	Stuck
	Unencodable // comes from steps with Fault set, too
)

var kindNames = [...]string{"", "unspecified reception", "range overflow", "refused", "fault",
	"channel overflow", "deadlock", "orphan message", "claim violated", "deferred overflow",
	"stuck", "unencodable"}

// String gives the words used in reports.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Order is the order in which a channel delivers.
type Order uint8

const (
	// FIFO delivers the oldest message only.
	FIFO Order = iota
	// Bag delivers any message.
	Bag
)

// Channel is a path between machines. Any machine may send into it; only To receives from it.
type Channel struct {
	Name     string
	From, To int
	Order    Order
	// Lossy channels may drop a message that could be delivered; Dup channels
	// may deliver it and keep it; Swap channels (FIFO only) may exchange two
	// messages next to each other, but none that is Free. Each is a step of its
	// own and counts against the Budget of the system.
	Lossy, Dup, Swap bool
	// Tail tells messages that may have taken with them what was sent right before: the message
	// before the first of them may be lost unless it is Free, and so the next one, and so on. FIFO
	// only; nil: none do.
	Tail func(msg []byte) bool
	// Cap is the greatest number of messages, 1 to 65535.
	Cap int
	// Kind sorts messages into kinds, for LenRange; kinds begin at 1, and 0
	// is no kind, nor is Everything. nil: no message has a kind.
	Kind func(msg []byte) uint8
	// Free tells messages that take no room, so that they do not count for Cap. They are neither lost
	// nor copied nor exchanged. nil: none do.
	Free func(msg []byte) bool
	// Older gives a message as it is one step of Ages later; ok is false if it may not get so old. Bare
	// gives it as it was when it was sent. nil: messages have no age.
	Older func(msg []byte) (older []byte, ok bool)
	Bare  func(msg []byte) []byte
	// Block disables a step that would exceed Cap; otherwise such a step is
	// a ChannelOverflow violation.
	Block bool
	// Private promises that no machine but From sends into it and no Step.Lens looks at it, for
	// ReduceLocal and ReducePartialOrder. A search that uses them and meets the contrary stops.
	Private bool
}

// Budget is the greatest number of faults in one run, for all channels and
// machines together; 0 means no limit (Channel.Lossy and so on switch a fault
// off altogether). Limits are at most 255.
type Budget struct{ Loss, Dup, Swap, Crash, Break, Return, Partition int }

// Parts lists the parts of a budget, in a fixed order: what [Spends] counts are its indexes.
func (b *Budget) Parts() [BudgetParts]*int {
	return [...]*int{&b.Loss, &b.Dup, &b.Swap, &b.Crash, &b.Break, &b.Return, &b.Partition}
}

// BudgetParts is the number of parts of a budget.
const BudgetParts = 7

// Label is one transition of the spec.
type Label struct {
	Name string
	// Proc is the machine it belongs to, -1 for several.
	Proc int
}

// ClaimKind says where Eval must hold.
type ClaimKind uint8

const (
	// Always: Eval holds in every reachable configuration (see At).
	Always ClaimKind = iota
	// Sometimes: Eval holds in at least one; the result has a witness. If the
	// search is complete and there is none, the claim is violated.
	Sometimes
	// Possible: from every reachable configuration (with Relevant, if set)
	// one where Eval holds can be reached.
	Possible
	// LeadsTo: every fair run from every reachable configuration where
	// Relevant holds (nil: every one) comes to one where Eval holds.
	LeadsTo
	// Eventually: every fair run from the start comes to Eval.
	Eventually
	// Confluent: any two steps that are both possible give the same configuration in
	// either order, whether of one machine or of two, but for two ways of one event.
	// Each pair of labels that does not is a [Conflict] of the result. Eval is not
	// used; Exempt pairs are not reported.
	Confluent
)

// When says in which configurations a claim is evaluated.
type When uint8

const (
	// Everywhere evaluates in every configuration.
	Everywhere When = iota
	// Quiescent evaluates where all channels are empty.
	Quiescent
	// AtEnd evaluates where all machines are Final.
	AtEnd
)

// Constraint is a fairness constraint: of a set of steps one is taken in the end. Weak fairness is
// also called justice, strong fairness compassion (Manna, Pnueli 1992). The steps are those that
// have it among their Step.Constraints. Which of them, and whether the same again, is open.
type Constraint struct {
	// Name is for reports only.
	Name string
	// Fair: with Weak, one is taken if from some point on one is always possible, though not always
	// the same; with Strong, if one is possible again and again. Not Unfair.
	Fair Fairness
}

// Fairness says which runs LeadsTo and Eventually look at. What is treated fairly: each local label
// that is not Spontaneous, and the reception from each channel, or, with StrongMessages, the
// reception of each message from each channel. [System.Constraints] are besides, whatever the claim
// says. Faults of channels are never required to happen.
type Fairness uint8

const (
	// Unfair looks at all runs that go on while any step is possible.
	Unfair Fairness = iota
	// Weak: what is possible from some point on without pause happens.
	Weak
	// Strong: what is possible again and again happens.
	Strong
	// StrongMessages: Strong, and of all messages (equal bytes are one, whatever their age) each that can be received
	// from a channel again and again is, which Strong says only of the channel as a whole.
	StrongMessages
)

// Word is the contents of a channel, oldest message first (Bag: in the order
// of their bytes). It must not be kept or changed.
type Word [][]byte

// Claim is one statement about configurations. Its predicates see a
// configuration only through classes: Procs[i] maps the local value of
// machine i to a number, Chans[k] the contents of channel k. They are called
// once per distinct value; Eval and Relevant once per distinct combination of
// classes, so few classes make a fast claim. A nil function or a missing one
// is class 0.
type Claim struct {
	Name  string
	Kind  ClaimKind
	At    When
	Procs []func(v []byte) uint32
	Chans []func(w Word) uint32
	// Eval is the predicate. procs and chans have one entry for each machine
	// and channel and must not be kept.
	Eval func(procs, chans []uint32) bool
	// Relevant is the antecedent of an implication, or nil. If it never held,
	// the claim is reported as vacuous. For LeadsTo it is what triggers; for
	// Always it is for the report only.
	Relevant func(procs, chans []uint32) bool
	// Distance estimates, for a Guided search, how many things are still missing
	// for a violation; nil: unknown. It decides only what is looked at first.
	Distance func(procs, chans []uint32) int
	// Fair is for LeadsTo and Eventually.
	Fair Fairness
	// Calm, for LeadsTo, Eventually and Possible: consider only runs in which
	// no Spontaneous step happens any more once Relevant holds.
	Calm bool
	// Invisible reports whether steps from a class of machine proc are invisible to an Always or
	// Sometimes claim: whatever the other classes are, it is neither violated nor witnessed there,
	// and Relevant does not hold. nil: none are.
	Invisible func(proc int, class uint32) bool
	// Exempt, for Confluent, suppresses a pair; a < b or a == b.
	Exempt func(a, b uint32) bool
}

// Watch makes a machine of the system the memory of a run. It takes no steps of its own: with every
// step of another machine, or of a channel, its local value becomes Next of what it was and of the
// configuration that the step leads to. So a claim can speak of what was before, such as for how
// long something has been waited for, while the search goes on over configurations that hold all
// there is to know.
//
// Reductions that leave out orders of steps are refused, since a watch sees every step. With
// [ReduceSymmetry], Next must say the same of a configuration and its renamings. [Confluent] claims
// do not look at watches: what two steps lead to is the same although it was remembered
// differently.
type Watch struct {
	// Proc is the machine that remembers. Its Local emits nothing, no channel leads to it, and it
	// is Final everywhere. Claims look at it as at any machine.
	Proc int
	// Procs and Chans are classes, as those of a [Claim]. A watch does not see machines that are
	// watches.
	Procs []func(v []byte) uint32
	Chans []func(w Word) uint32
	// Next gives the local value in a configuration of these classes; v is the one before, or, in the
	// first configuration, that of Init. It is called once for each combination. The result is copied.
	Next func(v []byte, procs, chans []uint32) []byte
}

// Deaf is implemented by machines that take no message at some values. There, Receive emits nothing
// for any message.
type Deaf interface{ Deaf(v []byte) bool }
