package explore

import "github.com/parley-go/parley/proptest/explore/internal/api"

// What a search is asked with and answers in.
type (
	Options       = api.Options
	System        = api.System
	Process       = api.Process
	Step          = api.Step
	Send          = api.Send
	LenRange      = api.LenRange
	Fault         = api.Fault
	Kind          = api.Kind
	Order         = api.Order
	Channel       = api.Channel
	Budget        = api.Budget
	Spends        = api.Spends
	Label         = api.Label
	ClaimKind     = api.ClaimKind
	When          = api.When
	Constraint    = api.Constraint
	Fairness      = api.Fairness
	Word          = api.Word
	Claim         = api.Claim
	Watch         = api.Watch
	Deaf          = api.Deaf
	Checks        = api.Checks
	Mode          = api.Mode
	Progress      = api.Progress
	Verdict       = api.Verdict
	Result        = api.Result
	Tally         = api.Tally
	ClaimVerdict  = api.ClaimVerdict
	Violation     = api.Violation
	Witness       = api.Witness
	Conflict      = api.Conflict
	StepKind      = api.StepKind
	TraceStep     = api.TraceStep
	Configuration = api.Configuration
	Space         = api.Space
	LocalUse      = api.LocalUse
	Reception     = api.Reception
	Symmetry      = api.Symmetry
	Domain        = api.Domain
	Shuffle       = api.Shuffle
	Reduction     = api.Reduction
)

// The constants of these types.
const (
	UnspecifiedReception = api.UnspecifiedReception
	RangeOverflow        = api.RangeOverflow
	Refused              = api.Refused
	OtherFault           = api.OtherFault
	ChannelOverflow      = api.ChannelOverflow
	Deadlock             = api.Deadlock
	Orphan               = api.Orphan
	Stuck                = api.Stuck
	ClaimViolated        = api.ClaimViolated
	DeferredOverflow     = api.DeferredOverflow
	Unencodable          = api.Unencodable
	Everything           = api.Everything
	FIFO                 = api.FIFO
	Bag                  = api.Bag
	Always               = api.Always
	Sometimes            = api.Sometimes
	Possible             = api.Possible
	LeadsTo              = api.LeadsTo
	Eventually           = api.Eventually
	Confluent            = api.Confluent
	Everywhere           = api.Everywhere
	Quiescent            = api.Quiescent
	AtEnd                = api.AtEnd
	Unfair               = api.Unfair
	Weak                 = api.Weak
	Strong               = api.Strong
	StrongMessages       = api.StrongMessages
	SpendsNothing        = api.SpendsNothing
	SpendsCrash          = api.SpendsCrash
	SpendsBreak          = api.SpendsBreak
	SpendsReturn         = api.SpendsReturn
	SpendsPartition      = api.SpendsPartition
	CheckDeadlock        = api.CheckDeadlock
	CheckOrphan          = api.CheckOrphan
	CheckLeft            = api.CheckLeft
	CheckStuck           = api.CheckStuck
	CheckNothing         = api.CheckNothing
	DefaultChecks        = api.DefaultChecks
	BreadthFirst         = api.BreadthFirst
	RandomWalk           = api.RandomWalk
	DepthFirst           = api.DepthFirst
	Guided               = api.Guided
	Incomplete           = api.Incomplete
	Holds                = api.Holds
	Violated             = api.Violated
	LocalStep            = api.LocalStep
	ReceiveStep          = api.ReceiveStep
	LoseStep             = api.LoseStep
	DupStep              = api.DupStep
	SwapStep             = api.SwapStep
	ReduceSymmetry       = api.ReduceSymmetry
	ReduceHash           = api.ReduceHash
	ReduceDead           = api.ReduceDead
	ReduceLocal          = api.ReduceLocal
	ReducePartialOrder   = api.ReducePartialOrder
)

// ErrSystem is wrapped by errors about a system that is not well formed.
var ErrSystem = api.ErrSystem
