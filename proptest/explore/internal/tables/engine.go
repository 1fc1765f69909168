// Package tables numbers all that a system says, once: local values, messages, contents of
// channels, what a machine does at a value, what a claim says of a configuration, and which
// configuration stands for its renamings. A configuration is then a few numbers, and what can
// happen in it some look-ups.
//
// The tables grow only between the parallel phases of a search, so that workers read them without
// locks. They must not know the order of a search, or what it has visited. Start from [Engine].
package tables

import (
	"strconv"

	"github.com/parley-go/parley/proptest/explore/internal/api"
	"github.com/parley-go/parley/proptest/explore/internal/store"
)

// Engine holds the tables of one run. The sequential code here interns what it
// meets; the parallel code in expand.go only reads.
type Engine struct {
	Sys         *api.System
	Opt         api.Options
	Procs       []Machine
	Chans       []channel
	Sends       []sendID
	Ages        []uint32 // channels
	Lens        []lenID  // runs of guards, each different run once; 0 is none
	lensIDs     map[string]uint32
	Notes       []noteText // 0 is none
	Constraints [][]int32  // sets of units that steps do, each different set once; 0 is none

	Budgets []api.Budget              // by id: what has been used; nil without a budget
	Spent   [][api.BudgetParts]uint32 // by id and fault: the id afterwards plus 1, overflowWord if used up, 0 unknown
	Lay     store.Layout
	Bundles []*Bundle
	Watches []watch
	Settled []settled // of all machines but watches, if there is a Settle
	Canon   *canon    // nil without symmetry
	Ample   *ample    // nil if all steps are looked at everywhere
	Reduced []string  // reductions in use
	Refused []string  // reductions asked for and not used, with the reason
	Faulty  bool      // some channel loses, duplicates or swaps, or has a tail to lose
	Tallies tallies
	nextBuf []uint32
	baseBuf []uint32
	move    Move
}

type lenID struct {
	lo, hi uint32
	ch     uint16
	kind   uint8
	last   bool // of the guards of a rule
}

type noteText struct {
	Note  []byte
	fault *api.Fault
}

// The parts of the budget that channels spend: indexes of [api.Budget.Parts].
const (
	LossFault = iota
	DupFault
	SwapFault
)

func NewEngine(sys *api.System, opt api.Options) *Engine {
	e := &Engine{
		Sys:         sys,
		Opt:         opt,
		Notes:       make([]noteText, 1),
		Constraints: make([][]int32, 1),
		Lens:        make([]lenID, 1),
		lensIDs:     map[string]uint32{},
	}
	e.Procs = make([]Machine, len(sys.Procs))
	for i := range e.Procs {
		e.Procs[i] = Machine{
			Proc:  sys.Procs[i],
			Rules: []Rule{{}, {Kind: noRule, Flags: LastFlag}},
			Hot:   make([]hotRule, 2),
		}
	}
	e.Chans = make([]channel, len(sys.Channels))
	for i := range e.Chans {
		e.Chans[i].init(&sys.Channels[i])
		c := &sys.Channels[i]
		e.Faulty = e.Faulty || c.Lossy || c.Dup || c.Swap || c.Tail != nil
	}
	if sys.Budget != (api.Budget{}) {
		e.Budgets = []api.Budget{{}}
		e.Spent = make([][api.BudgetParts]uint32, 1)
	}
	e.reductions()
	e.initAmple()
	e.Lay = store.NewLayout(e.Fields(), e.Counts(), opt.Tune.Complete().MinStride)
	e.initClaims()
	e.initWatches()
	return e
}

// Fields is the number of fields of a configuration: machines, channels and
// perhaps what was used of the budget.
func (e *Engine) Fields() int {
	n := len(e.Procs) + len(e.Chans)
	if e.Budgets != nil {
		n++
	}
	return n
}

// Counts gives the number of ids in use for each field.
func (e *Engine) Counts() []int {
	n := make([]int, 0, e.Fields())
	for i := range e.Procs {
		n = append(n, len(e.Procs[i].Locals.Vals))
	}
	for i := range e.Chans {
		n = append(n, len(e.Chans[i].Words))
	}
	if e.Budgets != nil {
		n = append(n, len(e.Budgets))
	}
	return n
}

// Initial gives the ids of the first configuration.
func (e *Engine) Initial() []uint32 {
	ids := make([]uint32, e.Fields())
	for i := range e.Procs {
		ids[i] = e.Procs[i].Locals.id(e.Sys.Procs[i].Init())
	}
	e.remember(ids)
	return ids
}

func (e *Engine) ChanName(k int) string {
	if n := e.Sys.Channels[k].Name; n != "" {
		return n
	}
	return "channel " + strconv.Itoa(k)
}

func (e *Engine) ProcName(p int) string {
	if p < len(e.Sys.ProcNames) && e.Sys.ProcNames[p] != "" {
		return e.Sys.ProcNames[p]
	}
	return "p" + strconv.Itoa(p)
}

func (e *Engine) MsgName(ch int, b []byte) string {
	if e.Sys.MsgName != nil {
		return e.Sys.MsgName(ch, b)
	}
	return strconv.Quote(string(b))
}

// Widen makes room in the tables of pairs for all messages met. Whoever reads
// them by look-up alone needs this: a number beyond the columns of a table
// would read another word's.
func (e *Engine) Widen() {
	for k := range e.Chans {
		c := &e.Chans[k]
		c.Append.Widen(len(c.msgs.Vals))
		c.Recv.Widen(len(c.msgs.Vals))
	}
	if e.Canon != nil {
		e.Canon.Widen()
	}
}

// Bytes is the memory of the tables.
func (e *Engine) Bytes() (n uint64) {
	for i := range e.Chans {
		c := &e.Chans[i]
		n += c.Append.Bytes() + c.Recv.Bytes() + uint64(len(c.Words))*(160+uint64(8*c.Widest)) +
			uint64(len(c.msgs.Vals))*128
	}
	for i := range e.Procs {
		n += uint64(len(e.Procs[i].Rules))*56 + uint64(len(e.Procs[i].Locals.Vals))*160
	}
	if e.Canon != nil {
		n += e.Canon.bytes()
	}
	return n
}
