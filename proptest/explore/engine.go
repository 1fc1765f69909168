package explore

import "strconv"

// engine holds the tables of one run. The sequential code here interns what it
// meets; the parallel code in expand.go only reads.
type engine struct {
	sys     *System
	opt     Options
	procs   []machine
	chans   []channel
	sends   []sendID
	lens    []lenID // runs of guards, each different run once; 0 is none
	lensIDs map[string]uint32
	notes   []noteText // 0 is none
	duties  [][]int32  // sets of units that steps do, each different set once; 0 is none

	budgets []Budget    // by id: what has been used; nil without a budget
	spent   [][4]uint32 // by id and fault: the id afterwards plus 1, overflowWord if used up, 0 unknown
	lay     layout
	bundles []*bundle
	watches []watch
	canon   *canon   // nil without symmetry
	ample   *ample   // nil if all steps are looked at everywhere
	reduced []string // reductions in use
	refused []string // reductions asked for and not used, with the reason
	faulty  bool     // some channel loses, duplicates or swaps
	tallies tallies
	visited *table
	levels  []level
	nextBuf []uint32
	baseBuf []uint32
	move    move
	peak    uint64
}

type lenID struct {
	lo, hi uint32
	ch     uint16
	kind   uint8
	last   bool // of the guards of a rule
}

type noteText struct {
	note  []byte
	fault *Fault
}

// The kinds of fault a budget counts.
const (
	lossFault = iota
	dupFault
	swapFault
	crashFault
)

func newEngine(sys *System, opt Options) *engine {
	e := &engine{sys: sys, opt: opt, notes: make([]noteText, 1), duties: make([][]int32, 1), lens: make([]lenID, 1), lensIDs: map[string]uint32{}}
	e.procs = make([]machine, len(sys.Procs))
	for i := range e.procs {
		e.procs[i] = machine{proc: sys.Procs[i], rules: []rule{{}, {kind: noRule, flags: lastFlag}}, hot: make([]hotRule, 2)}
	}
	e.chans = make([]channel, len(sys.Channels))
	for i := range e.chans {
		e.chans[i].init(&sys.Channels[i])
		c := &sys.Channels[i]
		e.faulty = e.faulty || c.Lossy || c.Dup || c.Swap
	}
	if sys.Budget != (Budget{}) {
		e.budgets = []Budget{{}}
		e.spent = make([][4]uint32, 1)
	}
	e.reductions()
	e.initAmple()
	e.lay = newLayout(e.fields(), e.counts(), opt.minStride)
	e.initClaims()
	e.initWatches()
	return e
}

// fields is the number of fields of a configuration: machines, channels and
// perhaps what was used of the budget.
func (e *engine) fields() int {
	n := len(e.procs) + len(e.chans)
	if e.budgets != nil {
		n++
	}
	return n
}

// counts gives the number of ids in use for each field.
func (e *engine) counts() []int {
	n := make([]int, 0, e.fields())
	for i := range e.procs {
		n = append(n, len(e.procs[i].locals.vals))
	}
	for i := range e.chans {
		n = append(n, len(e.chans[i].words))
	}
	if e.budgets != nil {
		n = append(n, len(e.budgets))
	}
	return n
}

// initial gives the ids of the first configuration.
func (e *engine) initial() []uint32 {
	ids := make([]uint32, e.fields())
	for i := range e.procs {
		ids[i] = e.procs[i].locals.id(e.sys.Procs[i].Init())
	}
	e.remember(ids)
	return ids
}

func (e *engine) chanName(k int) string {
	if n := e.sys.Channels[k].Name; n != "" {
		return n
	}
	return "channel " + strconv.Itoa(k)
}

func (e *engine) procName(p int) string {
	if p < len(e.sys.ProcNames) && e.sys.ProcNames[p] != "" {
		return e.sys.ProcNames[p]
	}
	return "p" + strconv.Itoa(p)
}

func (e *engine) msgName(ch int, b []byte) string {
	if e.sys.MsgName != nil {
		return e.sys.MsgName(ch, b)
	}
	return strconv.Quote(string(b))
}
